"""Certified enclosures against the reference table, and the table's two methods against each other; provenance stands there.

With DPAUDIT_WHOLE_TABLE set, every value of the table is computed anew, and rows are asked that take long; otherwise values of a
spread sample that takes little time.
"""

from __future__ import annotations

import ast
import importlib.util
import os
from fractions import Fraction
from pathlib import Path

import pytest

from dpaudit import accounting
from dpaudit.accounting.engines import evaluate as engines
from dpaudit.accounting.model.composition import DeltaAt, EpsilonAt
from dpaudit.exact import Enclosure

_SPECIFICATION = importlib.util.spec_from_file_location("reference_table", Path(__file__).with_name("reference_table.py"))
reference_table = importlib.util.module_from_spec(_SPECIFICATION)
_SPECIFICATION.loader.exec_module(reference_table)

ROWS = reference_table.rows()["rows"]
NAMES = {name: getattr(accounting, name) for name in accounting.__all__}
WHOLE = bool(os.environ.get("DPAUDIT_WHOLE_TABLE"))
ANSWERED = [row for row in ROWS if WHOLE or not row.get("slow")]
QUICK = [row for row in ROWS if "near" not in row and not any("convolved" in method["name"] for method in row["methods"])]
AGAIN = ROWS if WHOLE else [row for row in QUICK if "alpha" not in row["ask"]][::9]


def imported(path):
    """The names that a module takes from the accountant."""
    found = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {
        name.name
        for node in found
        if isinstance(node, ast.ImportFrom) and node.module == "dpaudit.accounting"
        for name in node.names
    }


USERS = imported(Path(__file__).with_name("test_user_table.py"))  # what the table of users and matrices is made of


def title(row):
    """The loss, the way and the question."""
    return " ".join([row["loss"], *row.get("way", "").split(), *(f"{kind}={place}" for kind, place in row["ask"].items())])


def answer(row):
    """What the library says: the worse direction, or that of the row."""
    loss = eval(row["loss"], dict(NAMES))  # noqa: S307 - our own table
    ((kind, place),) = row["ask"].items()
    if "way" in row:
        question = DeltaAt(Fraction(place)) if kind == "epsilon" else EpsilonAt(Fraction(place))
        return engines._first_answer(loss.reversed() if row["way"] == "adding" else loss, question)[1]
    ask = {"epsilon": loss.delta, "delta": loss.epsilon, "alpha": loss.tradeoff, "order": loss.renyi}[kind]
    return ask(**row["ask"])


def known(row):
    """The value with what is unknown of it: the method that keeps more digits, or both methods and the digits they share."""
    exact = [Fraction(method["value"]) for method in row["methods"] if not method["name"].startswith("composition")]
    values = exact[-1:] or [Fraction(method["value"]) for method in row["methods"]]
    slack = Fraction(1, 10 ** (min(row["digits"], 22) if len(exact) != 1 else 18))
    return Enclosure(min(values) * (1 - slack), max(values) * (1 + slack))


def test_the_table_covers_every_law_and_scheme_with_two_methods_a_row():
    assert len(ROWS) >= 60
    assert all(len({method["name"] for method in row["methods"]}) == 2 for row in ROWS)
    apart = {*NAMES} - {name for row in ROWS for name in NAMES if f"{name}(" in row["loss"]}
    not_laws = {
        "Calibration",
        "Filter",
        "IndividualFilter",
        "Odometer",
        "PrivacyLoss",
        "calibrate",
        "loss_of_claim",
        "price_releases",
        "sensitivity",
    }
    strategies = {"FixedOrder", "Single", "Toeplitz", "Tree"}  # what a matrix mechanism is made of, compared with enumerations
    bounds = {
        "best_of_poisson_runs",
        "best_of_negative_binomial_runs",
        "sparse_vector",
    }  # prices of classes of mechanisms, with no member to compute
    assert apart - not_laws - strategies - USERS == bounds


@pytest.mark.parametrize("row", ROWS, ids=title)
def test_the_two_methods_of_a_row_agree(row):
    first, second = (Fraction(method["value"]) for method in row["methods"])
    assert abs(first - second) <= max(first, second) / 10 ** row["digits"]


@pytest.mark.parametrize("row", ANSWERED, ids=title)
def test_the_enclosure_contains_the_reference_value(row):
    found, value = answer(row), known(row)
    assert found.upper >= value.lower
    if row["side"] == "both":
        assert found.meets(value)
        assert found.width <= found.upper * Fraction(row["width"])
    elif row["side"] == "upper":
        assert found.lower <= value.upper
        assert found.upper <= value.upper * (1 + Fraction(row["width"]))


@pytest.mark.parametrize("row", [row for row in ROWS if "published" in row], ids=title)
def test_the_table_agrees_with_what_was_published_before(row):
    published = Fraction(row["published"])
    assert all(abs(Fraction(method["value"]) - published) <= published / 10**4 for method in row["methods"])


@pytest.mark.parametrize("row", AGAIN, ids=title)
def test_the_oracles_still_give_the_table(row):
    for method in row["methods"]:
        digits = min(row["digits"], 20)
        with reference_table.mp.workdps(reference_table.DIGITS):
            gap = reference_table.distance(reference_table.recompute(row, method), method["value"])
        assert gap <= reference_table.mpf(10) ** -digits
