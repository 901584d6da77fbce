"""`audit`: checks, price, attack and verdict for each target, under one error probability for all of them."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final, TypeAlias

import dpaudit
from dpaudit.auditor.bounds import ClaimPoint
from dpaudit.auditor.course import Case
from dpaudit.auditor.family import rejected
from dpaudit.auditor.independence import INDEPENDENT
from dpaudit.auditor.prices import Log, Logs, loss_of, price_of, same_noise
from dpaudit.auditor.profiles import profile_epsilons, profile_of
from dpaudit.auditor.progress import AuditInterrupted, Progress
from dpaudit.auditor.proof_lookup import ProofFinding, looked_up
from dpaudit.auditor.proof_status import Observed, doubted, gave_out, proof_of, returns_of
from dpaudit.auditor.properties import Checks, check_target
from dpaudit.auditor.records import copied
from dpaudit.auditor.request import Entry, Given, entries_of, settings_of
from dpaudit.auditor.runs import PRICE, Chunk, sample_one
from dpaudit.auditor.trial import Trial, try_claim
from dpaudit.auditor.verdicts import summary_of, verdict_of
from dpaudit.errors import InvalidArgument, TargetFailure
from dpaudit.exact import Exact
from dpaudit.releases import recording
from dpaudit.results import Attack, Price, ProfilePoint, Proof, Property, Report, Settings, TargetResult, Verdict

PRICE_RUNS: Final = 4

Listener: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True)
class Evidence:
    """What was found about one target before the claims are judged together."""

    properties: tuple[Property, ...] = ()
    attack: Attack | None = None
    point: ClaimPoint | None = None
    price: Price | None = None
    profile: tuple[ProfilePoint, ...] = ()
    proof: Proof | None = None
    failure: str = ""

    @property
    def p_value(self) -> float:
        """The attack's p-value; 1 where there is none, or where dependent runs make it meaningless."""
        dependent = any(check.name == INDEPENDENT and check.status == "violated" for check in self.properties)
        return 1.0 if self.attack is None or dependent else self.attack.p_value


def audit(  # noqa: PLR0913 - every argument but the first is an option given by name
    targets: Given | Sequence[Given],
    *,
    alpha: Exact = "0.05",
    runs: int | None = None,
    seconds: Exact | None = None,
    executor: Executor | None = None,
    seed: int = 0,
    power_target: Exact = "1.25",
    family: str = "holm",
    data: str | None = None,
    progress: Listener | None = None,
) -> Report:
    """Audit privacy claims: a certified price, an attack on neighbouring datasets, property checks, proofs, and a verdict for each.

    Args:
      targets: a Target, a name that `dpaudit.targets.load_targets` knows, a Reference, or a sequence of them; one claim each.
      alpha: probability of refuting any true claim, over all targets together, exact, from 1e-100 to below 1.
      runs: mechanism calls for each target in all, both datasets, all pairs and checks included, 500 to 2**40;
        1,000,000 unless given.
      seconds: time for the whole audit instead of `runs`, at most 10**9; turned into runs of each target at the end of its pilot.
      executor: any executor of `concurrent.futures` kind; None runs in this thread. The evidence does not depend on it.
      seed: root of all randomness, an integer from 0 on.
      power_target: a surviving claim is consistent if a violation by this factor would have been found, else inconclusive.
      family: "holm" or "bonferroni", how the claims share alpha.
      data: path of a CSV file whose records replace the data of targets given by name.
      progress: called with a `Progress` after every chunk of runs.
    Returns:
      A report with one result for each target, in their order. A claim that survives is never called private.
    Raises:
      InvalidArgument: an argument or a target's datasets are not usable (DPA101 to DPA109, DPA404, DPA407).
      Unsupported: neighbours cannot be made for the claim's adjacency (DPA409).
      TargetFailure: a target does not load (DPA401 to DPA406) or cannot be sent to workers (DPA408). Workers that fail later make
        one failed result of the target they were at.
      AuditInterrupted: the user interrupted; its `report` holds what was finished.
    Source: docs/auditing.md; docs/auditing_statistics.md.
    Example:
      >>> from dpaudit import Claim, PureDP, Target
      >>> leaky = Target(run=lambda data, rng: data + rng.laplace(), claim=Claim(PureDP(epsilon="1/2")), neighbours=[(0, 1)])
      >>> audit(leaky, runs=20_000, seed=7).results[0].verdict
      <Verdict.REFUTED: 'refuted'>
    """
    settings = settings_of(alpha=alpha, runs=runs, seconds=seconds, seed=seed, power_target=power_target, family=family, data=data)
    if progress is not None and not callable(progress):
        raise InvalidArgument("DPA105", f"progress must be a function of a Progress, got a {type(progress).__name__}.")
    entries = entries_of(targets, settings, executor)
    found: list[Evidence] = []
    times: list[tuple[str, float]] = []
    began = time.monotonic()
    try:
        proofs = looked_up(entry.target.proof for entry in entries)
        for position, entry in enumerate(entries):
            start = time.monotonic()
            finding = proofs.get(entry.target.proof)
            found.append(_examine(entry, settings, position, len(entries), executor, progress, finding))
            times.append((entry.target.name, time.monotonic() - start))
    except KeyboardInterrupt as interruption:
        raise AuditInterrupted(_report(entries, found, settings, times, began)) from interruption
    return _report(entries, found, settings, times, began)


def case_of(entry: Entry, settings: Settings, position: int, count: int, checks: Checks, executor: Executor | None = None) -> Case:
    """The case of one target among `count`."""
    return Case(
        subject=entry.subject,
        work=entry.work,
        manner=checks.manner,
        root=settings.seed,
        position=position,
        alpha=settings.alpha / count,
        lines=entry.lines,
        plan=entry.plan,
        seconds=math.inf if settings.seconds is None else float(settings.seconds / count),
        executor=executor,
        checked=checks.runs + PRICE_RUNS,
    )


