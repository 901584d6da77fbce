"""Sums of floating-point numbers: more sensitive than sums of reals, by a witness in bits; what rounding may add, over the reals.

The theory of floating-point numbers refutes and does not prove: upper bounds come from the rule that a rounded sum is the exact one
times 1 + d, |d| <= u.
"""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas.questions import Question
from dpaudit.verifier.lemmas.statements import Lemma
from dpaudit.verifier.solving import Answer

_SOURCE: Final = "Casacuberta, Shoemate, Vadhan, Wagaman 2022"
_FORMATS: Final = {32: (8, 24), 64: (11, 53)}
"""By size in bits: bits of the exponent, bits of the significand."""


def summing(bits: int) -> Question:
    """The question whether replacing 1 by 0 can move a rounded sum of two numbers in [0, 1] by more than 1.

    0 + kept is exact, so the sum moves by more than 1 just where 1 + kept is rounded up, hence is not what rounding down gives.
    """
    exponent, significand = _FORMATS[bits]
    text = f"""(set-logic QF_BVFP)
(declare-const kept (_ BitVec {bits}))
(define-sort Float () (_ FloatingPoint {exponent} {significand}))
(define-fun number () Float ((_ to_fp {exponent} {significand}) kept))
(define-fun one () Float ((_ to_fp {exponent} {significand}) (_ bv{(2 ** (exponent - 1) - 1) << (significand - 1)} {bits})))
(assert (and (fp.leq (_ +zero {exponent} {significand}) number) (fp.leq number one)))
(assert (fp.lt (fp.add RTN one number) (fp.add RNE one number)))
(check-sat)
"""
    statement = f"Replacing one number in [0, 1] can move a sum of {bits}-bit floating-point numbers by more than 1."
    return Question(f"floats.sum_{bits}", statement, text, Answer.SAT, _SOURCE)


QUESTIONS: Final = tuple(map(summing, (32, 64)))
"""The questions about floating-point sums."""

LEMMAS: Final = (
    Lemma("floats.rounded_step",
        "One more rounded addition adds at most u (|S| + e) to the error e: k is the exact sum of rounded total and addend, r the "
        "rounded one, S the exact sum of all; K and T are the sizes of k and S.",
        "r k S e u K T", ("0 <= u", "abs(k - S) <= e", "K <= T + e", "abs(r - k) <= u*K"), "abs(r - S) <= e + u*(T + e)",
        "Higham 2002, section 2.2"),
    Lemma("floats.rounded_sensitivity", "Two sums with errors of at most e are apart by at most the exact sensitivity and 2 e.",
        "f g F G e D", ("abs(f - F) <= e", "abs(g - G) <= e", "abs(F - G) <= D"), "abs(f - g) <= D + 2*e", "triangle inequality"),
)  # fmt: skip
"""Bounds on what rounding may add, over the reals."""
