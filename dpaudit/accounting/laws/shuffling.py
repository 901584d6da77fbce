"""Shuffling: the loss of one report among many locally private ones of which nobody knows whose they are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final

from flint import arb, ctx

from dpaudit.accounting.laws.allocation import allocate_from_below
from dpaudit.accounting.laws.between import Between, end_of, law_below
from dpaudit.accounting.laws.response import Response
from dpaudit.accounting.laws.seen import Seen
from dpaudit.accounting.model.distribution import Distribution, Point, Points, Scattered
from dpaudit.accounting.model.law import FiniteLosses, Law, LossValue, Symmetric
from dpaudit.errors import EngineDisagreement, Unsupported
from dpaudit.exact import ball, shown, working_precision

# How many numbers of hiding reports a shuffle is composed with; every other number counts as the next smaller one.
LUMPS: Final = 24
MOST_PLACES: Final = 512  # Most places of the loss for each of them
CUT: Final = 200  # Bits of the tails that a composition counts as revealing everything
NEGLIGIBLE: Final = arb(2) ** -72  # Share of a sum that its rest may have

GROUND = (
    "each other report hides the one in question with probability e^-epsilon, or 2/(1 + e^epsilon) where it is a binary response "
    "(Feldman, McMillan, Talwar 2021, Theorem 3.2; docs/sampling_schemes.md, shuffling); from below all others are alike"
)


@dataclass(frozen=True)
class Shuffled(Symmetric, FiniteLosses):  # exchanging the two numbers exchanges the sides
    """The pair (A + D, C - A + 1 - D) against (A + 1 - D, C - A + D) of one report among `reports` epsilon-private ones."""

    # C is binomial(reports - 1, e^-epsilon), or 2/(1 + e^epsilon) if all are `binary` responses; A is binomial(C, 1/2), D is 1 with
    # probability e^epsilon/(1 + e^epsilon).
    epsilon: Fraction
    reports: int
    binary: bool = False

    def describe(self) -> str:
        return f"one of {self.reports} shuffled {'binary responses' if self.binary else 'reports'} of epsilon {shown(self.epsilon)}"

    def greatest_loss(self) -> LossValue | None:
        """Epsilon, where no report hides the one in question on its side."""
        return LossValue(self.epsilon)

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
        return GROUND

    def points(self, tail: int) -> Points:
        """A pair above, on few places: C is rounded down, and the loss given C is spread between neighbouring places."""
        return _scattered(self, min(tail, CUT), int(ctx.prec))

    def distribution(self) -> Distribution:
        return Scattered(self)


@dataclass(frozen=True)
class Alike:
    """Binary responses of which all but one answer alike: the number A + D against A + 1 - D, A binomial(reports - 1, 1 - p)."""

    # D is 1 with probability p = e^epsilon/(1 + e^epsilon), and neighbouring numbers are joined to few groups.
    epsilon: Fraction
    reports: int

    def describe(self) -> str:
        return f"one of {self.reports} shuffled binary responses of epsilon {shown(self.epsilon)}, all others alike"

    def points(self, tail: int) -> Points:
        """The groups with their masses; numbers far from the mean belong to the heaviest group."""
        likely = _likely(self.epsilon)
        pairs = _pairs(likely, _masses(self.reports - 1, 1 - likely, arb(2) ** -min(tail, CUT))[1])
        inner = pairs[1:-1] if len(pairs) < self.reports + 1 else pairs
        width = -(-len(inner) // (2 * MOST_PLACES))
        groups = [_sums(inner[index : index + width]) for index in range(0, len(inner), width)]
        heaviest = max(range(len(groups)), key=lambda index: float(groups[index][1]))
        rest = _sums(groups[:heaviest] + groups[heaviest + 1 :])
        groups[heaviest] = (1 - rest[0], 1 - rest[1])
        return Points(tuple(((p_mass / q_mass).log(), p_mass, q_mass) for p_mass, q_mass in groups), arb(0), arb(0))


def shuffle_law(law: Law, reports: int) -> Law:
    """A locally private report among shuffled ones, between two laws; DPA202 unless its losses are bounded."""
    above, below = end_of(law, 0) or law, law_below(law)
    ends = [loss.ends()[1] for side in (above, above.reversed()) if (loss := side.greatest_loss()) is not None]
    epsilon = max(ends, default=math.inf)
    if len(ends) < 2 or not isinstance(epsilon, Fraction) or above.infinity_mass() or above.reversed().infinity_mass():
        raise Unsupported(
            "DPA202", f"shuffling is priced for locally pure reports, got {law.describe()}. State pure_dp(epsilon) of one report."
        )
    if epsilon <= 0:
        return law
    binary = isinstance(law, Response) and law.categories == 2
    upper = Shuffled(epsilon, reports, binary)
    lower: Law | None = None
    if isinstance(below, Response) and below.epsilon and not below.others and below.between is None:
        lower = Seen(Alike(below.epsilon, reports))
    elif below is not None:
        lower = allocate_from_below(below, reports)
    return Between(f"{law.describe()}.sampled(Shuffle(reports={reports}))", upper, lower, GROUND)


def _likely(epsilon: Fraction) -> arb:
    """Probability of the true answer of a binary response."""
    return 1 / (1 + ball(-epsilon).exp())


def _delta(law: Shuffled, epsilon: arb) -> arb:
    """Sum over C of the gain of the best test, from the mode of C outward until the rest cannot matter."""
    likely, growth = _likely(law.epsilon), epsilon.exp()
    slope = likely - growth * (1 - likely)
    if slope <= 0:
        return arb(0)
    share = (growth * likely - (1 - likely)) / ((2 * likely - 1) * (1 + growth))
    hidden = _hidden(law)
    start, total, left = _mode(law.reports - 1, hidden), arb(0), arb(0)
    for step in (1, -1):
        for (chance, rest), test in zip(_outward(law.reports - 1, hidden, start, step), _tests(start, step, share), strict=False):
            gain = test.gain(slope, -epsilon.expm1())
            if test.count != start or step == 1:
                total += chance * gain
            left = rest * gain if step == 1 else rest  # the gain falls with C, and is at most 1
            if left < total * NEGLIGIBLE:
                break
        total += left.union(arb(0))
    return total


def _hidden(law: Shuffled) -> arb:
    """Probability with which each other report hides the one in question."""
    return 2 * (1 - _likely(law.epsilon)) if law.binary else ball(-law.epsilon).exp()


def _mode(count: int, chance: arb) -> int:
    """Near the most likely number of successes."""
    return min(count, int((count + 1) * float(chance)))


def _outward(count: int, chance: arb, start: int, step: int) -> Iterator[tuple[arb, arb]]:
    """Binomial probabilities from `start` in steps of 1 or -1 to the last, each with a bound on that of all beyond it."""
    odds = chance / (1 - chance) if chance < 1 else None
    mass = _choices(count, start) * chance**start * (1 - chance) ** (count - start)
    for place in range(start, count + 1 if step == 1 else -1, step):
        if odds is None:
            ratio = arb(0)  # all are successes
        else:
            ratio = odds * (count - place) / (place + 1) if step == 1 else arb(place) / (count + 1 - place) / odds
        yield mass, mass * ratio / (1 - ratio) if ratio < 1 else arb(1)
        mass *= ratio


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
    with working_precision(bits):
        least, likely = arb(2) ** -tail, _likely(law.epsilon)
        first, chances, revealed, beyond = _masses(law.reports - 1, _hidden(law), least)
        chances[-1] += beyond  # more reports that hide than counted, which is on the safe side
        width = -(-len(chances) // LUMPS)
        finite: list[Point] = []
        for index in range(0, len(chances), width):
            chance = sum(chances[index : index + width], arb(0))
            _, masses, below, above = _masses(first + index, arb(1) / 2, least)
            finite += [(loss, chance * p_mass, chance * q_mass) for loss, p_mass, q_mass in _spread(_pairs(likely, masses))]
            revealed += chance * (below + above)
        return Points(tuple(finite), revealed, revealed)


def _masses(count: int, chance: arb, least: arb) -> tuple[int, list[arb], arb, arb]:
    """A number and the binomial probabilities from it on, and bounds on those of all smaller and all larger ones."""
    start, sides, rests = _mode(count, chance), list[list[arb]](), list[arb]()
    for step in (-1, 1):
        side, rest = list[arb](), arb(0)
        for mass, rest in _outward(count, chance, start, step):
            side.append(mass)
            if rest < least:
                break
        sides.append(side)
        rests.append(rest)
    return start - len(sides[0]) + 1, [*sides[0][:0:-1], *sides[1]], rests[0], rests[1]


def _pairs(likely: arb, masses: Sequence[arb]) -> list[tuple[arb, arb]]:
    """P and Q mass of each number of A + D when A has these masses at consecutive numbers."""
    steps = pairwise([arb(0), *masses, arb(0)])
    return [(likely * before + (1 - likely) * here, (1 - likely) * before + likely * here) for before, here in steps]


def _sums(pairs: Sequence[tuple[arb, arb]]) -> tuple[arb, arb]:
    """All P mass and all Q mass."""
    return sum((p_mass for p_mass, _ in pairs), arb(0)), sum((q_mass for _, q_mass in pairs), arb(0))


def _spread(pairs: Sequence[tuple[arb, arb]]) -> list[Point]:
    """Losses of every few outputs in increasing order, those between spread over the two next to them so that P and Q are kept."""
    chosen = [*range(0, len(pairs) - 1, -(-len(pairs) // MOST_PLACES)), len(pairs) - 1]
    ratios = [pairs[place][0] / pairs[place][1] for place in chosen]
    weights = [pairs[place] for place in chosen]
    for left, (begin, end) in enumerate(pairwise(chosen)):
        p_sum, q_sum = _sums(pairs[begin + 1 : end])
        low, high = ratios[left : left + 2]
        shares = (high * q_sum - p_sum) / (high - low), (p_sum - low * q_sum) / (high - low)
        for index, ratio, share in zip((left, left + 1), (low, high), shares, strict=True):
            weights[index] = (weights[index][0] + ratio * share, weights[index][1] + share)
    return [(ratio.log(), *pair) for ratio, pair in zip(ratios, weights, strict=True)]
