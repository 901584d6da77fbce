"""What `dpaudit scan` reads, says, suppresses and leaves out."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from devtools.survey import ROOT
from dpaudit.cli import main
from dpaudit.errors import InvalidArgument
from dpaudit.scan import RULES, scan

COUNT = """
import numpy as np


def noisy_count(records, epsilon):
    return len(records) + np.random.laplace(0, epsilon / 1.0)  # differential privacy
"""


def run(*arguments):
    return CliRunner().invoke(main, ["scan", *map(str, arguments)])


@pytest.fixture
def count(tmp_path):
    path = tmp_path / "count.py"
    path.write_text(COUNT, encoding="utf-8")
    return path


def notebook(*cells, language="python"):
    made = [{"cell_type": "code", "source": cell.splitlines(keepends=True), "metadata": {}, "outputs": []} for cell in cells]
    return json.dumps(
        {"cells": made, "metadata": {"language_info": {"name": language}}, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def test_findings_are_told_with_file_and_line_and_end_with_what_was_not_looked_at(count):
    (count.parent / "plain.py").write_text("print(1)\n", encoding="utf-8")
    result = run(count.parent)
    assert 1 == result.exit_code
    assert f"{count}:6: DP301 " in result.output
    assert "3 findings in 1 file" in result.output
    assert "Not looked at: 1 file without a sign of differential privacy." in result.output
    assert "No finding does not mean private" in result.output.splitlines()[-1]


def test_nothing_found_is_never_called_safe(tmp_path):
    (tmp_path / "plain.py").write_text("print(1)\n", encoding="utf-8")
    result = run(tmp_path)
    assert 0 == result.exit_code
    assert "0 findings in 0 files" in result.output
    assert "No finding does not mean private" in result.output.splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# differential privacy\nprint 'two'\n", "no Python 3 that can be parsed, line 2"),
        ("# -*- coding: nonsense -*-\n# differential privacy\n", "no text in its encoding"),
    ],
)
def test_a_file_that_cannot_be_read_leaves_the_scan_inconclusive(text, reason, tmp_path):
    path = tmp_path / "old.py"
    path.write_text(text, encoding="utf-8")
    result = run(path)
    assert 3 == result.exit_code
    assert f"Not read: {path}: {reason}." in result.output


def test_a_comment_with_a_reason_suppresses_one_rule_on_its_line_or_the_next(count):
    line = "    return len(records)"
    count.write_text(COUNT.replace("# differential privacy", "# dpaudit: ignore[DP301] a demonstration"), encoding="utf-8")
    assert {"DP101", "DP102"} == {one.code for one in scan([str(count)]).findings}
    count.write_text(COUNT.replace(line, f"    # dpaudit: ignore[DP101, DP102, DP301] no release\n{line}"), encoding="utf-8")
    assert ((), 3) == (scan([str(count)]).findings, scan([str(count)]).suppressed)


def test_a_comment_without_a_reason_suppresses_nothing(count):
    count.write_text(COUNT.replace("# differential privacy", "# dpaudit: ignore[DP301]"), encoding="utf-8")
    assert "DP301" in {one.code for one in scan([str(count)]).findings}


def test_rules_are_chosen_and_left_out_by_code(count):
    assert {"DP301"} == {one.code for one in scan([str(count)], select=["DP301"]).findings}
    assert {"DP301"} == {one.code for one in scan([str(count)], ignore=["dp101,DP102"]).findings}
    with pytest.raises(InvalidArgument, match="DP999"):
        scan([str(count)], ignore=["DP999"])


def test_cells_of_a_notebook_are_read_on_their_own_with_the_names_of_earlier_ones(tmp_path):
    path = tmp_path / "book.ipynb"
    path.write_text(
        notebook(
            "%matplotlib inline\nimport numpy as np",
            "for for",
            "!pip install x\nepsilon = 1\n\nprint(np.random.laplace(0, epsilon) + count)",
        ),
        encoding="utf-8",
    )
    found = scan([str(path)])
    (wrong,) = [one for one in found.findings if one.code == "DP301"]
    assert (3, 4) == (wrong.cell, wrong.cell_line)
    assert "epsilon) + count" in path.read_text(encoding="utf-8").split("\n")[wrong.line - 1]
    assert [f"{path} cell 2"] == [one.path for one in found.broken]


def test_a_notebook_in_another_language_is_none_of_ours(tmp_path):
    path = tmp_path / "book.ipynb"
    path.write_text(notebook("x <- laplace(1)", language="R"), encoding="utf-8")
    assert ([], ["a notebook in another language"]) == (
        [*scan([str(path)]).broken],
        [one.reason for one in scan([str(path)]).unread],
    )


def test_nothing_of_a_file_is_run(tmp_path):
    path = tmp_path / "loud.py"
    path.write_text(f"{COUNT}\nopen({str(tmp_path / 'touched')!r}, 'w')\nraise SystemExit(9)\n", encoding="utf-8")
    assert 1 == run(path).exit_code
    assert not (tmp_path / "touched").exists()


def test_tests_and_hidden_folders_are_left_out_unless_they_are_named(count):
    for name in ("tests/test_count.py", ".hidden/count.py", "venv/lib/count.py"):
        (count.parent / name).parent.mkdir(parents=True)
        (count.parent / name).write_text(COUNT, encoding="utf-8")
    assert 1 == scan([str(count.parent)]).read
    assert ["test"] == [one.kind for one in scan([str(count.parent)]).unread]
    assert 2 == scan([str(count.parent)], tests=True).read
    assert 1 == scan([str(count.parent / "tests" / "test_count.py")]).read


def test_json_sarif_and_workflow_commands_hold_the_same_findings(count, tmp_path):
    document = json.loads(run(count, "--json", "--sarif", tmp_path / "out.sarif").output)
    told = {(one["code"], one["line"]) for one in document["findings"]}
    assert {("DP101", 6), ("DP102", 6), ("DP301", 6)} == told
    (sarif,) = json.loads((tmp_path / "out.sarif").read_text(encoding="utf-8"))["runs"]
    places = [(one["ruleId"], one["locations"][0]["physicalLocation"]["region"]["startLine"]) for one in sarif["results"]]
    assert told == set(places)
    assert [*RULES] == [one["id"] for one in sarif["tool"]["driver"]["rules"]]
    commands = CliRunner().invoke(main, ["scan", str(count), "--github"]).stderr
    assert 1 == commands.count("::error file=")
    assert 2 == commands.count("::notice file=")


@pytest.mark.parametrize("code", RULES)
def test_every_rule_is_explained(code):
    result = run("--explain", code.lower())
    assert 0 == result.exit_code
    assert f"{code} {RULES[code].title}" in result.output
    assert RULES[code].meaning.endswith(".")
    assert RULES[code].remedy.endswith(".")


def test_all_rules_are_listed_and_an_unknown_one_is_refused():
    assert len(RULES) == len(run("--explain", "all").output.splitlines())
    assert 2 == run("--explain", "DP999").exit_code
    assert 2 == run().exit_code


@pytest.mark.slow
def test_our_own_code_has_the_faults_that_are_there_on_purpose_and_no_other(monkeypatch):
    monkeypatch.chdir(ROOT)
    found = scan(["dpaudit", "mechanisms", "learners", "proofs", "examples", "docs"])
    assert () == found.broken
    assert [
        ("examples/plain_mean.py", "DP101"),
        ("examples/plain_mean.py", "DP102"),
        ("examples/sklearn_centroid.py", "DP101"),
        ("examples/sklearn_centroid.py", "DP102"),
        ("mechanisms/targets/story.py", "DP202"),
    ] == sorted({(one.path, one.code) for one in found.findings})


def test_a_scan_imports_nothing_heavy():
    code = "import sys; from dpaudit.scan import scan; scan(['dpaudit/scan']); print({'numpy','click','flint'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True, env={**os.environ})
    assert "set()" == done.stdout.strip()
