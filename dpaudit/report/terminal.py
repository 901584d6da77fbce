"""A report as text for a terminal: one table of all claims, then what was found about each refuted one, then what it all means."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from dpaudit.exact import instance_of, integer
from dpaudit.report import wording
from dpaudit.report.document import reproduce_command
from dpaudit.results import Attack, Proof, Report, TargetResult, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

_COLOURS: Final = {
    Verdict.REFUTED: "bold red",
    Verdict.FAILED: "bold magenta",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.CONSISTENT: "green",
    Verdict.PROVEN: "bold green",
}
_COLUMNS: Final = ("target", "claim", "price", "attack", "properties", "proof", "verdict")
_ROOM_FOR_ALL: Final = 108
_ROOM_FOR_TABLE: Final = 76
_LONGEST_NAME: Final = 24
_LONGEST_WITNESS: Final = 240


def to_text(report: Report, *, width: int = 100, colour: bool = False, ascii_only: bool = False, path: str | None = None) -> str:
    """The report as text.

    Args:
      report: what an audit found.
      width: columns of the terminal, at least 40.
      colour: whether to write ANSI colours.
      ascii_only: whether lines are drawn with ASCII characters.
      path: where the report's JSON was written, for the commands that repeat what was found.
    Returns:
      Lines of at most `width` columns.
    Raises:
      Nothing; every report has a text.
    Source: design rule 8 (every number in a report can be recomputed).
    Example:
      >>> from fractions import Fraction
      >>> from dpaudit.results import Settings
      >>> print(to_text(Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), results=())).splitlines()[0])
      No claim was audited.
    """
    width = max(integer(width, "width"), 40)
    for name, flag in (("colour", colour), ("ascii_only", ascii_only)):
        instance_of(flag, bool, name)
    return rendered(_parts(report, path, width=width, ascii_only=ascii_only), width=width, colour=colour)


def rendered(parts: Iterable[RenderableType], *, width: int, colour: bool) -> str:
    """What rich makes of the parts of a text, in lines of at most `width` columns."""
    from rich.console import Console

    output = io.StringIO()
    console = Console(
        file=output,
        width=width,
        height=25,  # with a width alone, a dumb terminal would be given 80 columns
        force_terminal=colour,
        color_system="standard" if colour else None,
        no_color=not colour,
        legacy_windows=False,
        highlight=False,
        emoji=False,
        markup=False,
    )
    for part in parts:
        console.print(part)
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines()) + "\n"


def printable(text: str) -> str:
    """The text with control characters written as escapes, so that names and outputs cannot steer the terminal."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text)


def _parts(report: Report, path: str | None, *, width: int, ascii_only: bool) -> Iterator[RenderableType]:
    """What is printed, from top to bottom."""
    if instance_of(report, Report, "report").results:
        yield _table(report, width=width, ascii_only=ascii_only)
    for result in report.results:
        if result.verdict in (Verdict.REFUTED, Verdict.FAILED):
            yield _title(result)
            yield _grid((label, printable(text)) for label, text in _lines(report, result, path))
    yield f"{wording.headline(report)}."
    yield from _others(report)
    yield from map(printable, wording.disclosures(report))
    yield from map(printable, wording.warnings(report))
    if any(result.attack for result in report.results):
        yield wording.false_alarm(report)
        if width < _ROOM_FOR_ALL:
            checks = tuple(check for result in report.results for check in result.properties)
            yield f"Properties of all targets: {wording.properties(checks)}. Proofs: {wording.proofs(report)}."
    yield from _meanings(report)
    if any(result.verdict in (Verdict.CONSISTENT, Verdict.INCONCLUSIVE) for result in report.results):
        yield wording.power_target(report)


def _others(report: Report) -> Iterator[str]:
    """What was found about the claims that are not told in full, line by line."""
    for result in report.results:
        if result.verdict not in (Verdict.REFUTED, Verdict.FAILED):
            yield from (printable(f"{result.name}, {label}: {text}") for label, text in wording.found(result))


def _meanings(report: Report) -> Iterator[str]:
    """What the verdicts, and the words of the proof witness, mean."""
    for verdict in wording.ORDER:
        if any(result.verdict is verdict for result in report.results):
            yield f"{verdict}: {wording.meaning(verdict, report.results)}"
    for status, meaning in wording.PROOFS.items():
        if any(result.proof is not None and result.proof.status == status for result in report.results):
            yield f"proof {status}: {meaning}"


