"""The diagnosis of a refuted claim: twin runs on the refuting pair, and one cause after the other, the most specific first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from dpaudit.auditor.attack.course import Case
from dpaudit.auditor.diagnosis.forms import name_constant, name_form
from dpaudit.auditor.diagnosis.moves import Scene, name_move, name_still, name_stretch
from dpaudit.auditor.diagnosis.noise import allowed, fit, shift, step_of, together
from dpaudit.auditor.diagnosis.parting import Trace, parting_line, traced
from dpaudit.auditor.diagnosis.twins import Bench, run_once, run_twins
from dpaudit.auditor.diagnosis.values import name_atom, name_digits, name_few, name_grid, name_shared
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.results import Attack, Diagnosis
from dpaudit.targets import short_path

MOST_TWINS: Final = 2000
"""Twin runs of a diagnosis: scales are then known to 2 percent."""
_SHARE: Final = 20
"""Of the runs that the attack made or might have made a twentieth on each dataset, so that a slow one is called little more."""
_FEWEST: Final = 16
_COMMON: Final = 0.05
"""An event as common as this that the law of the noise excludes is about digits, and not about rare values that were not seen."""
_FINE: Final = re.compile(r"^parity|equal to|\bbits?\b")
"""Words of events that are about single values or digits of a number."""
_OF_VALUES: Final = ("value",)
_OF_BRANCHES: Final = ("branch", "value")
_OF_LOOPS: Final = ("branch", "loop", "value")
_SIGNS: Final = {"still": _OF_BRANCHES, "bare": _OF_BRANCHES, "exception": _OF_LOOPS, "keys": _OF_LOOPS, "length": _OF_LOOPS}
"""By what sign two runs part, for each cause: what comes first of these."""


def diagnose(case: Case, attack: Attack) -> Diagnosis | None:
    """Name the one cause that runs on the refuting pair single out; None where they leave several.

    The runs are made after the verdict, on random streams of their own, and decide nothing else.
    """
    count = min(MOST_TWINS, max(attack.runs, sum(attack.plan)) // _SHARE)
    if count < _FEWEST:
        return None
    pair = case.subject.pairs[attack.pair.index]
    bench = Bench(case.subject.target, case.manner, case.root, case.position, attack.pair.index)
    twins = run_twins(bench, pair.first, pair.second, count=count)
    bound = attack.bound
    proven = float(bound.epsilon) if bound is not None and bound.epsilon is not None and not bound.delta else 0.0
    stepped = twins.one_form and all(step_of(column) is not None for column in twins.first.T)
    coarse = stepped or (case.subject.target.score is None and _FINE.search(attack.event) is None)
    hits = 0.0 if bound is None else (bound.counts.ones + bound.counts.zeros) / max(bound.counts.runs, 1)
    found = _name(Scene(bench, case.subject.target.claim, pair.first, pair.second, twins, proven, coarse, hits))
    return (
        None if found is None else replace(found, source=_source(bench, pair, _SIGNS.get(found.cause, _OF_VALUES)), runs=bench.runs)
    )


def _source(bench: Bench, pair: Neighbours, signs: Sequence[str]) -> tuple[str, int] | None:
    """Return the line at which one run on each dataset parts, by a path as reports hold it.

    What an adapter calls is a library's, mostly through a few lines of the user's: its own line is looked for first.
    """
    first, second = _traces(bench, pair, libraries=False)
    followed = [_traces(bench, pair, libraries=True)] if first.adapted else []
    found = (parting_line(*traces, sign=sign) for traces in (*followed, (first, second)) for sign in signs)
    place = next((place for place in found if place is not None), None)
    return None if place is None else (short_path(Path(place[0])), place[1])


def _traces(bench: Bench, pair: Neighbours, *, libraries: bool) -> tuple[Trace, Trace]:
    """Trace one run on each dataset."""
    traces = []
    for data in (pair.first, pair.second):
        with traced(libraries=libraries) as trace:
            run_once(bench, data)
        traces.append(trace)
    return traces[0], traces[1]


def _name(scene: Scene) -> Diagnosis | None:
    """Try the causes in order: what a form shows, then single values, then how the noise and the value move."""
    twins = scene.twins
    found = name_form(twins) or name_still(scene, name_constant(twins, scene.delta))
    if found is not None or not twins.one_form:
        return found
    moves = shift(twins.first, twins.second)
    found = name_atom(twins, moves)
    if found is not None:
        return found
    if moves is None:
        return name_stretch(scene)
    if not moves.any():
        return None
    return (
        name_shared(twins, moves)
        or name_grid(twins, moves)
        or name_few(twins, moves)
        or _of_digits(scene, moves)
        or name_move(scene, moves)
    )


def _of_digits(scene: Scene, moves: object) -> Diagnosis | None:
    """Name the digits of the noise as the cause where its law keeps the claim, and single values or digits refute it."""
    if scene.coarse or scene.mass < _COMMON:
        return None
    move = fit(moves, scene.twins.first)  # type: ignore[arg-type]
    limit = None if move is None else allowed(scene.claim, move.law, len(move.moves))
    if move is None or move.law != "laplace" or limit is None or together(move) > limit * (1 + move.error):
        return None
    cost = max(limit, together(move)) * (1 + move.error)
    return name_digits(scene.twins, moves, cost, float(move.scales[0]), scene.proven)  # type: ignore[arg-type]
