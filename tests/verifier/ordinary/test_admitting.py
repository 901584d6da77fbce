"""Programs that were written to deceive are refused, or read as Python reads them and not proven; ordinary ones are read."""

from __future__ import annotations

import random

import pytest

from dpaudit.errors import Unsupported
from dpaudit.promise import violation
from dpaudit.spec import Spec
from dpaudit.verifier import verify
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.ir import ListOf, contract_of
from dpaudit.verifier.ordinary.lines import SHOWN
from dpaudit.verifier.ordinary.reading import read
from dpaudit.verifier.ordinary.replaying import Differs, compare, random_inputs, random_noise
from tests.verifier.ordinary.conftest import rows

_FILES = (
    "attacks",
    "attacks_again",
    "attacks_third",
    "attacks_heap",
    "attacks_fourth_objects",
    "attacks_fourth_calls",
    "attacks_fifth",
    "attacks_sixth",
    "attacks_seventh",
    "attacks_eighth",
    "attacks_ninth",
    "attacks_tenth",
    "attacks_eleventh",
)
ATTACKS = [row for name in _FILES for row in rows(name)]
HEAD = "import numpy as np\n\ndef f(data: list[int], eps):\n"
RECORD = 12345
"""The record that most of the programs treat in a way of its own."""
PROVEN_WITHOUT = (
    "p14",
    "p16",
    "p17",
    "p19",
    "p20",
    "p24",
    "q25_getattr_seed",
    "q26_alias_patch",
    "q27_builtins_patch",
    "q28_rebind_if",
)


def _adjacency(row):
    """The relation that a program is about."""
    return "replace_one" if "# replace" in row["text"] else row.get("adjacency", "add_remove")


def _inputs(reading, program, source):
    """Data in which the record often is."""
    found = random_inputs(reading, program, source)
    for one in program.parameters:
        values = list(found[one.name]) if isinstance(one.sort, ListOf) else []
        if values and not reading.state.texts and not one.name.endswith(("__here", "__which")) and source.random() < 0.6:
            values[source.randrange(len(values))] = RECORD
            found[one.name] = tuple(values)
    return found


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["name"])
def test_a_program_that_was_written_to_deceive_is_refused_or_read_as_python_reads_it(attack):
    try:
        reading = read(attack["text"], Spec("1", _adjacency(attack)), function="f")
        program = parse(reading.text, reading.promise)
    except Unsupported:
        return
    source = random.Random(5)  # noqa: S311 - data for comparisons
    noise, promise = random_noise(source), contract_of(program).promise
    data = [one for one in (_inputs(reading, program, source) for _ in range(25)) if violation(promise, one) is None]
    try:
        assert sum(compare(reading, program, one, noise) for one in data) > 0
    except Differs:
        # A function that is not computed may fail: what it is computed of was put out before, and a verdict is withdrawn.
        assert SHOWN in reading.state.outputs


@pytest.mark.campaign
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack["name"])
def test_a_program_that_was_written_to_deceive_is_not_proven(attack):
    try:
        found = verify(attack["text"], claim="1", adjacency=_adjacency(attack), function="f", seconds=10)
    except Unsupported:
        return
    # Of two equal keys of a dictionary the later one counts: with a reader that knows, the claim holds.
    assert attack.get("holds") or not found.status.startswith("proven")


@pytest.mark.parametrize("name", PROVEN_WITHOUT)
def test_what_the_file_may_change_is_refused(name):
    row = next(row for row in ATTACKS if row["name"] == name)
    with pytest.raises(Unsupported):
        read(row["text"], Spec("1", "add_remove"), function="f")


@pytest.mark.parametrize(
    "body",
    [
        "    return len(data) + np.random.laplace(0, 1 / eps)\n",
        "    total = 0\n    for x in data:\n        total += min(max(x, 0), 9)\n    return total + np.random.laplace(0, 9 / eps)\n",
        "    big = sum(1 for x in data if x > 9)\n    noisy = big + np.random.laplace(0, 1 / eps)\n    return f'{noisy} of them'\n",
        "    if eps <= 0:\n        raise ValueError\n    return round(len(data) + np.random.laplace(0, 1 / eps))\n",
    ],
)
def test_an_ordinary_function_is_read(body):
    assert read(HEAD + body, Spec("eps", "add_remove", requires=["eps > 0"]), function="f").draws


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    n = 0\n    for x in data:\n        n += 1\n    return x + np.random.laplace(0, 1)\n", "x, which the loop of line 5"),
        ("    d = {}\n    if eps > 1:\n        d['a'] = 1\n    return len(d)\n", "`len(d)`"),
        ("    k = 1\n    if len(data) > 3:\n        k = None\n    return k is None\n", "k, which is one of two different things"),
        ("    try:\n        n = sum(data)\n    except ValueError:\n        n = 2\n    return n\n", "`try`"),
        ("    if len(data) > 3:\n        raise ValueError(len(data))\n    return 0\n", "an error that shows data"),
        ("    return getattr(np.random, 'laplace')(0, 1)\n", "the name getattr"),
        ("    u = np.random.random()\n    return u < 0.5, u < 0.7\n", "`u < 0.7`"),
        (
            "    def g():\n        for x in data:\n            if x > 9:\n                return 1\n    return g()\n",
            "a return from a loop",
        ),
    ],
)
def test_a_refusal_names_the_form_and_what_to_write(body, said):
    with pytest.raises(Unsupported) as refusal:
        read(HEAD + body, Spec("eps", "add_remove"), function="f")
    assert said in str(refusal.value)


def test_a_number_that_is_an_int_in_some_runs_is_not_proven():
    lines = [
        "def f(data: list[int], eps: Fraction):",
        "    s = 0",
        "    for x in data:",
        "        s += Fraction(0)",
        "    return s",
    ]
    text = "\n".join(["from fractions import Fraction", *lines, ""])
    found = verify(text, claim="eps", adjacency="add_remove", seconds=5)
    assert found.status == "unknown"
    assert "whose type may show the data" in found.reason
