"""Conformance checks: an executor is tried call by call on what an audit needs of it."""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, wait
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from dpaudit.auditor.auditing import audit
from dpaudit.auditor.execution import probes
from dpaudit.auditor.progress import Progress
from dpaudit.errors import TargetFailure
from dpaudit.exact import Exact, in_range
from dpaudit.targets import MOST_SECONDS

PASSED: Final = "passed"
FAILED: Final = "FAILED"
STUCK: Final = "STUCK"
SKIPPED: Final = "skipped"

_CALLS: Final = 40
_RUNS: Final = 5_000
"""Calls and runs of a check: enough for every worker of a pool to get some, few enough for seconds."""

_NAME: Final = f"{probes.__name__}:TARGETS"


@dataclass(frozen=True)
class Finding:
    """Result of one check of an executor.

    Args:
      name: what was checked, in a few words.
      state: "passed", "FAILED", "STUCK" or "skipped".
      detail: what was seen.
    Source: docs/executors.md, "The check".
    Example:
      >>> Finding("errors", "passed", "TargetFailure came back with its code").state
      'passed'
    """

    name: str
    state: str
    detail: str


class _Fault(Exception):
    """An executor did something wrong."""


class _Untried(Exception):
    """A check was not made."""


@dataclass(frozen=True)
class _Trial:
    """An executor under check, and whether a worker may be ended."""

    executor: Executor
    end_a_worker: bool

    def futures(self, count: int, function: Callable[..., Any], *arguments: Any) -> list[Future[Any]]:
        """Submit the same call several times."""
        return [self.executor.submit(function, *arguments) for _ in range(count)]

    def answers(self, function: Callable[..., Any]) -> list[Any]:
        """Return the results of the same call made many times, in the order of the calls."""
        return [future.result() for future in self.futures(_CALLS, function)]

    @cached_property
    def inline(self) -> str:
        """Evidence of a small audit in this thread."""
        return _evidence_on(None)


_Check: TypeAlias = Callable[[_Trial], str]


def check_executor(executor: Executor, *, timeout: Exact = 60, end_a_worker: bool = False) -> tuple[Finding, ...]:
    """Check that an executor does what an audit needs: calls, errors, cancellation, equal workers, equal evidence.

    Args:
      executor: any `concurrent.futures` executor; to end a worker, a `RenewableExecutor` or one that replaces lost workers itself.
      timeout: most seconds of one check, positive; those after a check that exceeds it are skipped.
      end_a_worker: whether one worker process is ended during an audit, to check that its evidence stays the same.
    Returns:
      One finding for each check, always the same checks in the same order.
    Raises:
      InvalidArgument: `timeout` is not a number above 0 and at most 10**9 (DPA101 to DPA103).
    Source: docs/executors.md, "The check"; PEP 3148.
    Example:
      >>> from concurrent.futures import ThreadPoolExecutor
      >>> with ThreadPoolExecutor(2) as executor:
      ...     all(finding.state in {"passed", "skipped"} for finding in check_executor(executor))
      True
    """
    seconds = float(in_range(timeout, "timeout", lower=0, upper=MOST_SECONDS, lower_open=True))
    trial = _Trial(executor, end_a_worker)
    findings: list[Finding] = []
    stuck = ""
    for name, check in _CHECKS.items():
        if stuck:
            findings.append(Finding(name, SKIPPED, f"{stuck} came to no end"))
            continue
        try:
            findings.append(_begin(name, check, trial).result(seconds))
        except TimeoutError:
            stuck = name
            findings.append(Finding(name, STUCK, f"came to no end within {seconds:g} seconds"))
    return tuple(findings)


def _begin(name: str, check: _Check, trial: _Trial) -> Future[Finding]:
    """Begin a check in a thread of its own, which can be abandoned where even submit() never returns."""
    result: Future[Finding] = Future()
    threading.Thread(target=lambda: result.set_result(_run_check(name, check, trial)), daemon=True).start()
    return result


def _run_check(name: str, check: _Check, trial: _Trial) -> Finding:
    """Run one check."""
    try:
        return Finding(name, PASSED, check(trial))
    except _Untried as reason:
        return Finding(name, SKIPPED, str(reason))
    except (_Fault, TargetFailure) as error:
        return Finding(name, FAILED, str(error))
    except BaseException as error:  # noqa: BLE001 - whatever an executor raises is what the check is about
        return Finding(name, FAILED, f"raised {type(error).__name__}")


