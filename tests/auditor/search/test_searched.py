"""The search among datasets that do not stand in the data: what it makes, what it takes for meant, and what it finds."""

import math
import statistics
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import ZCDP, Adjacency, Claim, PureDP, Sensitivity, Target, audit
from dpaudit.auditor.attack.contrast import contrast
from dpaudit.auditor.attack.plans import finalists_of, runs_to_search_within
from dpaudit.auditor.data.domains import (
    ALIKE,
    EMPTY,
    HIGH,
    LONG,
    LOW,
    MARKED,
    MINUS,
    MISSING,
    NAN,
    NEAR,
    OTHER,
    ZERO,
    values_beyond,
    values_outside,
)
from dpaudit.auditor.data.records import same
from dpaudit.auditor.pairs.candidates import candidate_pairs, searched_pairs
from dpaudit.auditor.pairs.kinds import check_neighbours
from dpaudit.auditor.replaying import replay
from dpaudit.auditor.runs.workload import Subject, with_searched, workload
from dpaudit.auditor.verdict.verdicts import Verdict
from dpaudit.report.answers import answers

RUNS = 24_000
FEWEST = 16_000
"""The fewest runs that have a search."""

AGES = [31, 47, 22, 65, 58, 39, 71, 26, 44, 53]
ROWS = [{"town": "ABC"[number % 3], "pay": 20.5 + 3 * number} for number in range(9)]
TABLE = np.array([[3.5, 20.0], [7.25, 31.0], [5.0, 28.0], [9.5, 44.0], [4.0, 23.0]])
WORDS = ["good service", "too slow", "will come again", "nothing to say", "parking was hard to find"]


def target(data, run=lambda data, rng: 0, adjacency="add_remove", **parts):
    return Target(run=run, claim=Claim(PureDP(epsilon=1), adjacency=adjacency), data=data, **parts)


def searched(data, adjacency="add_remove", **parts):
    one = target(data, adjacency=adjacency, **parts)
    return searched_pairs(one, candidate_pairs(one), 400)


@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one", "zero_out", Adjacency("hamming", radius=2)], ids=str)
@pytest.mark.parametrize("data", [AGES, tuple(AGES), ROWS, TABLE, WORDS, pd.DataFrame(ROWS)], ids=lambda data: type(data).__name__)
def test_every_searched_pair_is_of_neighbours_that_differ_and_of_the_type_of_the_data(data, adjacency):
    pairs = searched(data, adjacency)

    assert len({pair.family for pair in pairs}) > 4
    for pair in pairs:
        check_neighbours((pair.first, pair.second), Adjacency.of(adjacency))
        assert not same(pair.first, pair.second)
        assert type(data) is type(pair.first) is type(pair.second)
    for way in {pair.way for pair in pairs} - {None}:
        steps = [pair for pair in pairs if pair.way == way]
        assert all(one.second is other.first for one, other in pairwise(steps))


@given(data=st.lists(st.integers(-99, 99) | st.none() | st.text(max_size=2) | st.floats(), min_size=1, max_size=6))
def test_any_list_of_records_is_searched(data):
    pairs = searched([*data, 1, 2])

    assert {(1, 0), (2, 1)} <= {(len(pair.first), len(pair.second)) for pair in pairs}


def test_datasets_of_all_sizes_orders_ties_and_ends_are_searched():
    sides = [side for pair in searched(AGES) for side in (pair.first, pair.second)]

    assert [] in sides
    assert [0] * 10 in sides
    assert {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11} <= {len(side) for side in sides}
    assert any(side[:10] == sorted(AGES) for side in sides)
    assert any(710 in side for side in sides)
    assert any(-710 in side for side in sides)
    assert any(None in side for side in sides)
    assert any(2 == max(Counter(map(str, side)).values()) for side in sides if len(side) == 11)


def test_records_that_are_replaced_keep_the_size_or_add_one_to_it():
    assert {10, 11} == {len(side) for pair in searched(AGES, "replace_one") for side in (pair.first, pair.second)}


