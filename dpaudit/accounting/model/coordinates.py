"""Whole-number coordinates for exact loss values, so that equal sums of losses are recognised as equal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

from flint import arb

from dpaudit.accounting.model.law import LossValue
from dpaudit.exact import ball

MOST_BASE: Final = 512  # Most base numbers; losses with more independent logarithms are not composed value by value
Place: TypeAlias = tuple[int, ...]  # Multiples of the unit of nats and of the logarithm of each base number


@dataclass(frozen=True)
class Coordinates:
    """Loss values are `place[0] * unit` nats plus `place[i] * log(base[i - 1])`; the base numbers are pairwise coprime."""

    unit: Fraction
    base: tuple[int, ...]

    @classmethod
    def of(cls, losses: Iterable[LossValue]) -> Coordinates | None:
        """The coarsest coordinates in which all the losses are whole, None when they would be more than `MOST_BASE`."""
        values = set(losses)
        numbers = {number for value in values for ratio, _ in value.logs for number in (ratio.numerator, ratio.denominator)}
        base = _coprime_base(sorted(numbers))
        return None if base is None else cls(common_unit(value.nats for value in values), base)

    def place(self, loss: LossValue) -> Place:
        """Coordinates of a loss."""
        exponents = [0] * len(self.base)
        for ratio, times in loss.logs:
            for sign, number in ((times, ratio.numerator), (-times, ratio.denominator)):
                for index, factor in enumerate(self.base):
                    while number % factor == 0:
                        number //= factor  # noqa: PLW2901 - dividing out one factor after another
                        exponents[index] += sign
        return (int(loss.nats / self.unit) if self.unit else 0, *exponents)

    def balls(self) -> Callable[[Place], arb]:
        """A function from coordinates to a ball around the loss there, at the current precision."""
        steps = (ball(self.unit), *(arb(factor).log() for factor in self.base))

        def ball_of(place: Place) -> arb:
            return sum((step * times for step, times in zip(steps, place, strict=True) if times), arb(0))

        return ball_of


def common_unit(values: Iterable[Fraction]) -> Fraction:
    """The greatest rational of which all the values are whole multiples; 0 when all are 0."""
    unit = Fraction(0)
    for value in values:
        common = math.lcm(unit.denominator, value.denominator)
        unit = Fraction(math.gcd(int(unit * common), int(value * common)), common)
    return unit


def _coprime_base(numbers: Iterable[int]) -> tuple[int, ...] | None:
    """Pairwise coprime numbers above 1 such that every given number is a product of their powers; None when too many."""
    # Factor refinement: two numbers with a common divisor are replaced by it and by their quotients.
    base: list[int] = []
    waiting = [number for number in numbers if number > 1]
    while waiting:
        number = waiting.pop()
        for index, other in enumerate(base):
            shared = math.gcd(number, other)
            if shared > 1:
                del base[index]
                waiting += [part for part in (shared, number // shared, other // shared) if part > 1]
                break
        else:
            base.append(number)
            if len(base) > MOST_BASE:
                return None
    return tuple(sorted(base))
