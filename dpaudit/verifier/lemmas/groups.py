"""Group privacy: k changes one after the other, pure, with delta, and as shifts of noise.

A = exp(epsilon), and K = A^k after k changes.
"""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas.statements import Lemma

_GROUPS: Final = "Dwork, Roth 2014, Theorem 2.2"
_APPROXIMATE: Final = "Vadhan 2017, Lemma 2.2"

LEMMAS: Final = (
    Lemma("groups.pure_step", "One more change multiplies the bound by A.",
        "p q r K A", ("0 <= K", "p <= K*q", "q <= A*r"), "p <= K*A*r", _GROUPS),
    Lemma("groups.approximate_step", "One more change adds K delta to the failure probability D.",
        "p q r K A D d", ("0 <= K", "p <= K*q + D", "q <= A*r + d"), "p <= K*A*r + D + K*d", _APPROXIMATE),
    Lemma("groups.two", "Two changes cost 2 epsilon and (1 + A) delta.",
        "p q r A d", ("0 <= A", "p <= A*q + d", "q <= A*r + d"), "p <= A**2*r + (1 + A)*d", _APPROXIMATE),
    Lemma("groups.delta_step", "The failure probability after k changes is delta (A^k - 1)/(A - 1).",
        "D d K A", ("D*(A - 1) == d*(K - 1)",), "(D + K*d)*(A - 1) == d*(K*A - 1)", _APPROXIMATE),
    Lemma("groups.delta_bound_step", "It is at most k A^(k - 1) delta; here K = A^(k - 1).",
        "D d K A k", ("1 <= A", "0 <= K", "0 <= d", "0 <= k", "D <= k*K*d"), "D + K*A*d <= (k + 1)*K*A*d", _APPROXIMATE),
    Lemma("groups.shift_step", "One more change moves the answer by one more sensitivity.",
        "t s k c", ("abs(t) <= k*c", "abs(s) <= c"), "abs(t + s) <= (k + 1)*c", "triangle inequality"),
    Lemma("groups.square", "A shift of k sensitivities costs k^2 times the zCDP of one.",
        "t k c", ("abs(t) <= k*c",), "t**2 <= k**2*c**2", "Bun, Steinke 2016, Proposition 1.9"),
)  # fmt: skip
"""The lemmas of group privacy."""
