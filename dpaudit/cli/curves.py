"""Curves of what `dpaudit account` prices, computed and drawn: profile, trade-off function, budget over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from dpaudit.accounting import PrivacyLoss, compose
from dpaudit.errors import InvalidArgument
from dpaudit.exact import in_range, outward, shown

CURVES: Final = ("profile", "tradeoff", "budget")
"""What can be drawn, the usual one first."""

_POINTS: Final = 60
_STAGES: Final = 40  # Compositions along a budget, each of which is a question of its own
_TESTS: Final = 12  # Each place takes half a second for a composition of sampled releases
_NOTHING: Final = "there is nothing to draw: delta is 0 or smaller than any that was asked for."


def draw_curve(curve: str, losses: Sequence[PrivacyLoss], answers: Sequence[dict[str, Any]], path: Path) -> None:
    """Write one curve of everything together as an SVG file."""
    from dpaudit.report import write_text

    if path.suffix.lower() != ".svg":
        raise InvalidArgument("DPA503", f"plots are written as SVG, got {path.name}. Choose a name that ends in .svg.")
    drawn = {"profile": _profile, "tradeoff": _tradeoff, "budget": _budget}[curve](losses, answers)
    if drawn is None:
        raise InvalidArgument("DPA503", _NOTHING)
    write_text(drawn, path)


def _profile(losses: Sequence[PrivacyLoss], answers: Sequence[dict[str, Any]]) -> str | None:
    """The privacy profile from 0 to a little beyond the largest epsilon of the answers."""
    from dpaudit.report.loss_files import profile_file

    loss = compose(*losses)
    answered = {name: [_reached(answer, name) for answer in answers] for name in ("epsilon", "delta")}
    last = 1.1 * max((end for end in answered["epsilon"] if isinstance(end, float)), default=1.0) or 1.0
    least = min((end for end in answered["delta"] if isinstance(end, float) and end > 0), default=1e-6)
    places = [Fraction(outward(Fraction(last) * step / _POINTS, digits=6, up=True)) for step in range(_POINTS + 1)]
    points = [(float(place), *found.floats()) for place, found in zip(places, loss.curve(places), strict=True)]
    return profile_file(points, loss.describe(), smallest=max(min(least, 1e-3) / 10, 1e-300))


def _reached(answer: dict[str, Any], name: str) -> float | str:
    """The epsilon, or the delta, that an answer is about."""
    end: float | str = answer["upper_float"] if answer["asked"] == name else float(Fraction(answer["at"]))
    return end


def _tradeoff(losses: Sequence[PrivacyLoss], _: Sequence[dict[str, Any]]) -> str | None:
    """The trade-off function, closer where a small type I error makes it steep."""
    from dpaudit.report.loss_files import tradeoff_file

    loss = compose(*losses)
    places = sorted({Fraction(step, _TESTS) ** 2 for step in range(_TESTS + 1)} | {Fraction(1, 20)})
    points = [(float(place), *loss.tradeoff(alpha=place).floats()) for place in places]
    return tradeoff_file(points, loss.describe(), advantage=loss.advantage().floats()[1])


def _budget(losses: Sequence[PrivacyLoss], answers: Sequence[dict[str, Any]]) -> str | None:
    """Epsilon after each number of releases, at the first delta that was asked for."""
    from dpaudit.report.loss_files import budget_file

    delta = next((answer["at"] for answer in answers if answer["given"] == "delta"), None)
    if delta is None:
        raise InvalidArgument("DPA503", "a budget over time is drawn at a delta. Give --delta as well.")
    exact = in_range(delta, "delta", lower=0, upper=1, upper_open=True)
    stages = [(float(done), *loss.epsilon(delta=exact).floats()) for done, loss in _stages(losses)]
    points = [(0.0, 0.0, 0.0), *stages]
    if any(end == float("inf") for _, _, end in points) or len(points) < 2:
        raise InvalidArgument(
            "DPA503", "there is nothing to draw: no finite epsilon is known at this delta, or nothing is released."
        )
    return budget_file(points, compose(*losses).describe(), delta=shown(exact))


def _stages(losses: Sequence[PrivacyLoss]) -> Iterator[tuple[int, PrivacyLoss]]:
    """The number of releases so far and what they cost together, in the given order, at some forty places."""
    whole = sum(count for loss in losses for _, count in loss.parts)
    stride, done, before = max(1, -(-whole // _STAGES)), 0, list[PrivacyLoss]()
    for loss in losses:
        size = sum(count for _, count in loss.parts)
        if len(loss.parts) == 1:
            one = PrivacyLoss(type(loss.composition)(((loss.parts[0][0], 1),), loss.adjacency))
            for part in range(stride, size, stride):
                yield done + part, compose(*before, part * one)
        done += size
        before.append(loss)
        if size:
            yield done, compose(*before)