def _calls(trial: _Trial) -> str:
    """Check that calls give futures that the standard library can wait for."""
    futures = trial.futures(_CALLS, probes.worker)
    if not all(isinstance(future, Future) for future in futures):
        raise _Fault(f"submit() gives a {type(futures[0]).__name__} instead of a concurrent.futures.Future")
    wait(futures)
    workers = {future.result() for future in futures}
    machines, processes = {one.machine for one in workers}, {(one.machine, one.process) for one in workers}
    threads = {(one.machine, one.process, one.thread) for one in workers}
    kinds = ", ".join(sorted({one.kind for one in workers}))
    return f"answered by {len(threads)} threads of {len(processes)} processes ({kinds}) on {len(machines)} machines"


def _repetition(trial: _Trial) -> str:
    """Check that equal calls are repeated instead of sharing one result."""
    if len(set(trial.answers(probes.token))) < _CALLS:
        raise _Fault("equal calls share one result; for Dask, Client.get_executor(pure=False)")
    return f"{_CALLS} equal calls were made {_CALLS} times"


def _errors(trial: _Trial) -> str:
    """Check that an error of a call comes back as it was raised, and the worker goes on."""
    [future] = trial.futures(1, probes.fail)
    error = future.exception()
    if not isinstance(error, TargetFailure) or error.code != "DPA405":
        raise _Fault(f"a TargetFailure came back as {type(error).__name__}")
    return "an error came back with its type and code"


def _cancellation(trial: _Trial) -> str:
    """Check that waiting calls can be cancelled, and that the executor takes new ones after that."""
    futures = trial.futures(4 * _CALLS, probes.pause, 0.02)
    cancelled = sum(future.cancel() for future in reversed(futures))
    wait(futures)
    trial.answers(probes.token)
    return f"{cancelled} of {len(futures)} calls were cancelled"


def _surroundings(trial: _Trial) -> str:
    """Check that workers have the versions of this process and compute the same last bits."""
    here = probes.surroundings()
    for there in trial.answers(probes.surroundings):
        both = zip(here, there, strict=True)
        if different := [f"{name} {theirs} instead of {ours}" for (name, ours), (_, theirs) in both if ours != theirs]:
            raise _Fault(f"a worker has {', '.join(different)}")
    return ", ".join(f"{name} {value}" for name, value in here)


def _evidence(trial: _Trial) -> str:
    """Check that an audit on the executor has the evidence of the one inline, to the last bit."""
    if _evidence_on(trial.executor) != trial.inline:
        raise _Fault("an audit on it has other evidence than the same audit inline")
    return f"audits of {len(probes.TARGETS)} targets, {_RUNS} runs each, have the evidence of those inline"


def _death(trial: _Trial) -> str:
    """Check that an audit during which a worker process ends has the evidence of an undisturbed one."""
    if not trial.end_a_worker:
        raise _Untried("no worker is ended unless asked for")
    workers = trial.answers(probes.worker)
    if any(one.process == os.getpid() for one in workers):
        raise _Untried("the workers are threads of this process")
    if any(one.mpi for one in workers):
        raise _Untried("the end of one process ends an MPI job; repeat the audit, which gives the same evidence")
    name = secrets.token_hex(8)
    asked: list[Future[Any]] = []

    def end_one(progress: Progress) -> None:
        if not asked and progress.stage != "checks":
            asked.append(trial.executor.submit(probes.end_worker, name))
            wait(asked)  # with chunks of the audit under way, some of them on that worker

    try:
        evidence = _evidence_on(trial.executor, end_one)
    finally:
        probes.mark(name).unlink(missing_ok=True)
    if evidence != trial.inline:
        raise _Fault("an audit that lost a worker has other evidence than one in peace")
    return "a worker was ended during an audit; the evidence is the same"


def _evidence_on(executor: Executor | None, progress: Callable[[Progress], None] | None = None) -> str:
    """Run a small audit; return its evidence, every float written to its last bit."""
    report = audit(_NAME, runs=_RUNS, seed=5, executor=executor, progress=progress)
    return repr((report.settings, [asdict(result) for result in report.results]))


_CHECKS: Final[dict[str, _Check]] = {
    "calls": _calls,
    "repetition": _repetition,
    "errors": _errors,
    "cancellation": _cancellation,
    "surroundings": _surroundings,
    "evidence": _evidence,
    "death of a worker": _death,
}
