"""Targets: complete or refused, and found by name with an answer for every way that can fail."""

from __future__ import annotations

import os
import sys
import textwrap
from functools import partial
from pathlib import Path

import pytest
from hypothesis import strategies as st

from dpaudit.claims import Claim, PureDP
from dpaudit.errors import InvalidArgument, TargetFailure
from dpaudit.importing import module_at
from dpaudit.loading import Reference, bundled_targets, load_targets
from dpaudit.targets import METRICS, Sensitivity, Target

CLAIM = Claim(PureDP(epsilon=1))
GOOD = """
    from dpaudit import Claim, PureDP, Target

    def release(data, rng):
        return len(data)

    one = Target(run=release, claim=Claim(PureDP(epsilon=1)), data=[1, 2])
    many = [one, Target(run=release, claim=Claim(PureDP(epsilon=2)), data=[1], name="second", public_data=True)]
    number = 3
    nothing = []
    """


def release(data, rng):
    return len(data)


@pytest.fixture(autouse=True)
def _unchanged_import_state(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("_dpaudit_", "somebodys_")):
            del sys.modules[name]


def write(name: str, code: str) -> str:
    Path(name).write_text(textwrap.dedent(code), encoding="utf-8")
    return name


def test_a_target_is_called_as_its_function_unless_it_has_a_name():
    assert "release" == Target(run=release, claim=CLAIM, data=[1]).name
    assert "count" == Target(run=release, claim=CLAIM, data=[1], name="count").name


def test_a_target_knows_where_its_function_stands():
    write("mine.py", GOOD)
    file, line = load_targets("mine.py:one")[0].source
    assert "def release(data, rng):" == Path(file).read_text(encoding="utf-8").splitlines()[line - 1].strip()
    assert Target(run=max, claim=CLAIM, data=[1]).source is None


def test_where_a_function_stands_is_said_without_the_path_of_one_machine(monkeypatch, tmp_path):
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    write("folder/mine.py", GOOD)
    target = load_targets("folder/mine.py:one")[0]
    assert "folder/mine.py" == target.source[0]
    monkeypatch.chdir("folder")
    assert "mine.py" == target.source[0]
    monkeypatch.chdir("deep")
    monkeypatch.syspath_prepend(tmp_path)
    assert "mine.py" == target.source[0], "its own folder is on the import path"
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert "folder/mine.py" == target.source[0]
    monkeypatch.setattr(sys, "path", [])
    assert "mine.py" == target.source[0]


@pytest.mark.parametrize(
    ("says", "parts"),
    [
        ("needs exactly one of run= and sample=", {"claim": CLAIM}),
        ("needs exactly one of run= and sample=", {"claim": CLAIM, "run": release, "sample": release}),
        ("run= must be a function, got an int", {"claim": CLAIM, "run": 3}),
        ("pmf= must be a function", {"claim": CLAIM, "run": release, "pmf": {}}),
        ("claim= must be a Claim, got a PureDP", {"claim": PureDP(1), "run": release}),
        ("sensitivity= must be a Sensitivity", {"claim": CLAIM, "run": release, "sensitivity": 1}),
        ("neighbours= or data=, not both", {"claim": CLAIM, "run": release, "data": [1], "neighbours": [([], [1])]}),
        ("non-empty sequence of pairs", {"claim": CLAIM, "run": release, "neighbours": []}),
        ("non-empty sequence of pairs", {"claim": CLAIM, "run": release, "neighbours": [[1, 2, 3]]}),
        ("non-empty sequence of pairs", {"claim": CLAIM, "run": release, "neighbours": "ab"}),
        ("non-empty sequence of pairs", {"claim": CLAIM, "run": release, "neighbours": 5}),
    ],
)
def test_an_incomplete_or_contradictory_target_is_refused_with_the_remedy(says, parts):
    with pytest.raises(InvalidArgument, match=says) as refusal:
        Target(**parts)
    assert "DPA404" == refusal.value.code


def test_neighbours_may_be_pairs_or_a_strategy_of_pairs():
    strategy = st.tuples(st.just([1]), st.just([]))
    assert strategy is Target(run=release, claim=CLAIM, neighbours=strategy).neighbours
    assert (([1], []),) == Target(run=release, claim=CLAIM, neighbours=iter([([1], [])])).neighbours


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("DPA105", {"query": 3, "bound": 1}),
        ("DPA104", {"query": len, "bound": 0}),
        ("DPA102", {"query": len, "bound": "inf"}),
        ("DPA103", {"query": len, "bound": 1, "metric": "euclid"}),
    ],
)
def test_a_sensitivity_that_bounds_nothing_is_refused(code, parts):
    with pytest.raises(InvalidArgument, match=code):
        Sensitivity(**parts)


@pytest.mark.parametrize("metric", METRICS)
def test_a_sensitivity_is_exact_in_every_metric(metric):
    assert Sensitivity(len, "0.1", metric) == Sensitivity(query=len, bound="1/10", metric=metric)


def test_a_target_is_found_in_a_file_by_its_name():
    write("mine.py", GOOD)
    assert ["release"] == [target.name for target in load_targets("mine.py:one")]
    assert ["release", "second"] == [target.name for target in load_targets("mine.py:many")]
    assert "second" == Reference("mine.py:many", position=1).load().name


