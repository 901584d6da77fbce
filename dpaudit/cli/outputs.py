"""Forms of a report for CI systems, as options that verbs share."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from dpaudit.cli.console import emit, say, text_style
from dpaudit.errors import InvalidArgument

if TYPE_CHECKING:
    from dpaudit.results import Report

PAGE: Final = "index.html"
DOCUMENT: Final = "report.json"

SUMMARY: Final = "GITHUB_STEP_SUMMARY"
"""The variable by which a job of GitHub's names the file of its summary."""


page_option: Final = click.option("--html", "page", metavar="FILE", help="Also write a page to this file.")
github_option: Final = click.option("--github", is_flag=True, help="Annotate the code in a GitHub job, and write its summary.")


def forms(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options to a verb; they come as `junit`, `sarif` and `github`."""
    command = github_option(command)
    command = click.option("--sarif", metavar="FILE", help="Also write SARIF 2.1.0 to this file.")(command)
    return click.option("--junit", metavar="FILE", help="Also write JUnit XML to this file.")(command)


def write_forms(report: Report, *, junit: str | None, sarif: str | None, github: bool) -> None:
    """Write the forms that were asked for."""
    from dpaudit.report import to_annotations, to_junit, to_sarif, to_summary, write_text

    for path, form in ((junit, to_junit), (sarif, to_sarif)):
        if path is not None:
            write_text(form(report), path)
            say(f"written: {path}")
    if github:
        annotate(to_annotations(report), to_summary(report))


def annotate(commands: str, summary: str) -> None:
    """Print workflow commands to stderr, and add to the summary of the job, if there is one; DPA503 if it cannot be written."""
    click.echo(commands, err=True, nl=False)
    if path := os.environ.get(SUMMARY):
        try:
            with Path(path).open("a", encoding="utf-8", errors="replace") as file:
                file.write(summary)
        except OSError as error:
            raise InvalidArgument("DPA503", f"the file of {SUMMARY} cannot be written ({error.strerror}).") from error


def write_folder(report: Report, folder: Path) -> str:
    """Write the report's files; the path of its JSON."""
    from dpaudit.report import write_html, write_json

    write_json(report, folder / DOCUMENT)
    write_html(report, folder / PAGE)
    say(f"written: {folder / PAGE} and {folder / DOCUMENT}")
    return str(folder / DOCUMENT)


def print_report(report: Report, path: str | None, *, as_json: bool) -> None:
    """The report on stdout, in the form asked for."""
    from dpaudit.report import to_json, to_text

    emit(to_json(report) if as_json else to_text(report, path=path, **text_style()))
    if not report.complete:
        say("interrupted; the report holds what was finished.")
