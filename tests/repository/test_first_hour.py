"""The mistakes of a first hour: what is typed, and the whole text of the answer, for readers without the documentation."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from dpaudit.cli import main
from dpaudit.errors import CODES

LIST = tomllib.loads(Path(__file__).with_name("first_hour.toml").read_text(encoding="utf-8"))
MISTAKES = LIST["mistake"]
PLANTED = "zebulon"


@pytest.fixture
def typed(tmp_path, monkeypatch):
    """Run a command line in a folder with a file of targets and, where it is given, a file of records."""

    def run(command: str, file: str | None = None, people: str = "") -> Result:
        (tmp_path / "first.py").write_text(LIST["file"] if file is None else file, encoding="utf-8")
        (tmp_path / "first.ipynb").write_text("{}", encoding="utf-8")
        if people:
            (tmp_path / "people.csv").write_text(people, encoding="utf-8")
        program, *words = shlex.split(command)
        return CliRunner().invoke(main, words, prog_name=program)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("DPAUDIT_DEBUG", raising=False)
    return run


PROGRESS = re.compile(r"^audit: target .* elapsed\n?", flags=re.MULTILINE)
"""The line that a slow machine adds every ten seconds."""


def told(result: Result) -> str:
    """All of stderr but progress, and of a report what it says of the one target, on one line."""
    paragraphs = result.stdout.split("\n\n")
    about = " ".join(paragraphs[1].split()) if "Exit code" in result.stdout else ""
    said = PROGRESS.sub("", result.stderr).strip()
    return f"{said}\n{about}".strip()


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake["what"])
def test_a_mistake_of_the_first_hour_is_answered_by_this_text(typed, mistake):
    result = typed(mistake["command"], mistake.get("file"), mistake.get("people", ""))
    assert mistake["says"].strip() == told(result)
    assert mistake["exit"] == result.exit_code


def test_there_are_more_than_forty_of_them_and_each_answer_names_its_line_or_what_to_write():
    assert 40 < len({mistake["what"] for mistake in MISTAKES}) == len(MISTAKES)
    for mistake in MISTAKES:
        text = mistake["says"]
        assert all(code in CODES for code in re.findall(r"DPA\d{3}", text)) or "DPA40" in mistake["command"], text
        assert "Traceback" not in text, text
        assert "NoneType" not in text, text
        if "file" in mistake and mistake["exit"] == 4:
            assert re.search(r"first\.py:\d+|Add to it", text), text


@pytest.mark.parametrize(
    "body",
    [
        "raise ValueError(data[0])",
        "raise KeyError(data[0])",
        "return {}[data[0]]",
        "return getattr(rng, data[0])",
        "return open(data[0])",
        "return int(data[0])",
        "return release(**{data[0]: 1})",
        "return eval(data[0])",
        "return type(data[0], (), {})().age",
    ],
)
def test_no_text_quotes_data_until_the_traceback_is_asked_for(typed, body):
    source = LIST["file"].replace("return len(data) + rng.laplace()", body)
    assert source != LIST["file"]
    source = source.replace("data=[1, 2, 3]", 'data=["Zebu" "lon".upper().lower(), "b"]')
    hidden = typed("dpaudit audit first.py", source)
    assert (4, True) == (hidden.exit_code, "first.py:5" in hidden.stdout)
    assert PLANTED not in (hidden.stdout + hidden.stderr).lower()
    shown = typed("dpaudit audit first.py --debug", source)
    assert (4, True) == (shown.exit_code, PLANTED in shown.stderr.lower())
    assert PLANTED not in shown.stdout.lower()


def test_the_traceback_of_a_failed_import_is_printed_on_request(typed):
    source = "word = 'Zebu' + 'lon'.upper()\nlimit = int(word)\n"
    hidden = typed("dpaudit audit first.py", source)
    assert (4, False) == (hidden.exit_code, "ZebuLON" in hidden.stdout + hidden.stderr)
    shown = typed("dpaudit audit first.py --debug", source)
    assert (4, True) == (shown.exit_code, "ZebuLON" in shown.stderr)
    assert "Traceback" in shown.stderr
