"""A report as text for a terminal: what was found about each claim and what to do, refuted ones first, then what it all means."""

from __future__ import annotations

import io
import shlex
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from dpaudit.exact import instance_of, integer
from dpaudit.report import reading, wording
from dpaudit.report.answers import Answers, answers, claim_in_words
from dpaudit.report.document import reproduce_command
from dpaudit.results import EXIT_CODES, Attack, Proof, Report, TargetResult, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

_COLOURS: Final = {
    Verdict.REFUTED: "bold red",
    Verdict.FAILED: "bold magenta",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.CONSISTENT: "green",
    Verdict.PROVEN: "bold green",
}
_MARGIN: Final = 14
_SPEAKING: Final = ("refuted", "stale", "unknown")
"""What is said of a proof in a sentence of its own."""

_LONGEST_IN_HEADING: Final = 90
"""Columns before a text, the longest verdict and two spaces."""
_IN_FULL: Final = 3
"""So many claims are shown in full; of more, only what was found and what to do."""
_LONGEST_WITNESS: Final = 240
_BAR: Final = 32
_LONGEST_SCALE: Final = 4.0
"""Bars end at this multiple of the claim, so that the claim's own stays visible beside a claim that is far off."""


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
    results = wording.by_urgency(instance_of(report, Report, "report").results)
    yield f"{wording.headline(report)}."
    in_full = len(results) <= _IN_FULL
    survivors = [result for result in results if result.verdict is Verdict.CONSISTENT]
    for result in results:
        answer = answers(report, result, path)
        if in_full or result.verdict is not Verdict.CONSISTENT or result is survivors[0]:
            yield ""
        yield from _in_line(result, width) if not in_full and _is_plain(result) else _found(result, answer, width)
        if in_full:
            yield _grid((label, printable(text)) for label, text in _details(report, result, answer, path, ascii_only=ascii_only))
    yield ""
    yield from _closing(report, results, path, in_full=in_full)


def _is_plain(result: TargetResult) -> bool:
    """True if nothing is to be said of a consistent claim but its witnesses and what the audit would have found."""
    found = result.verdict is Verdict.CONSISTENT and result.power is not None and result.power.epsilon is not None
    return found and wording.is_unopposed(result) and not any(_beside(result))


def _in_line(result: TargetResult, width: int) -> Iterator[RenderableType]:
    """A consistent claim in a line: what it says, what price and proof say, and the true epsilon that would have been found."""
    from rich.text import Text

    assert result.power is not None, "a plain one has its power"  # noqa: S101
    witnesses = _witnesses(result).replace("price epsilon = ", "price ").replace("price epsilon <= ", "price <= ")
    least = f"would find {result.power.epsilon:.4g}"
    said = ", ".join(filter(None, (claim_in_words(result), witnesses, least)))
    heading = f"{result.verdict.upper().ljust(_MARGIN)}{printable(result.name)}"
    lines = textwrap.fill(f"{heading}  {said}", width, subsequent_indent=" " * _MARGIN)
    text = Text(lines)
    text.stylize(_COLOURS[result.verdict], 0, len(result.verdict))
    text.stylize("bold", _MARGIN, len(heading))
    yield text


def _found(result: TargetResult, answer: Answers, width: int) -> Iterator[RenderableType]:
    """Verdict and name, then what was found and what to do, indented."""
    from rich.text import Text

    witnesses = _witnesses(result)
    beside = _beside_name(result, witnesses, width) if result.verdict is Verdict.CONSISTENT else ""
    yield Text.assemble(
        (result.verdict.upper().ljust(_MARGIN), _COLOURS[result.verdict]),
        (printable(result.name), "bold"),
        beside or _described(result, width),
    )
    told = [f"{answer.found} {answer.seen}".strip(), *_beside(result)]
    if witnesses and not beside:
        told.append(wording.sentence(witnesses))
    if result.verdict is Verdict.CONSISTENT:
        told = [" ".join(told)]
    if answer.why:
        told.append(f"Why: {answer.why}")
    if answer.repair:
        told.append(f"Repair: {answer.repair}")
    elif answer.next_step and result.verdict is Verdict.FAILED:
        told.append(f"Next: {answer.next_step}")
    for text in filter(None, told):
        kept = printable(text).replace(" %", "\xa0%")  # a number stays with its sign
        lines = textwrap.fill(kept, width, initial_indent=" " * _MARGIN, subsequent_indent=" " * _MARGIN)
        yield Text(lines.replace("\xa0%", " %"))


