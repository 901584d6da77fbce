"""`dpaudit ledger`: what each verb prints, its exit codes, and JSON on stdout."""

import json
from pathlib import Path

import pytest

from dpaudit.accounting import gaussian
from dpaudit.ledger import Ledger
from dpaudit.ledger.accounts import shares_over_time

FILE = "budget.ledger"
WHERE = "survey/person/report"


@pytest.fixture
def opened(dpaudit):
    assert 0 == dpaudit("ledger", "init", FILE, "survey/person", "--epsilon", "1").exit_code
    return dpaudit


def answer(result):
    assert 0 == result.exit_code, result.stderr
    return json.loads(result.stdout)


def test_a_ledger_is_made_with_budgets_of_every_kind(dpaudit):
    dpaudit("ledger", "init", FILE)
    for scope, options in [("a/b", ("--epsilon", "1")), ("a/c", ("--epsilon", "1", "--delta", "1e-6")), ("a/d", ("--rho", "1/2"))]:
        assert 0 == dpaudit("ledger", "init", FILE, scope, *options).exit_code
    shown = answer(dpaudit("ledger", "init", FILE, "a/e", "--mu", "1/3", "--adjacency", "replace_one", "--json"))
    assert [["epsilon"], ["delta", "rho"], ["rho"], ["mu squared"]] == [sorted(budget["limits"]) for budget in shown["budgets"]]
    assert "replace_one" == shown["budgets"][-1]["adjacency"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("survey/person",),
        ("--epsilon", "1"),
        ("survey/person", "--epsilon", "1", "--rho", "1"),
        ("survey/person", "--delta", "1e-6"),
        ("survey", "--epsilon", "1"),
        ("survey/person", "--epsilon", "-1"),
        ("survey/person", "--epsilon", "1", "--adjacency", "friends"),
    ],
)
def test_a_budget_that_is_none_is_wrong_usage(dpaudit, arguments):
    assert 2 == dpaudit("ledger", "init", FILE, *arguments).exit_code


def test_a_charge_prints_its_receipt(opened):
    receipt = answer(opened("ledger", "spend", FILE, WHERE, "laplace(scale=4)", "--times", "2", "--note", "weekly", "--json"))[
        "receipt"
    ]
    assert ({"survey/person": {"epsilon": "1/2"}}, WHERE, 3) == (receipt["remaining"], receipt["scope"], receipt["entry"])
    assert (
        "2 * laplace(scale=4, sensitivity=1) charged to survey/person/report"
        in opened("ledger", "spend", FILE, WHERE, "2 * laplace(scale=4)").stdout
    )
    assert "(weekly)" in opened("ledger", "show", FILE).stdout


@pytest.mark.parametrize("verb", ["spend", "check"])
def test_what_no_budget_covers_ends_with_exit_code_5(opened, verb):
    for scope, code in ((WHERE, "DPA810"), ("survey/household", "DPA811")):
        refused = opened("ledger", verb, FILE, scope, "laplace(scale=1/2)", "--json")
        assert (5, code) == (refused.exit_code, json.loads(refused.stdout)["error"]["code"])
    assert 2 == answer(opened("ledger", "show", FILE, "--json"))["entries"][-1]["number"]


def test_a_check_spends_nothing(opened):
    for _ in range(2):
        left = answer(opened("ledger", "check", FILE, WHERE, "laplace(scale=4)", "--json"))
        assert {"survey/person": {"epsilon": "3/4"}} == left["remaining"]
    assert "survey/person: epsilon 0.75 left" in opened("ledger", "check", FILE, WHERE, "laplace(scale=4)").stdout


def test_a_ledger_and_its_export_are_verified_against_a_head(opened, tmp_path):
    head = answer(opened("ledger", "spend", FILE, WHERE, "laplace(scale=4)", "--json"))["receipt"]["head"]
    assert 0 == opened("ledger", "export", FILE, "--output", "out.jsonl", "--backup", "copy.ledger").exit_code
    for name in (FILE, "out.jsonl", "copy.ledger"):
        assert [] == answer(opened("ledger", "verify", name, "--head", head, "--json"))["problems"]
    assert 2 == opened("ledger", "export", FILE, "--output", "out.jsonl").exit_code
    lines = (tmp_path / "out.jsonl").read_text().splitlines()
    (tmp_path / "cut.jsonl").write_text("\n".join(lines[:-1]))
    cut = opened("ledger", "verify", "cut.jsonl", "--head", head)
    assert (5, True) == (cut.exit_code, "NOT INTACT" in cut.stdout)
    (tmp_path / "bad.jsonl").write_text("{}\n")
    assert 5 == opened("ledger", "verify", "bad.jsonl").exit_code
    assert opened("ledger", "export", FILE).stdout.splitlines() == lines


def test_without_a_ledger_there_is_nothing_to_show(dpaudit):
    for verb in (("show",), ("verify",), ("export",), ("spend", WHERE, "laplace(scale=1)")):
        assert 2 == dpaudit("ledger", verb[0], FILE, *verb[1:]).exit_code


def test_the_budgets_over_time_are_drawn_with_what_was_given_back(dpaudit, tmp_path):
    dpaudit("ledger", "init", FILE, "survey/person", "--epsilon", "4", "--delta", "1e-6")
    dpaudit("ledger", "init", FILE, "survey/person/report", "--rho", "1/8")
    dpaudit("ledger", "spend", FILE, WHERE, "gaussian(sigma=4)")
    with Ledger(FILE).charge(gaussian(sigma=4), scope=WHERE) as charge:
        charge.cancel()
    dpaudit("ledger", "spend", FILE, "survey/person/other", "gaussian(sigma=40)")
    opened = Ledger(FILE)
    whole, part = opened.accounts()
    assert [(3, 0.0), (4, 0.25), (5, 0.5), (6, 0.25)] == shares_over_time(part, opened.entries())
    number, share = shares_over_time(whole, opened.entries())[-1]
    assert (7, float(whole.spent[0] / whole.cap.limits[0])) == (number, share)
    assert 0 == dpaudit("ledger", "show", FILE, WHERE, "--plot", "budget.svg").exit_code
    drawn = Path("budget.svg").read_text(encoding="utf-8")
    assert "survey/person/report: 0.25 of it spent" in drawn


@pytest.mark.parametrize(("budgets", "name"), [(1, "budget.png"), (0, "budget.svg"), (4, "budget.svg")])
def test_a_drawing_of_no_or_too_many_budgets_is_refused(dpaudit, budgets, name):
    dpaudit("ledger", "init", FILE)
    for number in range(budgets):
        dpaudit("ledger", "init", FILE, f"survey/{number}", "--epsilon", "1")
    result = dpaudit("ledger", "show", FILE, "--plot", name)
    assert 2 == result.exit_code
    assert "DPA503" in result.stderr
