"""`dpaudit audit papers`: one name that stands for claims of texts, with a page, a document and exit codes of its own."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from types import ModuleType

import pytest

from dpaudit import dossier
from dpaudit.cli.dossiers import RUNS
from dpaudit.dossier import Found, Item, Kind, Standing, Witness
from dpaudit.report.dossier import from_json


def item(key, *, holds):
    def decide(runs):
        sys.stdout.write("an item may print what it likes\n")
        at = (("x", Fraction(1)),)
        found = Witness("lemma", "claim", holds=holds, says="so it is", expects=holds, where="everywhere", point=at)
        return Found(f"{runs} runs say so", "1", (found,))

    expects = Standing.HOLDS if holds else Standing.FAILS
    words = ("text", "page 1", f"{key} in words", Kind.STATED, f"{key} is promised", "")
    return Item(key, *words, ("dpaudit/dossier.py:Item",), expects, "1", decide, admits=lambda at: at["x"] > 0)


@pytest.fixture
def bundled(monkeypatch):
    def bundle(*items):
        module = ModuleType("bundled_items")
        module.ITEMS = items
        monkeypatch.setitem(sys.modules, "bundled_items", module)
        monkeypatch.setattr(dossier, "DOSSIERS", {"papers": "bundled_items:ITEMS"})

    return bundle


def test_a_claim_that_fails_gives_exit_code_1(dpaudit, bundled):
    bundled(item("A1", holds=True), item("A2", holds=False))
    result = dpaudit("audit", "papers")
    assert 1 == result.exit_code
    assert "Of 2 stated claims 1 holds, 1 fails as written." in result.stdout
    assert f"{RUNS} runs say so" in result.stdout
    assert "an item may print" not in result.stdout
    assert "2/2 A2: fails as written" in result.stderr


def test_claims_that_hold_give_exit_code_0_and_files(dpaudit, bundled, folder):
    bundled(item("A1", holds=True))
    result = dpaudit("audit", "papers", "--report", "out", "--json", "--runs", "600")
    assert 0 == result.exit_code
    written = (folder / "out/papers.json").read_text()
    assert written == result.stdout
    assert 600 == from_json(written).runs
    assert (folder / "out/index.html").read_text().startswith("<!DOCTYPE html>")
    assert "| A1 | page 1: \u201cA1 in words\u201d |" in (folder / "out/papers.md").read_text(encoding="utf-8")


def test_an_item_is_decided_alone_and_shown_in_full(dpaudit, bundled):
    bundled(item("A1", holds=True), item("A2", holds=False))
    result = dpaudit("audit", "papers", "A1")
    assert 0 == result.exit_code
    assert "1/1 A1: holds" in result.stderr
    assert "runs say so" in result.stdout
    assert "A2" not in result.stdout


def test_a_profile_gives_the_number_of_runs(dpaudit, bundled):
    bundled(item("A1", holds=True))
    document = json.loads(dpaudit("audit", "papers", "--profile", "quick", "--json").stdout)
    assert 200_000 == document["evidence"]["runs"]


def test_workers_decide_the_same(dpaudit, bundled):
    bundled(item("A1", holds=True), item("A2", holds=False))
    alone = dpaudit("audit", "papers")
    threads = dpaudit("audit", "papers", "--executor", "concurrent.futures:ThreadPoolExecutor")
    assert (alone.exit_code, alone.stdout) == (threads.exit_code, threads.stdout)


@pytest.mark.parametrize(
    "arguments", [("zoo",), ("--alpha", "0.01"), ("--seed", "3"), ("--junit", "x.xml"), ("--time-budget", "5"), ("--data", "p.csv")]
)
def test_what_a_dossier_does_not_take_is_refused(dpaudit, bundled, arguments):
    bundled(item("A1", holds=True))
    result = dpaudit("audit", "papers", *arguments)
    assert 2 == result.exit_code
    assert "papers" in result.stderr


def test_a_folder_that_cannot_be_made_is_refused_before_the_work(dpaudit, bundled, folder):
    bundled(item("A1", holds=True))
    (folder / "file").write_text("")
    result = dpaudit("audit", "papers", "--report", "file/inside", "--json")
    assert (2, "DPA503") == (result.exit_code, json.loads(result.stdout)["error"]["code"])
    assert "A1" not in result.stderr
