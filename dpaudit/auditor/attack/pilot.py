"""The pilot: runs on candidate pairs in turn, of which those that promise little are dropped at run counts fixed beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final, TypeAlias

import numpy as np

from dpaudit.auditor.attack.contrast import contrast
from dpaudit.auditor.attack.course import Clock, Course, join_runs
from dpaudit.auditor.attack.plans import ENOUGH_TO_CHOOSE, FEWEST_PILOT_RUNS, MOST_PILOT, Plan, with_pilot
from dpaudit.auditor.attack.tallies import ROWS_TO_CUT, Cells, Tally, cells_of, expected_bounds, held_out_bounds, tally_of
from dpaudit.auditor.betting.bankroll import Bankroll
from dpaudit.auditor.events.points import first_line
from dpaudit.auditor.events.ranking import RankedEvent, expected_bound
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.auditor.reading.features import single_places
from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.auditor.reading.precision import Fine, find_fine
from dpaudit.auditor.runs.chunks import PILOT, Chunk, ChunkRuns, Labels, chunk_sizes
from dpaudit.auditor.scoring.directions import find_direction
from dpaudit.auditor.statistics.binning import Floats
from dpaudit.auditor.statistics.bounds import ClaimPoint

FEWEST_EACH: Final = 2**12
"""No pair is dropped before every pair has had this many runs."""

_CROWD: Final = 8
"""Of more pairs than these with too few runs for that, the best quarter, and at least so many, get two fifths of the runs."""

_FIRST_SHARE: Final = (3, 5)
_PILOT_TIME: Final = 0.1
_LONGEST_PILOT_TIME: Final = 0.4
_BATCH: Final = 8
_FEWEST_TO_HALVE: Final = 2**9
_DOUBT: Final = 0.5
"""Standard errors of its counts on fresh runs that an event is discounted by; these runs do not flatter."""

_ROWS_FOR_PRECISION: Final = 2**15
_MOST_FINE: Final = 4

Merit: TypeAlias = tuple[float, float]
Ranking: TypeAlias = Callable[[tuple[Matrix, Labels], int], tuple[RankedEvent, ...]]
"""Events of a pair's runs, best first, for a bound on so many fresh runs."""


@dataclass(frozen=True)
class Pilot:
    """What the pilot chose and saw: the most promising pair, its runs, the bankroll as it is now, and the plan for the rest."""

    pair: int
    seen: list[ChunkRuns]
    bankroll: Bankroll
    plan: Plan


def run_pilot(course: Course, bankroll: Bankroll, rank: Ranking) -> Pilot:
    """Run all candidate pairs in turn while the label bettors play; each planned round ends with the less promising half dropped.

    Where a clock ends the pilot nothing is dropped before, since a replay could not know when; a dropped pair keeps its stake.

    Source: Jamieson and Talwalkar 2016 for dropping half at a time.
    """
    case = course.case
    seen: tuple[list[ChunkRuns], ...] = tuple([] for _ in case.subject.pairs)
    made: tuple[list[Chunk], ...] = tuple([] for _ in seen)
    alive, clock, sizes = list(case.attacked), Clock(case.seconds), enumerate(chunk_sizes(None))
    tallies: dict[int, Tally] = {}
    last = enough = False
    while not (last or enough):
        turns, last = _next_chunks(course, alive, sizes)
        with closing(course.rows(turns)) as rows:
            for chunk, runs in rows:
                seen[chunk.pair].append(runs)
                made[chunk.pair].append(chunk)
                if course.stopped_at is None:
                    course.bet(bankroll.observe(chunk.pair, runs.features, runs.labels))
                course.report("pilot", case.plan)
                clock.lap(chunk.pair, len(runs.labels))
                if chunk.pair == alive[-1]:
                    clock.mark(course.runs)
                    enough = _is_over(course, clock)
                    if enough:
                        break
        ends_round = last or enough or case.plan is not None
        looks = ends_round and course.stopped_at is None
        fine = _find_fine(course, {pair: seen[pair] for pair in alive}) if looks else []
        lens = (
            find_direction(course.case.manner.features, (join_runs(seen[pair], _ROWS_FOR_PRECISION) for pair in alive))
            if looks
            else None
        )
        if looks and (course.late or fine or lens is not None):
            # What the map had no columns for is read again through a wider one, before pairs are compared.
            for pair, again in course.read_again({pair: made[pair] for pair in alive}, fine, lens).items():
                seen[pair][:] = again
            clock.mark_repeat()
            tallies.clear()
            bankroll = teach_bankroll(course, first_line(case.lines), {pair: seen[pair] for pair in alive})
        if len(alive) > 1 and ends_round:
            merit = _estimate_promises(course, {pair: seen[pair] for pair in alive}, rank, tallies, decides=last)
            # Of pairs that promise the same, those of few records come first: one record matters most there.
            order = sorted(alive, key=lambda pair: (*(-part for part in merit[pair]), not case.subject.pairs[pair].is_part, pair))
            alive = sorted(order[:1] if last or enough else _kept(course, order))
            for pair in merit.keys() - set(alive):
                seen[pair].clear()  # much memory, not read again
    return Pilot(alive[0], seen[alive[0]], bankroll, case.plan or with_pilot(course.runs, _affordable(course, clock, alive[0])))


