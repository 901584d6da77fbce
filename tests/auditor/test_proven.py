"""The verdict *proven*: a chain without a tested step, whose claim an audit that could have refuted it did not refute."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from types import MethodType

from dpaudit import Adjacency, Target, audit
from dpaudit.auditor.verdict.proof_status import is_alone
from dpaudit.auditor.verdict.verdicts import verdict_of
from dpaudit.report import to_html, to_json, to_junit, to_sarif, to_text
from dpaudit.results import Verdict
from mechanisms import DiscreteGaussianMechanism, source_from
from mechanisms.targets.sound import Releases

GRAPH = """
from dpaudit.verifier.chain import Node

KIND = {kind!r}
NODES = (
    Node("bits", "sampler", "bits are fair", "axiom", ("citation:the operating system",)),
    Node("A.source", "source", "it is what ships", KIND, ("lemma:x" if KIND == "proven" else "test:x",), ("bits",)),
    Node("A.claim", "claim", "rho = 1/2", "proven", ("lemma:y",), ("A.source",)),
)
LOGGED = {{"A": ("discrete_gaussian",)}}
CLAIMS = ("A",)


def standing(nodes, **_):
    return {{node.id: "" for node in nodes}}
"""

MECHANISM = DiscreteGaussianMechanism(sensitivity=1, sigma=1, adjacency=Adjacency("norm_ball", norm="l2", radius=1))


def many(value, count, rng):
    """Many releases of a number."""
    return MECHANISM.releases(value, count, source_from(rng))


def test_a_claim_is_proven_if_no_step_of_its_chain_is_tested_and_the_runs_agree(tmp_path):
    (tmp_path / "graph.py").write_text(GRAPH.format(kind="proven"), encoding="utf-8")
    named = f"{tmp_path / 'graph.py'}#A.claim"

    def audited(sample):
        target = Target(sample=sample, claim=MECHANISM.claim, neighbours=[(0, 1)], proof=named, name="one")
        return audit(target, runs=60_000, seed=2)

    (around,) = audited(many).results
    assert (Verdict.CONSISTENT, "in part") == (around.verdict, around.proof.status)
    assert "was run, not read" in around.proof.steps[-1].statement
    report = audited(Releases(MECHANISM))
    (result,) = report.results
    assert (Verdict.PROVEN, 0) == (result.verdict, report.exit_code)
    assert "It takes as given: bits are fair (the operating system); " in result.summary
    assert all(
        "bits are fair (the operating system)" in shown
        for shown in (to_text(report, width=400), to_html(report), to_junit(report), to_sarif(report))
    )
    assert f'"verdict": "{Verdict.PROVEN}"' in to_json(report)

    def verdict(proof=result.proof, *, rejected=False, power_target=Fraction(5, 4), properties=result.properties):
        return verdict_of(result.attack, properties, result.price, proof, rejected=rejected, power_target=power_target)[0]

    assert Verdict.PROVEN == verdict()
    for other in ("in part", "unknown", "stale"):
        assert Verdict.CONSISTENT == verdict(replace(result.proof, status=other))
    assert Verdict.CONSISTENT == verdict(replace(result.proof, name="module:program(eps=1)"))
    assert Verdict.INCONCLUSIVE == verdict(power_target=Fraction(1))
    assert Verdict.INCONCLUSIVE == verdict(properties=[replace(result.properties[0], status="violated")])
    assert Verdict.REFUTED == verdict(rejected=True)


class Own(DiscreteGaussianMechanism):
    """A mechanism of somebody else, on one that ships."""


def test_only_what_ships_is_called_alone():
    own = Own(sensitivity=1, sigma=1)
    assert all(map(is_alone, (MECHANISM.release, MECHANISM.releases, Releases(MECHANISM))))
    bound = MethodType(lambda mechanism, *_: mechanism, MECHANISM)
    around = partial(MECHANISM.releases)
    for other in (many, around, bound, own.release, own.releases, Releases(own), Releases(many), lambda *_: 0, print):
        assert not is_alone(other)
