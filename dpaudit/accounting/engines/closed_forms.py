"""The exact engine: any number of finite laws, composed value by value, next to at most one closed profile; and its inversion."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

from flint import arb, fmpq

from dpaudit.accounting.engines.moments import moment_bound
from dpaudit.accounting.engines.outcomes import compose_outcomes, listed_points
from dpaudit.accounting.engines.tails import LONGEST, FiniteLoss, compose_atoms
from dpaudit.accounting.laws.laplace import SOURCE, Laplace, is_short, summed_profile
from dpaudit.accounting.laws.normal_mixtures import mixture_of
from dpaudit.accounting.laws.response import BoundedRange
from dpaudit.accounting.laws.sampled import Sampled, profile_of, source_of
from dpaudit.accounting.model.composition import (
    Composition,
    DeltaAt,
    Ends,
    Question,
    epsilon_of_greatest_loss,
    greatest_loss,
    infinite_loss,
)
from dpaudit.accounting.model.law import Finite, GaussianShaped, Law, LossValue, Mass, Profiled
from dpaudit.accounting.model.search import Guess, crossing, log_of
from dpaudit.exact import SMALLEST_EXPONENT, Enclosure, Endpoint, Reason, ball, working_precision

SMALLEST_FLOOR: Final = Fraction(2) ** (SMALLEST_EXPONENT - 1)  # Deltas below this are not resolved at all
MOST_SLACK, EXACT = 1e-3, 1e-9  # Nats by which an end of delta may miss its target, and the width up to which none may
# Fixed epsilons between which a search begins: so many in an octave, and looked for so far from 1. Smaller deltas have none.
RUNGS_PER_OCTAVE, MOST_RUNGS, SMALLEST_RUNG = 8, 64, Fraction(1, 1 << 200)
# Certified delta at an epsilon; values below the second argument need not be resolved.
DeltaFunction: TypeAlias = Callable[[Fraction, Fraction], Enclosure]


@dataclass(frozen=True)
class Profile:
    """Certified delta at any epsilon >= 0, with what it tends to."""

    # `limit` encloses delta as epsilon grows; from `greatest` on (None: never) delta equals it. `near` guesses epsilon at a delta.
    delta: DeltaFunction
    limit: Enclosure
    greatest: LossValue | None
    near: Callable[[Fraction], Guess | None] = lambda delta: None  # noqa: ARG005
    _rungs: dict[int, float] = field(default_factory=dict, compare=False)

    def answer(self, question: Question, ends: Ends = "both") -> Enclosure:
        """Delta or epsilon, as asked; an end of an epsilon that is not wanted is not looked for, and is trivial."""
        if isinstance(question, DeltaAt):
            return self.at(question.epsilon, SMALLEST_FLOOR)
        return self._epsilon(question.delta, ends)

    def at(self, epsilon: Fraction, floor: Fraction) -> Enclosure:
        """Delta, read off the limit where no finite loss exceeds epsilon."""
        if self.greatest is not None and self.greatest.ends()[1] <= epsilon:
            return self.limit
        return self.delta(epsilon, floor)

    def _epsilon(self, delta: Fraction, ends: Ends) -> Enclosure:
        """Epsilon at `delta`: each end is found and checked on the matching end of the profile."""
        if self.limit.lower > delta:
            reason = Reason("an infinite loss has a larger probability than delta", (self.limit.reason,))
            return Enclosure(math.inf, math.inf, reason)
        if self.limit.is_point and self.limit.upper == delta:
            return epsilon_of_greatest_loss(self.limit, self.greatest)
        most = math.inf if self.greatest is None else self.greatest.ends()[1]
        known: dict[Fraction, Enclosure] = {}

        def at(epsilon: Fraction) -> Enclosure:
            if epsilon not in known:
                known[epsilon] = self.at(epsilon, delta / (1 << 16))
            return known[epsilon]

        upper: Endpoint = math.inf
        near = self.near(delta) or self._between_rungs(delta)
        slack = 0.0 if near is None or not 0 < near[0] < most else _slack(at(near[0]))
        if self.limit.upper <= delta and ends != "lower":
            upper = crossing(lambda epsilon: at(epsilon).upper, delta, most, near, slack=(0, slack))[1]
            if isinstance(upper, Fraction) and not slack:
                near = upper, 0.0
        lower: Endpoint = Fraction(0)
        if ends != "upper":
            lower = crossing(lambda epsilon: at(epsilon).lower, delta, most, near, slack=(slack, 0))[0]
        checked = at(lower if isinstance(upper, float) else upper) if isinstance(lower, Fraction) else self.limit
        reason = Reason("epsilon inverts the profile (Sommer, Meiser, Mohammadi 2019, Lemma 5)", (checked.reason,))
        return Enclosure(lower, upper, reason)

    def _between_rungs(self, delta: Fraction) -> Guess | None:
        """Epsilon by interpolation between fixed epsilons, whose deltas are remembered; None where it lies beyond them."""
        # Where the search begins is a function of the profile and of delta, so that an answer does not depend on earlier questions.
        if not isinstance(self.limit.lower, Fraction) or not delta > max(self.limit.lower, SMALLEST_RUNG):
            return None
        sought = log_of(delta - self.limit.lower)
        low, step = 0, 1
        turn = 1 if self._rung(0) > sought else -1
        while (self._rung(low + turn * step) > sought) == (turn > 0):
            low, step = low + turn * step, 2 * step
            if step > MOST_RUNGS:
                return None
        low, high = sorted((low, low + turn * step))
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._rung(middle) > sought else (low, middle)
        places = [rung_at(index) for index in range(low - 1, low + 3)]
        heights = [self._rung(index) for index in range(low - 1, low + 3)]
        if not all(math.isfinite(one) and one > other for one, other in pairwise(heights)):
            return None
        found = sum(
            place * math.prod((sought - other) / (one - other) for other in heights if other != one)
            for place, one in zip(places, heights, strict=True)
        )
        slope = (heights[2] - heights[1]) / (places[2] - places[1])
        return (Fraction(found), slope) if places[1] < found < places[2] else None

    def _rung(self, index: int) -> float:
        """Logarithm of delta at a fixed epsilon, minus infinity where nothing is known from above 0."""
        if index not in self._rungs:
            finite = Fraction(self.at(Fraction(rung_at(index)), SMALLEST_RUNG).upper) - Fraction(self.limit.lower)
            self._rungs[index] = log_of(finite) if finite > 0 else -math.inf
        return self._rungs[index]


def rung_at(index: int) -> float:
    """One of the fixed epsilons."""
    return float(2.0 ** (index / RUNGS_PER_OCTAVE))


def _slack(found: Enclosure) -> float:
    """How far, in nats, delta may be from its target at both ends of an epsilon: little beside what is open there anyway."""
    if not found.lower:
        return 0.0
    width = log_of(Fraction(found.upper) / Fraction(found.lower))
    return min(width / 64, MOST_SLACK) if width > EXACT else 0.0


PRECISIONS: Final = (128, 256, 512, 1024, 2048, 4096)  # Bits of working precision that are tried until an answer is narrow enough
GOOD_BITS: Final = 48  # Relative accuracy at which an answer is good enough
MOST_AVERAGED: Final = 2048  # Most values of the finite part next to a law with a closed profile
MOST_OUTCOMES: Final = 1 << 12  # Most vectors of counts of laws without a common unit
MOST_COUNTED: Final = 1 << 17  # The same where every other answer is wide
COUNTED_BITS: Final = 320  # Working precision for those
MOST_AVERAGED_OUTCOMES: Final = 1 << 7  # The same next to a law with a closed profile
# Bits of the lightest tail that is cut at first; longer tails are kept in steps of this size where they matter.
SHORTEST_TAIL: Final = 128
SETTLED_BITS: Final = 8  # Relative accuracy from which on a ball that stays as wide with more digits is taken for the answer
# Values times bits beyond which the precision is not raised any further; the answer then stays as wide as it is.
LARGEST_WORK: Final = 1 << 22


@dataclass(frozen=True)
class Split:
    """A composition as finite laws and at most one closed profile (None: nothing but the finite laws)."""

    finite: tuple[tuple[Law, int], ...]
    profile: Callable[[arb], arb] | None
    source: str
    # The least and the greatest loss of the law with the profile, exactly; None where they are not needed or not known.
    within: tuple[Fraction, Fraction] | None = None

    def composed(self, tail: int) -> FiniteLoss | None:
        """The finite laws composed, upper tails cut below 2^-tail; None when they have too many values."""
        atoms = [(law.atoms(tail) if isinstance(law, Finite) else None, count) for law, count in self.finite]
        known = [(found, count) for found, count in atoms if found is not None]
        if len(known) == len(atoms):
            found = compose_atoms(known, most=LONGEST if self.profile is None else MOST_AVERAGED)
            if found is not None:
                return found
        return self.counted(tail, MOST_OUTCOMES if self.profile is None else MOST_AVERAGED_OUTCOMES)

    def counted(self, tail: int, most: int) -> FiniteLoss | None:
        """The same by vectors of counts, for laws that list no coordinates, such as samples; None beyond `most` of them."""
        known = []
        for law, count in self.finite:
            points = listed_points(law, tail)
            if points is None:
                return None
            known.append((points, count))
        return compose_outcomes(known, most=most)

    def delta(self, finite: FiniteLoss, epsilon: Fraction) -> Mass:
        """Delta of the whole composition."""
        return finite.delta(epsilon) if self.profile is None else finite.averaged(self.profile, epsilon, self.within)


def closed_form(composition: Composition, question: Question) -> Enclosure | None:
    """Delta or epsilon in one direction, known up to rounding; None when the composition has no such form."""
    profile = exact_profile(composition)
    return None if profile is None else profile.answer(question)


# One search for an epsilon asks one composition 20 to 30 times. The largest entry, of 2^16 loss values, takes about 40 MB, so that
# more than 16 could fill a small machine.
@lru_cache(maxsize=16)
def exact_profile(composition: Composition) -> Profile | None:
    """The profile of a composition that this engine covers, else None."""
    for split in _splits(composition):
        with working_precision(PRECISIONS[0]):
            first = split.composed(SHORTEST_TAIL)
        if first is not None:
            limit = infinite_loss(composition)
            delta = lru_cache(maxsize=4)(_ladder(composition, split, first, limit))  # both directions of a class ask alike
            return Profile(delta, limit, greatest_loss(composition))
    return None


@lru_cache(maxsize=4)
def counted_profile(composition: Composition) -> Profile | None:
    """The profile by vectors of counts, more than `exact_profile` tries; None where that answers, and for other compositions."""
    if not composition.parts or exact_profile(composition) is not None:
        return None
    split = Split(composition.parts, None, "")
    with working_precision(COUNTED_BITS):
        finite = split.counted(4 * COUNTED_BITS, MOST_COUNTED)
    if finite is None:
        return None
    limit = infinite_loss(composition)

    def delta(epsilon: Fraction, floor: Fraction) -> Enclosure:  # noqa: ARG001 - all values are resolved
        with working_precision(COUNTED_BITS):
            return _enclosure(finite.delta(epsilon), _reason(split, len(finite.losses), COUNTED_BITS, limit), limit)

    return Profile(delta, limit, greatest_loss(composition))


def _splits(composition: Composition) -> list[Split]:
    """The ways to see a composition as finite laws and one closed profile, the cheapest first."""
    mixture = mixture_of(composition.parts)
    if mixture is not None:
        return [Split(mixture[1], mixture[0].profile, "; ".join(mixture[0].sources))]
    others = [(law, count) for law, count in composition.parts if not isinstance(law, GaussianShaped)]
    found = []
    for index, (law, count) in enumerate(others):
        profile = profile_of(law) if isinstance(law, (Profiled, Sampled)) else None
        if profile is not None:
            within = (-law.epsilon, law.epsilon) if isinstance(law, BoundedRange) else None
            rest = [*others[:index], *([(law, count - 1)] if count > 1 else []), *others[index + 1 :]]
            found.append(Split(tuple(rest), profile, source_of(law), within))
    several = tuple((law, count) for law, count in others if isinstance(law, Laplace))
    rest = [(law, count) for law, count in others if not isinstance(law, Laplace)]
    if several and is_short(several, MOST_AVERAGED if rest else 1):
        found.append(Split(tuple(rest), lambda epsilon: summed_profile(several, epsilon), SOURCE))
    plain = Split(tuple(others), None, "finitely many loss values")
    return [*found, plain] if sum(count for _, count in others) == 1 else [plain, *found]


def _ladder(
    composition: Composition, split: Split, first: FiniteLoss, limit: Enclosure
) -> Callable[[Fraction, Fraction], Enclosure]:
    """Delta at an epsilon, with the tails extended and the precision raised until it is narrow enough."""
    cached: dict[tuple[int, int], FiniteLoss | None] = {(PRECISIONS[0], SHORTEST_TAIL): first}
    endless = any(law.greatest_loss() is None for law, _ in split.finite)

    def composed(bits: int, tail: int) -> FiniteLoss | None:
        """The finite part, kept for the next question; call it at this precision."""
        if (bits, tail) not in cached:
            cached[bits, tail] = split.composed(tail) if len(first.losses) * bits <= LARGEST_WORK else None
        return cached[bits, tail]

    def delta(epsilon: Fraction, floor: Fraction) -> Enclosure:
        """The first answer that is narrow or below the floor, else the last that was affordable."""
        with working_precision(PRECISIONS[0]):
            best, used = split.delta(first, epsilon), PRECISIONS[0]
        if _is_good(best, floor):
            return _enclosure(best, _reason(split, len(first.losses), used, limit), limit)
        tail = SHORTEST_TAIL
        if endless:
            bound = moment_bound(composition, epsilon)
            if bound.upper < floor:
                return Enclosure(limit.lower, max(bound.upper, limit.upper), bound.reason())
            tail = _tail_for(max(bound.upper, floor))
        for bits in PRECISIONS[0 if endless else 1 :]:
            with working_precision(bits):
                finite = composed(bits, tail)
                if finite is None:
                    break
                before, best, used = best, split.delta(finite, epsilon), bits
                if _is_good(best, floor) or _is_settled(before, best):
                    break
        return _enclosure(best, _reason(split, len(first.losses), used, limit), limit)

    return delta


def _tail_for(smallest: Fraction) -> int:
    """Bits of a tail that does not matter next to `smallest`, in steps so that few compositions are made."""
    needed = max(0, smallest.denominator.bit_length() - smallest.numerator.bit_length()) + 96
    return -(-needed // SHORTEST_TAIL) * SHORTEST_TAIL


def _is_good(value: Mass, floor: Fraction) -> bool:
    """True if a ball is narrow, or below what matters."""
    if isinstance(value, fmpq) or value.rel_accuracy_bits() >= GOOD_BITS:
        return True
    return bool(value.is_finite() and value < ball(floor))


def _is_settled(before: Mass, now: Mass) -> bool:
    """True if more digits made a ball that says something no narrower: the law itself is known no better."""
    if isinstance(before, fmpq) or isinstance(now, fmpq):
        return True
    return bool(SETTLED_BITS <= now.rel_accuracy_bits() <= before.rel_accuracy_bits() + 1)


def _enclosure(value: Mass, reason: Reason, limit: Enclosure) -> Enclosure:
    """The ball as an interval between the mass of the infinite loss and 1."""
    if isinstance(value, fmpq):
        return Enclosure.point(Fraction(int(value.p), int(value.q)), reason)
    with working_precision(PRECISIONS[0]):  # the ends keep the digits of the ball
        return Enclosure.from_ball(value, reason, lowest=limit.lower, highest=Fraction(1))


def _reason(split: Split, values: int, bits: int, limit: Enclosure) -> Reason:
    """Theorems and error terms of an exact answer."""
    parts = []
    if split.finite:
        names = ", ".join(law.describe() if count == 1 else f"{count} * {law.describe()}" for law, count in split.finite)
        parts.append(Reason(f"finite laws composed value by value to {values} loss values: {names}"))
        parts.append(Reason("product of dominating pairs dominates adaptive composition (Zhu, Dong, Wang 2022, Theorem 10)"))
    if split.profile is not None:
        parts.append(Reason(split.source))
    parts.append(limit.reason)
    parts.append(Reason(f"error term: rounding only, ball arithmetic at {bits} bits"))
    return Reason("exact delta of the dominating pair", tuple(parts))
