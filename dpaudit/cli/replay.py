"""`dpaudit replay`: the recorded runs of a report made again, and compared number by number."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli import VERBS
from dpaudit.cli.completion import file_paths
from dpaudit.cli.console import emit, emit_json, json_option, results_only
from dpaudit.cli.limits import limits
from dpaudit.cli.workers import maker
from dpaudit.errors import TargetFailure
from dpaudit.results import EXIT_CODES, Attack

if TYPE_CHECKING:
    from dpaudit.auditor import ReplayResult


@click.command("replay", short_help=VERBS["replay"])
@click.argument("recorded", metavar="REPORT.json[#TARGET]", shell_complete=file_paths)
@click.option("--fresh", is_flag=True, help="Use a new seed: an independent confirmation instead of the same runs.")
@click.option("--jobs", type=click.IntRange(1, 1024), metavar="N", help="Worker processes.")
@click.option("--executor", metavar="MODULE:FACTORY", help="An executor of your own, instead of --jobs.")
@limits
@json_option
@click.pass_context
def replay(
    ctx: click.Context,
    *,
    recorded: str,
    fresh: bool,
    jobs: int | None,
    executor: str | None,
    time_limit: str | None,
    memory_limit: str | None,
    as_json: bool,
) -> None:
    """Make the recorded runs of a report again, of one target or of all, and compare every count.

    Exit code 0 says that every number came out the same, 4 that one did not or that a target no longer loads, 3 that something
    could not be repeated. With --fresh nothing is compared: 1 says that a claim is refuted by the new runs too, 0 that none is.
    """
    from dpaudit.auditor import replay as repeat
    from dpaudit.report import read_report

    path, only = split(recorded)
    report = read_report(path)
    with results_only():
        found = repeat(
            report,
            only=only,
            fresh=fresh,
            executor=maker(jobs, executor),
            supervised=True,
            time_limit=time_limit,
            memory_limit=memory_limit,
        )
    if as_json:
        emit_json({"targets": [_as_data(target, fresh=fresh) for target in found]})
    else:
        emit("\n".join(line for target in found for line in _lines(target, fresh=fresh)) + "\n")
    different = [target.name for target in found if target.differences]
    if different:
        raise TargetFailure("DPA502", f"{', '.join(different)}: the runs did not come out as recorded.")
    ctx.exit(exit_code_of(found, fresh=fresh))


def split(text: str) -> tuple[str, str | None]:
    """The path of the report, and the name of the one target that is asked for, or None for all."""
    places = [place for place, letter in enumerate(text) if letter == "#"]
    for place in places:
        if not Path(text).is_file() and (Path(text[:place]).is_file() or place == places[-1]):
            return text[:place], text[place + 1 :]
    return text, None


def exit_code_of(found: Sequence[ReplayResult], *, fresh: bool) -> int:
    """The exit code of a replay: see the help of the command."""
    if any(target.differences for target in found):
        return EXIT_CODES["failed"]
    if any(target.recorded is not None and target.repeated is None for target in found):
        return EXIT_CODES["inconclusive"]
    if fresh and any(_refutes(target.repeated) for target in found):
        return EXIT_CODES["refuted"]
    return EXIT_CODES["survived"]


def _refutes(attack: Attack | None) -> bool:
    """Whether an attack refutes its claim at the error probability it was given."""
    return attack is not None and attack.p_value <= attack.alpha


def _lines(target: ReplayResult, *, fresh: bool) -> list[str]:
    """What is printed about one target."""
    if target.repeated is None:
        return [f"{target.name}: not repeated, {target.reason}", *(f"  {difference}" for difference in target.differences)]
    if fresh:
        said = "refuted again" if _refutes(target.repeated) else "not refuted"
        return [f"{target.name}: {said} with the new seed {target.seed}", f"  now       {_counts(target.repeated)}"]
    said = "DIFFERENT" if target.differences else "identical"
    both = [f"  recorded  {_counts(target.recorded)}", f"  replayed  {_counts(target.repeated)}"]
    return [f"{target.name}: {said}, seed {target.seed}", *both, *(f"  {difference}" for difference in target.differences)]


def _counts(attack: Attack | None) -> str:
    """The numbers of an attack in a line."""
    if attack is None:
        return "nothing"
    bets = attack.sequential
    wealth = f"wealth 10^{bets.log10_wealth:.6f} after {bets.runs:,} runs"
    if attack.bound is None:
        return wealth
    counts = attack.bound.counts
    return f"{counts.ones:,} and {counts.zeros:,} hits in {counts.runs:,} runs, {wealth}"


def _as_data(target: ReplayResult, *, fresh: bool) -> dict[str, Any]:
    """One target as plain data."""
    return {
        "name": target.name,
        "seed": target.seed,
        "fresh": fresh,
        "identical": None if fresh or target.repeated is None else not target.differences,
        "refuted": None if target.repeated is None else _refutes(target.repeated),
        "recorded": _numbers(target.recorded),
        "replayed": _numbers(target.repeated),
        "differences": list(target.differences),
        "reason": target.reason,
    }


def _numbers(attack: Attack | None) -> dict[str, Any] | None:
    """Counts and wealth of an attack as plain data."""
    if attack is None:
        return None
    counts = None if attack.bound is None else attack.bound.counts
    return {
        "ones": None if counts is None else counts.ones,
        "zeros": None if counts is None else counts.zeros,
        "runs": None if counts is None else counts.runs,
        "log10_wealth": attack.sequential.log10_wealth,
        "bets": attack.sequential.runs,
    }
