"""Curves of a privacy loss as SVG files of their own: its profile, its trade-off function, and what a budget had paid when."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

from dpaudit.report.drawing import Axis, Band, Line, draw, linear_ticks, log_ticks
from dpaudit.report.plots import tick
from dpaudit.report.svg import ATTACK, CLAIM, PRICE, QUIET, alone

Ends = Sequence[tuple[float, float, float]]
"""Both certified ends for each place: (place, lower, upper)."""


def profile_file(points: Ends, name: str, *, smallest: float) -> str | None:
    """Delta over epsilon on a logarithmic axis, from below and from above (Balle, Barthe, Gaboardi 2018 (privacy profiles))."""
    epsilons, lower, upper = zip(*points, strict=True)
    if max(upper) < smallest:
        return None
    low, high = ([max(value, smallest / 1e3) for value in end] for end in (lower, upper))
    highest = min(1.5 * max(upper), 1.5)
    shapes = (
        Band(list(zip(epsilons, low, high, strict=True)), PRICE, 0.3),
        Line(list(zip(epsilons, high, strict=True)), PRICE, 2.4, "upper end, a valid claim"),
        Line(list(zip(epsilons, low, strict=True)), CLAIM, 1.4, "lower end", dashed=True),
    )
    end = max(epsilons[-1], epsilons[0] + 1e-3)
    across = Axis("epsilon (nats)", epsilons[0], end, linear_ticks(epsilons[0], end))
    up = Axis("delta", smallest, highest, log_ticks(smallest, highest, tick), log=True)
    description = (
        f"Certified delta over epsilon, from {epsilons[0]:.4g} to {epsilons[-1]:.4g} nats; the truth lies between both ends."
    )
    return alone(draw(shapes, across, up, title=f"Privacy profile of {name}", description=description, key="profile"))


def tradeoff_file(points: Ends, name: str, *, advantage: float) -> str:
    """Type II over type I error of the best test, beside the Gaussian curve of the same advantage (Dong, Roth, Su 2022)."""
    shapes: list[Line | Band] = [Line([(0.0, 1.0), (1.0, 0.0)], QUIET, 1.0, "guessing", dashed=True), Band(points, PRICE, 0.3)]
    shapes += [Line([(place, low) for place, low, _ in points], PRICE, 2.4, "no test errs less")]
    compared = ""
    if 0 < advantage < 1:
        normal = NormalDist()
        mu = 2 * normal.inv_cdf((1 + advantage) / 2)
        places = [place for place, _, _ in points if 0 < place < 1]
        beside = [(0.0, 1.0), *((place, normal.cdf(normal.inv_cdf(1 - place) - mu)) for place in places), (1.0, 0.0)]
        shapes.append(Line(beside, CLAIM, 1.6, f"{mu:.3g}-GDP", dashed=True))
        compared = f" Dashed: mu-GDP with mu = {mu:.4g}, which has the same advantage of {advantage:.4g}."
    ticks = linear_ticks(0.0, 1.0)
    across, up = (Axis(f"{kind} error", 0.0, 1.0, ticks) for kind in ("type I", "type II"))
    middle = min(points, key=lambda point: abs(point[0] - 0.05))
    description = (
        f"Certified least type II error of any test between neighbours: {middle[1]:.4g} to {middle[2]:.4g} at type I error "
        f"{middle[0]:.4g}. The diagonal is guessing.{compared}"
    )
    return alone(draw(shapes, across, up, title=f"Trade-off function of {name}", description=description, key="tradeoff"))


def budget_file(points: Ends, name: str, *, delta: str) -> str:
    """Epsilon after each number of releases, both ends; the last one is what all of them cost together."""
    last, most = points[-1], max(upper for _, _, upper in points) or 1.0
    shapes = (
        Band(points, PRICE, 0.3),
        Line([(place, high) for place, _, high in points], PRICE, 2.4, "upper end, a valid claim", marker="dot"),
        Line([(place, low) for place, low, _ in points], CLAIM, 1.4, "lower end", dashed=True),
    )
    across = Axis("releases", 0.0, last[0], linear_ticks(0.0, last[0], whole=True))
    up = Axis(f"epsilon at delta = {delta}", 0.0, 1.05 * most, linear_ticks(0.0, 1.05 * most))
    description = (
        f"Certified epsilon at delta = {delta} after each of {last[0]:g} releases: {last[1]:.4g} to {last[2]:.4g} at the end."
    )
    return alone(draw(shapes, across, up, title=f"Budget over time of {name}", description=description, key="budget"))


SPENT_AT_ONCE: Final = 3
"""Budgets whose names fit above one drawing."""


def spending_file(budgets: Sequence[tuple[str, Sequence[tuple[int, float]]]], last: int) -> str:
    """The spent share of each budget of a ledger after each entry up to the last, as a file."""
    return alone(spending_drawing(budgets, last, "spending"))


def spending_drawing(budgets: Sequence[tuple[str, Sequence[tuple[int, float]]]], last: int, key: str) -> str:
    """The spent share of each budget of a ledger after each entry up to the last, as steps; at 1 nothing is left."""
    shapes = [Line([(budgets[0][1][0][0], 1.0), (last, 1.0)], QUIET, 1.0, "all of it", dashed=True)]
    for (name, points), colour in zip(budgets, (PRICE, CLAIM, ATTACK), strict=False):
        after = [*(entry for entry, _ in points[1:]), last]
        steps = [corner for (entry, share), end in zip(points, after, strict=True) for corner in ((entry, share), (end, share))]
        shapes.append(Line(steps, colour, 2.4, name))
    first, most = min(points[0][0] for _, points in budgets), max(1.0, *(share for _, points in budgets for _, share in points))
    across = Axis("entry of the ledger", first, max(last, first + 1), linear_ticks(first, max(last, first + 1), whole=True))
    up = Axis("share of the budget", 0.0, 1.05 * most, linear_ticks(0.0, 1.05 * most))
    spent = "; ".join(f"{name}: {points[-1][1]:.4g} of it spent" for name, points in budgets)
    description = f"Spent share of each budget up to entry {last}, of the currency of which most is spent. {spent}."
    return draw(shapes, across, up, title="Budgets over time", description=description, key=key)
