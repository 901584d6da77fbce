"""Certified bounds for compositions without an exact form: from above by a dominating composition, from below by a part."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from dpaudit.accounting.closed_forms import exact_profile
from dpaudit.accounting.law import Bracketed, Law
from dpaudit.accounting.limits import greatest_loss, infinite_loss
from dpaudit.accounting.loss import PrivacyLoss, gathered
from dpaudit.accounting.moments import moment_bound
from dpaudit.accounting.profile import Profile
from dpaudit.accounting.questions import EpsilonAt, Question
from dpaudit.accounting.stand_ins import dominated, dominating
from dpaudit.exact import Enclosure, Endpoint, Reason


def certified_bounds(composition: PrivacyLoss, question: Question) -> Enclosure | None:
    """Delta or epsilon in one direction between a bound from above and one from below."""
    above = _profile_above(composition).answer(question)
    grounds = tuple(Reason(law.bracket_source()) for law, _ in composition.parts if isinstance(law, Bracketed))
    if isinstance(question, EpsilonAt) and (greatest := _greatest_below(composition, question.delta)) is not None:
        reason = Reason("sum of the greatest finite losses, which no smaller epsilon allows", (above.reason, *grounds))
        return Enclosure(greatest, above.upper, reason)
    below = _profile_below(composition)
    if below is None:
        return Enclosure(Fraction(0), above.upper, Reason("upper bound; nothing is known from below", (above.reason, *grounds)))
    answer = below.answer(question)
    upper = Reason("upper end", (above.reason,))
    lower = Reason("lower end: part of what is released, or post-processed, for the worst neighbours", (answer.reason,))
    return Enclosure(answer.lower, above.upper, Reason("certified bounds, not tight", (upper, lower, *grounds)))


@lru_cache(maxsize=16)
def _profile_above(composition: PrivacyLoss) -> Profile:
    """The better of a dominating composition that is exact and the moment bound."""
    upper = gathered([(_upper(law), count) for law, count in composition.parts], composition.adjacency)
    exact = next((profile for candidate in dominating(upper) if (profile := exact_profile(candidate)) is not None), None)

    def delta(epsilon: Fraction, floor: Fraction) -> Enclosure:
        """The smaller of the two bounds, nothing from below."""
        moments = moment_bound(upper, epsilon)
        best: Endpoint = moments.upper
        reason = moments.reason()
        tight = None if exact is None else exact.at(epsilon, floor)
        if tight is not None and tight.upper < best:
            best, reason = tight.upper, Reason("a composition that dominates this one, exactly", (tight.reason,))
        return Enclosure(Fraction(0), best, reason)

    return Profile(delta, infinite_loss(upper), greatest_loss(upper))


@lru_cache(maxsize=16)
def _profile_below(composition: PrivacyLoss) -> Profile | None:
    """An exact composition that what is released dominates, None when nothing is known from below."""
    candidates = dominated(_known_below(composition))
    return next((profile for candidate in candidates if (profile := exact_profile(candidate)) is not None), None)


def _greatest_below(composition: PrivacyLoss, delta: Fraction) -> Endpoint | None:
    """The greatest finite loss when delta is just the probability of an infinite one; None for other deltas."""
    lower = _known_below(composition)
    if not lower.parts or not (limit := infinite_loss(lower)).is_point or limit.upper != delta:
        return None
    greatest = greatest_loss(lower)
    return math.inf if greatest is None else greatest.ends()[0]


def _known_below(composition: PrivacyLoss) -> PrivacyLoss:
    """The laws below, where there are any."""
    known = [(low, count) for law, count in composition.parts if (low := _lower(law)) is not None]
    return gathered(known, composition.adjacency)


def _upper(law: Law) -> Law:
    """The law that stands above: its own, or that of its bracket, which may have a bracket in its turn."""
    while isinstance(law, Bracketed) and (above := law.bracket()[0]) != law:
        law = above
    return law


def _lower(law: Law) -> Law | None:
    """The law that stands below, in the same way; None where nothing does."""
    while isinstance(law, Bracketed) and (below := law.bracket()[1]) != law:
        if below is None:
            return None
        law = below
    return law
