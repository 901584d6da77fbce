"""What one record moves in a sum of rows: slopes that are cut, outer products, second moments, as lemmas in any dimension.

X and Y are squared lengths and u is an inner product; a lemma about one more entry is the step of an induction that begins with 0.
"""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas import Lemma

_ROWS: Final = "docs/learners.md, Propositions 1 and 3"
_SLOPES: Final = "docs/linear_learners.md, Proposition 1"
_GRADIENT: Final = "docs/linear_learners.md, Proposition 2"
_MOMENT: Final = "docs/linear_learners.md, Proposition 3"

LEMMAS: Final = (
    Lemma(
        "sums.root_above",
        "One more than the whole root k of s - 1 is the least whole number whose square is at least s.",
        "k:int s:int",
        ("0 <= k", "k**2 <= s - 1", "s - 1 < (k + 1)**2"),
        "k**2 < s and s <= (k + 1)**2",
        _ROWS,
    ),
    Lemma(
        "sums.constant",
        "A constant c behind a row of squared length q gives it one of at most B^2.",
        "q R c B",
        ("q <= R", "R + c**2 <= B**2"),
        "q + c**2 <= B**2",
        _ROWS,
    ),
    Lemma(
        "sums.beside",
        "A row of length b beside its own negative has a squared length of 2 b^2.",
        "q b B",
        ("q <= b**2", "2*b**2 <= B**2"),
        "q + q <= B**2",
        "docs/margins.md, Several classes",
    ),
    Lemma(
        "sums.part",
        "A part of a row is no longer than the row, so that every partial inner product is bounded as the whole one is.",
        "p q x B",
        ("p <= q", "q + x**2 <= B**2"),
        "p <= B**2 and p + x**2 <= B**2",
        _ROWS,
    ),
    Lemma(
        "sums.exact",
        "The sum of up to h terms of size at most e stays below H if h e does: floats with H = 2^53 lose nothing.",
        "s h e H i",
        ("0 <= e", "i <= h", "h*e <= H - 1", "abs(s) <= i*e"),
        "abs(s) < H",
        _ROWS,
    ),
    Lemma(
        "sums.logistic",
        "What a table holds, cut at U and with the sign of the label, is at most U in size.",
        "U t s:int",
        ("0 <= U", "0 <= t", "s == 1 or s == -1"),
        "abs(s*min(U, t)) <= U",
        _SLOPES,
    ),
    Lemma(
        "sums.rounded_root",
        "A whole number r that is below the root of s by less than 1, raised by 1 where it is below, is at least the root.",
        "r s",
        ("0 <= r", "s < (r + 1)**2"),
        "s <= (r + (1 if r**2 < s else 0))**2",
        _SLOPES,
    ),
    Lemma(
        "sums.cut_step",
        "Entries k of size at most |r| U/N: of squares, T N^2 is at most U^2 S (step to one more entry).",
        "k r N U S T",
        ("0 < N", "0 <= k", "k*N <= r*U", "T*N**2 <= U**2*S"),
        "(T + k**2)*N**2 <= U**2*(S + r**2)",
        _SLOPES,
    ),
    Lemma(
        "sums.cut",
        "So where N is at least the length of the residual, the slope is no longer than U: W = N^2, V = U^2.",
        "W V S T",
        ("0 < W", "0 <= V", "S <= W", "T*W <= V*S"),
        "T <= V",
        _SLOPES,
    ),
    Lemma(
        "sums.outer_step",
        "The entries of a slope times a row of squared length Q have the squared length a Q (step to one more output).",
        "F a Q s",
        ("F == a*Q",),
        "F + s**2*Q == (a + s**2)*Q",
        _GRADIENT,
    ),
    Lemma(
        "sums.contribution",
        "A slope of squared length up to V times a row of squared length up to W has a squared length of at most V W.",
        "a Q V W",
        ("0 <= Q", "0 <= V", "a <= V", "Q <= W"),
        "a*Q <= V*W",
        _GRADIENT,
    ),
    Lemma(
        "sums.lengths_step",
        "D is the squared length of a difference and E that of the sum, which is not negative (step to one more entry).",
        "D E X Y u x y",
        ("D == X - 2*u + Y", "E == X + 2*u + Y", "0 <= E", "0 <= (x + y)**2"),
        "D + (x - y)**2 == (X + x**2) - 2*(u + x*y) + (Y + y**2) and "
        "E + (x + y)**2 == (X + x**2) + 2*(u + x*y) + (Y + y**2) and 0 <= E + (x + y)**2",
        _GRADIENT,
    ),
    Lemma(
        "sums.replaced",
        "If one contribution takes the place of another, both at most sqrt(M) long, a sum moves by at most 2 sqrt(M).",
        "X Y u M",
        ("X <= M", "Y <= M", "0 <= X + 2*u + Y"),
        "X - 2*u + Y <= 4*M",
        _GRADIENT,
    ),
    Lemma(
        "sums.outer_row",
        "Row of q q^T - p p^T at entries x and y: a, b, u are |q|^2, |p|^2, <q, p> so far (step to one more column).",
        "R a b u x y c d",
        ("R == x**2*a + y**2*b - 2*x*y*u",),
        "R + (x*c - y*d)**2 == x**2*(a + c**2) + y**2*(b + d**2) - 2*x*y*(u + c*d)",
        _MOMENT,
    ),
    Lemma(
        "sums.outer_all",
        "All rows add up to |q|^4 + |p|^4 - 2 <q, p>^2: A, B, U are the whole sums (step to one more row).",
        "F a b u x y A B U",
        ("F == a*A + b*B - 2*u*U",),
        "F + (x**2*A + y**2*B - 2*x*y*U) == (a + x**2)*A + (b + y**2)*B - 2*(u + x*y)*U",
        _MOMENT,
    ),
    Lemma(
        "sums.triangle_step",
        "With 5 and 7 for 1 and sqrt(2) a triangle T stays within 25 F of the whole matrix: one more entry d, or e twice.",
        "T F d e",
        ("T <= 25*F",),
        "T + (5*d)**2 <= 25*(F + d**2) and T + (7*e)**2 <= 25*(F + 2*e**2)",
        _MOMENT,
    ),
    Lemma(
        "sums.moment",
        "So the triangle moves by at most S where S^2 is at least v (5 M)^2, M = B^2: v = 2 where a row is replaced, else 1.",
        "T F M v S",
        ("T <= 25*F", "F <= v*M**2", "v*(5*M)**2 <= S**2"),
        "T <= S**2",
        _MOMENT,
    ),
    Lemma(
        "sums.moment_removed",
        "The outer product of a row of squared length at most M has a squared length of at most M^2.",
        "a M",
        ("0 <= a", "a <= M"),
        "a**2 <= M**2",
        _MOMENT,
    ),
)
"""The lemmas of sums."""
