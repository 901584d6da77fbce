"""Entries of docs/found_in_the_wild.md: each has a script, the version of its library, a drafted report and a section."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys

import pytest

from devtools.survey import ROOT

WILD = ROOT / "examples" / "wild"
PAGE = (ROOT / "docs" / "found_in_the_wild.md").read_text(encoding="utf-8")
ENTRIES = sorted(path.stem for path in WILD.glob("[!_]*.py"))
SOUND = sorted((WILD / "sound").glob("*.py"))
RUN = runpy.run_path(str(WILD / "run"))


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_names_its_library_and_version_as_the_page_does(name):
    required = re.search(r"^# requires: (\S+)==(\S+)", (WILD / f"{name}.py").read_text(encoding="utf-8"), re.MULTILINE)
    assert re.search(rf"^\| `{name}` \| {required[1]} {required[2]} ", PAGE, re.MULTILINE)


def test_every_entry_has_a_report_and_every_report_an_entry():
    assert ENTRIES == sorted(path.stem for path in (WILD / "reports").glob("*.md"))
    assert ENTRIES == sorted(re.findall(r"^\| `([a-z_]+)` \|", PAGE, re.MULTILINE))


def test_without_a_name_the_runner_lists_the_entries():
    done = subprocess.run([sys.executable, WILD / "run"], capture_output=True, text=True, check=True)
    assert f"Entries: {', '.join(ENTRIES)}\n" == done.stdout


def test_an_unknown_entry_is_refused():
    assert 2 == subprocess.run([sys.executable, WILD / "run", "none"], capture_output=True, check=False).returncode


def test_parts_without_a_finding_are_of_libraries_at_the_version_of_an_entry_or_of_the_table():
    table = (ROOT / "benchmarks" / "results" / "wild_sound.md").read_text(encoding="utf-8")
    required = [" ".join(RUN["requirements"](script)[0].split("==")) for script in SOUND]
    assert len(SOUND) == len(set(required))
    assert [] == [library for library in required if f"| {library} |" not in table]


def test_the_table_of_parts_without_a_finding_holds_no_refuted_one_and_is_counted_on_the_page():
    table = (ROOT / "benchmarks" / "results" / "wild_sound.md").read_text(encoding="utf-8")
    verdicts = re.findall(r"^\| \S+ [\d.]+ \|.*\| (\w+) \| [^|]*\|$", table, re.MULTILINE)
    assert {"consistent", "inconclusive"} >= set(verdicts)
    assert f"audits {len(verdicts)} parts" in PAGE


def test_a_library_may_be_installed_without_what_it_requires(tmp_path, monkeypatch):
    script = tmp_path / "entry.py"
    script.write_text('"""An entry."""\n\n# requires: library==1.0 --no-deps numpy scipy<2\n', encoding="utf-8")
    commands: list[list[str]] = []
    monkeypatch.setitem(RUN["python_with"].__globals__, "CACHE", tmp_path)
    monkeypatch.setitem(RUN["python_with"].__globals__, "own_wheel", lambda: ROOT)
    monkeypatch.setattr("venv.EnvBuilder.create", lambda _, folder: folder.mkdir(parents=True, exist_ok=True))
    monkeypatch.setattr("subprocess.run", lambda command, **_: commands.append([str(word) for word in command[6:]]))
    for _ in range(2):
        RUN["python_with"](RUN["requirements"](script))
    quiet = ["--quiet", "--no-compile"]
    assert [[*quiet, "library==1.0", "--no-deps"], [*quiet, "numpy", "scipy<2", str(ROOT)]] == commands
