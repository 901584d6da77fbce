"""Random numbers of runs: negative binomial or Poisson above 0, drawn exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Protocol

from flint import arb

from dpaudit.accounting.laws.best_of import checked_mean, checked_runs, expected_runs
from dpaudit.exact import Enclosure, Exact, Reason, ball, integer, working_precision
from mechanisms.sampling.exactnum import LazyUniform

if TYPE_CHECKING:
    from mechanisms.sampling.random import BitSource

_PRECISION: Final = 256
_STEP: Final = 64


class _Law(Protocol):
    """A number of runs by its first mass, P[K = 1], and the ratios of masses, P[K = count + 1] / P[K = count]."""

    def _first(self) -> arb: ...

    def _ratio(self, count: int) -> arb: ...


def _mass(law: _Law, k: int) -> Enclosure:
    """P[K = k] for an integer k of at least 1."""
    with working_precision(_PRECISION):
        mass = law._first()  # noqa: SLF001 - this module's own laws
        for passed in range(1, integer(k, "k", lower=1)):
            mass *= law._ratio(passed)  # noqa: SLF001
        return Enclosure.from_ball(mass, Reason("products of rationals over the mass above 0"), lowest=0, highest=1)


def _draw(law: _Law, source: BitSource) -> int:
    """Draw one number of runs exactly: a uniform number, of as many digits as are needed, against the running sums."""
    place = LazyUniform(source, _STEP, _STEP)
    with working_precision(_PRECISION):
        mass = below = law._first()  # noqa: SLF001 - this module's own laws
    count = 1
    while not place.less(lambda _, bound=below: bound):  # type: ignore[misc]
        with working_precision(_PRECISION):
            mass = mass * law._ratio(count)  # noqa: SLF001
            below = below + mass
        count += 1
    return count


@dataclass(frozen=True, init=False)
class Runs:
    """A number K of runs, P[K = k] proportional to (1 - stop)^k times the product of (l + shape) / (l + 1) over l below k.

    Source: Papernot, Steinke 2022, Definition 1.
    """

    shape: Fraction  # exact, above -1: 1 for the geometric law, 0 for the logarithmic one
    stop: Fraction  # exact, in (0, 1): the smaller the more runs
    pmf, draw = _mass, _draw

    def __init__(self, *, shape: Exact, stop: Exact) -> None:
        """Check the parameters and store them exactly."""
        number, end = checked_runs(shape, stop)
        object.__setattr__(self, "shape", number)
        object.__setattr__(self, "stop", end)

    @property
    def mean(self) -> Enclosure:
        """Expected number of runs."""
        with working_precision(_PRECISION):
            return Enclosure.from_ball(expected_runs(self.shape, self.stop), Reason("expectation"), lowest=1)

    def _first(self) -> arb:
        """The mass shape (1 - stop) / (stop^-shape - 1), or its limit at shape 0."""
        turn = ball(1 - self.stop)
        rest = -ball(self.stop).log()
        return turn / rest if self.shape == 0 else turn * ball(self.shape) / (ball(self.shape) * rest).expm1()

    def _ratio(self, count: int) -> arb:
        """P[K = count + 1] / P[K = count]."""
        return ball((1 - self.stop) * (count + self.shape) / (count + 1))


@dataclass(frozen=True, init=False)
class PoissonRuns:
    """A number K of runs, P[K = k] proportional to parameter^k / k! for k of at least 1 (Papernot, Steinke 2022, section 3)."""

    parameter: Fraction  # exact, positive, at most 1000: the mean of the law with 0 in it
    pmf, draw = _mass, _draw

    def __init__(self, *, parameter: Exact) -> None:
        """Check the parameter and store it exactly."""
        object.__setattr__(self, "parameter", checked_mean(parameter))

    @property
    def mean(self) -> Enclosure:
        """Expected number of runs."""
        with working_precision(_PRECISION):
            mean = ball(self.parameter)
            return Enclosure.from_ball(mean / -(-mean).expm1(), Reason("expectation"), lowest=1)

    def _first(self) -> arb:
        """P[K = 1]."""
        return ball(self.parameter) / ball(self.parameter).expm1()

    def _ratio(self, count: int) -> arb:
        """P[K = count + 1] / P[K = count]."""
        return ball(self.parameter / (count + 1))
