"""The examination of one target: checks, attack, price, profile and proof, and its result in either case of the joint decision."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from dpaudit.auditor.attack.course import Case
from dpaudit.auditor.attack.plans import runs_to_search_within
from dpaudit.auditor.attack.trial import Trial, try_claim
from dpaudit.auditor.checks.independence import INDEPENDENT
from dpaudit.auditor.checks.prices import Log, Logs, check_same_noise, loss_of, price_of
from dpaudit.auditor.checks.properties import Checks, check_target
from dpaudit.auditor.checks.timing import time_runs
from dpaudit.auditor.data.disclosure import values_of, without_values
from dpaudit.auditor.data.records import copy_of
from dpaudit.auditor.diagnosis.diagnosing import diagnose
from dpaudit.auditor.events.points import stated_point
from dpaudit.auditor.progress import Progress
from dpaudit.auditor.request import Entry
from dpaudit.auditor.runs.chunks import PRICE, Chunk, Task, perform, sample_one
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.auditor.verdict.profiles import profile_epsilons, profile_of
from dpaudit.auditor.verdict.proof_lookup import ProofFinding
from dpaudit.auditor.verdict.proof_status import (
    Observed,
    asks_of_data,
    calls_of,
    doubt_proof,
    find_uncovered,
    is_alone,
    is_given_data,
    is_output_of_program,
    proof_of,
)
from dpaudit.auditor.verdict.verdicts import summary_of, verdict_of
from dpaudit.errors import TargetFailure, origin_of
from dpaudit.releases import recording
from dpaudit.results import Attack, Diagnosis, Price, ProfilePoint, Proof, Property, Settings, TargetResult, Verdict
from dpaudit.targets import Target

PRICE_RUNS: Final = 4
_NEARLY: Final = 0.9
_PACE_RUNS: Final = 16
_TIMED_SHARE: Final = 4
"""Part of an attack's runs that are made again to be timed."""

_PACE_STREAM: Final = 2**16
"""Index of the chunk that measures the pace, beyond those of the price."""

Listener: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True)
class Examined:
    """A target's p-value, and its result if the joint decision refutes the claim and if not: both are made where the target ran."""

    p_value: float
    refuted: TargetResult
    survived: TargetResult


@dataclass(frozen=True)
class Evidence:
    """What was found about one target before the claims are judged together.

    `returned` says whether each watched run gave the data to the program of its proof, and gave out what that returned.
    """

    properties: tuple[Property, ...] = ()
    attack: Attack | None = None
    point: ClaimPoint | None = None
    price: Price | None = None
    profile: tuple[ProfilePoint, ...] = ()
    proof: Proof | None = None
    returned: bool = False
    failure: str = ""
    diagnosis: Diagnosis | None = None

    @property
    def p_value(self) -> float:
        """The attack's p-value; 1 where there is none, or where dependent runs make it meaningless."""
        dependent = any(check.name == INDEPENDENT and check.status == "violated" for check in self.properties)
        return 1.0 if self.attack is None or dependent else self.attack.p_value


def examine_target(
    entry: Entry,
    position: int,
    count: int,
    proofs: Mapping[str, ProofFinding],
    *,
    settings: Settings,
    executor: Executor | None = None,
    progress: Listener | None = None,
) -> Examined:
    """Examine the target at a position among `count`, with the proof that it names if that was found."""
    finding = proofs.get(entry.target.proof)
    try:
        evidence = _collect_evidence(entry, settings, position, count, executor, progress, finding)
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:  # noqa: BLE001 - SystemExit and its like must not pass for an audit's end
        evidence = Evidence(failure=f"DPA413 its audit ended with {origin_of(error)}")
    refuted, survived = (_judge(entry, evidence, settings, rejects=rejects) for rejects in (True, False))
    return Examined(evidence.p_value, refuted, survived)


def case_of(
    entry: Entry, settings: Settings, position: int, count: int, checks: Checks, executor: Executor | None = None, pace: float = 0.0
) -> Case:
    """Return the case of one target among `count`; its `pace` in runs a second says how many a clock allows the search."""
    seconds = math.inf if settings.seconds is None else float(settings.seconds / count)
    return Case(
        subject=entry.subject,
        work=entry.work,
        manner=checks.manner,
        root=settings.seed,
        position=position,
        alpha=settings.alpha / count,
        lines=entry.lines,
        plan=entry.plan,
        seconds=seconds,
        executor=executor,
        checked=checks.runs + PRICE_RUNS + (_PACE_RUNS if _sets_pace(entry) else 0),
        places=checks.places,
        stops_early=settings.stop_early is not False,
        search=runs_to_search_within(seconds, pace, entry.target.most_runs) if entry.plan is None else entry.plan.search,
    )


