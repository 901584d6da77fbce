"""The plots of a target, each with the numbers it shows: its privacy profile, its trade-off, and the evidence over runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from dpaudit.report.svg import ATTACK, CLAIM, PRICE, QUIET, canvas, inline
from dpaudit.results import Bound, ProfilePoint, Sequential, WealthPoint

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_POINTS: Final = 60
_DECADES: Final = 6
_LINEAR: Final = 300.0
LARGEST: Final = 1e6
"""Numbers beyond this come from no audit and would only break the axes."""

_STEEPEST: Final = 50.0
"""Beyond this epsilon a test that misses nothing is not to be told from one that is never wrong."""

DASHED: Final = (0, (5.0, 2.0))
_PROFILE_CAPTION: Final = (
    "How delta falls as epsilon grows. A sound release keeps the attack below the price and the price at or below the claim; "
    "the attack above the claim is a violation."
)
_TRADEOFF_CAPTION: Final = (
    "Mistakes in telling two neighbouring datasets apart. By the claim no test is below its line; the cross is the attack's test, "
    "as it was counted."
)
_WEALTH_CAPTION: Final = (
    "Fair bets against the claim, starting with wealth 1. If the claim holds, their wealth is unlikely to reach the dashed line."
)
_SUPERSCRIPTS: Final = str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")


@dataclass(frozen=True)
class Plot:
    """A plot ready for the page, and the table of the numbers in it."""

    svg: str
    title: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def profile_plot(profile: Sequence[ProfilePoint], name: str, key: str) -> Plot | None:
    """Delta over epsilon as claimed, as priced and as attacked (Balle, Barthe, Gaboardi 2018 (privacy profiles))."""
    profile = [point for point in profile if abs(point.epsilon) < LARGEST]
    positive = [value for point in profile for value in _ends(point) if value is not None and 0 < value <= 1]
    if not positive:
        return None
    top = max(positive)
    least = min((point.claimed for point in profile if point.claimed is not None and point.claimed > 0), default=top)
    floor = max(min(least, top), top / 10**_DECADES)
    epsilons = [point.epsilon for point in profile]
    columns = zip(*map(_ends, profile), strict=True)
    claimed, low, high, attacked = ([_drawn(value, floor) for value in values] for values in columns)
    with canvas() as (figure, axes):
        if any(map(math.isfinite, high)):
            axes.fill_between(epsilons, low, high, color=PRICE, alpha=0.4, linewidth=0)
            axes.plot(epsilons, high, color=PRICE, linewidth=4, alpha=0.6, label="price")
        if any(map(math.isfinite, claimed)):
            axes.plot(epsilons, claimed, color=CLAIM, linewidth=1.6, linestyle=DASHED, label="claim")
        if any((point.attack or 0) > 0 for point in profile):
            found = [value if value > floor / 10 else math.nan for value in attacked]
            beyond = [above > limit for above, limit in zip(attacked, claimed, strict=True)]
            axes.fill_between(epsilons, claimed, attacked, where=beyond, color=ATTACK, alpha=0.16, linewidth=0)
            axes.plot(epsilons, found, color=ATTACK, linewidth=1.5, marker="o", markersize=3.2, label="attack")
        if floor < top / _LINEAR:
            axes.set_yscale("log")
            axes.set_ylim(floor / 1.6, 1.5 * top)
            axes.yaxis.set_major_formatter(tick)
        else:
            axes.set_ylim(0, 1.08 * top)
        axes.set_xlim(epsilons[0], max(epsilons[-1], epsilons[0] + 1e-3))
        finish(axes, "epsilon (nats)", "delta")
        title = f"Privacy profile of {name}"
        description = (
            "Delta over epsilon: the claim, the certified price, the attack's lower bound. A table of the numbers follows."
        )
        svg = inline(figure, title=title, description=description, key=key)
    header = ("epsilon", "claimed delta", "price, lower end", "price, upper end", "attack, lower bound")
    return Plot(svg, title, _PROFILE_CAPTION, header, tuple((short(point.epsilon), *map(short, _ends(point))) for point in profile))


def tradeoff_plot(profile: Sequence[ProfilePoint], bound: Bound | None, name: str, key: str) -> Plot | None:
    """Rates of mistakes between which nobody can choose, as claimed and as priced, and the test that the attack made.

    Source: Dong, Roth, Su 2022, Proposition 2.11 (a trade-off function is the largest that the profile allows).
    """
    shown = [point for point in profile if 0 <= point.epsilon < _STEEPEST]
    lines = {
        what: _tradeoff([(point.epsilon, min(delta, 1.0)) for point in shown if (delta := _ends(point)[place]) is not None])
        for what, place in (("claim", 0), ("price", 2))
    }
    if not any(lines.values()):
        return None
    counted = None if bound is None or not bound.counts.runs else _mistakes(bound)
    with canvas() as (figure, axes):
        axes.plot((0, 1), (1, 0), color=QUIET, linewidth=0.8)
        if lines["price"]:
            axes.plot(*zip(*lines["price"], strict=True), color=PRICE, linewidth=4, alpha=0.6, label="price")
        if lines["claim"]:
            axes.plot(*zip(*lines["claim"], strict=True), color=CLAIM, linewidth=1.6, linestyle=DASHED, label="claim")
        if counted is not None:
            axes.plot(*zip(counted), color=ATTACK, marker="X", markersize=9, linestyle="none", label="attack")
        axes.set_xlim(0, 1.03)
        axes.set_ylim(0, 1.03)
        finish(axes, "false alarms", "misses")
        title = f"Trade-off of {name}"
        description = (
            "Misses over false alarms of a test between neighbours: the least that claim and price allow, and the attack's test. "
            "A table of the numbers follows."
        )
        svg = inline(figure, title=title, description=description, key=key)
    points = [(what, *point) for what in ("claim", "price") for point in lines[what]]
    points += [("attack", *counted)] if counted is not None else []
    rows = dict.fromkeys((what, f"{alarms:.3f}", f"{misses:.3f}") for what, alarms, misses in points)
    return Plot(svg, title, _TRADEOFF_CAPTION, ("of", "false alarms", "misses"), tuple(rows))


def wealth_plot(bets: Sequential, name: str, key: str) -> Plot | None:
    """Wealth of the bets against the claim over runs, and the level that refutes it (Shafer 2021 (testing by betting))."""
    path = thinned([point for point in bets.path if point.run > 0 and abs(point.log10_wealth) < LARGEST])
    if not path or not abs(bets.log10_threshold) < LARGEST:
        return None
    runs, wealth = [point.run for point in path], [point.log10_wealth for point in path]
    lowest, highest = min(0.0, *wealth), max(bets.log10_threshold, 0.1, *wealth)
    with canvas() as (figure, axes):
        from matplotlib.ticker import MaxNLocator

        axes.axhline(0, color=QUIET, linewidth=0.8)
        axes.axhline(bets.log10_threshold, color=CLAIM, linewidth=1.6, linestyle=DASHED, label="refutes the claim")
        axes.plot(runs, wealth, color=ATTACK, linewidth=1.8, label="wealth of the bets")
        if bets.stopped_at is not None:
            axes.plot(runs[-1:], wealth[-1:], color=ATTACK, marker="X", markersize=9, linestyle="none")
        axes.set_xscale("log")
        axes.set_xlim(1, max(10.0, runs[-1] * 1.2))
        axes.set_ylim(lowest - 0.06 * (highest - lowest), highest + 0.08 * (highest - lowest))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.set_major_locator(MaxNLocator(nbins=8, integer=True))
        axes.yaxis.set_major_formatter(lambda value, _: _power(round(value)))
        finish(axes, "runs", "wealth")
        title = f"Evidence against the claim of {name}"
        description = "Wealth of bets against the claim over runs, and the level that refutes it. A table of the numbers follows."
        svg = inline(figure, title=title, description=description, key=key)
    level = f"wealth, log10 (refutes at {bets.log10_threshold:.3f})"
    rows = tuple((f"{point.run:,}", f"{point.log10_wealth:.3f}") for point in path)
    return Plot(svg, title, _WEALTH_CAPTION, ("runs", level), rows)


def thinned(path: Sequence[WealthPoint], most: int = _MOST_POINTS) -> list[WealthPoint]:
    """At most `most` points, evenly spaced in the list, the first, the last and the highest among them."""
    if len(path) <= most:
        return list(path)
    places = {round(place * (len(path) - 1) / (most - 2)) for place in range(most - 1)}
    places.add(max(range(len(path)), key=lambda place: path[place].log10_wealth))
    return [path[place] for place in sorted(places)]


def _ends(point: ProfilePoint) -> tuple[float | None, ...]:
    """All deltas of a point: claimed, price from below and above, attack."""
    return (point.claimed, *(point.price or (None, None)), point.attack)


def _tradeoff(profile: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Corners of the lower border of all (false alarms, misses) that deltas at some epsilons allow, in both directions."""
    if not profile:
        return []
    corners = [(0.0, 1 - profile[-1][1])]
    for (low, more), (high, less) in reversed(list(pairwise(profile))):
        alarms = (more - less) / (math.exp(high) - math.exp(low))  # where the two lines misses = 1 - delta - e^epsilon alarms meet
        corners.append((alarms, max(0.0, 1 - more - math.exp(low) * alarms)))
    return [*corners, *((misses, alarms) for alarms, misses in reversed(corners))]


