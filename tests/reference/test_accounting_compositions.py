"""Compositions without a closed form against a second implementation; provenance stands in the table itself."""

import importlib.util
import json
from fractions import Fraction
from pathlib import Path

import pytest

from dpaudit import accounting
from dpaudit.accounting.engines import evaluate
from dpaudit.accounting.laws.sampled import poisson_sampled
from dpaudit.accounting.questions import DeltaAt, EpsilonAt
from dpaudit.exact import Enclosure

HERE = Path(__file__).parent
ROWS = json.loads((HERE / "accounting_compositions.json").read_text(encoding="utf-8"))["rows"]
NAMES = {name: getattr(accounting, name) for name in accounting.__all__} | {"poisson_sampled": poisson_sampled}
SLACK = Fraction(1, 10**6)


def loss_of(row):
    return eval(row["loss"], dict(NAMES))  # noqa: S307 - our own table


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['loss']} {row['epsilon']}")
def test_delta_of_a_composition_is_enclosed_narrowly(row):
    value = Fraction(row["value"])
    found = evaluate(loss_of(row), DeltaAt(Fraction(row["epsilon"])))
    assert found.meets(Enclosure(value * (1 - SLACK), value * (1 + SLACK)))
    assert found.width <= found.upper / 500


@pytest.mark.parametrize("row", ROWS[::3], ids=lambda row: f"{row['loss']} {row['epsilon']}")
def test_epsilon_of_a_composition_is_enclosed_narrowly(row):
    epsilon = Fraction(row["epsilon"])
    found = evaluate(loss_of(row), EpsilonAt(Fraction(row["value"])))
    assert found.lower <= epsilon * (1 + SLACK)
    assert found.upper >= epsilon * (1 - SLACK)
    assert found.width <= found.upper / 1000


@pytest.mark.parametrize("row", [row for row in ROWS if "published" in row])
def test_the_table_agrees_with_what_was_published_before(row):
    assert abs(Fraction(row["value"]) - Fraction(row["published"])) <= Fraction(row["published"]) / 10**4


@pytest.mark.parametrize("row", ROWS[::2])
def test_the_oracle_still_gives_the_table(row):
    specification = importlib.util.spec_from_file_location("composition_oracle", HERE / "composition_oracle.py")
    oracle = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(oracle)
    recomputed = Fraction(oracle.rounded(oracle.delta(float(row["epsilon"]), row["parts"])))
    assert abs(recomputed - Fraction(row["value"])) <= Fraction(row["value"]) / 10**6
