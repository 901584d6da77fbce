"""Claims on the command line about functions as people write them: the file is read, not loaded."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dpaudit.cli.prove_outcomes import Outcome, unread
from dpaudit.errors import DpauditError, InvalidArgument, TargetFailure

if TYPE_CHECKING:
    from dpaudit.spec import Spec

RELATIONS: Final = ("add_remove", "replace_one", "one", "all")


def claimed(
    epsilon: str | None, delta: str | None, adjacency: str | None, requires: tuple[str, ...], domain: tuple[str, ...]
) -> Spec | None:
    """The claim that the options make; None where they make none."""
    from dpaudit.spec import Spec

    if epsilon is None:
        if delta is not None or adjacency is not None or requires or domain:
            raise InvalidArgument("DPA731", "the claim has no --epsilon. Write for instance --epsilon eps --adjacency add_remove.")
        return None
    return Spec(epsilon if delta is None else (epsilon, delta), adjacency or "add_remove", list(requires), list(domain))


def outcomes(name: str, spec: Spec, *, explain: bool) -> Iterator[Outcome]:
    """What became of the functions of a file: the one that is named, or each that no other calls."""
    place, _, wanted = name.partition(":")
    path = Path(place)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TargetFailure(
            "DPA732", f"{place} cannot be read ({type(error).__name__}). Write FILE.py or FILE.py:FUNCTION."
        ) from error
    for function in [wanted] if wanted else _uncalled(text):
        yield _explained(path, text, function, spec) if explain else _proven(path, text, function, spec)


def _uncalled(text: str) -> list[str]:
    """The functions of a file that no function of it calls."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return [""]
    called = {part.func.id for part in ast.walk(tree) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
    found = [one.name for one in tree.body if isinstance(one, ast.FunctionDef)]
    return [name for name in found if name not in called] or found or [""]


def _explained(path: Path, text: str, function: str, spec: Spec) -> Outcome:
    """What is understood of a function, without a proof."""
    from dpaudit.verifier.ordinary.reading import read
    from dpaudit.verifier.ordinary.telling import claim_of, understood

    program = f"{path.stem}.{function}"
    try:
        reading = read(text, spec, function=function or None)
    except DpauditError as error:
        return _refused(path, program, function, error)
    told = tuple(understood(reading))
    lines = (f"{program}: read", f"  claim       {claim_of(reading)}", *(f"  {one}" for one in told))
    document = json.dumps({"name": function, "status": "read", "understood": list(told)})
    return Outcome(program, "read", "read", lines, document, file=str(path), line=reading.source.function.lineno)


def _proven(path: Path, text: str, function: str, spec: Spec) -> Outcome:
    """The verdict on a function."""
    from dpaudit.verifier import verify
    from dpaudit.verifier.telling import as_data, lines

    program = f"{path.stem}.{function}"
    claim: Any = spec.claim
    try:
        found = verify(
            text,
            claim=claim,
            adjacency=dict(spec.changes).get(None),
            requires=spec.requires,
            domain=spec.domain,
            function=function or None,
        )
    except DpauditError as error:
        return _refused(path, program, function, error)
    first = next(
        (
            one.lineno
            for one in ast.walk(ast.parse(text))
            if isinstance(one, ast.FunctionDef) and one.name == function.rpartition(".")[2]
        ),
        1,
    )
    return Outcome(
        program,
        "proven",
        found.status,
        tuple(lines(found)),
        json.dumps(as_data(found)),
        None,
        bool(found.alignment),
        str(path),
        found.line or first,
    )


def _refused(path: Path, program: str, function: str, error: DpauditError) -> Outcome:
    """A function that is not read."""
    return unread(program, "proven", error, function, file=str(path), line=getattr(error, "line", 1))
