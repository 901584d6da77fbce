"""The proof graph is whole, every piece of evidence holds, and a changed byte of what it is about makes it stale."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import learners
import mechanisms
from dpaudit.releases import recording
from dpaudit.verifier.chain import Node, evidence_checks, examined, faults, rests_on, stamp
from dpaudit.verifier.lemmas import LEMMAS as VERIFIERS
from dpaudit.verifier.solving import Answer, satisfiable
from dpaudit.verifier.terms import negation
from learners.estimator import PrivateModel
from learners.targets import TARGETS as LEARNERS
from proofs import arguments, learning, samplers
from proofs.chain import ALL_LEMMAS, CLAIMS, LOGGED, NODES, ROOT, lemma_table, stamps, standing, table

RELEASING = [name for name in mechanisms.__all__ if hasattr(getattr(mechanisms, name), "release")]
LEARNING = [
    name
    for name in learners.__all__
    if isinstance(getattr(learners, name), type) and issubclass(getattr(learners, name), PrivateModel)
]
OTHERS = {"AboveThreshold", "SparseVector", "GeneralizedExponential", "InteractiveKernelPredictor"}
LEMMAS = (*samplers.LEMMAS, *arguments.LEMMAS, *learning.LEMMAS)
CHECKS = evidence_checks(ROOT, ROOT / "proofs" / "certificates", ALL_LEMMAS, quick=True)
RUN = "mechanisms/comparisons.py:Run"


def test_every_mechanism_and_every_learner_that_ships_has_its_chain():
    assert sorted({*RELEASING, *OTHERS, *LEARNING}) == sorted(CLAIMS)


def test_the_graph_has_no_gap_circle_or_loose_end():
    assert [] == faults(NODES, CLAIMS)


def test_everything_in_the_graph_holds_now():
    assert dict.fromkeys((node.id for node in NODES), "") == standing(quick=True)


def test_the_document_shows_this_graph():
    text = (ROOT / "docs" / "proof_chain.md").read_text(encoding="utf-8")
    assert table() == text[text.index("| mechanism |") :]


def test_the_map_of_papers_names_nodes_of_this_graph():
    text = (ROOT / "docs" / "paper_map.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\|[^\n]+\| `([^`]+)` \|$", text, flags=re.MULTILINE))
    assert {"MarginClassifier.claim", "LaplaceMechanism.claim"} <= named <= {node.id for node in NODES}


def test_the_document_lists_the_lemmas_about_learners():
    text = (ROOT / "docs" / "learner_proofs.md").read_text(encoding="utf-8")
    assert lemma_table() == text[text.index("| id |") :]


def test_every_bound_definition_is_there():
    assert [] == [place for place, digest in stamps().items() if not digest]


@pytest.mark.parametrize("name", [lemma.name for lemma in (*samplers.LEMMAS, *arguments.LEMMAS)])
def test_a_lemma_is_confirmed_by_both_solvers(name):
    for obligation in ALL_LEMMAS[name].obligations():
        answers = [satisfiable([negation(obligation)], solver=solver, seconds=20.0).answer for solver in ("z3", "cvc5")]
        assert [Answer.UNSAT, Answer.UNSAT] == answers


def test_no_lemma_has_the_name_of_another():
    names = [lemma.name for lemma in LEMMAS]
    assert len({*names, *VERIFIERS}) == len(names) + len(VERIFIERS)
    assert not {name.partition(".")[0] for name in names} & {name.partition(".")[0] for name in VERIFIERS}


def test_every_lemma_of_this_package_is_evidence_of_a_node():
    used = {one.removeprefix("lemma:") for node in NODES for one in node.evidence}
    assert [] == [lemma.name for lemma in LEMMAS if lemma.name not in used]


UNPROVED = {"phased_fixed_order", "phased_secret_order", "margin_classifier", "kernel_silence"}


@pytest.mark.parametrize("target", LEARNERS, ids=lambda target: target.name)
def test_a_target_of_the_learners_names_the_claim_about_what_it_logs(target):
    """But for whole passes and runs, whose price is not that of the entries of the log one by one."""
    assert (target.name in UNPROVED) is (target.proof == "")
    if target.proof:
        place, _, claim = target.proof.partition("#")
        assert "proofs.chain" == place
        with recording() as log:
            target.sample(target.neighbours[0][0], 1, np.random.default_rng(1))
        assert log
        assert {release.kind for release in log} <= set(LOGGED[claim.removesuffix(".claim")])


def node(name, *needs, stage="claim", kind="axiom", evidence=("citation:somebody",), binds=()):
    return Node(name, stage, name, kind, evidence, needs, binds)


WHOLE = [node(stage, stage=stage) for stage in ("source", "sensitivity", "mechanism", "composition")] + [
    node("M.claim", "source", "sensitivity", "mechanism", "composition")
]


def test_a_whole_chain_is_accepted():
    assert [] == faults(WHOLE, ["M"])


@pytest.mark.parametrize(
    ("nodes", "claims", "said"),
    [
        (WHOLE[1:], ["M"], "M.claim rests on source, which is unknown"),
        ([*WHOLE[:4], node("M.claim", "source", "sensitivity", "mechanism")], ["M"], "M.claim has nothing about its composition"),
        (WHOLE, ["M", "N"], "N.claim is missing"),
        ([*WHOLE, node("M.claim")], ["M"], "M.claim stands twice"),
        ([*WHOLE, node("other")], ["M"], "no claim rests on other"),
        ([node("source", "M.claim", stage="source"), *WHOLE[1:]], ["M"], "source rests on itself"),
        ([replace(WHOLE[0], kind="proven"), *WHOLE[1:]], ["M"], "source is called proven, and its evidence is not of that kind"),
        ([replace(WHOLE[0], evidence=()), *WHOLE[1:]], ["M"], "source is called axiom, and its evidence is not of that kind"),
        (
            [replace(WHOLE[0], evidence=("citation:",)), *WHOLE[1:]],
            ["M"],
            "source is called axiom, and its evidence is not of that kind",
        ),
        ([*WHOLE[:4], replace(WHOLE[4], stage="source")], ["M"], "M.claim is missing"),
    ],
)
def test_a_graph_that_is_not_whole_is_refused(nodes, claims, said):
    assert said in faults(nodes, claims)


def test_a_node_falls_with_what_it_rests_on():
    nodes = [node("a", kind="proven", evidence=("lemma:nothing",)), node("b", "a"), node("c", "b"), node("d")]
    found = examined(nodes, CHECKS, {}, ROOT)
    assert {"a": "lemma:nothing: there is no such lemma", "b": "rests on a", "c": "rests on a", "d": ""} == found


@pytest.mark.parametrize(
    "evidence",
    [
        "certificate:proofs.sparse_vector:nothing",
        "certificate:proofs.nowhere:answers",
        "certificate:proofs.rounding:compounded",
        "lemma:samplers.nothing",
        "run:proofs.rounding:nothing",
        "run:proofs.rounding:exponential_change",
        "test:tests/proofs/test_chain.py::test_that_is_not_there",
        "test:tests/proofs/nowhere.py::test_everything_in_the_graph_holds_now",
        "hearsay:somebody",
    ],
)
def test_evidence_that_is_not_there_does_not_hold(evidence):
    assert examined([node("a", evidence=(evidence,))], CHECKS, {}, ROOT)["a"]


@pytest.mark.parametrize(
    ("hypotheses", "reason"),
    [
        (("0 < N",), "the checkers do not confirm it"),
        (("0 < N", "N < 0"), "no values are known to meet its hypotheses"),
    ],
)
def test_a_false_or_empty_lemma_is_no_evidence(hypotheses, reason):
    wrong = replace(ALL_LEMMAS["samplers.lazy_below"], hypotheses=hypotheses)
    assert reason == evidence_checks(ROOT, ROOT, {wrong.name: wrong})["lemma"](wrong.name)


def test_what_a_claim_rests_on_is_told_by_the_word_behind_it():
    found = rests_on(NODES, "LaplaceMechanism.claim")
    assert "LaplaceMechanism.mechanism" in found["proven"]
    assert ["bits", "balls", "sampler.series", "declared"] == found["axiom"]


def changed(folder, path, old, new):
    """A copy of a shipped file in a folder, with one change."""
    text = (ROOT / path).read_text(encoding="utf-8")
    assert 1 == text.count(old)
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text.replace(old, new), encoding="utf-8")
    return place


def test_one_changed_byte_of_a_bound_definition_makes_its_node_stale(tmp_path):
    bound = [replace(one, evidence=("citation:copied",)) for one in NODES if RUN in one.binds]
    used = {place for one in bound for place in one.binds}
    shutil.copytree(ROOT / "mechanisms", tmp_path / "mechanisms", ignore=shutil.ignore_patterns("__pycache__"))
    assert [""] == list(examined(bound, CHECKS, stamps(), tmp_path).values())
    changed(tmp_path, "mechanisms/comparisons.py", ">= self._border", "> self._border")
    assert {f"stale: {RUN} is not what was looked at"} == set(examined(bound, CHECKS, stamps(), tmp_path).values())
    assert {RUN} == {place for place in used if stamp(tmp_path, place) != stamps()[place]}


def test_where_the_tests_are_not_installed_an_audit_passes_over_them_and_nothing_else(tmp_path):
    below = {name for names in rests_on(NODES, "RandomizedResponse.claim").values() for name in names}
    part = [one for one in NODES if one.id in below]
    for package in ("dpaudit", "mechanisms", "proofs"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    assert {""} == set(standing(part, tmp_path, quick=True).values())
    assert "there is no such test" in standing(part, tmp_path)["RandomizedResponse.claim"]
    changed(tmp_path, "mechanisms/response.py", "def report(", "def report (")
    assert "stale" in standing(part, tmp_path, quick=True)["RandomizedResponse.source"]


def test_what_rests_on_a_stale_node_falls_up_to_the_claim():
    old = stamps() | {RUN: "0" * 64}
    trusting = dict.fromkeys(("certificate", "lemma", "run", "test", "citation"), lambda _: "")
    fallen = [name for name, reason in examined(NODES, trusting, old, ROOT).items() if reason]
    assert {"comparisons.source", "AboveThreshold.claim", "SparseVector.claim"} <= set(fallen)
    assert "LaplaceMechanism.claim" not in fallen


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("if q[i] + noise >= border:\n            above", "if q[i] + noise > border:\n            above", "stale"),
        ("+ most / number_scale", "+ 2 * most / number_scale", "stale"),
        ("    copies = []\n", "    copies = []  # the noisy copies\n", "stale"),
    ],
)
def test_one_change_of_a_program_makes_its_certificate_stale(tmp_path, old, new, reason):
    place = changed(tmp_path, "proofs/sparse_vector.py", old, new)
    name = "proofs.sparse_vector.numbers.json"
    shutil.copy(ROOT / "proofs" / "certificates" / name, tmp_path / "sparse_vector.numbers.json")
    checks = evidence_checks(tmp_path, tmp_path, {}, quick=True)
    assert checks["certificate"](f"{place}:numbers").startswith(reason)


def test_a_program_that_is_only_moved_keeps_its_certificate(tmp_path):
    place = tmp_path / "sparse_vector.py"
    shutil.copy(ROOT / "proofs" / "sparse_vector.py", place)
    shutil.copy(ROOT / "proofs" / "certificates" / "proofs.sparse_vector.numbers.json", tmp_path / "sparse_vector.numbers.json")
    assert "" == evidence_checks(tmp_path, tmp_path, {}, quick=True)["certificate"](f"{place}:numbers")


def test_a_file_that_is_no_python_has_no_definitions(tmp_path):
    (tmp_path / "broken.py").write_text("def f(:\n")
    assert "" == stamp(tmp_path, "broken.py:f")
    assert "" == stamp(Path("nowhere"), "broken.py:f")


@pytest.mark.parametrize(
    ("path", "name", "old", "new", "learner"),
    [
        ("solvers/slopes.py", "softmax_slopes", "np.maximum(norms, _CLIP)", "np.maximum(norms, 1)", "PrivateClassifier"),
        ("solvers/quasi_newton.py", "moment_sensitivity", "moves * (DIAGONAL", "(DIAGONAL", "PrivateClassifier"),
        ("solvers/hinge.py", "HingeStep", "max(self.pull * (self.margin - margin), 0.0)", "self.pull", "MarginClassifier"),
        ("solvers/phased.py", "schedule", "_MOVES[relation.kind] * length", "length", "MarginClassifier"),
        ("choices/counts.py", "errors", "margins <= limit", "margins < limit", "PureMarginClassifier"),
        ("choices/generalized.py", "GeneralizedExponential", "sensitivity + self.grid", "sensitivity", "MarginSearch"),
        ("choices/hinge_minimum.py", "Scale", "+ self.tolerance", "", "MarginSearch"),
        ("rows/rows.py", "row_bound", "4**lattice_bits + constant**2", "4**lattice_bits", "LabelPrivateClassifier"),
    ],
)
def test_a_fault_in_a_learner_takes_its_claim_away(tmp_path, path, name, old, new, learner):
    place = f"learners/{path}:{name}"
    changed(tmp_path, f"learners/{path}", old, new)
    assert stamp(tmp_path, place) not in {"", stamps()[place]}
    trusting = dict.fromkeys(("certificate", "lemma", "run", "test", "citation"), lambda _: "")
    found = examined(NODES, trusting, stamps() | {place: stamp(tmp_path, place)}, ROOT)
    assert f"{learner}.claim" in {one for one, reason in found.items() if reason}
    assert "" == found["LaplaceMechanism.claim"]
