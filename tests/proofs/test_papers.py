"""The papers, to the letter: items are quoted, decided by rule, and told as the committed run found them."""

from __future__ import annotations

import ast
import csv
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.papers_perturbed import MODULES, places_of
from benchmarks.papers_perturbed import RESULTS as PERTURBED
from devtools.papers import PLOTS, RESULTS, TITLES, report, write
from devtools.survey import ROOT
from dpaudit.dossier import ABOUT, KINDS, Kind, Standing, decided, standing_of
from dpaudit.report.dossier import from_json, to_json
from proofs.papers import ITEMS

COMMITTED = from_json((ROOT / "benchmarks/results/papers.json").read_bytes())
BY_KEY = {item.key: item for item in COMMITTED.items}
REFUTED = (Standing.FAILS, Standing.UNSHOWN, Standing.OTHERWISE)
QUICK = ("A2", "A3", "A4", "A5", "A9", "A23", "A26", "N6", "P2", "P3")
"""Items that take less than a second of processor time each and rest on no proof, which is stale while somebody works on what it is
about; `dpaudit audit papers` decides all of them."""
TEXTS = {
    "Margin guarantees": ("margin_guarantees_body.txt", "margin_guarantees_appendix.txt"),
    "Large-margin halfspaces": ("large_margin_halfspaces.txt",),
    "Public data": ("public_data_assisted_sco.txt",),
    "Kernels": ("dp_learning_with_kernels.txt",),
}
"""The texts of the papers, which are not part of this project; DPAUDIT_PAPERS names a folder that holds them."""


def occurs(quote, text):
    """True if the parts of a quotation occur in a text one after the other, white space aside."""
    whole, place = re.sub(r"\s", "", text), 0
    for part in quote.split(" ... "):
        wanted = re.sub(r"\s", "", part)
        place = whole.find(wanted, place) + len(wanted)
        if place < len(wanted):
            return False
    return True


def test_there_are_49_items_in_order():
    keys = [f"{letter}{place}" for letter, last in (("A", 29), ("N", 6), ("P", 5), ("K", 9)) for place in range(1, last + 1)]
    assert keys == [item.key for item in ITEMS]
    assert set(TITLES) == set(TEXTS) == {item.paper for item in ITEMS}


@pytest.mark.parametrize(
    ("quote", "found"), [("a b", True), ("b ... d", True), ("d ... b", False), ("a c", False), ("bc ... bc", False), ("cd e", True)]
)
def test_a_quotation_occurs_in_order_and_white_space_aside(quote, found):
    assert found is occurs(quote, "a b\n c d\te")


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.key)
def test_each_quotation_occurs_in_the_text_of_its_paper(item):
    folder = os.environ.get("DPAUDIT_PAPERS")
    if not folder:
        pytest.skip("the texts of the papers are not at hand; DPAUDIT_PAPERS names their folder")
    texts = [(Path(folder) / name).read_text(encoding="utf-8") for name in TEXTS[item.paper]]
    assert any(occurs(item.quote, text) for text in texts)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.key)
def test_an_item_is_quoted_in_short_and_says_in_a_sentence_each_what_it_is(item):
    assert 10 <= len(item.quote) <= 120
    assert item.place
    for sentence in (item.promised, item.correction) if item.correction else (item.promised,):
        assert re.fullmatch(r"[A-Za-z(].*[.]", sentence), sentence
        assert len(sentence) <= 200


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.key)
def test_only_what_the_paper_states_can_be_refuted_and_then_has_a_repair_with_its_price(item):
    assert (item.kind is Kind.STATED) or item.expects in (Standing.HOLDS, Standing.POINTS, Standing.CONDITION)
    assert item.expects is not Standing.CONDITION or (item.kind is not Kind.STATED and item.correction)
    assert (item.repair is not None) is (item.expects in REFUTED)
    assert (item.admits is not None) is (item.expects is Standing.FAILS)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.key)
def test_an_item_names_code_that_exists(item):
    assert item.code
    for place in item.code:
        path, _, name = place.partition(":")
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def test_the_committed_run_decided_every_item_by_rule():
    assert [item.key for item in ITEMS] == list(BY_KEY)
    for item in ITEMS:
        told = BY_KEY[item.key]
        assert (item.expects, item.number) == (told.standing, told.number)
        written = (item.quote, item.kind, item.promised, item.correction, item.repair)
        assert written == (told.quote, told.kind, told.promised, told.correction, told.repair)
        assert told.standing is standing_of(item.kind, told.witnesses, item.admits)
        assert {witness.kind for witness in told.witnesses} <= set(KINDS)
        assert {witness.about for witness in told.witnesses} <= set(ABOUT)


