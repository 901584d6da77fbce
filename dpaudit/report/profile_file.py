"""The privacy profile of a composition as an SVG file of its own: both certified ends of delta over epsilon."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.report.drawing import Axis, Band, Line, draw, linear_ticks, log_ticks
from dpaudit.report.plots import tick
from dpaudit.report.svg import CLAIM, PRICE, alone


def profile_file(points: Sequence[tuple[float, float, float]], name: str, *, smallest: float) -> str | None:
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
