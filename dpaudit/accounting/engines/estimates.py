"""Delta in floats, without any certificate: it only tells a search where to begin."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np

from dpaudit.accounting.engines.parts import Parts, parts_of
from dpaudit.accounting.engines.saddles import Saddles, saddles_of, tilt_at
from dpaudit.accounting.engines.tilted import LARGEST, TAILS
from dpaudit.accounting.laws.distributions import Normal
from dpaudit.accounting.model.composition import Composition

MOST_NODES: Final = 1 << 10  # Nodes of a line in floats
MOST_PRODUCTS: Final = 1 << 21  # Nodes times places of all laws
FADED: Final = 1e-7  # Share that the last term of a line may have of its first


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
    theta = tilt_at(place)
    near, log_delta, _ = saddles.at(place)
    line = _line(saddles, theta, epsilon, math.sqrt(saddles.at(place)[2]) or 1.0)
    return log_delta - theta * (epsilon - near) if line is None else line


def _line(saddles: Saddles, theta: float, epsilon: float, deviation: float) -> float | None:
    """The trapezoidal rule for the inverse transform of the sketches, None where it does not fade."""
    period = 24 * deviation + 80 / theta
    count = min(math.ceil(9 * period / (2 * math.pi * min(deviation, 1e300))) + 2, MOST_NODES)
    if count * sum(sketch.places.size for sketch, _ in saddles.sketches) > MOST_PRODUCTS:
        return None
    heights = np.arange(count) * (2 * math.pi / period)
    total, cumulant = np.zeros(count, dtype=complex), 0.0
    for sketch, times in saddles.sketches:
        law = sketch.tilted(theta)
        values = np.exp(1j * heights[:, None] * (sketch.places - law.mean)) @ law.weights
        total += times * (np.log(values) + 1j * heights * law.mean)
        cumulant += times * law.cumulant
    points = theta + 1j * heights
    terms = np.exp(total - 1j * heights * epsilon) / (points * (1 + points))
    whole = float((terms.real.sum() - terms.real[0] / 2) / period * 2)
    if not abs(terms[-1]) < FADED * abs(terms[0]) or whole <= 0:
        return None
    return cumulant - theta * epsilon + math.log(whole)
