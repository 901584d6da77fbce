"""Random walks among datasets, runs with equal random numbers along them, and values that the source of a function names."""

import functools
import random
from collections import Counter
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pytest

from dpaudit import Adjacency, Claim, PureDP, Target, audit
from dpaudit.auditor.data.domains import (
    FINAL,
    HIGH,
    LATER,
    LIMIT,
    MIXED,
    NAMED,
    NAN,
    OFFSET,
    REPEATED,
    REPEATED_LATER,
    ZERO,
    is_missing,
    values_beyond,
)
from dpaudit.auditor.data.named import Named, values_named
from dpaudit.auditor.data.records import extremes
from dpaudit.auditor.pairs.candidates import candidate_pairs, searched_pairs
from dpaudit.auditor.pairs.strange import Strange, strange_records
from dpaudit.auditor.pairs.walks import WALK, count_walks, mix_records, walks
from dpaudit.results import Verdict

RUNS = 24_000
HOURS = [4.5, 7.0, 2.5, 9.5, 6.0, 1.5, 3.0, 5.5]
BY_USER = Adjacency("add_remove", unit="user:user")
TRIPS = [{"user": f"u{number % 4}", "km": float(1 + number % 7)} for number in range(11)]


def target(data, run=lambda data, rng: 0, adjacency="add_remove"):
    return Target(run=run, claim=Claim(PureDP(epsilon=1), adjacency=adjacency), data=data)


def asked(data, run, adjacency="add_remove"):
    return audit(target(data, run, adjacency), runs=RUNS, seed=3, stop_early=True, alpha="0.001").results[0]


def clipped(data):
    return [min(max(float(value), 0.0), 10.0) for value in data if not is_missing(value)]


def plain(walk):
    return [[one.record if isinstance(one, Strange) else one for one in dataset] for dataset in walk]


@pytest.mark.parametrize("replaces", [True, False])
def test_each_dataset_of_a_walk_is_a_neighbour_of_the_next_and_walks_are_the_same_again(replaces):
    found = [plain(walk) for walk in walks(HOURS, [Strange(0.0, frozenset({ZERO}))], 5, replaces=replaces, beyond=True)]

    assert 5 == len(found)
    for walk in found:
        assert len(walk) > 10
        for one, other in pairwise(walk):
            lost, come = (sum((Counter(a) - Counter(b)).values()) for a, b in ((one, other), (other, one)))
            assert (1, 1) == (lost, come) if replaces else lost + come == 1
    assert found == [plain(walk) for walk in walks(HOURS, [Strange(0.0, frozenset({ZERO}))], 5, replaces=replaces, beyond=True)]


def test_without_values_beyond_the_data_a_walk_holds_its_records_alone():
    found = walks(HOURS, [Strange(0.0, frozenset({ZERO}))], 4, replaces=False, beyond=False)
    assert {value for walk in found for dataset in walk for value in dataset} <= set(HOURS)


def test_a_larger_search_makes_more_walks_within_a_limit():
    assert [4, 8, 40, 48] == [count_walks(pairs) for pairs in (0, 80, 400, 10_000)]


def test_a_mixture_holds_values_of_each_field_or_numbers_between():
    rows = [{"town": "a", "pay": 1.0}, {"town": "b", "pay": 9.0}]
    found = [mix_records(rows, random.Random(seed)) for seed in range(40)]  # noqa: S311 - it orders a search
    assert {"a", "b"} == {one.record["town"] for one in found}
    assert all(1 <= one.record["pay"] <= 9 and one.labels == {MIXED} for one in found)
    assert {("a", 9.0), ("b", 1.0)} <= {(one.record["town"], one.record["pay"]) for one in found}


