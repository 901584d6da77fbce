"""Where output goes: results to stdout, everything for people to stderr, whatever targets print and whoever stops reading."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any, Final

import click

WIDTH_WITHOUT_TERMINAL: Final = 120

SCHEMA: Final = "1"
"""Version of every JSON document that a verb prints."""

_ASKED: Final = "dpaudit.json_asked"
_TOLD: Final = "dpaudit.results_told"


def emit(text: str) -> None:
    """Write results to stdout; characters that its encoding lacks become escapes, and a closed pipe is no error."""
    encoding = sys.stdout.encoding or "utf-8"
    if (ctx := click.get_current_context(silent=True)) is not None:
        ctx.meta[_TOLD] = True
    try:
        click.echo(text.encode(encoding, "backslashreplace").decode(encoding), nl=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has seen enough; what Python flushes at its end must not fail either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def emit_json(document: Mapping[str, Any]) -> None:
    """Write one JSON document to stdout, with the version of its form."""
    emit(json.dumps({"schema": SCHEMA, **document}, sort_keys=True, indent=1) + "\n")


def say(text: str) -> None:
    """Tell the person at the terminal."""
    click.echo(text, err=True)


def text_style() -> dict[str, Any]:
    """Width, colour and alphabet that stdout takes, as arguments of `to_text`."""
    terminal = sys.stdout.isatty()
    return {
        "width": shutil.get_terminal_size((WIDTH_WITHOUT_TERMINAL, 24)).columns if terminal else WIDTH_WITHOUT_TERMINAL,
        "colour": terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb",
        "ascii_only": not (sys.stdout.encoding or "").lower().startswith("utf"),
    }


def asks_for_json(ctx: click.Context, arguments: Sequence[str]) -> None:
    """Remember that --json stands on the command line, which may have an error that keeps it from being parsed."""
    ctx.meta[_ASKED] = "--json" in itertools.takewhile(lambda word: word != "--", arguments)


def _asked(ctx: click.Context, _: click.Parameter, value: bool) -> bool:  # noqa: FBT001 - click gives values by position
    """Remember that JSON was asked for, by whatever setting."""
    ctx.meta[_ASKED] = value or ctx.meta.get(_ASKED, False)
    return value


json_option: Final = click.option(
    "--json", "as_json", is_flag=True, is_eager=True, callback=_asked, help="Print JSON instead of text."
)
"""The option of every verb: one JSON document on stdout, whatever happens, and everything for people on stderr."""


def emit_error(ctx: click.Context, code: str, message: str) -> None:
    """The error as the one document on stdout, where JSON was asked for and there is none yet; the report's schema has its form."""
    if ctx.meta.get(_ASKED) and not ctx.meta.get(_TOLD):
        emit_json({"error": {"code": code, "message": message}})


@contextmanager
def results_only() -> Iterator[None]:
    """Inside the block, what targets and their workers print to stdout goes to stderr, so that stdout holds results alone."""
    try:
        number, instead = sys.stdout.fileno(), sys.stderr.fileno()
    except (OSError, ValueError):
        with redirect_stdout(sys.stderr):
            yield
        return
    from dpaudit.auditor.supervision.processes import withheld

    sys.stdout.flush()
    kept = os.dup(number)
    withheld.add(kept)
    os.dup2(instead, number)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, number)
        withheld.discard(kept)
        os.close(kept)
