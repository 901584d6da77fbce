"""A cited test is evidence if it passed as it is now, with the code as it is now; and exactly what was reviewed is accepted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dpaudit.verifier.chain import Node
from dpaudit.verifier.stamps.cited import read_cited
from proofs import chain, commands
from proofs.chain import NODES, ROOT
from proofs.mutating import campaign
from proofs.results import read_record
from proofs.results import test_check as check_of_tests
from proofs.reviewed import changes, open_edges, reach_of, staleness, write_reviewed
from proofs.running import find_uncovered, idle_binds, run_and_record, run_tests

CODE = "LIMIT = 3\n\n\ndef draw():\n    return LIMIT\n\n\ndef idle():\n    return 1\n"
TESTS = """
import pytest
from mechanisms.law import draw

@pytest.mark.parametrize("x", [1, 2])
def test_good(x):
    assert 3 == draw()

def test_bad():
    assert 4 == draw()

@pytest.mark.parametrize("x", [1, pytest.param(2, marks=pytest.mark.skip)])
def test_skipped(x):
    assert draw()

@pytest.mark.xfail(strict=True)
def test_expected():
    assert 4 == draw()
"""
NAMES = tuple(f"tests/proofs/test_law.py::test_{name}" for name in ("bad", "expected", "good", "skipped", "gone"))
GRAPH = (
    Node("Law.source", "source", "", "tested", tuple(f"test:{name}" for name in NAMES), (), ("mechanisms/law.py:draw",)),
    Node("Law.claim", "claim", "", "tested", (f"test:{NAMES[2]}",), ("Law.source",), ("mechanisms/law.py:idle",)),
)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A small project whose tests were run, with all that came of it."""
    root = tmp_path_factory.mktemp("project")
    for path, text in {
        "mechanisms/__init__.py": "",
        "mechanisms/law.py": CODE,
        "tests/proofs/test_law.py": TESTS,
        "pytest.ini": "[pytest]\naddopts = --import-mode=importlib\n",
        "proofs/test_results.json": "",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root, run_and_record(root, GRAPH, NAMES)


def test_only_a_test_whose_cases_all_passed_is_recorded_as_passed(ran):
    _, record = ran
    outcomes = {name.rpartition("_")[2]: result.outcome for name, result in record.tests.items()}
    assert {"bad": "failed", "expected": "skipped", "good": "passed", "skipped": "skipped", "gone": "missing"} == outcomes
    assert 2 == record.tests[NAMES[2]].cases
    assert "" == record.files


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("good", ""),
        ("bad", "stale: it is on record as failed. Run `python -m proofs.chain --run tests/proofs/test_law.py::test_bad`"),
        ("skipped", "stale: it is on record as skipped. Run `python -m proofs.chain --run tests/proofs/test_law.py::test_skipped`"),
        ("gone", "there is no such test"),
        ("other", "stale: no result is on record. Run `python -m proofs.chain --run tests/proofs/test_law.py::test_other`"),
    ],
)
def test_a_test_that_failed_was_skipped_or_never_ran_is_no_evidence(ran, name, said):
    root, _ = ran
    for quick in (True, False):
        assert said == check_of_tests(root, quick=quick)(f"tests/proofs/test_law.py::test_{name}")


@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        ("tests/proofs/test_law.py", "    assert 3 == draw()", "    pass", "stale: the test changed"),
        ("tests/proofs/test_law.py", "[1, 2]", "[]", "stale: the test changed"),
        ("tests/proofs/test_law.py", "def test_good(x)", "@pytest.mark.skip\ndef test_good(x)", "stale: the test changed"),
        ("mechanisms/law.py", "LIMIT = 3", "LIMIT = 4", "stale: code that it reaches changed"),
        ("mechanisms/law.py", "return LIMIT", "return 3", "stale: code that it reaches changed"),
        ("mechanisms/law.py", "return 1", "return 2", ""),
        ("tests/proofs/test_law.py", "def test_bad():", "def test_bad():\n    assert False", ""),
    ],
)
def test_a_result_counts_for_the_test_and_the_code_that_ran(ran, path, old, new, said):
    root, _ = ran
    text = (root / path).read_text(encoding="utf-8")
    assert 1 == text.count(old)
    (root / path).write_text(text.replace(old, new), encoding="utf-8")
    try:
        assert said == check_of_tests(root, quick=True)(NAMES[2])[: len(said) or None]
    finally:
        (root / path).write_text(text, encoding="utf-8")


def test_a_record_that_cannot_be_read_is_no_evidence(ran):
    root, _ = ran
    file = root / "proofs" / "test_results.json"
    text = file.read_text(encoding="utf-8")
    for broken in ("", "[]", text[:-20], text.replace('"reaches": [', '"reaches": [999, ')):
        file.write_text(broken, encoding="utf-8")
        assert {} == read_record(root).tests
        assert check_of_tests(root, quick=True)(NAMES[2]).startswith("stale: no result is on record")
    file.write_text(text, encoding="utf-8")


