"""`audit`: examine every target, and judge the claims together under one error probability."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor
from contextlib import closing
from functools import cache
from importlib.metadata import PackageNotFoundError, version

from dpaudit.auditor.examining import Examined, Listener, examine_target
from dpaudit.auditor.progress import AuditInterrupted
from dpaudit.auditor.request import Entry, Given, check_given, entries_of, require_executor, settings_of
from dpaudit.auditor.statistics.family import reject_claims
from dpaudit.auditor.supervision.apart import can_supervise
from dpaudit.auditor.supervision.audits import Finished, examine_jobs, jobs_of, maker_of, supervision_limits
from dpaudit.auditor.verdict.proof_lookup import find_proofs
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact
from dpaudit.plain.asked import Asked
from dpaudit.results import Report, Settings, TargetResult


def audit(  # noqa: PLR0913 - every argument but the first is an option given by name
    targets: Given | Sequence[Given],
    *,
    alpha: Exact = "0.001",
    runs: int | None = None,
    seconds: Exact | None = None,
    executor: Executor | Callable[[], Executor] | None = None,
    seed: int = 0,
    power_target: Exact = "1.25",
    family: str = "holm",
    data: str | None = None,
    asked: Asked | None = None,
    show_values: bool = False,
    stop_early: bool = False,
    progress: Listener | None = None,
    supervised: bool = False,
    time_limit: Exact | None = None,
    memory_limit: int | str | None = None,
) -> Report:
    """Audit privacy claims: a certified price, an attack on neighbouring datasets, property checks, proofs, and a verdict for each.

    Args:
      targets: a Target, a name that `dpaudit.loading.load_targets` knows, a function with `@claim`, a Reference,
        or a sequence of them; one claim each.
      alpha: probability of refuting any true claim, over all targets together, exact, from 1e-100 to below 1; 0.001 unless given,
        as on the command line.
      runs: all calls of each target, checks and both datasets of all pairs included, 500 to 2**40; 1,000,000 unless given.
      seconds: time for the whole audit instead of `runs`, at most 10**9; turned into runs of each target at the end of its pilot.
      executor: an executor as of `concurrent.futures`; None runs in this thread. The evidence does not depend on it. With
        `supervised`, a function that makes one, or a `RenewableExecutor`, since every target makes its own. The workers of
        `dpaudit audit --jobs` are shared: so many targets run side by side.
      seed: root of all randomness, an integer from 0 on.
      power_target: a surviving claim is consistent if a violation by this factor would have been found, else inconclusive.
      family: "holm" or "bonferroni", how the claims share alpha.
      data: path of a file (CSV, JSON lines, Parquet or .npy) whose records replace the data of targets given by name.
      asked: claim and arguments for functions that are given by name without a Target, as the command line collects them.
      show_values: whether the report may show values of datasets and outputs although the data are private.
      stop_early: whether 20,000 runs are enough for the bound of a claim that bets have refuted; else all runs that are left
        tighten it.
      progress: called with a `Progress` after every chunk of runs.
      supervised: whether every target is loaded and run in a forked process of its own, so that an exit, a crash or a hang makes
        one failed result; implied by either limit. Not the default, since forking is unsafe in programs with threads; `dpaudit
        audit` and the pytest fixture always supervise. Where the system cannot fork, targets run in this process, as `env` of the
        report says.
      time_limit: seconds for each target, above 0. Without it a target is ended once no call of its function has returned for 600
        seconds.
      memory_limit: bytes for each target with all its processes, an integer or a text such as "4 GiB"; 4 GiB unless given.
    Returns:
      A report with one result for each target, in their order. A claim that survives is never called private.
    Raises:
      InvalidArgument: an argument or a target's datasets are not usable (DPA101 to DPA109, DPA404, DPA407); under supervision
        unusable datasets make a failed result.
      Unsupported: neighbours cannot be made for the claim's adjacency (DPA409), or limits cannot be kept here (DPA416).
      TargetFailure: a target does not load (DPA401 to DPA406) or cannot be sent to workers (DPA408); workers that fail later make a
        failed result.
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
        stop_early=stop_early,
        asked=asked,
    )
    if progress is not None and not callable(progress):
        raise InvalidArgument("DPA105", f"progress must be a function of a Progress, got a {type(progress).__name__}.")
    began, limits = time.monotonic(), supervision_limits(time_limit, memory_limit, supervised=supervised)
    make, workers = (None, require_executor(executor)) if limits is None else (maker_of(executor), None)
    given = check_given(targets, settings)
    if limits is None:
        entries = entries_of(given, settings, workers)
        return _judge_all([entry.target.name for entry in entries], _in_turn(entries, settings, workers, progress), settings, began)
    jobs = jobs_of(given, settings, limits)
    ready = [job for job in jobs if job.failure is None]
    apart = examine_jobs(ready, settings=settings, limits=limits, make=make, progress=progress)
    names = [job.candidate.name for job in ready]
    return _judge_all(names, apart, settings, began, failures=[job.failure for job in jobs])


def _in_turn(
    entries: Sequence[Entry], settings: Settings, executor: Executor | None, progress: Listener | None
) -> Generator[Finished]:
    """Look up proofs, and examine one target after the other in this process."""
    proofs = find_proofs(entry.target.proof for entry in entries)
    for position, entry in enumerate(entries):
        start = time.monotonic()
        found = examine_target(entry, position, len(entries), proofs, settings=settings, executor=executor, progress=progress)
        yield position, found, time.monotonic() - start


def _judge_all(
    names: Sequence[str],
    examined: Generator[Finished],
    settings: Settings,
    began: float,
    *,
    failures: Sequence[TargetResult | None] | None = None,
) -> Report:
    """Judge targets together as all are examined, in whatever order they end; `failures` are those of supervised targets."""
    found: dict[int, Examined] = {}
    times: list[tuple[str, float]] = []

    def report() -> Report:
        # Claims that were not finished count as not refuted.
        p_values = [found[place].p_value if place in found else 1.0 for place in range(len(names))]
        rejected = reject_claims(p_values, settings.alpha, settings.family)
        judged = iter(
            [
                (one.refuted if rejects else one.survived) if (one := found.get(place)) else None
                for place, rejects in enumerate(rejected)
            ]
        )
        results = [failure or next(judged) for failure in failures or [None] * len(names)]
        supervised = "yes" if failures is not None and can_supervise() else "no"
        return Report(
            settings=settings,
            results=tuple(result for result in results if result is not None),
            env=tuple(sorted((*environment(), ("supervised", supervised)))),
            seconds=tuple(sorted((*times, ("total", time.monotonic() - began)))),
            complete=len(found) == len(names),
            version=_version("dpaudit"),
        )

    try:
        with closing(examined):
            for place, one, seconds in examined:
                found[place] = one
                times.append((names[place], seconds))
    except KeyboardInterrupt as interruption:
        raise AuditInterrupted(report()) from interruption
    return report()


def environment() -> tuple[tuple[str, str], ...]:
    """Return the versions that the numbers may depend on."""
    names = ("dpaudit", "numpy", "scipy", "python-flint", "hypothesis")
    platforms = ("python", platform.python_version()), ("platform", f"{platform.system()} {platform.machine()}")
    return *((name, _version(name)) for name in names), *platforms


@cache
def _version(name: str) -> str:
    """Return the installed version of a distribution."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
