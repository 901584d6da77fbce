"""Losses of choices: permute-and-flip, noisy maximum, one choice of a top-k selection, a run of the sparse vector technique."""

from __future__ import annotations

from fractions import Fraction

from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.response import Response, pure_response
from dpaudit.accounting.model.law import Law
from dpaudit.exact import ball, ball_endpoints, shown, working_precision


def permute_and_flip_law(epsilon: Fraction) -> Law:
    """Permute-and-flip: pure; at least what it loses between two candidates whose scores are exchanged."""
    with working_precision(128):
        exchanged = ball_endpoints((2 * ball(epsilon / 2).exp() - 1).log())[0]
    name = f"permute_and_flip(epsilon={shown(epsilon)})"
    kept = Response(Fraction(exchanged), f"{name} between two exchanged scores") if exchanged > 0 else None
    ground = "pure epsilon-DP (McKenna, Sheldon 2020); exchanged scores at distance epsilon/2 have odds 2 exp(epsilon/2) - 1 to 1"
    return Between(name, pure_response(epsilon), kept, ground)


def noisy_max_law(epsilon: Fraction) -> Law:
    """Report noisy max: pure, in any order of tied candidates that does not depend on the scores."""
    ground = "noise whose tail falls by at most a factor exp(-d / scale) in d steps; docs/selection_and_queries.md"
    return Between(f"noisy_max(epsilon={shown(epsilon)})", pure_response(epsilon), None, ground)


def top_k_choice_law(epsilon: Fraction, choice: Law | None = None) -> Law:
    """One of k choices: the others see fewer candidates, and which ones is known from the choices before; pure unless stated."""
    ground = "each choice is made by a mechanism of this guarantee among the remaining candidates; docs/selection_and_queries.md"
    return Between(f"choice_of_top_k(epsilon={shown(epsilon)})", choice or pure_response(epsilon), None, ground)


def comparison_law(kind: str, epsilon: Fraction) -> Law:
    """A run of noisy comparisons with one noisy threshold."""
    ground = "a whole run is pure epsilon-DP (Lyu, Su, Li 2017; docs/selection_and_queries.md); no lower bound is known"
    return Between(f"{kind}(epsilon={shown(epsilon)})", pure_response(epsilon), None, ground)
