"""Users, batches, matrices and random allocation against a table that other code computed with 30 digits and more."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from dpaudit.accounting import (
    CyclicPoisson,
    MinSeparation,
    Poisson,
    RandomAllocation,
    SampledWithReplacement,
    TruncatedPoisson,
    compose,
    gaussian,
    gaussian_mixture,
    matrix_mechanism,
    prefix_root,
    pure_dp,
    sensitivity,
    toeplitz,
)
from dpaudit.accounting.engines.bounds import certified_bounds
from dpaudit.accounting.engines.closed_forms import closed_form
from dpaudit.accounting.engines.contour import contour
from dpaudit.accounting.model.composition import DeltaAt, EpsilonAt

ROWS = json.loads((Path(__file__).parent / "user_table.json").read_text(encoding="utf-8"))["rows"]


def listed(text):
    """The numbers between brackets."""
    return [Fraction(part) for part in text.split(", ")]


def number(name, text, default=None):
    """The number behind a name."""
    found = re.search(rf"\b{name} (\d+(?:/\d+)?)", text)
    return default if found is None else Fraction(found[1])


def loss_of(text):
    """The loss that a row of the table names."""
    kind, sigma, steps = text.split(" ")[0], number("sigma", text), int(number("steps", text, 1))
    rate = number("q", text)
    if kind == "mixture":
        c, w = (listed(found) for found in re.findall(r"\(([^)]*)\)", text))
        return steps * gaussian_mixture(sigma=sigma, sensitivities=c, weights=w)
    if kind == "group":
        removed, added = int(number("removed", text)), int(number("added", text, 0))
        return steps * gaussian(sigma=sigma).sampled(Poisson(rate)).group(removed=removed, added=added)
    if kind == "replace-one":
        return steps * gaussian(sigma=sigma).sampled(Poisson(number("Poisson q", text))).under("replace_one")
    if kind == "banded":
        bands = int(number("bands", text))
        scheme = CyclicPoisson(rate=number("rate", text), bands=bands)
        return matrix_mechanism(
            toeplitz(prefix_root(bands=bands), steps=steps), noise_multiplier=number("nm", text), participation=scheme
        )
    if kind == "with":
        scheme = SampledWithReplacement(size=int(number("size", text)), of=int(number("of", text)))
        return gaussian(sigma=sigma, adjacency="replace_one").sampled(scheme)
    if kind == "truncated":
        batch = TruncatedPoisson(rate=rate, cap=int(number("cap", text)), records=int(number("records", text)))
        return gaussian(sigma=sigma).sampled(batch)
    if kind == "one":
        releases = compose(int(number("gaussians", text)) * gaussian(sigma=sigma), pure_dp(number("pure", text)))
        return releases.sampled(Poisson(rate), together=True)
    return gaussian(sigma=sigma).sampled(RandomAllocation(int(number("slots", text))))


def answer(row):
    """What the accountant says; in the direction that the row names where that is not the worse one."""
    loss, (name, at) = loss_of(row["mechanism"]), row["question"].split(",")[0].split(" ")[:2]
    question = DeltaAt(Fraction(at)) if name == "delta" else EpsilonAt(Fraction(at))
    if "add" not in row["question"]:
        return loss.delta(epsilon=at) if name == "delta" else loss.epsilon(delta=at)
    backward = loss.reversed().composition
    return closed_form(backward, question) or contour(backward, question) or certified_bounds(backward, question)


def is_long(row):
    """True for rows whose composition, or whose table of ratios, takes more than a moment."""
    mechanism = row["mechanism"]
    return ("steps" in mechanism and not mechanism.startswith("S^2")) or mechanism.startswith("random_allocation")


def check(row):
    """The interval contains the value, and is as narrow as promised."""
    value, room = Fraction(row["value"]), Fraction(1, 10 ** min(19, len(row["value"].lstrip("0.").split("e")[0]) - 1))
    low, high = value * (1 - room), value * (1 + room)  # the digits that are written down
    if row["mechanism"].startswith("S^2"):
        bands, steps, count, apart = (int(number(name, row["mechanism"])) for name in ("bands", "steps", "k", "sep"))
        found = sensitivity(toeplitz(prefix_root(bands=bands), steps=steps), MinSeparation(apart, participations=count))
        assert found.lower**2 <= high
        assert low <= found.upper**2
        assert found.width <= found.upper / 10**12
        return
    found = answer(row)
    assert found.lower <= high
    assert low <= found.upper
    if "upper" in row["question"]:
        assert found.lower <= value * (1 + Fraction(1, 10**9))
        assert found.upper <= value * Fraction(1001, 1000)
    else:
        assert found.width <= found.upper / (1000 if row["question"].startswith("delta") else 10_000)


@pytest.mark.parametrize("row", [row for row in ROWS if not is_long(row)], ids=lambda row: f"{row['mechanism']} {row['question']}")
def test_single_releases_and_sensitivities_agree_with_the_table(row):
    check(row)


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("row", [row for row in ROWS if is_long(row)], ids=lambda row: f"{row['mechanism']} {row['question']}")
def test_compositions_and_random_allocations_agree_with_the_table(row):
    check(row)
