"""`dpaudit prove`: prove or refute the claims of functions from their source, or check stored certificates again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dpaudit.cli import VERBS
from dpaudit.cli.completion import file_paths
from dpaudit.cli.console import emit, emit_json, json_option, results_only, say
from dpaudit.cli.folders import make_folder
from dpaudit.cli.outputs import annotate, github_option
from dpaudit.cli.progress import program_counter
from dpaudit.cli.prove_file import RELATIONS, claimed
from dpaudit.cli.prove_outcomes import REAL_NUMBERS, STATUSES, Outcome, findings, unread
from dpaudit.errors import DpauditError, TargetFailure
from dpaudit.extras import require
from dpaudit.own_packages import require_own
from dpaudit.results import EXIT_CODES

if TYPE_CHECKING:
    from types import ModuleType

    from dpaudit.spec import Spec
    from dpaudit.verifier.outcomes import ProofResult
    from dpaudit.verifier.recheck import Rechecked

SUITE = "suite"


@dataclass(frozen=True)
class Subject:
    """A function to verify: its name in files and on the terminal, and the verdict that is published for it, if one is."""

    name: str
    function: Callable[..., Any]
    published: str = "proven"


@click.command("prove", short_help=VERBS["prove"])
@click.argument("programs", nargs=-1, metavar="[PROGRAM]...", shell_complete=file_paths)
@click.option("--recheck", is_flag=True, help="Check stored certificates against the source instead of searching for proofs.")
@click.option("--quick", is_flag=True, help="Recheck with the front end and the kernel alone, without a solver.")
@click.option("--certificates", metavar="DIR", help="Where --recheck reads; the certificates that are installed unless given.")
@click.option("--output", metavar="DIR", help="Write the certificates of proofs to this folder.")
@click.option(
    "--epsilon", metavar="TEXT", help="Claim this epsilon, a number or a parameter, of functions without @spec in FILE.py."
)
@click.option("--delta", metavar="TEXT", help="Claim this delta besides.")
@click.option("--adjacency", type=click.Choice(RELATIONS), help="How data differ; add_remove unless given.")
@click.option("--requires", multiple=True, metavar="TEXT", help="What callers ensure, such as 'lo < hi'; may be repeated.")
@click.option("--domain", multiple=True, metavar="TEXT", help="What holds of data, such as 'ages[each] <= 120'; may be repeated.")
@click.option("--explain", is_flag=True, help="Say what is understood of each function, or why it is not read; prove nothing.")
@click.option(
    "--real-numbers", is_flag=True, help="Exit with 0 also where a proof covers the real-number form of a float program only."
)
@click.option("--sarif", metavar="FILE", help="Also write SARIF 2.1.0 to this file.")
@github_option
@json_option
@click.pass_context
def prove(  # noqa: C901, PLR0913 - the options of the command
    ctx: click.Context,
    *,
    programs: tuple[str, ...],
    recheck: bool,
    quick: bool,
    certificates: str | None,
    output: str | None,
    epsilon: str | None,
    delta: str | None,
    adjacency: str | None,
    requires: tuple[str, ...],
    domain: tuple[str, ...],
    explain: bool,
    real_numbers: bool,
    sarif: str | None,
    github: bool,
    as_json: bool,
) -> None:
    """Prove or refute the privacy claims of Python functions from their source, for every length and every parameter.

    PROGRAM is MODULE:FUNCTION or FILE.py:FUNCTION, or MODULE or FILE.py for all with @spec, or `suite`; without one, everything
    installed. With --epsilon, functions of FILE.py without @spec are read with that claim, and the file is not loaded.

    Exit code 0 says that everything is proven (or, in the suite, as published), 1 that a claim is refuted, 3 that one is unknown,
    stale or proven for real numbers only, 4 that a function does not load or is outside the verified subset.
    """
    if (quick or certificates is not None) and not recheck:
        raise click.UsageError("--quick and --certificates belong to --recheck.")
    if recheck and output is not None:
        raise click.UsageError("--output writes certificates of new proofs; --recheck makes none.")
    spec = claimed(epsilon, delta, adjacency, requires, domain)
    if spec is not None and (recheck or not programs):
        raise click.UsageError("--epsilon goes with FILE.py or FILE.py:FUNCTION, and not with --recheck.")
    if explain and spec is None:
        raise click.UsageError("--explain needs the claim: --epsilon, and --adjacency.")
    if not quick and not explain:
        require("proofs")
    if output is not None:
        make_folder(Path(output))
    how = _How(recheck=recheck, quick=quick, folder=certificates, anything=bool(programs), spec=spec, explain=explain)
    outcomes: list[Outcome] = []
    with results_only(), program_counter() as tell:
        for name in programs or ("proofs", SUITE):
            try:
                outcomes += _outcomes(name, how, tell)
            except TargetFailure as failure:
                if len(programs) < 2:
                    raise
                outcomes.append(unread(name, "proven", failure))
    for outcome in outcomes:
        _write(outcome, output)
    _show(outcomes, sarif, github=github)
    if as_json:
        emit_json({"programs": [_as_data(outcome) for outcome in outcomes]})
    else:
        emit(_text(outcomes))
    ctx.exit(exit_code_of(outcomes, real_numbers=real_numbers))


def subjects_of(name: str, *, anything: bool = True) -> list[Subject]:
    """The functions that a name stands for."""
    if name == SUITE:
        from dpaudit.catalogue import PROGRAMS

        return [Subject(_name(one.program), one.program, one.verdict) for one in PROGRAMS if one.program is not None]
    from dpaudit.importing import module_at
    from dpaudit.spec import spec_of

    place, _, attribute = name.rpartition(":")
    modules = [module_at(place)] if place else list(_within(module_at(name)))
    found = {id(value): value for module in modules for value in vars(module).values() if spec_of(value) is not None}
    if place:
        value = getattr(modules[0], attribute, None)
        found = {} if value is None else {id(value): value}
    if anything and (not found or any(spec_of(value) is None for value in found.values())):
        hint = f"Write MODULE:FUNCTION, FILE.py:FUNCTION or {SUITE}, or say the claim: --epsilon eps --adjacency add_remove."
        raise TargetFailure("DPA732", f"{name} has no function with @spec. {hint}")
    return [Subject(_name(value), value) for value in found.values()]


def exit_code_of(outcomes: Sequence[Outcome], *, real_numbers: bool = False) -> int:
    """The exit code of a run: see the help of the command."""
    statuses = {outcome.status for outcome in outcomes if outcome.status != outcome.published}
    if real_numbers:
        statuses.discard(REAL_NUMBERS)
    for status, code in (
        ("refuted", "refuted"),
        ("unsupported", "failed"),
        ("unknown", "inconclusive"),
        (REAL_NUMBERS, "inconclusive"),
    ):
        if status in statuses:
            return EXIT_CODES[code]
    # A broken program of the suite that is called proven is an error of the verifier itself.
    return EXIT_CODES["internal" if statuses else "survived"]


def installed() -> Path:
    """The folder of the certificates that are installed."""
    from importlib.util import find_spec

    require_own("proofs")
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


def _verified(subject: Subject) -> ProofResult:
    """The verdict on one function."""
    from dpaudit.verifier import verify

    return verify(subject.function)


def _rechecked(subject: Subject, folder: Path, *, quick: bool) -> Rechecked:
    """One certificate, checked against its function."""
    from dpaudit.binding import examine
    from dpaudit.verifier.frontend import parse
    from dpaudit.verifier.recheck import Rechecked, parse_certificate, recheck

    try:
        text = (folder / f"{subject.name}.json").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return Rechecked(subject.name, "unknown", "there is no certificate; prove it first", 0, 0, quick, 0.0)
    program = parse(subject.function)
    examine(subject.function)
    return recheck(program, parse_certificate(text), quick=quick)


@dataclass(frozen=True)
class _How:
    """What is done with each function, and whether it is an error that a name has none."""

    recheck: bool
    quick: bool
    folder: str | None
    anything: bool
    spec: Spec | None = None
    explain: bool = False


def _outcomes(name: str, how: _How, tell: Callable[[str], None]) -> list[Outcome]:
    """What became of the functions of a name; a file or module of the user's is loaded in a process of its own."""
    from dpaudit.auditor.supervision.apart import run_apart
    from dpaudit.auditor.supervision.limits import MOST_MEMORY, Limits
    from dpaudit.codec import decode, encode

    def work(send: Callable[[Any], None]) -> Any:
        if how.spec is not None:
            from dpaudit.cli.prove_file import outcomes

            return encode(tuple(outcomes(name, how.spec, explain=how.explain)), tuple[Outcome, ...])
        return encode(tuple(_each(name, how, send)), tuple[Outcome, ...])

    if how.spec is None and (name == SUITE or name.partition(":")[0].partition(".")[0] in _OWN):
        return list(_each(name, how, tell))
    limits = Limits(memory=MOST_MEMORY, silence=_LONGEST)
    return list(decode(run_apart(work, limits, lambda one: tell(str(one))), tuple[Outcome, ...], "outcomes"))


