"""The verdicts on the papers against a table that other code computed: closed forms, mpmath, fractions, linear programs."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path

import pytest

from devtools.survey import ROOT
from dpaudit.report.dossier import from_json

HERE = Path(__file__).parent
TABLE = json.loads((HERE / "papers_table.json").read_text(encoding="utf-8"))
ITEMS = {item.key: item for item in from_json((ROOT / "benchmarks/results/papers.json").read_bytes()).items}


def oracle():
    """The module beside this one; test folders are no packages."""
    specification = importlib.util.spec_from_file_location("papers_oracle", HERE / "papers_oracle.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def figures(item):
    """Every number in what was found."""
    text = " ".join((item.says, item.number, *(witness.says for witness in item.witnesses)))
    numbers = [float(found.replace(",", "")) for found in re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?", text)]
    return [*numbers, *(int(top) / int(below) for top, below in re.findall(r"\b(\d+)/([1-9]\d*)\b", text))]


def test_ten_items_and_more_are_computed_again():
    assert 10 <= len(TABLE)
    assert TABLE.keys() <= ITEMS.keys()


@pytest.mark.parametrize("key", TABLE)
def test_the_table_holds_what_its_code_computes(key):
    assert TABLE[key]["values"] == oracle().computed(key)


@pytest.mark.parametrize("key", TABLE)
def test_the_run_found_the_same_numbers_and_the_same_verdict(key):
    assert TABLE[key]["standing"] == ITEMS[key].standing
    shown = figures(ITEMS[key])
    for name, value in TABLE[key]["values"].items():
        assert any(abs(float(value) - figure) <= 0.04 * abs(float(value)) for figure in shown), (name, value, shown)
