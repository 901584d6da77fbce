"""Conversions: pure privacy to zCDP, zCDP to (epsilon, delta), and the Renyi divergence of Gaussian noise.

Facts of analysis that the chain of steps leans on (convexity, termwise comparison of power series, monotone functions by their
derivative) are named in docs/proofs.md, "Lemmas".
"""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas.statements import Lemma

_PURE: Final = "Bun, Steinke 2016, Proposition 3.3"
_TAIL: Final = "Bun, Steinke 2016, Lemma 3.5"

LEMMAS: Final = (
    Lemma("conversions.extreme_weights",
        "A likelihood ratio between 1/E and E with mean 1 is at worst E with probability 1/(E + 1), else F = 1/E.",
        "E F a", ("1 < E", "E*F == 1", "a*E + (1 - a)*F == 1"), "a*(E + 1) == 1", _PURE),
    Lemma("conversions.convex_chord",
        "A convex value f lies below the chord from g to h, a line in the distance y from the right end of an interval of width w, "
        "so that its mean is at most the mean at the ends.",
        "w y a f g h", ("0 <= w", "y == a*w", "f <= h + a*(g - h)"), "f*w <= y*g + (w - y)*h", _PURE),
    Lemma("conversions.order", "With u = (2 a - 1) epsilon/2 and x = epsilon/2, half of u^2 - x^2 is a (a - 1) epsilon^2/2.",
        "a epsilon", (), "(((2*a - 1)*epsilon/2)**2 - (epsilon/2)**2)/2 == a*(a - 1)*epsilon**2/2", _PURE),
    Lemma("conversions.tanh_term", "sinh u <= u cosh u term by term: s = 1/(2 k + 1)! and c = 1/(2 k)!.",
        "s c k:int", ("0 <= k", "0 <= s", "s*(2*k + 1) == c"), "s <= c", _PURE),
    Lemma("conversions.cosh_term", "cosh u <= exp(u^2/2) term by term: 2^k k! <= (2 k)! for the next k.",
        "a b k", ("0 <= k", "0 <= b", "b <= a"), "b*2*(k + 1) <= a*(2*k + 1)*(2*k + 2)", "Hoeffding 1963, Lemma 1"),
    Lemma("conversions.tail_term",
        "Where the loss exceeds epsilon, 1 - exp(epsilon - loss) is at most exp((order - 1)(loss - epsilon)), which is at least 1.",
        "z y", ("0 <= z", "0 <= y", "1 < z or 1 <= y"), "max(0, 1 - z) <= y", _TAIL),
    Lemma("conversions.exponent", "No order a gives less than exp(-(epsilon - rho)^2/(4 rho)).",
        "a rho epsilon", ("0 < rho", "0 <= (2*a*rho - epsilon - rho)**2"), "-(epsilon - rho)**2 <= 4*rho*(a - 1)*(a*rho - epsilon)",
        _TAIL),
    Lemma("conversions.best_order", "The order (epsilon + rho)/(2 rho) gives no more, so just that.",
        "a rho epsilon", ("0 < rho", "2*a*rho == epsilon + rho"), "4*rho*(a - 1)*(a*rho - epsilon) <= -(epsilon - rho)**2", _TAIL),
    Lemma("conversions.radius", "epsilon = rho + 2 sqrt(rho l) with l = ln(1/delta) makes the exponent -l; s is the root.",
        "rho l s epsilon", ("0 < rho", "s**2 == rho*l", "epsilon == rho + 2*s"), "(epsilon - rho)**2 == 4*rho*l",
        "Bun, Steinke 2016, Proposition 1.3"),
    Lemma("conversions.gaussian",
        "Completing the square: Gaussian noise that is shifted by s has Renyi divergence a s^2/(2 sigma^2).",
        "a x s", (), "a*x**2 + (1 - a)*(x - s)**2 == (x - (1 - a)*s)**2 + a*(1 - a)*s**2", "Mironov 2017, Proposition 7"),
)  # fmt: skip
"""The lemmas of conversions between kinds of privacy."""
