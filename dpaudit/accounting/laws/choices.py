"""Losses of choices: permute-and-flip, noisy maximum, one choice of a top-k selection, a run of the sparse vector technique."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.accounting.law import Law
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.response import Response, pure_response
from dpaudit.accounting.loss import PrivacyLoss, single
from dpaudit.claims import Adjacency
from dpaudit.exact import Exact, ball, ball_endpoints, positive, shown, working_precision


def permute_and_flip(epsilon: Exact, *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss of permute-and-flip, which is also report noisy max with exponential noise.

    Args:
      epsilon: by how much the distance of two scores can change, over the temperature, in nats, exact and positive.
      adjacency: the neighbouring relation that the scores' sensitivity is about.
    Returns:
      A loss between the pure guarantee and what two candidates with exchanged scores lose. It is not bounded range: rho is not
      epsilon^2/8.
    Raises:
      InvalidArgument: `epsilon` is not a finite number (DPA101, DPA102) or not positive (DPA104).
    Source: McKenna and Sheldon 2020; Ding, Kifer, Steinke, Wang, Xiao, Zhang 2021; docs/selection.md.
    Example:
      >>> print(permute_and_flip(1).epsilon(delta=0))
      [0.831796, 1]
    """
    return single(flipped(positive(epsilon, "epsilon")), adjacency)


def noisy_max(epsilon: Exact, *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss of report noisy max with Laplace, exponential or geometric noise, of which only the index is released.

    Args:
      epsilon: by how much the distance of two scores can change, over the scale of the noise, in nats, exact and positive.
      adjacency: the neighbouring relation that the scores' sensitivity is about.
    Returns:
      The pure guarantee; nothing is known from below.
    Raises:
      InvalidArgument: `epsilon` is not a finite number (DPA101, DPA102) or not positive (DPA104).
    Source: Dwork and Roth 2014, Claim 3.9; docs/selection.md.
    Example:
      >>> print(noisy_max("1/2").epsilon(delta=0).upper)
      1/2
    """
    return single(noisiest(positive(epsilon, "epsilon")), adjacency)


def sparse_vector(epsilon: Exact, *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss of a whole run of above threshold or of the sparse vector technique, whatever it answers.

    Args:
      epsilon: what the threshold, the positive answers and the numbers pay together, in nats, exact and positive.
      adjacency: the neighbouring relation that the queries' sensitivity is about.
    Returns:
      The pure guarantee; nothing is known from below.
    Raises:
      InvalidArgument: `epsilon` is not a finite number (DPA101, DPA102) or not positive (DPA104).
    Source: Lyu, Su, Li 2017, Theorem 4; docs/queries.md.
    Example:
      >>> print((2 * sparse_vector("1/2")).epsilon(delta=0).upper)
      1
    """
    return single(compared("sparse_vector", positive(epsilon, "epsilon")), adjacency)


def flipped(epsilon: Fraction) -> Law:
    """Permute-and-flip: pure; at least what it loses between two candidates whose scores are exchanged."""
    with working_precision(128):
        exchanged = ball_endpoints((2 * ball(epsilon / 2).exp() - 1).log())[0]
    name = f"permute_and_flip(epsilon={shown(epsilon)})"
    kept = Response(Fraction(exchanged), f"{name} between two exchanged scores") if exchanged > 0 else None
    ground = "pure epsilon-DP (McKenna, Sheldon 2020); exchanged scores at distance epsilon/2 have odds 2 exp(epsilon/2) - 1 to 1"
    return Between(name, pure_response(epsilon), kept, ground)


def noisiest(epsilon: Fraction) -> Law:
    """Report noisy max: pure, in any order of tied candidates that does not depend on the scores."""
    ground = "noise whose tail falls by at most a factor exp(-d / scale) in d steps; docs/selection.md"
    return Between(f"noisy_max(epsilon={shown(epsilon)})", pure_response(epsilon), None, ground)


def chosen(epsilon: Fraction, choice: Law | None = None) -> Law:
    """One of k choices: the others see fewer candidates, and which ones is known from the choices before; pure unless stated."""
    ground = "each choice is made by a mechanism of this guarantee among the candidates that are left; docs/selection.md"
    return Between(f"choice_of_top_k(epsilon={shown(epsilon)})", choice or pure_response(epsilon), None, ground)


def compared(kind: str, epsilon: Fraction) -> Law:
    """A run of noisy comparisons with one noisy threshold."""
    ground = "a whole run is pure epsilon-DP (Lyu, Su, Li 2017; docs/queries.md); what is lost below epsilon is not bounded"
    return Between(f"{kind}(epsilon={shown(epsilon)})", pure_response(epsilon), None, ground)
