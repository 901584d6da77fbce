"""Certified enclosures against a second implementation in mpmath; provenance stands in the table itself."""

import importlib.util
import json
from fractions import Fraction
from pathlib import Path

import pytest

from dpaudit import accounting
from dpaudit.exact import Enclosure

HERE = Path(__file__).parent
ROWS = json.loads((HERE / "accounting_profiles.json").read_text(encoding="utf-8"))["rows"]
NAMES = [f"{row['loss']} {row['ask']}" for row in ROWS]
ANSWER_DIGITS = {"epsilon": 25, "delta": 16}


def answer(row):
    loss = eval(row["loss"], {name: getattr(accounting, name) for name in accounting.__all__})  # noqa: S307 - our own table
    return loss.delta(**row["ask"]) if "epsilon" in row["ask"] else loss.epsilon(**row["ask"])


def digits_of(row):
    return ANSWER_DIGITS["epsilon" if "epsilon" in row["ask"] else "delta"]


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_enclosure_contains_the_reference_value(row):
    value, slack = Fraction(row["value"]), Fraction(1, 10 ** digits_of(row))
    reference = Enclosure(value * (1 - slack), value * (1 + slack))
    assert reference.meets(answer(row))


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_enclosure_is_narrow(row):
    found = answer(row)
    assert found.width <= found.upper / 10 ** (12 if "epsilon" in row["ask"] else 9)


@pytest.mark.parametrize("row", [row for row in ROWS if "near" not in row][::3])
def test_the_oracle_still_gives_the_table(row):
    specification = importlib.util.spec_from_file_location("accounting_oracle", HERE / "accounting_oracle.py")
    oracle = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(oracle)
    with oracle.mp.workdps(oracle.DIGITS):
        recomputed, stored = oracle.recompute(row), oracle.mpf(row["value"])
        assert abs(recomputed - stored) <= abs(stored) * oracle.mpf(10) ** -28


@pytest.mark.parametrize(
    ("delta", "epsilon"),
    [("1e-6", "649.385089471"), ("1e-12", "721.547174372"), ("1e-20", "792.024030129"), ("1e-30", "861.671145092")],
)
def test_a_thousand_unit_gaussians_cost_what_the_specification_says(delta, epsilon):
    found = (1000 * accounting.gaussian(1)).epsilon(delta=delta)
    assert abs(Fraction(epsilon) - found.lower) <= Fraction(1, 10**6)
    assert abs(Fraction(epsilon) - found.upper) <= Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(250, "7.829414176e-5"), (300, "6.646136005e-12"), (400, "9.552317e-42"), (499, "3.5777e-140")]
)
def test_bounds_on_five_hundred_laplace_releases_contain_the_published_deltas(epsilon, delta):
    assert (500 * accounting.laplace(1)).delta(epsilon=epsilon).contains(delta)
