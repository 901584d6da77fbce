"""`audit`: every target examined, and the claims judged together under one error probability."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import cast

from dpaudit.auditor.examining import Examined, Listener, examine_target
from dpaudit.auditor.progress import AuditInterrupted
from dpaudit.auditor.request import Given, entries_of, settings_of
from dpaudit.auditor.statistics.family import reject_claims
from dpaudit.auditor.supervision.apart import can_supervise
from dpaudit.auditor.supervision.audits import Job, MakeExecutor, examine_apart, jobs_of, maker_of, proofs_of, require_supervision
from dpaudit.auditor.supervision.limits import Limits, limits_of
from dpaudit.auditor.verdict.proof_lookup import find_proofs
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact
from dpaudit.results import Report, Settings


def audit(  # noqa: PLR0913 - every argument but the first is an option given by name
    targets: Given | Sequence[Given],
    *,
    alpha: Exact = "0.05",
    runs: int | None = None,
    seconds: Exact | None = None,
    executor: Executor | Callable[[], Executor] | None = None,
    seed: int = 0,
    power_target: Exact = "1.25",
    family: str = "holm",
    data: str | None = None,
    show_values: bool = False,
    progress: Listener | None = None,
    supervised: bool = False,
    time_limit: Exact | None = None,
    memory_limit: int | str | None = None,
) -> Report:
    """Audit privacy claims: a certified price, an attack on neighbouring datasets, property checks, proofs, and a verdict for each.

    Args:
      targets: a Target, a name that `dpaudit.targets.load_targets` knows, a Reference, or a sequence of them; one claim each.
      alpha: probability of refuting any true claim, over all targets together, exact, from 1e-100 to below 1.
      runs: mechanism calls for each target in all, both datasets, all pairs and checks included, 500 to 2**40;
        1,000,000 unless given.
      seconds: time for the whole audit instead of `runs`, at most 10**9; turned into runs of each target at the end of its pilot.
      executor: any executor of `concurrent.futures` kind; None runs in this thread. The evidence does not depend on it. With
        `supervised`, a function that makes one, or a `RenewableExecutor`, since every target makes its own.
      seed: root of all randomness, an integer from 0 on.
      power_target: a surviving claim is consistent if a violation by this factor would have been found, else inconclusive.
      family: "holm" or "bonferroni", how the claims share alpha.
      data: path of a CSV file whose records replace the data of targets given by name.
      show_values: whether values of datasets and outputs may stand in the report also where the data are private.
      progress: called with a `Progress` after every chunk of runs.
      supervised: whether every target is loaded and run in a forked process of its own, so that whatever it does to its process, an
        exit, a crash or a hang, makes one failed result; also where one of the limits is given. Not a default here, since forking
        is not safe in programs with threads of their own; `dpaudit audit` and the pytest fixture always supervise. Where the system
        cannot fork, targets run in this process, and `env` of the report says so.
      time_limit: seconds for each target, above 0; it is ended then. Without it a target is ended after 600 seconds in
        which no call of its function came back.
      memory_limit: bytes for each target with all its processes, an integer or a text such as "4 GiB"; 4 GiB unless given.
    Returns:
      A report with one result for each target, in their order. A claim that survives is never called private.
    Raises:
      InvalidArgument: an argument or a target's datasets are not usable (DPA101 to DPA109, DPA404, DPA407); of a supervised target
        its datasets are its own failure.
      Unsupported: neighbours cannot be made for the claim's adjacency (DPA409), or limits cannot be kept here (DPA416).
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
    settings = settings_of(
        alpha=alpha,
        runs=runs,
        seconds=seconds,
        seed=seed,
        power_target=power_target,
        family=family,
        data=data,
        show_values=show_values,
    )
    if progress is not None and not callable(progress):
        raise InvalidArgument("DPA105", f"progress must be a function of a Progress, got a {type(progress).__name__}.")
    if supervised or time_limit is not None or memory_limit is not None:
        limits = limits_of(time_limit, memory_limit)
        if time_limit is not None or memory_limit is not None:
            require_supervision()
        return _audit_apart(targets, settings, limits, maker_of(executor), progress)
    # Whatever else the executor is, `entries_of` refuses it.
    return _audit_here(targets, settings, cast("Executor | None", executor), progress)