def test_users_walk_with_other_numbers_of_records():
    one = target(TRIPS, adjacency=BY_USER)
    steps = [pair for pair in searched_pairs(one, candidate_pairs(one), 100) if pair.family == WALK]

    assert steps
    for pair in steps:
        users = [Counter(row["user"] for row in side) for side in (pair.first, pair.second)]
        assert 1 == len(set(users[0]) ^ set(users[1]))
        assert all(users)
    assert max(count for pair in steps for count in Counter(row["user"] for row in pair.second).values()) >= 8


def test_a_step_at_which_many_parts_change_is_found_by_equal_random_numbers():
    def parts(data, rng, *, by_place):
        kept = clipped(data)
        # Which records count changes for many of them where one comes before.
        return sum(kept[place] for place in range(0, len(kept), 3 if by_place else 1)) + rng.laplace(scale=10)

    assert Verdict.REFUTED is asked(HOURS, functools.partial(parts, by_place=True)).verdict
    assert Verdict.REFUTED is not asked(HOURS, functools.partial(parts, by_place=False)).verdict


def test_the_share_of_missing_values_at_which_a_release_refuses_is_found():
    def total(data, rng, *, refuses):
        kept = clipped(data)
        return None if refuses and len(kept) < 0.75 * len(data) else sum(kept) + rng.laplace(scale=10)

    gaps = [*HOURS, None, 8.0]
    assert Verdict.REFUTED is asked(gaps, functools.partial(total, refuses=True), "replace_one").verdict
    assert Verdict.REFUTED is not asked(gaps, functools.partial(total, refuses=False), "replace_one").verdict


KEPT = ("late", "sent")
UNKNOWN = -7


def names_some(rows, rng):
    """Compares with literals, containers and module constants; the word in its text is no comparison."""
    total = sum(row == "demo" or row in KEPT or str(row).startswith("x-") for row in rows) + len(rows) % 12
    return total + (rng.laplace() if total != UNKNOWN else 0) + {"red": 1}.get("blue", 0) + len("never")


class Released:
    """An object with a method."""

    def __call__(self, rows, rng):
        return names_some(rows, rng)

    def method(self, rows, rng):
        return 3 if rows == 41 else rng.laplace()


def enclosed():
    names = names_some
    return lambda rows, rng: 1 + names(rows, rng)


@pytest.mark.parametrize(
    "function",
    [names_some, functools.partial(names_some), enclosed(), Released()],
    ids=["a function", "a partial one", "an enclosed one", "an object"],
)
def test_values_that_a_source_compares_with_are_read_through_what_it_calls(function):
    found = values_named(function)
    assert {"demo", "late", "sent", "x-", "blue"} == set(found.texts)
    assert {12, -7} <= set(found.numbers)
    assert 12 in found.sizes


def test_a_method_is_read_and_a_library_is_not():
    assert 41 in values_named(Released().method).numbers
    assert Named() == values_named(np.mean) == values_named(len)


def test_values_that_a_source_names_are_tried_in_fields_of_their_type():
    rows = [
        {"name": "ada", "age": 31, "share": 0.5},
        {"name": "ben", "age": 47, "share": 0.25},
        {"name": "cy", "age": 62, "share": 0.5},
    ]
    found = [one.record for one in strange_records(rows, Named(("test", "ada"), (99, 0.5))) if NAMED in one.labels]
    assert ["test"] == [row["name"] for row in found if row["name"] not in {"ada", "ben", "cy"}]
    assert {99, 49, 0} == {row["age"] for row in found} - {31, 47, 62}
    assert {0.5, 0.25} >= {row["share"] for row in found}


def test_numbers_between_two_that_a_source_names_are_tried():
    assert (40, 35, 70.0, 37.5, 55.0) == Named((), (40, 35, 70.0)).around
    found = [one.record for one in strange_records([31, 47, 62], Named((), (40, 35))) if NAMED in one.labels]
    assert [40, 35, 37] == found


