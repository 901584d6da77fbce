"""A chart of lines as an SVG file: a colour, marker and dash for each line, told apart without colours; always the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

INKS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
"""Colours that people with any kind of colour vision tell apart (Okabe, Ito 2008)."""

GREY: Final = "#767676"
MARKERS: Final = "osD^vPX"
DASHES: Final = ("-", (0, (6, 1.5)), (0, (3, 1.5)), (0, (6, 1.5, 1.5, 1.5)), "-", (0, (6, 1.5)), (0, (3, 1.5)))


DOTTED: Final = (0, (1, 1.5))


@dataclass(frozen=True)
class Line:
    """Points with what they may be off by, in one of the styles; `hollow` points are drawn empty, `fine` lines dotted.

    A style of None is a grey line without points, the last of the legend.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    error: Sequence[float] | None = None
    style: int | None = None
    hollow: Sequence[bool] = ()
    fine: bool = False


@dataclass(frozen=True)
class Axis:
    """What an axis shows, with its unit; where it begins and ends, unless the lines say; the places to name on it."""

    title: str
    log: bool = False
    ends: tuple[float, float] | None = None
    ticks: tuple[tuple[float, str], ...] = ()


def chart(lines: Sequence[Line], across: Axis, up: Axis, *, title: str, description: str, key: str) -> str:
    """The lines as the text of an SVG file, the legend below the axes."""
    from dpaudit.report.figures import canvas, inline
    from dpaudit.report.svg import alone

    with canvas() as (figure, axes):
        rows = -(-len(lines) // 2)
        figure.set_size_inches(6.4, 3.75 + 0.22 * rows)
        axes.set_position((0.12, (0.62 + 0.22 * rows) / (3.75 + 0.22 * rows), 0.86, 2.75 / (3.75 + 0.22 * rows)))
        for line in sorted(lines, key=lambda line: line.style is None):
            if line.style is None:
                axes.plot(line.x, line.y, color=GREY, linewidth=1.4, linestyle=DOTTED, label=line.name)
                continue
            place = line.style
            look: dict[str, Any] = {"color": INKS[place], "linestyle": DOTTED if line.fine else DASHES[place], "linewidth": 1.5}
            empty = list(line.hollow) or [False] * len(line.x)
            axes.errorbar(line.x, line.y, line.error, capsize=2, elinewidth=0.9, label="_", **look)
            dots: dict[str, Any] = {"marker": MARKERS[place], "linestyle": "none", "color": INKS[place], "markersize": 5}
            for hollow in (True, False):
                here = [at for at, flag in enumerate(empty) if flag is hollow]
                axes.plot([line.x[at] for at in here], [line.y[at] for at in here], mfc="white" if hollow else INKS[place], **dots)
            axes.plot([], [], marker=MARKERS[place], markersize=5, label=line.name, **look)
        _finish(axes.set_xscale, axes.set_xlim, axes.xaxis, across)
        _finish(axes.set_yscale, axes.set_ylim, axes.yaxis, up)
        axes.minorticks_off()
        axes.set_title(title, fontsize=11.5)
        axes.set_xlabel(across.title)
        axes.set_ylabel(up.title)
        figure.legend(loc="lower left", ncols=2, fontsize=10, columnspacing=1.4, handlelength=3.2, borderaxespad=0.4)
        return alone(inline(figure, title=title, description=description, key=key))


def _finish(scale: Any, limits: Any, ticks: Any, axis: Axis) -> None:
    """Scale, ends and ticks of an axis."""
    if axis.log:
        scale("log")
    if axis.ends is not None:
        limits(*axis.ends)
    if axis.ticks:
        ticks.set_ticks([place for place, _ in axis.ticks], [name for _, name in axis.ticks])
