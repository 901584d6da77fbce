"""Privacy losses of additive noise: Gaussian, Laplace, their discrete kin, and the staircase."""

from __future__ import annotations

from typing import cast

from dpaudit.accounting.laws.discrete_gaussian import DiscreteGaussian
from dpaudit.accounting.laws.discrete_laplace import DiscreteLaplace, Staircase
from dpaudit.accounting.laws.gaussian import Gaussian
from dpaudit.accounting.laws.laplace import Laplace
from dpaudit.accounting.privacy_loss import PrivacyLoss, one_release
from dpaudit.claims import Adjacency
from dpaudit.exact import Exact, integer, one_given, positive, shown


def gaussian(sigma: Exact, *, sensitivity: Exact = "1", adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss of Gaussian noise, and an upper bound for its rounding to a lattice, in any dimension.

    Args:
      sigma: standard deviation of the noise, in output units, exact, positive.
      sensitivity: largest Euclidean distance of the query on neighbours, in output units, exact, positive.
      adjacency: the neighbouring relation that the sensitivity is about.
    Returns:
      A loss whose delta and epsilon are exact up to rounding, also after composition with other Gaussian laws.
    Raises:
      InvalidArgument: a parameter is not a finite number (DPA101, DPA102) or not positive (DPA104).
    Source: Balle and Wang 2018, Theorem 8; Dong, Roth, Su 2022, Corollary 3.3 for composition.
    Example:
      >>> print((1000 * gaussian(sigma=1)).epsilon(delta="1e-12"))
      [721.547, 721.548]
    """
    noise, distance = positive(sigma, "sigma"), positive(sensitivity, "sensitivity")
    name = f"gaussian(sigma={shown(noise)}, sensitivity={shown(distance)})"
    return one_release(Gaussian(distance / noise, name), adjacency)


def laplace(scale: Exact, *, sensitivity: Exact = "1", adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss of Laplace noise on a number.

    Args:
      scale: scale of the noise (its standard deviation is scale * sqrt(2)), in output units, exact, positive.
      sensitivity: largest distance of the query on neighbours, in output units, exact, positive.
      adjacency: the neighbouring relation that the sensitivity is about.
    Returns:
      A loss that is exact for one release and for compositions of up to about a hundred; larger ones get a narrow interval.
    Raises:
      InvalidArgument: a parameter is not a finite number (DPA101, DPA102) or not positive (DPA104).
    Source: Dwork, McSherry, Nissim, Smith 2006; Balle, Barthe, Gaboardi 2018, Theorem 3.
    Example:
      >>> laplace(scale=2).epsilon(delta=0).is_point
      True
    """
    return one_release(Laplace(positive(scale, "scale"), positive(sensitivity, "sensitivity")), adjacency)


def discrete_gaussian(
    sigma: Exact | None = None,
    *,
    sigma_squared: Exact | None = None,
    sensitivity: int = 1,
    adjacency: Adjacency | str = "add_remove",
) -> PrivacyLoss:
    """Privacy loss of discrete Gaussian noise on an integer.

    Args:
      sigma: parameter of the noise, in lattice steps, exact, positive; or else
      sigma_squared: its square; the noise x has probability proportional to exp(-x^2/(2 sigma_squared)).
      sensitivity: largest distance of the query on neighbours, in lattice steps, an integer of at least 1.
      adjacency: the neighbouring relation that the sensitivity is about.
    Returns:
      A loss that is exact for one release, and after composition while the loss values stay few enough.
    Raises:
      InvalidArgument: not exactly one of sigma and sigma_squared (DPA106), or a parameter that is not a number (DPA101, DPA102,
        DPA105), not positive (DPA104) or below 1 (DPA103).
    Source: Canonne, Kamath, Steinke 2020, Theorem 7 and Proposition 5.
    Example:
      >>> print(discrete_gaussian(sigma=10).delta(epsilon="1/10"))
      [0.00876235, 0.00876236]
    """
    one_given(sigma=sigma, sigma_squared=sigma_squared)
    square = positive(cast("Exact", sigma), "sigma") ** 2 if sigma_squared is None else positive(sigma_squared, "sigma_squared")
    return one_release(DiscreteGaussian(square, integer(sensitivity, "sensitivity", lower=1)), adjacency)


def discrete_laplace(scale: Exact, *, sensitivity: int = 1, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss of discrete Laplace noise on an integer.

    Args:
      scale: the noise x has probability proportional to e^(-|x|/scale), in lattice steps, exact, positive.
      sensitivity: largest distance of the query on neighbours, in lattice steps, an integer of at least 1.
      adjacency: the neighbouring relation that the sensitivity is about.
    Returns:
      A loss that is exact for one release, and after composition while the loss values stay few enough.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102, DPA105), not positive (DPA104) or below 1 (DPA103).
    Source: Ghosh, Roughgarden, Sundararajan 2012 for the mechanism.
    Example:
      >>> print(discrete_laplace(scale=2, sensitivity=3).epsilon(delta=0))
      1.5
    """
    return one_release(DiscreteLaplace(positive(scale, "scale"), integer(sensitivity, "sensitivity", lower=1)), adjacency)


def staircase(
    epsilon: Exact, *, step: int, width: int, sensitivity: int | None = None, adjacency: Adjacency | str = "add_remove"
) -> PrivacyLoss:
    """Privacy loss of staircase noise on an integer.

    Args:
      epsilon: fall of the weights from step to step in nats, exact, positive.
      step: length of a step in lattice steps, an integer of at least 1.
      width: half length of the top step, from 1 to `step`.
      sensitivity: largest distance of the query on neighbours, in lattice steps, from 1 to `step`; None for `step`.
      adjacency: the neighbouring relation that the sensitivity is about.
    Returns:
      A loss that is exact, also after composition.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102, DPA105), not positive (DPA104) or out of range (DPA103).
    Source: Geng, Viswanath 2014 for the mechanism; docs/laws_and_real_noise.md for the masses.
    Example:
      >>> print(staircase(epsilon=1, step=4, width=2).epsilon(delta=0))
      1
    """
    length = integer(step, "step", lower=1)
    half = integer(width, "width", lower=1, upper=length)
    moved = length if sensitivity is None else integer(sensitivity, "sensitivity", lower=1, upper=length)
    return one_release(Staircase(positive(epsilon, "epsilon"), length, half, moved), adjacency)
