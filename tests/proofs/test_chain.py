"""The proof graph is whole, every piece of evidence holds, and a changed byte of what it is about makes it stale."""

from __future__ import annotations

import re
import shutil
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

import learners
import mechanisms
from devtools.paper_map import rows_of
from devtools.site import TABLES
from devtools.survey import Tree
from dpaudit.releases import recording
from dpaudit.verifier.chain import Node, check_graph, evidence_checks, form_faults, rests_on
from dpaudit.verifier.lemmas import LEMMAS as VERIFIERS
from dpaudit.verifier.solving import Answer, satisfiable
from dpaudit.verifier.terms import negation
from learners import papers
from learners.estimator import PrivateModel
from learners.targets import TARGETS as LEARNERS
from proofs import arguments, learning, samplers
from proofs.chain import ALL_LEMMAS, CLAIMS, LOGGED, NODES, ROOT, remarks_on, standing
from proofs.results import test_check as check_of_tests
from proofs.reviewed import COMMAND, bound_by, reach_of, read_reviewed, staleness

RELEASING = [name for name in mechanisms.__all__ if hasattr(getattr(mechanisms, name), "release")]
LEARNING = [
    name
    for name in (*learners.__all__, *papers.__all__)
    if isinstance(getattr(learners, name), type) and issubclass(getattr(learners, name), PrivateModel)
]
OTHERS = {"AboveThreshold", "SparseVector", "GeneralizedExponential", "InteractiveKernelPredictor"}
LEMMAS = (*samplers.LEMMAS, *arguments.LEMMAS, *learning.LEMMAS)
CHECKS = evidence_checks(ROOT / "proofs" / "certificates", ALL_LEMMAS, check_of_tests(ROOT, quick=True), quick=True)
RUN = "mechanisms/comparisons.py:Run"


def first_cells(table):
    """The first cell of each row of a table of the site."""
    return [line.split(" | ")[0].removeprefix("| ") for line in TABLES[table]().splitlines()[2:]]


def test_every_mechanism_and_every_learner_that_ships_has_its_chain():
    assert sorted({*RELEASING, *OTHERS, *LEARNING}) == sorted(CLAIMS)


def test_the_graph_has_no_gap_circle_or_loose_end():
    assert [] == form_faults(NODES, CLAIMS)


def test_everything_in_the_graph_holds_now():
    fallen = {name: reason for name, reason in standing(quick=True).items() if reason}
    assert not fallen, f"Run `{COMMAND}`; it shows what changed, and the commands that are needed.\n" + "\n".join(
        f"{name}: {reason}" for name, reason in fallen.items()
    )
    assert [] == remarks_on()(NODES)


def test_the_site_shows_every_claim_every_node_and_every_lemma_about_learners():
    assert [f"`{name}`" for name in CLAIMS] == first_cells("claims")
    assert [node.id for node in NODES] == first_cells("graph")
    assert [f"`{lemma.name}`" for lemma in learning.LEMMAS] == first_cells("learner_lemmas")


def test_the_map_of_papers_names_nodes_of_this_graph():
    named = {row["proof"] for row in rows_of(Tree(ROOT)) if row["proof"]}
    assert {"MarginClassifier.claim", "LaplaceMechanism.claim"} <= named <= {node.id for node in NODES}


def test_every_bound_definition_is_there():
    reach = reach_of(ROOT)
    assert [] == [place for node in NODES for place in node.binds if not reach.stamp(place)]


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


def as_reviewed(_place):
    return ""


WHOLE = [node(stage, stage=stage) for stage in ("source", "sensitivity", "mechanism", "composition")] + [
    node("M.claim", "source", "sensitivity", "mechanism", "composition")
]


def test_a_whole_chain_is_accepted():
    assert [] == form_faults(WHOLE, ["M"])


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
    assert said in form_faults(nodes, claims)


def test_a_node_falls_with_what_it_rests_on():
    nodes = [node("a", kind="proven", evidence=("lemma:nothing",)), node("b", "a"), node("c", "b"), node("d")]
    found = check_graph(nodes, CHECKS, as_reviewed)
    assert {"a": "lemma:nothing: there is no such lemma", "b": "rests on a", "c": "rests on a", "d": ""} == found


@pytest.mark.parametrize(
    "evidence",
    [
        "certificate:proofs.sparse_vector:nothing",
        "certificate:proofs.nowhere:answers",
        "certificate:proofs.rounding:compound",
        "lemma:samplers.nothing",
        "run:proofs.rounding:nothing",
        "run:proofs.rounding:exponential_change",
        "test:tests/proofs/test_chain.py::test_that_is_not_there",
        "test:tests/proofs/nowhere.py::test_everything_in_the_graph_holds_now",
        "hearsay:somebody",
    ],
)
def test_evidence_that_is_not_there_does_not_hold(evidence):
    assert check_graph([node("a", evidence=(evidence,))], CHECKS, as_reviewed)["a"]


