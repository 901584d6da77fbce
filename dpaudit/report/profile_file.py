"""The privacy profile of a composition as an SVG file of its own: both certified ends of delta over epsilon."""

from __future__ import annotations

from collections.abc import Sequence

from dpaudit.report.plots import DASHED, finish, tick
from dpaudit.report.svg import CLAIM, PRICE, alone, canvas, inline


def profile_file(points: Sequence[tuple[float, float, float]], name: str, *, smallest: float) -> str | None:
    """Delta over epsilon on a logarithmic axis, from below and from above (Balle, Barthe, Gaboardi 2018 (privacy profiles))."""
    epsilons, lower, upper = zip(*points, strict=True)
    if max(upper) < smallest:
        return None
    low, high = ([max(value, smallest / 1e3) for value in end] for end in (lower, upper))
    with canvas() as (figure, axes):
        axes.fill_between(epsilons, low, high, color=PRICE, alpha=0.3, linewidth=0)
        axes.plot(epsilons, high, color=PRICE, linewidth=2.4, label="upper end, a valid claim")
        axes.plot(epsilons, low, color=CLAIM, linewidth=1.4, linestyle=DASHED, label="lower end")
        axes.set_yscale("log")
        axes.set_ylim(smallest, min(1.5 * max(upper), 1.5))
        axes.yaxis.set_major_formatter(tick)
        axes.set_xlim(epsilons[0], epsilons[-1])
        finish(axes, "epsilon (nats)", "delta")
        description = (
            f"Certified delta over epsilon, from {epsilons[0]:.4g} to {epsilons[-1]:.4g} nats; the truth lies between both ends."
        )
        return alone(inline(figure, title=f"Privacy profile of {name}", description=description, key="profile"))