def _examine(
    entry: Entry,
    settings: Settings,
    position: int,
    count: int,
    executor: Executor | None,
    progress: Listener | None,
    finding: ProofFinding | None,
) -> Evidence:
    """Checks, attack, price, profile and proof of one target."""
    checks = check_target(entry.subject, settings.seed, position)
    unseen = proof_of(entry.target.proof, finding, None)
    if checks.failure:
        return Evidence(checks.properties, proof=unseen, failure=checks.failure)
    case = case_of(entry, settings, position, count, checks, executor)
    tell = _teller(progress, entry.target.name, position, count, case.log_threshold)
    tell("checks", case.checked, None if case.plan is None else case.plan.total + case.checked, 0.0)
    try:
        trial = try_claim(replace(case, told=tell))
    except TargetFailure as failure:
        return Evidence(checks.properties, proof=unseen, failure=str(failure))
    evidence = _priced(entry, trial, checks, _logs(case, trial.attack.pair.index, finding), finding)
    tell("done", trial.attack.runs, trial.attack.runs, trial.attack.sequential.log10_wealth * math.log(10))
    return evidence


def _priced(entry: Entry, trial: Trial, checks: Checks, runs: tuple[Logs, bool], finding: ProofFinding | None) -> Evidence:
    """The evidence of a trial, with the price of what was logged, the privacy profile and the proof."""
    claim, (logs, returned) = entry.target.claim, runs
    epsilons = profile_epsilons(claim, trial.point, trial.attack.bound)
    price = price_of(claim, logs, epsilons)
    loss = loss_of(claim, logs[1][0]) if price.value is not None else None
    properties = (*checks.properties, trial.independence, same_noise(logs))
    return Evidence(
        properties=properties,
        attack=trial.attack,
        point=trial.point,
        price=price,
        profile=profile_of(claim, loss, trial.attack.bound, epsilons),
        proof=proof_of(entry.target.proof, finding, Observed(claim, logs, price, properties, returned)),
    )


def _logs(case: Case, pair: int, finding: ProofFinding | None) -> tuple[Logs, bool]:
    """The logs of two runs on each dataset of the attacked pair, and whether each gave out what a proven program returned."""
    code = None if finding is None else finding.code
    shown: list[bool] = []

    def log(label: int, run: int) -> Log:
        data = case.subject.pairs[pair].side(label)
        rng = Chunk(case.position, pair, PRICE, 2 * label + run, 1).generator(case.root, 1)
        with recording() as releases, returns_of(code) as returned:
            output = sample_one(case.subject.target, copied(data) if case.manner.copies else data, rng)
        shown.append(gave_out(returned, output))
        return tuple(releases)

    logs = (log(0, 0), log(0, 1)), (log(1, 0), log(1, 1))
    return logs, all(shown)


def _teller(
    progress: Listener | None, name: str, position: int, count: int, log_threshold: float
) -> Callable[[str, int, int | None, float], None]:
    """A function that turns what a trial tells into `Progress`."""

    def tell(stage: str, done: int, planned: int | None, log_wealth: float) -> None:
        if progress is not None:
            scale = math.log(10)
            progress(Progress(name, position, count, stage, done, planned, log_wealth / scale, log_threshold / scale))

    return tell


def _report(
    entries: Sequence[Entry], found: Sequence[Evidence], settings: Settings, times: Sequence[tuple[str, float]], began: float
) -> Report:
    """The claims judged together; those that were not finished count as not refuted."""
    p_values = [evidence.p_value for evidence in found] + [1.0] * (len(entries) - len(found))
    decisions = rejected(p_values, settings.alpha, settings.family)
    return Report(
        settings=settings,
        results=tuple(
            _result(entry, evidence, settings, rejects=rejects)
            for entry, evidence, rejects in zip(entries, found, decisions, strict=False)
        ),
        env=_environment(),
        seconds=tuple(sorted((*times, ("total", time.monotonic() - began)))),
        complete=len(found) == len(entries),
        version=dpaudit.__version__,
    )


def _result(entry: Entry, evidence: Evidence, settings: Settings, *, rejects: bool) -> TargetResult:
    """One target's result, with its verdict."""
    target = entry.target
    verdict, summary = Verdict.FAILED, f"The target failed to run: {evidence.failure}."
    if evidence.attack is not None:
        verdict, summary = verdict_of(
            evidence.attack, evidence.properties, evidence.price, rejected=rejects, power_target=settings.power_target
        )
    return TargetResult(
        name=target.name,
        description=target.description,
        claim=summary_of(target.claim, evidence.point),
        verdict=verdict,
        summary=summary,
        reference=entry.name,
        source=target.source,
        price=evidence.price,
        attack=evidence.attack,
        properties=evidence.properties,
        profile=evidence.profile,
        failure=evidence.failure,
        rejected_in_family=rejects,
        proof=doubted(evidence.proof, verdict),
    )


def _environment() -> tuple[tuple[str, str], ...]:
    """Versions that the numbers may depend on."""
    names = ("dpaudit", "numpy", "scipy", "python-flint", "hypothesis")
    found = [(name, _version(name)) for name in names]
    found += [("python", platform.python_version()), ("platform", f"{platform.system()} {platform.machine()}")]
    return tuple(sorted(found))


@cache
def _version(name: str) -> str:
    """The installed version of a distribution; this package's own also where it is not installed."""
    if name == "dpaudit":
        return dpaudit.__version__
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