def _described(result: TargetResult, width: int) -> str:
    """What a target answers and where it is defined, as far as both fit behind its name; a description that does not goes below."""
    room = width - _MARGIN - len(result.name) - 2
    source = "" if result.source is None else f"  {result.source[0]}:{result.source[1]}"
    text = printable(result.description)
    if text and len(text) <= _LONGEST_IN_HEADING:
        if len(text) + len(source) <= room:
            return f"  {text}{source}"
        return f"{source if len(source) <= room else ''}\n{' ' * _MARGIN}{text}"
    return source if len(source) <= room else ""


def _beside_name(result: TargetResult, witnesses: str, width: int) -> str:
    """What a surviving target claims, and what price and proof say, where there is room behind its name."""
    text = f"  {claim_in_words(result)}, {witnesses}"
    return text if witnesses.startswith("price") and len(text) <= width - _MARGIN - len(result.name) else ""


def _witnesses(result: TargetResult) -> str:
    """Price and proof of a claim that was not refuted, where no proof needs a sentence of its own."""
    proof = result.proof
    judged = result.verdict in (Verdict.CONSISTENT, Verdict.INCONCLUSIVE, Verdict.PROVEN)
    if result.price is None or not judged or (proof is not None and proof.status in _SPEAKING):
        return ""
    price = "no price" if result.price.value is None else f"price {wording.priced(result.price)}"
    return price if proof is None else f"{price}, proof {proof.status}"


def _beside(result: TargetResult) -> Iterator[str]:
    """What checks and proofs say, a sentence each: violated ones, checks that were not run, and proofs that do not stand."""
    for status, text in wording.remarks(result):
        if status == "violated" or (status == "not run" and result.verdict not in (Verdict.REFUTED, Verdict.FAILED)):
            yield wording.sentence(f"a check fails: {text}" if status == "violated" else f"not checked: {text}")
    if wording.inversion(result):
        yield wording.inversion(result)
    proof = result.proof
    if proof is not None and proof.status in _SPEAKING:
        yield f"Proof {_proof(proof)}."


def _details(
    report: Report, result: TargetResult, answer: Answers, path: str | None, *, ascii_only: bool
) -> Iterator[tuple[str, str]]:
    """Label and text of each line about a claim that is shown in full; nothing of one that was never known."""
    if result.verdict is Verdict.FAILED and result.claim.kind == "unknown":
        return
    if len(result.description) > _LONGEST_IN_HEADING:
        yield "about", result.description
    yield "claimed", answer.claimed
    yield from _picture(result, ascii_only=ascii_only)
    yield from (("note", text) for status, text in wording.remarks(result) if status == "note")
    yield from (("not seen", text) for text in answer.unseen if result.verdict is Verdict.REFUTED)
    attack = result.attack
    if attack is not None:
        yield "datasets", answer.where
        yield from zip(("first", "second"), map(_cut, _shortest(attack)), strict=False)
        if attack.bound is not None:
            yield "counts", f"{attack.event}: {wording.counted(attack.bound)}"
        if attack.sequential.runs:
            yield "bets", wording.evidence(attack)
        yield "seed", wording.stream(report, attack)
    if answer.sure:
        yield "how sure", answer.sure
    if attack is not None:
        yield "repeat", _repeat(result, path)


