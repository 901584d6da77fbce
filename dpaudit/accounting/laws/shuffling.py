"""Shuffling: the loss of one report among many locally private ones of which nobody knows whose they are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from flint import arb, ctx

from dpaudit.accounting.law import Bracketed, Law
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.response import Response
from dpaudit.accounting.values import LossValue
from dpaudit.errors import EngineDisagreement, Unsupported
from dpaudit.exact import ball, shown, working_precision

if TYPE_CHECKING:
    from dpaudit.accounting.numeric.distributions import Distribution, Point, Points

LUMPS: Final = 24
"""How many numbers of hiding reports a shuffle is composed with; every other number counts as the next smaller one."""

MOST_PLACES: Final = 512
"""Most places of the loss for each of them."""

CUT: Final = 200
"""Bits of the tails that a composition counts as revealing everything."""

NEGLIGIBLE: Final = arb(2) ** -72
"""Share of a sum that its rest may have."""

GROUND = (
    "each other report hides the one in question with probability e^-epsilon "
    "(Feldman, McMillan, Talwar 2021, Theorem 3.2; docs/sampling_schemes.md, shuffling)"
)


@dataclass(frozen=True)
class Shuffled:
    """The pair (A + D, C - A + 1 - D) against (A + 1 - D, C - A + D) of one report among `reports` epsilon-private ones.

    C is binomial(reports - 1, e^-epsilon), A is binomial(C, 1/2), D is 1 with probability e^epsilon/(1 + e^epsilon).
    """

    epsilon: Fraction
    reports: int

    def describe(self) -> str:
        """The parameters."""
        return f"one of {self.reports} shuffled reports of epsilon {shown(self.epsilon)}"

    def reversed(self) -> Shuffled:
        """The law itself: exchanging the two numbers exchanges the sides."""
        return self

    def greatest_loss(self) -> LossValue | None:
        """Epsilon, where no report hides the one in question on its side."""
        return LossValue(self.epsilon)

    def infinity_mass(self) -> Fraction:
        """Zero."""
        return Fraction(0)

    def log_moment(self, order: Fraction) -> arb:
        """At most that of the report by itself."""
        return Response(self.epsilon, "").log_moment(order)

    def profile(self, epsilon: arb) -> arb:
        """Mean over C of the best test given C, continued to negative epsilon by symmetry."""
        if epsilon >= 0:
            return _delta(self, epsilon)
        back = -epsilon.expm1() + epsilon.exp() * _delta(self, (-epsilon).nonnegative_part())
        return back if epsilon < 0 else back.union(_delta(self, epsilon.nonnegative_part()))

    def profile_source(self) -> str:
        """The theorem behind the pair."""
        return GROUND

    def points(self, tail: int) -> Points:
        """A pair above, on few places: C is rounded down, and the loss given C is spread between neighbouring places."""
        return _scattered(self, min(tail, CUT), int(ctx.prec))

    def distribution(self) -> Distribution:
        """That of the pair above."""
        from dpaudit.accounting.numeric.mixtures import Scattered

        return Scattered(self)


def shuffled(law: Law, reports: int) -> Law:
    """A locally private report among shuffled ones, from above; DPA202 unless its losses are bounded."""
    above = law.bracket()[0] if isinstance(law, Bracketed) else law
    ends = [loss.ends()[1] for side in (above, above.reversed()) if (loss := side.greatest_loss()) is not None]
    epsilon = max(ends, default=math.inf)
    if len(ends) < 2 or not isinstance(epsilon, Fraction) or above.infinity_mass() or above.reversed().infinity_mass():
        raise Unsupported(
            "DPA202", f"shuffling is priced for locally pure reports, got {law.describe()}. State pure_dp(epsilon) of one report."
        )
    return Between(
        f"{law.describe()}.sampled(Shuffle(reports={reports}))", Shuffled(max(epsilon, Fraction(0)), reports), None, GROUND
    )


def _delta(law: Shuffled, epsilon: arb) -> arb:
    """Sum over C of the gain of the best test, from the mode of C outward until the rest cannot matter."""
    likely, growth = 1 / (1 + ball(-law.epsilon).exp()), epsilon.exp()
    slope = likely - growth * (1 - likely)
    if slope <= 0:
        return arb(0)
    share = (growth * likely - (1 - likely)) / ((2 * likely - 1) * (1 + growth))
    start, total, left = _mode(law), arb(0), arb(0)
    for step in (1, -1):
        for (chance, rest), test in zip(_hiding(law, start, step), _tests(start, step, share), strict=False):
            gain = test.gain(slope, -epsilon.expm1())
            if test.count != start or step == 1:
                total += chance * gain
            left = rest * gain if step == 1 else rest  # the gain falls with C, and is at most 1
            if left < total * NEGLIGIBLE:
                break
        total += left.union(arb(0))
    return total


def _mode(law: Shuffled) -> int:
    """Near the most likely C."""
    return min(law.reports - 1, int(law.reports * math.exp(-float(law.epsilon))))


def _hiding(law: Shuffled, start: int, step: int) -> Iterator[tuple[arb, arb]]:
    """Probability of C and a bound on that of all beyond it, for C from `start` in steps of 1 or -1 to the last."""
    others, hidden = law.reports - 1, ball(-law.epsilon).exp()
    odds = hidden / -ball(-law.epsilon).expm1() if law.epsilon else None
    if odds is None:
        yield arb(start == others), arb(0)
        return
    chance = _choices(others, start) * hidden**start * (1 - hidden) ** (others - start)
    for count in range(start, others + 1 if step == 1 else -1, step):
        ratio = odds * (others - count) / (count + 1) if step == 1 else arb(count) / (others + 1 - count) / odds
        yield chance, chance * ratio / (1 - ratio) if ratio < 1 else arb(1)
        chance *= ratio


@dataclass(frozen=True)
class _Test:
    """Deciding for P above `most` of the C + 1: binomial(C, 1/2) mass at `most`, at the next place, and above `most`."""

    count: int
    most: int
    mass: arb
    above: arb
    unclear: bool

    def gain(self, slope: arb, fall: arb) -> arb:
        """P - e^epsilon Q of the outputs above `most`, and also of those above the next place where the best is unclear."""
        gain = slope * self.mass + fall * self.above
        if not self.unclear:
            return gain
        following = self.mass * (self.count - self.most) / (self.most + 1)
        return gain.union(slope * following + fall * (self.above - following))


def _tests(start: int, step: int, share: arb) -> Iterator[_Test]:
    """The best test for each C from `start` on: everything above `share` of the C + 1, carried along by recurrences."""
    most, unclear = _floor(share * (start + 1))
    mass = _choices(start, most) * arb(2) ** -start
    above, term, place = arb(0), mass, most
    while place < start:
        term = term * (start - place) / (place + 1)
        place += 1
        above += term
        ratio = Fraction(start - place, place + 1)
        if ratio < 1 and term < above * NEGLIGIBLE**2:
            above += (term * ball(ratio / (1 - ratio))).union(arb(0))
            break
    count = start
    while True:
        yield _Test(count, most, mass, above, unclear)
        following, unclear = _floor(share * (count + 1 + step))
        if step == 1:
            above, mass = above + mass / 2, mass * (count + 1) / (2 * (count + 1 - most))
            count += 1
            if following > most:
                mass, most = mass * (count - most) / (most + 1), following
                above -= mass
        else:
            if following < most:
                above, mass, most = above + mass, mass * most / (count - most + 1), following
            mass = mass * 2 * (count - most) / count
            above, count = above - mass / 2, count - 1


def _floor(value: arb) -> tuple[int, bool]:
    """The floor of a ball's lower end, and whether the ball reaches the next integer."""
    floor, low = value.floor().unique_fmpz(), value.lower().floor().unique_fmpz()
    if low is None:
        raise EngineDisagreement("DPA203", "a threshold of a shuffle is not finite.")
    return int(low), floor is None


