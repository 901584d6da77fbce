"""What the kernel accepts and how a certificate must be written."""

from __future__ import annotations

import copy
import json

import pytest

from dpaudit.verifier.kernel import KernelRejects, check, read
from dpaudit.verifier.terms import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Sort,
    add,
    conjunction,
    equal,
    implies,
    less,
    less_equal,
    multiply,
    negation,
    negative,
    variable,
)

X, Y = (variable(name, Sort.REAL) for name in "xy")
N = variable("n", Sort.INT)
A, B = (variable(name, Sort.BOOL) for name in "ab")
OBLIGATION = implies(less(Y, X), less_equal(Y, X))
GOOD = {"keep": [0, 1], "atoms": [], "lemmas": [[[-1, 2], [["1", [0]], ["1", [1]]]]], "tree": [0]}


def changed(path, value):
    """The good certificate with one place changed."""
    found = copy.deepcopy(GOOD)
    place = found
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return found


def test_a_good_certificate_is_accepted_also_from_its_text():
    check(OBLIGATION, GOOD)
    check(OBLIGATION, read(json.dumps(GOOD)))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("lemmas", 0, 1, 0, 0), True),
        (("lemmas", 0, 1, 0, 0), 1),
        (("lemmas", 0, 1, 0, 0), 1.0),
        (("lemmas", 0, 1, 0, 0), "1e3"),
        (("lemmas", 0, 1, 0, 0), "1.0"),
        (("lemmas", 0, 1, 0, 0), "1/0"),
        (("lemmas", 0, 1, 0, 0), "+1"),
        (("lemmas", 0, 1, 0, 0), " 1"),
        (("lemmas", 0, 1, 0, 0), "1\n"),
        (("lemmas", 0, 1, 0, 0), "1_0"),
        (("lemmas", 0, 1, 0, 0), "\u0661"),
        (("lemmas", 0, 1, 0, 0), "9" * 5000),
        (("lemmas", 0, 1, 0, 1), [-2]),
        (("lemmas", 0, 1, 0, 1), [False]),
        (("lemmas", 0, 1, 0, 1), [2]),
        (("lemmas", 0, 1, 0, 1), [0, 0, 0, 0, 0]),
        (("lemmas", 0, 1, 0), ["1", [0], [["1", [7]]]]),
        (("lemmas", 0, 1, 0), ["1", [0], [["1", [1, 0]]]]),
        (("lemmas", 0, 1, 0), ["1", [0], [["1", [0]], ["1", [0]]]]),
        (("lemmas", 0, 1, 0), ["1", [0], [], []]),
        (("lemmas", 0, 1, 0), ("1", [0])),
        (("lemmas", 0, 0), [-1, 3]),
        (("lemmas", 0, 0), [-1, 0]),
        (("lemmas", 0, 0), [-1.0, 2]),
        (("lemmas",), {}),
        (("atoms",), [[["1", [2]]]]),
        (("keep",), [0, 2]),
        (("keep",), [0, -1]),
        (("keep",), [True, 0]),
        (("tree",), []),
        (("tree",), [0, 0]),
        (("tree",), [1, 0]),
        (("tree",), [True]),
        (("tree",), [3, 0, 0]),
        (("tree",), "0"),
        (("extra",), []),
    ],
)
def test_a_certificate_that_is_not_written_as_it_must_be_is_rejected(path, value):
    with pytest.raises(KernelRejects):
        check(OBLIGATION, changed(path, value))


@pytest.mark.parametrize(
    "text",
    [
        '{"keep": [], "keep": [0], "atoms": [], "lemmas": [], "tree": [0]}',
        '{"keep": [0.0], "atoms": [], "lemmas": [], "tree": [0]}',
        '{"keep": [NaN], "atoms": [], "lemmas": [], "tree": [0]}',
        '{"keep": [1e0], "atoms": [], "lemmas": [], "tree": [0]}',
        "[]",
        "{",
        "[" * 100_000,
        '{"keep": [' + "9" * 5000 + "]}",
    ],
)
def test_a_text_that_could_be_read_in_two_ways_is_no_certificate(text):
    with pytest.raises(KernelRejects):
        read(text)


def test_a_certificate_without_a_field_is_rejected():
    for field in GOOD:
        with pytest.raises(KernelRejects):
            check(OBLIGATION, {name: value for name, value in GOOD.items() if name != field})


def test_a_certificate_shows_its_own_obligation_only():
    decreasing = implies(less(X, Y), less_equal(Y, X))
    for other in (decreasing, less_equal(Y, X), implies(less_equal(Y, X), less(Y, X)), FALSE):
        with pytest.raises(KernelRejects):
            check(other, GOOD)


def test_hypotheses_that_are_not_used_are_not_looked_at():
    obligation = implies(less(Y, X), implies(A, less_equal(Y, X)))
    check(obligation, {**GOOD, "keep": [0, 2]})
    for keep in ([0], [0, 1], []):
        with pytest.raises(KernelRejects):
            check(obligation, {**GOOD, "keep": keep})


def test_the_constants_are_decided():
    check(TRUE, {"keep": [0], "atoms": [], "lemmas": [], "tree": [0]})
    with pytest.raises(KernelRejects):
        check(FALSE, {"keep": [0], "atoms": [], "lemmas": [], "tree": [0]})
    with pytest.raises(KernelRejects):
        check(ZERO, GOOD)


def test_cases_are_closed_one_by_one_and_in_order():
    obligation = negation(conjunction(equal(A, B), equal(A, negation(B))))
    check(obligation, {"keep": [0, 1], "atoms": [], "lemmas": [], "tree": [1, 0, 0]})
    check(obligation, {"keep": [0, 1], "atoms": [], "lemmas": [], "tree": [3, 2, 0, 0, 0]})
    for tree in ([0], [1, 0], [1, 0, 0, 0], [3, 0, 0], [0, 1, 0, 0]):
        with pytest.raises(KernelRejects):
            check(obligation, {"keep": [0, 1], "atoms": [], "lemmas": [], "tree": tree})


def test_a_whole_number_is_split_where_a_certificate_wants_it():
    obligation = negation(less(ZERO, multiply(N, add(ONE, negative(N)))))
    below = [[["1", [0]]]]
    # n (1 - n) >= 1, yet n (n - 1) >= 0 where n <= 0, and where n >= 1.
    lemmas = [
        [[1, 2], [["1", [0]], ["1", [1, 1]], ["1", [1]]]],
        [[1, -2], [["1", [0]], ["1", [1, 1]], ["1", [1]]]],
    ]
    check(obligation, {"keep": [0], "atoms": below, "lemmas": lemmas, "tree": [2, 0, 0]})
    with pytest.raises(KernelRejects):
        check(obligation, {"keep": [0], "atoms": below, "lemmas": lemmas[:1], "tree": [2, 0, 0]})
