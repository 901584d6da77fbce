"""The minimal pair of a refuted claim: smaller pairs judged by a quick test, the smallest tested again on runs of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dpaudit.auditor.attack.course import Case
from dpaudit.auditor.attack.plans import FEWEST_PILOT_RUNS, RUNS_AFTER_REFUTATION, Plan
from dpaudit.auditor.events.ranking import Shortlist, rank_events
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.auditor.pairs.relations import describe
from dpaudit.auditor.pairs.shrinking import smaller_pair
from dpaudit.auditor.runs.chunks import PILOT, SHRINKING, Chunk, ChunkRuns, Task, perform
from dpaudit.auditor.runs.workload import Subject, Workload
from dpaudit.auditor.statistics.bounds import ClaimPoint, p_value
from dpaudit.results import Attack, Counts, Minimal, Pair

MOST_TRIED: Final = 64
"""At most this many smaller pairs are judged."""
RUNS_AGAIN: Final = 2
"""Where only the bound refuted a claim no runs are left: at most so many times those of the audit are made for a smaller pair."""
_MOST_RUNS: Final = 100_000
_MOST_EACH: Final = 2**19
_PATIENCE: Final = 4
_FEWEST_EACH: Final = 500
_QUICK_LEVEL: Final = 0.01


@dataclass(frozen=True)
class _Budget:
    """What smaller pairs may take: runs of each, the level at which it is judged, runs of all, and the plan of the last test."""

    each: int
    level: float
    left: int
    plan: Plan


@dataclass
class _Judge:
    """Judges smaller pairs while runs are left: the event that half of the runs on a pair chose is tested on the other half."""

    case: Case
    point: ClaimPoint
    budget: _Budget
    tried: int = 0
    runs: int = 0

    def refutes(self, pair: tuple[Any, Any]) -> bool:
        """True if the claim fails on a pair, as far as a quick test shows."""
        each, level = self.budget.each, self.budget.level
        if self.tried == MOST_TRIED or self.runs + each > self.budget.left:
            return False
        self.tried, self.runs = self.tried + 1, self.runs + each
        case = _case_of(self.case, pair, self.tried)
        outcome = perform(Task(case.work, case.root, Chunk(case.position, 0, PILOT, 0, each), case.manner))
        if not isinstance(outcome, ChunkRuns):
            return False
        half = each // 2
        rows, labels = outcome.features, outcome.labels
        groups = case.manner.features.groups
        ranked = rank_events(
            rows[:half], labels[:half], point=self.point, final_runs=half, alpha=level, shortlist=Shortlist(1), groups=groups
        )
        if not ranked:
            return False
        hits = labels[half:][ranked[0].event.hits(rows[half:])]
        ones, zeros = int(hits.sum()), len(hits) - int(hits.sum())
        counts = Counts(zeros, ones, half) if ranked[0].reverse else Counts(ones, zeros, half)
        return p_value(counts, point=self.point) <= level


def minimal_pair(
    case: Case, attack: Attack, point: ClaimPoint, *, spare: int, attacked: Callable[[Case], Attack], shown: Callable[..., Pair]
) -> Minimal | None:
    """Find the smallest pair on which a refuted claim still fails, and test it on new runs; here, apart from all workers."""
    budget = _budget_of(case, attack, point, spare)
    if budget is None:
        return None
    judge = _Judge(case, point, budget)
    origin = case.subject.pairs[attack.pair.index]
    found = smaller_pair(case.subject.target, (origin.first, origin.second), judge.refutes)
    if found is None:
        return None
    fresh = attacked(replace(_case_of(case, found, 0), plan=budget.plan, seconds=math.inf, executor=None, checked=0, listener=None))
    return Minimal(
        pair=shown(case.subject.target, fresh.pair.index, Neighbours(*found, describe(*found))),
        tried=judge.tried,
        refuted=fresh.p_value <= case.alpha,
        bound=fresh.bound,
        p_value=fresh.p_value,
        alpha=case.alpha,
        runs=judge.runs + fresh.runs,
    )


def _budget_of(case: Case, attack: Attack, point: ClaimPoint, spare: int) -> _Budget | None:
    """Return the budget for smaller pairs: runs that bets saved, or twice those of the audit; None with a clock, which is over."""
    stopped, bound = attack.sequential.stopped_at, attack.bound
    if stopped is not None:
        each = 2 * max(_FEWEST_EACH, _PATIENCE * stopped // 2)
        plan = Plan(max(FEWEST_PILOT_RUNS, each), each, RUNS_AFTER_REFUTATION // 2)
        if each <= _MOST_RUNS // 16 <= spare - plan.total:
            return _Budget(each, case.half / MOST_TRIED, min(_MOST_RUNS, spare - plan.total), plan)
        enough = stopped
    elif bound is None or attack.p_value > case.alpha or case.seconds < math.inf:
        return None
    else:
        enough, spare = enough_runs(bound.counts, point, _QUICK_LEVEL), RUNS_AGAIN * attack.runs
    each = 2 * max(_FEWEST_EACH, enough)
    plan = Plan(max(FEWEST_PILOT_RUNS, each // 4), each // 8, max(3 * each // 4, min(RUNS_AFTER_REFUTATION // 2, spare // 4)))
    left = spare - plan.total
    return _Budget(each, _QUICK_LEVEL, left, plan) if each <= min(left, _MOST_EACH) else None


def enough_runs(counts: Counts, point: ClaimPoint, level: float) -> int:
    """Return the fewest runs on which the event would still refute one standard error below its counts, in steps of a fifth."""
    runs, hits, share = counts.runs, counts.ones + counts.zeros, counts.ones / max(1, counts.ones + counts.zeros)
    while (fewer := 4 * hits // 5) >= 1:
        ones = math.floor(fewer * share - math.sqrt(fewer * share * (1 - share)))
        if p_value(Counts(ones, fewer - ones, 4 * runs // 5), point=point) > level:
            break
        runs, hits = 4 * runs // 5, fewer
    return runs


def _case_of(case: Case, pair: tuple[Any, Any], number: int) -> Case:
    """Return the case of one pair alone, with a seed tree of its own."""
    subject = Subject(case.subject.target, (Neighbours(*pair, ""),))
    sequence = np.random.SeedSequence(case.root, spawn_key=(case.position, 0, SHRINKING, number))
    root = int.from_bytes(sequence.generate_state(2, np.uint64).tobytes(), "little")
    return replace(case, subject=subject, work=Workload("", subject), root=root, places=())
