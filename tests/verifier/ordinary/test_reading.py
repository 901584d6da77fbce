"""Functions as people write them: read, or refused with a rewrite; what is read does what Python does."""

from __future__ import annotations

import random

import pytest

from dpaudit.promise import violation
from dpaudit.verifier.frontend import OutsideSubset, parse
from dpaudit.verifier.ir import contract_of
from dpaudit.verifier.ordinary import replaying
from dpaudit.verifier.ordinary.reading import read
from dpaudit.verifier.ordinary.refusing import REWRITES
from dpaudit.verifier.ordinary.replaying import Differs, compare, random_inputs, random_noise
from tests.verifier.ordinary.conftest import claimed


def _read(row):
    reading = read(row["text"], claimed(row), function=row.get("function"))
    return reading, parse(reading.text, reading.promise)


def _compared(row, runs):
    """The number of runs in which Python and the reading were compared."""
    reading, program = _read(row)
    source = random.Random(row["name"])  # noqa: S311 - data for comparisons
    noise = random_noise(source)
    inputs = (random_inputs(reading, program, source) for _ in range(runs))
    return sum(compare(reading, program, one, noise) for one in inputs if violation(contract_of(program).promise, one) is None)


def test_what_is_read_does_what_python_does(readable):
    try:
        assert _compared(readable, 40) > 0
    except OutsideSubset as error:
        pytest.skip(f"not read: {error}")


@pytest.mark.campaign
def test_what_is_read_does_what_python_does_many_times(readable):
    try:
        assert _compared(readable, 4000) > 0
    except OutsideSubset as error:
        pytest.skip(f"not read: {error}")


def test_a_wrong_reading_is_seen(monkeypatch):
    row = {"name": "x", "text": "def f(data: list[int], eps: Fraction):\n    return len(data) + laplace(1 / eps)\n"}
    monkeypatch.setattr(replaying, "_close", lambda one, other: one == other + 1)
    with pytest.raises(Differs):
        _compared(row, 20)


def test_most_are_read(row):
    if row.get("refused"):
        with pytest.raises(OutsideSubset) as refusal:
            _read(row)
        assert refusal.value.hint
    else:
        _read(row)


HEAD = "import numpy as np\n\n\ndef f(data: list[int], eps: float):\n"
REFUSED = {
    "rng = np.random.default_rng(3)\n    return len(data) + rng.laplace(0, 1 / eps)": "seed",
    "return [x + np.random.laplace(0, 1 / eps) for x in data]": "draw per record",
    "return sum(data) / len(data) + np.random.laplace(0, 1 / eps)": "private length",
    "return data[0] + np.random.laplace(0, 1 / eps)": "record by index",
    "return sorted(data, key=lambda x: -x)[0] + np.random.laplace(0, 1 / eps)": "sorted",
    "return len(data) + np.random.gumbel(0, 1 / eps)": "noise by hand",
    "g = (x for x in data)\n    return sum(g) + sum(g) + np.random.laplace(0, 1 / eps)": "two generators",
}


@pytest.mark.parametrize("body", REFUSED)
def test_a_refusal_names_its_line_and_a_rewrite(body):
    with pytest.raises(OutsideSubset) as refusal:
        read(HEAD + f"    {body}\n", claimed({"text": "eps"}))
    code, why, rewrite = REWRITES[REFUSED[body]]
    assert refusal.value.code == code
    assert refusal.value.line >= 5
    assert why in refusal.value.hint
    assert rewrite.split("{0}")[0].split("  #")[0] in refusal.value.hint
    assert len(why.split()) <= 12


REWRITTEN = [
    "rng = np.random.default_rng()\n    return len(data) + rng.laplace(0, 1 / eps)",
    "total = sum(1 for x in data) + np.random.laplace(0, 1 / eps)\n    return total",
    "total = sum(data)\n    n = len(data) + np.random.laplace(0, 1 / eps)\n    mean = total / max(n, 1)\n    return mean",
    "for record in data:\n        pass\n    return 0",
    "return sum(1 for x in data if x <= 3) + np.random.laplace(0, 1 / eps)",
    "return len(data) + np.random.laplace(0, 2 / eps)",
    "g = list(x for x in data)\n    return sum(g) + np.random.laplace(0, 1 / eps)",
    "k = 1\n    xs = [k for x in data]\n    later = 2\n    return sum(xs) + later + np.random.laplace(0, 1 / eps)",
]


@pytest.mark.parametrize("body", REWRITTEN)
def test_rewrites_are_read(body):
    reading = read(HEAD + f"    {body}\n", claimed({"text": "eps"}))
    assert parse(reading.text, reading.promise).name == "f"


def test_lines_types_and_reasons_are_those_of_the_source():
    text = HEAD.replace("data: list[int], eps: float", "data, eps") + "    return len(data) + np.random.laplace(0, 1 / eps)\n"
    reading = read(text, claimed({"text": "eps"}))
    assert {name: kind for name, kind, _ in reading.inputs} == {"data": "list[Fraction]", "eps": "Fraction"}
    assert [line for line, _ in reading.draws] == [5]
    assert reading.reals


def test_neighbours_are_told_in_the_data_of_the_source():
    text = "def f(data: list[tuple[int, bool]], eps: Fraction):\n    return sum(a for a, b in data if b) + laplace(1 / eps)\n"
    reading = read(text, claimed({"text": "eps"}))
    inputs = {"data__here": (1, 0, 1), "data__0": (5, 6, 7), "data__1": (1, 1, 0), "eps": 1}
    assert reading.back(inputs) == {"data": [(5, True), (7, False)], "eps": 1}


def test_replaced_records_have_all_fields_of_one_or_the_other():
    text = "def f(data: list[tuple[int, int]], eps: Fraction):\n    return sum(a * b for a, b in data) + laplace(1 / eps)\n"
    reading = read(text, claimed({"text": "eps", "adjacency": "replace_one"}))
    inputs = {"data__which": (0, 1), "data__0__old": (1, 2), "data__0__new": (3, 4), "data__1__old": (5, 6), "data__1__new": (7, 8)}
    assert reading.back({**inputs, "eps": 1})["data"] == [(1, 5), (4, 8)]
