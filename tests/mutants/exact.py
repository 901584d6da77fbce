"""Second opinions for the checks of the accountant: exact fractions and mpmath, from the definitions, no code in common with it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from mpmath import mp, mpf


def number(value):
    """An mpmath number from a rational."""
    value = Fraction(value)
    return mpf(value.numerator) / value.denominator


def rational(value):
    """The rational that an mpmath number is."""
    sign, mantissa, exponent, _ = mpf(value)._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent


def growths(epsilon):
    """Rationals at or just below, and at or just above, e^epsilon."""
    with mp.workdps(60):
        near = rational(mp.exp(number(epsilon)))
    return (near, near) if epsilon == 0 else (near * (1 - Fraction(1, 10**50)), near * (1 + Fraction(1, 10**50)))


def sides(pair, turn=1):
    """P and Q as fractions, exchanged where `turn` is -1."""
    return tuple(tuple(Fraction(mass) for mass in side) for side in pair)[::turn]


def products(pairs):
    """P and Q masses of all outcomes of independent pairs."""
    found = [(Fraction(1), Fraction(1))]
    for p, q in pairs:
        found = [(a * left, b * right) for (a, b), (left, right) in product(found, zip(p, q, strict=True))]
    return found


def gain(outcomes, growth):
    """Sum of the positive parts of P - growth Q."""
    return sum((max(p - growth * q, 0 * p) for p, q in outcomes), 0 * growth)


def delta(outcomes, epsilon):
    """A number at or below and one at or above the positive parts of P - e^epsilon Q, for fractions."""
    low, high = growths(epsilon)
    return gain(outcomes, high), gain(outcomes, low)


def on_integers(weight, sensitivity, reach):
    """P and Q masses of noise with these weights around `sensitivity` and around 0, for all outputs that matter."""
    weights = {k: weight(k) for k in range(-reach - sensitivity, reach + sensitivity + 1)}
    whole = sum(weights.values())
    return [(weights[k - sensitivity] / whole, weights[k] / whole) for k in range(-reach, reach + 1)]


def encloses(found, value, *, room="1e-15", width=None):
    """Assert that an enclosure contains a value, up to the room that its own digits need, and perhaps that it is narrow."""
    value, room = value if isinstance(value, (int, Fraction)) else rational(value), Fraction(room)
    assert found.lower <= value * (1 + room), (found, float(value))
    assert found.upper >= value * (1 - room), (found, float(value))
    assert width is None or found.width <= Fraction(width) * found.upper, (found, width)


def ball_of(value):
    """The ends of a ball of python-flint as mpmath numbers."""
    with mp.workdps(40):
        middle, radius = (mpf(part.str(38, radius=False)) for part in (value.mid(), value.rad()))
        return middle - radius - abs(middle) * mpf(10) ** -36, middle + radius + abs(middle) * mpf(10) ** -36
