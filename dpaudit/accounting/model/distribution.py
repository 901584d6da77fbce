"""Distribution functions of a privacy loss under P and Q, in ball arithmetic: all that the lattice engine asks of a law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias, runtime_checkable

from flint import arb

from dpaudit.accounting.model.law import Law

if TYPE_CHECKING:  # numpy is imported where arrays are made: most programs build laws, and few ask for a lattice
    from dpaudit.accounting.model.transform import Reals


class Sides(NamedTuple):
    """Mass of the diffuse part of the loss below and above a place, under P and under Q; each sum may be less than 1."""

    p_below: arb
    p_above: arb
    q_below: arb
    q_above: arb

    def up_to(self, right: Sides) -> tuple[arb, arb]:
        """P and Q mass between this place and a later one, from the tails on the side where they are smaller."""
        p_mass = right.p_below - self.p_below if right.p_below < self.p_above else self.p_above - right.p_above
        q_mass = right.q_below - self.q_below if right.q_below < self.q_above else self.q_above - right.q_above
        return p_mass, q_mass


Point: TypeAlias = tuple[arb, arb, arb]  # One value of the loss with its P and Q mass


class Points(NamedTuple):
    """The values of the loss that have mass of their own, the P mass of the infinite loss, and the Q mass that P has not."""

    finite: tuple[Point, ...]
    p_infinity: arb
    q_only: arb

    def turned(self) -> Points:
        """The same with P and Q exchanged."""
        finite = ((-loss, q_mass, p_mass) for loss, p_mass, q_mass in reversed(self.finite))
        return Points(tuple(finite), self.q_only, self.p_infinity)


@runtime_checkable
class Distribution(Protocol):
    """A law by its distribution functions; everything is computed at the current precision."""

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        """Masses of the diffuse part on both sides of each place."""

    def points(self, tail: int) -> Points:
        """Everything else; what is not known is a ball: an upper tail below 2^-tail may be undecided between 0 and infinity."""

    def nodes(self) -> Nodes:
        """A quadrature of the diffuse part in floats, for plans."""

    def ends(self) -> tuple[bool, bool]:
        """True if the diffuse part ends at the first and at the last node."""

    def gap(self) -> Fraction | None:
        """A step that carries all of more than two points, None when none is known."""


class Nodes(NamedTuple):
    """Losses in increasing order, with logarithms of P and Q weights; floats that only plans read."""

    losses: Reals
    log_p: Reals
    log_q: Reals


@runtime_checkable
class Distributed(Law, Protocol):
    """A law that brings its distribution functions; where it has a `bracket` as well, they are those of the law above."""

    def distribution(self) -> Distribution | None:
        """The distribution functions, None where they are not known."""


class OnlyPoints:
    """A distribution without a diffuse part."""

    def sides(self, losses: Sequence[arb]) -> list[Sides]:
        return [Sides(arb(0), arb(0), arb(0), arb(0))] * len(losses)

    def nodes(self) -> Nodes:
        """None: all mass is in points."""
        import numpy as np

        return Nodes(*(np.empty(0) for _ in range(3)))

    def ends(self) -> tuple[bool, bool]:
        """True, since there is nothing beyond."""
        return True, True


class NoGap:
    """A distribution of whose points no common step is known, or which has two at most and needs none."""

    def gap(self) -> Fraction | None:
        return None


class OnlyDiffuse(NoGap):
    """A distribution without points."""

    def points(self, tail: int) -> Points:  # noqa: ARG002 - there is no tail
        return Points((), arb(0), arb(0))


class Pointed(Protocol):
    """A law that knows points which dominate it."""

    def points(self, tail: int) -> Points:
        """The points, and what is left of P beside an infinite loss and of Q beside none."""


@dataclass(frozen=True)
class Scattered(OnlyPoints, NoGap):
    """The points of a law and nothing else."""

    law: Pointed

    def points(self, tail: int) -> Points:
        return self.law.points(tail)
