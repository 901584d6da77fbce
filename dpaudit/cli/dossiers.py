"""Dossiers on the command line: the claims of published texts, decided one by one, printed and written."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from dpaudit.cli.console import emit, results_only, say, text_style
from dpaudit.cli.workers import workers
from dpaudit.errors import InvalidArgument, TargetFailure

if TYPE_CHECKING:
    from dpaudit.dossier import Decided, Dossier

RUNS: Final = 20_000
"""Of every attack, unless told otherwise: enough for every specimen; most items are decided by exact laws, proofs and prices."""

_LONGEST: Final = 86_400.0
"""Seconds that all decisions may take on workers of the user's own making."""

_TAKEN: Final = {"targets", "runs", "profile", "jobs", "executor", "folder", "as_json"}


def is_dossier(ctx: click.Context, targets: tuple[str, ...]) -> bool:
    """Whether a dossier was named, which goes alone, but for the keys of its items, and takes few options."""
    from dpaudit.dossier import DOSSIERS, items_of

    if not set(targets) & set(DOSSIERS):
        return False
    if unknown := [
        key for key in targets[1:] if targets[0] not in DOSSIERS or key not in {item.key for item in items_of(targets[0])}
    ]:
        raise click.UsageError(
            f"{' and '.join(DOSSIERS)} is decided by itself; after it only its items are named, not {unknown[0]}."
        )
    given = {name for name in ctx.params if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE}
    if given - _TAKEN:
        raise click.UsageError(f"{targets[0]} takes --runs, --profile, --jobs, --executor, --report and --json, no other option.")
    return True


def decide(
    name: str,
    keys: tuple[str, ...] = (),
    *,
    runs: int | None,
    jobs: int | None,
    factory: str | None,
    folder: str | None,
    as_json: bool,
) -> int:
    """Decide every item of a dossier, or those that are named, write its files and print it."""
    from dpaudit.report.dossier import to_html, to_json, to_markdown, to_text
    from dpaudit.report.files import write_text

    with results_only():
        chosen = runs or RUNS
        dossier = _decided_apart(name, chosen, factory, keys) if factory else decided_dossier(name, chosen, jobs, keys)
    if folder is not None:
        for file, text in (
            ("index.html", to_html(dossier)),
            (f"{name}.json", to_json(dossier)),
            (f"{name}.md", to_markdown(dossier)),
        ):
            write_text(text, Path(folder) / file)
            say(f"written: {Path(folder) / file}")
    emit(to_json(dossier) if as_json else to_text(dossier, **text_style()))
    return dossier.exit_code


def _decided_apart(name: str, runs: int, factory: str, keys: tuple[str, ...]) -> Dossier:
    """All decisions by workers of the user's own making, whose factory is run in a process of its own."""
    from dpaudit.auditor.supervision.apart import run_apart
    from dpaudit.auditor.supervision.limits import MOST_MEMORY, Limits
    from dpaudit.codec import decode, encode
    from dpaudit.dossier import Dossier

    limits = Limits(memory=MOST_MEMORY, silence=_LONGEST)
    try:
        sent = run_apart(lambda _: encode(decided_dossier(name, runs, None, keys, factory), Dossier), limits)
    except TargetFailure as failure:
        if failure.code == "DPA105":
            raise InvalidArgument(failure.code, failure.message) from failure
        raise
    dossier: Dossier = decode(sent, Dossier, "dossier")
    return dossier


def decided_dossier(
    name: str, runs: int = RUNS, jobs: int | None = None, only: tuple[str, ...] = (), factory: str | None = None
) -> Dossier:
    """All decisions, or those that are named, here or by workers; the order is that of the dossier."""
    import dpaudit
    from dpaudit.dossier import Dossier, decided, items_of

    keys = [item.key for item in items_of(name) if not only or item.key in only]
    with workers(jobs, factory) as executor:
        if executor is None:
            found = list(_told((decided(name, key, runs) for key in keys), len(keys)))
        else:
            futures: list[Future[tuple[Decided, float]]] = [executor.submit(decided, name, key, runs) for key in keys]
            found = list(_told((future.result() for future in futures), len(keys)))
    dossier = Dossier(name, runs, tuple(item for item, _ in found), version=dpaudit.__version__)
    return replace(dossier, seconds=tuple((item.key, seconds) for item, seconds in found))


def _told(found: Iterable[tuple[Decided, float]], count: int) -> Iterable[tuple[Decided, float]]:
    """The same, with a line on stderr for each."""
    for place, (item, seconds) in enumerate(found, start=1):
        say(f"{place}/{count} {item.key}: {item.standing} ({seconds:.1f} s)")
        yield item, seconds
