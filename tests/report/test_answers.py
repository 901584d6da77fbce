"""The answers about one target: events as clauses, which dataset, what to do; every text is a sentence, whatever the result."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.report import answers
from dpaudit.results import (
    Attack,
    Bound,
    ClaimSummary,
    Counts,
    Pair,
    Power,
    Price,
    Property,
    Report,
    Samples,
    Sequential,
    Settings,
    TargetResult,
    Unread,
    Verdict,
)

CLAIM = ClaimSummary("pure_dp", (("epsilon", Fraction(1)),), "add_remove", "epsilon = 1 under add_remove", Fraction(1), Fraction(0))
REFUTING = Sequential(5.0, 5.0, 3.0, 1000, 700, 1e-5)


def bound(ones, zeros, epsilon, direction="reverse"):
    return Bound(epsilon, Fraction(0), Fraction(999, 1000), Counts(ones, zeros, 1000), direction, 1e-6)


def attack(event="value >= 1.5", counted=None, pair="record 3 removed, 9 -> 8 records", **given):
    parts = {"power": Power(None, None), "p_value": 1e-6, "alpha": Fraction(1, 1000), "runs": 2000, "seed_path": (0,)} | given
    return Attack(Pair(0, pair), 4, event, REFUTING, counted, **parts)


def result(verdict=Verdict.REFUTED, **given):
    parts = {"rejected_in_family": verdict is Verdict.REFUTED, "summary": "why"} | given
    return TargetResult("f", "", CLAIM, verdict, **parts)


@pytest.mark.parametrize(
    ("event", "clause"),
    [
        ("value >= 0.6454998474302576", "the output is at least 0.6455"),
        ("value <= -146", "the output is at most -146"),
        ("value < 3", "the output is below 3"),
        ("value = 6.981000000000001", "the output is about 6.981"),
        ("length <= 1", "the length of the output is at most 1"),
        ("item 2 >= 1e-07", "output[2] is at least 1e-07"),
        ("0.25 <= value < 0.5", "the output is at least 0.25 and below 0.5"),
        ("value among the smallest 4 % of the outputs", "the output is among the smallest 4 % of what either dataset gave"),
        (
            "'total' among the largest 1.2e+02 % of the outputs",
            "'total' of the output is among the largest 1.2e+02 % of what either dataset gave",
        ),
        ("value in {1, 2}", "the output is one of {1, 2}"),
        ("kind is a float", "the form of the output is a float"),
        ("value equal to one particular value, 3 % of the outputs", "the output equal to one particular value, 3 % of the outputs"),
        ("score of (item 0, sum) <= -3.25", "a weighted sum of output[0] and the sum of the output is low (at most -3.25)"),
        ("score of (value, parity) >= 2", "a weighted sum of the output and whether it is even or odd is high (at least 2)"),
        ("parity <= 0", "the output is an even whole number"),
        ("parity <= 0.5", "the output is an even whole number or no whole number"),
        ("parity in {0, 1}", "the output is a whole number"),
        (
            "kind = 1 (kinds: 0 float, 1 NoneType; others are codes of forms not seen at first)",
            "the output is of the form NoneType",
        ),
        (
            "kind <= 1 (kinds: 0 dict(10:float,15:float), 1 dict(10:float); others are codes of forms not seen at first)",
            "the output is a dict with the keys 10, 15 or a dict with the keys 10",
        ),
        ("kind >= 1 (kinds: 0 float, 1 None; others are codes of forms not seen at first)", "the output is not of the form float"),
        ("", "the output falls into the event []"),
    ],
)
def test_an_event_is_a_clause(event, clause):
    assert clause == answers.event_in_words(event)


def test_the_dataset_on_which_the_event_is_frequent_comes_first():
    forward = result(attack=attack(counted=bound(400, 20, Fraction(2), "forward")))
    reverse = result(attack=attack(counted=bound(400, 20, Fraction(2), "reverse")))
    assert "Without record 3 (numbered 0 to 8), the output is at least 1.5 in 80 % of ~500 runs; with it, in 4 %." == answers.seen(
        forward
    )
    assert "With record 3 (numbered 0 to 8), the output is at least 1.5 in 80 % of ~500 runs; without it, in 4 %." == answers.seen(
        reverse
    )
    never = result(attack=attack(counted=bound(500, 0, Fraction(5)), pair="records 1 to 2 differ, 9 records"))
    said = "On the first dataset, the output is at least 1.5 in 100 % of ~500 runs; on the second dataset, in none."
    assert said == answers.seen(never)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"attack": attack(counted=bound(400, 20, Fraction(2)))},
            "Cause not found: check sensitivity and shares of epsilon. Below 2.0 times the noise is refuted.",
        ),
        ({"attack": attack(counted=bound(500, 0, Fraction(5)))}, "One of the datasets gives outputs that the other never gave."),
        ({"attack": attack("length <= 1", bound(500, 0, Fraction(5)))}, "Fix keys, length and types of the output"),
        (
            {
                "attack": attack(counted=bound(500, 0, Fraction(5))),
                "properties": (Property("output is random", "note", 8, "same"),),
            },
            "Add noise on every dataset",
        ),
        ({"properties": (Property("declared sensitivity", "violated", 1, "2"),)}, "Declare the sensitivity that was measured"),
        ({"attack": attack()}, "Look at which step the two datasets part"),
    ],
)
def test_the_repair_fits_the_evidence(given, said):
    assert answers.repair(result(**given)).startswith(said.replace("2.0", "2"))


def test_a_refutation_without_a_bound_above_the_claim_gives_the_p_value():
    weak = result(attack=attack(counted=bound(400, 300, Fraction(1, 2))))
    assert "than epsilon = 1 allows (p-value 1e-06)." in answers.found(weak)
    assert "at least" not in answers.found(weak)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"attack": attack(power=Power(1.5, 1.5), runs=10_000)}, "About 40,000 runs would decide it: --runs 40000."),
        ({"attack": attack(power=Power(1.3, 1.3), runs=10_000)}, "About 20,000 runs would decide it: --runs 20000."),
        (
            {"attack": attack(power=Power(1.5, 1.5), runs=10_000), "most_runs": 10_000},
            "About 40,000 runs would decide it, but the target's own limit ended them at 10,000: most_runs=40000,",
        ),
        (
            {"attack": attack(power=Power(1.5, 1.5), runs=10_000), "samples": Samples(("a", "b"), (5000, 5000), (5000, 5000))},
            "Two samples of about 20,000 rows each would decide it.",
        ),
        ({"attack": attack(power=Power(None, None), runs=50_000)}, "More runs alone may not decide it"),
        ({"attack": attack(power=Power(None, None))}, "Only 2,000 runs were made: allow more of them"),
        ({"attack": attack(unread=Unread(3, 10, ("bytes",)))}, "Release numbers, texts or containers of them"),
        ({"properties": (Property("law", "violated", 1, "off"),)}, "Mend this first: law."),
    ],
)
def test_an_undecided_claim_is_told_what_would_decide_it(given, said):
    assert answers.repair(result(Verdict.INCONCLUSIVE, **given)).startswith(said)


def test_what_was_not_looked_at_is_listed():
    unseen = result(
        Verdict.INCONCLUSIVE,
        attack=attack(unread=Unread(3, 10, ("bytes", "a pickle"))),
        properties=(Property("forms", "not run", 0, "too few runs"),),
    )
    report = Report(Settings(Fraction(1, 1000), 1000, 0), (unseen,))
    told = ("Forms: too few runs.", "3 of 10 outputs hold what is not read: bytes, a pickle.")
    assert told == answers.answers(report, unseen).unseen


events = st.sampled_from(["value >= 1", "length <= 1", "kind is x", "", "score of (a, b) >= 2", "anything {at} all"])
counts = st.none() | st.builds(
    bound,
    st.integers(0, 500),
    st.integers(0, 500),
    st.none() | st.fractions(min_value=0, max_value=10**30),
    st.sampled_from(["forward", "reverse"]),
)
powers = st.builds(Power, st.none() | st.floats(0, 1e300), st.none() | st.floats(0, 1e300))
attacks = st.none() | st.builds(attack, events, counts, st.text(max_size=30), power=powers)
prices = st.none() | st.builds(Price, st.sampled_from(["within", "above", "undecided", "unpriced"]))
claims = st.builds(
    lambda epsilon: replace(CLAIM, parameters=(("epsilon", epsilon),), tested_epsilon=epsilon),
    st.fractions(min_value=Fraction(1, 10**400), max_value=10**400),
)


@given(st.builds(TargetResult, st.text(), st.text(), claims, st.sampled_from(Verdict), st.text(), attack=attacks, price=prices))
@settings(deadline=None)
def test_every_result_has_answers_that_are_sentences(found):
    report = Report(Settings(Fraction(1, 1000), 1000, 0), (found,))
    told = answers.answers(report, found, "report.json")
    assert told.found
    for text in (told.repair, told.seen, told.sure):
        assert not text or re.fullmatch(r"[A-Z0-9'\"].*\.( .*\.)?", text, re.DOTALL), text


@pytest.mark.parametrize(
    ("words", "event"),
    [
        ("number 2 of the text is at least 59.5", "the numbers 1 >= 59.5"),
        ("how number 1 of the text is written, as a code, is exactly 2", "the digits 0 = 2"),
        ("how often the words of class 6 occur in the text is at least 1", "the counts 5 >= 1"),
        ("the number of digits of the output (16: those of a single float, 17: all) is at least 17", "precision >= 17"),
    ],
)
def test_what_was_read_of_a_text_or_float_is_named_in_words(words, event):
    assert words == answers.event_in_words(event)


def test_an_undecided_claim_says_each_check_that_was_not_run_once():
    unrun = Property("a check", "not run", 0, "the time does not suffice")
    one = result(
        verdict=Verdict.INCONCLUSIVE,
        attack=attack(power=Power(None, None), runs=1500),
        properties=(unrun,),
        summary="Not refuted in 1500 runs. Not run: a check (the time does not suffice).",
    )

    answer = answers.answers(Report(Settings(alpha=Fraction(1, 1000), runs=1500, seed=0), (one,)), one)
    assert "Undecided. Not refuted in 1500 runs." == answer.found
    assert ("A check: the time does not suffice.",) == answer.unseen
    assert "Only 1,500 runs were made: allow more of them, such as --runs 200000, or more time." == answer.repair