def test_every_refuted_item_is_argued_from_the_side_of_the_paper():
    record = (ROOT / "docs/decisions/0017-the-papers-to-the-letter.md").read_text(encoding="utf-8")
    for item in ITEMS:
        if item.expects in REFUTED:
            assert f"**{item.key}**" in record, item.key


@pytest.mark.parametrize("key", QUICK)
def test_a_quick_item_comes_out_as_it_was_committed(key):
    assert BY_KEY[key] == decided("papers", key, COMMITTED.runs)[0]


@pytest.mark.parametrize("name", MODULES)
def test_the_perturbation_finds_the_constants_of_every_module_and_who_reads_them(name):
    places = list(places_of(ast.parse((ROOT / f"proofs/papers/{name}.py").read_text(encoding="utf-8"))))
    assert 20 <= len(places)
    assert {key for place in places for key in place.items} <= {item.key for item in ITEMS}


def test_the_committed_campaign_perturbed_every_constant_and_explains_what_was_not_noticed():
    with PERTURBED.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    perturbed = [row for row in rows if row["module"] in MODULES]
    there = {
        (name, place.owner, str(place.value), *place.items)
        for name in MODULES
        for place in places_of(ast.parse((ROOT / f"proofs/papers/{name}.py").read_text(encoding="utf-8")))
    }
    assert there == {(row["module"], row["function"], row["constant"], *row["items"].split()) for row in perturbed}
    assert sum(row["noticed"] == "yes" for row in perturbed) >= 0.95 * len(perturbed)
    assert [] == [row for row in rows if row["noticed"] != "yes" and not row["why"]]
    assert {row["noticed"] for row in rows if row["module"] == "points"} == {"left out"}


def conditions_of(module):
    """The conditions that a module of the papers turns into witnesses, and its names that are never more than True or False."""
    nodes = list(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))
    names = ("computed", "closed_form", "Witness")
    calls = [node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") in names]
    conditions = [next((word.value for word in call.keywords if word.arg == "holds"), call.args[0]) for call in calls]
    given = [(target, node.value) for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    given += [(node.target, node.value) for node in nodes if isinstance(node, ast.AugAssign)]
    computed = {ast.unparse(target) for target, value in given if getattr(value, "value", None) not in (True, False)}
    return conditions, {ast.unparse(target) for target, _ in given} - computed


MODULES_OF_ITEMS = sorted(path for path in (ROOT / "proofs/papers").glob("[!_]*.py") if path.stem not in ("lemmas", "points"))


@pytest.mark.parametrize("module", MODULES_OF_ITEMS, ids=lambda module: module.stem)
def test_no_witness_is_told_what_to_say(module):
    conditions, stated = conditions_of(module)
    for condition in conditions:
        names = {node.id for node in ast.walk(condition) if isinstance(node, ast.Name)}
        assert names - {"bool"} - stated, f"{module.name}:{condition.lineno}: nothing that was computed"


def test_what_a_witness_says_is_read_from_every_module():
    modules = {module.stem: conditions_of(module)[0] for module in MODULES_OF_ITEMS}
    assert {*MODULES, "witnessing"} == set(modules)
    assert [] == [name for name, conditions in modules.items() if not conditions]


def test_the_document_is_written_as_it_is_read():
    text = (ROOT / "benchmarks/results/papers.json").read_text(encoding="ascii")
    assert text == to_json(COMMITTED)


def test_the_report_and_the_table_are_those_of_the_committed_run(tmp_path):
    write(COMMITTED, tmp_path)
    for path in tmp_path.iterdir():
        assert (RESULTS / path.name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8")
    drawn = {f"papers_{name}.svg" for name in PLOTS.values()}
    assert {"papers.md", "papers_table.md", *drawn} == {path.name for path in tmp_path.iterdir()}


def test_a_run_with_an_open_item_writes_no_report(tmp_path):
    first, *rest = COMMITTED.items
    with pytest.raises(ValueError, match="A1 undecided"):
        write(replace(COMMITTED, items=(replace(first, standing=Standing.UNDECIDED), *rest)), tmp_path)
    assert [] == list(tmp_path.iterdir())
    assert report(COMMITTED).startswith("# Audited papers")
