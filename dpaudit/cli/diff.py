"""`dpaudit diff`: what changed from one report to the next, in the forms that a report has itself."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from dpaudit.cli import VERBS
from dpaudit.cli.completion import file_paths
from dpaudit.cli.console import emit, emit_json, json_option, say
from dpaudit.cli.outputs import annotate, github_option, page_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dpaudit.report.changes import Change


@click.command("diff", short_help=VERBS["diff"])
@click.argument("before", metavar="BEFORE.json", shell_complete=file_paths)
@click.argument("after", metavar="AFTER.json", shell_complete=file_paths)
@page_option
@github_option
@json_option
@click.pass_context
def diff(ctx: click.Context, *, before: str, after: str, page: str | None, github: bool, as_json: bool) -> None:
    """Say what differs between two reports of `dpaudit audit`.

    Exit code 1 says that a verdict is worse than before, that a target is gone, or that the later audit was interrupted; 0 that
    nothing is worse.
    """
    from dpaudit.report import read_report, write_text
    from dpaudit.report.changes import changes, disclosures
    from dpaudit.report.difference import to_annotations, to_html, to_summary

    both = read_report(before), read_report(after)
    found = changes(*both)
    if page is not None:
        write_text(to_html(*both), page)
        say(f"written: {page}")
    if github:
        annotate(to_annotations(*both), to_summary(*both))
    if as_json:
        emit_json({"changes": [asdict(change) for change in found], "values": disclosures(*both)})
    else:
        emit(_text(found, disclosures(*both)))
    ctx.exit(int(any(change.worse for change in found)))


def _text(found: Sequence[Change], shown: Sequence[str]) -> str:
    """The differences for a person, and in which report values of the data are shown."""
    from dpaudit.report.terminal import printable

    lines = [printable(f"{'!' if change.worse else ' '} {change.about}: {' -> '.join(change.sides)}") for change in found]
    return "\n".join([*(lines or ["nothing differs"]), *shown]) + "\n"
