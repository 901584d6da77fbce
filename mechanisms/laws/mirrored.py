"""The weights of a range as an even law: mirrored at the likeliest integer, so that the envelope sampler can draw them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Final, Protocol, runtime_checkable

from flint import arb

from dpaudit.errors import Unsupported
from mechanisms.laws.law import IntegerLaw
from mechanisms.sampling.estimates import no_estimate

CUT: Final = 32
"""The envelope of a range reaches this many of its widths."""


@runtime_checkable
class Falling(Protocol):
    """A law whose weights fall away from 0 at a known rate."""

    def decay(self, start: int) -> Fraction:
        """A rate r such that weight(start + j) <= weight(start) exp(-r j) for every j >= 0."""


@dataclass(frozen=True)
class Mirrored:
    """The weights of a range from its likeliest integer on, mirrored there: an even law that the envelope sampler draws.

    A draw y stands for anchor + sign y, and is kept if that lies in the range. `limit` is how far the range reaches from the
    anchor; further out, where no draw is kept, the weights fall by the factor 1/e from one integer to the next.
    """

    law: IntegerLaw
    anchor: int
    sign: int
    limit: int
    width: int

    estimate = no_estimate

    @classmethod
    def of(cls, law: IntegerLaw, lower: int, upper: int) -> Mirrored:
        """The weights of a range of a law that falls away from 0; DPA202 where the sampler cannot bound what is far out."""
        anchor = lower if lower >= 0 else min(upper, 0)
        sign = -1 if upper <= 0 and lower < 0 else 1
        limit = max(upper - anchor, anchor - lower)
        width = max(1, min(isqrt(int(law.width_squared)), limit + 1))
        if isinstance(law, Falling):
            rate = law.decay(abs(anchor)) if anchor else Fraction(0)
            return cls(law, anchor, sign, limit, max(1, min(width, int(1 / rate))) if rate > 0 else width)
        if limit >= CUT * width:
            raise Unsupported(
                "DPA202",
                f"there is no exact sampler for {type(law).__name__} on so long and unlikely a range: its weights fall at no "
                f"known rate. Keep the range below {CUT} times the size of the noise.",
            )
        return cls(law, anchor, sign, limit, width)

    @property
    def width_squared(self) -> Fraction:
        """Square of the length within which the weights fall."""
        return Fraction(self.width**2)

    @property
    def cut(self) -> Fraction:
        """The reach of the blocks in widths: to the end of the range, or so far that little is left."""
        return min(Fraction(self.limit + 1, self.width), Fraction(CUT))

    def weight(self, k: int) -> arb:
        """Ball around the weight at distance |k| from the anchor, relative to that of the anchor."""
        inside = min(abs(k), self.limit)
        inner = self.law.weight(self.anchor + self.sign * inside) / self.law.weight(self.anchor)
        return inner * arb(inside - abs(k)).exp()

    def decay(self, start: int) -> Fraction:
        """That of the law, as far as the range goes, and at most 1 for what comes after it."""
        if start > self.limit or not isinstance(self.law, Falling):
            return Fraction(1)
        return min(self.law.decay(abs(self.anchor) + start), Fraction(1))
