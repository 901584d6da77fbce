"""The trial of one claim: pilot, betting, bound; every choice is made on runs other than those it is judged by."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Final

from dpaudit.auditor.attack.course import Case, Course, join_runs, late_chunks
from dpaudit.auditor.attack.minimal import minimal_pair
from dpaudit.auditor.attack.pilot import Pilot, run_pilot
from dpaudit.auditor.attack.plans import RUNS_AFTER_REFUTATION, Plan
from dpaudit.auditor.attack.second_look import WIDE, best_event, runs_to_look
from dpaudit.auditor.betting.bankroll import Bankroll
from dpaudit.auditor.checks.independence import check_independence
from dpaudit.auditor.data.disclosure import shows_values
from dpaudit.auditor.events.points import easiest_line, first_line
from dpaudit.auditor.events.ranking import SHORT, RankedEvent, Shortlist, rank_events
from dpaudit.auditor.events.words import describe_event
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.auditor.reading.outputs import Matrix
from dpaudit.auditor.reading.unread import unread_in
from dpaudit.auditor.runs.chunks import BETTING, BOUND, PILOT, ChunkRuns, Labels
from dpaudit.auditor.statistics.bounds import ClaimPoint, epsilon_lower_bound, p_value
from dpaudit.auditor.statistics.power import detectable_epsilon
from dpaudit.results import Attack, Bound, Counts, Pair, Power, Property, Unread
from dpaudit.targets import Target

POWER: Final = 0.9

_ROWS_TO_RANK: Final = 2**17
_ROWS_TO_SCREEN: Final = 2**15
_ROWS_TO_SCREEN_MANY: Final = 2**13
"""Where several pairs are judged: which pair tells most is seen on fewer rows than which event does."""

_MOST_CELLS: Final = 2**26
_ROWS_FOR_LINES: Final = 2**14
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
    """The attack, the point it tested, whether the runs were independent, and how many runs of the plan were not needed.

    `case` is the one that was attacked, with the feature map that the pilot ended with.
    """

    attack: Attack
    point: ClaimPoint
    independence: Property
    spare: int
    case: Case


def try_claim(case: Case) -> Trial:
    """Attack the claim of one target, and make the pair that refutes it smaller."""
    trial = _attack(case)
    if trial.independence.status == "violated":
        return trial
    found = minimal_pair(
        trial.case, trial.attack, trial.point, spare=trial.spare, attacked=lambda one: _attack(one).attack, shown=pair_of
    )
    if found is None:
        return trial
    return replace(trial, attack=replace(trial.attack, minimal=found, runs=trial.attack.runs + found.runs))


def _attack(case: Case) -> Trial:
    """The attack on the candidate pairs of a case."""
    course, pairs = Course(case), case.subject.pairs
    bankroll = Bankroll(first_line(case.lines), case.manner.features.groups)
    for place in case.attacked:
        bankroll.open(place, 1 / len(case.attacked))
    start = first_line(case.lines)

    def rank(rows: tuple[Matrix, Labels], runs: int) -> tuple[RankedEvent, ...]:
        return _rank(course.case, *_first(rows, _ROWS_TO_RANK), start, runs, screen=_ROWS_TO_SCREEN_MANY)

    piloted = run_pilot(course, bankroll, rank)
    case, plan, known = course.case, piloted.plan, list(piloted.seen)
    pilot = join_runs(known, _ROWS_TO_RANK)
    choice = _choose(case, piloted.pair, pilot, plan)
    if course.stopped_at is None and choice.events:
        known += _bet_on(course, choice, piloted)
    runs = plan.bound if course.stopped_at is None else min(_left(case, plan), RUNS_AFTER_REFUTATION)
    ranked, runs = _best_event(course, choice, known, runs, plan)
    bound = None if ranked is None else _bound(course, choice, ranked, runs, plan)
    sequential = course.sequential()
    least = sequential.p_value if bound is None else min(sequential.p_value, bound.p_value)
    unread = _unread(course)
    # Nothing would have been found in what was not read.
    told = course.stopped_at is None and unread is None
    attack = Attack(
        pair=pair_of(case.subject.target, choice.pair, pairs[choice.pair]),
        pairs_tried=len(case.attacked),
        event="" if ranked is None else describe_event(case.manner.features, ranked, shown=shows_values(case.subject.target)),
        sequential=sequential,
        bound=bound,
        power=_power(case, choice.point, ranked, runs) if told else Power(None, None, POWER),
        p_value=min(1.0, 2 * least),
        alpha=case.alpha,
        runs=course.runs + case.checked,
        seed_path=(case.position, choice.pair),
        plan=(plan.pilot, plan.betting, plan.bound),
        unread=unread,
    )
    independence = check_independence(*pilot)
    if independence.status == "not run":
        independence = check_independence(*join_runs(known, _ROWS_TO_RANK))
    return Trial(attack, choice.point, independence, plan.total - course.runs, case)


def _unread(course: Course) -> Unread | None:
    """What was not read in any stage and pair."""
    parts = sorted(course.tallies.items())
    return unread_in(*([tally for (stage, _), tally in parts if (stage == PILOT) == first] for first in (True, False)))


def _left(case: Case, plan: Plan) -> int:
    """Runs that the bound may take after the pilot of an early refutation: half of them where a smaller pair is looked for."""
    given = isinstance(case.subject.target.neighbours, Sequence)
    return (plan.betting + plan.bound) // (1 if given else 2)


def _first(rows: tuple[Matrix, Labels], most: int) -> tuple[Matrix, Labels]:
    """The first rows with their labels."""
    return rows[0][:most], rows[1][:most]


def _choose(case: Case, pair: int, pilot: tuple[Matrix, Labels], plan: Plan) -> Choice:
    """Point and events for a pair, on its first pilot runs only."""

    def rank(point: ClaimPoint, rows: int = _ROWS_TO_RANK) -> tuple[RankedEvent, ...]:
        return _rank(case, *_first(pilot, rows), point, plan.bound)

    start = first_line(case.lines)
    if len(case.lines) == 1:
        return Choice(pair, start, rank(start))
    point = easiest_line(case.lines, lambda line: rank(line, _ROWS_FOR_LINES), plan.bound)
    return Choice(pair, point, rank(point))


def _bet_on(course: Course, choice: Choice, piloted: Pilot) -> list[ChunkRuns]:
    """Bets on the chosen pair and events, on fresh runs; returns those runs."""
    case, bankroll, plan = course.case, piloted.bankroll, piloted.plan
    if choice.point != first_line(case.lines):
        # The bettor of the new point learns from the pilot; only what it gains afterwards multiplies the wealth.
        bankroll = Bankroll(choice.point, case.manner.features.groups)
        bankroll.open(choice.pair, 1.0)
        for runs in piloted.seen:
            bankroll.observe(choice.pair, runs.features, runs.labels)
        course.learned = bankroll.log_wealth - course.log_wealth
    bankroll.concentrate(choice.pair, choice.events)
    parts = []
    with closing(course.rows(late_chunks(case, choice.pair, BETTING, plan.betting))) as rows:
        for _, runs in rows:
            parts.append(runs)
            course.bet(bankroll.observe(choice.pair, runs.features, runs.labels))
            course.tell("betting", plan)
            if course.stopped_at is not None:
                break
    return parts


def _best_event(
    course: Course, choice: Choice, known: Sequence[ChunkRuns], runs: int, plan: Plan
) -> tuple[RankedEvent | None, int]:
    """The event for the bound, and how many of the runs are left for that.

    It is chosen on earlier runs of the pair, on as many as fit into memory, and before a long bound on some of its runs besides.
    """
    case = course.case
    if not choice.events or runs == 0:
        return None, runs
    rows, looked = max(_ROWS_TO_RANK, _MOST_CELLS // known[0].features.shape[1]), runs_to_look(runs)
    shortlist = WIDE if looked else SHORT
    found = _rank(case, *join_runs(known, rows), choice.point, runs - looked, shortlist=shortlist) or choice.events
    if not looked:
        return found[0], runs
    return best_event(course, choice.pair, found, point=choice.point, looked=looked, plan=plan), runs - looked


def _bound(course: Course, choice: Choice, ranked: RankedEvent, runs: int, plan: Plan) -> Bound:
    """The one-binomial bound on fresh runs, whose number was fixed before the first of them."""
    case, ones, zeros = course.case, 0, 0
    with closing(course.hits(late_chunks(case, choice.pair, BOUND, runs), (ranked.event,))) as hits:
        for (counts,) in hits:
            ones, zeros = ones + counts.ones, zeros + counts.zeros
            course.tell("bound", plan)
    counts = Counts(ones=zeros, zeros=ones, runs=runs) if ranked.reverse else Counts(ones=ones, zeros=zeros, runs=runs)
    return Bound(
        epsilon=epsilon_lower_bound(counts, delta=choice.point.delta, alpha=case.alpha / 2),
        delta=choice.point.delta,
        confidence=1 - case.alpha / 2,
        counts=counts,
        direction="reverse" if ranked.reverse else "forward",
        p_value=p_value(counts, point=choice.point),
    )


def _power(case: Case, point: ClaimPoint, ranked: RankedEvent | None, runs: int) -> Power:
    """The least violation that the bound would have found on the chosen event."""
    if ranked is None:
        return Power(None, None, POWER)
    least = detectable_epsilon(mass=ranked.mass, runs=runs, point=point, alpha=case.half, probability=POWER)
    factor = least / float(point.epsilon) if least is not None and point.epsilon > 0 else None
    return Power(least, factor, POWER)


def _rank(
    case: Case,
    features: Matrix,
    labels: Labels,
    point: ClaimPoint,
    runs: int,
    *,
    screen: int = _ROWS_TO_SCREEN,
    shortlist: Shortlist = SHORT,
) -> tuple[RankedEvent, ...]:
    """Events for a bound on `runs` fresh runs."""
    return rank_events(
        features,
        labels,
        point=point,
        final_runs=max(runs, 1),
        alpha=case.half,
        shortlist=shortlist,
        groups=case.manner.features.groups,
        screen=screen,
    )


def pair_of(target: Target, place: int, pair: Neighbours) -> Pair:
    """A pair as a result; the datasets themselves only where they are public."""
    witness = (_shown(pair.first), _shown(pair.second)) if shows_values(target) else None
    return Pair(place, pair.difference, witness)


def _shown(data: Any) -> str:
    """A dataset in at most a few hundred characters, without memory addresses."""
    short = reprlib.Repr()
    short.maxlist = short.maxtuple = short.maxdict = short.maxset = short.maxarray = _ITEMS_SHOWN
    short.maxstring = short.maxother = _LETTERS_SHOWN
    text = short.repr(data)
    return type(data).__name__ if " at 0x" in text else text
