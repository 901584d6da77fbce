"""Code as people write it: each fault is found under its code at its line, and nothing else is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from dpaudit.scan import RULES, scan

HERE = Path(__file__).parent
CASES = {case["name"]: case for case in tomllib.loads((HERE / "snippets.toml").read_text(encoding="utf-8"))["case"]}
FLOATS = {"DP101", "DP102"}
"""Rules that every draw of numpy's breaks; cases ask for them only where they say so."""


def wanted(code):
    marked = ((number, re.search(r"# <- (.*)", line)) for number, line in enumerate(code.split("\n"), start=1))
    return {(one, number) for number, found in marked if found for one in found[1].split()}


def found_in(code, folder, name="release.py"):
    path = folder / name
    path.write_text(code, encoding="utf-8")
    return {(one.code, one.line) for one in scan([str(path)]).findings}


@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_found_at_its_line_and_sound_code_is_left_alone(name, tmp_path):
    case = CASES[name]
    found = found_in(case["code"], tmp_path)
    assert wanted(case["code"]) == (found if case.get("floats") else {one for one in found if one[0] not in FLOATS})


def test_the_cases_are_thirty_half_of_them_sound():
    assert 30 == len(CASES)
    assert 15 == sum("# <-" in case["code"] for case in CASES.values())


@pytest.mark.parametrize("name", ["variants.txt", "variants_more.txt"])
def test_every_fault_of_a_longer_file_is_found_and_nothing_else(name, tmp_path):
    code = (HERE / name).read_text(encoding="utf-8")
    found = found_in(code, tmp_path)
    lines = {number for _, number in wanted(code)}
    assert wanted(code) <= found
    assert set() == {(one, number) for one, number in found if one not in FLOATS and number not in lines}


def test_every_rule_has_a_case():
    texts = [case["code"] for case in CASES.values()] + [(HERE / "variants.txt").read_text(encoding="utf-8")]
    assert set(RULES) == {code for text in texts for code, _ in wanted(text)}
