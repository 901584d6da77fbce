"""Answers to questions: engines are tried in order, each on both directions; the worse direction counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Final, TypeAlias

from dpaudit.accounting.engines.bounds import certified_bounds
from dpaudit.accounting.engines.closed_forms import closed_form
from dpaudit.accounting.engines.contour import NOT_RUN, contour
from dpaudit.accounting.engines.tilted import rough_upper_end, tilted_lattice
from dpaudit.accounting.model.composition import Composition
from dpaudit.accounting.model.questions import EpsilonAt, Question
from dpaudit.errors import Unsupported
from dpaudit.exact import SMALLEST_EXPONENT, Enclosure, Reason, outward

Engine: TypeAlias = Callable[[Composition, Question], Enclosure | None]
"""A certified method for one direction of a composition: an enclosure, or None where it does not apply."""

ENGINES: Final[tuple[Engine, ...]] = (closed_form, contour, tilted_lattice, certified_bounds)
"""The first engine that applies gives the answer: exact ones come before narrow ones, and those before bounds."""

SMALLEST_DELTA: Final = Fraction(2) ** (SMALLEST_EXPONENT + 64)
"""Positive deltas below this (about 1e-1213) are refused: enclosures end at 2**SMALLEST_EXPONENT."""


def evaluate(loss: Composition, question: Question) -> Enclosure:
    """The answer for the worse of the two directions."""
    if isinstance(question, EpsilonAt) and 0 < question.delta < SMALLEST_DELTA:
        got, least = (outward(value, digits=3, up=True) for value in (question.delta, SMALLEST_DELTA))
        raise Unsupported("DPA202", f"delta must be 0 or at least {least}, got {got}: smaller values are indistinguishable from 0.")
    if not loss.parts:
        return Enclosure.point(0, Reason("nothing is released, so the two datasets cannot be told apart"))
    backward = loss.reversed()
    engine, forward = _first_answer(loss, question)
    if backward == loss:
        return forward
    rough = rough_upper_end(backward, question) if engine in {contour, tilted_lattice} else None
    if rough is not None and rough.upper <= forward.lower:
        reason = Reason("the other direction loses less: an upper end from wide cells", (rough.reason,))
        return Enclosure(forward.lower, forward.upper, Reason("the worse of the two directions", (forward.reason, reason)))
    return _worse(forward, _first_answer(backward, question)[1])


def _first_answer(composition: Composition, question: Question) -> tuple[Engine, Enclosure]:
    """The first engine that applies to this direction, and its answer."""
    for engine in ENGINES:
        answer = engine(composition, question)
        if answer is not None:
            if engine is tilted_lattice:
                answer = replace(answer, reason=Reason(answer.reason.statement, (*answer.reason.parts, Reason(NOT_RUN))))
            return engine, answer
    raise Unsupported(
        "DPA202", f"no certified method answers this for {composition.describe()}. docs/prices.md lists what each law supports."
    )


def _worse(forward: Enclosure, backward: Enclosure) -> Enclosure:
    """Enclosure of the larger of the two numbers."""
    reason = Reason("the worse of the two directions", (forward.reason, backward.reason))
    return Enclosure(max(forward.lower, backward.lower), max(forward.upper, backward.upper), reason)
