"""An upper end from exact moments at one tilt: for rare losses among very many releases, where lattices and lines are too long."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from flint import arb

from dpaudit.accounting.engines.characteristic import moments_of
from dpaudit.accounting.engines.closed_forms import Profile
from dpaudit.accounting.engines.parts import Parts, parts_of
from dpaudit.accounting.engines.saddles import saddles_of
from dpaudit.accounting.engines.tilted import LARGEST, TAILS
from dpaudit.accounting.laws.between import dominating_laws
from dpaudit.accounting.model.composition import Composition, DeltaAt, Question, greatest_loss, infinite_loss
from dpaudit.accounting.model.transform import Reals
from dpaudit.exact import Enclosure, Reason, ball, ball_endpoints, working_precision

BITS: Final = 128  # Working precision
TILTS: Final = np.geomspace(2.0**-12, 2.0**10, 22 * 12 + 1)  # Among which the best one is chosen in floats; any is sound
SOURCE: Final = "delta <= t^t/(1 + t)^(1 + t) E[e^(t (loss - e))] at one tilt t, from exact moments (docs/engines.md, images)"


def tilted_end(composition: Composition, question: Question) -> Enclosure | None:
    """Delta or epsilon from above in one direction; None where the moments of a law are not known."""
    highest, parts = dominating_laws(composition), parts_of(composition, lower=False)
    tail = next((tail for tail in TAILS if parts and saddles_of(parts, tail) is not None), None)
    if not parts or tail is None:
        return None
    limit = infinite_loss(highest)

    def delta(epsilon: Fraction, floor: Fraction) -> Enclosure:  # noqa: ARG001 - all values are resolved
        return Enclosure(Fraction(0), min(_bound(parts, tail, epsilon), Fraction(1)), Reason(SOURCE))

    if isinstance(question, DeltaAt):
        return delta(question.epsilon, Fraction(0))
    found = Profile(delta, limit, greatest_loss(highest)).answer(question)
    return Enclosure(Fraction(0), found.upper, found.reason)


def _bound(parts: Parts, tail: int, epsilon: Fraction) -> Fraction:
    """At or above delta, 1 where nothing smaller is known."""
    with np.errstate(all="ignore"):
        exponents = _steering(parts, tail) - TILTS * float(min(epsilon, LARGEST))
    theta = Fraction(float(TILTS[int(np.nanargmin(exponents))]))
    with working_precision(BITS):
        found = _moment(parts, tail, theta)
        if found is None:
            return Fraction(1)
        peak = ball(theta) * ball(theta).log() - ball(1 + theta) * ball(1 + theta).log()
        bound = ball_endpoints((peak + found[0] - ball(theta * epsilon)).exp() + found[1])[1]
    return Fraction(1) if isinstance(bound, float) else bound


@lru_cache(maxsize=64)
def _steering(parts: Parts, tail: int) -> Reals:
    """Logarithms of about the bound at epsilon 0, at all tilts."""
    saddles = saddles_of(parts, tail)
    assert saddles is not None, "it was asked before"  # noqa: S101
    with np.errstate(all="ignore"):
        found: Reals = TILTS * np.log(TILTS) - (1 + TILTS) * np.log1p(TILTS)
        for sketch, count in saddles.sketches:
            found = found + count * sketch.cumulant(TILTS)
    return np.where(np.isnan(found), math.inf, found)


@lru_cache(maxsize=256)
def _moment(parts: Parts, tail: int, theta: Fraction) -> tuple[arb, arb] | None:
    """Balls around log E[e^(theta loss)] and the probability of an infinite loss; None where a law has no such moments."""
    total, safe = arb(0), arb(1)
    for law, count in parts:
        found = moments_of(law, count, greatest=theta, place=Fraction(0), tail=tail)
        if found is None:
            return None
        total += count * found[0].at(theta).log()
        safe *= (1 - found[1]) ** count
    return total, 1 - safe
