"""Very many releases of one law with two losses: binomial tails summed from a threshold on, in integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

from flint import arb

from dpaudit.accounting.engines.closed_forms import Profile
from dpaudit.accounting.engines.outcomes import listed_points
from dpaudit.accounting.engines.parts import Parts
from dpaudit.accounting.engines.saddles import saddles_of, tilt_at
from dpaudit.accounting.laws.between import dominated_laws, dominating_laws
from dpaudit.accounting.model.composition import Composition, Question, greatest_loss, infinite_loss
from dpaudit.accounting.model.law import Finite, Law
from dpaudit.accounting.model.search import Guess, log_of
from dpaudit.exact import Enclosure, Reason, ball, ball_endpoints, working_precision

FEWEST: Final = 1 << 15  # Releases below this are composed value by value
MOST: Final = 10**10  # Releases beyond this take too many terms
BITS: Final = 320  # Working precision of everything but the terms
UNIT_BITS: Final = 256  # The first term of a sum is 2 to this power
NEGLIGIBLE: Final = 80  # A remainder below 2 to minus this of the sum ends it
FAR: Final = 12  # Standard deviations below the mean number beyond which numbers are left out of the event
TAIL: Final = 1200  # Bits of the tail at which values are listed: a law with two values has none
SOURCE: Final = "binomial tails: terms from the threshold on, a geometric series above the rest (docs/engines.md, binary laws)"


class _Step(NamedTuple):
    """The two losses with their masses, all balls at the working precision."""

    low: arb
    high: arb
    p_masses: tuple[arb, arb]
    q_masses: tuple[arb, arb]
    infinity: arb


@dataclass(frozen=True)
class _Block:
    """Sums of terms from each number of high losses on, relative to the first term of all, and how much they are short of."""

    # `p_sums[i]` and `q_sums[i]` are at or below the P and Q mass of numbers >= first + i in units of 2^-UNIT_BITS of the P and Q
    # mass of `first`; the truth is at most `p_short`, `q_short` more.
    first: int
    p_sums: tuple[int, ...]
    q_sums: tuple[int, ...]
    p_short: int
    q_short: int
    p_unit: arb
    q_unit: arb


def many_binary(composition: Composition, question: Question) -> Enclosure | None:
    """Delta or epsilon of very many releases of one law with two finite losses in one direction, else None."""
    if len(composition.parts) != 1 or not FEWEST <= composition.parts[0][1] <= MOST:
        return None
    above, below = dominating_laws(composition), dominated_laws(composition)
    high = _profile(above)
    if high is None:
        return None
    found = high.answer(question)
    if above == below:
        return found
    low = _profile(below) if len(below.parts) == 1 else None
    return Enclosure(low.answer(question).lower if low else 0, found.upper, found.reason)


@lru_cache(maxsize=16)
def _profile(composition: Composition) -> Profile | None:
    """The profile, None for other laws."""
    law, count = composition.parts[0]
    with working_precision(BITS):
        if _step(law) is None:
            return None
    limit = infinite_loss(composition)

    def delta(epsilon: Fraction, floor: Fraction) -> Enclosure:  # noqa: ARG001 - all values are resolved
        with working_precision(BITS):
            value = _delta(law, count, epsilon)
            reason = Reason(SOURCE, (limit.reason, Reason(f"error term: integers of {UNIT_BITS} bits and more")))
            return Enclosure.from_ball(value, reason, lowest=limit.lower, highest=Fraction(1))

    return Profile(delta, limit, greatest_loss(composition), lambda target: _guess(law, count, target))


def _guess(law: Law, count: int, delta: Fraction) -> Guess | None:
    """Epsilon at a delta by the saddle point, in floats."""
    from dpaudit.accounting.laws.distributions import Listed, distribution_of

    found = Listed(law) if isinstance(law, Finite) else distribution_of(law)
    saddles = None if found is None else saddles_of(Parts(((found, count),)), TAIL)
    place = None if saddles is None or not delta else saddles.for_delta(log_of(delta))
    return None if saddles is None or place is None else (Fraction(max(saddles.at(place)[0], 0.0)), -tilt_at(place))


def _step(law: Law) -> _Step | None:
    """The two values of a law; None for a law with more or fewer."""
    points = listed_points(law, TAIL)
    if points is None or len(points.finite) != 2:
        return None
    (low, *_), (high, *_) = finite = sorted(points.finite, key=lambda point: float(point[0]))
    if not low < high or not all(mass > 0 for point in finite for mass in point[1:]):
        return None
    p_masses, q_masses = ((finite[0][side], finite[1][side]) for side in (1, 2))
    return _Step(low, high, p_masses, q_masses, points.p_infinity)


def _delta(law: Law, count: int, epsilon: Fraction) -> arb:
    """A ball around delta, which says nothing where epsilon is far below the mean loss."""
    step = _step(law)
    assert step is not None, "the law was looked at before"  # noqa: S101
    gap = step.high - step.low
    infinity = -((-step.infinity).log1p() * count).expm1()
    place = (ball(epsilon) - count * step.low) / gap
    ends = [end.floor().unique_fmpz() for end in (place.lower(), place.upper())]
    if ends[0] is None or ends[0] != ends[1]:  # epsilon is a loss, as far as the ball decides: that loss adds nothing
        return (
            infinity.union(arb(1))
            if ends[0] is None or ends[1] is None or ends[1] - ends[0] > 1
            else _beyond(law, step, count, int(ends[1]) + 1, epsilon, infinity).union(
                _beyond(law, step, count, int(ends[0]) + 1, epsilon, infinity)
            )
        )
    return _beyond(law, step, count, int(ends[0]) + 1, epsilon, infinity)


def _beyond(law: Law, step: _Step, count: int, threshold: int, epsilon: Fraction, infinity: arb) -> arb:
    """The infinite loss and P - e^epsilon Q of all numbers of high losses from a threshold on."""
    if threshold > count:
        return infinity
    chance = float(step.p_masses[1] / (step.p_masses[0] + step.p_masses[1]))
    deviation = math.sqrt(count * chance * (1 - chance))
    lowest = math.ceil(count * chance - FAR * deviation)
    if not deviation >= 1:
        return infinity.union(arb(1))
    if threshold < lowest:  # the event that leaves out what lies below is one of those that delta is the greatest of
        return _beyond(law, step, count, lowest, epsilon, infinity).union(arb(1))
    width = max(1, int(deviation / 2))
    block = _block(law, count, threshold // width * width, width, math.ceil(count * chance))
    at = threshold - block.first
    unit = arb(2) ** -UNIT_BITS
    p_sum, q_sum = (
        scale * unit * arb(sums[at]).union(arb(sums[at] + short))
        for scale, sums, short in ((block.p_unit, block.p_sums, block.p_short), (block.q_unit, block.q_sums, block.q_short))
    )
    return infinity + p_sum - ball(epsilon).exp() * q_sum


@lru_cache(maxsize=8)
def _block(law: Law, count: int, first: int, width: int, mode: int) -> _Block:
    """The sums for thresholds from `first` on, `width` of them."""
    with working_precision(BITS):
        step = _step(law)
        assert step is not None, "the law was looked at before"  # noqa: S101
        ways = arb(count + 1).lgamma() - arb(first + 1).lgamma() - arb(count - first + 1).lgamma()
        sides = []
        for low, high in (step.p_masses, step.q_masses):
            sides.append(
                (_sums(count, first, width, mode, high / low), (ways + low.log() * (count - first) + high.log() * first).exp())
            )
    ((p_sums, p_short), p_unit), ((q_sums, q_short), q_unit) = sides
    return _Block(first, p_sums, q_sums, p_short, q_short, p_unit, q_unit)


def _sums(count: int, first: int, width: int, mode: int, odds: arb) -> tuple[tuple[int, ...], int]:
    """Sums of terms from each place on, rounded down, the first term being 2^UNIT_BITS; and what they lack at most."""
    # Term j + 1 is term j times odds (count - j)/(j + 1). Every floor loses less than 1 in a term, which later steps multiply as
    # they multiply the term itself: relative to the term by 2^-UNIT_BITS while terms rise, and no further once they fall.
    rate = int((odds.lower() * arb(2) ** UNIT_BITS).lower().floor().unique_fmpz() or 0)
    close = odds.upper() * (1 - arb(2) ** (16 - UNIT_BITS)) <= ball(Fraction(rate, 1 << UNIT_BITS))
    term, terms, tail, index = 1 << UNIT_BITS, list[int](), 0, first
    last = min(first + width, count + 1)
    most = mode
    while index <= count:
        if index < last:
            terms.append(term)
        else:
            tail += term
            # Terms that were rounded to nothing stay so, and so much is lacking of all of them together.
            far = index % 64 == 0 and index > most
            if far and (not term or _rest(term, index, count, odds) << NEGLIGIBLE <= tail + terms[-1]):
                break
        term = (term * (count - index) * rate >> UNIT_BITS) // (index + 1)
        index += 1
    short = _rest(term + index - first, index, count, odds) if index <= count else 0  # every floor before may be missing here
    sums = [tail]
    for one in reversed(terms):
        sums.append(sums[-1] + one)
    number = index - first + 1
    short += (sums[-1] * number >> (UNIT_BITS - 20)) + number * number + 1
    if not close:
        short = 1 << (1 << 12)  # odds that are not known well enough
    return tuple(reversed(sums[1:])), short


def _rest(term: int, index: int, count: int, odds: arb) -> int:
    """At or above this term and all further ones: a geometric series, whose ratio only falls."""
    ratio = odds * (count - index) / (index + 1)
    bound, _ = ball_endpoints((arb(term + 1) * (1 + arb(2) ** -64) / (1 - ratio)).upper()) if ratio < 1 else (math.inf, None)
    return math.ceil(bound) if isinstance(bound, Fraction) else 1 << (1 << 12)
