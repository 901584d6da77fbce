"""Checks of the witnesses of the papers: each speaks against a claim just where what it looked at does."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from unittest.mock import patch

from dpaudit import dossier
from dpaudit.claims import Claim, PureDP
from dpaudit.exact import Enclosure
from dpaudit.results import ClaimSummary, Proof, TargetResult, Verdict
from dpaudit.verifier.lemmas import Lemma
from proofs import chain
from proofs.papers import witnessing

HALF = Lemma("example.half", "half a number", "x", ("1 <= x",), "x / 2 <= x", "arithmetic")
DOUBLE = Lemma("example.double", "twice a number", "x", ("1 <= x",), "2 * x <= x", "not true")
TINY = Fraction(1, 10**9)


def a_condition_is_handed_on_as_it_is():
    assert (True, False, False) == tuple(witnessing.computed(holds, "").holds for holds in (1, 0, None))


def a_lemma_holds_where_its_checkers_say_so():
    with patch.object(chain, "ALL_LEMMAS", {"half": HALF, "double": DOUBLE}):
        shown = {names: witnessing.lemma("", *names).holds for names in (("half",), ("double",), ("half", "double"))}
    witnessing._is_shown.cache_clear()  # what was patched must not be remembered
    assert {("half",): True, ("double",): False, ("half", "double"): False} == shown


def numbers_of_a_solver_speak_against_what_does_not_follow():
    with patch.object(chain, "ALL_LEMMAS", {"half": HALF}):
        assert [True, False] == [witnessing.model("half", goal, "").holds for goal in ("x / 4 <= x", "2 <= x")]


def a_proof_stands_where_it_was_found_to():
    proofs = {f"proofs.chain#{status}.claim": Proof(status, "") for status in ("proven", "in part", "refuted", "stale", "unknown")}
    with patch.object(witnessing, "_proofs", lambda: proofs):
        stands = {status: witnessing.proof(status).holds for status in ("proven", "in part", "refuted", "stale", "unknown")}
    assert {"proven": True, "in part": True, "refuted": False, "stale": False, "unknown": False} == stands


def an_attack_says_what_its_verdict_says():
    claim = ClaimSummary("pure_dp", (("epsilon", Fraction(1)),), "replace_one", "epsilon 1")
    for verdict in Verdict:
        with patch.object(witnessing, "audit_target", lambda *_, verdict=verdict: TargetResult("", "", claim, verdict, "")):
            found = verdict is Verdict.REFUTED
            assert found is not witnessing.refuted("", 1).holds
            assert (verdict not in (Verdict.REFUTED, Verdict.FAILED)) is witnessing.survives("", 1).holds


def declared_laws_are_held_against_the_claim():
    laws = {"rare": {0: Fraction(1, 4), 1: Fraction(3, 4)}, "even": {0: Fraction(1, 2), 1: Fraction(1, 2)}}
    true = Fraction("0.693147180559945309417232121458176568")
    for epsilon in (true - TINY, true + TINY):
        claim = Claim(PureDP(epsilon=epsilon), adjacency="replace_one")
        target = SimpleNamespace(pmf=laws.get, neighbours=[("even", "even"), ("rare", "even")], claim=claim, description="")
        with patch.object(witnessing, "find_target", lambda _, target=target: target):
            assert (true < epsilon) is witnessing.law("")[0].holds


def a_price_is_held_against_the_claim_by_its_upper_end():
    loss = SimpleNamespace(epsilon=lambda **_: Enclosure(Fraction(1), Fraction(2)))
    claims = {Fraction(2): True, 2 - TINY: False, Fraction(1): False}
    assert claims == {claimed: witnessing.priced(loss, "0", claimed, "").holds for claimed in claims}


def a_verdict_follows_its_rules():
    def witness(kind="computation", about="claim", *, holds=True, point=(), **given):
        return dossier.Witness(kind, about, holds, "", where="here", point=point, **({"expects": holds} | given))

    stated, inside = dossier.Kind.STATED, lambda at: at["x"] > 0
    refuting = [witness(holds=False, point=(("x", Fraction(sign)),)) for sign in (1, -1)]
    found = [
        dossier.standing_of(stated, [witness("lemma")]),
        dossier.standing_of(stated, [witness()]),
        dossier.standing_of(stated, [witness("lemma", expects=False)]),
        *(dossier.standing_of(stated, [one], inside) for one in refuting),
        dossier.standing_of(dossier.Kind.READING, refuting[:1], inside),
    ]
    names = ("HOLDS", "POINTS", "UNDECIDED", "FAILS", "UNDECIDED", "CONDITION")
    assert [dossier.Standing[name] for name in names] == found


CHECKS = (
    a_condition_is_handed_on_as_it_is,
    a_lemma_holds_where_its_checkers_say_so,
    numbers_of_a_solver_speak_against_what_does_not_follow,
    a_proof_stands_where_it_was_found_to,
    an_attack_says_what_its_verdict_says,
    declared_laws_are_held_against_the_claim,
    a_price_is_held_against_the_claim_by_its_upper_end,
    a_verdict_follows_its_rules,
)