def _sets_pace(entry: Entry) -> bool:
    """True if the search of a target gets as many runs as a clock allows."""
    return entry.plan is None and entry.subject.searched > 0


def _pace_of(entry: Entry, checks: Checks, root: int, position: int) -> float:
    """Measure runs a second on a few of them, since the checks before do much else."""
    began = time.monotonic()
    perform(Task(entry.work, root, Chunk(position, 0, PRICE, _PACE_STREAM, _PACE_RUNS), checks.manner))
    return _PACE_RUNS / max(time.monotonic() - began, 1e-6)


def _collect_evidence(
    entry: Entry,
    settings: Settings,
    position: int,
    count: int,
    executor: Executor | None,
    progress: Listener | None,
    finding: ProofFinding | None,
) -> Evidence:
    """Check and attack one target, and collect price, profile and proof."""
    unseen = proof_of(entry.target.proof, finding, None)
    properties: tuple[Property, ...] = ()
    try:
        checks = check_target(entry.subject, settings.seed, position)
        properties = checks.properties
        if checks.failure:
            return Evidence(properties, proof=unseen, failure=checks.failure)
        pace = _pace_of(entry, checks, settings.seed, position) if _sets_pace(entry) else 0.0
        case = case_of(entry, settings, position, count, checks, executor, pace)

        def tell(stage: str, done: int, planned: int | None, log_wealth: float) -> None:
            if progress is not None:
                wealth, threshold = log_wealth / math.log(10), case.log_threshold / math.log(10)
                progress(Progress(entry.target.name, position, count, stage, done, planned, wealth, threshold))

        tell("checks", case.checked, None if case.plan is None else case.plan.total + case.checked, 0.0)
        trial = try_claim(replace(case, listener=tell))
    except TargetFailure as failure:
        return Evidence(properties, proof=unseen, failure=str(failure))
    evidence = _gather_evidence(entry, trial, checks, _watch_runs(case, trial.attack.pair.index, finding), finding)
    if settings.asked is not None and settings.asked.timing:
        evidence = replace(evidence, properties=(*evidence.properties, _timed(trial, settings)))
    if _may_be_refuted(evidence, settings):
        tell("diagnosis", trial.attack.runs, trial.attack.runs, trial.attack.sequential.log10_wealth * math.log(10))
        evidence = replace(evidence, diagnosis=_explain(trial.case, trial.attack))
    tell("done", trial.attack.runs, trial.attack.runs, trial.attack.sequential.log10_wealth * math.log(10))
    return evidence


def _timed(trial: Trial, settings: Settings) -> Property:
    """Test the time that runs take on the first pair and on the one that was attacked."""
    case, runs = trial.case, trial.attack.runs // _TIMED_SHARE
    # The data themselves too, since time goes with their size more than with what was tested of the output.
    pairs = tuple(dict.fromkeys((0, trial.attack.pair.index)))
    return time_runs(case.subject, pairs, trial.point, root=settings.seed, position=case.position, runs=runs, alpha=settings.alpha)


def _may_be_refuted(evidence: Evidence, settings: Settings) -> bool:
    """True if the joint decision may refute the claim, or if it is refuted whatever that decision is."""
    return evidence.p_value <= settings.alpha or _verdict(evidence, settings, rejects=False)[0] is Verdict.REFUTED


def _explain(case: Case, attack: Attack) -> Diagnosis | None:
    """Diagnose a refutation; whatever goes wrong in doing so must not take the refutation away."""
    try:
        return diagnose(case, attack)
    except Exception:  # noqa: BLE001 - a function that has changed since may give anything
        return None


