"""The failure ledger of (epsilon, delta) claims: events of a draw's own noise that are given up, and what they add up to.

A specification names them as `align={"eta.within": "5"}`: draws of eta further out than 5 scales fail. The probability of a failure
is charged when the draw is made, so that what is charged covers runs of which nothing else is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Final

from flint import arb

from dpaudit.exact import ball, ball_endpoints, working_precision
from dpaudit.verifier.ir import Draw, Law, Program
from dpaudit.verifier.product.runs import Misused
from dpaudit.verifier.product.walk import draws

WITHIN: Final = ".within"
"""The suffix of a draw's name under which a specification gives the cut-off of its noise."""

FAILED: Final = "$failed"
"""The counter of probabilities of failure."""

_BITS: Final = 80


def cuts(program: Program) -> dict[int, Fraction]:
    """The cut-off of each site's noise in scales, where the claim is (epsilon, delta) and its specification gives one."""
    found: dict[int, Fraction] = {}
    if program.contract is None:
        return found
    for name, text in program.contract.align:
        if not name.endswith(WITHIN):
            continue
        named = [
            draw
            for draw in draws(program.body)
            if isinstance(draw, Draw) and name.removesuffix(WITHIN) in {draw.name, f"{draw.law.value}.{draw.site}"}
        ]
        if len(named) != 1 or named[0].law not in _TAILS or program.contract.cost != "approx":
            raise Misused(f"{name} is for one Laplace or Gaussian draw of an (epsilon, delta) claim")
        try:
            found[named[0].site] = Fraction(text)
        except ValueError as error:
            raise Misused(f"{name} is a number of scales, got {text!r}") from error
        if found[named[0].site] <= 0:
            raise Misused(f"{name} must be above 0")
    return found


def tail(law: Law, cut: Fraction) -> Fraction:
    """An upper bound of the probability of noise more than so many scales from 0."""
    with working_precision(2 * _BITS):
        upper = ball_endpoints(_TAILS[law](ball(cut)))[1]
    # Rounded up to a multiple of 2^-80, so that it is short and still an upper bound.
    return Fraction(int(upper * 2**_BITS) + 1, 2**_BITS)


_TAILS: Final[Mapping[Law, Callable[[arb], arb]]] = {
    Law.LAPLACE: lambda cut: (-cut).exp(),
    Law.GAUSSIAN: lambda cut: (cut / arb(2).sqrt()).erfc(),
}
"""P(|x| > cut) for noise of scale 1."""