def _mistakes(bound: Bound) -> tuple[float, float]:
    """Shares of runs, half of them on each dataset, in which the attack's event gave a false alarm and in which it missed."""
    half = bound.counts.runs / 2
    return min(1.0, bound.counts.zeros / half), max(0.0, 1 - bound.counts.ones / half)


def _drawn(value: float | None, floor: float) -> float:
    """A delta on a logarithmic axis: zero far below what is shown, nothing where there is none."""
    return math.nan if value is None or not math.isfinite(value) else min(max(value, floor / 1e3), 1.0)


def finish(axes: Axes, across: str, up: str, *, columns: int = 3) -> None:
    """Names of the axes, and the legend above them, where it hides nothing."""
    axes.minorticks_off()
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.yaxis.set_label_coords(-0.13, 0.5)
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, columnspacing=1.4, handlelength=2.2, borderaxespad=0.2
    )


def tick(value: float, _: object = None) -> str:
    """A tick of a logarithmic axis: 0.1 and 0.01 as they are, smaller ones as powers."""
    return f"{value:g}" if value >= 1e-2 else _power(round(math.log10(value)))


def _power(exponent: int) -> str:
    """Ten to the power of `exponent`, as text."""
    return {0: "1", 1: "10"}.get(exponent, "10" + str(exponent).translate(_SUPERSCRIPTS))


def short(value: float | None) -> str:
    """A number of a table with four digits; a dash where there is none."""
    return "\u2013" if value is None else f"{value:.4g}"
