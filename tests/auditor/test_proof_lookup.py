"""Proofs that targets name: found, checked anew each time, and called by the word that their weakest step allows."""

from __future__ import annotations

import textwrap

import pytest

from dpaudit.auditor.verdict import proof_lookup
from dpaudit.auditor.verdict.proof_lookup import find_proofs
from dpaudit.importing import module_at
from dpaudit.verifier import verify
from dpaudit.verifier.certificates import text_of

PROGRAM = """
    from collections.abc import Callable
    from fractions import Fraction
    from dpaudit.spec import spec

    @spec(claim="eps", adjacency="all", requires=["eps > 0", "len(q) == 1"])
    def noisy(q: list[Fraction], eps: Fraction, *, laplace: Callable[[Fraction], Fraction]) -> Fraction:
        return q[0] + laplace(SCALE)
"""
COMMENTED = PROGRAM.replace("return", "# a comment\n        return")
ONE = PROGRAM.replace('"all"', '"one"')
GRAPH = """
    from dpaudit.verifier.chain import Node

    NODES = (
        Node("bits", "sampler", "bits are fair", "axiom", ("citation:the operating system",)),
        Node("A.source", "source", "a release is a draw", WORD, ("run:nowhere:nothing",), ("bits",)),
        Node("A.claim", "claim", "epsilon = 1", "proven", ("run:nowhere:nothing",), ("A.source",)),
        Node("B.claim", "claim", "epsilon = 2", "proven", ("run:nowhere:nothing",), ("bits",)),
    )
    LOGGED = {"A": ("discrete_laplace",), "B": ()}
    ASKED = []

    def standing(nodes, *, quick):
        ASKED.append([node.id for node in nodes])
        return {node.id: REASONS.get(node.id, "") for node in nodes}
"""


@pytest.fixture
def file(tmp_path):
    """A function that writes a module and gives its path."""

    def write(text, name="written.py", **replacements):
        for old, new in replacements.items():
            text = text.replace(old, new)
        (tmp_path / name).write_text(textwrap.dedent(text), encoding="utf-8")
        return str(tmp_path / name)

    return write


def only(name):
    """What one name stands for."""
    return find_proofs([name, ""])[name]


WHOLE = {
    *("AboveThreshold", "DiscreteGaussianMechanism", "GaussianMechanism", "LaplaceMechanism"),
    *("NoisyMax", "RandomizedResponse", "SparseVector"),
}
"""Mechanisms whose chain holds proven steps and axioms alone."""


def test_every_claim_of_what_ships_stands_and_those_are_called_proven_that_rest_on_no_test():
    claims = module_at("proofs.chain").CLAIMS
    found = find_proofs(f"proofs.chain#{name}.claim" for name in claims)
    assert {""} == {one.reason for one in found.values()}
    status = {name: found[f"proofs.chain#{name}.claim"].status for name in claims}
    assert {name: "proven" if name in WHOLE else "in part" for name in claims} == status
    assert set(module_at("proofs.chain").LOGGED) == set(claims)
    assert all(one.logged and any(step.word == "axiom" for step in one.steps) for one in found.values())


def test_a_claim_falls_with_the_source_that_it_is_about(monkeypatch):
    changed = {"mechanisms/laplace.py:LaplaceMechanism": "mechanisms/laplace.py:LaplaceMechanism is not what was reviewed"}
    monkeypatch.setattr(
        module_at("proofs.chain"), "staleness", lambda *_, quick: lambda place: changed.get(place, "") if quick else ""
    )
    found = find_proofs(["proofs.chain#LaplaceMechanism.claim", "proofs.chain#TopK.claim"])
    assert ["stale", "in part"] == [one.status for one in found.values()]
    assert "LaplaceMechanism.source: stale: mechanisms/laplace.py:LaplaceMechanism" in next(iter(found.values())).reason


@pytest.mark.parametrize(
    ("word", "reasons", "status"),
    [
        ("proven", {}, "proven"),
        ("certified", {}, "in part"),
        ("enumerated", {}, "in part"),
        ("tested", {}, "in part"),
        ("proven", {"A.source": "stale: a.py:b is not what was reviewed", "A.claim": "rests on A.source"}, "stale"),
        ("proven", {"A.source": "lemma:x: the checkers do not confirm it", "A.claim": "rests on A.source"}, "unknown"),
    ],
)
def test_a_chain_is_called_by_its_weakest_step(file, word, reasons, status):
    found = only(f"{file(GRAPH, WORD=repr(word), REASONS=repr(reasons))}#A.claim")
    assert status == found.status
    assert ["bits", "A.source", "A.claim"] == [step.name for step in found.steps]
    assert bool(reasons) == found.reason.startswith("A.source: ")
    assert "bits are fair (the operating system)" == found.steps[0].statement


