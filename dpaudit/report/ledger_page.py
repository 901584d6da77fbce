"""A ledger as one HTML page: no script, no outside reference, readable on a phone and on paper; same ledger, same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from typing import Any

from dpaudit.exact import outward
from dpaudit.report.loss_files import spending_drawing
from dpaudit.report.plots import Plot

_STATES = {
    "problems": ("not as it was written", "refuted"),
    "against": ("not the ledger that was anchored", "refuted"),
    "overruns": ("more released than reserved", "inconclusive"),
    "restored": ("restored from a copy: later charges are not known", "inconclusive"),
    "repeated": ("begun again under a key: what a failed attempt showed is not paid for", "inconclusive"),
    "open_charges": ("open, and counted as spent", "consistent"),
    "elsewhere": ("released elsewhere, not compared with what ran", "consistent"),
    "uncompared": ("rely on sampling or an order, not compared with what ran", "consistent"),
    "unseen": ("nothing ran that the log saw", "consistent"),
    "taken": ("of an old ledger, amounts not computed again", "consistent"),
}


@dataclass(frozen=True)
class Row:
    """One currency of one budget, in a few digits that are rounded to the cautious side."""

    currency: str
    limit: str
    spent: str
    left: str
    over: bool


def ledger_html(document: Mapping[str, Any]) -> str:
    """Write the overview of a ledger, from `dpaudit.ledger.overview`, as a page that loads and runs nothing (WCAG 2.2)."""
    from dpaudit.report.page import template

    chain = document["chain"]
    intact = not (chain["problems"] or chain["against"])
    return template("ledger.html.j2").render(
        document=document,
        version=version("dpaudit"),
        intact=intact,
        states=[(name, *_STATES[name], chain[name]) for name in _STATES if chain[name]],
        budgets=[(budget, _rows(budget), _plot(budget, document["entries"], place)) for place, budget in _placed(document)],
        amounts=_amounts,
        shown=_SHOWN,
    )


_SHOWN = 20
"""Numbers of entries, or problems, that one line lists; JSON lists all."""


def _placed(document: Mapping[str, Any]) -> list[tuple[int, Mapping[str, Any]]]:
    """Budgets with their places, those of which most is spent first."""
    return list(enumerate(sorted(document["budgets"], key=lambda budget: (-budget["share"], budget["scope"])), start=1))


def _rows(budget: Mapping[str, Any]) -> list[Row]:
    """The currencies of a budget."""
    return [
        Row(
            name,
            _number(limit, up=False),
            _number(budget["spent"][name], up=True),
            _number(budget["remaining"][name], up=False),
            Fraction(budget["remaining"][name]) < 0,
        )
        for name, limit in budget["limits"].items()
    ]


def _plot(budget: Mapping[str, Any], entries: int, place: int) -> Plot:
    """The history of a budget."""
    history = [(entry, share) for entry, share in budget["history"]]
    return Plot(
        svg=spending_drawing([(budget["scope"], history)], entries, f"b{place}"),
        title=f"Spent of {budget['scope']}",
        caption="Share of the currency of which most is spent, after entries of the ledger; at the dashed line nothing is left.",
        header=("entry", "share spent"),
        rows=tuple((str(entry), f"{share:.6f}") for entry, share in history),
    )


def _amounts(amounts: Mapping[str, Mapping[str, str]], *, up: bool) -> list[str]:
    """Amounts by budget, as lines."""
    return [
        f"{scope}: " + ", ".join(f"{name} {_number(text, up=up)}" for name, text in parts.items())
        for scope, parts in amounts.items()
    ]


def _number(text: str, *, up: bool) -> str:
    """An exact number in a few digits, rounded to the cautious side."""
    return outward(Fraction(text), digits=6, up=up)
