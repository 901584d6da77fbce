"""Answers to questions: engines are tried in order, each on both directions; the worse direction counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

from dpaudit.accounting.engines.binary import many_binary
from dpaudit.accounting.engines.bounds import certified_bounds
from dpaudit.accounting.engines.closed_forms import closed_form, exact_profile
from dpaudit.accounting.engines.contour import NOT_RUN, contour
from dpaudit.accounting.engines.finishing import finished
from dpaudit.accounting.engines.tilted import rough_upper_end, sharp_lattice, tilted_lattice
from dpaudit.accounting.laws.between import are_pairs_above, dominated_laws, dominating_laws
from dpaudit.accounting.laws.groups import SplitGroup, alternatives, require_direction
from dpaudit.accounting.laws.unsampled import published_laws
from dpaudit.accounting.model.composition import (
    Composition,
    DeltaAt,
    EpsilonAt,
    Question,
    epsilon_of_greatest_loss,
    greatest_loss,
    infinite_loss,
    is_narrow,
)
from dpaudit.accounting.model.law import Profiled
from dpaudit.errors import Unsupported
from dpaudit.exact import SMALLEST_EXPONENT, Enclosure, Reason, outward

# A certified method for one direction of a composition: an enclosure, or None where it does not apply.
Engine: TypeAlias = Callable[[Composition, Question], Enclosure | None]


def pure_epsilon(composition: Composition, question: Question) -> Enclosure | None:
    """Epsilon where delta is the chance of an infinite loss, for one release with a closed profile: its greatest loss."""
    law, count = composition.parts[0]
    if not (isinstance(question, EpsilonAt) and isinstance(law, Profiled)) or len(composition.parts) > 1 or count > 1:
        return None
    limit = infinite_loss(composition)
    met = limit.is_point and limit.upper == question.delta
    return epsilon_of_greatest_loss(limit, greatest_loss(composition)) if met else None


# The first engine that applies gives the answer: exact ones come before narrow ones, and those before bounds.
ENGINES: Final[tuple[Engine, ...]] = (
    pure_epsilon,
    closed_form,
    many_binary,
    contour,
    sharp_lattice,
    tilted_lattice,
    certified_bounds,
)
# Those that compute along lines and on lattices, and of these the ones whose ends are as near as the laws above and below allow.
NUMERICAL: Final[tuple[Engine, ...]] = (contour, sharp_lattice, tilted_lattice)
SHARP: Final[tuple[Engine, ...]] = (contour, sharp_lattice)
# Positive deltas below this (about 1e-1213) are refused: enclosures end at 2**SMALLEST_EXPONENT.
SMALLEST_DELTA: Final = Fraction(2) ** (SMALLEST_EXPONENT + 64)


def evaluate(loss: Composition, question: Question) -> Enclosure:
    """The answer for the worse of the two directions, and of all splits of a group."""
    if (settled := _settled(loss, question)) is not None:
        return settled
    sides = _sides(loss)
    engine, worst = _direction(sides[0], question)
    sharp = engine in SHARP
    grounds = [worst.reason]
    for side in sides[1:]:
        # Only numerical engines are worth a look at wide cells: exact forms and bounds are cheap in all directions.
        less = _loses_less(side, question, worst, beside=sides[0] if sharp else None) if engine in NUMERICAL else None
        if less is None:
            engine, other = _direction(side, question)
            worst, less = Enclosure(max(worst.lower, other.lower), max(worst.upper, other.upper)), other.reason
        grounds.append(less)
    if len(sides) == 1:
        return worst
    statement = "the worse of the two directions" if len(sides) == 2 else "the worst split of a group"
    return replace(worst, reason=Reason(statement, tuple(grounds)))


@lru_cache(maxsize=64)
def _sides(loss: Composition) -> tuple[Composition, ...]:
    """All that the answer is the worst of: both directions of every split of a group, equal ones once."""
    ways = alternatives(loss) if any(isinstance(law, SplitGroup) for law, _ in loss.parts) else [loss]
    return tuple(dict.fromkeys(side for way in ways for side in (way, way.reversed())))


def _loses_less(side: Composition, question: Question, worst: Enclosure, *, beside: Composition | None) -> Reason | None:
    """Why a direction moves neither end: a coarse upper end of its delta at one epsilon is small enough; None where it is not."""
    # Where its laws above are those of another direction, whose sharp answer took its upper end from them, only its laws below
    # could move anything.
    if isinstance(worst.lower, float):
        return Reason("epsilon is infinite in another direction")
    alike = (
        beside is not None
        and dominating_laws(side) == dominating_laws(beside)
        and published_laws(side) == published_laws(beside)
        and not (exact_profile(side) or exact_profile(beside))
    )
    laws = dominated_laws(side) if alike else side
    place, most = (question.epsilon, worst.lower) if isinstance(question, DeltaAt) else (worst.lower, question.delta)
    rough = rough_upper_end(laws, place, most) if laws.parts else infinite_loss(laws)
    if rough is None or rough.upper > most:
        return None
    return Reason("the other direction loses less: an upper end from wide cells", (rough.reason,))


def evaluate_one(loss: Composition, question: Question) -> Enclosure:
    """The answer for the direction of the laws as they stand; that of `loss.reversed()` is the other one."""
    require_direction(loss)
    settled = _settled(loss, question)
    return _direction(loss, question)[1] if settled is None else settled


def _settled(loss: Composition, question: Question) -> Enclosure | None:
    """The answer where nothing is released; DPA202 for a delta that no enclosure resolves."""
    if isinstance(question, EpsilonAt) and 0 < question.delta < SMALLEST_DELTA:
        got, least = (outward(value, digits=3, up=True) for value in (question.delta, SMALLEST_DELTA))
        raise Unsupported("DPA202", f"delta must be 0 or at least {least}, got {got}: smaller values are indistinguishable from 0.")
    nothing = Reason("nothing is released, so the two datasets cannot be told apart")
    return None if loss.parts else Enclosure.point(0, nothing)


def _direction(composition: Composition, question: Question) -> tuple[Engine, Enclosure]:
    """The answer of one direction, the best of all ends where that of the first engine is wide; and that engine."""
    engine, answer = _first_answer(composition, question)
    if is_narrow(answer):
        return engine, answer
    return engine, finished(composition, question, answer, _plain, sharp=engine in SHARP)


@lru_cache(maxsize=256)
def _plain(composition: Composition, question: Question) -> Enclosure:
    """The answer of the engines alone, remembered since the last step asks the same epsilons again and again."""
    return _first_answer(composition, question)[1]


def _first_answer(composition: Composition, question: Question) -> tuple[Engine, Enclosure]:
    """The first engine that applies to this direction, and its answer; what an exact form leaves wide, the others narrow."""
    found: tuple[Engine, Enclosure] | None = None
    for engine in ENGINES:
        answer = engine(composition, question)
        if answer is None:
            continue
        if engine in {sharp_lattice, tilted_lattice}:
            answer = replace(answer, reason=Reason(answer.reason.statement, (*answer.reason.parts, Reason(NOT_RUN))))
        found = (engine, answer if found is None else found[1].intersect(answer))
        sharp = engine is contour and are_pairs_above(composition)  # both ends are as near as their laws allow
        if is_narrow(found[1]) or sharp or engine in {sharp_lattice, tilted_lattice}:
            break
    if found is not None:
        return found
    raise Unsupported(
        "DPA202", f"no certified method answers this for {composition.describe()}. docs/prices.md lists what each law supports."
    )
