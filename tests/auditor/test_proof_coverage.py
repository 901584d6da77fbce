"""A proof covers an audited claim only if what it assumes of data holds of everything that was run, and it is printed whole."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from itertools import combinations

import pytest

from dpaudit import Adjacency, Claim, PureDP, Target, audit
from dpaudit.auditor.verdict.proof_lookup import find_proofs
from dpaudit.auditor.verdict.proof_status import Call, find_uncovered
from dpaudit.importing import module_at
from dpaudit.promise import claim_text, read_promise
from dpaudit.spec import L1, One, Spec
from dpaudit.verifier import verify
from dpaudit.verifier.certificates import text_of

PROGRAM = """
from fractions import Fraction

from dpaudit.spec import spec


@spec(claim="eps", adjacency="all", requires={requires}, domain={domain})
def first(q: list[int], eps: Fraction, *, laplace) -> Fraction:
    return q[0] + laplace(1 / eps)
"""


@pytest.fixture
def proven(tmp_path):
    """The name of a proof of a program with these requirements and this domain, made as `dpaudit prove --output` does."""

    def make(*requires, domain=()):
        path = tmp_path / "programs.py"
        path.write_text(PROGRAM.format(requires=["eps > 0", *requires], domain=list(domain)))
        found = verify(module_at(str(path)).first)
        assert "proven" == found.status, found.reason
        (tmp_path / "certificates").mkdir()
        (tmp_path / "certificates" / "programs.first.json").write_text(text_of(found.certificate))
        return f"{path}:first(eps=1)"

    return make


def proof_of_audit(name, pairs, *, eps=Fraction(1), kind=int, seen=list):
    """What an audit says of the proof of a target that runs the program."""
    program = module_at(name.partition(":first")[0]).first

    def run(data, rng):
        # On a lattice: which digits a float has would tell the datasets apart.
        return program(seen(map(kind, data)), eps, laplace=lambda scale: Fraction(round(1024 * rng.laplace(0, float(scale))), 1024))

    claim = Claim(PureDP(epsilon=1), adjacency=Adjacency("norm_ball", norm="linf", radius=1))
    return audit(Target(run=run, claim=claim, neighbours=pairs, proof=name, name="first"), runs=600, seed=5).results[0].proof


INSIDE = [((0, 1, 1), (1, 1, 1)), ((1, 0, 0), (0, 0, 0))]


def test_a_proof_whose_domain_holds_of_all_data_that_were_run_counts_and_says_its_domain(proven):
    found = proof_of_audit(proven("len(q) >= 3", domain=["q[each] <= 1"]), INSIDE)
    assert ("proven", "") == (found.status, found.reason)
    assert "if [eps > 0] and [len(q) >= 3], between databases in which q[each] <= 1" in found.claim


@pytest.mark.parametrize("pairs", [INSIDE, [((0, 1, 1), (1, 1, 1))]], ids=["two pairs", "one pair"])
def test_a_proof_about_longer_lists_does_not_count(proven, pairs):
    found = proof_of_audit(proven("len(q) >= 5"), pairs)
    assert "unknown" == found.status
    assert found.reason.startswith("dataset 1 of pair ")
    assert found.reason.endswith("does not meet what the program requires (len(q) >= 5)")


@pytest.mark.parametrize(
    ("pairs", "where"),
    [
        ([((0, 1, 1), (1, 1, 2))], "dataset 2 of pair 1 is outside the domain (q[each] <= 1, place 2)"),
        ([((2, 1, 1), (1, 1, 1))], "dataset 1 of pair 1 is outside the domain (q[each] <= 1, place 0)"),
        ([*INSIDE, ((0, 1, 1), (1, 2, 1))], "dataset 2 of pair 3 is outside the domain (q[each] <= 1, place 1)"),
        ([((1, 7, 1), (1, 6, 1)), *INSIDE], "dataset 1 of pair 1 is outside the domain (q[each] <= 1, place 1)"),
    ],
)
def test_data_outside_the_domain_are_named_by_position_whichever_pair_is_attacked(proven, pairs, where):
    found = proof_of_audit(proven("len(q) >= 1", domain=["q[each] <= 1"]), pairs)
    assert ("unknown", where) == (found.status, found.reason)


def test_another_parameter_or_type_than_the_proof_names_does_not_count(proven):
    name = proven("len(q) >= 1")
    other = proof_of_audit(name, INSIDE, eps=Fraction(1, 2))
    assert ("unknown", "dataset 1 of pair") == (other.status, other.reason[:17])
    assert "is run with another eps" in other.reason
    floats = proof_of_audit(name, INSIDE, kind=float)
    assert "unknown" == floats.status
    assert "q[0] must be of type int, got a float" in floats.reason


def test_a_clause_is_asked_of_the_arguments_that_the_program_was_given(proven):
    finding = find_proofs([name := proven("len(q) >= 2", domain=["q[each] + q[0] >= 0"])])[name]
    one = Fraction(1)
    assert "" == find_uncovered(finding, [Call({"q": [1, 2], "eps": one}, None)], "dataset 1 of pair 1")
    assert "" == find_uncovered(finding, [], "dataset 1 of pair 1")
    assert "requires" in find_uncovered(finding, [Call({"q": [1], "eps": one}, None)], "dataset 1 of pair 1")
    assert "place 1" in find_uncovered(finding, [Call({"q": [1, -2], "eps": one}, None)], "dataset 1 of pair 1")
    assert "not about" in find_uncovered(finding, [Call({"eps": one}, None)], "dataset 1 of pair 1")


# The claim is printed whole.

PARAMETERS = (("q", "list[int]"), ("r", "list[Fraction]"), ("eps", "Fraction"), ("n", "int"))
PLAIN = {"claim": "eps", "adjacency": {"q": "one"}, "public": ["r"]}
CHANGES = {
    "claim": ["2 * eps", "eps * 2", "eps + 0", "log(eps)"],
    "adjacency": [{"q": "all"}, {"q": One(2)}, {"q": One("n")}, {"q": L1(1)}],
    "requires": [["eps > 0"], ["eps > 0 and n > 0"], ["eps > 0", "n > 0"], ["n > 0", "eps > 0"], ["0 < eps"], ["0 * n + eps > 0"]],
    "domain": [["q[each] > 0"], ["q[each] > 0 and q[0] > 0"], ["q[each] > 0", "q[0] > 0"], ["0 * q[each + 1] + q[each] > 0"]],
    "cost": ["zcdp"],
    "laws": [{"noise": "laplace"}, {"noise": "gaussian"}],
    "align": [{"x": "1"}, {"x": "2"}, {"y": "1"}],
}


def test_two_specifications_that_differ_in_one_field_have_different_texts():
    specs = [Spec(**PLAIN)] + [Spec(**{**PLAIN, field: value}) for field, values in CHANGES.items() for value in values]
    specs += [Spec(claim="eps", adjacency={"q": "one", "r": "one"}), Spec(claim="eps", adjacency={"r": "one"}, public=["q"])]
    specs += [Spec(**{**PLAIN, "claim": ("eps", "1e-6")}), Spec(**{**PLAIN, "claim": ("eps", "1e-7")})]
    for one, other in combinations(specs, 2):
        assert one != other
        assert claim_text(read_promise(one, PARAMETERS)) != claim_text(read_promise(other, PARAMETERS))
    assert {field.name for field in fields(Spec)} == {*CHANGES, "public"}


def test_the_kind_of_records_and_every_part_are_said():
    spec = Spec(claim="eps", adjacency={"q": L1("2 * n")}, requires=["eps > 0", "n >= 1"], domain=["q[each] >= 0"], public=["r"])
    assert (
        "eps-DP when the sizes of all changes of q (int) add up to at most 2 * n, if [eps > 0] and [n >= 1], between databases in "
        "which q[each] >= 0, with the same r (Fraction) in both"
    ) == claim_text(read_promise(spec, PARAMETERS))
