"""The plots of a target, each with the numbers it shows: its privacy profile, its trade-off, and the evidence over runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from dpaudit.report.drawing import Axis, Band, Frame, Line, draw, labels_that_fit, linear_ticks, log_ticks
from dpaudit.report.svg import ATTACK, CLAIM, PRICE, QUIET
from dpaudit.results import Bound, ProfilePoint, Sequential, WealthPoint

_MOST_POINTS: Final = 60
_DECADES: Final = 6
_LINEAR: Final = 300.0
LARGEST: Final = 1e6
"""Numbers beyond this come from no audit and would only break the axes."""

_STEEPEST: Final = 50.0
"""Beyond this epsilon a test that misses nothing is not to be told from one that is never wrong."""

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
    shapes: list[Line | Band] = []
    if any(map(math.isfinite, high)):
        shapes.append(Band(list(zip(epsilons, low, high, strict=True)), PRICE, 0.4))
        shapes.append(Line(list(zip(epsilons, high, strict=True)), PRICE, 4, "price", opacity=0.6))
    if any(map(math.isfinite, claimed)):
        shapes.append(Line(list(zip(epsilons, claimed, strict=True)), CLAIM, label="claim", dashed=True))
    if any((point.attack or 0) > 0 for point in profile):
        beyond = [value if value > limit else math.nan for value, limit in zip(attacked, claimed, strict=True)]
        shapes.insert(0, Band(list(zip(epsilons, claimed, beyond, strict=True)), ATTACK, 0.16))
        found = [value if value > floor / 10 else math.nan for value in attacked]
        shapes.append(Line(list(zip(epsilons, found, strict=True)), ATTACK, 1.5, "attack", marker="dot"))
    end = max(epsilons[-1], epsilons[0] + 1e-3)
    across = Axis("epsilon (nats)", epsilons[0], end, linear_ticks(epsilons[0], end))
    if floor < top / _LINEAR:
        up = Axis("delta", floor / 1.6, 1.5 * top, log_ticks(floor / 1.6, 1.5 * top, tick), log=True)
    else:
        up = Axis("delta", 0, 1.08 * top, linear_ticks(0, 1.08 * top))
    title = f"Privacy profile of {name}"
    description = "Delta over epsilon: the claim, the certified price, the attack's lower bound. A table of the numbers follows."
    svg = draw(shapes, across, up, title=title, description=description, key=key)
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
    shapes = [Line([(0, 1), (1, 0)], QUIET, 0.8)]
    if lines["price"]:
        shapes.append(Line(lines["price"], PRICE, 4, "price", opacity=0.6))
    if lines["claim"]:
        shapes.append(Line(lines["claim"], CLAIM, label="claim", dashed=True))
    if counted is not None:
        shapes.append(Line([counted], ATTACK, 0, "attack", marker="cross"))
    across, up = (Axis(what, 0, 1.03, linear_ticks(0, 1.03)) for what in ("false alarms", "misses"))
    title = f"Trade-off of {name}"
    description = (
        "Misses over false alarms of a test between neighbours: the least that claim and price allow, and the attack's test. "
        "A table of the numbers follows."
    )
    svg = draw(shapes, across, up, title=title, description=description, key=key)
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
    ends = (1.0, max(10.0, runs[-1] * 1.2))
    shapes = [
        Line([(ends[0], 0), (ends[1], 0)], QUIET, 0.8),
        Line([(ends[0], bets.log10_threshold), (ends[1], bets.log10_threshold)], CLAIM, label="refutes the claim", dashed=True),
        Line(list(zip(runs, wealth, strict=True)), ATTACK, 1.8, "wealth of the bets"),
    ]
    if bets.stopped_at is not None:
        shapes.append(Line([(runs[-1], wealth[-1])], ATTACK, 0, marker="cross"))
    low, high = lowest - 0.06 * (highest - lowest), highest + 0.08 * (highest - lowest)
    powers = [(value, _power(round(value))) for value, _ in linear_ticks(low, high, most=8, whole=True)]
    room = labels_that_fit(Frame(), f"{ends[1]:,.0f}")
    across = Axis("runs", *ends, log_ticks(*ends, lambda value: f"{value:,.0f}", most=room), log=True)
    title = f"Evidence against the claim of {name}"
    description = "Wealth of bets against the claim over runs, and the level that refutes it. A table of the numbers follows."
    svg = draw(shapes, across, Axis("wealth", low, high, powers), title=title, description=description, key=key)
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


def tick(value: float, _: object = None) -> str:
    """A tick of a logarithmic axis: 0.1 and 0.01 as they are, smaller ones as powers."""
    return f"{value:g}" if value >= 1e-2 else _power(round(math.log10(value)))


def _power(exponent: int) -> str:
    """Ten to the power of `exponent`, as text."""
    return {0: "1", 1: "10"}.get(exponent, "10" + str(exponent).translate(_SUPERSCRIPTS))


def short(value: float | None) -> str:
    """A number of a table with four digits; a dash where there is none."""
    return "\u2013" if value is None else f"{value:.4g}"
