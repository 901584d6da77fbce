"""What speaks against a claim is named beside every verdict, and no form then says that nothing does."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.pytest_plugin.check import _passes, describe
from dpaudit.report import difference, to_annotations, to_html, to_junit, to_sarif, to_summary, to_text, wording
from dpaudit.report.answers import found
from dpaudit.results import (
    PROPERTY_STATUSES,
    ClaimSummary,
    Price,
    Proof,
    Property,
    Report,
    Settings,
    TargetResult,
    Verdict,
)

FINE = re.compile(
    r"nothing speaks against|follows from the source code|no violation found|proven from|where all is well|all claims survive",
    re.IGNORECASE,
)
CLAIM = ClaimSummary("pure_dp", (("epsilon", Fraction(1)),), "add_remove", "epsilon = 1 under add_remove")
SURVIVED = (Verdict.INCONCLUSIVE, Verdict.CONSISTENT, Verdict.PROVEN)

checks = st.lists(
    st.builds(Property, st.just("planted check"), st.sampled_from(PROPERTY_STATUSES), st.just(2), st.just("why")), max_size=3
)
prices = st.none() | st.builds(Price, st.sampled_from(["within", "above", "undecided", "unpriced"]))
proofs = st.none() | st.builds(Proof, st.sampled_from(["proven", "in part", "refuted", "stale", "unknown"]), st.just("chain"))
results = st.builds(
    TargetResult,
    name=st.just("count"),
    description=st.just(""),
    claim=st.just(CLAIM),
    verdict=st.sampled_from(Verdict),
    summary=st.just("the summary of it"),
    price=prices,
    properties=checks.map(tuple),
    failure=st.sampled_from(["", "DPA405 it fell"]),
    proof=proofs,
)


def report_of(*found):
    return Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), found)


def forms(report):
    """Every form as text without line breaks; the first ones are about one claim and name what is violated."""
    empty = replace(report, results=())
    made = {
        "wide": to_text(report, width=220),
        "narrow": to_text(report, width=60),
        "html": to_html(report),
        "summary": to_summary(report),
        "junit": to_junit(report),
        "sarif": to_sarif(report),
        "annotations": to_annotations(report),
        "pytest": "\n".join(map(describe, report.results)),
        "diff": difference.to_html(empty, report),
        "diff summary": difference.to_summary(empty, report),
    }
    return {name: " ".join(text.split()) for name, text in made.items()}


@given(st.lists(results, min_size=1, max_size=3))
@settings(deadline=None, max_examples=40)
def test_no_form_says_that_nothing_speaks_against_a_claim_beside_a_check_that_does_or_was_not_run(several):
    opposed = [one for one in several if any(check.status in ("violated", "not run") for check in one.properties)]
    for name, text in forms(report_of(*several)).items():
        assert not (opposed and FINE.search(text)), name


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("status", ["violated", "not run"])
def test_every_form_names_what_is_violated_or_was_not_run_beside_any_verdict(verdict, status):
    result = TargetResult(
        "count", "", CLAIM, verdict, "the summary of it", properties=(Property("planted check", status, 2, "why"),)
    )
    for name, text in forms(report_of(result)).items():
        # A terminal says of a failed target that it was not audited, which covers every check of it.
        covered = verdict is Verdict.FAILED and status == "not run" and name in ("wide", "narrow")
        if not name.startswith("diff") and not covered:
            said = "planted check <small>why</small>" if name == "html" else "planted check: why"
            assert said in text.lower(), name
    assert not wording.is_unopposed(result)
    assert not (status == "violated" and _passes(result, allow_inconclusive=True))


@pytest.mark.parametrize("verdict", Verdict)
def test_every_form_that_is_about_each_claim_says_what_was_found(verdict):
    result = TargetResult("count", "", CLAIM, verdict, "the summary of it")
    said, silent = found(result).lower(), {"annotations", "diff summary", "sarif", "diff"}
    made = forms(report_of(result))
    assert [] == [name for name, text in made.items() if name not in silent and said not in text.lower()]
    assert [] == [name for name in ("sarif", "diff") if "the summary of it" not in made[name].lower()]


@pytest.mark.parametrize("verdict", SURVIVED)
def test_of_a_claim_that_nothing_speaks_against_the_forms_say_so(verdict):
    text = forms(report_of(TargetResult("count", "", CLAIM, verdict, "why")))
    said = ("html", "junit", "diff") if verdict is Verdict.INCONCLUSIVE else ("wide", "html", "summary", "junit", "diff")
    assert [] == [name for name in said if not FINE.search(text[name])]


@pytest.mark.parametrize("part", [{"price": Price("above")}, {"proof": Proof("refuted", "chain")}, {"failure": "it fell"}])
def test_a_price_above_the_claim_and_a_refuted_proof_speak_against_it_too(part):
    result = replace(TargetResult("count", "", CLAIM, Verdict.CONSISTENT, "why"), **part)
    assert not any(FINE.search(text) for text in forms(report_of(result)).values())


def test_a_headline_counts_claims_that_survived_although_a_check_is_violated():
    opposed = TargetResult("count", "", CLAIM, Verdict.CONSISTENT, "why", properties=(Property("c", "violated", 1),))
    assert "1 of 1 claim consistent; a check is violated of 1 not refuted" == wording.headline(report_of(opposed))


def test_sarif_has_the_summary_of_every_claim():
    (run,) = json.loads(to_sarif(report_of(TargetResult("count", "", CLAIM, Verdict.CONSISTENT, "why"))))["runs"]
    assert [{"target": "count", "verdict": "consistent", "summary": "why"}] == run["properties"]["verdicts"]
