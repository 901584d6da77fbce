"""Compositions that stand in for one that has no exact form: candidates above and below it, the tightest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor
from typing import Final, TypeAlias

from dpaudit.accounting.law import Coarsened, Finite, GaussianShaped, Law, Profiled
from dpaudit.accounting.laws.response import Response
from dpaudit.accounting.loss import PrivacyLoss, gathered
from dpaudit.exact import working_precision

GRID_STEPS: Final = 1 << 13
"""Epsilons without a common unit are rounded to this fraction of their sum."""

MOST_BESIDE: Final = 256
"""Among more releases than this, keeping one law as it is costs more time than it gains."""

Parts: TypeAlias = list[tuple[Law, int]]


def dominating(composition: PrivacyLoss) -> Iterator[PrivacyLoss]:
    """Compositions that lose at least as much: laws replaced by those above them, then with epsilons rounded up."""
    for parts in _replaced(list(composition.parts), lambda law: law.above()):
        known = [(law, count) for law, count in parts if law is not None]
        if len(known) < len(parts):
            continue
        yield gathered(known, composition.adjacency)
        rounded = _rounded(known, ceil)
        if rounded is not None:
            yield gathered(rounded, composition.adjacency)


def dominated(composition: PrivacyLoss) -> Iterator[PrivacyLoss]:
    """Compositions that lose at most as much: laws replaced by those below, epsilons rounded down, then fewer releases."""
    candidates = []
    for found in _replaced(list(composition.parts), lambda law: law.below()):
        parts = [(law, count) for law, count in found if law is not None]
        candidates += [parts, *([rounded] if (rounded := _rounded(parts, floor)) is not None else [])] if parts else []
    while candidates:
        yield from (gathered(parts, composition.adjacency) for parts in candidates)
        halved = [[(law, count // 2) for law, count in parts if count > 1] for parts in candidates]
        candidates = [parts for parts in halved if parts]
    yield from (PrivacyLoss(((law, 1),), composition.adjacency) for law, _ in composition.parts)


def _replaced(parts: Parts, stand_in: Callable[[Coarsened], Law | None]) -> Iterator[list[tuple[Law | None, int]]]:
    """The parts themselves, then with the laws replaced that do not compose, then with all that can be replaced."""
    yield [*parts]
    coarse = [law for law, _ in parts if isinstance(law, Coarsened)]
    for chosen in ([law for law in coarse if not _composes(law)], coarse):
        kept = _kept(parts, chosen)
        for keep in (kept, None) if kept is not None else (None,):
            result: list[tuple[Law | None, int]] = [] if keep is None else [(keep, 1)]
            for law, count in parts:
                if isinstance(law, Coarsened) and law in chosen:
                    result.append((stand_in(law), count - (law == keep)))
                else:
                    result.append((law, count))
            yield [(law, count) for law, count in result if count]


def _composes(law: Law) -> bool:
    """Whether a law has few enough loss values to be composed value by value."""
    with working_precision(64):
        return isinstance(law, Finite) and law.atoms(128) is not None


def _kept(parts: Parts, chosen: Sequence[Law]) -> Law | None:
    """The law to be kept once as it is, next to finite ones: that of the greatest moment, unless a Gaussian has the place."""
    able = [law for law in chosen if isinstance(law, Profiled)]
    crowded = sum(count for _, count in parts) > MOST_BESIDE
    if not able or crowded or any(isinstance(law, GaussianShaped) for law, _ in parts):
        return None
    with working_precision(64):
        return max(able, key=_second_moment)


def _second_moment(law: Law) -> float:
    """How much a law loses, roughly; it only ranks."""
    moment = law.log_moment(Fraction(1))
    return 0.0 if moment is None else float(moment)


def _rounded(parts: Parts, towards: Callable[[Fraction], int]) -> Parts | None:
    """Epsilons of randomized-response laws as whole multiples of one unit; None when there are fewer than two of them."""
    responses = {law: count for law, count in parts if isinstance(law, Response) and law.epsilon}
    whole = sum((count * law.epsilon for law, count in responses.items()), Fraction(0))
    unit = whole / GRID_STEPS
    if len(responses) < 2 or min(law.epsilon for law in responses) < unit:
        return None
    return [
        (replace(law, epsilon=towards(law.epsilon / unit) * unit) if isinstance(law, Response) else law, count)
        for law, count in parts
    ]