def _picture(result: TargetResult, *, ascii_only: bool) -> Iterator[tuple[str, str]]:
    """Claim, price and attack as bars on one axis, in shares of the claim, and the word of the proof."""
    attack, price = wording.shares(result)
    longest = min(max(1.0, attack or 0.0, price[1] if price else 0.0), _LONGEST_SCALE)
    full, part = ("#", "-") if ascii_only else ("\u2588", "\u2591")

    def bar(sure: float, possible: float) -> str:
        solid, all_of_it = (round(_BAR * min(max(share, 0.0) / longest, 1.0)) for share in (sure, possible))
        return (full * solid + part * (all_of_it - solid)).ljust(_BAR)

    yield "claim", f"{bar(1, 1)} {wording.promised(result)}"
    if price is not None:
        yield "price", f"{bar(*price)} {wording.priced(result.price)}, certified, of the noise that was logged"
    else:
        yield "price", wording.sentence(wording.price_status(result.price)).rstrip(".").lower()
    yield "attack", f"{bar(attack or 0, attack or 0)} {wording.attacked(result.attack)}, a lower bound on the true value"
    yield "proof", ", ".join(filter(None, (wording.proof_status(result.proof), wording.proof_steps(result.proof))))
    if result.verdict is Verdict.PROVEN and result.proof is not None:
        yield "given", " ".join(step.statement for step in result.proof.steps if step.word == "axiom")


def _shortest(attack: Attack) -> tuple[str, ...]:
    """The datasets of the smallest pair on which the claim is known to fail, where they may be shown."""
    if attack.minimal is not None and attack.minimal.refuted and attack.minimal.pair.witness is not None:
        return attack.minimal.pair.witness
    return attack.pair.witness or ()


def _closing(report: Report, results: tuple[TargetResult, ...], path: str | None, *, in_full: bool) -> Iterator[str]:
    """What holds for all claims: errors, what was not covered, what the words mean, the exit code and the next command."""
    yield from map(printable, wording.warnings(report))
    if any(result.attack for result in results):
        yield from (f"{term}: {text}" for term, text in reading.terms(report).items())
    yield from (f"{label} {text}" for label, text in reading.closing(report).items())
    yield from map(printable, wording.disclosures(report))
    yield printable(_last(report, results, path, in_full=in_full))


def _last(report: Report, results: tuple[TargetResult, ...], path: str | None, *, in_full: bool) -> str:
    """The exit code with its meaning, and what to type next."""
    meaning = next((name for name, code in EXIT_CODES.items() if code == report.exit_code), "")
    said = wording.EXIT_MEANINGS.get(meaning, meaning)
    first = results[0] if results else None
    if first is None or first.verdict in (Verdict.CONSISTENT, Verdict.PROVEN):
        return f"Exit code {report.exit_code}: {said}."
    if first.verdict is Verdict.FAILED:
        again = answers(report, first, path).next_step or "mend it and repeat the command"
    elif in_full:
        again = _repeat(first, path)
    elif path is not None:
        again = f"dpaudit report {shlex.quote(f'{path}#{first.name}')}"
    else:
        again = f"dpaudit audit {first.reference}" if first.reference else "audit this claim alone"
    return f"Exit code {report.exit_code}: {said}. Next: {again}"


def _grid(lines: Iterable[tuple[str, str]]) -> RenderableType:
    """Labels on the left, texts on the right, an empty line below."""
    from rich.padding import Padding
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in lines:
        grid.add_row(label, text)
    return Padding(grid, (1, 0, 0, 2))


def _proof(proof: Proof) -> str:
    """What a proof found against the claim, or the first of the things in its way; the report as JSON lists all."""
    found = proof.reason or " ".join(step.statement for step in proof.steps if step.word == "certified")
    first, *others = found.split("; ")
    more = f"; and {len(others)} more" if others else ""
    return f"{proof.status}, {proof.name}: {first.removesuffix('.')}{more}"


def _cut(text: str) -> str:
    """A dataset in few lines; all that is kept of it stands in the report."""
    return text if len(text) <= _LONGEST_WITNESS else f"{text[: _LONGEST_WITNESS - 4]} ..."


def _repeat(result: TargetResult, path: str | None) -> str:
    """How to draw the same runs again."""
    if result.samples is not None:
        return "the same call on the same two samples, with this seed"
    if result.reference is None:
        return "call dpaudit.auditor.replay with this report and the Target object"
    if path is None:
        return f"audit with --report DIR, then {reproduce_command(result, 'DIR/report.json')}"
    return reproduce_command(result, path) or ""
