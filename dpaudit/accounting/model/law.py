"""Privacy loss laws: the exact values of a loss, and the protocols by which an engine asks for what its theorem needs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, Self, TypeAlias, runtime_checkable

from flint import arb, fmpq

from dpaudit.exact import Endpoint, ball, ball_endpoints, working_precision


@dataclass(frozen=True)
class LossValue:
    """The number `nats + sum(times * log(ratio))` over the entries (ratio, times) of `logs`, or up to `slack` less."""

    nats: Fraction = Fraction(0)
    logs: tuple[tuple[Fraction, int], ...] = ()
    slack: Fraction = Fraction(0)

    @classmethod
    def of_ratio(cls, ratio: Fraction) -> LossValue:
        """The logarithm of a positive rational, held above 1 so that a ratio and its inverse share one entry."""
        if ratio == 1:
            return cls()
        return cls(logs=((ratio, 1),)) if ratio > 1 else cls(logs=((1 / ratio, -1),))

    def ball(self) -> arb:
        """A ball of the current working precision around the value."""
        rational = ball(self.nats) if not self.slack else ball(self.nats).union(ball(self.nats - self.slack))
        return sum((ball(ratio).log() * times for ratio, times in self.logs), rational)

    @property
    def is_rational(self) -> bool:
        """True if no logarithm is left and nothing is open, so that the value is the rational `nats`."""
        return not self.logs and not self.slack

    def ends(self) -> tuple[Endpoint, Endpoint]:
        """Numbers below and above the value; both are the value itself where it is rational."""
        if self.is_rational:
            return self.nats, self.nats
        with working_precision(128):
            return ball_endpoints(self.ball())


def sum_of_losses(values: Iterable[tuple[LossValue, int]]) -> LossValue:
    """Sum of the values, each taken as often as stated."""
    nats, slack, logs = Fraction(0), Fraction(0), dict[Fraction, int]()
    for value, count in values:
        nats, slack = nats + count * value.nats, slack + count * value.slack
        for ratio, times in value.logs:
            logs[ratio] = logs.get(ratio, 0) + count * times
    return LossValue(nats, tuple(sorted((ratio, times) for ratio, times in logs.items() if times)), slack)


Mass: TypeAlias = arb | fmpq  # A probability: an exact rational, or a ball that contains it


@runtime_checkable
class Law(Hashable, Protocol):
    """A dominating pair (P, Q) in one direction, as plain frozen data; the loss is log(dP/dQ) drawn under P."""

    def describe(self) -> str:
        """The law's name with its exact parameters."""

    def reversed(self) -> Law:
        """The pair (Q, P); the law itself where the two directions lose the same."""

    def greatest_loss(self) -> LossValue | None:
        """The essential supremum of the finite losses, None when they are unbounded."""

    def infinity_mass(self) -> Fraction:
        """The P mass where Q has none."""

    def log_moment(self, order: Fraction) -> arb | None:
        """A ball at or above log E_P[e^(order * loss); finite loss] for order > 0, None where nothing is known."""


@dataclass(frozen=True)
class Atom:
    """One value of the loss with its probabilities under P and Q (their ratio is e^loss)."""

    loss: LossValue
    p_mass: Mass
    q_mass: Mass


@dataclass(frozen=True)
class Atoms:
    """A law on finitely many loss values, each listed once, and the P mass of the infinite loss."""

    # A law with countably many values is cut where its tails weigh little: the balls contain both the masses without the tails and
    # those with the upper tail moved to infinity and the lower one to the least value kept.
    atoms: tuple[Atom, ...]
    infinity: Mass


@runtime_checkable
class Finite(Law, Protocol):
    """A law whose loss takes finitely many values, or countably many with negligible tails."""

    def atoms(self, tail: int) -> Atoms | None:
        """The loss values with masses at the current precision, an upper tail below 2^-tail cut; None if there are too many."""


@runtime_checkable
class Profiled(Law, Protocol):
    """A law whose whole privacy profile has a closed form, the same in both directions."""

    def profile(self, epsilon: arb) -> arb:
        """A ball around delta(epsilon), for epsilon of any sign."""

    def profile_source(self) -> str:
        """The theorem behind the closed form."""


@runtime_checkable
class GaussianShaped(Law, Protocol):
    """A law whose pair is N(mu, 1) against N(0, 1), so that compositions add mu squared."""

    @property
    def mu_squared(self) -> Fraction:
        """Squared distance of the two normal laws in standard deviations."""


@runtime_checkable
class Bracketed(Law, Protocol):
    """A class of mechanisms known only by a law above it and, where there is one, a law below it."""

    def bracket(self) -> tuple[Law, Law | None]:
        """The law that dominates, and the one that is dominated (None when nothing is known from below)."""

    def bracket_source(self) -> str:
        """Why the two hold."""


class Symmetric:
    """A law that loses the same in both directions: exchanging P and Q gives the pair again, up to the names of outputs."""

    def reversed(self) -> Self:
        return self


class FiniteLosses:
    """A law without an infinite loss: P and Q have the same support, or a bound on every moment excludes it."""

    def infinity_mass(self) -> Fraction:
        return Fraction(0)


class Unbounded:
    """A law whose finite losses have no greatest one."""

    def greatest_loss(self) -> LossValue | None:
        return None


class OnlyAbove:
    """A guarantee that is its own upper end: some mechanisms that satisfy it lose nothing, so none is known from below."""

    def bracket(self: Law) -> tuple[Law, Law | None]:
        return self, None

    def bracket_source(self) -> str:
        return "a bound on moments holds from above only: a mechanism that satisfies it may lose nothing"


@runtime_checkable
class Cornered(Protocol):
    """A law whose log moment is known as a function with corners: the best order is often one of them."""

    @property
    def corners(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Orders, from 0 on, with the log moments there."""
