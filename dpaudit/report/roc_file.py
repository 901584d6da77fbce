"""The rates of an attack at every threshold as an SVG file, on logarithmic axes beside what a claim allows."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.report.drawing import Axis, Line, draw, log_ticks
from dpaudit.report.plots import tick
from dpaudit.report.svg import ATTACK, CLAIM, QUIET, alone

Points = Sequence[tuple[float, float]]


def roc_file(rates: Points, allowed: Points, *, canaries: int) -> str:
    """True positives over false positives, as counted and as a claim's trade-off curve allows (Carlini and others 2022)."""
    least = min(1e-1, 1 / max(2, canaries))
    seen = [point for point in rates if min(point) > 0]
    shapes = [Line([(least, least), (1.0, 1.0)], QUIET, 1.0, "guessing", dashed=True)]
    if allowed:
        shapes.append(Line(list(allowed), CLAIM, 2.0, "most that the claim allows", dashed=True))
    shapes.append(Line(seen, ATTACK, 1.8, "counted"))
    across, up = (Axis(name, least, 1.0, log_ticks(least, 1.0, tick), log=True) for name in ("false positives", "true positives"))
    description = f"Rates at every threshold for {canaries} canaries. What is counted varies by chance; bounds are in the document."
    return alone(draw(shapes, across, up, title="Membership: rates of the attack", description=description, key="roc"))
