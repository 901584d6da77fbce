"""Machine words and floating-point numbers: both solvers agree, and every counterexample is replayed by the machine itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpaudit.verifier.lemmas import QUESTIONS, asked
from dpaudit.verifier.lemmas.floats import summing
from dpaudit.verifier.lemmas.words import LARGEST, saturating, stepping, wrapping
from dpaudit.verifier.solving import Answer

SOLVERS = ("z3", "cvc5")


def signed(value, bits):
    """The number that a bit pattern stands for."""
    return value - 2**bits if value >= 2 ** (bits - 1) else value


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_both_solvers_answer_as_expected(question, solver):
    assert question.expected is asked(question.text, solver).answer


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("bits", [16, 32, 64])
def test_numpy_wraps_as_the_counterexample_says(bits, solver):
    values = asked(wrapping(bits).text, solver).values
    kind = np.dtype(f"int{bits}")
    total, old, new = (np.array([signed(values[name], bits)], dtype=kind) for name in ("total", "old", "new"))
    assert max(abs(int(old[0])), abs(int(new[0]))) <= LARGEST
    sums = [int((total + one)[0]) for one in (old, new)]
    assert sums[0] - sums[1] > 2 * LARGEST
    # The two right sums are as close as they must be.
    assert abs(int(old[0]) - int(new[0])) <= 2 * LARGEST


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_order_of_saturating_addends_matters_as_the_counterexample_says(solver):
    values = asked(saturating(64, swapped=True).text, solver).values
    total, one, other = (signed(values[name], 64) for name in ("total", "one", "other"))

    def plus(first, second):
        return max(-(2**63), min(2**63 - 1, first + second))

    assert plus(plus(total, one), other) != plus(plus(total, other), one)


def moved(kept):
    """How far the machine's sum of a number and `kept` moves when the number is 0 instead of 1."""
    kind = type(kept)
    return Fraction(float(kind(1) + kept)) - Fraction(float(kind(0) + kept))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("bits", [32, 64])
def test_a_floating_point_sum_moves_by_more_than_a_record_may_bit_for_bit(bits, solver):
    (kept,) = np.frombuffer(asked(summing(bits).text, solver).values["kept"].to_bytes(bits // 8, "little"), dtype=f"<f{bits // 8}")
    assert 0 <= kept <= 1
    assert moved(kept) > 1


def test_the_published_witness_of_32_bits_is_one():
    # Rounded to 24 bits, 1 + 1.75 * 2^-18 is exact, and 1 + 1.75 * 2^-24 is not.
    assert 1 == moved(np.float32(1.75 * 2.0**-18))
    assert moved(np.float32(1.75 * 2.0**-24)) > 1


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_wrong_range_invariant_is_refuted(solver):
    reply = asked(stepping(64, largest=LARGEST - 1).text, solver)
    assert Answer.SAT is reply.answer
    total, count, x = (signed(reply.values[name], 64) for name in ("total", "count", "x"))
    assert abs(total) <= (LARGEST - 1) * count
    assert abs(total + x) > (LARGEST - 1) * (count + 1)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_wrapping_step_expands_distances(solver):
    right = saturating(16).text
    start = right.index("(define-fun plus")
    plus = "(define-fun plus ((x (_ BitVec 16)) (y (_ BitVec 16))) (_ BitVec 16) (bvadd x y))\n"
    assert Answer.SAT is asked(right[:start] + plus + right[right.index("(assert") :], solver).answer


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_premises_of_a_step_can_be_met(solver):
    text = stepping(64).text
    assert Answer.SAT is asked(text[: text.index("(assert (not")] + "(check-sat)", solver).answer


@pytest.mark.parametrize("solver", SOLVERS)
def test_whatever_is_no_answer_is_unknown(solver):
    assert Answer.UNKNOWN is asked("(assert nonsense)(check-sat)", solver).answer
    assert Answer.UNKNOWN is asked(saturating(64).text, solver, seconds=0.001).answer


def test_there_is_no_third_solver():
    with pytest.raises(KeyError):
        asked("(check-sat)", "another")
