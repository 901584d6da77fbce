"""`dpaudit prove`: prove or refute the claims of functions from their source, or check stored certificates again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpaudit.cli import VERBS
from dpaudit.cli.completion import file_paths
from dpaudit.cli.console import emit, emit_json, json_option, results_only, say
from dpaudit.cli.folders import make_folder
from dpaudit.errors import DpauditError, TargetFailure
from dpaudit.results import EXIT_CODES

if TYPE_CHECKING:
    from types import ModuleType

    from dpaudit.verifier.recheck import Rechecked
    from dpaudit.verifier.verifying import Verification

SUITE = "suite"


@dataclass(frozen=True)
class Subject:
    """A function to verify: its name in files and on the terminal, and the verdict that is published for it, if one is."""

    name: str
    function: Callable[..., Any]
    published: str = "proven"


@dataclass(frozen=True)
class Outcome:
    """What became of one subject: a verdict, a recheck, or the error that its source gave."""

    subject: Subject
    found: Verification | Rechecked | None
    error: str = ""

    @property
    def status(self) -> str:
        """One of proven, refuted, unknown, unsupported."""
        return "unsupported" if self.found is None else self.found.status


@click.command("prove", short_help=VERBS["prove"])
@click.argument("programs", nargs=-1, metavar="[PROGRAM]...", shell_complete=file_paths)
@click.option("--recheck", is_flag=True, help="Check stored certificates against the source instead of searching for proofs.")
@click.option("--quick", is_flag=True, help="Recheck with the front end and the kernel alone, without a solver.")
@click.option("--certificates", metavar="DIR", help="Where --recheck reads; the certificates that are installed unless given.")
@click.option("--output", metavar="DIR", help="Write the certificates of proofs to this folder.")
@json_option
@click.pass_context
def prove(
    ctx: click.Context,
    *,
    programs: tuple[str, ...],
    recheck: bool,
    quick: bool,
    certificates: str | None,
    output: str | None,
    as_json: bool,
) -> None:
    """Prove or refute the privacy claims of Python functions from their source, for every length and every parameter.

    PROGRAM is MODULE:FUNCTION or FILE.py:FUNCTION, or MODULE or FILE.py for every function with @spec in it, or `suite` for the
    published programs. Without one, everything that is installed is proven: the package proofs and the suite.

    Exit code 0 says that everything is proven (or, in the suite, as published), 1 that a claim is refuted, 3 that one stays
    unknown or a certificate is stale, 4 that a function does not load or is outside the verified subset.
    """
    if (quick or certificates is not None) and not recheck:
        raise click.UsageError("--quick and --certificates belong to --recheck.")
    if recheck and output is not None:
        raise click.UsageError("--output writes certificates of new proofs; --recheck makes none.")
    if output is not None:
        make_folder(Path(output))
    with results_only():
        subjects = [subject for name in programs or ("proofs", SUITE) for subject in subjects_of(name, anything=bool(programs))]
        if recheck:
            subjects = [subject for subject in subjects if subject.published == "proven"]
            folder = installed() if certificates is None else Path(certificates)
            outcomes = [_attempted(subject, lambda one: _rechecked(one, folder, quick=quick)) for subject in _told(subjects)]
        else:
            outcomes = [_attempted(subject, _verified) for subject in _told(subjects)]
    for outcome in outcomes:
        _write(outcome, output)
    if as_json:
        emit_json({"programs": [_as_data(outcome) for outcome in outcomes]})
    else:
        emit(_text(outcomes))
    ctx.exit(exit_code_of(outcomes))


def subjects_of(name: str, *, anything: bool = True) -> list[Subject]:
    """The functions that a name stands for.

    Args:
      name: as given on the command line.
      anything: whether it is an error that there is none.
    Returns:
      Functions with a specification, in the order of the source.
    Raises:
      TargetFailure: nothing of that name loads (DPA401, DPA402), or none has a specification (DPA732).
    Source: design, "Verdict and exit codes".
    Example:
      >>> [subject.name for subject in subjects_of("dpaudit.verifier.suite.basic:histogram")]
      ['dpaudit.verifier.suite.basic.histogram']
    """
    if name == SUITE:
        from dpaudit.verifier.suite import SUITE as CASES

        return [Subject(_name(case.function), case.function, case.status) for case in CASES]
    from dpaudit.spec import spec_of
    from dpaudit.targets import module_at

    place, _, attribute = name.rpartition(":")
    modules = [module_at(place)] if place else list(_within(module_at(name)))
    found = {id(value): value for module in modules for value in vars(module).values() if spec_of(value) is not None}
    if place:
        value = getattr(modules[0], attribute, None)
        found = {} if value is None else {id(value): value}
    if anything and (not found or any(spec_of(value) is None for value in found.values())):
        raise TargetFailure("DPA732", f"{name} has no function with @spec. Write MODULE:FUNCTION, FILE.py:FUNCTION or {SUITE}.")
    return [Subject(_name(value), value) for value in found.values()]


def exit_code_of(outcomes: Sequence[Outcome]) -> int:
    """The exit code of a run: see the help of the command."""
    statuses = {outcome.status for outcome in outcomes if outcome.status != outcome.subject.published}
    for status, code in (("refuted", "refuted"), ("unsupported", "failed"), ("unknown", "inconclusive")):
        if status in statuses:
            return EXIT_CODES[code]
    # A broken program of the suite that is called proven is an error of the verifier itself.
    return EXIT_CODES["internal" if statuses else "survived"]


def installed() -> Path:
    """The folder of the certificates that are installed."""
    from importlib.util import find_spec

    found = find_spec("proofs")
    if found is None or not found.submodule_search_locations:
        raise TargetFailure("DPA732", "the package proofs is not installed. Name the folder with --certificates.")
    return Path(found.submodule_search_locations[0]) / "certificates"


def _within(module: ModuleType) -> Iterator[ModuleType]:
    """A module and all modules of its package."""
    from importlib import import_module
    from pkgutil import walk_packages

    yield module
    for found in walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
        yield import_module(found.name)


def _name(function: Callable[..., Any]) -> str:
    """The name of a function in files: its module, or the file that it stands in, and its own name."""
    module = function.__module__
    stem = Path(function.__code__.co_filename).stem if module.startswith("_dpaudit_") else module
    return f"{stem}.{function.__name__}"


def _verified(subject: Subject) -> Verification:
    """The verdict on one function."""
    from dpaudit.verifier import verify

    return verify(subject.function)


def _rechecked(subject: Subject, folder: Path, *, quick: bool) -> Rechecked:
    """One certificate, checked against its function."""
    from dpaudit.binding import examine
    from dpaudit.verifier.frontend import parse
    from dpaudit.verifier.recheck import Rechecked, parsed, recheck

    try:
        text = (folder / f"{subject.name}.json").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return Rechecked(subject.name, "unknown", "there is no certificate; prove it first", 0, 0, quick, 0.0)
    program = parse(subject.function)
    examine(subject.function)
    return recheck(program, parsed(text), quick=quick)


def _attempted(subject: Subject, work: Callable[[Subject], Verification | Rechecked]) -> Outcome:
    """What became of one subject; one that cannot be read does not hide the others."""
    try:
        return Outcome(subject, work(subject))
    except DpauditError as error:
        return Outcome(subject, None, str(error))


def _told(subjects: Sequence[Subject]) -> Iterator[Subject]:
    """The subjects, with a line on the terminal that says which one is being worked on."""
    with _progress(len(subjects)) as tell:
        for place, subject in enumerate(subjects):
            tell(place, subject.name)
            yield subject


@contextmanager
def _progress(count: int) -> Iterator[Callable[[int, str], None]]:
    """A bar on stderr; nothing where nobody would see it."""
    if not sys.stderr.isatty():
        yield lambda _place, _name: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(bar_width=None), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False) as display:
        bar = display.add_task("loading", total=count)
        yield lambda place, name: display.update(bar, completed=place, description=name.rpartition(".")[2][:32])


def _write(outcome: Outcome, output: str | None) -> None:
    """Write the certificate of a proof."""
    certificate = getattr(outcome.found, "certificate", None)
    if output is None or certificate is None:
        return
    from dpaudit.report import write_text
    from dpaudit.verifier.certificates import text_of

    path = Path(output) / f"{outcome.subject.name}.json"
    write_text(text_of(certificate), path)
    say(f"written: {path}")


def _text(outcomes: Sequence[Outcome]) -> str:
    """What is printed for people."""
    from dpaudit.verifier.recheck import Rechecked
    from dpaudit.verifier.telling import LEGEND, lines, rechecked_lines
    from dpaudit.verifier.verifying import TRUSTED

    printed: list[str] = []
    for outcome in outcomes:
        if outcome.found is None:
            printed += [f"{outcome.subject.name}: unsupported", f"  {outcome.error}"]
        else:
            printed += rechecked_lines(outcome.found) if isinstance(outcome.found, Rechecked) else lines(outcome.found)
        if outcome.subject.published == "refuted":
            printed.append("  published   as broken")
        printed.append("")
    counts = {status: sum(outcome.status == status for outcome in outcomes) for status in _STATUSES}
    if any(getattr(outcome.found, "alignment", ()) for outcome in outcomes):
        printed += [*LEGEND, ""]
    if counts["proven"]:
        printed += ["A proof rests on:", *(f"  - {one}" for one in TRUSTED), ""]
    printed.append(", ".join(f"{count} {status}" for status, count in counts.items() if count))
    return "\n".join(printed) + "\n"


_STATUSES = ("proven", "refuted", "unknown", "unsupported")


def _as_data(outcome: Outcome) -> dict[str, Any]:
    """One outcome as plain data."""
    from dataclasses import asdict

    from dpaudit.verifier.recheck import Rechecked
    from dpaudit.verifier.telling import as_data

    if outcome.found is None:
        found: dict[str, Any] = {"name": outcome.subject.function.__name__, "error": outcome.error}
    else:
        found = asdict(outcome.found) if isinstance(outcome.found, Rechecked) else as_data(outcome.found)
    return {**found, "program": outcome.subject.name, "status": outcome.status, "published": outcome.subject.published}