@pytest.mark.parametrize(
    ("hypotheses", "reason"),
    [
        (("0 < N",), "the checkers do not confirm it"),
        (("0 < N", "N < 0"), "no values are known to meet its hypotheses"),
    ],
)
def test_a_false_or_empty_lemma_is_no_evidence(hypotheses, reason):
    wrong = replace(ALL_LEMMAS["samplers.lazy_below"], hypotheses=hypotheses)
    assert reason == evidence_checks(ROOT, {wrong.name: wrong}, str)["lemma"](wrong.name)


def test_what_a_claim_rests_on_is_told_by_the_word_behind_it():
    found = rests_on(NODES, "LaplaceMechanism.claim")
    assert "LaplaceMechanism.mechanism" in found["proven"]
    assert ["bits.fair", "balls", "sampler.series", "sampler.numpy", "declared"] == found["axiom"]


def test_gaussian_noise_is_proven_from_its_bits_to_its_claim():
    axioms = ["bits.fair", "balls", "sampler.series", "sampler.numpy", "declared"]
    found = rests_on(NODES, "DiscreteGaussianMechanism.claim")
    assert ({"proven", "axiom"}, axioms) == (set(found), found["axiom"])
    assert {"proven", "axiom"} == set(rests_on(NODES, "GaussianMechanism.claim"))


