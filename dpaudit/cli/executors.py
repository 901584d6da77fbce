"""`dpaudit executors`: whether an executor does what an audit needs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import click

from dpaudit.cli import VERBS
from dpaudit.cli.console import emit, emit_json, json_option, results_only
from dpaudit.cli.workers import workers
from dpaudit.errors import InvalidArgument, TargetFailure
from dpaudit.results import EXIT_CODES

if TYPE_CHECKING:
    from dpaudit.auditor.execution import Finding

_WIDTH = 18
_LONGEST: Final = 3600.0
"""Seconds that all checks together may take."""


@click.command("executors", short_help=VERBS["executors"])
@click.argument("action", type=click.Choice(["check"]))
@click.argument("executor", required=False, metavar="[MODULE:FACTORY]")
@click.option("--jobs", type=click.IntRange(2, 1024), metavar="N", help="Check this many worker processes; 2 unless given.")
@click.option("--timeout", default="60", metavar="SECONDS", show_default=True, help="How long one check may take.")
@click.option("--end-a-worker", is_flag=True, help="Also end one worker process during an audit and compare the evidence.")
@json_option
@click.pass_context
def executors(
    ctx: click.Context, *, action: str, executor: str | None, jobs: int | None, timeout: str, end_a_worker: bool, as_json: bool
) -> None:
    """Check whether an executor does what an audit needs: calls, errors, cancellation, equal workers, the same evidence.

    MODULE:FACTORY names a function that gives an executor of `concurrent.futures` kind, as for `dpaudit audit --executor`; without
    one, the worker processes of --jobs are checked. Exit code 0 says that every check passed or was skipped, 4 that one failed.
    """
    assert action == "check", "the only choice"  # noqa: S101
    if jobs is not None and executor is not None:
        raise click.UsageError("--jobs and --executor both choose the workers; give one of them.")
    from dpaudit.auditor.execution import Finding, check_executor
    from dpaudit.auditor.supervision.apart import can_supervise, run_apart
    from dpaudit.auditor.supervision.limits import MOST_MEMORY, Limits
    from dpaudit.codec import decode, encode

    findings: list[Finding] = []

    def check(send: Callable[[Any], None]) -> None:
        with workers(2 if executor is None and jobs is None else jobs, executor) as pool:
            assert pool is not None, "there is a factory, or two or more processes"  # noqa: S101
            found = check_executor(pool, timeout=timeout, end_a_worker=end_a_worker)
            send(encode(tuple(found), tuple[Finding, ...]))
            if can_supervise() and _is_stuck(found):
                os._exit(0)  # its shutdown would wait for ever

    def hear(message: Any) -> None:
        findings.extend(decode(message, tuple[Finding, ...], "findings"))
        if not can_supervise() and _is_stuck(findings):
            os._exit(_shown(findings, as_json=as_json))  # an executor that is stuck would keep this process from ending too

    with results_only():
        try:
            run_apart(check, Limits(memory=MOST_MEMORY, silence=_LONGEST), hear)
        except TargetFailure as failure:
            if failure.code in {"DPA103", "DPA105"}:
                raise InvalidArgument(failure.code, failure.message) from failure
            if not findings:
                raise
    ctx.exit(_shown(findings, as_json=as_json))


def _is_stuck(findings: Sequence[Finding]) -> bool:
    """Whether a check did not come to an end."""
    return any(finding.state == "STUCK" for finding in findings)


def _shown(findings: Sequence[Finding], *, as_json: bool) -> int:
    """The exit code, once the findings are printed."""
    conforms = bool(findings) and all(finding.state in {"passed", "skipped"} for finding in findings)
    if as_json:
        checks = [{"name": finding.name, "state": finding.state, "detail": finding.detail} for finding in findings]
        emit_json({"conforms": conforms, "checks": checks})
    else:
        emit(_table(findings))
    return EXIT_CODES["survived" if conforms else "failed"]


def _table(findings: Sequence[Finding]) -> str:
    """One line for each check."""
    return "".join(f"{finding.name:<{_WIDTH}} {finding.state:<8} {finding.detail}\n" for finding in findings)
