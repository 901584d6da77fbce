"""What a learner that makes one choice will do: its mechanism, its candidates and the public map in front of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from learners.choices.levels import choice_release
from learners.record import Charge

if TYPE_CHECKING:
    from learners.choices.counts import Cover
    from learners.rows.rows import Rows
    from learners.rows.signs import SignMap
    from mechanisms.exponential import ExponentialMechanism

LATTICE_BITS: Final = 20


@dataclass(frozen=True)
class ChoicePlan:
    """One choice among public candidates."""

    mechanism: ExponentialMechanism  # chooses, and says what the choice costs
    cover: Cover | None  # the candidates; None for those that the learner knows itself
    image: SignMap | None  # the map in front of them, or None
    lattice_bits: int = LATTICE_BITS  # fineness of the lattice of the features
    intercept: int = 0  # a constant in steps that is appended to every record; 0 for none
    outputs: int = 1  # scores of a candidate: 1 for two classes, K for K classes

    @property
    def charges(self) -> tuple[Charge, ...]:
        """The entries that the release log will hold."""
        return (Charge((choice_release(self.mechanism),)),)

    def mapped(self, rows: Rows) -> Rows:
        """The rows as the candidates meet them; images of more than twice the largest norm, which are few, are scaled to that."""
        if self.image is None:
            return rows
        return self.image.apply(rows, clip=2 * rows.bound * rows.step, lattice_bits=self.lattice_bits)
