"""Certified bounds for any composition: closed forms where there are any, else moments above and infinite losses below."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Final

from dpaudit.accounting.engines.closed_forms import Profile, exact_profile
from dpaudit.accounting.engines.moments import moment_bound, near_epsilon
from dpaudit.accounting.laws.between import are_pairs_above, dominated_laws, dominating_laws, end_of
from dpaudit.accounting.laws.response import BoundedRange
from dpaudit.accounting.model.composition import (
    Composition,
    DeltaAt,
    EpsilonAt,
    Question,
    greatest_loss,
    infinite_loss,
    merge_parts,
)
from dpaudit.accounting.model.law import Bracketed
from dpaudit.exact import Enclosure, Endpoint, Reason

MISSED: Final = Fraction(1, 1 << 20)  # Relative distance below an epsilon at which moments are compared with it
NARROW: Final = 1024  # A closed form is narrow if its width is less than one over this of it


def certified_bounds(composition: Composition, question: Question, *, upper: bool = True) -> Enclosure:
    """Delta or epsilon in one direction, between a bound from below and, unless `upper` is False, one from above."""
    below = _from_below(composition, question)
    if not upper:
        return Enclosure(below.lower, 1 if isinstance(question, DeltaAt) else math.inf, below.reason)
    above = upper_bound(composition, question)
    grounds = tuple(Reason(law.bracket_source()) for law, _ in composition.parts if isinstance(law, Bracketed))
    ends = (Reason("upper end", (above.reason,)), Reason("lower end", (below.reason,)))
    return Enclosure(below.lower, above.upper, Reason("certified bounds, not tight", (*ends, *grounds)))


def upper_bound(composition: Composition, question: Question) -> Enclosure:
    """Delta or epsilon from above, from the closed form or from moments, whichever is better."""
    # Where the bound from moments is too large at an epsilon of the closed form, so it is below, and need not be inverted.
    highest = dominating_laws(composition)
    exact = exact_profile(highest) if isinstance(question, EpsilonAt) else None
    if exact is not None and isinstance(question, EpsilonAt):
        found = exact.answer(question, "upper")
        place = Fraction(0) if isinstance(found.upper, float) else found.upper * (1 - MISSED)
        if place and moment_bound(highest, place).upper > question.delta:
            return found
    return _profile_above(composition).answer(question, "upper")


@lru_cache(maxsize=8)  # engines that follow each other ask alike
def _from_below(composition: Composition, question: Question) -> Enclosure:
    """Delta or epsilon from below."""
    return _profile_below(composition).answer(question, "lower")


# One search for an epsilon asks the profile of one composition 20 to 30 times. An entry holds little beyond the closed form that
# `exact_profile` keeps.
@lru_cache(maxsize=16)
def _profile_above(composition: Composition) -> Profile:
    """The closed form or the moment bound, whichever is better."""
    above = dominating_laws(composition)
    # Of a law that stands above another one the distribution is coarser, and moments may be those of the law itself.
    exact, pairs = exact_profile(above), above == composition and are_pairs_above(composition)

    def delta(epsilon: Fraction, floor: Fraction) -> Enclosure:
        """The smaller of the two bounds, nothing from below; moments are not asked beside a narrow closed form of pairs."""
        tight = None if exact is None else exact.at(epsilon, floor)
        if tight is not None and pairs and tight.width * NARROW < tight.upper:
            return Enclosure(Fraction(0), tight.upper, tight.reason)
        moments = moment_bound(above, epsilon)
        best: Endpoint = moments.upper
        reason = moments.reason()
        if tight is not None and tight.upper < best:
            best, reason = tight.upper, tight.reason
        return Enclosure(Fraction(0), best, reason)

    near = (lambda _: None) if exact else partial(near_epsilon, above)
    return Profile(delta, infinite_loss(above), greatest_loss(above), near)


@lru_cache(maxsize=16)
def _profile_below(composition: Composition) -> Profile:
    """The closed form of the laws below, one class of bounded range kept whole if possible; or the chance of an infinite loss."""
    below = dominated_laws(composition)
    classes = [law for law in (end_of(part, 1) for part, _ in composition.parts) if isinstance(law, BoundedRange)]
    if classes:
        whole = max(classes, key=lambda law: law.epsilon)
        rest = Counter(dict(below.parts))
        rest.subtract({whole.below(): 1})
        kept = exact_profile(merge_parts([(whole, 1), *((law, count) for law, count in rest.items() if count)], below.adjacency))
        if kept is not None:
            return kept
    limit = infinite_loss(below)
    if not below.parts:
        limit = replace(limit, reason=Reason("nothing is known from below"))
    certain, exact = Enclosure(limit.lower, Fraction(1), limit.reason), exact_profile(below) if below.parts else None
    return exact or Profile(lambda epsilon, floor: certain, limit, greatest_loss(below))  # noqa: ARG005
