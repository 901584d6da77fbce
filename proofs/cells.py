"""Why real noise is rounded exactly: masses of cells, places inside them, and a rounding test with proved margins."""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas import Lemma

_CELLS: Final = "docs/laws_and_real_noise.md, cells"
_TEST: Final = "docs/laws_and_real_noise.md, the rounding test"
_UNIT: Final = f"(1/{2**53})"
_TINY: Final = f"(1/{2**1075})"

LEMMAS: Final = (
    Lemma(
        "cells.laplace_weight",
        "With h = exp(1/(2 s)) a cell beyond the first has the mass (h - 1/h)/2 of its middle's weight, the first one 1 - 1/h.",
        "h",
        ("1 < h",),
        "(h - 1/h)/2 == ((1 + h)/2)*(1 - 1/h)",
        _CELLS,
    ),
    Lemma(
        "cells.laplace_falls",
        "Cells beyond the first weigh at most as much as the first, which counts 1: the next one h^-2 (1 + h)/2.",
        "h",
        ("1 <= h",),
        "(1 + h)/(2*h*h) <= 1",
        _CELLS,
    ),
    Lemma(
        "cells.laplace_slack",
        "The formula without (1 + h)/2 is off by (h - 1)/2 of itself, at most t = 1/(2 s) where t <= 1, as h <= 1 + t + t^2.",
        "h t",
        ("0 <= t", "t <= 1", "1 <= h", "h <= 1 + t + t*t"),
        "0 <= (h - 1)/2 and (h - 1)/2 <= t",
        _CELLS,
    ),
    Lemma(
        "cells.laplace_below",
        "Of a cell beyond the first, with tails r, r f, r g at its begin, a place, its end, (f - 1)/(g - 1) lies before it.",
        "r f g",
        ("0 < r", "g < 1"),
        "(r - r*f)/(r - r*g) == (f - 1)/(g - 1)",
        _CELLS,
    ),
    Lemma(
        "cells.laplace_centre",
        "Of the first cell, with c = exp(-1/(2 s)), tails c/2, c F/2 at its begin and a place left of 0: c (F - 1)/(-2 (c - 1)).",
        "c F",
        ("0 < c", "c < 1"),
        "((c*F - c)/2)/(1 - c) == c*(F - 1)/(-2*(c - 1))",
        _CELLS,
    ),
    Lemma(
        "cells.below",
        "Of a cell with tails a at its begin, y at a place and b at its end, (a - y)/(a - b) lies before the place.",
        "a y b",
        ("b < a", "y <= a", "b <= y"),
        "0 <= (a - y)/(a - b) and (a - y)/(a - b) <= 1 and (a - y) + (y - b) == a - b",
        _CELLS,
    ),
    Lemma(
        "cells.bend",
        "Where a density of mean 1 is m >= 1 - s at least, the mass before a place is off by s at most from the place's share a.",
        "a m s mass",
        ("0 <= a", "a <= 1", "m <= 1", "1 - s <= m", "a*m <= mass", "(1 - a)*m <= 1 - mass"),
        "abs(mass - a) <= s",
        _CELLS,
    ),
    Lemma(
        "cells.doubt",
        "A place T with U before it, and the middle f of the digits of U, differ by half a digit and the bend at most.",
        "T U f half bend c w",
        ("abs(U - f) <= half", "abs(T - U) <= bend", "0 < c", "(half + bend)*c <= w"),
        "c*T - c*f <= w and c*f - c*T <= w",
        _TEST,
    ),
    Lemma(
        "cells.above",
        "The upper end of the rounding test is at least the sum: x = b + c f is r rounded, e is 2^-51 |r| + w rounded, z is r + e.",
        "x r e z w W p",
        (
            *(f"abs(r - x) <= {_UNIT}*abs(r)", f"1/{2**979} <= w", f"w*(1 + 8*{_UNIT}) <= W"),
            *(f"4*{_UNIT}*abs(r) - {_TINY} <= p", f"(p + W)*(1 - {_UNIT}) <= e", f"abs(z - (r + e)) <= {_UNIT}*abs(r + e)"),
        ),
        "x + w <= z",
        _TEST,
    ),
    Lemma(
        "cells.beneath",
        "The lower end of the rounding test is at most the sum.",
        "x r e z w W p",
        (
            *(f"abs(r - x) <= {_UNIT}*abs(r)", f"1/{2**979} <= w", f"w*(1 + 8*{_UNIT}) <= W"),
            *(f"4*{_UNIT}*abs(r) - {_TINY} <= p", f"(p + W)*(1 - {_UNIT}) <= e", f"abs(z - (r - e)) <= {_UNIT}*abs(r - e)"),
        ),
        "z <= x - w",
        _TEST,
    ),
    Lemma(
        "cells.next",
        "The number of the next rank is larger: one digit more, or the first of the next octave, of digits from H to 2 H - 1.",
        "d:int H:int E",
        ("1 <= H", "0 <= d", "0 < E"),
        "d*E < (d + 1)*E and (2*H - 1)*E < H*(2*E)",
        "IEEE 754",
    ),
)
"""The lemmas of real noise."""
