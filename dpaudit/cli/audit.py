"""`dpaudit audit`: audit targets, print the report, write its files, and say with the exit code how it went."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dpaudit.cli import VERBS
from dpaudit.cli.completion import file_paths, target_names
from dpaudit.cli.console import json_option, results_only, say
from dpaudit.cli.dossiers import decide, is_dossier
from dpaudit.cli.folders import make_folder
from dpaudit.cli.limits import limits
from dpaudit.cli.outputs import DOCUMENT, PAGE, forms, print_report, write_folder, write_forms
from dpaudit.cli.plain import plain_options, read_asked
from dpaudit.cli.settings import strongest
from dpaudit.cli.workers import maker
from dpaudit.errors import InvalidArgument
from dpaudit.misnamed import parted
from dpaudit.results import EXIT_CODES, Report, Settings, Verdict

if TYPE_CHECKING:
    from dpaudit.plain.asked import Asked

PROFILES: Final = {"quick": 200_000, "standard": 1_000_000, "thorough": 10_000_000}
"""Runs for each target by profile."""

_STORY_RUNS: Final = 100_000
"""Runs for each target of an audit without any name: enough for its verdicts, so that a newcomer need not wait."""

_FIRST_SECONDS: Final = "10"
"""Seconds for plain functions, of whose pace nothing is known, unless something else bounds the audit."""

_EXAMPLES: Final = {"alpha": "--alpha 0.001", "runs": "--runs 200000", "seconds": "--time-budget 60", "seed": "--seed 1"}
"""For each parameter that an option sets, how that option is written."""


@click.command("audit", short_help=VERBS["audit"])
@click.argument("targets", nargs=-1, metavar="[TARGET]...", shell_complete=target_names)
@click.option(
    "--data",
    metavar="FILE",
    shell_complete=file_paths,
    help="Audit the functions on these records (CSV, JSON lines, Parquet, .npy) instead of their own data.",
)
@plain_options
@click.option("--all", "everything", is_flag=True, help="Audit every bundled target, instead of a dozen to begin with.")
@click.option("--alpha", default="0.001", metavar="P", show_default=True, help="Probability of refuting any claim that holds.")
@click.option("--runs", type=int, metavar="N", help="Runs for each target.")
@click.option("--profile", type=click.Choice(list(PROFILES)), help="Runs by name: 200,000, 1,000,000 (the default) or 10,000,000.")
@click.option("--time-budget", metavar="SECONDS", help="Time for the whole audit, instead of a number of runs.")
@click.option("--seed", type=int, default=0, metavar="N", show_default=True, help="Root of all randomness.")
@click.option("--jobs", type=click.IntRange(1, 1024), metavar="N", help="Worker processes; the evidence does not depend on it.")
@click.option("--executor", metavar="MODULE:FACTORY", help="An executor of your own, instead of --jobs.")
@limits
@click.option("--report", "folder", metavar="DIR", help=f"Write {PAGE} and {DOCUMENT} to this folder.")
@click.option("--reuse", is_flag=True, help="Show the last report again if source, data, settings and versions are the same.")
@json_option
@forms
@click.option("--show-values", is_flag=True, help="Show values of private data in the report, which then says so.")
@click.option("--stop-early", is_flag=True, help="Make 20,000 runs, not all that are left, for the bound of a refuted claim.")
@click.option("--allow-skips", is_flag=True, help="Targets that fail to load or run do not count for the exit code.")
@click.pass_context
def audit(  # noqa: PLR0913 - one argument for each option
    ctx: click.Context,
    /,
    *,
    targets: tuple[str, ...],
    data: str | None,
    everything: bool,
    alpha: str,
    runs: int | None,  # noqa: ARG001 - read with where it is from
    profile: str | None,  # noqa: ARG001 - as above
    time_budget: str | None,  # noqa: ARG001 - as above
    seed: int,
    jobs: int | None,
    executor: str | None,
    time_limit: str | None,
    memory_limit: str | None,
    folder: str | None,
    reuse: bool,
    as_json: bool,
    junit: str | None,
    sarif: str | None,
    github: bool,
    show_values: bool,
    stop_early: bool,
    allow_skips: bool,
    **plain: Any,
) -> None:
    """Audit privacy claims: proof, certified price, attack, property checks and a verdict for each.

    TARGET is a bundled target, FILE.py:NAME or MODULE:NAME for a function, a dpaudit.Target or a list of them, or FILE.py for all
    Targets and functions with @claim that it holds; a plain function needs --epsilon and --data. Without one, a dozen releases of
    real records are audited. `papers` decides the privacy claims of the papers that the learners are from; exit code 1 means that
    some fail as written.
    """
    if data is not None and not targets:
        raise click.UsageError(
            "--data gives records to a function or a target, and none is named. Write: dpaudit audit FILE.py:NAME --data " + data
        )
    if everything and targets:
        raise click.UsageError("--all audits every bundled target; name none beside it.")
    if said := parted(targets):
        raise click.UsageError(said)
    asked = read_asked(plain)
    bounds = _bounds(ctx, asked, is_story=not targets and not everything)
    if is_dossier(ctx, targets):
        if folder is not None:
            make_folder(Path(folder))
        chosen = None if bounds["runs"] is None and bounds["profile"] is None else _runs(**bounds)
        code = decide(targets[0], targets[1:], runs=chosen, jobs=jobs, factory=executor, folder=folder, as_json=as_json)
        ctx.exit(code)
    settings = _settings(
        alpha=alpha,
        runs=_runs(**bounds),
        seconds=bounds["time_budget"],
        seed=seed,
        data=data,
        show_values=show_values,
        stop_early=stop_early or not (targets or everything),  # a first look wants verdicts soon
        asked=asked,
    )
    for place in (folder, *(Path(file).parent for file in (junit, sarif) if file is not None)):
        if place is not None:
            make_folder(Path(place))
    from dpaudit.cli.reuse import keep_report, kept_report

    with results_only():
        digest = _digest(targets, settings, everything=everything) if reuse else ""
        report = (kept_report(digest) if digest else None) or _audited(
            targets, settings, jobs, executor, time_limit, memory_limit, everything=everything
        )
    if digest and "reused" not in dict(report.env):
        keep_report(digest, report)
    path = None if folder is None else write_folder(report, Path(folder))
    write_forms(report, junit=junit, sarif=sarif, github=github)
    print_report(report, path, as_json=as_json)
    code = exit_code_of(report, allow_skips=allow_skips)
    if code == EXIT_CODES["survived"] and len(report.results) < len(set(targets)):
        raise RuntimeError("there are fewer verdicts than targets")  # an internal error: never a success
    ctx.exit(code)


def _bounds(ctx: click.Context, asked: Asked | None, *, is_story: bool) -> dict[str, Any]:
    """What bounds the audit: what is given in the strongest way, else what suits a newcomer or a plain function."""
    bounds = strongest(ctx, ("runs", "profile", "time_budget"))
    given = sum(choice is not None for choice in bounds.values())
    if given > 1:
        given_options = " and ".join(f"--{name.replace('_', '-')}" for name, choice in bounds.items() if choice is not None)
        raise click.UsageError(f"{given_options} each limit the audit; give one of them.")
    if given == 0 and is_story:
        return bounds | {"runs": _STORY_RUNS}
    if given == 0 and asked is not None and asked.epsilon is not None:
        return bounds | {"time_budget": _FIRST_SECONDS}
    return bounds


def _settings(**given: Any) -> Settings:
    """The settings of the audit; one that is refused is refused with the option to write instead."""
    from dpaudit.auditor.request import settings_of

    try:
        return settings_of(**given, power_target="1.25", family="holm")
    except InvalidArgument as error:
        examples = (f" For instance {option}." for name, option in _EXAMPLES.items() if error.message.startswith(f"{name} "))
        # The name of the parameter is not what was typed where the option is called otherwise.
        message = f"--time-budget{error.message[7:]}" if error.message.startswith("seconds ") else error.message
        raise InvalidArgument(error.code, f"{message}{next(examples, '')}") from error


def _digest(names: tuple[str, ...], settings: Settings, *, everything: bool) -> str:
    """The digest under which the report is kept."""
    from dpaudit.cli.reuse import digest_of

    return digest_of([*names, f"everything: {everything}"], settings)


def _runs(*, runs: int | None, profile: str | None, time_budget: str | None) -> int | None:
    """The number of runs that was asked for; None where time bounds the audit."""
    return None if time_budget is not None else runs if runs is not None else PROFILES[profile or "standard"]


def exit_code_of(report: Report, *, allow_skips: bool) -> int:
    """The exit code of an audit."""
    rest = tuple(result for result in report.results if result.verdict is not Verdict.FAILED)
    return replace(report, results=rest).exit_code if allow_skips and rest else report.exit_code


def _audited(
    names: tuple[str, ...],
    settings: Settings,
    jobs: int | None,
    factory: str | None,
    time_limit: str | None,
    memory_limit: str | None,
    *,
    everything: bool,
) -> Report:
    """The report on all named targets; after an interruption, on those that were finished."""
    import dpaudit
    from dpaudit.auditor import AuditInterrupted
    from dpaudit.auditor.supervision.apart import can_supervise
    from dpaudit.auditor.supervision.limits import limits_of
    from dpaudit.cli.intake import Bundled, bundled
    from dpaudit.cli.progress import progress_bar

    limits_of(time_limit, memory_limit)
    if not can_supervise():
        say("targets are not supervised here: they share this process, which one that exits or hangs takes with it.")
    if settings.data is not None:
        from dpaudit.misnamed import require_file
        from dpaudit.plain.datafiles import read_data

        require_file(settings.data)
        read_data(settings.data)
    make = maker(jobs, factory)
    found = Bundled(list(names), [], ()) if names else bundled(everything=everything)
    for one in found.left_out:
        say(f"left out are {one}.")
    report = Report(settings, (), version=dpaudit.__version__)
    if found.names:
        try:
            with progress_bar() as tell:
                report = dpaudit.audit(
                    found.names,
                    alpha=settings.alpha,
                    runs=settings.runs if settings.seconds is None else None,
                    seconds=settings.seconds,
                    executor=make,
                    seed=settings.seed,
                    data=settings.data,
                    asked=settings.asked,
                    show_values=settings.show_values,
                    stop_early=bool(settings.stop_early),
                    power_target=settings.power_target,
                    family=settings.family,
                    progress=tell,
                    supervised=True,
                    time_limit=time_limit,
                    memory_limit=memory_limit,
                )
        except AuditInterrupted as interruption:
            report = interruption.report
    return replace(report, results=(*report.results, *found.broken), left_out=found.left_out)