def _audit_here(
    targets: Given | Sequence[Given], settings: Settings, workers: Executor | None, progress: Listener | None
) -> Report:
    """Audit every target in this process: load them, find their proofs, examine one after the other, judge all together."""
    entries = entries_of(targets, settings, workers)
    found: list[Examined] = []
    times: list[tuple[str, float]] = []
    began = time.monotonic()
    try:
        proofs = find_proofs(entry.target.proof for entry in entries)
        for position, entry in enumerate(entries):
            start = time.monotonic()
            finding = proofs.get(entry.target.proof)
            found.append(
                examine_target(entry, settings, position, len(entries), executor=workers, progress=progress, finding=finding)
            )
            times.append((entry.target.name, time.monotonic() - start))
    except KeyboardInterrupt as interruption:
        raise AuditInterrupted(_judge_together(len(entries), found, settings, times, began)) from interruption
    return _judge_together(len(entries), found, settings, times, began)


def _audit_apart(
    targets: Given | Sequence[Given], settings: Settings, limits: Limits, make: MakeExecutor | None, progress: Listener | None
) -> Report:
    """Audit every target in a process of its own, in the same stages; targets that do not load are failed results."""
    began = time.monotonic()
    found: list[Examined] = []
    times: list[tuple[str, float]] = []
    jobs, ready = list[Job](), list[Job]()

    def report() -> Report:
        return _with_failures(_judge_together(len(ready), found, settings, times, began, supervised=can_supervise()), jobs)

    try:
        jobs = jobs_of(targets, settings, limits)
        ready = [job for job in jobs if job.failure is None]
        proofs = proofs_of(ready)
        for position, job in enumerate(ready):
            start = time.monotonic()
            found.append(
                examine_apart(job, settings, position, len(ready), limits=limits, make=make, proofs=proofs, progress=progress)
            )
            times.append((job.candidate.name, time.monotonic() - start))
    except KeyboardInterrupt as interruption:
        if not jobs:
            raise  # nothing is known yet, not even what would be missing
        raise AuditInterrupted(report()) from interruption
    return report()


def _with_failures(report: Report, jobs: Sequence[Job]) -> Report:
    """The report with the results of those targets that could not be loaded, all in the order of the jobs."""
    audited = iter(report.results)
    results = (job.failure or next(audited, None) for job in jobs)
    return replace(report, results=tuple(result for result in results if result is not None))


def _judge_together(
    count: int,
    found: Sequence[Examined],
    settings: Settings,
    times: Sequence[tuple[str, float]],
    began: float,
    *,
    supervised: bool = False,
) -> Report:
    """Judge the claims under one error probability; those that were not finished count as not refuted."""
    p_values = [one.p_value for one in found] + [1.0] * (count - len(found))
    decisions = reject_claims(p_values, settings.alpha, settings.family)
    return Report(
        settings=settings,
        results=tuple(one.refuted if rejects else one.survived for one, rejects in zip(found, decisions, strict=False)),
        env=tuple(sorted((*_environment(), ("supervised", "yes" if supervised else "no")))),
        seconds=tuple(sorted((*times, ("total", time.monotonic() - began)))),
        complete=len(found) == count,
        version=_version("dpaudit"),
    )


def _environment() -> tuple[tuple[str, str], ...]:
    """Versions that the numbers may depend on."""
    names = ("dpaudit", "numpy", "scipy", "python-flint", "hypothesis")
    found = [(name, _version(name)) for name in names]
    found += [("python", platform.python_version()), ("platform", f"{platform.system()} {platform.machine()}")]
    return tuple(sorted(found))


@cache
def _version(name: str) -> str:
    """The installed version of a distribution."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
