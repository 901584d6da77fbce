"""Bounds that the shape of delta implies: as a function of a = e^epsilon it is convex and falls with a slope between -1 and 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Final

from flint import arb

from dpaudit.exact import Enclosure, Endpoint, Reason, ball, ball_endpoints, working_precision

BITS: Final = 256  # Working precision
SHAPE: Final = "delta is convex in e^epsilon and falls with a slope between -1 and 0 (docs/engines.md, the last step)"


@dataclass(frozen=True)
class Known:
    """Certified ends of delta at a point a = e^epsilon, a ball; the smaller the number, the nearer a is to 0."""

    place: arb
    lower: Endpoint
    upper: Endpoint


def implied(at: Fraction, others: Sequence[tuple[Fraction, Enclosure]], limit: tuple[Fraction, Endpoint] | None) -> Enclosure:
    """Delta at an epsilon from what is known at others; `limit` is an epsilon from which on delta is at most a number."""
    with working_precision(BITS):
        a = ball(at).exp()
        left = [Known(arb(0), Fraction(1), Fraction(1))]
        right = list[Known]()
        for epsilon, found in others:
            (left if epsilon < at else right).append(known_at(epsilon, found))
        left.sort(key=lambda known: float(known.place))
        right.sort(key=lambda known: float(known.place))
        ends = list(right)
        if limit is not None and limit[0] > at:
            ends.append(Known(ball(limit[0]).exp(), Fraction(0), limit[1]))
        uppers = [arb(1), *(ball(Fraction(known.upper)) for known in left)]
        uppers += [ball(Fraction(known.upper)) + known.place - a for known in ends]
        for one in left:
            for other in ends:
                gap = other.place - one.place
                if gap > 0:
                    first, last = ball(Fraction(one.upper)), ball(Fraction(other.upper))
                    uppers.append(((other.place - a) * first + (a - one.place) * last) / gap)
        lowers = [arb(0), 1 - a, *(ball(Fraction(known.lower)) for known in right)]
        lowers += [ball(Fraction(known.lower)) - (a - known.place) for known in left]
        for outer, inner in combinations(left, 2):  # a line through a point above, left, and one below, nearer
            lowers += _beyond(outer, inner, a)
        for inner, outer in combinations(right, 2):
            lowers += _beyond(outer, inner, a)
        upper = min(_end(value, 1) for value in uppers if value.is_finite())
        lower = max(_end(value, 0) for value in lowers if value.is_finite())
    return Enclosure(lower, upper, Reason(SHAPE))  # ends that cross raise: one of the answers they come from is wrong


def below_chords(at: Fraction, known: Sequence[Known]) -> Enclosure:
    """Delta from above: below the chords from a = 0, where it is 1, to what is known from above at larger epsilons."""
    with working_precision(BITS):
        a = ball(at).exp()
        chords = [(one.place - a + a * ball(Fraction(one.upper))) / one.place for one in known if one.place > a]
        # Each is an upper end: that of the smallest centre is nearly the least, and converting the others would take longest.
        return Enclosure(Fraction(0), _end(min(chords, key=float), 1) if chords else Fraction(1), Reason(SHAPE))


def known_at(epsilon: Fraction, found: Enclosure) -> Known:
    """What an answer at an epsilon says of the point e^epsilon."""
    with working_precision(BITS):
        return Known(ball(epsilon).exp(), found.lower, found.upper)


def _beyond(outer: Known, inner: Known, a: arb) -> list[arb]:
    """A lower end on the far side of a point below the function, seen from one above it."""
    gap = inner.place - outer.place
    if gap.contains(0):
        return []
    low, high = ball(Fraction(inner.lower)), ball(Fraction(outer.upper))
    return [low - (high - low) * (a - inner.place) / gap]


def _end(value: arb, side: int) -> Fraction:
    """The lower (0) or upper (1) end of a ball, the trivial one where it is beyond all numbers."""
    end = ball_endpoints(value)[side]
    return end if isinstance(end, Fraction) else Fraction(side)
