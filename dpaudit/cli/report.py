"""`dpaudit report`: a recorded report as a table, or as a page."""

from __future__ import annotations

import click

from dpaudit.cli import VERBS
from dpaudit.cli.console import emit, refusals, say, text_style


@click.command("report", short_help=VERBS["report"])
@click.argument("path", metavar="REPORT.json")
@click.option("--html", "page", metavar="FILE", help="Write the page to this file.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON instead of a table.")
def report(*, path: str, page: str | None, as_json: bool) -> None:
    """Show a report that was written before; with --html write its page again.

    The exit code says whether the report could be read and shown, not what it says.
    """
    from dpaudit.report import read_report, to_json, to_text, write_html

    with refusals(as_json=as_json):
        found = read_report(path)
        if page is not None:
            write_html(found, page)
            say(f"page: {page}")
        emit(to_json(found) if as_json else to_text(found, path=path, **text_style()))
