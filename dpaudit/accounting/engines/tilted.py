"""The engine: a plan, the lattice of every law, one composition, and answers read off it between certified bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from dpaudit.accounting.engines.bounds import certified_bounds
from dpaudit.accounting.engines.closed_forms import Profile, exact_profile
from dpaudit.accounting.engines.evaluation import Evaluated
from dpaudit.accounting.engines.lattice import lattice_of
from dpaudit.accounting.engines.parts import Parts, parts_of
from dpaudit.accounting.engines.plan import WIDTH, Plan, choose_plan
from dpaudit.accounting.engines.saddles import SPACINGS, saddles_of, tilt_at
from dpaudit.accounting.laws.between import are_pairs_above, dominated_laws, dominating_laws
from dpaudit.accounting.model.composition import (
    Composition,
    DeltaAt,
    Ends,
    Question,
    greatest_loss,
    infinite_loss,
    is_narrow,
)
from dpaudit.accounting.model.search import log_of
from dpaudit.accounting.model.transform import is_standard
from dpaudit.exact import Enclosure, Reason

# Bits of the tail at which laws with endlessly many values are cut; the second where the first leaves too many values.
TAILS: Final = (1200, 320)
LARGEST: Final = Fraction(10**15)  # Epsilons beyond this are as good as this one for a plan
NARROW_BETWEEN: Final = Fraction(1, 100)  # The same of delta below a class of mechanisms
NEARER: Final = Fraction(1, 5)  # The same above, from which on the lattice is nearer than moments
NARROW: Final = Fraction(1, 10**6)  # Relative width of an epsilon that needs no lattice
# Standard deviations by which the tilt of a lattice may miss, and of one that is only compared with; widest spacing of the first.
NEAR, ROUGHLY_NEAR, FINE = 1.2, 3.0, 2.0
SMALL_LATTICE: Final = 1 << 17  # Lattices of at most so many places are small
# Relative widths that are tried until a plan is affordable.
WIDTHS: Final = tuple(WIDTH * factor for factor in (1.0, 1.4, 2.0, 2.8, 4.0, 8.0, 16.0))
# Product of window and cells below which steps are made finer: losses of few releases may be sharper than the plan sees.
SMALL_PLAN: Final = 1 << 22
ROUGH: Final = 0.25  # Relative width at which directions are compared


def sharp_lattice(composition: Composition, question: Question) -> Enclosure | None:
    """Delta or epsilon in one direction from the laws above and below alone; None where either lattice leaves its laws wide."""
    highest, lowest, above, below = _both(composition)
    # Of laws that are pairs moments are never as near as a lattice, and take as long; closed forms come first.
    if not (above and below) or not are_pairs_above(composition) or exact_profile(highest) or exact_profile(lowest):
        return None
    if above == below:
        both = _answer(highest, above, question, WIDTHS)
        return both if both is not None and is_narrow(both, Fraction(WIDTH)) else None
    high, low = _asked(highest, above, question, WIDTHS, "upper"), _asked(lowest, below, question, WIDTHS, "lower")
    # Between two laws little matters, and what else could be tried from above is never so near.
    if high is None or high.width > NEARER:
        return None
    found = _between(high.answer, low and low.answer)
    if low is None or low.width > NARROW_BETWEEN:
        found = found.intersect(certified_bounds(composition, question, upper=False))
    return found


def tilted_lattice(composition: Composition, question: Question) -> Enclosure | None:
    """Delta or epsilon in one direction: certified bounds where they are narrow, else what they and the lattice both allow."""
    # None where the distribution functions of some law are not known from above, and those of no law from below. Other laws that
    # dominate and have a closed form are left to the bounds, which read it, unless that form finds no end.
    highest, lowest, above, below = _both(composition)
    if not (above or below):
        return None
    bounds = certified_bounds(composition, question)
    if is_narrow(bounds, Fraction(WIDTH) if isinstance(question, DeltaAt) else NARROW):
        return bounds
    closed = highest != composition and not isinstance(bounds.upper, float) and exact_profile(highest) is not None
    high = _answer(highest, above, question, WIDTHS, "both" if below == above else "upper") if above and not closed else None
    low = high if below == above and not closed else _low(lowest, below, question)
    return bounds if high is None and low is None else bounds.intersect(_between(high, low))


def _both(composition: Composition) -> tuple[Composition, Composition, Parts | None, Parts | None]:
    """The laws above and below, and their distributions."""
    above, below = parts_of(composition, lower=False), parts_of(composition, lower=True)
    return dominating_laws(composition), dominated_laws(composition), above, below


def _between(high: Enclosure | None, low: Enclosure | None) -> Enclosure:
    """The upper end of one answer and the lower end of another, trivial ones where there is none."""
    reasons = tuple(answer.reason for answer in (high, low) if answer is not None)
    reason = reasons[0] if high is low else Reason("upper end from the laws above, lower end from those below", reasons)
    return Enclosure(low.lower if low else Fraction(0), high.upper if high else math.inf, reason)


def lattice_below(composition: Composition, question: Question) -> Enclosure:
    """What is known from below alone: by the lattice of the laws below, or their closed form, or the chance of an infinite loss."""
    bounds = certified_bounds(composition, question, upper=False)
    low = _low(dominated_laws(composition), parts_of(composition, lower=True), question)
    return bounds if low is None else bounds.intersect(Enclosure(low.lower, bounds.upper, low.reason))


def _low(lowest: Composition, below: Parts | None, question: Question) -> Enclosure | None:
    """The lattice of laws below; None where there is none, or where a closed form is in the bounds already."""
    return _answer(lowest, below, question, WIDTHS, "lower") if below and exact_profile(lowest) is None else None


def rough_upper_end(composition: Composition, epsilon: Fraction, most: Fraction) -> Enclosure | None:
    """Delta of one direction between cheap ends, None where the lattice does not apply: often another one's is `most` or more."""
    # The lattice is that of epsilons where delta is `most`: at larger ones little matters but that delta is smaller.
    above, highest = parts_of(composition, lower=False), dominating_laws(composition)
    if not above or not is_standard():
        return None
    far = 0 < most < 1 and infinite_loss(highest).upper < most
    found = _lattice_near(above, None, log_of(most), (ROUGH,)) if far else None
    if found is not None and epsilon >= found.ends[0]:
        return _delta_within(found, epsilon, "upper")
    return _answer(highest, above, DeltaAt(epsilon), (ROUGH,), "upper")


