"""The trial of one claim: pilot, betting, bound; every choice is tested on fresh runs."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpaudit.auditor.attack.course import Case, Course, join_runs, late_chunks
from dpaudit.auditor.attack.distances import Probes, probes_of, rarer_outputs
from dpaudit.auditor.attack.edges import UNLIKELY, edge_events
from dpaudit.auditor.attack.minimal import minimal_pair
from dpaudit.auditor.attack.pilot import Pilot, run_pilot, teach_bankroll
from dpaudit.auditor.attack.plans import RUNS_AFTER_REFUTATION, Plan
from dpaudit.auditor.attack.screening import screen_outputs
from dpaudit.auditor.attack.searching import search_pairs
from dpaudit.auditor.attack.second_look import WIDE, best_event, runs_to_look
from dpaudit.auditor.betting.bankroll import Bankroll
from dpaudit.auditor.checks.independence import check_independence
from dpaudit.auditor.data.disclosure import shows_values
from dpaudit.auditor.events.points import easiest_line, excess, first_line
from dpaudit.auditor.events.ranking import SHORT, RankedEvent, Shortlist, rank_events
from dpaudit.auditor.events.words import describe_event
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.auditor.reading.unread import unread_in
from dpaudit.auditor.runs.chunks import BETTING, BOUND, PILOT, ChunkRuns, Labels
from dpaudit.auditor.statistics.bounds import ClaimPoint, epsilon_lower_bound, mu_lower_bound, p_value
from dpaudit.auditor.statistics.power import detectable_epsilon, detectable_share
from dpaudit.claims import GDP
from dpaudit.exact import float_outward
from dpaudit.results import Attack, Bound, Counts, Pair, Power, Property, Unread
from dpaudit.targets import Target

POWER: Final = 0.9

RUNS_FOR_SMALLER: Final = 150_000
"""Runs that are kept for smaller pairs: as many as their search takes at most."""

_ROWS_TO_RANK: Final = 2**17
_ROWS_TO_SCREEN: Final = 2**15
_ROWS_TO_SCREEN_MANY: Final = 2**13
"""Where several pairs are judged: fewer rows suffice to choose among pairs than among events."""

_MOST_CELLS: Final = 2**26
_ROWS_FOR_LINES: Final = 2**14
_CLEARLY: Final = 1.5
"""Standard deviations by which an end of the outputs has to promise more than the best event."""

_MOST_EDGES: Final = 4
_SHARE_OF_EDGES: Final = Fraction(1, 10)
"""Part of the error probability that pays for ends of the outputs which are tested beside the best event."""

_ITEMS_SHOWN: Final = 24
_LETTERS_SHOWN: Final = 400


@dataclass(frozen=True)
class Choice:
    """What the pilot chose: the pair, the point of the claim, and the events, best first."""

    pair: int
    point: ClaimPoint
    events: tuple[RankedEvent, ...]


@dataclass(frozen=True)
class Trial:
    """The attack, its point, the check of independence, runs left, the case with its last map, what was searched or left open."""

    attack: Attack
    point: ClaimPoint
    independence: Property
    spare: int
    case: Case
    searched: tuple[Property, ...] = ()


def try_claim(case: Case) -> Trial:
    """Attack the claim of one target, and make the pair that refutes it smaller."""
    case, searched = search_pairs(case)
    trial = _attack(case)
    trial = replace(trial, searched=(*searched, *trial.searched))
    if case.seconds < math.inf and case.search:
        trial = replace(trial, attack=replace(trial.attack, searched=case.search))
    if trial.independence.status == "violated":
        return trial
    found = minimal_pair(
        trial.case, trial.attack, trial.point, spare=trial.spare, attacked=lambda one: _attack(one).attack, shown=pair_of
    )
    if found is None:
        return trial
    return replace(trial, attack=replace(trial.attack, minimal=found, runs=trial.attack.runs + found.runs))


def _attack(case: Case) -> Trial:
    """Attack the candidate pairs of a case."""
    case, screening = screen_outputs(case)
    course, pairs, start = Course(case), case.subject.pairs, first_line(case.lines)
    course.runs += 0 if screening is None else screening.runs
    bankroll = Bankroll(start, case.manner.features.groups)
    for place in case.attacked:
        bankroll.open(place, 1 / len(case.attacked))

    def rank(rows: tuple[Matrix, Labels], runs: int) -> tuple[RankedEvent, ...]:
        return _rank(course.case, rows, start, runs, screen=_ROWS_TO_SCREEN_MANY)

    piloted = run_pilot(course, bankroll, rank)
    case, plan, known = course.case, piloted.plan, list(piloted.seen)
    pilot = join_runs(known, _ROWS_TO_RANK)
    choice = _choose(case, piloted.pair, pilot, plan)
    against = start if course.stopped_at is not None else choice.point
    if course.stopped_at is None and choice.events:
        known += _bet_on(course, choice, piloted)
    runs = plan.bound if course.stopped_at is None else _left(case, plan, course.runs)
    events, runs = _best_events(course, choice, known, runs, plan)
    probes = probes_of(events[0], pilot[0]) if events else Probes()
    ranked, bound = _bound(course, choice, events, runs, plan, probes) if events else (None, None)
    sequential = course.sequential()
    if course.stopped_at is not None and against == choice.point:
        sequential = replace(sequential, rejected=against.epsilon)
    least = sequential.p_value if bound is None else min(sequential.p_value, bound.p_value)
    unread = _unread(course)
    # Nothing would have been found in what was not read.
    has_power = course.stopped_at is None and unread is None
    attack = Attack(
        pair=pair_of(case.subject.target, choice.pair, pairs[choice.pair]),
        pairs_tried=len(case.attacked),
        event="" if ranked is None else describe_event(case.manner.features, ranked, shown=shows_values(case.subject.target)),
        sequential=sequential,
        bound=bound,
        power=_power(case, choice.point, events, runs) if has_power else Power(None, None, POWER),
        p_value=min(1.0, 2 * least),
        alpha=case.alpha,
        runs=course.runs + case.checked,
        seed_path=(case.position, choice.pair),
        plan=(plan.pilot, plan.betting, plan.bound),
        unread=unread,
        screening=screening,
    )
    independence = check_independence(*pilot)
    if independence.status == "not run":
        independence = check_independence(*join_runs(known, _ROWS_TO_RANK))
    rarer = () if course.stopped_at is not None else rarer_outputs(case.subject.target.claim, choice.point, probes)
    return Trial(attack, choice.point, independence, plan.total - course.runs, case, rarer)


def _unread(course: Course) -> Unread | None:
    """Return what was not read in any stage and pair."""
    parts = sorted(course.tallies.items())
    return unread_in(*([tally for (stage, _), tally in parts if (stage == PILOT) == first] for first in (True, False)))


def _left(case: Case, plan: Plan, done: int) -> int:
    """Return the runs of the bound after an early refutation, at most half of the rest where a smaller pair is looked for."""
    left, given = plan.total - done, isinstance(case.subject.target.neighbours, Sequence)
    if case.stops_early:
        return min((plan.betting + plan.bound) // (1 if given else 2), left, RUNS_AFTER_REFUTATION)
    return left if given else max(left // 2, left - RUNS_FOR_SMALLER)


def _choose(case: Case, pair: int, pilot: tuple[Matrix, Labels], plan: Plan) -> Choice:
    """Choose point and events for a pair, on its first pilot runs only."""

    def rank(point: ClaimPoint, rows: int = _ROWS_TO_RANK) -> tuple[RankedEvent, ...]:
        return _rank(case, pilot, point, plan.bound, most=rows)

    start = first_line(case.lines)
    if len(case.lines) == 1:
        return Choice(pair, start, rank(start))
    point = easiest_line(case.lines, lambda line: rank(line, _ROWS_FOR_LINES), plan.bound)
    return Choice(pair, point, rank(point))


def _bet_on(course: Course, choice: Choice, piloted: Pilot) -> list[ChunkRuns]:
    """Bet on the chosen pair and events, on fresh runs; return those runs."""
    case, bankroll, plan = course.case, piloted.bankroll, piloted.plan
    if choice.point != first_line(case.lines):
        bankroll = teach_bankroll(course, choice.point, {choice.pair: piloted.seen})
    bankroll.concentrate(choice.pair, choice.events)
    parts = []
    with closing(course.rows(late_chunks(case, choice.pair, BETTING, plan.betting))) as rows:
        for _, runs in rows:
            parts.append(runs)
            course.bet(bankroll.observe(choice.pair, runs.features, runs.labels))
            course.report("betting", plan)
            if course.stopped_at is not None:
                break
    return parts


def _best_events(
    course: Course, choice: Choice, known: Sequence[ChunkRuns], runs: int, plan: Plan
) -> tuple[list[RankedEvent], int]:
    """Return the event for the bound, chosen on earlier runs and before a long bound on some of its own, and the runs left.

    Where no bound above the claim is in sight, an end of the outputs may still break it: a clear one is the event, and others are
    tested beside it.
    """
    case = course.case
    if not choice.events or runs == 0:
        return [], runs
    # As many earlier runs of the pair as fit into memory.
    rows, looked = max(_ROWS_TO_RANK, _MOST_CELLS // known[0].features.shape[1]), runs_to_look(runs)
    shortlist = WIDE if looked else SHORT
    seen = join_runs(known, rows)
    found = _rank(case, seen, choice.point, runs - looked, most=rows, shortlist=shortlist) or choice.events
    edges = list[RankedEvent]()
    if course.stopped_at is None and found[0].predicted <= choice.point.epsilon:
        ends = edge_events(*seen, choice.point)
        edges = [event for _, event in ends[:_MOST_EDGES]]
        clear = ends and ends[0][0] <= UNLIKELY
        if clear and excess(edges[0], choice.point, runs) > excess(found[0], choice.point, runs) + _CLEARLY:
            return [edges[0], found[0], *edges[1:]], runs
    if not looked:
        return [found[0], *edges], runs
    best = best_event(course, choice.pair, found, point=choice.point, looked=looked, plan=plan)
    return [best, *edges], runs - looked


def _shares(events: Sequence[RankedEvent]) -> list[Fraction]:
    """Return the shares of the error probability of events that are tested together: most of it for the first one."""
    others = len(events) - 1
    return [1 - _SHARE_OF_EDGES, *[_SHARE_OF_EDGES / others] * others] if others else [Fraction(1)]


def _bound(
    course: Course, choice: Choice, events: Sequence[RankedEvent], runs: int, plan: Plan, probes: Probes | None = None
) -> tuple[RankedEvent, Bound]:
    """Compute the one-binomial bound on fresh runs, whose number was fixed before the first of them, and count probes beside it.

    The error probability is divided among the events, so that another one than the first may be taken where it refutes.
    """
    probes = probes or Probes()
    case, counted = course.case, (*(one.event for one in events), *probes.events)
    hits = [Counts(0, 0, 0)] * len(counted)
    with closing(course.hits(late_chunks(case, choice.pair, BOUND, runs), counted)) as chunks:
        for chunk in chunks:
            hits = [Counts(one.ones + new.ones, one.zeros + new.zeros, runs) for one, new in zip(hits, chunk, strict=True)]
            course.report("bound", plan)
    bounds, gaussian = list[Bound](), isinstance(case.subject.target.claim.guarantee, GDP)
    probes.counts += [replace(one, ones=one.zeros, zeros=one.ones) if events[0].reverse else one for one in hits[len(events) :]]
    for ranked, found, share in zip(events, hits[: len(events)], _shares(events), strict=True):
        counts = replace(found, ones=found.zeros, zeros=found.ones) if ranked.reverse else found
        bound = Bound(
            epsilon=epsilon_lower_bound(counts, delta=choice.point.delta, alpha=case.alpha / 2 * share),
            delta=choice.point.delta,
            confidence=1 - case.alpha / 2,
            counts=counts,
            direction="reverse" if ranked.reverse else "forward",
            p_value=min(1.0, float_outward(Fraction(p_value(counts, point=choice.point)) / share, up=True)),
            share=share,
            mu=mu_lower_bound(counts, case.alpha / 2 * share) if gaussian else None,
        )
        bounds.append(bound)
    # The p-value is that of all of them.
    best = min(range(len(bounds)), key=lambda place: bounds[place].p_value)
    place = best if bounds[best].p_value <= case.half else 0
    return events[place], replace(bounds[place], p_value=bounds[best].p_value)


def _power(case: Case, point: ClaimPoint, events: Sequence[RankedEvent], runs: int) -> Power:
    """Return the least violation that the bound would have found on the chosen event."""
    if not events:
        return Power(None, None, POWER)
    level = float(_shares(events)[0]) * case.half
    least = detectable_epsilon(mass=events[0].mass, runs=runs, point=point, alpha=level, probability=POWER)
    factor = least / float(point.epsilon) if least is not None and point.epsilon > 0 else None
    rarest = detectable_share(runs=runs, point=point, alpha=level, probability=POWER)
    return Power(least, factor, POWER, rarest)


def _rank(
    case: Case,
    rows: tuple[Matrix, Labels],
    point: ClaimPoint,
    runs: int,
    *,
    most: int = _ROWS_TO_RANK,
    screen: int = _ROWS_TO_SCREEN,
    shortlist: Shortlist = SHORT,
) -> tuple[RankedEvent, ...]:
    """Rank events for a bound on `runs` fresh runs by the first rows."""
    return rank_events(
        rows[0][:most],
        rows[1][:most],
        point=point,
        final_runs=max(runs, 1),
        alpha=case.half,
        shortlist=shortlist,
        groups=case.manner.features.groups,
        screen=screen,
    )


def pair_of(target: Target, place: int, pair: Neighbours) -> Pair:
    """Return a pair as a result; the datasets themselves only where they are public."""
    witness = (_shown(pair.first), _shown(pair.second)) if shows_values(target) else None
    return Pair(place, pair.difference, witness)


def _shown(data: Any) -> str:
    """Show a dataset in at most a few hundred characters, without memory addresses."""
    short = reprlib.Repr()
    short.maxlist = short.maxtuple = short.maxdict = short.maxset = short.maxarray = _ITEMS_SHOWN
    short.maxstring = short.maxother = _LETTERS_SHOWN
    text = short.repr(data)
    return type(data).__name__ if " at 0x" in text else text
