"""Sums of exponentials along a line in floats: for many laws, where balls would take seconds. The error is in every ball."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from flint import acb, acb_mat, arb

from dpaudit.accounting.model.transform import ROOT_FIVE, UNIT, Complexes, product
from dpaudit.exact import ball

GOOD_BITS: Final = 60  # Balls at least this accurate are converted from their middle
LEAST: Final = 1e-290  # Masses below this, or above its inverse, are left to balls
MOST_TERMS: Final = 1 << 13  # Most exponentials of a sum


def float_sums(masses: Sequence[arb], losses: Sequence[arb], step: Fraction, side: int) -> acb_mat | None:
    """Balls around the sums of mass e^(i n step loss), n = side row + column; None where floats do not hold the masses."""
    # Every term is b r^row c^column with b, r and c rounded from balls. A product is off by at most sqrt(5) units of
    # rounding (separate real operations, nothing is fused), a rounded number of modulus 1 by sqrt(2), and a sum of J terms in
    # any order by J units of the sum of their moduli. docs/engines.md, many laws, has the constant.
    weights = [float(mass) for mass in masses]
    if len(weights) > MOST_TERMS or not all(LEAST < weight < 1 / LEAST for weight in weights):
        return None
    if any(mass.rel_accuracy_bits() < GOOD_BITS for mass in masses):
        return None
    slow, fast = (_rotations(losses, gap) for gap in (side * step, step))
    if slow is None or fast is None:
        return None
    rows, columns = _powers(slow, side), _powers(fast, side)
    values = np.array(weights)
    unit = float(UNIT)
    growth = (2 * side + 4) * (float(ROOT_FIVE) + 2) * unit + (len(weights) + 8) * unit
    error = arb(growth / (1 - growth) * 1.01) * sum(masses, arb(0)).abs_upper()
    room = acb((-error).union(error), (-error).union(error))
    entries = []
    for real, imaginary in zip(rows[0], rows[1], strict=True):
        turned = product((real * values, imaginary * values), columns)
        sums = (part.sum(axis=1).tolist() for part in turned)
        entries += [acb(x, y) + room for x, y in zip(*sums, strict=True)]
    return acb_mat(side, side, entries)


def _rotations(losses: Sequence[arb], gap: Fraction) -> Complexes | None:
    """e^(i gap loss), rounded; None where a loss is not known well enough."""
    turn, most = ball(gap), arb(2) ** -GOOD_BITS
    angles = [turn * loss for loss in losses]
    if not all(angle.rad() < most for angle in angles):
        return None
    return np.array([float(angle.cos()) for angle in angles]), np.array([float(angle.sin()) for angle in angles])


def _powers(base: Complexes, count: int) -> Complexes:
    """The first powers of numbers from 0 on, a row for each, by repeated multiplication."""
    real, imaginary = np.ones((count, base[0].size)), np.zeros((count, base[0].size))
    for index in range(1, count):
        real[index], imaginary[index] = product((real[index - 1], imaginary[index - 1]), base)
    return real, imaginary
