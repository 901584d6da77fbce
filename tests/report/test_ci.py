"""Reports for CI systems: JUnit, SARIF and workflow commands say the same as the report, and keep their fingerprints."""

import json
from dataclasses import replace
from fractions import Fraction
from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from dpaudit.report import to_annotations, to_junit, to_sarif, to_summary
from dpaudit.report.changes import changes
from dpaudit.report.findings import RULES, findings
from dpaudit.results import ClaimSummary, Price, Proof, Property, Report, Settings, TargetResult, Verdict

CLAIM = ClaimSummary("pure_dp", (("epsilon", Fraction(1)),), "add_remove", "epsilon = 1 under add_remove")
SETTINGS = Settings(alpha=Fraction(1, 20), runs=1000, seed=0)


def result(verdict, name="count", **parts):
    given = {"reference": "pkg/release.py:count", "source": ("pkg/release.py", 7), "summary": "why."} | parts
    return TargetResult(name=name, description="", claim=CLAIM, verdict=verdict, **given)


def made(*results, **parts):
    return Report(SETTINGS, tuple(results), **parts)


EVERY_KIND = made(
    result(Verdict.REFUTED, "attacked", rejected_in_family=True),
    result(
        Verdict.REFUTED,
        "leaky",
        properties=(Property("sensitivity", "violated", 3, "2 instead of 1"), Property("shape", "holds", 2)),
    ),
    result(Verdict.REFUTED, "proof", proof=Proof("refuted", "proofs.x#y", reason="a counterexample")),
    result(Verdict.REFUTED, "otherwise"),
    result(Verdict.FAILED, "crash", failure="ZeroDivisionError in line 3"),
    result(Verdict.INCONCLUSIVE, "small"),
    result(Verdict.CONSISTENT, "sound", price=Price("within")),
    result(Verdict.CONSISTENT, "stale", proof=Proof("stale", "proofs.x#z")),
    result(Verdict.PROVEN, "proven", proof=Proof("proven", "proofs.x#w")),
)
TOLD = {
    "attacked": ("DPA-E01", "error"),
    "leaky": ("DPA-S01", "error"),
    "proof": ("DPA-P01", "error"),
    "otherwise": ("DPA-E01", "error"),
    "crash": ("DPA-T01", "error"),
    "small": ("DPA-I01", "warning"),
    "stale": ("DPA-P01", "warning"),
}


def test_each_witness_against_a_claim_is_a_finding_and_nothing_else_is():
    assert TOLD == {found.target: (found.rule, found.level) for found in findings(EVERY_KIND)}
    assert len(TOLD) == len(list(findings(EVERY_KIND)))


def test_a_finding_says_what_the_attack_or_a_check_found(report):
    (attacked, checked, _) = findings(replace(report, results=report.results[8:9]))
    said = "half_noise claims epsilon = 1 under add_remove. The claim epsilon = 1 (one record added or removed) is false: "
    assert attacked.text.startswith(said)
    assert " Repair: Declare the sensitivity that was measured" in attacked.text
    assert checked.text.endswith(" Violated is declared sensitivity: moves by more than 1.")
    (bare, *_) = findings(made(result(Verdict.REFUTED, rejected_in_family=True)))
    assert bare.text.startswith(
        "count claims epsilon = 1 under add_remove. The claim epsilon = 1 (one record added or removed) is false"
    )


_ADVICE = "Look at which step the two datasets part, and at the sensitivity that the noise is scaled to."
_REFUTED = f"DPA-E01 The claim epsilon = 1 (one record added or removed) is false. Why. Repair: {_ADVICE}"
_UNDECIDED = (
    "DPA-I01 Undecided. Why. Repair: More runs alone may not decide it: give neighbours= on which the outputs differ as much as "
    "they can."
)
UNSEEN = (Property("forms", "not run", 0, "too few runs"), Property("repeats", "note", 1, "randomness of its own"))


def test_checks_that_were_not_run_and_notes_are_findings_and_no_errors():
    for verdict in Verdict:
        found = {one.rule: (one.level, one.text) for one in findings(made(result(verdict, properties=UNSEEN)))}
        assert ("warning", "count: a check was not run. Forms: too few runs.") == found["DPA-N01"]
        assert ("note", "count: Repeats: randomness of its own.") == found["DPA-N02"]
    survived = made(result(Verdict.CONSISTENT, properties=UNSEEN))
    assert ["::warning", "::notice"] == [line.split()[0] for line in to_annotations(survived).splitlines()]
    assert "* **count** Not run: forms: too few runs." in to_summary(survived).splitlines()
    assert ["warning", "note"] == [one["level"] for one in json.loads(to_sarif(survived))["runs"][0]["results"]]
    case = ET.fromstring(to_junit(survived))[0]  # noqa: S314 - made here
    assert ["system-out"] == [child.tag for child in case]
    assert ["not run: forms: too few runs", "note: repeats: randomness of its own"] == case[0].text.splitlines()[-3:-1]


def test_targets_of_one_name_keep_their_findings_apart():
    suite = ET.fromstring(to_junit(made(result(Verdict.INCONCLUSIVE), result(Verdict.FAILED, failure="it fell"))))  # noqa: S314
    assert ["DPA-T01 It fell.", "DPA-I01 Undecided. Why."] == sorted(
        (case[0].text.partition(" Repair")[0] for case in suite), reverse=True
    )


