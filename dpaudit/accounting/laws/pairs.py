"""Explicit pairs of finite distributions with exact rational probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.accounting.law import Atom, Atoms
from dpaudit.accounting.loss import PrivacyLoss, single
from dpaudit.accounting.values import LossValue
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, ball, fmpq_of, rational, shown


@dataclass(frozen=True)
class ExplicitPair:
    """Probabilities of each output under P and under Q."""

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]

    def describe(self) -> str:
        """The probabilities while they are few, else how many."""
        if len(self.p) > 8:
            return f"explicit_pair({len(self.p)} outputs)"
        sides = (", ".join(shown(mass) for mass in side) for side in (self.p, self.q))
        return "explicit_pair(p=[{}], q=[{}])".format(*sides)

    def reversed(self) -> ExplicitPair:
        """The pair (Q, P)."""
        return ExplicitPair(self.q, self.p)

    def _merged(self) -> dict[Fraction, Fraction]:
        """P mass by ratio P/Q, over the outputs that both sides can give."""
        masses: dict[Fraction, Fraction] = {}
        for over, under in zip(self.p, self.q, strict=True):
            if over and under:
                masses[over / under] = masses.get(over / under, Fraction(0)) + over
        return masses

    def greatest_loss(self) -> LossValue | None:
        """Logarithm of the greatest ratio; 0 when no output is common."""
        return LossValue.of_ratio(max(self._merged(), default=Fraction(1)))

    def infinity_mass(self) -> Fraction:
        """P mass of the outputs that Q never gives."""
        return sum((over for over, under in zip(self.p, self.q, strict=True) if not under), Fraction(0))

    def log_moment(self, order: Fraction) -> arb | None:
        """Direct sum; None when no output is common."""
        terms = [ball(mass) * (ball(order) * ball(ratio).log()).exp() for ratio, mass in self._merged().items()]
        return sum(terms, arb(0)).log() if terms else None

    def atoms(self, tail: int) -> Atoms:  # noqa: ARG002 - there is no tail
        """One atom for each distinct ratio, with exact rational masses."""
        merged = sorted(self._merged().items())
        found = [Atom(LossValue.of_ratio(ratio), fmpq_of(mass), fmpq_of(mass / ratio)) for ratio, mass in merged]
        return Atoms(tuple(found), fmpq_of(self.infinity_mass()))


def explicit_pair(p: Sequence[Exact], q: Sequence[Exact], *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """Privacy loss of a mechanism with finitely many outputs, from its exact probabilities on two neighbours.

    Args:
      p: probability of each output on the first dataset, exact, adding up to 1.
      q: probability of each output on the second dataset, in the same order. In a composition the first dataset is
        the same for all pairs, so under add_remove let `p` always be the dataset that has the record.
      adjacency: the neighbouring relation of the two datasets.
    Returns:
      A loss that is exact in both directions, also after composition.
    Raises:
      InvalidArgument: different lengths (DPA105), no outputs (DPA109), an entry that is not a probability or sums other
        than 1 (DPA103).
    Source: Zhu, Dong, Wang 2022 (dominating pairs); Sommer, Meiser, Mohammadi 2019 for exact composition.
    Example:
      >>> (2 * explicit_pair(["3/4", "1/4"], ["1/4", "3/4"])).delta(epsilon=0).lower
      Fraction(1, 2)
    """
    sides = tuple(_distribution(side, name) for side, name in ((p, "p"), (q, "q")))
    if len(sides[0]) != len(sides[1]):
        raise InvalidArgument(
            "DPA105", f"p and q must list the same outputs, got {len(sides[0])} and {len(sides[1])} probabilities."
        )
    return single(ExplicitPair(*sides), adjacency)


def _distribution(side: Sequence[Exact], name: str) -> tuple[Fraction, ...]:
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
