"""`dpaudit targets`: the targets that installed packages bundle."""

from __future__ import annotations

from typing import Any

import click

from dpaudit.cli import VERBS
from dpaudit.cli.console import emit, emit_json, json_option, results_only, say


@click.command("targets", short_help=VERBS["targets"])
@json_option
def targets(*, as_json: bool) -> None:
    """List the targets that `dpaudit audit` knows by name, with what each promises."""
    from dpaudit.auditor.supervision.apart import run_apart
    from dpaudit.auditor.supervision.limits import Limits

    with results_only():
        found, broken = run_apart(_listed, Limits())
    if as_json:
        emit_json({"targets": found, "broken": broken})
    else:
        width = max((len(target["name"]) for target in found), default=0)
        emit("".join(f"{target['name']:<{width}}  {target['claim']}\n{'':<{width}}  {target['description']}\n" for target in found))
    for error in broken:
        say("{location} cannot be loaded: {code} {message}".format(**error))


def _listed(_: object) -> list[list[dict[str, Any]]]:
    """Targets and bundles that do not load, as plain data; run in a process of its own, since packages of others are loaded."""
    from dpaudit.loading import broken_bundles

    failures = [{"location": place, "code": error.code, "message": error.message} for place, error in broken_bundles().items()]
    return [_bundled(), failures]


def _bundled() -> list[dict[str, Any]]:
    """Every bundled target as plain data."""
    from dpaudit.loading import bundled_targets, load_targets

    loaded = {name: load_targets(name)[0] for name in bundled_targets()}
    return [
        {"name": name, "description": target.description, "claim": str(target.claim), "adjacency": str(target.adjacency)}
        for name, target in loaded.items()
    ]
