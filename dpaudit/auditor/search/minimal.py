"""The minimal pair of a refuted claim: smaller pairs judged by a quick test, the smallest tested again on runs of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from dpaudit.auditor.bounds import ClaimPoint, p_value
from dpaudit.auditor.course import Case
from dpaudit.auditor.events import rank_events
from dpaudit.auditor.pairs import Neighbours
from dpaudit.auditor.plans import FEWEST_PILOT_RUNS, RUNS_AFTER_REFUTATION, Plan
from dpaudit.auditor.runs import PILOT, SHRINKING, Chunk, ChunkRuns, Task, perform
from dpaudit.auditor.search.relations import describe
from dpaudit.auditor.search.shrinking import smaller_pair
from dpaudit.auditor.workload import Subject, Workload
from dpaudit.results import Attack, Counts, Minimal, Pair

MOST_TRIED: Final = 64
"""At most this many smaller pairs are judged."""

_MOST_RUNS: Final = 100_000
_PATIENCE: Final = 4
_FEWEST_EACH: Final = 500


@dataclass
class _Judge:
    """Judges smaller pairs, as long as there are runs for it: the event that half of a pair's runs choose is tested on the rest."""

    case: Case
    point: ClaimPoint
    each: int
    left: int
    tried: int = 0
    runs: int = 0

    def refutes(self, pair: tuple[Any, Any]) -> bool:
        """Whether the claim fails on a pair, at the claim's error probability over all pairs that may be tried."""
        if self.tried == MOST_TRIED or self.left < self.each:
            return False
        self.tried, self.runs, self.left = self.tried + 1, self.runs + self.each, self.left - self.each
        case = _case_of(self.case, pair, self.tried)
        outcome = perform(Task(case.work, case.root, Chunk(case.position, 0, PILOT, 0, self.each), case.manner))
        if not isinstance(outcome, ChunkRuns):
            return False
        half, level = self.each // 2, case.half / MOST_TRIED
        rows, labels = outcome.features, outcome.labels
        groups = case.manner.features.groups
        ranked = rank_events(rows[:half], labels[:half], point=self.point, final_runs=half, alpha=level, keep=1, groups=groups)
        if not ranked:
            return False
        hits = labels[half:][ranked[0].event.hits(rows[half:])]
        ones, zeros = int(hits.sum()), len(hits) - int(hits.sum())
        counts = Counts(zeros, ones, half) if ranked[0].reverse else Counts(ones, zeros, half)
        return p_value(counts, point=self.point) <= level


def minimal_pair(
    case: Case, attack: Attack, point: ClaimPoint, *, spare: int, attacked: Callable[[Case], Attack], shown: Callable[..., Pair]
) -> Minimal | None:
    """The smallest pair found on which a claim that bets refuted still fails, tested on runs that chose nothing.

    Everything is run in this process and seeded by the case, so that the evidence does not depend on workers.

    Args:
      case: the claim's case.
      attack: the attack that refuted it.
      point: the point of the claim that was tested.
      spare: runs of the budget that the early refutation saved.
      attacked: makes the attack of a case, without a search of its own.
      shown: a pair as a result.
    Returns:
      The minimal pair with its own test; None where bets did not refute the claim, too few runs are left, or nothing smaller is
      found.
    Source: docs/auditing.md, "The minimal pair".
    """
    stopped = attack.sequential.stopped_at
    if stopped is None:
        return None
    each = 2 * min(max(_FEWEST_EACH, _PATIENCE * stopped // 2), _MOST_RUNS // 16)
    plan = Plan(max(FEWEST_PILOT_RUNS, each), each, RUNS_AFTER_REFUTATION // 2)
    judge = _Judge(case, point, each, min(_MOST_RUNS, spare - plan.total))
    origin = case.subject.pairs[attack.pair.index]
    found = smaller_pair(case.subject.target, (origin.first, origin.second), judge.refutes)
    if found is None:
        return None
    fresh = attacked(replace(_case_of(case, found, 0), plan=plan, seconds=math.inf, executor=None, checked=0, told=None))
    return Minimal(
        pair=shown(case.subject.target, fresh.pair.index, Neighbours(*found, describe(*found))),
        tried=judge.tried,
        refuted=fresh.p_value <= case.alpha,
        bound=fresh.bound,
        p_value=fresh.p_value,
        alpha=case.alpha,
        runs=judge.runs + fresh.runs,
    )


def _case_of(case: Case, pair: tuple[Any, Any], number: int) -> Case:
    """The case of one pair alone, with a seed tree of its own."""
    subject = Subject(case.subject.target, (Neighbours(*pair, ""),))
    sequence = np.random.SeedSequence(case.root, spawn_key=(case.position, 0, SHRINKING, number))
    root = int.from_bytes(sequence.generate_state(2, np.uint64).tobytes(), "little")
    return replace(case, subject=subject, work=Workload("", subject), root=root)
