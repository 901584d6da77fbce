"""Where output goes: results to stdout, everything for people to stderr, whatever targets print and whoever stops reading."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from typing import Any

import click

from dpaudit.errors import DpauditError

WIDTH_WITHOUT_TERMINAL = 120


def emit(text: str) -> None:
    """Write results to stdout; characters that its encoding lacks become escapes, and a closed pipe is no error."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        click.echo(text.encode(encoding, "backslashreplace").decode(encoding), nl=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read has seen enough; what Python flushes at its end must not fail either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def emit_json(document: Mapping[str, Any]) -> None:
    """Write one JSON document to stdout."""
    emit(json.dumps(document, sort_keys=True, indent=1) + "\n")


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


@contextmanager
def refusals(*, as_json: bool) -> Iterator[None]:
    """Inside the block, an error also becomes the one JSON document on stdout where one was asked for."""
    try:
        yield
    except DpauditError as error:
        if as_json:
            emit_json(_refusal(error.code, error.message))
        raise
    except KeyboardInterrupt:
        if as_json:
            emit_json(_refusal("interrupted", "interrupted before there was anything to report"))
        raise


def _refusal(code: str, message: str) -> dict[str, Any]:
    """The document that stands in the place of a result; described in the report's schema."""
    return {"schema": "1", "error": {"code": code, "message": message}}


@contextmanager
def results_only() -> Iterator[None]:
    """Inside the block, what targets and their workers print to stdout goes to stderr, so that stdout holds results alone."""
    try:
        number, instead = sys.stdout.fileno(), sys.stderr.fileno()
    except (OSError, ValueError):
        with redirect_stdout(sys.stderr):
            yield
        return
    sys.stdout.flush()
    kept = os.dup(number)
    os.dup2(instead, number)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, number)
        os.close(kept)
