"""A release whose exact law is not priced: some law between one that dominates it and one that it dominates."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from dpaudit.accounting.model.law import Law
from dpaudit.accounting.model.values import LossValue


@dataclass(frozen=True)
class Between:
    """At most the loss of `upper`, at least that of `lower` (None: nothing known); `name` says what is meant, `ground` why."""

    name: str
    upper: Law
    lower: Law | None
    ground: str

    def describe(self) -> str:
        """The name of the class."""
        return self.name

    def reversed(self) -> Between:
        """Both laws reversed."""
        return Between(self.name, self.upper.reversed(), None if self.lower is None else self.lower.reversed(), self.ground)

    def greatest_loss(self) -> LossValue | None:
        """That of the law above."""
        return self.upper.greatest_loss()

    def infinity_mass(self) -> Fraction:
        """That of the law above."""
        return self.upper.infinity_mass()

    def log_moment(self, order: Fraction) -> arb | None:
        """That of the law above."""
        return self.upper.log_moment(order)

    def bracket(self) -> tuple[Law, Law | None]:
        """The two laws."""
        return self.upper, self.lower

    def bracket_source(self) -> str:
        """The stated ground."""
        return self.ground
