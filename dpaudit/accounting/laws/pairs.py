"""Explicit pairs of finite distributions with exact rational probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final

from flint import arb

from dpaudit.accounting.model.law import Atom, Atoms, LossValue
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, ball, fmpq_of, rational, shown, working_precision

MOST_SHOWN: Final = 8  # Pairs with more outputs than this are described by their number


@dataclass(frozen=True)
class ExplicitPair:
    """P and Q mass of each likelihood ratio, in increasing order, and the mass of the outputs that only one side gives."""

    common: tuple[tuple[Fraction, Fraction], ...]
    only_p: Fraction
    only_q: Fraction
    name: str

    def describe(self) -> str:
        return self.name

    def reversed(self) -> ExplicitPair:
        return ExplicitPair(tuple((q_mass, p_mass) for p_mass, q_mass in self.common[::-1]), self.only_q, self.only_p, self.name)

    def greatest_loss(self) -> LossValue | None:
        """Logarithm of the greatest ratio; 0 when no output is common."""
        return self._losses[-1] if self.common else LossValue()

    def infinity_mass(self) -> Fraction:
        """P mass of the outputs that Q never gives."""
        return self.only_p

    def log_moment(self, order: Fraction) -> arb | None:
        """Direct sum; None when no output is common."""
        power = ball(order)
        terms = [(power * loss + weight).exp() for loss, weight in self._logarithms]
        return sum(terms, arb(0)).log() if terms else None

    def atoms(self, tail: int) -> Atoms:  # noqa: ARG002 - there is no tail
        """One atom for each distinct ratio, with exact rational masses."""
        masses = ((fmpq_of(p_mass), fmpq_of(q_mass)) for p_mass, q_mass in self.common)
        found = (Atom(loss, p_mass, q_mass) for loss, (p_mass, q_mass) in zip(self._losses, masses, strict=True))
        return Atoms(tuple(found), fmpq_of(self.only_p))

    @cached_property
    def _losses(self) -> tuple[LossValue, ...]:
        """The finite losses."""
        return tuple(LossValue.of_ratio(p_mass / q_mass) for p_mass, q_mass in self.common)

    @cached_property
    def _logarithms(self) -> tuple[tuple[arb, arb], ...]:
        """Balls around each loss and the logarithm of its P mass."""
        with working_precision(192):
            return tuple((loss.ball(), ball(p_mass).log()) for loss, (p_mass, _) in zip(self._losses, self.common, strict=True))

    @cached_property
    def _hash(self) -> int:
        """Hash of the masses, kept since thousands of fractions are slow to hash."""
        return hash((self.common, self.only_p, self.only_q))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[ExplicitPair], tuple[object, ...]]:
        """Pickle without what is kept for speed."""
        return ExplicitPair, (self.common, self.only_p, self.only_q, self.name)


def listed_pair(p: tuple[Fraction, ...], q: tuple[Fraction, ...]) -> ExplicitPair:
    """The pair with outputs of equal ratio put together."""
    common: dict[Fraction, tuple[Fraction, Fraction]] = {}
    for p_mass, q_mass in zip(p, q, strict=True):
        if p_mass and q_mass:
            ratio, (p_known, q_known) = p_mass / q_mass, common.get(p_mass / q_mass, (Fraction(0), Fraction(0)))
            common[ratio] = (p_known + p_mass, q_known + q_mass)
    only_p, only_q = (1 - sum((pair[side] for pair in common.values()), Fraction(0)) for side in (0, 1))
    shown_sides = (", ".join(shown(mass) for mass in side) for side in (p, q))
    name = "explicit_pair(p=[{}], q=[{}])".format(*shown_sides) if len(p) <= MOST_SHOWN else f"explicit_pair({len(p)} outputs)"
    return ExplicitPair(tuple(masses for _, masses in sorted(common.items())), only_p, only_q, name)


def distribution_from_numbers(side: Sequence[Exact], name: str) -> tuple[Fraction, ...]:
    """Exact probabilities that add up to 1."""
    if isinstance(side, str) or not isinstance(side, Sequence):
        raise InvalidArgument("DPA105", f"{name} must be a sequence of probabilities, got a {type(side).__name__}.")
    if not side:
        raise InvalidArgument("DPA109", f"{name} must list at least one probability.")
    masses = tuple(rational(mass, f"{name}[{index}]") for index, mass in enumerate(side))
    for index, mass in enumerate(masses):
        if mass < 0:
            raise InvalidArgument("DPA103", f"{name}[{index}] must be a probability in [0, 1], got {shown(mass)}.")
    whole = sum(masses, Fraction(0))
    if whole != 1:
        remedy = 'Write fractions such as "1/3", not rounded decimals.'
        raise InvalidArgument("DPA103", f"{name} must add up to exactly 1, got {shown(whole)}. {remedy}")
    return masses