def lattice_for(composition: Composition, *, epsilon: Fraction, width: float = WIDTH) -> Evaluated | None:
    """One direction of a composition on a lattice for questions near `epsilon`; None where there is none of that width."""
    parts = parts_of(composition, lower=False)
    return _lattice_near(parts, float(epsilon), None, (width,)) if parts else None


def _answer(
    composition: Composition, parts: Parts, question: Question, widths: tuple[float, ...], ends: Ends = "both"
) -> Enclosure | None:
    """The answer on a lattice that suits the question; None where no plan does."""
    found = _asked(composition, parts, question, widths, ends)
    return None if found is None else found.answer


class _Found(NamedTuple):
    """An answer on a lattice, and the relative width of delta there."""

    answer: Enclosure
    width: Fraction


def _asked(composition: Composition, parts: Parts, question: Question, widths: tuple[float, ...], ends: Ends) -> _Found | None:
    """The same with its width, in standard arithmetic."""
    return _ask(composition, parts, question, widths, ends) if is_standard() else None


@lru_cache(maxsize=8)  # engines that follow each other ask alike
def _ask(composition: Composition, parts: Parts, question: Question, widths: tuple[float, ...], ends: Ends) -> _Found | None:
    """The same."""
    limit = infinite_loss(composition)
    if isinstance(question, DeltaAt):
        found = _lattice_near(parts, float(min(question.epsilon, LARGEST)), None, widths)
        return None if found is None else _with_width(told := _delta_within(found, question.epsilon), told)
    if limit.upper >= question.delta:
        return None
    finite = question.delta - Fraction(limit.lower)
    found = _lattice_near(parts, None, log_of(finite), widths)
    if found is None:
        return None
    evaluated = found
    near = evaluated.near(log_of(finite))

    @lru_cache(maxsize=16)
    def within(epsilon: Fraction) -> Enclosure:
        """Delta at an epsilon: both ends where the search begins, which tell how wide it is, then the one that is wanted."""
        return _delta_within(evaluated, epsilon, ends if near is not None and epsilon != near[0] else "both")

    profile = Profile(lambda epsilon, _: within(epsilon), limit, greatest_loss(composition), lambda _: near)
    answer = profile.answer(question, ends)
    place = near[0] if near is not None else answer.upper if ends == "upper" else answer.lower
    return _with_width(answer, profile.at(place, Fraction(0)) if isinstance(place, Fraction) else limit)


