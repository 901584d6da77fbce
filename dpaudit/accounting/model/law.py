"""Protocols of privacy loss laws; an engine asks for the capability that its theorem needs."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeAlias, runtime_checkable

from flint import arb, fmpq

from dpaudit.accounting.model.values import LossValue

Mass: TypeAlias = arb | fmpq
"""A probability: an exact rational, or a ball that contains it."""


@runtime_checkable
class Law(Hashable, Protocol):
    """A dominating pair (P, Q) in one direction, as plain frozen data; the loss is log(dP/dQ) drawn under P."""

    def describe(self) -> str:
        """The law's name with its exact parameters."""
        ...

    def reversed(self) -> Law:
        """The pair (Q, P); the law itself where the two directions lose the same."""
        ...

    def greatest_loss(self) -> LossValue | None:
        """The essential supremum of the finite losses, None when they are unbounded."""
        ...

    def infinity_mass(self) -> Fraction:
        """The P mass where Q has none."""
        ...

    def log_moment(self, order: Fraction) -> arb | None:
        """A ball at or above log E_P[e^(order * loss); finite loss] for order > 0, None where nothing is known."""
        ...


@dataclass(frozen=True)
class Atom:
    """One value of the loss with its probabilities under P and Q (their ratio is e^loss)."""

    loss: LossValue
    p_mass: Mass
    q_mass: Mass


@dataclass(frozen=True)
class Atoms:
    """A law on finitely many loss values, each listed once, and the P mass of the infinite loss.

    A law with countably many values is cut where its tails weigh little: the balls contain both the masses without the tails
    and those with the upper tail moved to infinity and the lower one to the least value kept.
    """

    atoms: tuple[Atom, ...]
    infinity: Mass


@runtime_checkable
class Finite(Law, Protocol):
    """A law whose loss takes finitely many values, or countably many with negligible tails."""

    def atoms(self, tail: int) -> Atoms | None:
        """The loss values with masses at the current precision, an upper tail below 2^-tail cut; None if there are too many."""
        ...


@runtime_checkable
class Profiled(Law, Protocol):
    """A law whose whole privacy profile has a closed form, the same in both directions."""

    def profile(self, epsilon: arb) -> arb:
        """A ball around delta(epsilon), for epsilon of any sign."""
        ...

    def profile_source(self) -> str:
        """The theorem behind the closed form."""
        ...


@runtime_checkable
class GaussianShaped(Law, Protocol):
    """A law whose pair is N(mu, 1) against N(0, 1), so that compositions add mu squared."""

    @property
    def mu_squared(self) -> Fraction:
        """Squared distance of the two normal laws in standard deviations."""
        ...


@runtime_checkable
class Bracketed(Law, Protocol):
    """A class of mechanisms known only by a law above it and, where there is one, a law below it."""

    def bracket(self) -> tuple[Law, Law | None]:
        """The law that dominates, and the one that is dominated (None when nothing is known from below)."""
        ...

    def bracket_source(self) -> str:
        """Why the two hold."""
        ...
