"""Sensitivities: losses, clamped sums and means, lattices, norms and minimisers.

Unless a statement says otherwise, one record of m is replaced.
"""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas.statements import Lemma

_CAUCHY: Final = "Cauchy 1821; Schwarz 1888"
_CLAMPED: Final = "Dwork, McSherry, Nissim, Smith 2006, section 2"
_LATTICE: Final = "definition of the floor"
_ERM: Final = "Chaudhuri, Monteleoni, Sarwate 2011, Corollary 8"
_PROJECTION: Final = "projections onto convex sets do not expand"
_MARGIN: Final = "Bassily, Mohri, Suresh 2022"

LEMMAS: Final = (
    Lemma("sensitivity.error_rate", "A mean of m losses in [0, 1] changes by at most 1/m.",
        "s a b m f g", ("1 <= m", "0 <= a", "a <= 1", "0 <= b", "b <= 1", "m*f == s + a", "m*g == s + b"), "m*abs(f - g) <= 1",
        _CLAMPED),
    Lemma("sensitivity.hinge",
        "rho times the rho-hinge changes by at most min(2 B, rho + B) for scores in [-B, B]; this is attained.",
        "z y B rho", ("0 < rho", "abs(z) <= B", "abs(y) <= B"), "abs(max(0, rho - z) - max(0, rho - y)) <= min(2*B, rho + B)",
        _MARGIN),
    Lemma("sensitivity.hinge_mean",
        "The mean of m rho-hinges changes by at most min(2 B/rho, 1 + B/rho)/m; h and l are hinges times rho.",
        "h l s f g B rho m", ("0 < rho", "1 <= m", "abs(h - l) <= min(2*B, rho + B)", "m*rho*f == s + h", "m*rho*g == s + l"),
        "abs(f - g) <= min(2*B/rho, 1 + B/rho)/m", _MARGIN),
    Lemma("sensitivity.clamp", "Clamping to [lo, hi] does not expand distances.",
        "x y lo hi", ("lo <= hi",), "abs(max(lo, min(hi, x)) - max(lo, min(hi, y))) <= abs(x - y)", _PROJECTION),
    Lemma("sensitivity.sum_replace", "A clamped sum changes by at most hi - lo.",
        "s x y lo hi", ("lo <= hi",), "abs(s + max(lo, min(hi, x)) - (s + max(lo, min(hi, y)))) <= hi - lo", _CLAMPED),
    Lemma("sensitivity.sum_add", "If a record is added or removed, a clamped sum changes by at most max(|lo|, |hi|).",
        "s x lo hi", ("lo <= hi",), "abs(s + max(lo, min(hi, x)) - s) <= max(abs(lo), abs(hi))", _CLAMPED),
    Lemma("sensitivity.mean_replace", "A mean of m clamped numbers changes by at most (hi - lo)/m.",
        "s x y lo hi m f g", ("1 <= m", "lo <= x", "x <= hi", "lo <= y", "y <= hi", "m*f == s + x", "m*g == s + y"),
        "m*abs(f - g) <= hi - lo", _CLAMPED),
    Lemma("sensitivity.mean_remove",
        "If a record is removed from m >= 2, the mean of clamped numbers changes by at most (hi - lo)/m, m counting that record.",
        "x lo hi m f g", ("2 <= m", "lo <= x", "x <= hi", "lo <= g", "g <= hi", "m*f == (m - 1)*g + x"), "m*abs(f - g) <= hi - lo",
        _CLAMPED),
    Lemma("sensitivity.histogram_step",
        "A record that moves from cell u to cell v changes a histogram by at most 2 in sum and in sum of squares (step to cell i).",
        "s:int i:int u:int v:int", ("s <= (1 if u < i else 0) + (1 if v < i else 0)",),
        "s + abs((1 if u == i else 0) - (1 if v == i else 0)) <= (1 if u < i + 1 else 0) + (1 if v < i + 1 else 0)", _CLAMPED),
    Lemma("sensitivity.floor",
        "Rounding down to whole numbers keeps a distance of at most a whole number c; j and k are the floors.",
        "x y j:int k:int c:int", ("j <= x", "x < j + 1", "k <= y", "y < k + 1", "abs(x - y) <= c"), "abs(j - k) <= c", _LATTICE),
    Lemma("sensitivity.floor_any", "Rounding down changes any distance by less than 1.",
        "x y j:int k:int d", ("j <= x", "x < j + 1", "k <= y", "y < k + 1", "abs(x - y) <= d"), "abs(j - k) < d + 1", _LATTICE),
    Lemma("sensitivity.floor_multiples",
        "Rounding down to multiples j g and k g keeps a distance of at most c g (one direction; exchange x and y for the other).",
        "x y g c:int j:int k:int", ("0 < g", "j*g <= x", "y < k*g + g", "x - y <= c*g"), "j - k <= c", _LATTICE),
    Lemma("sensitivity.truncation", "Rounding towards 0 does not raise a sum of squares (step for any dimension).",
        "x k s t", ("abs(k) <= abs(x)", "t <= s"), "t + k**2 <= s + x**2", _LATTICE),
    Lemma("sensitivity.minimiser",
        "Minimisers of a strength-convex mean of n L-Lipschitz losses of points within R differ by at most 2 L R/(n strength).",
        "D L R n strength", ("0 < n", "0 < strength", "D == 0 or 0 < D", "0 <= L", "0 <= R", "strength*D**2*n <= 2*L*R*D"),
        "strength*D*n <= 2*L*R", _ERM),
    Lemma("sensitivity.minimiser_norm", "The minimiser has norm at most L R/strength.",
        "W L R strength", ("0 < strength", "W == 0 or 0 < W", "0 <= L", "0 <= R", "strength*W**2 <= L*R*W"), "strength*W <= L*R",
        _ERM),
    Lemma("sensitivity.minimiser_residual",
        "A point with a gradient of norm g is within g/strength of the minimiser: two runs differ by 2 g/strength more.",
        "D E F H g strength", ("0 < strength", "strength*E <= g", "strength*F <= g", "D <= H + E + F"),
        "strength*D <= strength*H + 2*g", _ERM),
    Lemma("sensitivity.prediction",
        "A prediction <w, x> with |x| <= R moves by at most R times what w moves by; u^2 <= w^2 x^2 by Cauchy and Schwarz.",
        "u w x R D", ("0 <= w", "w <= D", "0 <= x", "x <= R", "u**2 <= w**2*x**2"), "abs(u) <= D*R", _ERM),
    Lemma("sensitivity.cauchy_schwarz_two", "Cauchy-Schwarz in two dimensions.",
        "a b c d", (), "(a*c + b*d)**2 <= (a**2 + b**2)*(c**2 + d**2)", _CAUCHY),
    Lemma("sensitivity.cauchy_schwarz_three", "Cauchy-Schwarz in three dimensions: what is missing are three squares.",
        "a b c d e f", ("0 <= (a*e - b*d)**2", "0 <= (a*f - c*d)**2", "0 <= (b*f - c*e)**2"),
        "(a*d + b*e + c*f)**2 <= (a**2 + b**2 + c**2)*(d**2 + e**2 + f**2)", _CAUCHY),
    Lemma("sensitivity.quadratic_step",
        "A sum of squares of a_i t + b_i, one more of them, is A t^2 + 2 B t + C with the new sums, and not negative.",
        "A B C a b t", ("0 <= A*t**2 + 2*B*t + C", "0 <= (a*t + b)**2"), "0 <= (A + a**2)*t**2 + 2*(B + a*b)*t + (C + b**2)",
        _CAUCHY),
    Lemma("sensitivity.discriminant", "So B^2 <= A C at t = -B/A: Cauchy-Schwarz in any dimension.",
        "A B C t", ("0 < A", "A*t == -B", "0 <= A*t**2 + 2*B*t + C"), "B**2 <= A*C", _CAUCHY),
    Lemma("sensitivity.clip_lengths", "Lengths cut at r are no further apart than before.",
        "a b r", ("0 <= r",), "abs(min(a, r) - min(b, r)) <= abs(a - b)", _PROJECTION),
    Lemma("sensitivity.clip",
        "Clipping two vectors to a ball does not expand. X and Y are the sums of squared lengths before and after, e and f the "
        "products of the lengths, f = w e, and u is the inner product; lengths come no further apart by clip_lengths.",
        "X Y e f u w", ("Y - 2*f <= X - 2*e", "u <= e", "w <= 1", "f == w*e"), "Y - 2*w*u <= X - 2*u", _PROJECTION),
)  # fmt: skip
"""The lemmas of sensitivity."""
