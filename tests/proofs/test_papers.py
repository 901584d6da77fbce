"""The papers, audited: every item is whole, quick ones are decided anew, and the report says what the committed run found."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import pytest

from devtools.papers import PLOTS, RESULTS, TITLES, report, write
from devtools.survey import ROOT
from dpaudit.dossier import ABOUT, KINDS, Standing, decided
from dpaudit.report.dossier import from_json, to_json
from proofs.papers import ITEMS

COMMITTED = from_json((ROOT / "benchmarks/results/papers.json").read_bytes())
BY_KEY = {item.key: item for item in COMMITTED.items}
QUICK = ("A2", "A3", "A4", "A5", "A7", "A9", "A10", "A16", "A23", "A26", "N6", "P2", "P3", "K4")
"""Items that take less than a second of processor time each and rest on no proof, which is stale while somebody works on what it is
about; `dpaudit audit papers` decides all of them."""


def test_there_are_49_items_in_order():
    keys = [f"{letter}{place}" for letter, last in (("A", 29), ("N", 6), ("P", 5), ("K", 9)) for place in range(1, last + 1)]
    assert keys == [item.key for item in ITEMS]
    assert set(TITLES) == {item.paper for item in ITEMS}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.key)
def test_an_item_says_in_a_sentence_each_what_was_promised_and_what_is_true(item):
    sentences = (item.promised, item.correction) if item.correction else (item.promised,)
    for sentence in sentences:
        assert re.fullmatch(r"[A-Za-z(].*[.]", sentence), sentence
        assert len(sentence) <= 200
    if item.expects in (Standing.FAILS, Standing.PART, Standing.UNSHOWN, Standing.OTHERWISE):
        assert item.correction


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.key)
def test_an_item_names_code_that_exists(item):
    assert item.code
    for place in item.code:
        path, _, name = place.partition(":")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_the_committed_run_decided_every_item():
    assert [item.key for item in ITEMS] == list(BY_KEY)
    for item in ITEMS:
        told = BY_KEY[item.key]
        assert (item.expects, item.promised, item.correction) == (told.standing, told.promised, told.correction)
        assert told.number
        assert {witness.kind for witness in told.witnesses} <= set(KINDS)
        assert {witness.about for witness in told.witnesses} <= set(ABOUT)


def test_failing_items_show_what_refutes_them_and_half_of_them_run_a_specimen():
    failing = [item for item in COMMITTED.items if item.standing in (Standing.FAILS, Standing.PART)]
    assert 10 <= len(failing)
    assert all(any(not witness.holds for witness in item.witnesses) for item in failing)
    attacked = [item for item in failing if any(witness.name.startswith("broken_") for witness in item.witnesses)]
    assert 2 * len(attacked) >= len(failing)


@pytest.mark.parametrize("key", QUICK)
def test_a_quick_item_comes_out_as_it_was_committed(key):
    assert BY_KEY[key] == decided("papers", key, COMMITTED.runs)[0]


def conditions_of(module):
    """The conditions that a module of the papers turns into witnesses, and its names that are never more than True or False."""
    nodes = list(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))
    calls = [node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("computed", "Witness")]
    conditions = [next((word.value for word in call.keywords if word.arg == "holds"), call.args[0]) for call in calls]
    given = [(target, node.value) for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    given += [(node.target, node.value) for node in nodes if isinstance(node, ast.AugAssign)]
    computed = {ast.unparse(target) for target, value in given if getattr(value, "value", None) not in (True, False)}
    return conditions, {ast.unparse(target) for target, _ in given} - computed


@pytest.mark.parametrize("module", sorted((ROOT / "proofs/papers").glob("[!_]*.py")), ids=lambda module: module.stem)
def test_no_witness_is_told_what_to_say(module):
    conditions, stated = conditions_of(module)
    for condition in conditions:
        names = {node.id for node in ast.walk(condition) if isinstance(node, ast.Name)}
        assert names - {"bool"} - stated, f"{module.name}:{condition.lineno}: nothing that was computed"


def test_what_a_witness_says_is_read_from_every_module():
    modules = {module.stem: conditions_of(module)[0] for module in (ROOT / "proofs/papers").glob("[!_]*.py")}
    assert modules
    assert [] == [name for name, conditions in modules.items() if not conditions]


def test_the_document_is_written_as_it_is_read():
    text = (ROOT / "benchmarks/results/papers.json").read_text(encoding="ascii")
    assert text == to_json(COMMITTED)


def test_the_report_is_that_of_the_committed_run(tmp_path):
    write(COMMITTED, tmp_path)
    for path in tmp_path.iterdir():
        assert (RESULTS / path.name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
    assert {"papers.md", *(f"papers_{name}.svg" for name in PLOTS.values())} == {path.name for path in tmp_path.iterdir()}


def test_a_run_with_an_open_item_writes_no_report(tmp_path):
    first, *rest = COMMITTED.items
    with pytest.raises(ValueError, match="A1 undecided"):
        write(replace(COMMITTED, items=(replace(first, standing=Standing.UNDECIDED), *rest)), tmp_path)
    assert [] == list(tmp_path.iterdir())
    assert report(COMMITTED).startswith("# Audited papers")
