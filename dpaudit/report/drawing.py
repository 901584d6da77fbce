"""Charts as SVG elements: shapes on two axes with a legend above them; small, accessible, the same bytes every time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, Literal

from dpaudit.report.svg import QUIET, element

_FONT: Final = 11.5
_LETTER: Final = 6.2
"""Width of a letter in pixels, on the large side: the reader's font is not known here, and labels must not overlap."""
_HANDLE: Final = 25.0
_BEYOND: Final = 3.0
"""What is off the chart is drawn at most so many times its size away: where, is not seen, and huge numbers break renderers."""


@dataclass(frozen=True)
class Axis:
    """What an axis shows, from `low` to `high`, with the values that are named on it; a logarithmic one has `low` above 0."""

    name: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    log: bool = False
    grid: bool = True

    def share(self, value: float) -> float:
        """Return where a value is on the axis, 0 at its start and 1 at its end."""
        if not self.log:
            found = (value - self.low) / (self.high - self.low)
        elif value <= 0:
            found = -_BEYOND
        else:
            found = math.log10(value / self.low) / math.log10(self.high / self.low)
        return min(max(found, -_BEYOND), 1 + _BEYOND)


@dataclass(frozen=True)
class Line:
    """Points that are joined, or marked where `marker` is given; a point that is not finite leaves a gap, `width` 0 joins none."""

    points: Sequence[tuple[float, float]]
    colour: str
    width: float = 1.6
    label: str = ""
    dashed: bool = False
    opacity: float = 1.0
    marker: Literal["", "dot", "cross", "triangle"] = ""


@dataclass(frozen=True)
class Band:
    """What lies between two values, for each place (across, low, high); a point that is not finite ends a part of it."""

    points: Sequence[tuple[float, float, float]]
    colour: str
    opacity: float


@dataclass(frozen=True)
class Frame:
    """The size of a drawing and the edges of its axes, in pixels from its upper left corner."""

    width: float = 388.8
    height: float = 252.0
    left: float = 58.3
    right: float = 381.0
    top: float = 26.5
    bottom: float = 211.7


def draw(
    shapes: Sequence[Line | Band], across: Axis, up: Axis, frame: Frame = Frame(), *, title: str, description: str, key: str
) -> str:
    """Draw shapes on axes, the first ones undermost, as an SVG element that refers to nothing outside itself.

    Lines with a label are in the legend, in their order; `title`, `description` and `key` are as for `element`.
    """
    clip = f"{key}-0"
    inside = (
        f'<clipPath id="{clip}"><rect x="{_n(frame.left)}" y="{_n(frame.top)}" width="{_n(frame.right - frame.left)}" '
        f'height="{_n(frame.bottom - frame.top)}"/></clipPath>'
    )

    def place(x: float, y: float) -> tuple[float, float]:
        wide, high = frame.right - frame.left, frame.bottom - frame.top
        return frame.left + wide * across.share(x), frame.bottom - high * up.share(y)

    drawn = "".join(_band(shape, place) if isinstance(shape, Band) else _line(shape, place) for shape in shapes)
    body = "".join((inside, *_axes(across, up, frame, place), f'<g clip-path="url(#{clip})">{drawn}</g>'))
    # Marks at the border are drawn whole, which the frame of the lines would cut.
    body += "".join(_marks(shape, place, frame) for shape in shapes if isinstance(shape, Line))
    body += "".join(_legend([one for one in shapes if isinstance(one, Line) and one.label], frame))
    return element(f"0 0 {_n(frame.width)} {_n(frame.height)}", body, title=title, description=description, key=key)


