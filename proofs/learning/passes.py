"""What one record moves in a pass of phased descent: smooth steps contract, floats drift a little, means are rounded to a lattice.

A step moves the iterate by clip(A (p - a), 0, C) along a record of norm at most r; u is an inner product, Z a squared length.
"""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas import Lemma

_STEP: Final = "docs/margins.md, Lemma 1"
_FLOATS: Final = "docs/margins.md, Lemma 2"
_PHASE: Final = "docs/margins.md, Lemma 3"
_RUN: Final = "docs/margins.md, Theorem 1"
_LENGTH: Final = "min(max(A*(p - {}), 0), C)"

LEMMAS: Final = (
    Lemma(
        "passes.slope",
        "The length of a step falls as the margin rises, by at most A times as much, and lies between 0 and C.",
        "A C p a b",
        ("0 <= A", "0 <= C", "b <= a"),
        f"0 <= {_LENGTH.format('b')} - {_LENGTH.format('a')} and {_LENGTH.format('b')} - {_LENGTH.format('a')} <= A*(a - b) and "
        f"0 <= {_LENGTH.format('a')} and {_LENGTH.format('a')} <= C",
        _STEP,
    ),
    Lemma(
        "passes.steepness",
        "If A r^2 <= 2, then c t <= 2 for every slope c up to A and every squared length t up to r^2.",
        "c t A R",
        ("0 <= c", "c <= A", "0 <= R", "t <= R", "A*R <= 2"),
        "c*t <= A*R and c*t <= 2",
        _STEP,
    ),
    Lemma(
        "passes.step",
        "Two iterates at squared distance q, at v = u^2 along the record, are no further apart after the step.",
        "q v c t",
        ("0 <= c", "0 <= v", "c*t <= 2"),
        "q - 2*c*v + c*v*(c*t) <= q",
        _STEP,
    ),
    Lemma(
        "passes.own_step",
        "A step s up to C along a record of squared length t up to R has a squared length of at most C^2 R.",
        "s t C R",
        ("0 <= s", "s <= C", "0 <= t", "t <= R"),
        "s**2*t <= C**2*R",
        _PHASE,
    ),
    Lemma(
        "passes.triangle",
        "Lengths add up at most: Z is the squared length of the sum of vectors of lengths x and y.",
        "x y u Z",
        ("0 <= x", "0 <= y", "abs(u) <= x*y", "Z == x**2 + 2*u + y**2"),
        "Z <= (x + y)**2",
        "Cauchy 1821; Schwarz 1888",
    ),
    Lemma(
        "passes.drift",
        "In units of 2^-53: the dot product, the step's length, its product, the sum and the projection together, c = C r.",
        "k c",
        ("1 <= k", "0 <= c"),
        "2*k + 3*c + c + (1 + c) + (k/2 + 4) <= (4*k + 16)*(1 + c)",
        _FLOATS,
    ),
    Lemma(
        "passes.drift_step",
        "A step that brings exact iterates no further apart adds 2 w to the distance of computed ones.",
        "e f M w j",
        ("e <= M + 2*j*w", "f <= e + 2*w"),
        "f <= M + 2*(j + 1)*w",
        _PHASE,
    ),
    Lemma(
        "passes.places",
        "A record that is read once more adds M to the distance.",
        "e f M w J j",
        ("e <= J*M + 2*j*w", "f <= e + M"),
        "f <= (J + 1)*M + 2*j*w",
        _PHASE,
    ),
    Lemma(
        "passes.mean",
        "Of n iterates only those after place q differ: their sum is apart by at most n - q times the largest (step to one more).",
        "S e T i",
        ("S <= i*T", "e <= T"),
        "S + e <= (i + 1)*T",
        _PHASE,
    ),
    Lemma(
        "passes.nearest",
        "Rounding two numbers to the nearest points of a lattice changes their difference by at most its step.",
        "x y r s g",
        ("2*abs(r - x) <= g", "2*abs(s - y) <= g"),
        "((r - s) - (x - y))**2 <= g**2",
        _PHASE,
    ),
    Lemma(
        "passes.rounded",
        "Rounded means are apart by at most (n - q)/n of what is charged: T = 2 C r + 2 n w for steps, n G for the lattice.",
        "d T G n:int q:int",
        ("1 <= n", "q <= n - 1", "0 <= G", "n*d <= (n - q)*T"),
        "n*(d + G) <= (n - q)*(T + n*G)",
        _PHASE,
    ),
    Lemma(
        "passes.quarter",
        "Later phases have A and C divided by a power of 4, so that their steps contract too.",
        "A R f",
        ("1 <= f", "0 <= A", "0 <= R", "A*R <= 2"),
        "A/f*R <= 2",
        _STEP,
    ),
    Lemma(
        "passes.mixture",
        "The profile of a mixture over orders is at most the mean of their profiles (step for any number of orders).",
        "s t p P q Q A",
        ("0 <= s", "0 <= t"),
        "max(0, s*p + t*P - A*(s*q + t*Q)) <= s*max(0, p - A*q) + t*max(0, P - A*Q)",
        _RUN,
    ),
    Lemma(
        "passes.ball",
        "Cutting toward zero after the projection leaves weights in the ball: z is an entry, k what is released of it.",
        "z k s t R",
        ("abs(k) <= abs(z)", "t <= s", "s + z**2 <= R"),
        "t + k**2 <= R",
        _RUN,
    ),
)
"""The lemmas of passes."""
