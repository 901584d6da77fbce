"""The verdict on ledger files that somebody changed: never an error, never intact, and nothing that a terminal obeys."""

import json
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner

from dpaudit import PureDP
from dpaudit.cli import main
from dpaudit.errors import DpauditError
from dpaudit.ledger import Ledger, verify_file
from dpaudit.ledger import store as the_store
from mechanisms import LaplaceMechanism
from tests.ledger.crafted import EXPORTS, FILES, SERVERS, sql

WHERE = "survey/person/report"


def made(path):
    ledger = Ledger.create(path)
    ledger.open_budget("survey/person", PureDP(1))
    ledger.spend(PureDP("1/4"), scope=WHERE, note="weekly")
    noise = LaplaceMechanism(scale=4, sensitivity=1)
    with ledger.charge(noise, scope=WHERE):
        noise.release(3)
    return ledger


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(the_store, "_PATIENCE", 0.2)
    made(tmp_path / "budget.ledger")
    return tmp_path / "budget.ledger"


def shown(text):
    return all(letter.isprintable() or letter == "\n" for letter in text)


def refused_by_the_command(path):
    """Text and JSON of `dpaudit ledger verify` for something that is not intact."""
    for words in ((), ("--json",)):
        result = CliRunner().invoke(main, ["ledger", "verify", str(path), *words])
        assert 5 == result.exit_code, (result.output, result.exception)
        assert shown(result.stdout + result.stderr)
        assert "Traceback" not in result.output
        assert "NOT INTACT" in result.output or "cannot be read" in result.output or json.loads(result.stdout)["problems"]
    return True


def test_the_file_that_is_changed_here_is_intact_before(path):
    found = verify_file(path)
    assert ((), 5, (3,)) == (found.problems, found.entries, found.elsewhere)


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_gets_a_verdict_and_is_never_intact(path, name):
    FILES[name](path)
    found = verify_file(path)
    assert found.problems
    assert all(shown(problem) and "\n" not in problem for problem in found.problems)
    assert refused_by_the_command(path)


def test_the_server_that_is_changed_here_is_intact_before(server):
    found = made(server.database()).verify()
    assert ((), 5, (3,)) == (found.problems, found.entries, found.elsewhere)


@pytest.mark.parametrize("name", SERVERS)
def test_a_changed_ledger_on_a_server_gets_a_verdict_and_is_never_intact(server, name):
    url = server.database()
    made(url)
    FILES[name](url)
    problems = verify_file(url).problems
    assert problems
    assert all(shown(problem) and "\n" not in problem for problem in problems)
    assert refused_by_the_command(url)
    result = CliRunner().invoke(main, ["ledger", "page", url, "--json"])
    assert result.exit_code in {2, 5}, (result.output, result.exception)


@pytest.mark.parametrize("name", FILES)
def test_no_other_verb_fails_with_anything_but_an_error_of_its_own(path, name):
    FILES[name](path)
    for words in (
        ["show", str(path)],
        ["show", str(path), "--plot", str(path.with_name("budgets.svg"))],
        ["page", str(path), "--output", str(path.with_name("page.html"))],
        ["watch", str(path), "--looks", "1"],
        ["export", str(path)],
        ["spend", str(path), WHERE, "pure_dp(1/8)"],
    ):
        result = CliRunner().invoke(main, ["ledger", *words])
        assert result.exit_code in {0, 2, 5}, (words, result.output, result.exception)
        assert shown(result.stdout + result.stderr)


@pytest.mark.parametrize("name", EXPORTS)
def test_a_changed_export_gets_a_verdict_and_is_never_intact(path, tmp_path, name):
    lines = CliRunner().invoke(main, ["ledger", "export", str(path)]).stdout.splitlines()
    (tmp_path / "out.jsonl").write_text(EXPORTS[name](lines))
    assert verify_file(tmp_path / "out.jsonl").problems
    assert refused_by_the_command(tmp_path / "out.jsonl")


def test_a_locked_file_gets_a_verdict(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        assert "other programs kept it" in verify_file(path).problems[0]
        assert refused_by_the_command(path)
    assert () == verify_file(path).problems


def test_an_amount_is_computed_again_from_the_loss_that_an_entry_keeps(path):
    FILES["epsilon 100 for nothing"](path)
    assert "entry 3 pays less than its loss costs" in verify_file(path).problems


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entry SET body = replace(body, '\"1\"', '\"9\"') WHERE number = 2",
        "UPDATE entry SET time = '2020-01-01T00:00:00Z' WHERE number = 2",
        "UPDATE entry SET body = '{}' WHERE number = 2",
        "UPDATE budget SET purpose = 'other'",
        "UPDATE budget SET number = 3",
    ],
)
def test_a_charge_is_refused_where_the_entry_of_its_budget_was_changed(path, statement):
    sql(path, statement)
    for scope in (WHERE, "survey/person/other"):
        with pytest.raises(DpauditError, match=r"DPA805|DPA811"):
            Ledger(path).spend(PureDP("1/8"), scope=scope)


@pytest.mark.parametrize("name", ["a trigger dropped", "a trigger that refunds", "a view beside"])
def test_a_charge_is_refused_where_the_tables_are_not_those_of_a_ledger(path, name):
    open_before = Ledger(path)
    open_before.check(PureDP("1/8"), scope=WHERE)
    FILES[name](path)
    for ledger in (open_before, Ledger(path)):
        with pytest.raises(DpauditError, match="DPA805"):
            ledger.spend(PureDP("1/8"), scope=WHERE)
