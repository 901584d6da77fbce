"""A lower end for rare events: the chance that a single release loses much while a million others lose next to nothing."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, cast

from flint import arb

from dpaudit.accounting.laws.distributions import distribution_of
from dpaudit.accounting.laws.seen import Cumulated, cumulate
from dpaudit.accounting.model.composition import Composition
from dpaudit.accounting.model.distribution import Distribution
from dpaudit.exact import Enclosure, Reason, ball, ball_endpoints, working_precision

BITS: Final = 160
TAIL: Final = 64  # Bits of the tail at which laws with endlessly many values are cut
# Losses of one release beyond which it counts as large: parts of epsilon, and a distance above it. Any place is sound.
PLACES: Final = (
    (Fraction(1, 4), 0),
    (Fraction(1, 2), 0),
    (Fraction(1), 0),
    *((Fraction(1), add) for add in (Fraction(1, 4), 1, 2)),
)
GROUND: Final = "delta is at least P(E) - e^epsilon Q(E) for any event E: here, that some release loses more than a fixed amount"


def largest_jump(composition: Composition, epsilon: Fraction) -> Enclosure | None:
    """A lower end of delta from the best of some events about single releases; None where a law has no distribution functions."""
    with working_precision(BITS):
        found = [(distribution_of(law), count) for law, count in composition.parts]
        known = [(distribution, count) for distribution, count in found if distribution is not None]
        if len(known) < len(found):
            return None
        places = [ball(part * epsilon + add) for part, add in PLACES]
        log_p, log_q = [arb(0) for _ in places], [arb(0) for _ in places]  # of no large loss, under P and under Q
        for distribution, count in known:
            for index, (p_mass, q_mass) in enumerate(_above(distribution, places)):
                log_p[index] += count * (-p_mass).log1p()
                log_q[index] += count * (-q_mass).log1p()
        gains = (-p.expm1() + ball(epsilon).exp() * q.expm1() for p, q in zip(log_p, log_q, strict=True))
        best = max((ball_endpoints(gain)[0] for gain in gains if gain.is_finite()), default=Fraction(0))
    return Enclosure(max(Fraction(best), Fraction(0)), Fraction(1), Reason(GROUND))


def _above(distribution: Distribution, places: Sequence[arb]) -> list[tuple[arb, arb]]:
    """P mass at or below, and Q mass at or above, that of the losses beyond each place, as balls below 1."""
    points, masses = _cumulated(cast("Hashable", distribution)), []
    for place, side in zip(places, distribution.sides(places), strict=True):
        first = bisect_right(points.losses, float(place))  # a point next to the place may count or not: any event is sound
        p_mass, q_mass = side.p_above + points.p_masses[first], side.q_above + points.q_masses[first]
        masses.append((arb(p_mass.lower()).max(arb(0)), arb(q_mass.upper())))
    return masses


@lru_cache(maxsize=64)
def _cumulated(distribution: Hashable) -> Cumulated:
    """Masses of all points from each one on, the infinite loss included."""
    assert isinstance(distribution, Distribution)  # noqa: S101 - typing knows no distribution that can be looked up
    return cumulate(distribution.points(TAIL))