def test_a_field_gets_values_of_its_type_beyond_its_ends_unless_what_it_means_has_none():
    assert {ZERO: 0, HIGH: 710, LOW: -710} == {label: values_beyond(AGES)[label] for label in (ZERO, HIGH, LOW)}
    assert {EMPTY, LONG} < values_beyond(WORDS).keys()
    assert {MISSING, NAN} == values_beyond([1.0, 0.0]).keys() - {ZERO, HIGH, NEAR}
    assert {MISSING} == values_beyond([0, 1, 1, 0]).keys()
    assert {MISSING} == values_beyond([4, 5, 3, 4, 2, 5, 4, 4, 1]).keys()
    assert OTHER in values_beyond(["yes", "no"] * 4)
    assert not values_beyond([True, False])
    assert 1.0 == max(values_beyond([0.1, 0.7, 0.3])[label] for label in (ZERO, HIGH))
    assert LOW not in values_beyond(np.array([3, 200, 90, 4], dtype=np.uint8))
    assert 0 < values_beyond([61.5, 80.2])[NEAR] < 1e-3
    assert -1 == values_beyond([61.5, 80.2])[MINUS]
    assert MINUS not in values_beyond([-3.5, 80.2])
    assert {",", "\n", "\t", '"'} <= set(values_beyond(WORDS)[MARKED]) & set(values_beyond(["yes", "no"] * 4)[OTHER])
    assert {HIGH: 50, LOW: -50, ZERO: 0, MINUS: -1} == values_outside([4, 5, 3, 4, 2, 5, 4, 4, 1])
    assert {HIGH: 10.0, LOW: -10.0} == values_outside([0.1, 0.7, 0.3])
    assert not values_outside(AGES)
    assert not values_outside([0, 1, 1, 0])


@pytest.mark.parametrize(
    ("column", "alike"),
    [
        (["hot tired", "cold", "tired cold hot"], "tired tired tired"),
        (["sea/sun", "lake", "snow"], "sea/sea"),
        (["a; b; c", "d", "e; f"], "a; a; a"),
        ([" a", "b", "c "], None),
        (["", " ", "x"], None),
        ([[1, 2], [3], [4, 5, 6]], [4, 4, 4]),
        ([("x",), ("y", "z"), ()], ("y", "y")),
        ([[1, 2], [3, 4]], None),
    ],
)
def test_words_and_elements_that_are_all_alike_come_where_there_are_several(column, alike):
    assert alike == values_beyond(column).get(ALIKE)


def test_a_word_that_counts_twice_in_one_text_is_refuted():
    def counts(rows, rng, *, once):
        told = Counter(word for row in rows if isinstance(row, str) for word in (set if once else list)(row.split()[:3]))
        return [told[word] + rng.normal(0, 3**0.5) for word in ("cold", "hot", "tired")]

    said = ["hot tired", "cold", "tired cold hot", "hot", "cold hot", "tired", "hot cold", "cold tired", "hot cold tired"]
    claim = Claim(ZCDP(rho="1/2"), adjacency="add_remove")
    verdicts = [
        audit(Target(run=partial(counts, once=once), claim=claim, data=said), runs=20_000, seed=1).results[0].verdict
        for once in (False, True)
    ]
    assert Verdict.REFUTED is verdicts[0]
    assert Verdict.REFUTED is not verdicts[1]


def test_nothing_is_made_up_where_a_query_is_declared():
    pairs = searched(AGES, sensitivity=Sensitivity(query=sum, bound=100))

    assert pairs
    assert all(set(AGES) >= {*pair.first, *pair.second} for pair in pairs)


VISITS = [{"user": f"u{place % 4}", "day": place % 3} for place in range(12)]
BY_USER = Adjacency("add_remove", unit="user:user")


def test_users_come_with_more_records_than_others_and_unlike_ones():
    pairs = searched(VISITS, BY_USER)

    assert all(pair.first != pair.second for pair in pairs)
    for pair in pairs:
        check_neighbours((pair.first, pair.second), BY_USER)
    most = max(Counter(row["user"] for row in pair.first).most_common(1)[0][1] for pair in pairs)
    assert most > 3
    assert any(len(pair.second) == 0 for pair in pairs)