def test_running_shows_what_tests_execute_and_whether_stamps_cover_it(ran):
    root, _ = ran
    executed = run_tests(root, [NAMES[2]], watched=True).executed
    assert {NAMES[2]: {"mechanisms/law.py:draw"}} == {name: set(places) for name, places in executed.items()}
    assert {} == find_uncovered(root, executed)
    assert {NAMES[2]: ["mechanisms/law.py:idle"]} == find_uncovered(root, {NAMES[2]: frozenset(("mechanisms/law.py:idle",))})
    assert {"Law.claim": ["mechanisms/law.py:idle"]} == idle_binds(GRAPH, executed)


def test_a_change_is_accepted_with_the_code_of_its_review_and_no_other(ran, monkeypatch, capsys):
    root, _ = ran
    monkeypatch.setattr(chain, "ROOT", root)
    monkeypatch.setattr(chain, "NODES", GRAPH)
    write_reviewed(root, GRAPH)
    assert [] == changes(root, GRAPH)
    file = root / "mechanisms" / "law.py"
    file.write_text(CODE.replace("LIMIT = 3", "LIMIT = 4"), encoding="utf-8")
    code = commands.review_code(changes(root, GRAPH))
    file.write_text(CODE.replace("LIMIT = 3", "LIMIT = 5"), encoding="utf-8")
    assert [("mechanisms/law.py:LIMIT", "changed", ("Law",))] == [(one.place, one.kind, one.claims) for one in changes(root, GRAPH)]
    assert 1 == commands.main([])
    assert commands.review_code(changes(root, GRAPH)) in capsys.readouterr().out
    assert 2 == commands.main(["--accept", code])
    assert "reaches mechanisms/law.py:LIMIT, not as reviewed" in staleness(root, quick=True)("mechanisms/law.py:draw")
    assert "" == staleness(root, quick=True)("mechanisms/law.py:idle")
    file.write_text(CODE, encoding="utf-8")


def test_a_definition_that_a_node_is_about_only_now_has_to_be_accepted_although_it_was_reached_before(ran):
    root, _ = ran
    write_reviewed(root, GRAPH)
    (node,) = (one for one in GRAPH if "mechanisms/law.py:draw" in one.binds)
    more = [replace(one, binds=(*one.binds, "mechanisms/law.py:LIMIT")) if one is node else one for one in GRAPH]
    assert "mechanisms/law.py:LIMIT is not what was reviewed" == staleness(root, quick=True)("mechanisms/law.py:LIMIT")
    assert [("mechanisms/law.py:LIMIT", "bound", ("Law",))] == [(one.place, one.kind, one.claims) for one in changes(root, more)]
    write_reviewed(root, more)
    assert [] == changes(root, more)
    assert "" == staleness(root, quick=True)("mechanisms/law.py:LIMIT")
    write_reviewed(root, GRAPH)


def test_open_edges_are_taken_from_a_review_of_the_same_files_and_from_no_other(ran, monkeypatch):
    root, _ = ran
    file = root / "mechanisms" / "law.py"
    hidden = CODE.replace("return LIMIT", "return eval('LIMIT')")
    edges = {"mechanisms/law.py:draw"}
    write_reviewed(root, GRAPH)
    with monkeypatch.context() as patch:
        patch.setattr("proofs.reviewed.reach_of", None)
        assert {} == open_edges(root, quick=True)(GRAPH)
        with pytest.raises(TypeError):
            open_edges(root)(GRAPH)
    file.write_text(hidden, encoding="utf-8")
    assert edges == set(open_edges(root, quick=True)(GRAPH))
    write_reviewed(root, GRAPH)
    assert edges == set(open_edges(root, quick=True)(GRAPH))
    file.write_text(CODE, encoding="utf-8")
    assert {} == open_edges(root, quick=True)(GRAPH)
    write_reviewed(root, GRAPH)


def test_what_ships_has_no_open_edge():
    assert {} == open_edges(ROOT)(NODES)


def test_a_digest_of_a_cited_test_covers_the_sampler_that_it_runs():
    cited = read_cited(
        reach_of(ROOT), "tests/mechanisms/sampling/test_kernel.py::test_every_outcome_has_exactly_its_mass_over_all_tapes"
    )
    assert "mechanisms/sampling/kernel.py:draw_one" in set().union(*(reach_of(ROOT).closure(place) for place in cited.reaches))


@pytest.mark.timeout(600)
def test_thirty_changes_in_random_places_make_every_claim_stale_that_reaches_them_and_no_other():
    rows = campaign(ROOT, NODES, 30, seed=2)
    assert (30, 0, 0) == tuple(sum(getattr(row, name) for row in rows) for name in ("mutations", "survivors", "wrongly"))
    assert {"constant", "operator", "early return", "swapped argument"} == {row.kind for row in rows}
    assert any(row.partial for row in rows)
