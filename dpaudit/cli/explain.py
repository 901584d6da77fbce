"""`dpaudit explain`: what an error code means and what to do about it."""

from __future__ import annotations

from dataclasses import asdict

import click

from dpaudit.cli import VERBS
from dpaudit.cli.completion import error_codes
from dpaudit.cli.console import emit, emit_json, json_option
from dpaudit.errors import CODES, InvalidArgument


@click.command("explain", short_help=VERBS["explain"])
@click.argument("code", required=False, shell_complete=error_codes)
@json_option
def explain(*, code: str | None, as_json: bool) -> None:
    """Say what an error code such as DPA104 means and what to do; without a code, list all of them."""
    if code is None:
        _list(as_json=as_json)
        return
    entry = CODES.get(code.upper())
    if entry is None:
        raise InvalidArgument("DPA504", f"there is no error code {code!r}. `dpaudit explain` lists all of them.")
    if as_json:
        emit_json({"code": code.upper(), **asdict(entry)})
    else:
        meaning, remedy = click.wrap_text(entry.meaning, 100), click.wrap_text(entry.remedy, 100)
        emit(f"{code.upper()} {entry.title}\n\n{meaning}\n\nWhat to do:\n{remedy}\n")


def _list(*, as_json: bool) -> None:
    """Every code with its title."""
    if as_json:
        emit_json({"codes": {code: asdict(entry) for code, entry in CODES.items()}})
    else:
        emit("".join(f"{code}  {entry.title}\n" for code, entry in CODES.items()))
