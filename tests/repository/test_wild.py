"""Entries of docs/found_in_the_wild.md: each has a script, the version of its library, a drafted report and a section."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from devtools.survey import ROOT

WILD = ROOT / "examples" / "wild"
PAGE = (ROOT / "docs" / "found_in_the_wild.md").read_text(encoding="utf-8")
ENTRIES = sorted(path.stem for path in WILD.glob("[!_]*.py"))


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