@pytest.mark.parametrize("cut", [False, True])
def test_a_user_with_more_records_than_those_of_the_data_is_found(cut):
    def visits(rows, rng):
        counts = Counter(row["user"] for row in rows)
        return sum(min(count, 3) if cut else count for count in counts.values()) + rng.laplace(scale=3)

    result = audit(target(VISITS, visits, BY_USER), runs=RUNS, seed=2, stop_early=True).results[0]
    assert (Verdict.REFUTED is result.verdict) == (not cut)


def test_labels_vectors_and_replaced_users_are_not_searched_and_it_is_said():
    assert () == searched(VISITS, Adjacency("replace_one", unit="user:user"))
    assert () == searched(AGES, Adjacency("norm_ball", norm="l1", radius=1))
    one = target(AGES, lambda data, rng: rng.laplace(), Adjacency("norm_ball", norm="l1", radius=1))
    result = audit(one, runs=RUNS, seed=2, stop_early=True).results[0]
    assert "datasets unlike the data are searched (none are made for this kind of data and adjacency)" in result.summary


def test_a_worker_makes_the_pairs_of_its_driver():
    subject = with_searched(Subject(target(AGES), candidate_pairs(target(AGES))[:5]), 30)

    again = with_searched(Subject(subject.target, candidate_pairs(target(AGES))[:5]), subject.searched)

    assert subject.pairs == again.pairs
    assert 30 == sum(bool(pair.family) and pair.way is None for pair in subject.pairs)
    assert subject is workload(subject, None, None).content


def test_contrast_is_large_where_the_form_changes_and_small_where_nothing_does():
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 2, 400).astype(np.uint8)
    noise = rng.laplace(size=400)

    assert contrast(np.column_stack([noise, noise * 0]), labels)[1] < 1
    assert contrast(np.column_stack([noise, labels]), labels)[0] > 3
    assert contrast(np.column_stack([noise + 9 * labels]), labels)[1] > 3
    assert contrast(np.column_stack([noise * (1 + 9 * labels)]), labels)[1] > 1


def noisy(value, scale, rng):
    return float(value + rng.laplace(0, scale))


def clipped(data, low=0, high=100):
    return sum(min(max(float(value), low), high) for value in data if value is not None and value == value)  # noqa: PLR0124 - NaN


def by_route(data, rng, *, fast):
    """Skip the noise on datasets that are sorted."""
    return clipped(data) if fast and data == sorted(data, key=lambda value: value or 0) else noisy(clipped(data), 100, rng)


def lost_ones(data, rng, *, exact):
    """Count the missing values."""
    lost = sum(value is None for value in data)
    return [noisy(clipped(data), 200, rng), float(lost) if exact else noisy(lost, 2, rng)]


def enough(data, rng, *, exact):
    """Suppress what is of fewer than seven records."""
    count = noisy(len(data), 2, rng)
    return None if (len(data) if exact else count) < 7 else count


def most_towns(data, rng, *, exact):
    """Name the town with the most rows."""
    counts = {town: sum(row["town"] == town for row in data) for town in "ABC"}
    return max("ABC", key=lambda town: counts[town] + (0 if exact else rng.laplace(0, 2)))


def length(data, rng, *, whole):
    """Add the lengths of texts."""
    return noisy(sum(len(text or "") if whole else min(len(text or ""), 40) for text in data), 40, rng)


def blanks(data, rng, *, strict):
    """Count texts that start with a letter, and refuse empty ones."""
    if strict and any(text is not None and not text for text in data):
        raise ValueError
    return noisy(sum((text or " ")[0].isalpha() for text in data), 1, rng)


def in_one_line(names, rng, *, joined):
    """Count names that were joined by commas before, or as they are."""
    return noisy(len(",".join(filter(None, names)).split(",")) if joined else len(names), 1, rng)