def test_a_file_alone_stands_for_every_target_that_it_holds_once_each():
    write("mine.py", GOOD)
    assert ["release", "second"] == [target.name for target in load_targets("mine.py")]
    assert "second" == Reference("mine.py", 1).load().name


def test_a_target_is_found_in_a_module_of_the_current_folder():
    write("somebodys_targets.py", GOOD)
    assert ["release"] == [target.name for target in load_targets("somebodys_targets:one")]


def test_a_file_may_import_what_stands_beside_it():
    Path("folder").mkdir()
    write("folder/somebodys_helper.py", "def release(data, rng): return 0")
    write(
        "folder/mine.py",
        """
        from somebodys_helper import release
        from dpaudit import Claim, PureDP, Target
        one = Target(run=release, claim=Claim(PureDP(epsilon=1)), data=[1])
        """,
    )
    assert ["release"] == [target.name for target in load_targets("folder/mine.py:one")]


def test_a_changed_file_is_loaded_anew_and_an_unchanged_one_is_not():
    write("mine.py", GOOD)
    first = load_targets("mine.py:one")
    assert first[0] is load_targets("mine.py:one")[0]
    write("mine.py", GOOD + "\n    changed = one\n")
    assert first[0] is not load_targets("mine.py:changed")[0]


@pytest.mark.parametrize(
    ("code", "says", "text"),
    [
        ("DPA401", "no bundled target is called 'no such thing'", "no such thing"),
        ("DPA401", "'zooo' (did you mean 'zoo'?). `dpaudit targets` lists all", "zooo"),
        ("DPA401", "no file absent.py", "absent.py:one"),
        ("DPA401", "no file folder.py", "folder.py:one"),
        ("DPA401", "no module named 'somebodys_absent'", "somebodys_absent:one"),
        ("DPA401", "no module named 'somebodys_absent.part'", "somebodys_absent.part:one"),
        ("DPA401", "not of the form", ":one"),
        ("DPA401", "not of the form", "mine.py:"),
        ("DPA401", "has no attribute 'two'. It has one, many.", "mine.py:two"),
        ("DPA403", "is an int, not a Target", "mine.py:number"),
        ("DPA403", "non-empty list", "mine.py:nothing"),
        ("DPA403", "is a function", "mine.py:release"),
        ("DPA403", "empty.py holds no Target", "empty.py"),
        ("DPA401", "no file absent.py", "absent.py"),
        ("DPA402", "raised ValueError at raising.py:3 while", "raising.py:one"),
        ("DPA402", "raised SystemExit at leaving.py:3 while", "leaving.py:one"),
        ("DPA402", "raised SyntaxError", "unreadable.py:one"),
        ("DPA402", "needs the module 'somebodys_absent', which is not installed", "needing.py:one"),
        ("DPA402", "needs the module 'somebodys_absent', which is not installed", "needing:one"),
    ],
)
def test_every_way_of_not_finding_a_target_has_its_answer(code, says, text):
    write("mine.py", GOOD)
    write("raising.py", "\n\nraise ValueError('record 17 is 42')")
    write("leaving.py", "import sys\n\nsys.exit(0)")
    write("unreadable.py", "def release(:")
    write("needing.py", "import somebodys_absent")
    write("empty.py", "number = 3")
    Path("folder.py").mkdir()
    with pytest.raises(TargetFailure, match="DPA40") as failure:
        load_targets(text)
    assert code == failure.value.code
    assert says in str(failure.value)
    assert "42" not in str(failure.value), "an error of the user's code may quote records"


def test_a_file_that_failed_is_tried_again():
    write("mine.py", "raise ValueError")
    for _ in range(2):
        with pytest.raises(TargetFailure, match="DPA402"):
            load_targets("mine.py:one")


def test_a_reference_past_the_end_is_refused():
    write("mine.py", GOOD)
    with pytest.raises(TargetFailure, match=r"DPA401 mine\.py:one holds 1 targets, asked for number 1"):
        Reference("mine.py:one", position=1).load()


def test_records_of_a_file_replace_the_targets_own_and_are_never_public():
    write("mine.py", GOOD)
    Path("people.csv").write_text("age,income\n30,100\n40,200\n", encoding="utf-8")
    targets = load_targets("mine.py:many", data="people.csv")
    assert [2, 2] == [len(target.data) for target in targets]
    assert [False, False] == [target.public_data for target in targets]


def test_bundled_targets_are_named_once_and_can_be_loaded_by_name_and_place():
    names = bundled_targets()
    assert names
    for name, (location, position) in names.items():
        assert name == load_targets(name)[0].name == Reference(location, position).load().name


def test_a_file_that_was_changed_within_the_second_and_kept_its_size_is_read_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "mine.py"
    for number in (1, 2, 3):
        path.write_text(f"NUMBER = {number}\n")
        os.utime(path, (10**9, 10**9))
        assert number == module_at(str(path)).NUMBER


class Callable:
    """A release that is an object."""

    def __call__(self, data, rng):
        return data


def test_a_callable_object_and_a_partial_function_are_found_in_their_files():
    claim, pair = Claim(PureDP(epsilon=1)), [([1], [1, 2])]
    runs = (Callable(), partial(lambda bound, data, rng: bound, 3), Callable().__call__)
    found = [Target(run=run, claim=claim, neighbours=pair).source for run in runs]
    assert [Path(__file__).name] * 3 == [Path(source[0]).name for source in found]
