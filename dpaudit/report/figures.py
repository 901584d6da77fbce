"""A matplotlib figure as an SVG element inside a page: small, accessible, in the page's colours, the same bytes every time."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from dpaudit.extras import require
from dpaudit.report.svg import element

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that the page replaces by variables of its own, so that plots follow a light or dark scheme.
INK: Final = "#010101"
QUIET: Final = "#020202"
GRID: Final = "#030303"
CLAIM: Final = "#040404"
PRICE: Final = "#050505"
ATTACK: Final = "#060606"

_VARIABLES: Final = {INK: "ink", QUIET: "quiet", GRID: "grid", CLAIM: "claim", PRICE: "price", ATTACK: "attack"}
_STYLE: Final[dict[str, Any]] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "dpaudit",
    "font.family": "DejaVu Sans",
    "font.size": 11.5,
    "figure.facecolor": "none",
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "legend.fontsize": 11.5,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "text.color": INK,
    "xtick.bottom": False,
    "xtick.labelcolor": INK,
    "ytick.left": False,
    "ytick.labelcolor": INK,
}
DASHED: Final = (0, (5.0, 2.0))
_SIZE: Final = (5.4, 3.5)
_AXES: Final = (0.15, 0.16, 0.83, 0.735)
_CLEANED: Final = (
    (r"<metadata>.*?</metadata>|<!--.*?-->|<style.*?</style>", ""),
    (r"(font(-size)?: *)(\d+(?:\.\d+)?px)[^;\"]*;( font-family: [^;\"]*;)?", r"font-size: \3;"),
    (r' transform="rotate\(-0 [^"]*\)"', ""),
    (r"(\d\d\.\d)\d+", r"\1"),
    (r"(\b\d\.\d\d)\d+", r"\1"),
    (r"; stroke-linecap: square|; stroke-dashoffset: 0|; text-anchor: start", ""),
    (r"\s*\n\s*", " "),
    (r" ?(?=\"/?>)|(?<=>) (?=<)", ""),
)


@contextmanager
def canvas() -> Iterator[tuple[Figure, Axes]]:
    """An empty figure with axes in the style of the page; everything is drawn inside the block."""
    require("plots")
    logger = logging.getLogger("matplotlib")
    level = logger.level
    # On a machine without a home folder matplotlib complains of a missing cache, which matters to nobody here.
    logger.setLevel(logging.ERROR)
    try:
        from matplotlib import style
        from matplotlib.figure import Figure
    finally:
        logger.setLevel(level)

    with style.context(["default", _STYLE]):
        figure = Figure(figsize=_SIZE)
        yield figure, figure.add_axes(_AXES)


def inline(figure: Figure, *, title: str, description: str, key: str) -> str:
    """The figure as an SVG element that refers to nothing outside itself.

    Source: WAI-ARIA graphics: role img with a name and a description.
    """
    output = io.StringIO()
    figure.savefig(output, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    text = output.getvalue()
    text = text[text.index("<svg") :].strip()
    for pattern, replacement in _CLEANED:
        text = re.sub(pattern, replacement, text, flags=re.DOTALL)
    text = _renamed(_flat(text), key)
    text = re.sub(r'style="[^"]*"', lambda found: re.sub(r"(?<=[:;]) ", "", found[0]), text)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var(--{variable})")
    opening, _, rest = text.partition(">")
    view = re.findall(r'viewBox="([^"]*)"', opening)[0]
    links = ' xmlns:xlink="http://www.w3.org/1999/xlink"'
    return element(view, rest.removesuffix("</svg>"), title=title, description=description, key=key, names=links)


def finish(axes: Axes, across: str, up: str, *, columns: int = 3) -> None:
    """Names of the axes, and the legend above them, where it hides nothing."""
    axes.minorticks_off()
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.yaxis.set_label_coords(-0.13, 0.5)
    axes.legend(
        loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, columnspacing=1.4, handlelength=2.2, borderaxespad=0.2
    )


def _flat(text: str) -> str:
    """The drawing without groups whose names nothing refers to, which change nothing."""
    used = set(re.findall(r'(?:href="|url\()#([^")]+)', text))
    bare: list[bool] = []

    def kept(found: re.Match[str]) -> str:
        if found[0] == "</g>":
            return "" if bare.pop() else found[0]
        bare.append(re.fullmatch(r'<g(?: id="([^"]*)")?>', found[0]) is not None and found[1] not in used)
        return "" if bare[-1] else found[0]

    return re.sub(r'<g(?: id="([^"]*)")?(?=[ >])[^>]*(?<!/)>|</g>', kept, text)


def _renamed(text: str, key: str) -> str:
    """The drawing with short ids that begin with `key`, and none that nothing refers to."""
    used = dict.fromkeys(re.findall(r'(?:href="|url\()#([^")]+)', text))
    names = {name: f"{key}-{place}" for place, name in enumerate(used)}
    text = re.sub(r' id="([^"]*)"', lambda found: f' id="{names[found[1]]}"' if found[1] in names else "", text)
    return re.sub(r'(href="|url\()#([^")]+)', lambda found: f"{found[1]}#{names[found[2]]}", text)
