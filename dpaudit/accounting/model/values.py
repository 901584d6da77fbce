"""Exact values of a privacy loss: a rational number of nats plus whole multiples of logarithms of rationals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpaudit.exact import Endpoint, ball, ball_endpoints, working_precision

if TYPE_CHECKING:
    from flint import arb


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
        total = ball(self.nats) if not self.slack else ball(self.nats).union(ball(self.nats - self.slack))
        for ratio, times in self.logs:
            total += ball(ratio).log() * times
        return total

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


def total(values: Iterable[tuple[LossValue, int]]) -> LossValue:
    """Sum of the values, each taken as often as stated."""
    nats, slack, logs = Fraction(0), Fraction(0), dict[Fraction, int]()
    for value, count in values:
        nats, slack = nats + count * value.nats, slack + count * value.slack
        for ratio, times in value.logs:
            logs[ratio] = logs.get(ratio, 0) + count * times
    return LossValue(nats, tuple(sorted((ratio, times) for ratio, times in logs.items() if times)), slack)
