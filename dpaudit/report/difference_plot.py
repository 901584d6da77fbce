"""The plot of a target in two reports: claim, certified price and attack before, above those after, on one scale."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpaudit.codec import nearest
from dpaudit.report import wording
from dpaudit.report.drawing import Axis, Band, Frame, Line, draw, linear_ticks
from dpaudit.report.plots import LARGEST, Plot, short
from dpaudit.report.svg import ATTACK, CLAIM, PRICE
from dpaudit.results import TargetResult

_SHARE: Final = "share of the claim"
_LONGEST: Final = 8.0
"""Claims, of which the largest is this long, still fill a visible part of the scale; what is beyond it is drawn at its end."""

_CAPTION: Final = (
    "The dashed line is the claim, the bar the certified price, pale where that is an interval, the triangle what the attack found "
    "at least. Where all is well, the triangle is within the bar and the bar does not pass the line."
)


_FRAME: Final = Frame(width=388.8, height=165.6, left=50.5, right=373.2, top=29.8, bottom=125.9)


@dataclass(frozen=True)
class Span:
    """What one report says of a target, as numbers of one unit; None for what it does not say."""

    claim: float | None
    price: tuple[float, float] | None
    attack: float | None


def interval_plot(before: TargetResult, after: TargetResult, key: str) -> Plot | None:
    """Both results on one scale: epsilon where all of it is epsilon at one delta, else shares of what each claim allows."""
    units = {_unit(result) for result in (before, after)}
    unit = units.pop() if len(units) == 1 else _SHARE
    spans = {"before": _span(before, unit), "after": _span(after, unit)}
    told = [end for span in spans.values() for end in (*(span.price or ()), span.attack) if end is not None]
    if not told or spans["before"] == spans["after"]:
        return None
    claims = [span.claim for span in spans.values() if span.claim]
    longest = min(LARGEST, _LONGEST * max(claims, default=LARGEST))
    limit = 1.08 * min(max(0.0, *(end for end in (*told, *claims) if math.isfinite(end))), longest) or 1.0
    shapes: list[Line | Band] = []
    for place, span in enumerate(spans.values()):
        if span.price is not None:
            shapes += [Band(_bar(min(max(end, 0.0), limit), place), PRICE, 0.35) for end in span.price]
        if span.claim is not None:
            claim = min(span.claim, limit)
            shapes.append(Line([(claim, place - 0.42), (claim, place + 0.42)], CLAIM, 1.8, dashed=True))
        if span.attack is not None:
            shapes.append(Line([(min(max(span.attack, 0.0), 0.985 * limit), place)], ATTACK, 0, marker="triangle"))
    # Without points, for the legend alone: what is above may be drawn twice.
    named = {
        "claim": Line((), CLAIM, 1.8, "claim", dashed=True),
        "price": Line((), PRICE, 9, "price", opacity=0.58),
        "attack": Line((), ATTACK, 0, "attack", marker="triangle"),
    }
    shapes += [line for what, line in named.items() if any(getattr(span, what) is not None for span in spans.values())]
    title = f"Claim, price and attack of {after.name}"
    svg = draw(
        shapes,
        Axis(unit, 0, limit, linear_ticks(0, limit)),
        Axis("", len(spans) - 0.4, -0.6, list(enumerate(spans)), grid=False),
        _FRAME,
        title=title,
        description=f"Before above after, each on the scale of {unit}. A table of the numbers follows.",
        key=key,
    )
    header = (unit, "claim", "price, lower end", "price, upper end", "attack, lower bound")
    rows = tuple((when, *map(short, (span.claim, *(span.price or (None, None)), span.attack))) for when, span in spans.items())
    return Plot(svg, title, _CAPTION, header, rows)


def _bar(length: float, place: int) -> list[tuple[float, float, float]]:
    """The corners of a bar from 0."""
    return [(end, place - 0.18, place + 0.18) for end in (0.0, length)]


def _unit(result: TargetResult) -> str:
    """Epsilon at the delta of the claim, where attack and price both speak of it; else shares."""
    claim, price = result.claim, result.price
    if claim.tested_epsilon is None:
        return _SHARE
    priced = None if price is None or price.value is None else (price.limit, price.quantity.partition(" ")[0])
    if priced not in (None, (claim.tested_epsilon, "epsilon")):
        return _SHARE
    return f"epsilon at delta = {wording.upper(claim.tested_delta)}" if claim.tested_delta else "epsilon"


def _span(result: TargetResult, unit: str) -> Span:
    """The numbers of a result in that unit."""
    attack, price = wording.shares(result)
    found = None if attack is None or attack <= 0 else attack
    if unit == _SHARE:
        return Span(None if attack is None and price is None else 1.0, price, found)
    allowed = nearest(result.claim.tested_epsilon or Fraction(0))
    ends = None if price is None else (allowed * price[0], allowed * price[1])
    return Span(allowed, ends, None if found is None else allowed * found)