def _table(report: Report, *, width: int, ascii_only: bool) -> RenderableType:
    """One row for each claim; narrower terminals get it without properties and proofs, summed up in a line below, or as a list."""
    from rich import box
    from rich.console import Group
    from rich.table import Table

    if width < _ROOM_FOR_TABLE:
        blocks = [(_title(result), _grid(list(_cells(result).items())[1:])) for result in report.results]
        return Group(*(part for block in blocks for part in block))
    table = Table(box=box.ASCII2 if ascii_only else box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    columns = [name for name in _COLUMNS if width >= _ROOM_FOR_ALL or name not in ("properties", "proof")]
    for name in columns:
        table.add_column(name, overflow="fold", no_wrap=name in ("target", "verdict"))
    for result in report.results:
        cells = _cells(result)
        table.add_row(*(cells[name] for name in columns[:-1]), _verdict(result))
    return table


def _cells(result: TargetResult) -> dict[str, str]:
    """The cells of a row by column, all but the verdict."""
    tried = result.attack is not None
    return {
        "target": "\n".join(textwrap.wrap(printable(result.name), _LONGEST_NAME)),
        "claim": f"{printable(wording.promised(result))}\n{printable(result.claim.adjacency)}",
        "price": "-" if result.price is None else printable(wording.priced(result.price)),
        "attack": wording.attacked(result.attack) if tried else "-",
        "properties": wording.properties(result.properties) if result.properties else "-",
        "proof": "\n".join(filter(None, (wording.proof_status(result.proof), wording.proof_by_tests(result.proof)))),
    }


def _verdict(result: TargetResult) -> RenderableType:
    """The verdict in its colour."""
    from rich.text import Text

    return Text(result.verdict, style=_COLOURS[result.verdict])


def _title(result: TargetResult) -> RenderableType:
    """Name and verdict on a line."""
    from rich.text import Text

    return Text.assemble((printable(result.name), "bold"), " ", (result.verdict.upper(), _COLOURS[result.verdict]))


def _grid(lines: Iterable[tuple[str, str]]) -> RenderableType:
    """Labels on the left, texts on the right, an empty line below."""
    from rich.padding import Padding
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in lines:
        grid.add_row(label, text)
    return Padding(grid, (0, 0, 1, 2))


def _lines(report: Report, result: TargetResult, path: str | None) -> Iterator[tuple[str, str]]:
    """Label and text of each line of the details."""
    yield "claim", result.claim.text
    if result.attack is None or not result.rejected_in_family:
        yield "found", result.failure or result.summary
    if result.failure[:3] == "DPA":
        yield "more", f"dpaudit explain {result.failure[:6]}"
    yield from ((status, printable(text)) for status, text in wording.remarks(result))
    if wording.inversion(result):
        yield "price", f"{wording.priced(result.price)}. {wording.inversion(result)}"
    if result.price is not None and result.price.status == "above":
        yield "price", f"{wording.priced(result.price)}. {wording.price_status(result.price)}"
    if result.proof is not None and result.proof.status in ("refuted", "stale", "unknown"):
        yield "proof", _proof(result.proof)
    if result.attack is not None:
        yield from _attack_lines(report, result.attack)
        yield "repeat", _repeat(result, path)
    if result.source is not None:
        yield "source", f"{result.source[0]}:{result.source[1]}"


def _proof(proof: Proof) -> str:
    """What a proof found against the claim, or what is in its way."""
    found = proof.reason or " ".join(step.statement for step in proof.steps if step.word == "certified")
    return f"{proof.status}, {proof.name}: {found}"


def _attack_lines(report: Report, attack: Attack) -> Iterator[tuple[str, str]]:
    """What the attack did: on which pair, counting which event, with which seed."""
    yield "pair", wording.pair(attack)
    if attack.pair.witness is not None:
        yield from zip(("first", "second"), map(_cut, attack.pair.witness), strict=True)
    if attack.bound is not None:
        yield "event", attack.event
        yield "counts", wording.counted(attack.bound)
        yield "bound", f"{wording.attacked(attack)}, {wording.confidence(attack.bound)}"
    yield "bets", wording.evidence(attack)
    if attack.minimal is not None:
        yield "minimal", wording.minimal(attack.minimal)
        yield from zip(("first", "second"), map(_cut, attack.minimal.pair.witness or ()), strict=False)
    yield "seed", wording.stream(report, attack)


def _cut(text: str) -> str:
    """A dataset in few lines; all that is kept of it stands in the report."""
    return text if len(text) <= _LONGEST_WITNESS else f"{text[: _LONGEST_WITNESS - 4]} ..."


def _repeat(result: TargetResult, path: str | None) -> str:
    """How to draw the same runs again."""
    if result.reference is None:
        return "call dpaudit.auditor.replay with this report and the Target object"
    if path is None:
        return f"audit with --report DIR, then {reproduce_command(result, 'DIR/report.json')}"
    return reproduce_command(result, path) or ""
