"""The one command for all benchmarks: every program is in its list, and it starts them with their options."""

import re
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import run

PARTS = {
    "accounting_tools": "accounting.py",
    "learners_peer": "learners.py",
    "loops_jax_privacy": "training_loops.py",
    "loops_opacus": "training_loops.py",
    "run": "run.py",
}
"""Programs that are no benchmarks of their own, and what starts them."""


def programs():
    return {file.stem for file in run.FOLDER.glob("*.py") if 'if __name__ == "__main__"' in file.read_text(encoding="utf-8")}


def test_every_program_is_listed_and_says_what_it_needs_and_does():
    listed = {one.name: one for one in run.benchmarks()}
    assert programs() - set(PARTS) == set(listed)
    assert all(re.search(r"[.:?]$", one.measures) and one.needs and one.size for one in listed.values())


@pytest.mark.parametrize(("part", "whole"), PARTS.items())
def test_a_part_is_started_by_its_whole(part, whole):
    assert f"{part}.py" in (run.FOLDER / whole).read_text(encoding="utf-8")


def test_the_list_names_every_benchmark_with_its_needs(capsys):
    assert 0 == run.main([]) == run.main(["--list"])
    shown = capsys.readouterr().out
    for one in run.benchmarks():
        assert f"{one.name:<18}{one.measures}\n" in shown
        assert f"needs {one.needs}; {one.size}" in shown


@pytest.mark.parametrize("arguments", [["nothing"], ["startup", "nothing"], ["--repeats", "3"]])
def test_what_is_no_benchmark_is_refused_with_the_list(arguments, capsys):
    assert run.UNKNOWN == run.main(arguments)
    assert "auditing, auditor_size" in capsys.readouterr().err


def test_named_ones_run_in_turn_with_their_options_and_the_last_failure_is_the_exit_code(tmp_path, monkeypatch):
    for name, code in (("first", 3), ("second", 0)):
        body = f'import sys\nopen("{tmp_path}/{name}", "w").write(" ".join(sys.argv[1:]))\nsys.exit({code})\n'
        (tmp_path / f"{name}.py").write_text(f'"""A program.\n\nNeeds: nothing. Size: one.\n"""\n{body}', encoding="utf-8")
    monkeypatch.setattr(run, "FOLDER", tmp_path)
    assert 3 == run.main(["first", "second", "--repeats", "2"])
    assert ["--repeats 2"] * 2 == [(tmp_path / name).read_text() for name in ("first", "second")]
