"""The methods that all laws share: exact draws, and enclosures of probabilities, tails and variance.

A law is a frozen dataclass that says how it is sampled (`sampler`) and gives balls around its numbers (`weight`, `probability`,
`beyond`, `below`, `spread`). The functions of this module become its public methods by assignment in the class body, so that they
are written and documented once and no class inherits from another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from math import inf
from typing import Any, Final, Protocol, overload

from flint import arb
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Enclosure, Exact, Reason, in_range, integer, positive, working_precision
from mechanisms.sampling.envelope import EvenLaw, envelope_table
from mechanisms.sampling.kernel import draw, draw_one
from mechanisms.sampling.limits import LARGEST, too_large
from mechanisms.sampling.random import BitSource, default_source

LARGEST_SCALE: Final = 2**512
"""Larger scales are refused; no use is known for them."""

MOST_DRAWS: Final = 2**32
"""Draws of one call, which fill 32 GiB of memory; more are refused rather than begun."""

MOST_GUARD_BITS: Final = 1100
"""Bits beyond the precision asked for, for what very wide and very narrow laws cancel."""


@dataclass(frozen=True)
class Sampler:
    """A law made ready to be drawn from: many draws (source, number, wide) or one; int64 holds almost all of them below `reach`."""

    many: Callable[[BitSource, int, bool], NDArray[Any]]
    one: Callable[[BitSource], int]
    reach: int


class IntegerLaw(Protocol):
    """A law on the integers: its parts as balls at the current working precision, and how it is sampled."""

    def __hash__(self) -> int:
        """Laws are values."""

    @property
    def sampler(self) -> Sampler:
        """The kernel with the law's table."""

    @property
    def support(self) -> tuple[int | None, int | None]:
        """The least and the greatest integer of positive probability, None where there is none."""

    @property
    def width_squared(self) -> Fraction:
        """Square of the law's typical size, positive."""

    @property
    def method(self) -> str:
        """The mathematics by which the balls are computed."""

    def weight(self, k: int) -> arb:
        """Ball around P[X = k], up to a factor that is the same for every k."""

    def probability(self, k: int) -> arb:
        """Ball around P[X = k]."""

    def beyond(self, k: int) -> arb:
        """Ball around P[X >= k]."""

    def below(self, k: int) -> arb:
        """Ball around P[X <= k]."""

    def spread(self) -> arb:
        """Ball around the variance."""


@overload
def sample(self: IntegerLaw, n: None = None, *, source: BitSource | None = None, wide: bool = False) -> int: ...
@overload
def sample(self: IntegerLaw, n: int, *, source: BitSource | None = None, wide: bool = False) -> NDArray[Any]: ...
def sample(self: IntegerLaw, n: int | None = None, *, source: BitSource | None = None, wide: bool = False) -> int | NDArray[Any]:
    """Independent exact draws."""
    count, bits = request(n, source)
    return draw_checked(self.sampler, count, bits, wide=wide)


def request(n: int | None, source: BitSource | None) -> tuple[int | None, BitSource]:
    """Check a request: the number of draws (None for a single int), and the source of bits."""
    count = None if n is None else integer(n, "n", lower=0, upper=MOST_DRAWS)
    if source is None:
        return count, default_source()
    if not (hasattr(source, "uniform") and hasattr(source, "bits")):
        kind = type(source).__name__
        raise InvalidArgument("DPA105", f"source must be a BitSource, got a {kind}. None takes the system's randomness.")
    return count, source


def draw_checked(sampler: Sampler, count: int | None, source: BitSource, *, wide: bool) -> int | NDArray[Any]:
    """Draws of a sampler, refused where they might not fit int64 and may not be wider."""
    if not wide and sampler.reach > LARGEST // 2:
        raise InvalidArgument("DPA108", "the law reaches beyond int64. Use a smaller scale, or wide=True for Python integers.")
    if count is not None:
        return sampler.many(source, count, wide)
    single = sampler.one(source)
    if abs(single) >= LARGEST and not wide:
        raise too_large()
    return single


def pmf(self: IntegerLaw, k: int, *, precision: int = 128) -> Enclosure:
    """P[X = k] for an integer k, computed with `precision` (32 to 4096) bits."""
    place = integer(k, "k")
    return _enclose(self, lambda: self.probability(place), precision)


def tail(self: IntegerLaw, k: int, *, precision: int = 128) -> Enclosure:
    """P[X >= k] for an integer k, computed with `precision` (32 to 4096) bits."""
    place = integer(k, "k")
    return _enclose(self, lambda: self.beyond(place), precision)


def cdf(self: IntegerLaw, k: int, *, precision: int = 128) -> Enclosure:
    """P[X <= k] for an integer k, computed with `precision` (32 to 4096) bits; small values keep their relative precision."""
    place = integer(k, "k")
    return _enclose(self, lambda: self.below(place), precision)


def variance(self: IntegerLaw, *, precision: int = 128) -> Enclosure:
    """The variance of X, computed with `precision` (32 to 4096) bits."""
    return _enclose(self, self.spread, precision, highest=inf)


def _enclose(law: IntegerLaw, value: Callable[[], arb], precision: int, *, highest: float = 1) -> Enclosure:
    """A non-negative number as an enclosure, computed with guard bits for what very wide and very narrow laws cancel."""
    bits = integer(precision, "precision", lower=32, upper=4096)
    with working_precision(bits + guard_bits(law)):
        return Enclosure.from_ball(value(), Reason(law.method), lowest=0, highest=highest)


def guard_bits(law: IntegerLaw) -> int:
    """Bits that the law's formulas may lose."""
    width = law.width_squared
    return min(32 + abs(width.numerator.bit_length() - width.denominator.bit_length()), MOST_GUARD_BITS)


def even_beyond(above: Callable[[int], arb], k: int) -> arb:
    """P[X >= k] of an even law from a formula for k >= 1."""
    return above(k) if k >= 1 else 1 - above(1 - k)


def below(self: IntegerLaw, k: int) -> arb:
    """Ball around P[X <= k] of an even law."""
    return self.beyond(-k)


def only_fields(self: Any) -> dict[str, object]:
    """The state that a law is pickled and copied by: its parameters, not the tables kept for speed."""
    return {field.name: getattr(self, field.name) for field in fields(self)}


def envelope_sampler(law: EvenLaw) -> Sampler:
    """The sampler of an even law whose weights do not increase away from 0."""
    table = envelope_table(law)
    return Sampler(lambda source, n, wide: draw(table, source, n, wide=wide), lambda source: draw_one(table, source), table.start)


def positive_scale(value: Exact, name: str) -> Fraction:
    """A positive scale of bearable size, exactly."""
    return in_range(positive(value, name), name, lower=0, upper=LARGEST_SCALE)