def _each(name: str, how: _How, tell: Callable[[str], None]) -> Iterator[Outcome]:
    """What became of each function, one after the other; one that cannot be read does not hide the others."""
    folder = (installed() if how.folder is None else Path(how.folder)) if how.recheck else None
    for subject in subjects_of(name, anything=how.anything):
        if folder is not None and subject.published != "proven":
            continue
        tell(subject.name)
        try:
            found = _verified(subject) if folder is None else _rechecked(subject, folder, quick=how.quick)
        except DpauditError as error:
            yield unread(subject.name, subject.published, error, subject.function.__name__)
        else:
            yield _outcome(subject, found)


def _outcome(subject: Subject, found: ProofResult | Rechecked) -> Outcome:
    """A verdict or a recheck as data."""
    from dataclasses import asdict

    from dpaudit.verifier.certificates import text_of
    from dpaudit.verifier.recheck import Rechecked
    from dpaudit.verifier.telling import as_data, lines, rechecked_lines

    checked = isinstance(found, Rechecked)
    certificate = getattr(found, "certificate", None)
    return Outcome(
        program=subject.name,
        published=subject.published,
        status=found.status,
        lines=tuple(rechecked_lines(found) if isinstance(found, Rechecked) else lines(found)),
        document=json.dumps(asdict(found) if isinstance(found, Rechecked) else as_data(found)),
        certificate=None if certificate is None else text_of(certificate),
        aligned=not checked and bool(getattr(found, "alignment", ())),
        file=subject.function.__code__.co_filename,
        line=getattr(found, "line", 0) or subject.function.__code__.co_firstlineno,
    )


