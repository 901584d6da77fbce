"""Tilts for a question: the saddle point on a geometric grid, remembered so that further questions find it at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from dpaudit.accounting.engines.parts import Parts
from dpaudit.accounting.engines.plan import Sketch, float_sketch, saddle_point

TILTS_PER_OCTAVE: Final = 16  # The finest grid of tilts
# Tilts that serve many questions are those of round deltas: of 1e-6, which is asked most, and of others this far apart in standard
# deviations, tried in turn.
MIDDLE: Final = math.sqrt(12 * math.log(10))
SPACINGS: Final = (4.0, 2.0, 1.0, 0.5, 0.25)
FINEST: Final = -12 * TILTS_PER_OCTAVE  # Place of the smallest tilt, which serves all smaller epsilons
STEEPEST: Final = 40 * TILTS_PER_OCTAVE  # Place of the largest; a question beyond is about a loss at its greatest values


@dataclass(frozen=True, eq=False)
class Saddles:
    """The laws of a composition in floats, and epsilon, log delta and variance at the tilts that were looked at."""

    sketches: tuple[tuple[Sketch, int], ...]
    _known: dict[int, tuple[float, float, float]] = field(default_factory=dict)

    def at(self, place: int) -> tuple[float, float, float]:
        """Epsilon for which the tilt of a place is best, log delta there, and the variance of the composed loss."""
        return self._half(2 * place)

    def for_epsilon(self, epsilon: float) -> int | None:
        """The place nearest to the best tilt for an epsilon, None where it is out of reach."""
        place = self._first(lambda half: self._half(half)[0] >= epsilon)
        return None if place is None else self._before_jump(place, lambda one: self.bound(one, epsilon))

    def for_delta(self, log_delta: float) -> int | None:
        """The place whose estimate of log delta is nearest to the one asked for."""
        place = self._first(lambda half: self._half(half)[1] <= log_delta)
        if place is None:
            return None
        # The epsilon that the tilt of a place gives for the target, in nats.
        return self._before_jump(
            place, lambda one: tilt_at(place) * (self.at(one)[0] + (self.at(one)[1] - log_delta) / tilt_at(one))
        )

    def bound(self, place: int, epsilon: float) -> float:
        """What the tilt of a place says of log delta at any epsilon."""
        near, log_delta, _ = self.at(place)
        return log_delta - tilt_at(place) * (epsilon - near)

    def _before_jump(self, place: int, bound: Callable[[int], float]) -> int:
        """The place before, where it bounds better by more than a nat: the tilted law jumps in between, to rare losses."""
        return place - 1 if place > FINEST and bound(place - 1) < bound(place) - 1 else place

    def coarser(self, place: int, reach: float, widest: float = SPACINGS[0]) -> int:
        """A place that serves many questions, whose composed mean is at most `reach` standard deviations away."""
        # It depends on the composition and on the question alone, so answers do not depend on what was asked before.
        mean, log_delta, variance = self.at(place)
        deviation, depth = math.sqrt(variance or 1.0), math.sqrt(max(-2 * log_delta, 0.0))
        for spacing in SPACINGS:
            if spacing > widest:
                continue
            found = self.for_delta(-((MIDDLE + round((depth - MIDDLE) / spacing) * spacing) ** 2) / 2)
            if found is None:
                continue
            other, _, spread = self.at(found)
            least = min(deviation, math.sqrt(spread or 1.0))
            if abs(tilt_at(found) - tilt_at(place)) * deviation <= reach and abs(other - mean) <= reach * least:
                return found
        return place

    def _half(self, half: int) -> tuple[float, float, float]:
        """The same at half a place, remembered."""
        found = self._known.get(half)
        if found is None:
            found = self._known[half] = saddle_point(self.sketches, 2.0 ** (half / 2 / TILTS_PER_OCTAVE))
        return found

    def _first(self, reached: Callable[[int], bool]) -> int | None:
        """The first place whose upper end, half a place further, is beyond the target."""
        if not reached(2 * STEEPEST):
            return None
        low, high = FINEST - 1, STEEPEST
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if reached(2 * middle + 1) else (middle, high)
        return high


def tilt_at(place: int) -> float:
    """The tilt of a place."""
    return float(2.0 ** (place / TILTS_PER_OCTAVE))


@lru_cache(maxsize=64)
def saddles_of(parts: Parts, tail: int) -> Saddles | None:
    """Every law in floats, None when one of them has no finite loss within reach."""
    found = [(float_sketch(law, tail), count) for law, count in parts]
    known = tuple((sketch, count) for sketch, count in found if sketch is not None)
    return Saddles(known) if len(known) == len(parts) else None
