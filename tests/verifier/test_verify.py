"""`verify` says what it found: a proof with a certificate, a counterexample in words, or what stood in the way."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpaudit
from dpaudit import verify
from dpaudit.catalogue import PROGRAMS
from dpaudit.catalogue.programs.basic import laplace_mechanism
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.spec import One
from dpaudit.verifier import verifying
from dpaudit.verifier.confirming import Confirmations
from dpaudit.verifier.product.obligations import Obligation
from dpaudit.verifier.refuter.neighbours import InputPair
from dpaudit.verifier.solving import Answer, Outcome
from dpaudit.verifier.terms import TRUE, Sort, constant, implies, less_equal, variable

HEAD = "def noisy(q: list[Fraction], eps: Fraction) -> Fraction: return "
PROMISE = {"claim": "eps", "adjacency": "one", "requires": ["eps > 0", "len(q) >= 1"]}
QUICK = [case for case in PROGRAMS if case.program.__name__ in {
    "laplace_mechanism", "histogram", "partial_sum", "bad_partial_sum", "bad_smart_sum", "bad_noisy_max", "noisy_max",
}]  # fmt: skip
X = variable("x", Sort.REAL)


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.program.__name__)
def test_the_verdict_is_the_published_one(case):
    found = verify(case.program)
    assert (case.verdict, case.program.__name__) == (found.status, found.name)
    if found.status == "proven":
        assert found.certificate is not None
        assert found.scope == verifying.UNBOUNDED
        assert all(one.solvers and one.kernel for one in found.obligations)
    else:
        assert found.certificate is None
        assert "so the loss is" in found.words[-1]


def test_a_text_is_verified_like_a_function():
    found = verify(HEAD + "q[0] + laplace(1 / eps)", **PROMISE)
    assert "proven" == found.status
    assert "eps-DP when one element of q (Fraction) changes by at most 1, if [eps > 0] and [len(q) >= 1]" == found.claim
    assert "proven" == verify(HEAD + "q[0] + laplace(width / eps)".replace("width", "3"), **{**PROMISE, "adjacency": One(3)}).status


def test_too_little_noise_is_refuted_in_words():
    found = verify(HEAD + "q[0] + laplace(1 / (2 * eps))", **PROMISE)
    assert "refuted" == found.status
    assert "with eps = 1" == found.words[0]
    assert found.words[-1].endswith("and the claim allows 1")
    assert found.witness is not None


def test_what_can_neither_be_proven_nor_refuted_is_unknown():
    found = verify(HEAD + "q[0] + laplace(1 / eps)", **{**PROMISE, "claim": ("eps", "1/10"), "align": {"laplace.1": "0"}})
    assert "unknown" == found.status
    assert found.reason
    assert (None, None, ()) == (found.certificate, found.witness, found.obligations)


def test_a_timeout_is_unknown():
    found = verify(laplace_mechanism, seconds=1e-9)
    assert "unknown" == found.status


def test_source_outside_the_subset_is_refused_with_its_place():
    with pytest.raises(Unsupported, match="line 1, column") as refusal:
        verify(HEAD + "bytes(q)[0]", **PROMISE)
    assert refusal.value.code.startswith("DPA70")


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        (HEAD + "1", {}),
        (HEAD + "1", {"claim": "eps"}),
        (HEAD + "1", {"adjacency": "one"}),
        (laplace_mechanism, {"claim": "eps"}),
        (laplace_mechanism, {"requires": ["eps > 0"]}),
        (laplace_mechanism, PROMISE),
        (len, {}),
    ],
)
def test_one_specification_is_needed(source, parts):
    with pytest.raises(InvalidArgument, match="DPA731"):
        verify(source, **parts)


def test_a_function_that_is_not_its_source_is_refused(monkeypatch):
    monkeypatch.setattr(laplace_mechanism, "__defaults__", (1,))
    with pytest.raises(InvalidArgument, match="DPA725"):
        verify(laplace_mechanism)


def test_the_domain_is_said():
    found = verify(HEAD + "q[0] + laplace(1 / eps)", **PROMISE, domain=["q[each] >= 0"])
    assert any("between databases of the domain" in one for one in found.assumptions)


def test_verify_is_a_public_name_that_loads_late():
    assert "verify" in dpaudit.__all__
    assert dpaudit.verify is verify


SEVENTEEN = """
def noisy(q: list[Fraction], eps: Fraction) -> Fraction:
    noise = laplace(1 / eps)
    if q[0] == 17:
        return noise
    return q[0] + noise
"""


def test_data_that_defeat_alignments_are_where_the_search_for_a_counterexample_begins(monkeypatch):
    found = verify(SEVENTEEN, **PROMISE)
    assert "refuted" == found.status
    assert Fraction(17) in (*found.witness.pair.first["q"], *found.witness.pair.second["q"])
    monkeypatch.setattr(verifying, "REFUTATION_SECONDS", 3.0)
    monkeypatch.setattr(verifying, "InputPair", lambda first, second: InputPair({**first, "q": ()}, {**second, "q": ()}))
    assert "unknown" == verify(SEVENTEEN, **PROMISE).status


POINTWISE = """
def last(q: list[Fraction], eps: Fraction) -> int:
    best = 0
    for i in range(len(q)):
        eta = laplace(2 / eps)
        if q[i] + eta >= 0:
            best = i
    return best
