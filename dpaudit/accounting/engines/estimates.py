"""Delta in floats, without any certificate: it only tells a search where to begin."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from dpaudit.accounting.engines.contour import LENGTHENED, period_for
from dpaudit.accounting.engines.parts import Parts, parts_of
from dpaudit.accounting.engines.saddles import Saddles, saddles_of, tilt_at
from dpaudit.accounting.engines.tilted import LARGEST, TAILS
from dpaudit.accounting.laws.distributions import Normal
from dpaudit.accounting.model.composition import Composition

MOST_NODES: Final = 1 << 13  # Length of a line times the period, about six times as many as its nodes
FADED: Final = 22.0  # Nats by which images and what is left out of a line are to be smaller than delta
SMALLEST_WEIGHT: Final = 1e-18  # Share of the tilted mass below which a place of a sketch is left out


def estimated_log_delta(composition: Composition, epsilon: Fraction) -> float | None:
    """Logarithm of about delta in the worse direction, -infinity where it is tiny; None where floats say nothing."""
    found = []
    with np.errstate(all="ignore"):
        for direction in {composition, composition.reversed()}:
            parts = parts_of(direction, lower=False)
            if not parts or all(isinstance(law, Normal) for law, _ in parts):  # these have a closed form, which is quicker
                return None
            one = _estimate(parts, float(min(epsilon, LARGEST)))
            if one is None or math.isnan(one) or one == math.inf:
                return None
            found.append(one)
    return max(found)


def _estimate(parts: Parts, epsilon: float) -> float | None:
    """One direction: a line where it fades, else the saddle point."""
    saddles = next((known for tail in TAILS if (known := saddles_of(parts, tail)) is not None), None)
    place = None if saddles is None else saddles.for_epsilon(epsilon)
    if saddles is None:
        return None
    if place is None:  # no tilt reaches so far
        return -math.inf
    bound = saddles.bound(place, epsilon)
    line = _line(saddles, place, epsilon, bound)
    return min(bound if line is None else line, 0.0)


def _line(saddles: Saddles, place: int, epsilon: float, log_delta: float) -> float | None:
    """The trapezoidal rule for the inverse transform of the sketches, None where it does not fade or nothing is left."""
    theta, deviation = tilt_at(place), math.sqrt(saddles.at(place)[2]) or 1.0
    period, _ = period_for(saddles.sketches, theta, deviation, epsilon, log_delta - FADED, 1.0)
    reach, laws = math.sqrt(2 * FADED) / deviation, [(sketch.tilted(theta), sketch, times) for sketch, times in saddles.sketches]
    kept = [(law.weights > SMALLEST_WEIGHT, law, sketch, times) for law, sketch, times in laws]
    cumulant = sum(times * law.cumulant for law, _, times in laws)
    while reach * period < MOST_NODES:
        heights = np.arange(math.ceil(reach * period / (2 * math.pi)) + 2) * (2 * math.pi / period)
        total = np.zeros(heights.size, dtype=complex)
        for some, law, sketch, times in kept:
            values = np.exp(1j * heights[:, None] * (sketch.places[some] - law.mean)) @ law.weights[some]
            total += times * (np.log(values) + 1j * heights * law.mean)
        points = theta + 1j * heights
        terms = np.exp(total - 1j * heights * epsilon) / (points * (1 + points))
        if abs(terms[-1]) < math.exp(-FADED) * abs(terms[0]):
            whole = float((terms.real.sum() - terms.real[0] / 2) / period * 2)
            return cumulant - theta * epsilon + math.log(whole) if whole > 0 else None
        reach *= LENGTHENED
    return None