DEFECTS = {
    "a comma": (WORDS, "add_remove", lambda d, r: in_one_line(d, r, joined=True), lambda d, r: in_one_line(d, r, joined=False)),
    "a sorted dataset": (AGES, "replace_one", lambda d, r: by_route(d, r, fast=True), lambda d, r: by_route(d, r, fast=False)),
    "a missing value": (AGES, "add_remove", lambda d, r: lost_ones(d, r, exact=True), lambda d, r: lost_ones(d, r, exact=False)),
    "a size": (AGES, "add_remove", lambda d, r: enough(d, r, exact=True), lambda d, r: enough(d, r, exact=False)),
    "a rare tie": (ROWS * 2, "replace_one", lambda d, r: most_towns(d, r, exact=True), lambda d, r: most_towns(d, r, exact=False)),
    "a long text": (WORDS, "replace_one", lambda d, r: length(d, r, whole=True), lambda d, r: length(d, r, whole=False)),
    "an empty text": (WORDS, "add_remove", lambda d, r: blanks(d, r, strict=True), lambda d, r: blanks(d, r, strict=False)),
    "no clipping": (AGES, "add_remove", lambda d, r: noisy(clipped(d, -1e9, 1e9), 100, r), lambda d, r: noisy(clipped(d), 100, r)),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_at_datasets_unlike_the_data_is_refuted_and_its_twin_is_not(name):
    data, adjacency, broken, sound = DEFECTS[name]
    found, twin = (audit(target(data, one, adjacency), runs=RUNS, seed=5).results[0] for one in (broken, sound))

    assert Verdict.REFUTED == found.verdict
    assert Verdict.REFUTED != twin.verdict
    assert found.attack.runs <= RUNS
    assert any("datasets unlike the data" in check.name and check.cases > 20 for check in twin.properties)


SOUND_ON_ITS_DOMAIN = {
    "a table of known towns": (ROWS, lambda data, rng: noisy(sum({"A": 1, "B": 0, "C": 1}[row["town"]] for row in data), 1, rng)),
    "numbers that are none": (TABLE, lambda data, rng: noisy(np.clip(data[:, 0], 0, 10).sum(), 10, rng)),
    "a logarithm": (AGES, lambda data, rng: noisy(sum(min(5.0, np.log(value)) if value > 0 else 1 / 0 for value in data), 5, rng)),
    "shares": ([0.25, 0.5, 0.75, 0.1], lambda data, rng: noisy(sum(data), 1, rng)),
    "bits": ([0, 1, 1, 0, 1], lambda data, rng: noisy(sum(data), 1, rng)),
    "randomised response": (
        ["no", "yes"] * 4,
        lambda data, rng: [t if rng.random() < 0.7 else ("no" if t == "yes" else "yes") for t in data[:1]],
    ),
}


@pytest.mark.parametrize("name", SOUND_ON_ITS_DOMAIN)
def test_what_a_function_is_not_meant_for_is_not_held_against_it(name):
    data, run = SOUND_ON_ITS_DOMAIN[name]
    adjacency = "replace_one" if "response" in name else "add_remove"

    (result,) = audit(target(data, run, adjacency), runs=RUNS, seed=5).results

    assert Verdict.REFUTED != result.verdict


def test_the_search_does_not_depend_on_workers_and_is_repeated_by_a_replay():
    one = target(AGES, DEFECTS["a size"][2], name="size")
    with ThreadPoolExecutor(2) as threads:
        report, other = audit(one, runs=RUNS, seed=4), audit(one, runs=RUNS, seed=4, executor=threads)

    assert report.results == other.results
    assert replay(report, targets=[one])[0].same


def test_a_budget_too_small_for_a_search_is_said():
    (result,) = audit(target(AGES, DEFECTS["a size"][3]), runs=4000, seed=4).results

    (said,) = [check for check in result.properties if "datasets unlike the data" in check.name]
    assert ("not run", "the runs do not suffice") == (said.status, said.detail)


def mean_weight(weights, rng, *, fills):
    values = np.clip(np.asarray(weights, dtype=float), 0, 150)
    return float(np.nan_to_num(values).sum() if fills else values.sum()) + rng.laplace(scale=300)


@pytest.mark.parametrize("fills", [False, True])
def test_a_missing_value_that_comes_through_is_said_beside_the_verdict(fills):
    def released(weights, rng):
        return mean_weight(weights, rng, fills=fills)

    result = audit(target([61.5, 80.2, 55.0, 72.4, 90.1, 66.6], released), runs=RUNS, stop_early=True).results[0]
    assert (Verdict.CONSISTENT if fills else Verdict.INCONCLUSIVE) is result.verdict
    said = [check.detail for check in result.properties if check.name == "missing values do not show"]
    assert said == (
        []
        if fills
        else ["a None or NaN in the data, which have none, comes through to the output: where data may hold one the claim is false"]
    )


@pytest.mark.parametrize(("least", "said"), [(None, 1), (1, 0)])
def test_a_number_that_breaks_a_function_keeps_it_from_being_consistent(least, said):
    def inverse(ages, rng):
        return sum(min(1.0, 1 / (age if least is None or age is None else max(age, least))) for age in ages) + rng.laplace()

    result = audit(target(AGES, inverse), runs=RUNS, seed=5, stop_early=True).results[0]
    found = [check for check in result.properties if check.name == "no number unlike the data breaks the function"]
    assert [("violated", True)] * said == [(check.status, "ZeroDivisionError at a zero" in check.detail) for check in found]
    assert (Verdict.INCONCLUSIVE if said else Verdict.CONSISTENT) is result.verdict


SHARES = [0.25, 0.5, 0.75, 0.1, 0.9]
POINTS = np.array([[0.6, 0.3], [0.1, 0.9], [0.5, 0.5], [0.8, 0.2], [0.0, 0.7]])
STARS = [4, 5, 3, 4, 2, 5, 4, 4, 1]


TOWNS = [row["town"] for row in ROWS]
OUTSIDE = {
    "categories beyond those of the data": (TOWNS, lambda data: len(",".join(map(str, data)).split(","))),
    "numbers larger than 1": (SHARES, sum),
    "vectors longer than those of the data": (POINTS, lambda data: (np.nan_to_num(data) * [0.5, 0.1]).sum()),
    "integers beyond those of the data": (STARS, lambda data: clipped(data, -1e9, 1e9) / 5),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_claim_that_fails_outside_the_domain_that_the_data_suggest_is_neither_refuted_nor_consistent(name):
    data, query = OUTSIDE[name]
    result = audit(target(data, lambda data, rng: noisy(query(data), 1, rng)), runs=FEWEST, seed=5).results[0]

    assert ["violated"] == [check.status for check in result.properties if check.name == name]
    assert Verdict.INCONCLUSIVE is result.verdict
    assert f"Violated: {name}" in result.summary


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (lambda data: clipped(data, 0, 5) / 5, "showed no violation"),
        (lambda data: sum({1: 1, 2: 0, 3: 1, 4: 0, 5: 1}[1 if star is None else star] for star in data), "no others were tried"),
    ],
    ids=["clipped", "refused"],
)
def test_what_clips_or_refuses_numbers_outside_the_domain_that_the_data_suggest_is_not_held_to_them(query, said):
    result = audit(target(STARS, lambda data, rng: noisy(query(data), 1, rng)), runs=FEWEST, seed=5).results[0]

    (found,) = [check for check in result.properties if check.name == "integers beyond those of the data"]
    assert "not run" == found.status
    assert said in found.detail
    assert Verdict.REFUTED is not result.verdict


