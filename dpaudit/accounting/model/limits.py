"""The worst of a composition: its greatest finite loss and the probability of an infinite one."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import arb

from dpaudit.accounting.model.composition import Composition
from dpaudit.accounting.model.values import LossValue, total
from dpaudit.exact import Enclosure, Reason, ball, working_precision

LONGEST_POWER: Final = 1 << 14
"""Powers of rationals with more bits than this are enclosed in a ball."""


def greatest_loss(composition: Composition) -> LossValue | None:
    """Sum of the greatest finite losses, None when one of them is unbounded: the suprema of independent losses add."""
    values = []
    for law, count in composition.parts:
        value = law.greatest_loss()
        if value is None:
            return None
        values.append((value, count))
    return total(values)


def infinite_loss(composition: Composition) -> Enclosure:
    """Probability that some loss is infinite, 1 - product of (1 - mass)^count: delta never falls below it."""
    masses = [(law.infinity_mass(), count) for law, count in composition.parts]
    reason = Reason("probability of an infinite loss, 1 - product of (1 - mass)^count")
    if not any(mass for mass, _ in masses):
        return Enclosure.point(0, Reason("no output has infinite loss"))
    if sum(count * mass.denominator.bit_length() for mass, count in masses) <= LONGEST_POWER:
        safe = Fraction(1)
        for mass, count in masses:
            safe *= (1 - mass) ** count
        return Enclosure.point(1 - safe, reason)
    with working_precision(256):
        if any(mass == 1 for mass, _ in masses):
            return Enclosure.point(1, reason)
        logarithm = sum(((-ball(mass)).log1p() * count for mass, count in masses), arb(0))
        return Enclosure.from_ball(-logarithm.expm1(), reason, lowest=Fraction(0), highest=Fraction(1))
