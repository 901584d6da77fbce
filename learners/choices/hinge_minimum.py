"""The least smoothed hinge loss over a ball, within a proved tolerance: a score of a margin whose sensitivity is known."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from learners.choices.counts import signs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from learners.rows.rows import Rows

_ROW_BITS: Final = 12
_WEIGHT_BITS: Final = 40
_SLOPE_BITS: Final = 30
_MARGIN_BITS: Final = _ROW_BITS + _WEIGHT_BITS
"""Rows of 2**12 steps and weights of 2**40 have margins below 2**53, which floats add exactly."""

_BIAS_BITS: Final = 4
_MOST_ROUNDS: Final = 4096


@dataclass(frozen=True)
class Scale:
    """The scale of a margin: what its least loss means and how it is found, from public numbers.

    With weights v of norm at most 1 and rows x of norm at most 1 it is the minimum of mean phi(y <v, x>) + tau |v|^2. The loss phi
    is the hinge loss max(0, 1 - 2**exponent u), made smooth over a width of 2 tau / 2**exponent and lower by at most tau.

    Source: Bassily, Mohri, Suresh 2022, Algorithm 6.
    """

    records: int  # m, how many records count, at least 1
    exponent: int  # the margin is the product of the norms over 2**exponent; 0 to 12

    @property
    def tolerance(self) -> Fraction:
        """Largest distance of a score above the minimum: a twentieth of what one record can change."""
        return Fraction(1 + 2**self.exponent, 20 * self.records)

    @property
    def sensitivity(self) -> Fraction:
        """Largest change of a score when one record is replaced: one term of the mean moves by at most 1 + 2**exponent."""
        return Fraction(1 + 2**self.exponent, self.records) + self.tolerance

    @property
    def width_bits(self) -> int:
        """Width of the smooth part, in units of margins: 2**width_bits of them."""
        return _MARGIN_BITS - self.exponent + 1 - _BIAS_BITS

    @property
    def ridge(self) -> float:
        """The factor of |v|^2 / 2: 2 tau."""
        return 2.0 ** (1 - _BIAS_BITS)

    @property
    def smoothness(self) -> float:
        """Largest second derivative of the objective."""
        return 4.0**self.exponent * 2.0 ** (_BIAS_BITS - 1) + self.ridge

    @property
    def steps(self) -> int:
        """Steps between two looks at the tolerance: so many that the distance to the minimum falls by a factor of about e^2."""
        return math.ceil(2 * math.sqrt(self.smoothness / self.ridge))


def least_hinge(rows: Rows, scale: Scale) -> Fraction:
    """Compute the least smoothed hinge loss, or up to `scale.tolerance` more, on every dataset (Nesterov 2004, section 2.2)."""
    # Floats search; integers compute the loss at the weights found and a lower bound on the minimum from the gradient there. The
    # search ends once the two are close, so that the result is that close whatever the floats did.
    seen = _coarse(rows, scale.records)
    side = signs(seen.labels)
    momentum = 1 - 2 / (1 + math.sqrt(scale.smoothness / scale.ridge))
    weights = ahead = np.zeros(seen.steps.shape[1])
    for _ in range(_MOST_ROUNDS):
        value, below = _bounds(seen, side, scale, _on_lattice(weights))
        if value - below <= scale.tolerance:
            return value
        for _ in range(scale.steps):
            slope = scale.ridge * ahead - _pull(seen, side, scale, _on_lattice(ahead)) * _pull_unit(scale)
            moved = ahead - slope / scale.smoothness
            moved /= max(1.0, float(np.sqrt(np.square(moved).sum())) * (1 + 2.0**-40))
            weights, ahead = moved, moved + momentum * (moved - weights)
    raise AssertionError("the least hinge loss was not found")


def _bounds(rows: Rows, side: NDArray[np.int64], scale: Scale, weights: NDArray[np.int64]) -> tuple[Fraction, Fraction]:
    """The objective at some weights of norm at most 1, and a lower bound on it in the ball, both exact."""
    # With h the gradient of the mean loss at v, the objective at z is at least the mean loss at v + <h, z - v> + tau |z|^2, which
    # is least at z = -h / (2 tau), or on the border in that direction.
    ridge, unit, width = Fraction(1, 2 ** (_BIAS_BITS - 1)), 2**_WEIGHT_BITS, scale.width_bits
    # phi is 2**exponent / 2**margin_bits times inside^2 / 2**(width + 1) + (short - inside), here in Python's own integers.
    short = _short(rows, side, scale, weights).tolist()
    squares = sum(min(each, 1 << width) ** 2 for each in short)
    beyond = sum(each - min(each, 1 << width) for each in short)
    loss = (Fraction(squares, 2 ** (width + 1)) + beyond) * Fraction(2**scale.exponent, 2**_MARGIN_BITS * len(side))
    pull: list[int] = _pull(rows, side, scale, weights).tolist()
    pull_unit = Fraction(2**scale.exponent, 2 ** (_SLOPE_BITS + _ROW_BITS) * len(side))
    own: list[int] = weights.tolist()
    norm = Fraction(sum(entry * entry for entry in own), unit**2)
    if norm > 1:
        raise AssertionError("weights left the ball, which they are kept inside by more than floats can lose")
    along = -pull_unit * sum(a * b for a, b in zip(pull, own, strict=True)) / unit
    length = pull_unit * (math.isqrt(sum(entry * entry for entry in pull)) + 1)
    lowest = -(length**2) / (2 * ridge) if length <= ridge else ridge / 2 - length
    # Slopes are rounded down by less than a unit each, and z - v has norm at most 2.
    rounding = Fraction(2 ** (scale.exponent + 1), 2**_SLOPE_BITS)
    value = loss + ridge / 2 * norm
    return value, loss - along + lowest - rounding


def _short(rows: Rows, side: NDArray[np.int64], scale: Scale, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """How far each signed margin falls short of the margin, at least 0, in units of 2**-margin_bits."""
    return np.asarray(np.maximum((1 << (_MARGIN_BITS - scale.exponent)) - side * rows.margins(weights), 0))


def _pull(rows: Rows, side: NDArray[np.int64], scale: Scale, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """Minus the sum of the gradients of phi, up to a unit: slopes as integers of at most 2**30 times rows."""
    inside = np.minimum(_short(rows, side, scale, weights), 1 << scale.width_bits)
    return rows.weighted_sum(side * (inside >> (scale.width_bits - _SLOPE_BITS)))


def _pull_unit(scale: Scale) -> float:
    """The size of a step of `_pull` as a gradient of the mean."""
    return 2.0 ** (scale.exponent - _SLOPE_BITS - _ROW_BITS) / scale.records


def _on_lattice(weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Weights as multiples of 2**-40, rounded toward zero, so that a norm of at most 1 stays one."""
    return np.trunc(weights * 2.0**_WEIGHT_BITS).astype(np.int64)


def _coarse(rows: Rows, records: int) -> Rows:
    """The first records, in steps of at most 2**12 rounded toward zero; each row depends on its record alone."""
    first: Any = rows.steps[:records]
    drop = max(0, (rows.bound - 1).bit_length() - _ROW_BITS)
    entries = first if isinstance(first, np.ndarray) else first.data
    small = (np.sign(entries) * (np.abs(entries) >> drop)).astype(np.int32)
    if isinstance(first, np.ndarray):
        steps: Any = small
    else:
        steps = first.copy()
        steps.data = small
    return replace(rows, steps=steps, bound=2**_ROW_BITS, step=rows.step * 2**drop, labels=rows.labels[:records])