@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
def test_an_error_at_few_records_refutes_a_claim_about_records_that_come_and_go(adjacency):
    def spread(ages, rng):
        return noisy(min(statistics.stdev(clipped([age]) for age in ages), 50), 100, rng)

    result = audit(target(AGES, spread, adjacency), runs=RUNS, seed=5, stop_early=True).results[0]
    assert (adjacency == "add_remove") == (Verdict.REFUTED is result.verdict)
    assert adjacency == "add_remove" or not [check for check in result.properties if "error" in check.detail]


def with_root(ages, rng):
    return sum(min(math.sqrt(age), 8) for age in ages) + rng.laplace(scale=8)


def of_known_towns(rows, rng):
    return sum({"A": 1, "B": 0, "C": 1}[row["town"]] for row in rows) + rng.laplace()


def of_small_values(ages, rng):
    if max(ages, default=0) > 100:
        raise ValueError
    return noisy(clipped(ages), 100, rng)


@pytest.mark.parametrize(
    ("data", "run", "words"),
    [
        (AGES, with_root, ["raised ValueError at a value far below the others"]),
        (ROWS, of_known_towns, ["raised KeyError at", "a new category"]),
        (AGES, of_small_values, ["raised ValueError at a value far above the others"]),
        (AGES, lambda ages, rng: noisy(clipped(ages), 100, rng), []),
        (AGES, lambda ages, rng: noisy(len(ages), 1, rng) / (rng.random() > 0.3), []),
    ],
    ids=["a number", "a category", "a way to tied ones", "none", "at random"],
)
def test_an_error_at_an_invented_record_stands_beside_the_verdict_as_not_checked(data, run, words):
    report = audit(target(data, run), runs=RUNS if data is AGES else 2 * RUNS, seed=5, stop_early=True)

    (result,) = report.results
    said = [check for check in result.properties if check.name == "errors at records unlike the data"]
    assert Verdict.REFUTED != result.verdict
    assert [True] * bool(words) == [all(word in check.detail for word in words) for check in said]
    for check in said:
        assert ("not run", Verdict.INCONCLUSIVE) == (check.status, result.verdict)
        assert check.detail in answers(report, result).unseen[-1]
        assert "No violation found" not in answers(report, result).found


