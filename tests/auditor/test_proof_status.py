"""The proof witness: a proof counts only where what it shows is what was audited, and nothing else was seen."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dpaudit import GDP, ZCDP, Adjacency, ApproxDP, Claim, PureDP, Sensitivity, Target, audit
from dpaudit.auditor import replay
from dpaudit.auditor.verdict.proof_lookup import ProofFinding, find_proofs
from dpaudit.auditor.verdict.proof_status import Observed, calls_of, doubt_proof, is_output_of_program, proof_of
from dpaudit.catalogue.programs.maximum import noisy_max
from dpaudit.releases import Release
from dpaudit.report import evidence_bytes, from_json, to_json
from dpaudit.results import Price, ProofStep, Property, Verdict
from mechanisms import LaplaceMechanism, source_from
from mechanisms.targets.programs import noisy_max_with_value

NOISY_MAX = "dpaudit.catalogue.programs.maximum:noisy_max(eps=1)"
LAPLACE = "proofs.chain#LaplaceMechanism.claim"
ARRAY = "proofs.additive:array(scale=2, distance=2)"


def ball(norm, radius=1):
    """Vectors within a distance."""
    return Adjacency("norm_ball", norm=norm, radius=radius)


def winner(scores, rng):
    """The program itself, with numpy's noise."""
    return noisy_max(
        [Fraction(score) for score in scores], Fraction(1), laplace=lambda scale: Fraction(rng.laplace(0, float(scale)))
    )


def target(run=winner, proof=NOISY_MAX, claim=None):
    """A target whose proof is a program."""
    claim = claim or Claim(PureDP(epsilon=1), adjacency=ball("linf"))
    return Target(run=run, claim=claim, neighbours=[((0, 1), (1, 0))], proof=proof, name="winner")


def proof_in(given, runs=600):
    """What an audit says of the proof of one target."""
    return audit(given, runs=runs, seed=3).results[0].proof


@cache
def finding(name):
    """What a proof shows by itself."""
    return find_proofs([name])[name]


def observed(claim, *, logged=(), status="within", properties=(), returned=True):
    """What an audit might have seen."""
    releases = tuple(Release(kind, (("scale", Fraction(1)),), Fraction(1), ball("l1")) for kind in logged)
    return Observed(claim, ((releases, releases),) * 2, Price(status), properties, returned)


def test_a_program_that_was_seen_to_give_the_output_is_proven():
    found = proof_in(target())
    assert ("proven", "", NOISY_MAX) == (found.status, found.reason, found.name)
    assert ["proven", "axiom"] == [step.word for step in found.steps]
    assert "eps-DP when every element of q (Fraction) may change by at most 1, if eps > 0" == found.claim


@pytest.mark.parametrize(
    "run",
    [
        lambda scores, rng: 1 - winner(scores, rng),
        lambda scores, rng: (winner(scores, rng), winner(scores, rng))[0],
        lambda scores, rng: int(rng.integers(2)),
    ],
    ids=["another output", "called twice", "never called"],
)
def test_a_function_that_gives_out_something_else_is_not_proven(run):
    assert ("unknown", "no run gave out what one call of the program returned") == (
        proof_in(target(run)).status,
        proof_in(target(run)).reason,
    )


def test_a_target_without_a_proof_and_one_that_does_not_run_say_so():
    assert proof_in(target(proof="")) is None
    broken = proof_in(target(lambda scores, rng: 1 / 0))
    assert ("unknown", "the target did not run") == (broken.status, broken.reason)


def test_the_proof_is_evidence_that_comes_back_and_does_not_stop_a_replay():
    report = audit(target(), runs=600, seed=3)
    assert report == from_json(to_json(report))
    assert evidence_bytes(report) == evidence_bytes(audit(target(), runs=600, seed=3))
    assert all(one.same for one in replay(report, targets=[target()]))


