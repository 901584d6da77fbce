"""What one record moves in a regularised minimiser and what is computed from it: coordinates, values, curvatures, updates."""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas import Lemma

_LATTICE: Final = "docs/kernels.md, The minimiser"
_VALUES: Final = "docs/kernels.md, Open runs"
_SPAN: Final = "docs/kernels.md, One value after the other"
_OBJECTIVE: Final = "docs/choices_and_perturbation.md, Objective perturbation"
_SVM: Final = "docs/choices_and_perturbation.md, The support vector machine"

LEMMAS: Final = (
    Lemma(
        "minimisers.rounded_step",
        "Coordinates that are rounded to whole numbers change a difference by at most 1 each: by sqrt(i) together (step).",
        "S e i",
        ("S <= i", "e**2 <= 1"),
        "S + e**2 <= i + 1",
        _LATTICE,
    ),
    Lemma(
        "minimisers.values",
        "Values at most d steps apart, rounded down, are at most m + 1 apart where m is d rounded down.",
        "x y d j:int k:int m:int",
        ("j <= x", "x < j + 1", "k <= y", "y < k + 1", "abs(x - y) <= d", "d < m + 1"),
        "abs(j - k) <= m + 1",
        _VALUES,
    ),
    Lemma(
        "minimisers.differences",
        "The size of a difference to something public moves by at most what the value moves by.",
        "x y g d",
        ("abs(x - y) <= d",),
        "abs(abs(x - g) - abs(y - g)) <= d",
        _VALUES,
    ),
    Lemma(
        "minimisers.products",
        "Twice a product is at most the sum of the squares.",
        "x y",
        (),
        "2*abs(x*y) <= x**2 + y**2",
        _SPAN,
    ),
    Lemma(
        "minimisers.row_sums",
        "An inner product g of two directions, up to h, adds at most h to both of their row sums: z = x y, w = x^2 + y^2 (step).",
        "Q T g h z w",
        ("Q <= T", "abs(g) <= h", "2*abs(z) <= w"),
        "Q + 2*g*z <= T + h*w",
        _SPAN,
    ),
    Lemma(
        "minimisers.sizes_step",
        "The sum S of the sizes of i numbers has a square of at most i times their sum of squares T (step to one more).",
        "S T x i",
        ("1 <= i", "S**2 <= i*T", "0 <= (S - i*x)**2"),
        "i*(S + x)**2 <= i*(i + 1)*(T + x**2)",
        _SVM,
    ),
    Lemma(
        "minimisers.curvature",
        "Determinants of sums that differ in one term have a ratio of at most 1 + c/(n ridge): u, v are its directions, up to N.",
        "a b u v c N",
        ("0 <= a", "a <= c", "0 <= b", "0 <= u", "u <= N", "0 <= v", "0 <= N"),
        "1 + a*u <= (1 + c*N)*(1 + b*v)",
        _OBJECTIVE,
    ),
    Lemma(
        "minimisers.linear_term",
        "The random term that leads to one and the same minimiser moves by what the gradients of two records differ by.",
        "b p g h r s t",
        ("b + g + r == 0", "p + h + r == 0", "abs(g) <= s", "abs(h) <= s", "t == 2*s"),
        "abs(b - p) <= t",
        _OBJECTIVE,
    ),
)
"""The lemmas of minimisers."""