@pytest.mark.parametrize("word", ["recorded", "open"])
def test_a_chain_of_proven_steps_is_proven_in_part_where_tests_are_only_on_record_or_stamps_leave_something_out(file, word):
    remarks = f"\n    def remarks_on():\n        return lambda nodes: [('remark', 'what is missing', {word!r})]\n"
    found = only(f"{file(GRAPH + remarks, WORD=repr('proven'), REASONS='{}')}#A.claim")
    assert ("in part", ("remark", "what is missing", word)) == (found.status, (*vars(found.steps[-1]).values(),))


def test_all_claims_of_a_graph_are_checked_together_and_only_with_what_they_rest_on(file):
    path = file(GRAPH, WORD="'tested'", REASONS="{'A.source': 'gone', 'A.claim': 'rests on A.source'}")
    found = find_proofs([f"{path}#A.claim", f"{path}#B.claim", f"{path}#A.claim"])
    assert ["unknown", "proven"] == [one.status for one in found.values()]
    assert [["bits", "A.source", "A.claim", "B.claim"]] == module_at(path).ASKED


@pytest.mark.parametrize("node", ["C.claim", "A.source"])
def test_what_is_no_claim_of_a_graph_is_unknown(file, node):
    found = only(f"{file(GRAPH, WORD=repr('tested'), REASONS='{}')}#{node}")
    assert ("unknown", True) == (found.status, "is no claim" in found.reason)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nowhere.at.all#A.claim", "DPA401"),
        ("nowhere.at.all:noisy", "DPA401"),
        ("math#A.claim", "math gives no proof graph: AttributeError"),
        ("math:nothing", "math has no function nothing"),
        ("math:sqrt", "DPA"),
        ("dpaudit.catalogue.programs.basic:laplace_mechanism(1)", "a value without a name"),
        ("dpaudit.catalogue.programs.basic:laplace_mechanism(eps=much)", "DPA101"),
        ("dpaudit.catalogue.programs.basic:laplace_mechanism(q=1)", "no parameter q that can be 1"),
        ("proofs.additive:array(distance=1/2)", "no parameter distance that can be 1/2"),
    ],
)
def test_a_proof_that_does_not_load_is_unknown_with_its_reason(name, reason):
    found = only(name)
    assert "unknown" == found.status
    assert reason in found.reason


def test_the_certificates_that_are_installed_are_checked_without_a_solver(monkeypatch):
    monkeypatch.setattr("dpaudit.verifier.solving.satisfiable", None)
    found = only("dpaudit.catalogue.programs.basic:laplace_mechanism(eps=1)")
    assert ("proven", 1) == (found.status, found.values["eps"])
    assert "15 obligations" in found.steps[0].statement


def test_a_certificate_beside_the_module_proves_until_a_byte_changes(file, tmp_path):
    path = file(PROGRAM, SCALE="1 / eps")
    (tmp_path / "certificates").mkdir()
    text = text_of(verify(module_at(path).noisy).certificate)
    (tmp_path / "certificates" / "written.noisy.json").write_text(text, encoding="utf-8")
    assert "proven" == only(f"{path}:noisy(eps=1)").status
    assert "stale" == only(f"{file(PROGRAM, SCALE='2 / eps')}:noisy(eps=1)").status
    assert "stale" == only(f"{file(COMMENTED, SCALE='1 / eps')}:noisy(eps=1)").status
    assert "stale" == only(f"{file(ONE, SCALE='1 / eps')}:noisy(eps=1)").status


def test_a_certificate_that_was_changed_proves_nothing(file, tmp_path):
    path = file(PROGRAM, SCALE="1 / eps")
    (tmp_path / "certificates").mkdir()
    certificate = verify(module_at(path).noisy).certificate
    for text in ("{}", text_of({**certificate, "name": "other"})):
        (tmp_path / "certificates" / "written.noisy.json").write_text(text, encoding="utf-8")
        found = only(f"{path}:noisy(eps=1)")
        assert "unknown" == found.status
        assert found.reason


def test_without_a_certificate_a_counterexample_is_looked_for_at_the_values_given(file):
    found = only(f"{file(PROGRAM, SCALE='1 / (2 * eps)')}:noisy(eps=4)")
    assert "refuted" == found.status
    assert "with eps = 4" in found.steps[0].statement


def test_without_certificate_and_counterexample_nothing_is_known(file, monkeypatch):
    monkeypatch.setattr(proof_lookup, "SECONDS", 0.1)
    found = only(f"{file(PROGRAM, SCALE='1 / eps')}:noisy(eps=1)")
    assert ("unknown", True) == (found.status, "dpaudit prove" in found.reason)


def test_the_specimens_are_refuted_by_the_verifier(monkeypatch):
    monkeypatch.setattr(proof_lookup, "SECONDS", 120.0)  # what is found within the events asked, however slow the machine
    names = ("sparse_vector_with_one_noise", "noisy_max_with_value", "surplus_with_half_noise")
    found = find_proofs(f"mechanisms.targets.programs:{name}(epsilon=1)" for name in names)
    assert ["refuted"] * 3 == [one.status for one in found.values()]