"""


@pytest.mark.parametrize("shift", ["1 if i == ghost.o else 0", "ghost.o - ghost.o"])
def test_a_given_alignment_that_fails_is_reported_with_obligation_and_line(monkeypatch, shift):
    monkeypatch.setattr(verifying, "REFUTATION_SECONDS", 0.0)
    found = verify(POINTWISE, claim="eps", adjacency="all", requires=["eps > 0"], align={"eta": shift})
    assert "unknown" == found.status
    assert found.reason.startswith("an obligation does not follow: ")
    assert 4 <= found.line <= 8


def test_an_exhausted_search_says_what_was_searched_and_what_the_last_alignment_failed(monkeypatch):
    monkeypatch.setattr(verifying, "REFUTATION_SECONDS", 0.0)
    found = verify(HEAD + "q[0] + laplace(1 / (2 * eps))", **PROMISE)
    assert "unknown" == found.status
    assert "whole coefficients from -2 to 2" in found.reason
    assert found.reason.endswith("(cost.1.1)")
    assert 1 == found.line


def test_that_bernoulli_draws_are_not_flipped_is_said(monkeypatch):
    monkeypatch.setattr(verifying, "REFUTATION_SECONDS", 0.0)
    text = "def flip(q: list[int], p: Fraction) -> bool:\n    heads = bernoulli(p)\n    return heads == (q[0] > 0)\n"
    found = verify(text, claim="log(3)", adjacency="one", requires=["p == 3/4", "len(q) >= 1"])
    assert "unknown" == found.status
    assert found.reason.startswith("values of bernoulli draws are not moved")


def test_a_counter_that_counts_down_is_bounded(monkeypatch):
    monkeypatch.setattr(verifying, "REFUTATION_SECONDS", 0.0)
    text = """
def answers(q: list[Fraction], eps: Fraction, threshold: Fraction, most: int) -> list[bool]:
    out = []
    noisy = threshold + laplace(2 / eps)
    left = most
    for i in range(len(q)):
        if q[i] + laplace(4 * most / eps) >= noisy:
            out.append(True)
            left = left - 1
            if left == 0:
                break
        else:
            out.append(False)
    return out
"""
    assert "proven" == verify(text, claim="eps", adjacency="all", requires=["eps > 0", "most >= 1"]).status
    wrong = text.replace("left == 0", "left == -1")
    found = verify(wrong, claim="eps", adjacency="all", requires=["eps > 0", "most >= 1"])
    assert "proven" != found.status


# Who confirms.


def answers(monkeypatch, first, second):
    """Make the solvers say this."""
    said = {"z3": first, "cvc5": second}

    def satisfiable(formulas, *, solver, seconds):
        return Outcome(said[solver], None, 0.0, solver)

    monkeypatch.setattr("dpaudit.verifier.confirming.satisfiable", satisfiable)


def obligation(formula):
    """One obligation."""
    return Obligation("goal.1.1", "goal", 1, (), formula)


VALID = implies(less_equal(constant(2), X), less_equal(constant(1), X))
FALSE_ONE = implies(less_equal(constant(1), X), less_equal(constant(2), X))


def test_both_solvers_confirm():
    assert Confirmations().first_unproven([obligation(VALID), obligation(TRUE)]) is None
    assert obligation(FALSE_ONE) == Confirmations().first_unproven([obligation(VALID), obligation(FALSE_ONE)])


@pytest.mark.parametrize(
    ("first", "second", "enough"),
    [
        (Answer.UNSAT, Answer.UNSAT, True),
        (Answer.UNSAT, Answer.UNKNOWN, True),
        (Answer.UNSAT, Answer.SAT, False),
        (Answer.UNKNOWN, Answer.UNSAT, False),
        (Answer.SAT, Answer.UNSAT, False),
        (Answer.UNKNOWN, Answer.UNKNOWN, False),
    ],
)
def test_one_solver_is_enough_only_with_the_kernel(monkeypatch, first, second, enough):
    answers(monkeypatch, first, second)
    assert enough is (Confirmations().first_unproven([obligation(VALID)]) is None)


def test_one_solver_without_the_kernel_is_not_enough(monkeypatch):
    answers(monkeypatch, Answer.UNSAT, Answer.UNKNOWN)
    assert obligation(FALSE_ONE) == Confirmations().first_unproven([obligation(FALSE_ONE)])


def test_a_linear_obligation_that_the_kernel_does_not_confirm_is_no_proof(monkeypatch):
    monkeypatch.setattr("dpaudit.verifier.confirming.certificate", lambda formula, **_: None)
    found = verify(laplace_mechanism)
    assert "unknown" == found.status
    assert "kernel" in found.reason


def test_a_certificate_that_the_kernel_rejects_does_not_count(monkeypatch):
    wrong = {"keep": [], "atoms": [], "lemmas": [], "tree": [0]}
    monkeypatch.setattr("dpaudit.verifier.confirming.certificate", lambda formula, **_: wrong)
    assert "unknown" == verify(laplace_mechanism).status


# What a program may do without bringing the verifier down.


@pytest.mark.parametrize(
    "body",
    [
        "    u = 1 / q[0]\n    return laplace(1 / eps)\n",
        "    i = 0\n    while i >= 0:\n        i = i + 1\n    return laplace(1 / eps)\n",
    ],
)
def test_programs_that_raise_or_never_end_get_no_proof_and_no_crash(body, monkeypatch):
    monkeypatch.setattr(verifying, "REFUTATION_SECONDS", 1.0)
    text = "def noisy(q: list[Fraction], eps: Fraction) -> Fraction:\n" + body
    assert "proven" != verify(text, **PROMISE, seconds=5).status
