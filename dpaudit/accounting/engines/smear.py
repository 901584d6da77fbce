"""Points of mass in the lower law: they are spread as in the upper law, and a bump around epsilon is taken off for it.

Spreading moves the loss of a composition at random by a little, which raises delta only where epsilon is near. The bump, moved in
the same way, is everywhere at least as large as what is gained. docs/engines.md has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from flint import arb

from dpaudit.accounting.engines.lattice import MASS_BITS, Lattice, at_most, powers
from dpaudit.accounting.model.transform import Reals
from dpaudit.exact import ball, working_precision

FADED: Final = 60
"""The bump is summed up to where it has fallen by e^-60."""

STEEP: Final = 2
"""The bump falls at least this many times as fast as the weights of the tilt, or nothing is claimed from below."""

MASS_ROOM: Final = 44
"""The masses of a spread point are within 2^-44 of the true ones for each use of its law, and for each fold."""

ROOM: Final = 1 + 2.0**-20
"""Covers the rounding of weights and of sums of at most 2^21 positive terms."""


@dataclass(frozen=True)
class Bump:
    """height e^(-rate |u|) (2 - e^(-2 rate |u|)) at the loss epsilon + u."""

    rate: Fraction
    height: float

    def tilted_sum(
        self, masses: Reals, error: float, whole: float, *, tilt: Fraction, step: Fraction, first: int, gap: Fraction
    ) -> float:
        """At or above the sum of the bump times e^(-tilt u) over masses at consecutive places, each known up to the error.

        The place at position `first` is the first one beyond epsilon, by `gap`; `whole` bounds the sum of all masses.
        """
        total = 0.0
        for near, start, turn in ((gap, first, 1), (step - gap, first - 1, -1)):
            slow, fast = self.rate + turn * tilt, 3 * self.rate + turn * tilt
            count = min(math.ceil(FADED / (slow * step)) + 1, masses.size // 2)
            places = np.arange(count)
            with working_precision(MASS_BITS):
                fronts = [float((-ball(rate * near)).exp()) for rate in (slow, fast)]
                rest = at_most((-ball(slow * (near + count * step))).exp())
            weights = 2 * fronts[0] * powers(-slow * step, count)(places) - fronts[1] * powers(-fast * step, count)(places)
            chosen = masses[(start + turn * places) % masses.size]
            total += float((chosen * weights).sum()) + error * float(weights.sum()) + 2 * rest * whole
        return self.height * total * ROOM


def bump_of(lattices: Sequence[Lattice], tilt: Fraction, size: int) -> Bump | None:
    """The bump for all points that are spread, None where there are none; its height is infinite where they are spread too far."""
    spread = sum((lattice.count * lattice.spread**2 for lattice in lattices), Fraction(0))
    if not spread:
        return None
    rate = Fraction(2 / math.sqrt(spread)).limit_denominator(1 << 20)
    if rate <= STEEP * (1 + tilt):
        return Bump(rate, math.inf)
    touched = sum(lattice.count * (2 + int(lattice.index[-1] - lattice.index[0]) // size) for lattice in lattices)
    with working_precision(MASS_BITS):
        exact = ball(rate)
        logarithm = (exact - 1) * (exact - 1).log() - exact * exact.log() + ball(spread * rate * (rate + 1) / 4)
        return Bump(rate, at_most((logarithm + arb(touched) * arb(2) ** -MASS_ROOM).exp()))
