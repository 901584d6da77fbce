"""`dpaudit config`: every option of every verb with its value, and where that is from."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click

from dpaudit.cli import VERBS, defaults
from dpaudit.cli.console import emit, emit_json, json_option
from dpaudit.cli.settings import PREFIX, find, name_variables

_ORIGINS: Final = {"DEFAULT": "default", "DEFAULT_MAP": "file", "ENVIRONMENT": "environment", "COMMANDLINE": "flag"}


@click.command("config", short_help=VERBS["config"])
@click.argument("verb", required=False, metavar="[VERB]", type=click.Choice(sorted(VERBS)))
@click.option("--show-origin", is_flag=True, help="Also say where each value is from, and list those that are nowhere set.")
@json_option
def config(*, verb: str | None, show_origin: bool, as_json: bool) -> None:
    """Show what pyproject.toml and the environment set; with --show-origin every option.

    A flag counts before the environment (DPAUDIT_AUDIT_RUNS), and that before [tool.dpaudit.audit] in the nearest pyproject.toml.
    """
    found = [entry for name in (sorted(VERBS) if verb is None else [verb]) for entry in _options(name)]
    if as_json:
        path = find(Path.cwd())
        emit_json({"file": None if path is None else path.name, "options": found})
    else:
        shown = [entry for entry in found if show_origin or entry["origin"] != "default"]
        emit(
            "".join(_line(entry, show_origin=show_origin) for entry in shown) or "nothing is set; --show-origin lists all options\n"
        )


def _options(name: str) -> Iterator[dict[str, Any]]:
    """Options of a verb, and of its verbs."""
    command: click.Command = getattr(import_module(f"dpaudit.cli.{name}"), name)
    name_variables(command, name)
    parent = click.Context(click.Command(PREFIX.lower()), default_map={name: defaults(name, command)})
    yield from _of_command(command, name, parent)


def _of_command(command: click.Command, name: str, parent: click.Context) -> Iterator[dict[str, Any]]:
    """Options as they would be without flags."""
    ctx = command.make_context(name, [], parent=parent, resilient_parsing=True)
    if isinstance(command, click.Group):
        for part, inner in command.commands.items():
            yield from _of_command(inner, part, ctx)
        return
    for one in command.params:
        source = ctx.get_parameter_source(str(one.name))
        if isinstance(one, click.Option):
            value = ctx.params.get(str(one.name))
            yield {
                "verb": ctx.command_path.removeprefix(f"{PREFIX.lower()} "),
                "option": max(one.opts, key=len),
                "value": list(value) if isinstance(value, tuple) else value,
                "origin": _ORIGINS["DEFAULT" if source is None else source.name],
                "variable": one.envvar,
            }


def _line(entry: dict[str, Any], *, show_origin: bool) -> str:
    """One option for a person."""
    origin = f"  ({entry['origin']}; {entry['variable']})" if show_origin else ""
    return f"{entry['verb']} {entry['option']} = {entry['value']}{origin}\n"
