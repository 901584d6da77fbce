"""A report or a result in a notebook: a table of claims, verdicts, what was found and what to do, without script or link."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Final

from dpaudit.report import wording
from dpaudit.report.answers import answers, found, repair
from dpaudit.report.terminal import printable
from dpaudit.results import Report, TargetResult, Values

_HEAD: Final = ("claim", "verdict", "found", "what to do")
_LEFT: Final = ' style="text-align: left; vertical-align: top"'
"""Notebooks align cells to the right, each by a rule of its own, which only a style of the cell itself overrides."""


def table(shown: Report | TargetResult) -> str:
    """The claims of a report, refuted ones first, or the one claim of a result, as an HTML table."""
    if isinstance(shown, TargetResult):
        above = [] if shown.values is Values.HIDDEN else [wording.sentence(shown.values)]
        return _table(above, [(shown.name, shown.verdict, found(shown), repair(shown))])
    results = wording.by_urgency(shown.results)
    told = [(result, answers(shown, result)) for result in results]
    rows = [(result.name, result.verdict, answer.found, answer.repair or answer.next_step) for result, answer in told]
    # Only where private values may stand in the table does it speak of them.
    leave = wording.disclosures(shown) if any(result.values is not Values.HIDDEN for result in results) else []
    return _table([f"{wording.headline(shown)}.", *wording.warnings(shown), *leave], rows)


def _table(above: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    """The rows under their headings, and the sentences above them."""
    caption = "<br>".join(map(_text, above))
    body = "".join(_row("td", row) for row in rows)
    # Notebooks typeset what stands between dollar signs as formulas, also in names, unless one of these classes says otherwise.
    return (
        '<table class="tex2jax_ignore mathjax_ignore">'
        f"{f'<caption{_LEFT}>{caption}</caption>' if caption else ''}"
        f"<thead>{_row('th', _HEAD)}</thead><tbody>{body}</tbody></table>"
    )


def _row(tag: str, cells: Iterable[str]) -> str:
    """A row of cells of one kind."""
    return f"<tr>{''.join(f'<{tag}{_LEFT}>{_text(cell)}</{tag}>' for cell in cells)}</tr>"


def _text(text: str) -> str:
    """A text in which nothing is markup and every control character is written out."""
    return escape(printable(text))
