"""Whole numbers that a machine word does not hold, and arrays of them, are refused or computed exactly (B8)."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.binding import bind
from dpaudit.errors import InvalidArgument
from dpaudit.guard import Guard
from dpaudit.spec import spec
from mechanisms import LaplaceMechanism, lattice, steps
from mechanisms.lattice import clamp_to_lattice
from tests.verifier.test_binding import never, unhidden

ONE = Fraction(1)


@spec(claim=0, adjacency="one")
def total(q: list[int], *, laplace) -> int:
    """A sum that leaves 64 bits."""
    found = 0
    for i in range(len(q)):
        found += q[i]
    return found + laplace(0)


LARGE = ([2**62, 2**62], [2**63, -1], [2**63 - 1, 2**63 - 1], [-(2**63), -1])
AS_LIST = (Guard._copied, "if type(value) is not list:", "if False:")
AS_NUMBER = (Guard._number, "if type(value) is not wanted:", "if False:")


@pytest.mark.parametrize("values", LARGE, ids=repr)
def test_sums_past_a_machine_word_are_exact(values):
    assert sum(values) == bind(total, production={}).with_test_samplers(values, laplace=lambda _: 0)


@pytest.mark.parametrize("array", [*map(np.array, LARGE), np.array([2**63], dtype=object), np.array([2**63], dtype=np.uint64)])
def test_arrays_and_their_numbers_are_refused(array):
    for values in (array, list(array)):
        if type(values[0]) is not int:
            with pytest.raises(InvalidArgument, match="DPA724"):
                bind(total, production={}).with_test_samplers(values, laplace=never)


@pytest.mark.parametrize(
    ("kept", "said"), [((), None), ((AS_LIST,), "q must be of type list"), ((AS_NUMBER,), r"q\[0\] must be of type int")]
)
def test_only_without_both_checks_a_sum_wraps_around(kept, said, monkeypatch):
    for function, old, new in {AS_LIST, AS_NUMBER} - set(kept):
        monkeypatch.setattr(function, "__code__", unhidden(function, (old, new)))
    release = bind(total, production={})
    with np.errstate(over="ignore"), pytest.raises(InvalidArgument, match=said) if said else contextlib.nullcontext():
        assert -(2**63) == release.with_test_samplers(np.array([2**62, 2**62]), laplace=lambda _: 0)


@pytest.mark.parametrize(
    ("code", "array"),
    [
        ("DPA108", np.array([2**63, -1])),
        ("DPA108", np.array([2**62, 2**62])),
        ("DPA108", np.array([2**63], dtype=np.uint64)),
        ("DPA105", np.array([2**63, -1], dtype=object)),
    ],
)
def test_mechanisms_refuse_arrays_that_do_not_hold_what_they_stand_for(code, array):
    with pytest.raises(InvalidArgument, match=code):
        LaplaceMechanism(sensitivity=1, epsilon=1).release(array)


def test_without_its_limit_an_unsigned_number_changes_its_sign(monkeypatch):
    edit = ("if int(values.max()) > INTEGER_LIMIT or int(values.min()) < -INTEGER_LIMIT:", "if False:")
    monkeypatch.setattr(steps._integer_steps, "__code__", unhidden(steps._integer_steps, edit))
    assert [-(2**63)] == steps.array_steps(np.array([2**63], dtype=np.uint64), ONE)[0].tolist()


@pytest.mark.parametrize("dtype", [object, np.uint64])
def test_contributions_past_a_machine_word_are_clamped_exactly(dtype):
    assert [2**61] == clamp_to_lattice(np.array([2**63], dtype=dtype), lower=0, upper=2**61).tolist()
    assert [9] == clamp_to_lattice(np.array([2**63], dtype=dtype), lower=0, upper=9).tolist()
    assert [9, -1] == clamp_to_lattice([2**63, -1], lower=-9, upper=9).tolist()


def test_without_its_own_way_an_unsigned_contribution_changes_its_sign(monkeypatch):
    edit = ('if array.dtype.kind == "u":', "if False:")
    monkeypatch.setattr(lattice._clamped_integers, "__code__", unhidden(lattice._clamped_integers, edit))
    assert [0] == clamp_to_lattice(np.array([2**63], dtype=np.uint64), lower=0, upper=9).tolist()