def linear_ticks(low: float, high: float, *, most: int = 6, whole: bool = False) -> list[tuple[float, str]]:
    """Round values from `low` to `high`, at most about `most`, with their texts; integers alone where `whole` is set."""
    wanted = (high - low) / most
    power = 10.0 ** math.floor(math.log10(wanted))
    step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= wanted * (1 - 1e-9))
    if whole:
        step = max(1.0, float(math.ceil(step)))
    values = [count * step for count in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    digits = max(0, 1 - math.floor(math.log10(step)))
    fixed = step >= 1e-5 and max(abs(low), abs(high)) < 1e6
    return [(value, f"{value:.{digits}f}".rstrip("0").rstrip(".") if fixed and digits else f"{value:g}") for value in values]


def log_ticks(low: float, high: float, text: Callable[[float], str], *, most: int = 8) -> list[tuple[float, str]]:
    """Powers of ten from `low` to `high`, at most about `most`, with their texts; multiples by 2 and 5 too where there are few."""
    exponents = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    if len(exponents) > 1:
        stride = -(-len(exponents) // most)
        return [(10.0**one, text(10.0**one)) for one in exponents[::stride]]
    sizes = (size * 10.0**one for one in range(math.floor(math.log10(low)), exponents.stop + 1) for size in (1, 2, 5))
    return [(size, f"{size:g}") for size in sizes if low <= size <= high]


def labels_that_fit(frame: Frame, longest: str) -> int:
    """Return how many texts as long as this one are legible side by side below the axes."""
    return max(2, int((frame.right - frame.left) / (_LETTER * len(longest) + _FONT)))


_Place = Callable[[float, float], tuple[float, float]]


def _axes(across: Axis, up: Axis, frame: Frame, place: _Place) -> Iterator[str]:
    """The lines, texts and names of both axes."""
    wide = [(place(value, up.low)[0], text) for value, text in across.ticks]
    high = [(place(across.low, value)[1], text) for value, text in up.ticks]
    grid = [f"M{_n(x)} {_n(frame.bottom)}V{_n(frame.top)}" for x, _ in wide if across.grid]
    grid += [f"M{_n(frame.left)} {_n(y)}H{_n(frame.right)}" for y, _ in high if up.grid]
    if grid:
        yield f'<path d="{"".join(grid)}" fill="none" stroke="var(--grid)" stroke-width=".6"/>'
    edge = f"M{_n(frame.left)} {_n(frame.top)}V{_n(frame.bottom)}H{_n(frame.right)}"
    yield f'<path d="{edge}" fill="none" stroke="var(--{QUIET})" stroke-width=".8"/>'
    yield f'<g fill="var(--ink)" font-size="{_FONT}">'
    for x, text in wide:
        yield _text(x, frame.bottom + 14.5, text, "middle")
    for y, text in high:
        yield _text(frame.left - 4, y + 4, text, "end")
    yield _text((frame.left + frame.right) / 2, frame.bottom + 31, across.name, "middle")
    if up.name:
        x, y = frame.left - 0.13 * (frame.right - frame.left), (frame.top + frame.bottom) / 2
        yield _text(x, y, up.name, "middle", f' transform="rotate(-90 {_n(x)} {_n(y)})"')
    yield "</g>"


def _legend(named: Sequence[Line], frame: Frame) -> Iterator[str]:
    """The names of the lines in one row above the axes, each beside a piece of its line."""
    widths = [_HANDLE + 7 + _LETTER * len(one.label) for one in named]
    x = (frame.left + frame.right - sum(widths) - 14 * (len(named) - 1)) / 2
    y = frame.top - 8
    for one, width in zip(named, widths, strict=True):
        sample = Line([(x, y), (x + _HANDLE, y)], one.colour, one.width, dashed=one.dashed, opacity=one.opacity)
        yield _line(sample, lambda across, up: (across, up))
        yield _mark(one, x + _HANDLE / 2, y)
        yield _text(x + _HANDLE + 6, y + 4, one.label, "start", f' fill="var(--ink)" font-size="{_FONT}"')
        x += width + 14


def _line(line: Line, place: _Place) -> str:
    """The joined points of a line; nothing for one of marks alone."""
    path = "".join(f"M{' '.join(f'{_n(x)} {_n(y)}' for x, y in (place(*point) for point in part))}" for part in _parts(line.points))
    dashes = f' stroke-dasharray="{_n(5 * line.width)} {_n(2 * line.width)}"' if line.dashed else ""
    faint = f' opacity="{_n(line.opacity)}"' if line.opacity < 1 else ""
    stroke = f'stroke="var(--{line.colour})" stroke-width="{_n(line.width)}"{dashes}{faint}'
    return f'<path d="{path}" fill="none" {stroke}/>' if path and line.width else ""


def _band(band: Band, place: _Place) -> str:
    """The area of a band."""
    path = ""
    for part in _parts(band.points):
        upper = [place(x, high) for x, _, high in part]
        lower = [place(x, low) for x, low, _ in reversed(part)]
        path += f"M{' '.join(f'{_n(x)} {_n(y)}' for x, y in (*upper, *lower))}Z"
    return f'<path d="{path}" fill="var(--{band.colour})" opacity="{_n(band.opacity)}"/>' if path else ""


def _marks(line: Line, place: _Place, frame: Frame) -> str:
    """The marks of a line's points, where they are on the chart."""
    places = [place(*point) for part in _parts(line.points) for point in part]
    shown = [(x, y) for x, y in places if frame.left - 1 <= x <= frame.right + 1 and frame.top - 1 <= y <= frame.bottom + 1]
    return "".join(_mark(line, x, y) for x, y in shown)


def _mark(line: Line, x: float, y: float) -> str:
    """One mark; nothing for a line without."""
    if line.marker == "dot":
        return f'<circle cx="{_n(x)}" cy="{_n(y)}" r="1.8" fill="var(--{line.colour})"/>'
    if line.marker == "cross":
        arms = f"M{_n(x - 3.6)} {_n(y - 3.6)}l7.2 7.2m0 -7.2l-7.2 7.2"
        return f'<path d="{arms}" fill="none" stroke="var(--{line.colour})" stroke-width="2.8"/>'
    if line.marker == "triangle":
        shape = f"M{_n(x - 4.5)} {_n(y - 4.5)}v9l9 -4.5z"
        return f'<path d="{shape}" fill="var(--{line.colour})" stroke="var(--ink)" stroke-width=".8"/>'
    return ""


def _parts(points: Iterable[tuple[float, ...]]) -> Iterator[list[tuple[float, ...]]]:
    """Points in their order, cut where one is not finite."""
    part: list[tuple[float, ...]] = []
    for point in points:
        if all(map(math.isfinite, point)):
            part.append(point)
        elif part:
            yield part
            part = []
    if part:
        yield part


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    """A piece of text at a place."""
    return f'<text x="{_n(x)}" y="{_n(y)}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def _n(value: float) -> str:
    """A number of pixels with two digits behind the point, as short as it goes."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"
