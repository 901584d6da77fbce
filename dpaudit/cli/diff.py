"""`dpaudit diff`: what changed from one report to the next."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from dpaudit.cli import VERBS
from dpaudit.cli.completion import file_paths
from dpaudit.cli.console import emit, emit_json, json_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpaudit.report.changes import Change


@click.command("diff", short_help=VERBS["diff"])
@click.argument("before", metavar="BEFORE.json", shell_complete=file_paths)
@click.argument("after", metavar="AFTER.json", shell_complete=file_paths)
@json_option
@click.pass_context
def diff(ctx: click.Context, *, before: str, after: str, as_json: bool) -> None:
    """Say what differs between two reports of `dpaudit audit`.

    Exit code 1 says that a verdict is worse than before or that a target is gone, 0 that nothing is worse.
    """
    from dpaudit.report import read_report
    from dpaudit.report.changes import changes

    found = changes(read_report(before), read_report(after))
    if as_json:
        emit_json({"schema": "1", "changes": [asdict(change) for change in found]})
    else:
        emit(_text(found))
    ctx.exit(int(any(change.worse for change in found)))


def _text(found: Sequence[Change]) -> str:
    """The differences for a person."""
    from dpaudit.report.terminal import printable

    lines = []
    for change in found:
        mark, about = "!" if change.worse else " ", f"{change.target}: {change.what}" if change.target else change.what
        lines.append(printable(f"{mark} {about}: {change.before or 'nothing'} -> {change.after or 'gone'}"))
    return "\n".join(lines or ["nothing differs"]) + "\n"