def _with_width(answer: Enclosure, told: Enclosure) -> _Found:
    """An answer and the relative width of delta, 1 where nothing is known of it."""
    lower, upper = Fraction(told.lower), Fraction(told.upper)  # ends of a delta
    return _Found(answer, (upper - lower) / upper if upper else Fraction(1))


def _delta_within(evaluated: Evaluated, epsilon: Fraction, ends: Ends = "both") -> Enclosure:
    """Delta at an epsilon; far from that of the plan, also what delta at the last good one implies, since it falls with epsilon."""
    first, last = evaluated.ends
    found = evaluated.delta(epsilon, ends)
    if epsilon < first:
        return found.intersect(Enclosure(evaluated.at_ends[0].lower, Fraction(1), Reason("delta at a larger epsilon")))
    if epsilon > last:
        return found.intersect(Enclosure(Fraction(0), evaluated.at_ends[1].upper, Reason("delta at a smaller epsilon")))
    return found


def _lattice_near(parts: Parts, epsilon: float | None, log_delta: float | None, widths: Sequence[float]) -> Evaluated | None:
    """The composition on a lattice around an epsilon or a delta; None when there is no affordable one."""
    with np.errstate(all="ignore"):  # floats that overflow make a poor plan, or none
        for tail in TAILS:
            saddles = saddles_of(parts, tail)
            if saddles is not None:
                place = saddles.for_epsilon(epsilon or 0.0) if log_delta is None else saddles.for_delta(log_delta)
                if place is None:
                    break
                near, widest = (NEAR, FINE) if widths[0] <= WIDTH else (ROUGHLY_NEAR, SPACINGS[0])
                return _build_lattice(parts, tail, saddles.coarser(place, near, widest), tuple(widths))
    return None


def _build_lattice(parts: Parts, tail: int, place: int, widths: tuple[float, ...]) -> Evaluated | None:
    """The composition at a tilt from the geometric grid, at the first affordable width."""
    plan = _plan(parts, tail, place, widths)
    if plan is None:
        return None
    return (_small_lattice if plan.size <= SMALL_LATTICE else _large_lattice)(parts, tail, place, widths)


@lru_cache(maxsize=64)
def _plan(parts: Parts, tail: int, place: int, widths: tuple[float, ...]) -> Plan | None:
    """The first affordable plan."""
    saddles = saddles_of(parts, tail)
    if saddles is None:
        return None
    for width in widths:
        plan = choose_plan(saddles.sketches, tilt_at(place), width)
        if plan is not None and width == WIDTH and plan.size * sum(len(raster.ends) for raster in plan.rasters) < SMALL_PLAN:
            plan = choose_plan(saddles.sketches, tilt_at(place), width / 16) or plan
        if plan is not None:
            return plan
    return None


def _evaluated(parts: Parts, tail: int, place: int, widths: tuple[float, ...]) -> Evaluated | None:
    """The lattice of a plan; None where a law does not fit it."""
    plan = _plan(parts, tail, place, widths)
    if plan is None:
        return None
    lattices = []
    for (law, count), raster, log_scale in zip(parts, plan.rasters, plan.log_scales, strict=True):
        lattice = lattice_of(law, count, raster, tilt=plan.tilt, log_scale=log_scale, tail=tail)
        if lattice is None:
            return None
        lattices.append(lattice)
    return Evaluated(plan, tuple(lattices))


# One lattice takes about 80 bytes a place: small ones are kept for many questions, of the others a few.
_small_lattice, _large_lattice = lru_cache(maxsize=32)(_evaluated), lru_cache(maxsize=4)(_evaluated)