def _choices(whole: int, part: int) -> arb:
    """Binomial coefficient."""
    return (arb(whole + 1).lgamma() - arb(part + 1).lgamma() - arb(whole - part + 1).lgamma()).exp()


@lru_cache(maxsize=8)
def _scattered(law: Shuffled, tail: int, bits: int) -> Points:
    """Points of the loss above the law, at a precision; what is cut off reveals the report."""
    from dpaudit.accounting.numeric.distributions import Points

    with working_precision(bits):
        lumps, revealed = _lumps(law, arb(2) ** -tail)
        finite: list[Point] = []
        for count, chance in lumps:
            points, lost = _spread(law, count, tail)
            finite += [(loss, chance * p_mass, chance * q_mass) for loss, p_mass, q_mass in points]
            revealed += chance * lost
        return Points(tuple(finite), revealed, revealed)


def _lumps(law: Shuffled, least: arb) -> tuple[list[tuple[int, arb]], arb]:
    """The least C of each lump with its probability, and that of everything below the first lump."""
    start, chances = _mode(law), dict[int, arb]()
    rest = arb(0)
    for step in (1, -1):
        for offset, (chance, beyond) in enumerate(_hiding(law, start, step)):
            chances[start + step * offset], rest = chance, beyond
            if beyond < least:
                break
        if step == 1:
            chances[max(chances)] += rest
    counts = sorted(chances)
    width = -(-len(counts) // LUMPS)
    groups = [counts[index : index + width] for index in range(0, len(counts), width)]
    return [(group[0], sum((chances[count] for count in group), arb(0))) for group in groups], rest


def _spread(law: Shuffled, count: int, tail: int) -> tuple[list[Point], arb]:
    """The loss given C on every few of its places, the outputs between spread over the two next to them."""
    likely = 1 / (1 + ball(-law.epsilon).exp())
    reach = math.isqrt(count * tail) + 2  # beyond lie masses of about e^(-tail/2), bounded by geometric series
    first, last = max(0, (count + 1 - reach) // 2), min(count + 1, (count + 1 + reach) // 2)
    width = -(-(last - first) // MOST_PLACES)
    chosen = [*range(first, last, width), last]
    ratios = [odds / (count + 1 - odds) for odds in (likely * place + (1 - likely) * (count + 1 - place) for place in chosen)]
    weights = [[arb(0), arb(0)] for _ in chosen]
    before = _choices(count, first - 1) * arb(2) ** -count if first else arb(0)
    lost = before * (count - first + 2) / (count - 2 * first + 3)
    mass = _choices(count, first) * arb(2) ** -count
    for left, (begin, end) in enumerate(zip(chosen, [*chosen[1:], last + 1], strict=True)):
        p_sum = q_sum = arb(0)
        for place in range(begin, end):
            p_mass, q_mass = likely * before + (1 - likely) * mass, (1 - likely) * before + likely * mass
            if place == begin:
                weights[left] = [weights[left][0] + p_mass, weights[left][1] + q_mass]
            else:
                p_sum, q_sum = p_sum + p_mass, q_sum + q_mass
            before, mass = mass, mass * (count - place) / (place + 1) if place < count else arb(0)
        if end > begin + 1:
            gap = ratios[left + 1] - ratios[left]
            low, high = (ratios[left + 1] * q_sum - p_sum) / gap, (p_sum - ratios[left] * q_sum) / gap
            for index, share in ((left, low), (left + 1, high)):
                weights[index] = [weights[index][0] + ratios[index] * share, weights[index][1] + share]
    if last <= count:
        lost += before * (last + 1) / (2 * last + 1 - count)
    return [(ratio.log(), *pair) for ratio, pair in zip(ratios, weights, strict=True)], lost
