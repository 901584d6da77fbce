"""The plots of a dossier: figures over a parameter, what failing claims cost, what attacks and prices say of the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Literal

from dpaudit.dossier import Dossier, Standing, Table, Witness
from dpaudit.errors import MissingExtra
from dpaudit.extras import require
from dpaudit.report.figures import ATTACK, CLAIM, DASHED, INK, PRICE, canvas, finish, inline
from dpaudit.report.plots import Plot, short, tick

_STYLES: Final = (
    (ATTACK, "-"),
    (ATTACK, "--"),
    (ATTACK, ":"),
    (CLAIM, "-"),
    (CLAIM, "--"),
    (CLAIM, ":"),
    (PRICE, "-"),
    (PRICE, "--"),
    (INK, ":"),
)
_MOST: Final = 100.0
"""Shares beyond this are drawn at the border, as those of outcomes that are impossible for one of two neighbours."""

_BROKEN: Final = (
    "Claims that fail as they were read: epsilon that is really spent, as a multiple of what is claimed. "
    "The dashed line is the claim."
)
_SOUND: Final = (
    "Shipped and corrected code: at least the dot is spent, by an attack or an exact law; at most the bar, by a certified price. "
    "The dashed line is the claim."
)


def plots_of(dossier: Dossier) -> dict[str, Plot]:
    """All plots that a dossier has figures for."""
    found = {f"{item.key}": _over(item.table, item.key) for item in dossier.items if item.table is not None}
    broken, sound = _measured(dossier, holds=False), _measured(dossier, holds=True)
    if broken:
        found["claimed"] = _shares(broken, "Claimed and really spent", _BROKEN, "dc", scale="log")
    if sound:
        found["sandwich"] = _shares(sound, "Attack, price and claim", _SOUND, "ds", scale="linear")
    return found


def _measured(dossier: Dossier, *, holds: bool) -> list[tuple[str, Witness]]:
    """Witnesses with a share of the claim: the largest of each specimen that must fail, or of each target that must not."""
    found: dict[str, tuple[str, Witness]] = {}
    for item in dossier.items:
        for one in item.witnesses:
            if one.span is None or not one.name or one.name.startswith("broken_") is holds or item.standing is Standing.UNDECIDED:
                continue
            known = found.get(one.name)
            if known is None or (known[1].span is not None and (one.span.attack or 0) > (known[1].span.attack or 0)):
                found[one.name] = (f"{item.key} {one.name}", one)
    return [pair for pair in found.values() if holds or (pair[1].span is not None and (pair[1].span.attack or 0) > 1)]


def _over(table: Table, key: str) -> Plot:
    """Columns of a table over its first."""
    title = table.caption.partition(",")[0]
    svg, caption = _drawn(lambda: _lines(table, title, f"d{key}"), table.caption)
    rows = tuple(tuple(f"{value:,.4g}" for value in row) for row in table.rows)
    return Plot(svg, title, caption, table.header, rows)


def _drawn(draw: Callable[[], str], caption: str) -> tuple[str, str]:
    """A drawing and its caption; without matplotlib the caption alone, which says so, and the table of numbers stays."""
    try:
        require("plots")
    except MissingExtra as error:
        return "", f"{caption} Not drawn: {error.message}"
    return draw(), caption


def _lines(table: Table, title: str, key: str) -> str:
    """The drawing of a table's columns."""
    with canvas() as (figure, axes):
        figure.set_size_inches(5.4, 4.4)
        axes.set_position((0.15, 0.13, 0.83, 0.6))
        for place, name in enumerate(table.header[1:], start=1):
            colour, line = _STYLES[(place - 1) % len(_STYLES)]
            points = [(row[0], row[place]) for row in table.rows]
            axes.plot(*zip(*points, strict=True), color=colour, linestyle=line, linewidth=1.6, marker="o", markersize=3, label=name)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else tick(value))
        finish(axes, table.header[0], "", columns=2)
        return inline(figure, title=title, description=f"{table.caption} A table of the numbers follows.", key=key)


def _shares(rows: list[tuple[str, Witness]], title: str, caption: str, key: str, *, scale: Literal["log", "linear"]) -> Plot:
    """A line for each witness: a bar up to the price, a dot at what is certainly spent."""
    spans = [(name, one.span.attack, one.span.price) for name, one in rows if one.span is not None]
    svg, said = _drawn(lambda: _bars(spans, title, caption, key, scale=scale), caption)
    table = tuple((name, short(attack), short(price)) for name, attack, price in spans)
    return Plot(svg, title, said, ("witness", "spent, from below", "price, from above"), table)


def _bars(
    spans: Sequence[tuple[str, float | None, float | None]], title: str, caption: str, key: str, *, scale: Literal["log", "linear"]
) -> str:
    """The drawing of bars up to prices and dots at what is spent."""
    height = 1.1 + 0.23 * len(spans)
    bars = [(place, price) for place, (_, _, price) in enumerate(spans) if price is not None and scale == "linear"]
    dots = [(attack, place) for place, (_, attack, _) in enumerate(spans) if attack is not None and attack < _MOST]
    beyond = [(_MOST, place) for place, (_, attack, _) in enumerate(spans) if attack is not None and attack >= _MOST]
    with canvas() as (figure, axes):
        figure.set_size_inches(7.2, height)
        axes.set_position((0.42, 0.6 / height, 0.55, 1 - 1.25 / height))
        if bars:
            places, prices = zip(*bars, strict=True)
            axes.barh(places, prices, color=PRICE, alpha=0.45, height=0.6, label="price, from above")
        if dots:
            shown = [(max(attack, 0.0), place) for attack, place in dots]
            axes.plot(
                *zip(*shown, strict=True), color=ATTACK, marker="o", markersize=5, linestyle="none", label="spent, from below"
            )
        if beyond:
            axes.plot(*zip(*beyond, strict=True), color=ATTACK, marker=">", markersize=6, linestyle="none", label="without a limit")
        axes.axvline(1, color=CLAIM, linewidth=1.6, linestyle=DASHED, label="claim")
        axes.set_xscale(scale)
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.set_yticks(range(len(spans)), [name for name, *_ in spans], fontsize=8.5)
        axes.set_ylim(len(spans) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        finish(axes, "share of the claim", "", columns=2)
        return inline(figure, title=title, description=f"{caption} A table of the numbers follows.", key=key)
