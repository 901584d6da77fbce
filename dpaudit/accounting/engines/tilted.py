"""The engine: a plan, the lattice of every law, one composition, and answers read off it between certified bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

import numpy as np

from dpaudit.accounting.engines.bounds import certified_bounds
from dpaudit.accounting.engines.closed_forms import Profile, exact_profile
from dpaudit.accounting.engines.evaluation import Evaluated
from dpaudit.accounting.engines.lattice import lattice_of
from dpaudit.accounting.engines.plan import WIDTH, Sketch, choose_plan, float_sketch, tilt_for_delta, tilt_for_epsilon
from dpaudit.accounting.laws.between import dominated_laws, dominating_laws
from dpaudit.accounting.laws.distributions import Normal, distribution_of
from dpaudit.accounting.model.composition import Composition, DeltaAt, Question, greatest_loss, infinite_loss
from dpaudit.accounting.model.distribution import Distribution
from dpaudit.accounting.model.law import GaussianShaped
from dpaudit.accounting.model.search import log_of
from dpaudit.accounting.model.transform import is_standard
from dpaudit.exact import Enclosure, Reason

# Bits of the tail at which laws with endlessly many values are cut; the second where the first leaves too many values.
TAILS: Final = (1200, 320)
LARGEST: Final = Fraction(10**15)  # Epsilons beyond this are as good as this one for a plan
NARROW: Final = Fraction(1, 10**6)  # Relative width of an epsilon that needs no lattice
TILTS_PER_OCTAVE: Final = 16  # Tilts are taken from a geometric grid, so that neighbouring questions share one composition
# Relative widths that are tried until a plan is affordable.
WIDTHS: Final = tuple(WIDTH * factor for factor in (1.0, 1.4, 2.0, 2.8, 4.0, 8.0, 16.0))
# Product of window and cells below which steps are made finer: losses of few releases may be sharper than the plan sees.
SMALL_PLAN: Final = 1 << 22
ROUGH: Final = 0.25  # Relative width at which directions are compared

Parts: TypeAlias = tuple[tuple[Distribution, int], ...]


def tilted_lattice(composition: Composition, question: Question) -> Enclosure | None:
    """Delta or epsilon in one direction: certified bounds where they are narrow, else what they and the lattice both allow."""
    # None where the distribution functions of some law are not known from above, and those of no law from below. Other laws that
    # dominate and have a closed form are left to the bounds, which read it, unless that form finds no end.
    above, below = parts_of(composition, lower=False), parts_of(composition, lower=True)
    if not (above or below):
        return None
    bounds = certified_bounds(composition, question)
    narrow = Fraction(WIDTH) if isinstance(question, DeltaAt) else NARROW
    if bounds.lower == bounds.upper or (not isinstance(bounds.upper, float) and bounds.width <= bounds.upper * narrow):
        return bounds
    highest = dominating_laws(composition)
    closed = highest != composition and not isinstance(bounds.upper, float) and exact_profile(highest) is not None
    high = _answer(highest, above, question, WIDTHS) if above and not closed else None
    lowest = dominated_laws(composition)
    low = high if below == above and not closed else None
    if low is None and below and exact_profile(lowest) is None:  # a closed form is in the bounds already
        low = _answer(lowest, below, question, WIDTHS)
    reasons = tuple(answer.reason for answer in (high, low) if answer is not None)
    if not reasons:
        return bounds
    reason = reasons[0] if high is low else Reason("upper end from the laws above, lower end from those below", reasons)
    return bounds.intersect(Enclosure(low.lower if low else Fraction(0), high.upper if high else math.inf, reason))


def rough_upper_end(composition: Composition, question: Question) -> Enclosure | None:
    """A cheap upper end for one direction, None where the lattice does not apply: it often shows that the other one counts."""
    above = parts_of(composition, lower=False)
    return _answer(dominating_laws(composition), above, question, (ROUGH,)) if above else None


def lattice_for(composition: Composition, *, epsilon: Fraction, width: float = WIDTH) -> Evaluated | None:
    """One direction of a composition on a lattice for questions near `epsilon`; None where there is none of that width."""
    parts = parts_of(composition, lower=False)
    return _lattice_near(parts, float(epsilon), None, (width,)) if parts else None


def parts_of(composition: Composition, *, lower: bool) -> Parts | None:
    """The laws above or below as distributions, Gaussians merged; None where one of those above is not known."""
    found: dict[Distribution, int] = {}
    normal = Fraction(0)
    for law, count in (dominated_laws if lower else dominating_laws)(composition).parts:
        distribution = distribution_of(law)
        if isinstance(law, GaussianShaped):
            normal += count * law.mu_squared
        elif distribution is not None:
            found[distribution] = found.get(distribution, 0) + count
        elif not lower:
            return None
    return tuple(found.items()) + (((Normal(normal), 1),) if normal else ())


def _answer(composition: Composition, parts: Parts, question: Question, widths: Sequence[float]) -> Enclosure | None:
    """The answer on a lattice that suits the question; None where no plan does."""
    if not is_standard():
        return None
    limit = infinite_loss(composition)
    if isinstance(question, DeltaAt):
        found = _lattice_near(parts, float(min(question.epsilon, LARGEST)), None, widths)
        return None if found is None else _delta_within(found, question.epsilon)
    if limit.upper >= question.delta:
        return None
    finite = question.delta - Fraction(limit.lower)
    found = _lattice_near(parts, None, log_of(finite), widths)
    if found is None:
        return None
    evaluated = found
    return Profile(lambda epsilon, _: _delta_within(evaluated, epsilon), limit, greatest_loss(composition)).answer(question)


def _delta_within(evaluated: Evaluated, epsilon: Fraction) -> Enclosure:
    """Delta at an epsilon; outside the window what delta at its ends implies, since delta falls with epsilon."""
    first, last = evaluated.ends
    if epsilon < first:
        return Enclosure(evaluated.delta(first).lower, Fraction(1), Reason("delta at a larger epsilon"))
    if epsilon > last:
        return Enclosure(Fraction(0), evaluated.delta(last).upper, Reason("delta at a smaller epsilon"))
    return evaluated.delta(epsilon)


def _lattice_near(parts: Parts, epsilon: float | None, log_delta: float | None, widths: Sequence[float]) -> Evaluated | None:
    """The composition on a lattice around an epsilon or a delta; None when there is no affordable one."""
    with np.errstate(all="ignore"):  # floats that overflow make a poor plan, or none
        for tail in TAILS:
            sketches = sketches_of(parts, tail)
            if sketches is not None:
                tilt = tilt_for_epsilon(sketches, epsilon or 0.0) if log_delta is None else tilt_for_delta(sketches, log_delta)
                if tilt is not None:
                    return _build_lattice(parts, tail, round(math.log2(tilt) * TILTS_PER_OCTAVE), tuple(widths))
                break
    return None


@lru_cache(maxsize=16)
def sketches_of(parts: Parts, tail: int) -> tuple[tuple[Sketch, int], ...] | None:
    """Every law in floats, None when one of them has no finite loss within reach."""
    found = [(float_sketch(law, tail), count) for law, count in parts]
    known = tuple((sketch, count) for sketch, count in found if sketch is not None)
    return known if len(known) == len(parts) else None


@lru_cache(maxsize=4)
def _build_lattice(parts: Parts, tail: int, place: int, widths: tuple[float, ...]) -> Evaluated | None:
    """The composition at a tilt from the geometric grid, at the first affordable width."""
    sketches = sketches_of(parts, tail)
    if sketches is None:
        return None
    for width in widths:
        tilt = 2.0 ** (place / TILTS_PER_OCTAVE)
        plan = choose_plan(sketches, tilt, width)
        if plan is not None and width == WIDTH and plan.size * sum(len(raster.ends) for raster in plan.rasters) < SMALL_PLAN:
            plan = choose_plan(sketches, tilt, width / 16) or plan
        if plan is None:
            continue
        lattices = []
        for (law, count), raster, log_scale in zip(parts, plan.rasters, plan.log_scales, strict=True):
            lattice = lattice_of(law, count, raster, tilt=plan.tilt, log_scale=log_scale, tail=tail)
            if lattice is None:
                return None
            lattices.append(lattice)
        return Evaluated(plan, tuple(lattices))
    return None
