"""Settings of a project: `[tool.dpaudit]` in its pyproject.toml, as the defaults of options."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

import click

from dpaudit.errors import InvalidArgument

FILE: Final = "pyproject.toml"
PREFIX: Final = "DPAUDIT"
"""Environment variables are this, the verb and the option: DPAUDIT_AUDIT_RUNS."""

_STRENGTH: Final = ("DEFAULT", "DEFAULT_MAP", "ENVIRONMENT", "COMMANDLINE")


def find(start: Path) -> Path | None:
    """The nearest pyproject.toml with a table [tool.dpaudit], in a folder or those around it; None if there is none."""
    for folder in (start, *start.parents):
        path = folder / FILE
        if path.is_file():
            return path if b"[tool.dpaudit" in _content(path) else None
    return None


def read(path: Path, verb: str, command: click.Command, verbs: Collection[str]) -> dict[str, Any]:
    """What the file says of a verb, checked against the options that it has."""
    import tomllib

    try:
        tables = tomllib.loads(_content(path).decode("utf-8")).get("tool", {}).get("dpaudit", {})
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        where = "" if isinstance(error, UnicodeDecodeError) else f" ({error})"
        raise InvalidArgument("DPA507", f"{path.name} cannot be read as TOML{where}.") from error
    for name in tables if isinstance(tables, dict) else ["tool.dpaudit"]:
        if name not in verbs:
            raise InvalidArgument("DPA507", f"[tool.dpaudit] of {path.name} holds a table for each verb; {name!r} is no verb.")
    return _checked(tables.get(verb, {}), f"tool.dpaudit.{verb}", command, path)


def _checked(table: object, place: str, command: click.Command, path: Path) -> dict[str, Any]:
    """Values by the names of parameters; DPA507 for one that does not exist."""
    if not isinstance(table, Mapping):
        raise InvalidArgument("DPA507", f"{place} of {path.name} must be a table of options.")
    if isinstance(command, click.Group):
        for name in table:
            if name not in command.commands:
                raise InvalidArgument("DPA507", f"[{place}] of {path.name} names {name!r}, which is no verb of it.")
        return {name: _checked(values, f"{place}.{name}", command.commands[name], path) for name, values in table.items()}
    options = {option.removeprefix("--"): str(one.name) for one in command.params for option in one.opts}
    found = {}
    for key, value in table.items():
        if key not in options:
            raise InvalidArgument("DPA507", f"[{place}] of {path.name} sets {key!r}. Allowed are {', '.join(sorted(options))}.")
        found[options[key]] = value
    return found


def name_variables(command: click.Command, name: str) -> None:
    """Give every option the environment variable of its name on the command line, whatever the parameter is called."""
    for part, inner in command.commands.items() if isinstance(command, click.Group) else ():
        name_variables(inner, f"{name} {part}")
    for one in command.params:
        if isinstance(one, click.Option):
            one.envvar = "_".join([PREFIX, *name.split(), *max(one.opts, key=len).strip("-").split("-")]).upper()


def strongest(ctx: click.Context, names: tuple[str, ...]) -> dict[str, Any]:
    """Of options that exclude each other, those given in the strongest way: flag before environment before file."""
    given = {name: ctx.params[name] for name in names if ctx.params[name] is not None}
    sources = {name: source.name for name in given if (source := ctx.get_parameter_source(name)) is not None}
    best = max((_STRENGTH.index(source) for source in sources.values()), default=0)
    return {name: given[name] if name in given and _STRENGTH.index(sources[name]) == best else None for name in names}


def _content(path: Path) -> bytes:
    """The bytes of a file."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidArgument("DPA507", f"{path.name} cannot be read ({error.strerror}).") from error
