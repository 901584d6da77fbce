"""Sums in machine words: one step at a time under a range invariant, and what goes wrong without one.

Several steps at once are out of the solvers' reach; one step with an invariant that it keeps is not, and is enough by induction.
"""

from __future__ import annotations

from typing import Final

from dpaudit.verifier.lemmas.questions import Question
from dpaudit.verifier.lemmas.statements import Lemma
from dpaudit.verifier.solving import Answer

LARGEST: Final = 1000
"""The largest size of an addend."""
_MOST: Final = 40
"""Fewer than 2^40 addends."""
_WRAP: Final = "two's complement addition"
_SATURATE: Final = "saturating addition"


def wrapping(bits: int) -> Question:
    """The question whether a wrap-around sum of `bits` bits can move by more than twice the largest addend."""
    text = f"""(set-logic QF_BV)
(declare-const total (_ BitVec {bits})) (declare-const old (_ BitVec {bits})) (declare-const new (_ BitVec {bits}))
(define-fun small ((x (_ BitVec {bits}))) Bool (and (bvsle {_word(-LARGEST, bits)} x) (bvsle x {_word(LARGEST, bits)})))
(define-fun wide ((x (_ BitVec {bits}))) (_ BitVec {bits + 2}) ((_ sign_extend 2) x))
(assert (and (small old) (small new)))
(assert (bvsgt (bvsub (wide (bvadd total old)) (wide (bvadd total new))) {_word(2 * LARGEST, bits + 2)}))
(check-sat)
"""
    return Question(
        f"words.wrapping_{bits}",
        f"One replaced addend can move a wrap-around sum of {bits} bits by more than twice the largest addend.",
        text,
        Answer.SAT,
        _WRAP,
    )


def stepping(bits: int, largest: int = LARGEST) -> Question:
    """The question whether a step can leave the range |total| <= largest * count, or wrap."""
    text = f"""(set-logic QF_BV)
(declare-const total (_ BitVec {bits})) (declare-const count (_ BitVec {bits})) (declare-const x (_ BitVec {bits}))
(define-fun bound ((n (_ BitVec {bits}))) (_ BitVec {bits}) (bvmul {_word(largest, bits)} n))
(define-fun within ((y (_ BitVec {bits})) (b (_ BitVec {bits}))) Bool (and (bvsle (bvneg b) y) (bvsle y b)))
(define-fun next () (_ BitVec {bits}) (bvadd total x))
(assert (and (bvsle {_word(0, bits)} count) (bvslt count {_word(2**_MOST, bits)})))
(assert (and (within total (bound count)) (within x {_word(LARGEST, bits)})))
(assert (not (and
  (= ((_ sign_extend 1) next) (bvadd ((_ sign_extend 1) total) ((_ sign_extend 1) x)))
  (within next (bound (bvadd count {_word(1, bits)}))))))
(check-sat)
"""
    return Question(
        f"words.step_{bits}",
        f"Adding numbers of size at most {LARGEST}, fewer than 2^{_MOST} of them, never wraps in {bits} bits.",
        text,
        Answer.UNSAT,
        _WRAP,
    )


def saturating(bits: int, *, swapped: bool = False) -> Question:
    """The question whether a saturating step expands a distance or, if `swapped`, whether the order of two addends matters."""
    if swapped:
        declared = "total one other"
        claim = "(= (plus (plus total one) other) (plus (plus total other) one))"
    else:
        declared = "first second x"
        claim = """(=> (bvsle second first) (and
  (bvsle (plus second x) (plus first x))
  (bvsle (bvsub (wide (plus first x)) (wide (plus second x))) (bvsub (wide first) (wide second)))))"""
    text = f"""(set-logic QF_BV)
{" ".join(f"(declare-const {name} (_ BitVec {bits}))" for name in declared.split())}
(define-fun wide ((x (_ BitVec {bits}))) (_ BitVec {bits + 2}) ((_ sign_extend 2) x))
(define-fun plus ((x (_ BitVec {bits})) (y (_ BitVec {bits}))) (_ BitVec {bits})
  (ite (bvsgt (bvadd (wide x) (wide y)) (wide {_word(2 ** (bits - 1) - 1, bits)})) {_word(2 ** (bits - 1) - 1, bits)}
  (ite (bvslt (bvadd (wide x) (wide y)) (wide {_word(-(2 ** (bits - 1)), bits)})) {_word(-(2 ** (bits - 1)), bits)} (bvadd x y))))
(assert (not {claim}))
(check-sat)
"""
    if swapped:
        statement = f"A saturating sum of {bits} bits depends on the order of its addends."
        return Question(f"words.saturating_order_{bits}", statement, text, Answer.SAT, _SATURATE)
    statement = f"A saturating step of {bits} bits does not expand distances."
    return Question(f"words.saturating_{bits}", statement, text, Answer.UNSAT, _SATURATE)


def _word(value: int, bits: int) -> str:
    """A number as a bit vector."""
    return f"(_ bv{value % 2**bits} {bits})"


QUESTIONS: Final = (*map(wrapping, (16, 32, 64)), stepping(64), saturating(16), saturating(64, swapped=True))
"""The questions about machine words."""

LEMMAS: Final = (
    Lemma("words.range_step",
        "A sum of i addends of size at most c stays within (i + 1) c after one more, so below 2^63 where (i + 1) c is.",
        "total:int x:int i:int c:int", ("0 <= i", "abs(total) <= i*c", "abs(x) <= c", "(i + 1)*c < 9223372036854775808"),
        "abs(total + x) <= (i + 1)*c and abs(total + x) < 9223372036854775808", "induction over addends"),
    Lemma("words.saturating_step", "A saturating step does not expand distances, for a range of any width.",
        "first:int second:int x:int lo:int hi:int", ("lo <= hi",),
        "abs(max(lo, min(hi, first + x)) - max(lo, min(hi, second + x))) <= abs(first - second)", _SATURATE),
)  # fmt: skip
"""The same without words: integers, and an obligation that they fit."""