@pytest.mark.parametrize(
    "proof", [3, None, "laplace", "module:", ":function", "a#b#c", "module:function(eps=1", "module:f(eps=(1))"]
)
def test_what_says_no_place_is_refused(proof):
    from dpaudit.errors import InvalidArgument

    with pytest.raises(InvalidArgument, match=r"DPA404 proof= must be MODULE#NODE or MODULE:FUNCTION\(name=value, ...\)"):
        target(proof=proof)


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (Claim(PureDP(epsilon=1), adjacency=ball("l1", 2)), ""),
        (Claim(PureDP(epsilon=2), adjacency=ball("l1", 2)), ""),
        (Claim(ApproxDP(epsilon=1, delta="1/100"), adjacency=ball("l1")), ""),
        (Claim(PureDP(epsilon="99/100"), adjacency=ball("l1", 2)), "does not decide"),
        (Claim(ApproxDP(epsilon="1/2", delta="1/100"), adjacency=ball("l1")), "does not decide"),
        (Claim(PureDP(epsilon=1), adjacency=ball("l1", "21/10")), "another adjacency (l1, 2)"),
        (Claim(PureDP(epsilon=1), adjacency=ball("l2", 2)), "another adjacency (l1, 2)"),
        (Claim(PureDP(epsilon=1), adjacency="add_remove"), "another adjacency (l1, 2) than the audit (add_remove)"),
        (Claim(PureDP(epsilon=1), adjacency="replace_one"), "another adjacency"),
        (Claim(ZCDP(rho=1), adjacency=ball("l1")), "different kinds of guarantee"),
        (Claim(GDP(mu=1), adjacency=ball("l1")), "different kinds of guarantee"),
    ],
)
def test_a_proven_program_counts_only_for_claims_that_follow(claim, reason):
    found = proof_of(ARRAY, finding(ARRAY), observed(claim))
    assert ("unknown" if reason else "proven") == found.status
    assert reason in found.reason
    assert bool(reason) == bool(found.reason)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("proofs.additive:array(distance=2)", "no value is given for the parameter scale"),
        ("proofs.additive:array(scale=0, distance=2)", "do not meet what the program requires"),
        ("proofs.additive:array(scale=-2, distance=2)", "do not meet what the program requires"),
        ("proofs.choice:two_categories(odds=2)", "another adjacency (one, 1)"),
        ("dpaudit.catalogue.programs.sparse_vector:sparse_vector_increasing(eps=1, most=1)", "another adjacency (inc, 1)"),
    ],
)
def test_values_that_are_missing_or_not_allowed_prove_nothing(name, reason):
    found = proof_of(name, finding(name), observed(Claim(PureDP(epsilon=1), adjacency=ball("linf"))))
    assert "unknown" == found.status
    assert reason in found.reason


@pytest.mark.parametrize(
    ("claim", "status"),
    [
        (Claim(PureDP(epsilon=1), adjacency="replace_one"), "refuted"),
        (Claim(PureDP(epsilon="1/2"), adjacency="replace_one"), "refuted"),
        (Claim(PureDP(epsilon=1), adjacency=ball("l2", 2)), "refuted"),
        (Claim(PureDP(epsilon=1), adjacency=ball("linf", 3)), "refuted"),
        (Claim(PureDP(epsilon=1), adjacency=ball("linf", 1)), "unknown"),
        (Claim(PureDP(epsilon="11/10"), adjacency="replace_one"), "unknown"),
        (Claim(ApproxDP(epsilon=1, delta="1/2"), adjacency="replace_one"), "unknown"),
        (Claim(PureDP(epsilon=1), adjacency="add_remove"), "unknown"),
    ],
)
def test_a_refuted_program_counts_only_for_claims_that_fail_with_it(claim, status):
    name = "mechanisms.targets.programs:surplus_with_half_noise(epsilon=1)"
    found = proof_of(name, finding(name), observed(claim, logged=["discrete_laplace"], returned=False))
    assert status == found.status


@pytest.mark.parametrize(
    ("seen", "reason"),
    [
        ({"logged": ["discrete_laplace"]}, ""),
        ({"logged": ["discrete_laplace", "discrete_laplace"]}, ""),
        ({"logged": ["rounded_gaussian"]}, "the function logged rounded_gaussian, and the proof is about discrete_laplace"),
        ({"logged": ["discrete_laplace", "noisy_max"]}, "the function logged noisy_max"),
        ({"logged": []}, "the function logged nothing"),
        ({"logged": ["discrete_laplace"], "status": "above"}, "no certified price within the claim"),
        ({"logged": ["discrete_laplace"], "status": "undecided"}, "no certified price within the claim"),
        ({"logged": ["discrete_laplace"], "status": "unpriced"}, "no certified price within the claim"),
        ({"logged": ["discrete_laplace"], "properties": [Property("declared sensitivity", "violated", 1)]}, "declared sensitivity"),
        ({"logged": ["discrete_laplace"], "properties": [Property("declared sensitivity", "holds", 1)]}, ""),
    ],
)
def test_a_chain_counts_only_where_its_releases_were_logged_and_fit_the_claim(seen, reason):
    found = proof_of(LAPLACE, finding(LAPLACE), observed(Claim(PureDP(epsilon=1), adjacency=ball("l1")), **seen))
    assert ("unknown" if reason else "in part") == found.status
    assert reason in found.reason
    assert bool(reason) == bool(found.reason)
    assert (not reason) == (found.steps[-1].name == "audited function")


