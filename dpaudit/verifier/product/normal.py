"""Gaussian noise against an (epsilon, delta) claim: the largest total shift that the claim allows.

Where the squares of all shifts, each over its own sigma's square, add up to mu^2 at most, the output is at least as private as one
number with standard normal noise that moves by mu, whatever shifts look at among earlier noise (docs/verification.md). A claim
then holds if `Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu) <= delta`, which grows with mu.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb

from dpaudit.exact import ball, ball_endpoints, working_precision
from dpaudit.verifier.ir import Contract, Draw, Invoke, Law, Program
from dpaudit.verifier.product.walk import draws
from dpaudit.verifier.terms import number_of

_BITS: Final = 192
_STEP: Final = 2**40
"""Total shifts are looked for among multiples of its inverse."""
_LARGEST: Final = 64


def half_square(program: Program, contract: Contract, *, cut: bool) -> Fraction | None:
    """Half the square of the largest total shift; None where the claim is not about Gaussian noise alone, or is no number.

    Noise that is cut off is priced by the ledger of failures instead, and so are claims with a call that has a price of its own.
    """
    epsilon, delta = number_of(contract.claim), number_of(contract.delta)
    if contract.cost != "approx" or cut or epsilon is None or delta is None or epsilon < 0 or not 0 <= delta < 1:
        return None
    found = draws(program.body)
    if any(isinstance(one, Invoke) for one in found):
        return None
    if not any(isinstance(one, Draw) and one.law is Law.GAUSSIAN for one in found):
        return None
    shift = largest_shift(Fraction(epsilon), Fraction(delta))
    return shift * shift / 2


@lru_cache(maxsize=64)
def largest_shift(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest multiple of 2^-40 up to 64 by which one number with standard normal noise may move."""
    low, high = 0, _LARGEST * _STEP + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess(epsilon, Fraction(middle, _STEP)) <= delta else (low, middle)
    return Fraction(low, _STEP)


def excess(epsilon: Fraction, shift: Fraction) -> Fraction:
    """An upper bound of delta at epsilon for standard normal noise that moves by a positive shift."""
    with working_precision(_BITS):
        size, loss = ball(shift), ball(epsilon)
        upper = _phi(size / 2 - loss / size) - loss.exp() * _phi(-size / 2 - loss / size)
        return Fraction(ball_endpoints(upper)[1])


def _phi(at: arb) -> arb:
    """The standard normal distribution function."""
    return (-at / arb(2).sqrt()).erfc() / 2