def test_a_record_in_two_groups_is_found_though_the_data_have_none():
    def in_groups(ages, rng):
        return sum((age < 40) + (age > 35) for age in ages if not is_missing(age)) + rng.laplace()

    assert Verdict.REFUTED is asked([34, 51, 27, 66, 45, 19, 31, 58, 62, 55, 48], in_groups).verdict


def test_a_name_that_a_source_singles_out_is_found():
    def count(rows, rng):
        return float(len(rows)) if any(row == "test" for row in rows) else len(rows) + rng.laplace()

    result = asked(["ada", "ben", "cleo", "dan", "eva", "finn", "gila", "hugo"], count)
    assert Verdict.REFUTED is result.verdict


def test_a_size_that_a_source_names_is_tried():
    def count(rows, rng):
        return len(rows) + (0 if len(rows) == 143 else rng.laplace())

    one = target(HOURS, count)
    sizes = {(len(pair.first), len(pair.second)) for pair in searched_pairs(one, candidate_pairs(one), 400)}
    assert {(143, 142), (144, 143)} <= sizes
    assert Verdict.REFUTED is asked(HOURS, count).verdict


def at(month, day, hour=0, minute=0):
    return datetime(2024, month, day, hour, minute)  # noqa: DTZ001 - a time as clocks show it


@pytest.mark.parametrize(
    ("data", "label", "value"),
    [
        ([date(1990, 3, 1), date(2001, 4, 1)], FINAL, date(1992, 12, 31)),
        ([date(2001, 3, 1), date(2003, 4, 1)], LATER, date(2004, 12, 31)),
        (["2019-03-01", "2021-04-01"], FINAL, "2020-12-31"),
        ([at(3, 1, 8), at(12, 1, 9)], REPEATED, at(10, 27, 2, 30)),
        (["2024-03-01T08:15:00", "2024-12-01T09:00:00"], REPEATED, "2024-10-27T02:30:00"),
        (["2024-03-01T08:15:00", "2024-12-01T09:00:00"], OFFSET, "2024-03-01T08:15:00+02:00"),
        ([at(3, 1, 8), at(10, 27, 9)], REPEATED, at(10, 27, 2, 30)),
        ([at(3, 1, 8), at(10, 27, 1)], REPEATED, None),
        ([at(3, 1, 8), at(10, 27, 1)], REPEATED_LATER, at(10, 27, 2, 30)),
        ([at(3, 1, 8), at(12, 1, 9)], REPEATED_LATER, None),
        ([at(3, 1), at(12, 1)], REPEATED, None),
        (["2024-03-01", "2024-12-01"], OFFSET, None),
        ([Decimal("4.5"), Decimal(3)], HIGH, Decimal(45)),
        ([Decimal("4.5"), Decimal(3)], LIMIT, Decimal(10) ** 30),
    ],
    ids=str,
)
def test_what_is_unlike_dates_and_decimal_numbers(data, label, value):
    assert value == values_beyond(data).get(label)


def test_decimal_numbers_have_extremes_and_missing_ones():
    assert is_missing(values_beyond([Decimal("4.5"), Decimal(3)])[NAN])
    assert (1, 0) in extremes([Decimal(3), Decimal("4.5")])


def test_dates_are_ordered_by_time():
    assert {(0, 2), (2, 0)} == set(extremes([date(2024, 5, 1), date(2023, 1, 1), date(2022, 1, 1)]))


def test_an_index_that_a_year_of_53_weeks_does_not_have_refutes_a_claim():
    def early(days, rng, *, size):
        weeks = [0] * size
        for day in days:
            if isinstance(day, date):
                weeks[day.isocalendar().week - 1] += 1
        return sum(weeks[:10]) + rng.laplace()

    born = [date(1984 + 3 * place, 1 + 5 * place % 12, 3 + 7 * place % 24) for place in range(10)]
    assert Verdict.REFUTED is asked(born, functools.partial(early, size=52)).verdict
    assert Verdict.REFUTED is not asked(born, functools.partial(early, size=53)).verdict