def changed(folder, path, old, new):
    """A copy of a shipped file in a folder, with one change."""
    text = (ROOT / path).read_text(encoding="utf-8")
    assert 1 == text.count(old)
    place = folder / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text.replace(old, new), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the packages that a test may change, if it changes them back."""
    folder = tmp_path_factory.mktemp("copy")
    for package in ("dpaudit", "mechanisms", "learners", "proofs"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@contextmanager
def with_change(folder, path, old, new):
    """The copy with one change."""
    place = folder / path
    text = place.read_text(encoding="utf-8")
    assert 1 == text.count(old)
    place.write_text(text.replace(old, new), encoding="utf-8")
    try:
        yield
    finally:
        place.write_text(text, encoding="utf-8")


def stale_claims(folder):
    """The claims that rest on source which is not what was reviewed."""
    trusting = dict.fromkeys(("certificate", "lemma", "run", "test", "citation"), lambda _: "")
    found = check_graph(NODES, trusting, staleness(folder, quick=True))
    return {name.removesuffix(".claim") for name, reason in found.items() if reason and name.endswith(".claim")}


EVERY = set(CLAIMS)


@pytest.mark.parametrize(
    ("path", "old", "new", "fallen", "kept"),
    [
        (
            "mechanisms/comparisons.py",
            ">= self._border",
            "> self._border",
            {"AboveThreshold", "SparseVector"},
            {"LaplaceMechanism"},
        ),
        (
            "mechanisms/sampling/real_noise.py",
            "LARGEST_EXPONENT: Final = 900",
            "LARGEST_EXPONENT: Final = 901",
            {"RealLaplaceMechanism"},
            {"TopK"},
        ),
        ("mechanisms/histogram.py", "import annotations\n", "import annotations\n\nCHANGED = 1\n", set(), EVERY),
        ("dpaudit/releases.py", "            log.append(release)", "            pass", EVERY, set()),
        ("dpaudit/report/wording.py", '"tested": "shown', '"tested": "Shown', set(), EVERY),
    ],
)
def test_a_change_makes_stale_every_claim_that_reaches_it_and_no_other(copy, path, old, new, fallen, kept):
    assert set() == stale_claims(copy)
    with with_change(copy, path, old, new):
        stale = stale_claims(copy)
    assert fallen <= stale
    assert not kept & stale


def test_a_sampler_that_returns_zeros_makes_every_claim_over_it_stale(copy):
    path, name = "mechanisms/sampling/kernel.py", "many_trials"
    reach = reach_of(ROOT)
    over = {claim for claim in CLAIMS if any(f"{path}:{name}" in reach.closure(place) for place in bound_by(NODES, claim))}
    old = "def many_trials(table: EnvelopeTable, source: BitSource, out: NDArray[Any]) -> int:\n"
    with with_change(copy, path, old, old + "    out[:] = 0\n    return len(out)\n"):
        assert over == stale_claims(copy)
    assert {"LaplaceMechanism", "GaussianMechanism", "DiscreteGaussianMechanism"} <= over < set(CLAIMS)


def test_a_stale_node_says_which_definitions_changed(copy):
    place = "mechanisms/laplace.py:LaplaceMechanism"
    with with_change(copy, "dpaudit/releases.py", "            log.append(release)", "            pass"):
        said = staleness(copy, quick=True)(place)
    assert f"{place} reaches dpaudit/releases.py:note, not as reviewed" == said
    with with_change(copy, "mechanisms/laplace.py", "class LaplaceMechanism:", "class Other:"):
        assert f"{place} is not there" == staleness(copy, quick=True)(place)


def test_without_a_record_of_a_review_everything_is_stale(copy):
    record = copy / "proofs" / "bound_source.json"
    text = record.read_text(encoding="utf-8")
    for broken in ("", "[]", "{}"):
        record.write_text(broken, encoding="utf-8")
        assert {} == read_reviewed(copy).stamps
        assert {one.removesuffix(".claim") for one in bound_claims()} == stale_claims(copy)
    record.write_text(text, encoding="utf-8")


def bound_claims():
    return {f"{claim}.claim" for claim in CLAIMS if bound_by(NODES, claim)}


def test_where_the_tests_are_not_installed_the_record_counts_and_is_said_to_be_a_record(copy):
    below = {name for names in rests_on(NODES, "PermuteAndFlip.claim").values() for name in names}
    part = [one for one in NODES if one.id in below]
    assert {""} == set(standing(part, copy, quick=True).values())
    missing = standing(part, copy)
    assert "there is no such test" in missing["PermuteAndFlip.source"]
    assert "rests on PermuteAndFlip.source" in missing["PermuteAndFlip.claim"]
    [(name, said, word)] = remarks_on(copy)(part)
    assert ("recorded tests", "recorded") == (name, word)
    assert re.search(r"tests are not installed here. They are recorded as passed on \d{4}-\d\d-\d\d with .*Python 3", said)
    with with_change(copy, "mechanisms/permute_and_flip.py", "def _choose(", "def _chosen("):
        assert "stale" in standing(part, copy, quick=True)["PermuteAndFlip.source"]


def test_what_rests_on_a_stale_node_falls_up_to_the_claim():
    trusting = dict.fromkeys(("certificate", "lemma", "run", "test", "citation"), lambda _: "")
    found = check_graph(NODES, trusting, lambda place: "another" if place == RUN else "")
    fallen = [name for name, reason in found.items() if reason]
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
    checks = evidence_checks(tmp_path, {}, str, quick=True)
    assert checks["certificate"](f"{place}:numbers").startswith(reason)


def test_a_program_that_is_only_moved_keeps_its_certificate(tmp_path):
    place = tmp_path / "sparse_vector.py"
    shutil.copy(ROOT / "proofs" / "sparse_vector.py", place)
    shutil.copy(ROOT / "proofs" / "certificates" / "proofs.sparse_vector.numbers.json", tmp_path / "sparse_vector.numbers.json")
    assert "" == evidence_checks(tmp_path, {}, str, quick=True)["certificate"](f"{place}:numbers")


@pytest.mark.parametrize(
    ("path", "name", "old", "new", "learner"),
    [
        ("solvers/slopes.py", "softmax_slopes", "np.maximum(norms, _CLIP)", "np.maximum(norms, 1)", "PrivateClassifier"),
        ("solvers/plans.py", "moment_sensitivity", "moves * (DIAGONAL", "(DIAGONAL", "PrivateClassifier"),
        ("solvers/hinge.py", "HingeStep", "max(self.pull * (self.margin - margin), 0.0)", "self.pull", "MarginClassifier"),
        ("solvers/phased.py", "schedule", "_MOVES[relation.kind] * length", "length", "MarginClassifier"),
        ("choices/counts.py", "errors", "margins <= limit", "margins < limit", "PureMarginClassifier"),
        ("choices/generalized.py", "GeneralizedExponential", "sensitivity + self.grid", "sensitivity", "MarginSearch"),
        ("choices/hinge_minimum.py", "Scale", "+ self.tolerance", "", "MarginSearch"),
        ("rows/rows.py", "row_bound", "4**lattice_bits + constant**2", "4**lattice_bits", "LabelPrivateClassifier"),
    ],
)
def test_a_fault_in_a_learner_takes_its_claim_away(copy, path, name, old, new, learner):
    with with_change(copy, f"learners/{path}", old, new):
        stale = stale_claims(copy)
        assert staleness(copy, quick=True)(f"learners/{path}:{name}")
    assert learner in stale
    assert "LaplaceMechanism" not in stale
