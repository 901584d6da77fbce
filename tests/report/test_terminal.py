"""The terminal text: all claims in a table, the refuted ones in full, in any width and alphabet."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from dpaudit.exact import Enclosure
from dpaudit.report import to_text, wording
from dpaudit.results import Pair, Price, Property, Report, Values, Verdict

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def words(report, **given):
    """The text without line breaks and repeated spaces."""
    return " ".join(to_text(report, **given).split())


def test_the_first_line_counts_the_verdicts_and_the_last_gives_exit_code_and_next_command(report):
    first, *_, last = to_text(report, width=130, path="out/report.json").splitlines()
    assert "1 of 10 claims refuted, 1 failed, 1 inconclusive, 7 consistent." == first
    assert "Exit code 1: at least one claim is refuted. Next: dpaudit report 'out/report.json#half_noise'" == last


def test_claims_stand_in_the_order_in_which_they_want_attention(report):
    text = to_text(report, width=130)
    verdicts = [line.split()[0] for line in text.splitlines() if line.startswith(("REFUTED", "FAILED", "INCONCL", "CONSISTENT"))]
    assert ["REFUTED", "FAILED", "INCONCLUSIVE", *["CONSISTENT"] * 7] == verdicts


def test_a_refuted_claim_is_told_by_what_was_found_seen_and_is_to_be_done(report):
    text = words(report, width=130)
    assert "The claim epsilon = 1 (one record added or removed) is false: epsilon is at least 1.71." in text
    frequent = "With one version of record 0 (numbered 0 to 1), the output is at most -146 in 49 % of ~75,000 runs;"
    assert f"{frequent} with the other, in 18 %." in text
    assert "Repair: Declare the sensitivity that was measured" in text


def test_a_consistent_claim_is_told_with_power_price_and_proof(report):
    text = words(replace(report, results=report.results[:1]), width=130)
    found = "No violation found; a true epsilon of 1.07 on this pair and event would be found with probability 0.9"
    assert f"{found}; one other pair had fewer runs, in which only larger violations show." in text
    assert "price epsilon = 1, proof in part" in text
    assert "proof in part, 1 proven, 1 enumerated, 1 axiom" in text


def test_one_claim_is_told_with_pair_event_counts_seed_and_command(report):
    text = words(replace(report, results=report.results[8:9]), width=130, path="out/report.json")
    for part in (
        "REFUTED half_noise",
        "datasets Record 0 replaced, 2 records (the most telling of 2 pairs).",
        "first ['first secret']",
        "counts value <= -146: in",
        "36,500 times on the first dataset, 13,700 times on the second",
        "epsilon >= 1.71, a lower bound on the true value",
        "The true epsilon is below the bound given with probability at most 5e-8.",
        "at run 231",
        "seed 1, stream 3/1",
        "repeat dpaudit replay 'out/report.json#half_noise'",
        "A check fails: declared sensitivity: moves by more than 1.",
        "release.py:12",
    ):
        assert part in text


@pytest.mark.parametrize("place", [0, 8])
def test_a_check_that_was_not_run_is_told_beside_any_verdict(report, place):
    checks = (
        Property("forms", "not run", 0, "too few runs"),
        Property("repeats", "note", 1, "own noise"),
        Property("s", "holds", 2),
    )
    text = words(replace(report, results=(replace(report.results[place], properties=checks),)), width=130)
    assert 1 == text.count("too few runs")
    assert 1 == text.count("own noise")


def test_a_proof_by_tests_is_never_called_proven(report):
    text = to_text(report, width=130)
    assert "price 1, proof in part, would find " in " ".join(text.split())
    assert "proof proven" not in text


def test_what_a_proof_found_and_what_is_in_its_way_are_told(report):
    stale = replace(report.results[8], proof=report.results[7].proof)
    text = words(replace(report, results=(report.results[8], stale)), width=130)
    assert "Proof refuted, proofs.chain#Count.claim: A certified counterexample: dataset 1: q = [1]." in text
    assert "Proof stale, proofs.chain#Count.claim: Count.source: stale: release.py:Count is not what was looked at" in text


def test_a_failed_target_is_told_with_its_reason_and_where_to_read_more(report):
    text = words(report, width=130)
    assert "FAILED crash" in text
    assert "Not audited: DPA405 every run raised ZeroDivisionError at release.py:7" in text
    assert "Next: dpaudit explain DPA405" in text


def test_claim_attack_price_and_proof_are_defined_with_what_they_said(report):
    text = words(report, width=130)
    assert "Claim: One record, changed as stated, alters the probability of any outcome by at most e^epsilon" in text
    assert "Attack: Runs on two datasets that differ in one record." in text
    assert "noise that a function reports. 8 of 10 have one, all within the claim." in text
    assert '"in part": some steps rest on tests. 9 of 10 have one: 1 refuted, 1 stale, 7 in part.' in text


def test_without_any_price_or_proof_the_definitions_say_so(report):
    bare = replace(report, results=(replace(report.results[0], price=None, proof=None),))
    assert "reports. None here." in words(bare, width=130)
    assert "source code to claim. None here." in words(bare, width=130)


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ([Verdict.REFUTED], "May I release it? Refuted: no, repair it and audit again. Several"),
        ([Verdict.CONSISTENT], "May I release it? Consistent: if your policy accepts its epsilon without full proof. Several"),
        (
            [Verdict.INCONCLUSIVE, Verdict.FAILED],
            "Failed: no, nothing is known of it. Inconclusive: not yet. Several",
        ),
    ],
)
def test_whether_it_may_be_released_is_answered_with_what_several_releases_cost(report, verdicts, said):
    chosen = tuple(next(one for one in report.results if one.verdict is verdict) for verdict in verdicts)
    text = words(replace(report, results=chosen), width=130)
    assert said in text
    assert "Several releases: Claims about one kind of change add up, 1 and 1 to 2; convert others" in text


def test_public_data_of_several_targets_are_told_once(report):
    public = tuple(replace(one, values=Values.PUBLIC) for one in report.results)
    text = words(replace(report, results=public), width=130)
    assert "In this report values of the data are shown: all 10 targets declare their data public." in text
    assert 1 == text.count("public")


def test_the_error_rates_are_stated(report):
    text = words(report, width=130)
    assert "The chance that the attack refutes any of these 10 claims wrongly is at most 1e-06 (Holm)." in text
    assert "No violation was found. That is no proof; the epsilon it would find is one that 9 of 10 such audits refute." in text
    assert "Not looked at: any dataset or output not tried" in text


def test_one_claim_is_spoken_of_in_the_singular(report):
    text = to_text(replace(report, results=report.results[:1]), width=130)
    assert "1 of 1 claim consistent." in text
    assert "The attack refutes a claim that holds with probability at most 1e-06." in " ".join(text.split())


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_line_is_wider_than_the_terminal(report, width):
    assert max(map(len, to_text(report, width=width).splitlines())) <= width


@pytest.mark.parametrize("width", [40, 80, 120])
def test_every_name_and_verdict_is_there_in_every_width(report, width):
    text = to_text(report, width=width).lower()
    for result in report.results:
        assert re.search(rf"{result.name}\b", text)
        assert result.verdict in text


def test_ascii_terminals_get_ascii(report):
    assert to_text(report, width=120, ascii_only=True).isascii()


@pytest.mark.parametrize("terminal", ["xterm-256color", "dumb", "unknown", ""])
def test_colours_come_only_when_asked_for_whatever_the_environment_says(report, terminal, monkeypatch):
    monkeypatch.setenv("TERM", terminal)
    monkeypatch.setenv("COLUMNS", "31")
    plain, coloured = to_text(report, width=120), to_text(report, width=120, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31m" in coloured
    assert "refuted" in plain
    assert [line.rstrip() for line in plain.splitlines()] == [line.rstrip() for line in ANSI.sub("", coloured).splitlines()]


def test_names_cannot_steer_the_terminal_or_the_markup(report):
    hostile = replace(report.results[8], name="[bold]x\x1b[2J\r\x07", failure="")
    text = to_text(replace(report, results=(hostile,)), width=120)
    assert "\x1b" not in text
    assert "\r" not in text
    assert "[bold]x\\x1b[2J\\r\\x07" in text


def test_private_records_are_not_shown_and_long_public_ones_are_cut(report):
    refuted = report.results[8]
    shown = replace(refuted, attack=replace(refuted.attack, pair=Pair(0, "record 0 removed", ("x" * 5000, "y"))))
    hidden = replace(refuted, attack=replace(refuted.attack, pair=Pair(0, "record 0 removed")))
    assert to_text(replace(report, results=(shown,)), width=120).count("x") < 500
    assert "\n  first " not in to_text(replace(report, results=(hidden,)), width=120)


def test_without_a_file_the_text_says_how_to_get_one(report):
    text = words(replace(report, results=report.results[8:9]), width=120)
    assert "repeat audit with --report DIR, then dpaudit replay 'DIR/report.json#half_noise'" in text
    assert "Exit code 1: at least one claim is refuted. Next: dpaudit audit release.py:half_noise" in words(report, width=120)


def test_an_interrupted_and_an_empty_report_say_so(report):
    assert "interrupted" in to_text(replace(report, complete=False))
    assert "No claim was audited." in to_text(Report(report.settings, ()))


def test_a_price_above_the_claim_is_told(report):
    price = Price("above", "epsilon", Enclosure(Fraction(3, 2), Fraction(2)), Fraction(1))
    result = replace(report.results[8], price=price, rejected_in_family=False)
    assert "is false: the noise that was logged costs epsilon = 1.5." in words(replace(report, results=(result,)), width=120)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Enclosure.point("1/3"), "epsilon = 1/3"),
        (Enclosure.point("1/2"), "epsilon = 0.5"),
        (Enclosure(Fraction("0.99999"), Fraction(1)), "epsilon <= 1"),
        (Enclosure(Fraction(0), Fraction(1)), "epsilon <= 1"),
        (Enclosure(Fraction(1, 3), Fraction(2, 3)), "epsilon in [0.3333, 0.6667]"),
        (Enclosure(Fraction(0), float("inf")), "epsilon in [0, inf]"),
    ],
)
def test_prices_are_rounded_outward(value, expected):
    assert expected == wording.priced(Price("within", "epsilon", value, Fraction(1)))


@pytest.mark.parametrize(
    ("value", "expected"), [(Fraction(1, 20), "0.05"), (Fraction(1, 3), "1/3"), (Fraction(1, 10**6), "1e-06"), (Fraction(7), "7")]
)
def test_exact_numbers_are_written_as_decimals_where_that_is_exact(value, expected):
    assert expected == wording.decimal(value)


def test_every_verdict_has_a_meaning_and_a_place_in_the_order():
    assert set(Verdict) == set(wording.MEANINGS) == set(wording.ORDER)


def test_a_lower_bound_is_rounded_down_and_an_upper_one_up():
    assert ("0.6666", "0.6667") == (wording.lower(Fraction(2, 3)), wording.upper(Fraction(2, 3)))
