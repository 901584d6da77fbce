"""Lemmas that only the verdicts on the papers need."""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas import Lemma

_MARGINS: Final = "Bassily, Mohri, Suresh 2022"
_KERNELS: Final = "Jain, Thakurta 2013"
_HALFSPACES: Final = "Nguyen, Ullman, Zakynthinou 2020"
_PUBLIC: Final = "Ullah, Menart, Bassily, Guzman, Arora 2024"

_ALL: Final = (
    Lemma(
        "papers.shares",
        "M shares e/(2 M) and half of e are e, and M shares d/M are d.",
        "M x y e d",
        ("0 < M", "2*M*x == e", "M*y == d"),
        "M*x + e/2 == e and M*y == d",
        _MARGINS,
    ),
    Lemma(
        "papers.tail",
        "With c <= 8 - sqrt(32) the squared argument ((8 - c)/4)^2 l of the normal tail is at least 2 l.",
        "c l",
        ("0 <= c", "c < 8", "32 <= (8 - c)**2", "0 <= l"),
        "32*l <= (8 - c)**2*l",
        _MARGINS,
    ),
    Lemma(
        "papers.circle_step",
        "A point (c, s) of the circle adds q to a sum of squares, whatever its angle (step to one more frequency).",
        "c s S k q",
        ("c**2 + s**2 == 1", "S == k*q"),
        "S + q*(c**2 + s**2) == (k + 1)*q",
        _MARGINS,
    ),
    Lemma(
        "papers.kernel_norm",
        "With a constant c > 0 of the kernel, (x + c)^k is above x^k, x = r^2 (step to one more factor).",
        "x c A B",
        ("0 <= x", "0 < c", "0 <= B", "B <= A", "0 < A"),
        "x*B < (x + c)*A",
        _MARGINS,
    ),
    Lemma(
        "papers.kernel_norm_above",
        "Where c is at most x = r^2, (x + c)^k is at most 2^k x^k (step; T is 2^k).",
        "x c A B T",
        ("0 <= c", "c <= x", "0 <= A", "0 <= B", "0 <= T", "A <= T*B"),
        "(x + c)*A <= 2*T*(x*B)",
        _MARGINS,
    ),
    Lemma(
        "papers.score",
        "min(2 B/rho, 1 + B/rho) is at most 2 B/rho: z is what a hinge mean moves by, times m rho.",
        "z B rho",
        ("0 < rho", "0 <= B", "z <= 2*B", "z <= rho + B"),
        "z <= 2*B",
        _MARGINS,
    ),
    Lemma(
        "papers.projection",
        "A projection p of w is no longer than w: squared lengths P and W, and R of what is cut off at a right angle.",
        "P R W",
        ("W == P + R", "0 <= R"),
        "P <= W",
        _PUBLIC,
    ),
    Lemma(
        "papers.fingerprint",
        "s (1/s - 1/(s + 2)) is 2/(s + 2): both sides of the fingerprinting identity for a product of s odd signs.",
        "s a b",
        ("0 < s", "s*a == 1", "(s + 2)*b == 1"),
        "s*(a - b) == 2*b",
        _PUBLIC,
    ),
    Lemma(
        "papers.half_linear",
        "On the side x, y >= 0 the size of an inner product is linear, so that exp of it is log-concave there.",
        "x y t",
        ("0 <= x", "0 <= y", "0 <= t", "t <= 1"),
        "abs(t*x + (1 - t)*y) == t*abs(x) + (1 - t)*abs(y)",
        _KERNELS,
    ),
    Lemma(
        "papers.zcdp",
        "With rho = (k e)^2/l, epsilon rho + 2 sqrt(rho l) is at most e where k^2 e + 2 k l <= l, l = ln(1/delta).",
        "k e l",
        ("0 < e", "0 < l", "0 < k", "k**2*e + 2*k*l <= l"),
        "(k*e)**2 + 2*k*e*l <= e*l",
        _KERNELS,
    ),
    Lemma(
        "papers.order",
        "An order a = A + 1 with A e <= l + 4 + e has a e <= 4 l where 2 e <= l and 2 <= l; y = A e.",
        "y e l",
        ("0 < e", "2*e <= l", "2 <= l", "0 <= y", "y <= l + 4 + e"),
        "y + e <= 4*l and y*(y + e) <= 16*l**2",
        _HALFSPACES,
    ),
    Lemma(
        "papers.exponent",
        "Then the exponent x = A (A + 1) s^2/2 is at most 1, as 8 s^2 g l = e^2 and l <= g; Z = A (A + 1) e^2, T = 2 x.",
        "T g l Z",
        ("0 < l", "l <= g", "8*T*g*l == Z", "Z <= 16*l**2"),
        "T <= 2",
        _HALFSPACES,
    ),
)
LEMMAS: Final = {lemma.name: lemma for lemma in _ALL}
"""The lemmas by name."""
