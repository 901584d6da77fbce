"""Anchors: what was cut off or written twice is found by heads that are kept elsewhere."""

import json
import shutil
import subprocess

import pytest

from dpaudit import PureDP
from dpaudit.errors import InvalidArgument, LedgerFailure
from dpaudit.ledger import Ledger, anchors_of, compare_with_anchors, write_anchor

WHERE = "survey/person/report"


@pytest.fixture
def ledger(place):
    made = Ledger.create(place)
    made.open_budget("survey/person", PureDP(1))
    return made


def spend(ledger, times=1):
    for _ in range(times):
        ledger.spend(PureDP("1/64"), scope=WHERE)


@pytest.fixture(params=["file", "git", "database"])
def kept(request, tmp_path):
    """Where anchors are kept."""
    if request.param == "database":
        return request.getfixturevalue("server").database(), {}
    if request.param == "git":
        for words in (["init", "--quiet"], ["config", "user.email", "a@b.c"], ["config", "user.name", "a"]):
            subprocess.run(["git", "-C", str(tmp_path), *words], check=True)  # noqa: S607 - whatever git there is
        return tmp_path / "anchors", {"commit": True}
    return tmp_path / "anchors", {}


def test_a_ledger_that_only_grew_agrees_with_all_its_anchors(ledger, place, kept):
    to, options = kept
    written = []
    for _ in range(3):
        spend(ledger)
        written.append(write_anchor(place, to, **options))
    spend(ledger)
    assert written == anchors_of(to)
    assert () == compare_with_anchors(place, anchors_of(to))


def test_a_rollback_and_a_fork_are_found(tmp_path):
    here = tmp_path / "budget.ledger"
    ledger = Ledger.create(here)
    ledger.open_budget("survey/person", PureDP(1))
    write_anchor(here, tmp_path / "anchors")
    shutil.copy(here, tmp_path / "old.ledger")
    spend(ledger, 2)
    write_anchor(here, tmp_path / "anchors")
    (tmp_path / "old.ledger").replace(here)
    (problem,) = compare_with_anchors(here, anchors_of(tmp_path / "anchors"))
    assert problem.startswith("rolled back: entry 4 was there at")
    spend(Ledger(here), 1)
    assert "rolled back" in compare_with_anchors(here, anchors_of(tmp_path / "anchors"))[0]
    Ledger(here).spend(PureDP("1/32"), scope=WHERE)
    (problem,) = compare_with_anchors(here, anchors_of(tmp_path / "anchors"))
    assert problem.startswith("forked: entry 4 is not the one of")
    assert problem.endswith("the last that agrees is 2")
    assert () == Ledger(here).verify().problems  # without anchors nothing shows it


def test_a_committed_anchor_counts_though_the_file_was_changed(tmp_path):
    for words in (["init", "--quiet"], ["config", "user.email", "a@b.c"], ["config", "user.name", "a"]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)  # noqa: S607 - whatever git there is
    here, to = tmp_path / "budget.ledger", tmp_path / "anchors"
    ledger = Ledger.create(here)
    ledger.open_budget("survey/person", PureDP(1))
    shutil.copy(here, tmp_path / "old.ledger")
    spend(ledger)
    write_anchor(here, to, commit=True)
    (tmp_path / "old.ledger").replace(here)
    to.write_text("")
    assert 1 == len(compare_with_anchors(here, anchors_of(to)))


@pytest.mark.parametrize("text", ["x", "{}", '{"ledger": 1, "head": "1:", "time": ""}', "[]", "\x1b", '"a"'])
def test_what_is_no_file_of_anchors_is_refused(tmp_path, text):
    (tmp_path / "anchors").write_text(text)
    with pytest.raises(InvalidArgument, match=r"DPA801|DPA105"):
        anchors_of(tmp_path / "anchors")


def test_anchors_of_another_ledger_and_a_repository_that_is_none_are_told(tmp_path):
    for name in ("one", "two"):
        Ledger.create(tmp_path / name)
    write_anchor(tmp_path / "one", tmp_path / "anchors")
    with pytest.raises(InvalidArgument, match="DPA106"):
        compare_with_anchors(tmp_path / "two", anchors_of(tmp_path / "anchors"))
    with pytest.raises(LedgerFailure, match="DPA804 git add failed"):
        write_anchor(tmp_path / "one", tmp_path / "anchors", commit=True)
    assert 2 == len((tmp_path / "anchors").read_text().splitlines())
    assert json.loads((tmp_path / "anchors").read_text().splitlines()[0])["ledger"] == Ledger(tmp_path / "one").name