def _show(outcomes: Sequence[Outcome], sarif: str | None, *, github: bool) -> None:
    """Write what CI systems show."""
    if sarif is None and not github:
        return
    from dpaudit.report import proof_annotations, proof_sarif, write_text

    found = findings(outcomes)
    if sarif is not None:
        write_text(proof_sarif(found), sarif)
        say(f"written: {sarif}")
    if github:
        annotate(proof_annotations(found), "")


def _write(outcome: Outcome, output: str | None) -> None:
    """Write the certificate of a proof."""
    if output is None or outcome.certificate is None:
        return
    from dpaudit.report import write_text

    path = Path(output) / f"{Path(outcome.program).name}.json"
    write_text(outcome.certificate, path)
    say(f"written: {path}")


def _text(outcomes: Sequence[Outcome]) -> str:
    """What is printed for people."""
    from dpaudit.verifier.outcomes import TRUSTED
    from dpaudit.verifier.telling import LEGEND

    printed: list[str] = []
    for outcome in outcomes:
        printed += outcome.lines
        if outcome.published == "refuted":
            printed.append("  published   as broken")
        printed.append("")
    counts = {status: sum(outcome.status == status for outcome in outcomes) for status in STATUSES}
    if any(outcome.aligned for outcome in outcomes):
        printed += [*LEGEND, ""]
    if counts["proven"] or counts[REAL_NUMBERS]:
        printed += ["A proof rests on:", *(f"  - {one}" for one in TRUSTED), ""]
    printed.append(", ".join(f"{count} {status}" for status, count in counts.items() if count))
    return "\n".join(printed) + "\n"


def _as_data(outcome: Outcome) -> dict[str, Any]:
    """One outcome as plain data."""
    found: dict[str, Any] = json.loads(outcome.document)
    return {**found, "program": outcome.program, "status": outcome.status, "published": outcome.published}


_OWN: Final = ("dpaudit", "learners", "mechanisms", "proofs")
_LONGEST: Final = 3600.0
"""Seconds that the verification of one function of the user's may take, or the loading of its file."""