def test_a_false_sensitivity_takes_the_chain_away():
    mechanism = LaplaceMechanism(sensitivity=1, epsilon=1)
    records = [{"count": 2}] * 3
    audited = Target(
        run=lambda data, rng: mechanism.release(sum(record["count"] for record in data), source_from(rng)),
        claim=mechanism.claim,
        data=records,
        sensitivity=Sensitivity(query=lambda data: sum(record["count"] for record in data), bound=1),
        proof=LAPLACE,
    )
    found = proof_in(audited)
    assert "unknown" == found.status
    assert "violated" in found.reason


def test_a_refuted_claim_takes_a_proof_that_stands_away():
    stands = proof_of(LAPLACE, finding(LAPLACE), observed(Claim(PureDP(1), adjacency=ball("l1")), logged=["discrete_laplace"]))
    assert stands == doubt_proof(stands, Verdict.CONSISTENT)
    assert "unknown" == doubt_proof(stands, Verdict.REFUTED).status
    refuted = replace(stands, status="refuted")
    assert refuted == doubt_proof(refuted, Verdict.REFUTED)
    assert doubt_proof(None, Verdict.REFUTED) is None


@pytest.mark.parametrize(
    ("given_in", "given_out", "epsilon", "verdict"),
    [
        (list, lambda pair: pair, 1, Verdict.REFUTED),
        (list, lambda pair: pair[0], 1, Verdict.INCONCLUSIVE),
        (lambda scores: [0] * len(scores), lambda pair: pair, 1, Verdict.INCONCLUSIVE),
        (list, lambda pair: pair, Fraction(1, 2), Verdict.INCONCLUSIVE),
    ],
    ids=["the program", "a part of its output", "other data", "another epsilon"],
)
def test_a_certified_counterexample_refutes_only_what_its_program_does_with_the_data(given_in, given_out, epsilon, verdict):
    """The audit is too small to see the violation by itself."""

    def run(scores, rng):
        noise = {"discrete_laplace": lambda scale: int(rng.geometric(0.5) - rng.geometric(0.5))}
        return given_out(noisy_max_with_value(given_in(scores), Fraction(epsilon), **noise))

    program, claim = "mechanisms.targets.programs:noisy_max_with_value(epsilon=1)", Claim(PureDP(1), adjacency=ball("linf"))
    audited = Target(run=run, claim=claim, neighbours=[((0, 1), (1, 0))], proof=program, name="largest")
    found = audit(audited, runs=600, seed=3).results[0]
    assert (verdict, False) == (found.verdict, found.rejected_in_family), found.summary


@pytest.mark.parametrize("status", ["stale", "unknown"])
def test_a_proof_that_does_not_stand_keeps_its_word_and_reason(status):
    lost = ProofFinding(status, "a claim", "a reason", (ProofStep("a", "b", "proven"),))
    found = proof_of(LAPLACE, lost, observed(Claim(PureDP(epsilon=1)), logged=["discrete_laplace"]))
    assert (status, "a claim", "a reason", lost.steps) == (found.status, found.claim, found.reason, found.steps)


def test_only_what_the_very_code_returns_is_noticed():
    def twin(value):
        return value

    def program(value):
        return value

    with calls_of(program.__code__) as returned:
        program(np.arange(3))
        twin(4)
    program(5)
    assert 1 == len(returned)
    assert is_output_of_program(returned, np.arange(3))
    assert not is_output_of_program(returned, np.arange(4))
    assert not is_output_of_program([*returned, *returned], np.arange(3))
    assert not is_output_of_program([], None)
