"""`dpaudit replay`: the same counts bit for bit, differences named, fresh seeds as an independent confirmation."""

from __future__ import annotations

import json

import pytest

from dpaudit.cli.replay import split

QUICK = ("--alpha", "1e-9", "--runs", "2000")


@pytest.fixture
def recorded(dpaudit, folder):
    """A report on two targets, one of which is refuted, and one that failed."""
    assert 1 == dpaudit("audit", "releases.py:everything", *QUICK, "--report", "out").exit_code
    return folder / "out/report.json"


def test_a_replay_of_all_targets_is_identical(dpaudit, recorded):
    result = dpaudit("replay", recorded)
    assert 0 == result.exit_code
    assert "sound: identical, seed 0" in result.stdout
    assert "broken: identical, seed 0" in result.stdout
    assert "crash: not repeated, the report holds no runs of it" in result.stdout


def test_one_target_can_be_replayed_and_its_counts_are_printed_twice(dpaudit, recorded):
    result = dpaudit("replay", f"{recorded}#broken")
    lines = [line.split(maxsplit=1)[1] for line in result.stdout.splitlines() if line.startswith("  re")]
    assert 0 == result.exit_code
    assert "sound" not in result.stdout
    assert 2 == len(lines)
    assert lines[0] == lines[1]
    assert "hits in" in lines[0]


def test_a_replay_as_json_holds_both_sets_of_counts(dpaudit, recorded):
    (found,) = json.loads(dpaudit("replay", f"{recorded}#broken", "--json").stdout)["targets"]
    assert found["identical"] is True
    assert found["refuted"] is True
    assert found["recorded"] == found["replayed"]


def test_a_changed_target_gives_differences_and_exit_code_4(dpaudit, recorded, folder):
    source = folder / "releases.py"
    source.write_text(source.read_text().replace("counted(0.3)", "counted(0.31)"))
    result = dpaudit("replay", f"{recorded}#broken")
    assert 4 == result.exit_code
    assert "broken: DIFFERENT" in result.stdout
    assert "error: DPA502 broken: the runs did not come out as recorded." in result.stderr


def test_a_fresh_replay_confirms_a_refutation_with_exit_code_1(dpaudit, recorded):
    result = dpaudit("replay", f"{recorded}#broken", "--fresh")
    assert 1 == result.exit_code
    assert "broken: refuted again with the new seed" in result.stdout


def test_a_fresh_replay_of_a_sound_target_has_exit_code_0(dpaudit, recorded):
    result = dpaudit("replay", f"{recorded}#sound", "--fresh")
    assert 0 == result.exit_code
    assert "sound: not refuted with the new seed" in result.stdout


def test_a_replay_in_worker_processes_is_identical(dpaudit, recorded):
    assert 0 == dpaudit("replay", f"{recorded}#broken", "--jobs", "2").exit_code


def test_a_target_given_as_an_object_cannot_be_replayed_from_its_file(dpaudit, recorded):
    document = json.loads(recorded.read_text())
    for result in document["evidence"]["results"]:
        result["reference"] = None
    recorded.write_text(json.dumps(document))
    result = dpaudit("replay", f"{recorded}#broken")
    assert 3 == result.exit_code
    assert "broken: not repeated" in result.stdout


def test_a_target_that_no_longer_loads_has_exit_code_4(dpaudit, recorded, folder):
    (folder / "releases.py").unlink()
    result = dpaudit("replay", recorded, "--json")
    assert 4 == result.exit_code
    assert {"DPA401"} == {target["reason"][:6] for target in json.loads(result.stdout)["targets"] if target["recorded"]}


@pytest.mark.parametrize(
    ("name", "code"), [("out/report.json#nobody", "DPA103"), ("missing.json", "DPA501"), ("people.csv", "DPA501")]
)
def test_what_cannot_be_replayed_is_refused_with_exit_code_2(dpaudit, recorded, name, code):
    result = dpaudit("replay", name)
    assert 2 == result.exit_code
    assert result.stderr.startswith(f"error: {code}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("report.json", ("report.json", None)),
        ("report.json#count", ("report.json", "count")),
        ("report.json#a#b", ("report.json", "a#b")),
        ("odd#name.json", ("odd#name.json", None)),
        ("odd#name.json#count", ("odd#name.json", "count")),
        ("missing.json#count", ("missing.json", "count")),
    ],
)
def test_path_and_name_are_told_apart_by_the_file_that_exists(folder, text, expected):
    for name in ("report.json", "odd#name.json"):
        (folder / name).write_text("{}")
    assert expected == split(text)
