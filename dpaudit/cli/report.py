"""`dpaudit report`: a recorded report as a table, as a page, or in the forms that CI systems read."""

from __future__ import annotations

from dataclasses import replace

import click

from dpaudit.cli import VERBS
from dpaudit.cli.completion import file_paths
from dpaudit.cli.console import emit, json_option, say, text_style
from dpaudit.cli.outputs import forms, page_option, write_forms
from dpaudit.cli.replay import split
from dpaudit.errors import InvalidArgument
from dpaudit.results import Report


@click.command("report", short_help=VERBS["report"])
@click.argument("path", metavar="REPORT.json[#TARGET]", shell_complete=file_paths)
@page_option
@forms
@json_option
def report(*, path: str, page: str | None, junit: str | None, sarif: str | None, github: bool, as_json: bool) -> None:
    """Show a report that was written before, all of it or one target in full, or write it in another form.

    The exit code says whether the report could be read and shown, not what it says.
    """
    from dpaudit.report import read_report, to_json, to_text, write_html

    path, only = split(path)
    found = read_report(path)
    if only is not None:
        found = _only(found, only)
    if page is not None:
        write_html(found, page)
        say(f"written: {page}")
    write_forms(found, junit=junit, sarif=sarif, github=github)
    emit(to_json(found) if as_json else to_text(found, path=path, **text_style()))


def _only(found: Report, name: str) -> Report:
    """The report on one target; DPA103 where it holds none of that name."""
    results = tuple(result for result in found.results if result.name == name)
    if not results:
        names = ", ".join(result.name for result in found.results)
        raise InvalidArgument("DPA103", f"the report has no target called {name!r}. It has: {names}.")
    return replace(found, results=results)