def teach_bankroll(course: Course, point: ClaimPoint, seen: Mapping[int, Sequence[ChunkRuns]]) -> Bankroll:
    """Return a bankroll against `point` that learned from pilot runs: only what it gains afterwards multiplies the wealth."""
    bankroll = Bankroll(point, course.case.manner.features.groups)
    for pair in seen:
        bankroll.open(pair, 1 / len(seen))
    for pair, parts in seen.items():
        for runs in parts:
            bankroll.observe(pair, runs.features, runs.labels)
    course.learned = bankroll.log_wealth - course.log_wealth
    return bankroll


def _find_fine(course: Course, seen: Mapping[int, Sequence[ChunkRuns]]) -> list[Fine]:
    """Return the places whose precision or last bits differ between the datasets of a pair."""
    features, rows = course.case.manner.features, max(1, _ROWS_FOR_PRECISION // len(seen))
    samples = [join_runs(parts, rows) for parts in seen.values()]
    found = (
        find_fine(path, [(columns[:, column], labels) for columns, labels in samples])
        for path, column in single_places(features).items()
    )
    return list(islice((one for one in found if one is not None), max(0, _MOST_FINE - len(features.fine))))


def _next_chunks(course: Course, alive: list[int], sizes: Iterator[tuple[int, int]]) -> tuple[list[Chunk], bool]:
    """Return the chunks up to the end of a round, and whether the planned pilot ends with them."""
    case, chunks = course.case, list[Chunk]()
    if case.plan is None:
        # Doubling batches; the clock is read between them and inside.
        return [Chunk(case.position, pair, PILOT, *next_one) for next_one in islice(sizes, _BATCH) for pair in alive], False
    pairs = len(case.attacked)
    rounds = max(1, (pairs - 1).bit_length())
    left = case.plan.pilot - course.runs
    later = max(0, (len(alive) - 1).bit_length() - 1) if case.seconds == math.inf else 0
    here = left - later * case.plan.pilot // rounds
    if later and course.runs // len(alive) + here // len(alive) < FEWEST_EACH:
        # Too few runs to drop half again and again, and the best of a crowd by few runs is often one by chance.
        first = case.seconds == math.inf and len(alive) == pairs > _CROWD
        here = left * _FIRST_SHARE[0] // _FIRST_SHARE[1] if first else left
    last = here == left
    for index, size in sizes:
        step = min(size, here // len(alive))
        chunks += [Chunk(case.position, pair, PILOT, index, step) for pair in alive if step]
        here -= step * len(alive)
        if here < len(alive):
            break
    return chunks, last


def _kept(course: Course, order: Sequence[int]) -> list[int]:
    """Return the pairs, best first, that go on to the next round."""
    if course.case.plan is None or course.runs // len(order) >= FEWEST_EACH or len(order) <= _CROWD:
        return list(order[: (len(order) + 1) // 2])
    count = max(_CROWD, len(order) // 4)
    # What shows at a record alone, of outputs near an end of their range, shows late.
    alone = [pair for pair in order if _is_to_nothing(course.case.subject.pairs[pair])]
    promising = [pair for pair in order if pair in course.case.promising]
    return list(dict.fromkeys([*promising[:1], *alone[:1], *order]))[:count]


def _is_to_nothing(pair: Neighbours) -> bool:
    """True if one of two datasets holds no record."""
    return any(isinstance(side, Sized) and len(side) == 0 for side in (pair.first, pair.second))


def _is_over(course: Course, clock: Clock) -> bool:
    """True if a refutation or the time ends the pilot."""
    if course.stopped_at is not None and course.case.stops_early and course.runs >= ENOUGH_TO_CHOOSE:
        return True
    share = _PILOT_TIME if course.runs >= FEWEST_PILOT_RUNS else _LONGEST_PILOT_TIME
    most = course.case.subject.target.most_runs or math.inf
    return course.case.plan is None and (clock.share >= share or course.runs >= min(MOST_PILOT, most / 2))


def _affordable(course: Course, clock: Clock, pair: int) -> int:
    """Return the runs after the pilot, all of one pair, that the time left and the target's limit allow."""
    most = course.case.subject.target.most_runs
    left = clock.affordable(pair if course.case.executor is None else None)
    return left if most is None else max(0, min(left, most - course.runs - course.case.checked))


def _estimate_promises(
    course: Course, seen: Mapping[int, Sequence[ChunkRuns]], rank: Ranking, tallies: dict[int, Tally], *, decides: bool
) -> dict[int, Merit]:
    """Estimate what each pair promises, by counts where outputs or cells are few, else by the events that its runs suggest.

    Of so few runs that no event promises anything, the contrast of the outputs remains. Where this `decides` the pair, it is the
    bound at its end that counts: rare events show little in the runs of a pilot, and may be worth most in those that follow.
    """
    case, point = course.case, first_line(course.case.lines)
    # Where a clock ends the pilot, what follows it is not known here.
    runs = course.runs if case.plan is None or case.seconds < math.inf else case.plan.bound
    if not _update_tallies(seen, tallies, case.manner.features.groups):
        joined, delta = {pair: join_runs(parts) for pair, parts in seen.items()}, float(point.delta)
        bound_of = partial(expected_bound, point=point, final_runs=runs, alpha=case.half) if decides else None
        return {pair: (_estimate_promise(rows, rank, delta, bound_of), contrast(*rows, delta)[1]) for pair, rows in joined.items()}
    datasets = [pair.first for pair in case.subject.pairs]
    firsts = [next(place for place, other in enumerate(datasets) if other is dataset) for dataset in datasets]
    found = expected_bounds(tallies, firsts, point=point, final_runs=runs, alpha=case.half)
    fresh = held_out_bounds(_halve(seen, tallies), firsts, point=point, final_runs=runs, alpha=case.half)
    return {pair: (max(found[pair], fresh[pair]), 0.0) for pair in seen}


def _halve(seen: Mapping[int, Sequence[ChunkRuns]], tallies: Mapping[int, Tally]) -> list[dict[int, Tally]]:
    """Return the tallies of each half of the runs of each pair."""
    halves: list[dict[int, Tally]] = [{}, {}]
    for pair, parts in seen.items():
        features, labels = join_runs(parts)
        middle = len(labels) // 2
        for half, rows in zip(halves, (slice(0, middle), slice(middle, None)), strict=True):
            tally = tally_of(features[rows], labels[rows], tallies[pair].cells)
            if tally is not None:  # a half has no more different outputs than all runs
                half[pair] = tally
    return halves


def _update_tallies(seen: Mapping[int, Sequence[ChunkRuns]], tallies: dict[int, Tally], groups: Sequence[int]) -> bool:
    """Bring the tallies up to date, all of the same cells; False, and no tally, where outputs and cells are too many."""
    cells: Cells | None = next((tally.cells for tally in tallies.values()), ())
    while cells is not None:
        for pair, parts in seen.items():
            tally = tally_of(*join_runs(parts), cells)
            if tally is None:
                break
            tallies[pair] = tally
        else:
            return True
        tallies.clear()
        first = [join_runs(parts, ROWS_TO_CUT // len(seen))[0] for parts in seen.values()]
        cells = cells_of(np.concatenate(first), groups)
    return False


def _estimate_promise(
    rows: tuple[Matrix, Labels], rank: Ranking, delta: float, bound_of: Callable[[Floats, Floats], Floats] | None = None
) -> float:
    """Estimate what a pair promises: the bound that each half of its runs predicts, and half of what the other half shows.

    The prediction flatters, being the best of many, and what other runs show of a rare event is noisy: both together err less often
    than either. With `bound_of`, which gives the bound expected at a log-ratio and a mass, only what the other half shows counts.
    """
    features, labels = rows
    if len(labels) < (FEWEST_EACH if bound_of is None else _FEWEST_TO_HALVE):
        return max((best.predicted for best in rank(rows, len(labels))[:1]), default=0.0)
    halves = slice(0, len(labels) // 2), slice(len(labels) // 2, len(labels))
    merit = 0.0
    for one, other in (halves, halves[::-1]):
        for best in rank((features[one], labels[one]), len(labels))[:1]:
            if bound_of is None:
                merit += best.predicted + _log_ratio_on(best, features[other], labels[other], delta) / 2
            else:
                merit += float(bound_of(*_seen_on(best, features[other], labels[other]))[0]) / 2
    return merit


def _seen_on(ranked: RankedEvent, features: Matrix, labels: Labels) -> tuple[Floats, Floats]:
    """Return the log-ratio of an event on fresh runs, less part of its standard error, and its mass."""
    hits = labels[ranked.event.hits(features)]
    ones, zeros = hits.sum() + 0.5, len(hits) - hits.sum() + 0.5
    ratio = math.log(zeros / ones if ranked.reverse else ones / zeros) - _DOUBT * math.sqrt(1 / ones + 1 / zeros)
    return np.array([ratio]), np.array([(len(hits) + 0.5) / (len(labels) + 1)])


def _log_ratio_on(ranked: RankedEvent, features: Matrix, labels: Labels, delta: float) -> float:
    """Return the log-ratio of an event on fresh runs, less what delta excuses; 0 where that is nothing."""
    hits = labels[ranked.event.hits(features)]
    ones, zeros = hits.sum() + 0.5, len(hits) - hits.sum() + 0.5
    theta = float((zeros if ranked.reverse else ones) / (ones + zeros))
    mass = (len(hits) + 0.5) / (len(labels) + 1)
    return math.log(max(theta - delta / (2 * mass), 1 - theta) / (1 - theta))