@pytest.mark.parametrize("data", [[*AGES, -5], [*AGES, None]], ids=["below", "missing"])
def test_a_record_at_which_the_function_raises_is_judged_once_it_is_in_the_data(data):
    assert Verdict.REFUTED == audit(target(data, with_root), runs=RUNS, seed=5, stop_early=True).results[0].verdict


def as_deviation(ages, rng):
    width = 1 if len(ages) < 6 or len(set(ages)) > 1 else 0
    return noisy(clipped(ages) / 100, 1 / width, rng)


def test_an_error_at_equal_records_of_the_data_refutes():
    assert Verdict.REFUTED == audit(target(AGES, as_deviation), runs=RUNS, seed=5, stop_early=True).results[0].verdict


def wrapped(rows, rng):
    return noisy(np.array(rows, dtype=np.int8).sum(dtype=np.int8), 20, rng)


def test_a_sum_that_wraps_around_is_found_beyond_the_size_of_the_data():
    data = [1, 0, 2, 1, 3, 0, 1, 2, 0, 1, 4, 2]

    assert Verdict.REFUTED == audit(target(data, wrapped), runs=3 * RUNS, seed=5, stop_early=True).results[0].verdict


def test_a_time_budget_is_searched_too_and_replays(monkeypatch):
    # Whatever the machine does.
    monkeypatch.setattr("dpaudit.auditor.examining.runs_to_search_within", lambda seconds, pace, most: 2**11)
    one = target(AGES, DEFECTS["a size"][2], name="size")
    report = audit(one, seconds=2, seed=4, stop_early=True)

    (result,) = report.results
    assert 2**11 == result.attack.searched
    assert ["holds"] == [check.status for check in result.properties if "datasets unlike the data" in check.name]
    monkeypatch.undo()
    assert replay(report, targets=[one])[0].same


@pytest.mark.parametrize(("runs", "finalists", "pace"), [(0, 0, 100), (2**11, 4, 4000), (2**12, 8, 8000), (2**13, 12, 1e6)])
def test_a_clock_allows_the_search_a_sixteenth_of_the_time_in_powers_of_two(runs, finalists, pace):
    assert (runs, finalists) == (runs_to_search_within(10, pace, None), finalists_of(runs))