def _gather_evidence(
    entry: Entry, trial: Trial, checks: Checks, runs: tuple[Logs, bool, bool, str], finding: ProofFinding | None
) -> Evidence:
    """Add to the trial the price of what was logged, the privacy profile and the proof."""
    claim, (logs, returned, given, outside) = entry.target.claim, runs
    epsilons = profile_epsilons(claim, trial.point, trial.attack.bound)
    price = price_of(claim, logs, epsilons)
    shown = without_values(price, logs[1][0], checks.releases, entry.target)
    loss = loss_of(claim, logs[1][0]) if shown.value is not None else None
    properties = (*checks.properties, *trial.searched, trial.independence, check_same_noise(logs))
    seen = Observed(claim, logs, price, properties, returned, outside, is_alone(entry.target.function))
    return Evidence(
        properties=properties,
        attack=trial.attack,
        point=trial.point,
        price=shown,
        profile=profile_of(claim, loss, trial.attack.bound, epsilons),
        proof=proof_of(entry.target.proof, finding, seen),
        returned=returned and given,
    )


def _watch_runs(case: Case, pair: int, finding: ProofFinding | None) -> tuple[Logs, bool, bool, str]:
    """Run each dataset of the attacked pair; return logs, whether each run gave out what a program returned and gave it the data.

    Last is why the data are not those of the proof, "" where they are.
    What a proof assumes of data is checked on each dataset of the other pairs too, by one run.
    """
    code = None if finding is None else finding.code
    shown, given = list[bool](), list[bool]()
    outside: list[str] = []

    def log(number: int, label: int, run: int) -> Log:
        data = case.subject.pairs[number].side(label)
        rng = Chunk(case.position, number, PRICE, 2 * label + run, 1).generator(case.root, 1)
        with recording() as releases, calls_of(code) as calls:
            output = sample_one(case.subject.target, copy_of(data) if case.manner.copies else data, rng)
        shown.append(is_output_of_program(calls, output))
        given.append(is_given_data(calls, data))
        if finding is not None and (reason := find_uncovered(finding, calls, f"dataset {label + 1} of pair {number + 1}")):
            outside.append(reason)
        return tuple(releases)

    logs = (log(pair, 0, 0), log(pair, 0, 1)), (log(pair, 1, 0), log(pair, 1, 1))
    if asks_of_data(finding) and not outside:
        for number, one in enumerate(case.subject.pairs):
            if one.family:
                break  # values that are made up are not among those that a proof assumes
            for label in (0, 1) if number != pair else ():
                log(number, label, 0)
    return logs, all(shown), all(given), next(iter(outside), "")


def _verdict(evidence: Evidence, settings: Settings, *, rejects: bool, point: ClaimPoint | None = None) -> tuple[Verdict, str]:
    """Return verdict and summary, given whether the joint decision rejects the claim."""
    if evidence.attack is None:
        return Verdict.FAILED, f"The target failed to run: {evidence.failure.rstrip('.')}."
    return verdict_of(
        evidence.attack,
        evidence.properties,
        evidence.price,
        evidence.proof,
        point=point,
        returned=evidence.returned,
        rejected=rejects,
        power_target=settings.power_target,
    )


def _judge(entry: Entry, evidence: Evidence, settings: Settings, *, rejects: bool) -> TargetResult:
    """Return one target's result, with its verdict."""
    target = entry.target
    verdict, summary = _verdict(evidence, settings, rejects=rejects, point=stated_point(target.claim))
    return TargetResult(
        name=target.name,
        description=target.description,
        claim=summary_of(target.claim, evidence.point),
        verdict=verdict,
        summary=summary,
        reference=None if entry.reference is None else entry.reference.address,
        source=target.source,
        price=evidence.price,
        attack=evidence.attack,
        properties=evidence.properties,
        profile=evidence.profile,
        failure=evidence.failure,
        rejected_in_family=rejects,
        proof=doubt_proof(evidence.proof, verdict),
        values=values_of(target, settings),
        diagnosis=evidence.diagnosis if verdict is Verdict.REFUTED else None,
        most_runs=_limit_reached(target, evidence.attack, settings),
    )


def _limit_reached(target: Target, attack: Attack | None, settings: Settings) -> int | None:
    """Return the target's own limit of runs where it, and not what was asked for, ended the runs."""
    if attack is None or target.most_runs is None or attack.sequential.stopped_at is not None:
        return None
    # What a time allows is planned with a margin.
    ended = attack.runs >= _NEARLY * target.most_runs if settings.seconds is not None else settings.runs > target.most_runs
    return target.most_runs if ended else None