def test_every_refuted_or_failed_target_has_an_error():
    errors = {found.target for found in findings(EVERY_KIND) if found.level == "error"}
    assert {one.name for one in EVERY_KIND.results if one.verdict in {Verdict.REFUTED, Verdict.FAILED}} == errors


def test_junit_counts_what_is_no_pass():
    suite = ET.fromstring(to_junit(replace(EVERY_KIND, seconds=(("attacked", 1.25), ("total", 2.0)))))  # noqa: S314 - made here
    assert ("9", "4", "2", "1.250") == tuple(suite.get(name) for name in ("tests", "failures", "errors", "time"))
    kinds = {case.get("name").split(":")[0]: [child.tag for child in case] for case in suite}
    assert (["failure", "system-out"], ["error", "system-out"], ["system-out"]) == (kinds["leaky"], kinds["small"], kinds["proven"])
    assert ("pkg/release.py", "7") == (suite[0].get("file"), suite[0].get("line"))
    assert "DPA-S01" in suite[1][0].text


def test_sarif_names_rules_places_and_levels():
    log = json.loads(to_sarif(EVERY_KIND))
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert (list(RULES), "2.1.0", [{"executionSuccessful": True, "exitCode": 1}]) == (rules, log["version"], run["invocations"])
    for found in run["results"]:
        assert found["ruleId"] == rules[found["ruleIndex"]]
        place_of = found["locations"][0]["physicalLocation"]
        assert ("pkg/release.py", 7) == (place_of["artifactLocation"]["uri"], place_of["region"]["startLine"])
    assert list(TOLD.values()) == [(found["ruleId"], found["level"]) for found in run["results"]]


def test_a_fingerprint_stays_when_lines_and_numbers_move_and_differs_between_findings():
    def prints(found):
        return [entry["partialFingerprints"]["dpaudit/v1"] for entry in json.loads(to_sarif(found))["runs"][0]["results"]]

    many = (Property("sensitivity", "violated", 3), Property("law", "violated", 1))
    assert 2 == len(set(prints(made(result(Verdict.REFUTED, "leaky", properties=many)))))
    moved = made(*(replace(one, source=("pkg/release.py", 99), summary="other numbers.") for one in EVERY_KIND.results))
    assert prints(EVERY_KIND) == prints(moved)
    assert len(TOLD) == len(set(prints(EVERY_KIND)))


def test_workflow_commands_name_file_line_and_title():
    line = to_annotations(made(result(Verdict.INCONCLUSIVE, "100%, a:b", summary="first\nsecond"))).rstrip("\n")
    assert (
        "::warning file=pkg/release.py,line=7,title=DPA-I01 100%25%2C a%3Ab::Undecided. First\\nsecond."
        == line.partition(" Repair:")[0]
    )


def test_a_summary_has_a_row_for_each_claim_and_says_what_is_missing():
    text = to_summary(replace(EVERY_KIND, complete=False))
    assert len(EVERY_KIND.results) == text.count("\n| ") - 1
    assert "interrupted" in text
    assert "a \\| b" in to_summary(made(result(Verdict.CONSISTENT, "a | b")))


@given(name=st.text(min_size=1), summary=st.text(), path=st.text(alphabet="ab c/%é", min_size=1))
def test_any_text_gives_well_formed_forms(name, summary, path):
    found = made(result(Verdict.REFUTED, name, summary=summary, source=(f"{path}.py", 1)))
    assert ET.fromstring(to_junit(found)).get("failures") == "1"  # noqa: S314 - made here
    assert json.loads(to_sarif(found))["runs"][0]["results"][0]["properties"]["target"] == name
    assert 1 == to_annotations(found).count("\n")


def test_nothing_differs_from_itself_or_from_other_times():
    assert [] == changes(EVERY_KIND, replace(EVERY_KIND, seconds=(("attacked", 9.0),)))


def test_a_worse_verdict_and_a_target_that_is_gone_are_marked():
    before = made(result(Verdict.CONSISTENT, "a"), result(Verdict.REFUTED, "b"), result(Verdict.PROVEN, "c"))
    after = made(result(Verdict.INCONCLUSIVE, "a"), result(Verdict.CONSISTENT, "b"), result(Verdict.FAILED, "d"))
    told = {(one.target, one.what): (one.before, one.after, one.worse) for one in changes(before, after)}
    assert {
        ("a", "verdict"): ("consistent", "inconclusive", True),
        ("a", "finding"): ("", _UNDECIDED, False),
        ("b", "verdict"): ("refuted", "consistent", False),
        ("b", "finding"): (_REFUTED, "", False),
        ("c", "target"): ("proven", "", True),
        ("d", "target"): ("", "new, failed", False),
    } == told


def test_settings_versions_and_interruptions_are_told():
    other = replace(EVERY_KIND, settings=replace(SETTINGS, runs=7), env=(("numpy", "2"),), complete=False)
    told = [(one.what, one.before, one.after, one.worse) for one in changes(EVERY_KIND, other)]
    assert [("runs", "1000", "7", False), ("numpy", "", "2", False), ("complete", "true", "false", True)] == told


def test_targets_of_one_name_are_matched_in_their_order():
    twice = made(result(Verdict.CONSISTENT, "a"), result(Verdict.REFUTED, "a"))
    assert [] == changes(twice, twice)
