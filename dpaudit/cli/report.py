"""`dpaudit report`: a recorded report as a table, as a page, or in the forms that CI systems read."""

from __future__ import annotations

import click

from dpaudit.cli import VERBS
from dpaudit.cli.completion import file_paths
from dpaudit.cli.console import emit, json_option, say, text_style
from dpaudit.cli.outputs import forms, page_option, write_forms


@click.command("report", short_help=VERBS["report"])
@click.argument("path", metavar="REPORT.json", shell_complete=file_paths)
@page_option
@forms
@json_option
def report(*, path: str, page: str | None, junit: str | None, sarif: str | None, github: bool, as_json: bool) -> None:
    """Show a report that was written before, or write it in another form.

    The exit code says whether the report could be read and shown, not what it says.
    """
    from dpaudit.report import read_report, to_json, to_text, write_html

    found = read_report(path)
    if page is not None:
        write_html(found, page)
        say(f"written: {page}")
    write_forms(found, junit=junit, sarif=sarif, github=github)
    emit(to_json(found) if as_json else to_text(found, path=path, **text_style()))
