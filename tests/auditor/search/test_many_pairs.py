"""Defects that the search among datasets finds at few runs: the pair it found is attacked, and ways are followed to their jump."""

from types import SimpleNamespace

import numpy as np
import pytest

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor.attack.pilot import _kept
from dpaudit.auditor.attack.searching import _between
from dpaudit.auditor.data.domains import ALIKE, DIGIT, HOLLOW, LONGER, MINUS, MISSING, UNSEEN, values_beyond
from dpaudit.auditor.verdict.verdicts import Verdict

RUNS = 20_000

VERSIONS = [
    {"id": place, "value": value}
    for place, value in zip([3, 1, 4, 1, 5, 3, 2], [4.0, -7.5, 9.0, 2.5, -3.0, 8.0, -9.5], strict=True)
]
CENTS = [float(5 + place % 5) for place in range(40)]
METERS = [{"day": place // 4, "value": float(1 + 3 * place % 8)} for place in range(12)]
COUNTS = ["12", "7", "31", "4", "18", "25", "9", "2", "14", "40"]


def clipped(value, low, high):
    return min(max(float(value), low), high) if value is not None and value == value else 0.0  # noqa: PLR0124 - NaN


def newest(rows, rng, *, scale):
    """Sum the newest value of each identifier."""
    held = {row["id"]: clipped(row["value"], -10, 10) for row in rows}
    return sum(held.values()) + rng.laplace(scale=scale)


def in_sixteen_bits(rows, rng, *, bits):
    """Sum cents in integers of so many bits."""
    cents = np.array([round(100 * clipped(value, 0, 10)) for value in rows], np.int64)
    return float(cents.astype(f"i{bits // 8}").sum(dtype=f"i{bits // 8}")) / 100 + rng.laplace(scale=10)


def whole_days(rows, rng, *, drops):
    """Sum a meter; a reading of minus one says that it failed, and takes the day out."""
    failed = {row["day"] for row in rows if drops and row["value"] == -1}
    return sum(clipped(row["value"], 0, 8) for row in rows if row["day"] not in failed) + rng.laplace(scale=8)


DEFECTS = {
    "a second value of an identifier": (VERSIONS, lambda d, r: newest(d, r, scale=10), lambda d, r: newest(d, r, scale=20)),
    "a sum too large": (CENTS, lambda d, r: in_sixteen_bits(d, r, bits=16), lambda d, r: in_sixteen_bits(d, r, bits=64)),
    "minus one": (METERS, lambda d, r: whole_days(d, r, drops=True), lambda d, r: whole_days(d, r, drops=False)),
}


def asked(data, run):
    claim = Claim(PureDP(epsilon=1), adjacency="add_remove")
    return audit(Target(run=run, claim=claim, data=data), runs=RUNS, seed=1, stop_early=True).results[0]


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_at_a_pair_among_many_is_refuted_at_few_runs_and_its_twin_is_not(name):
    data, broken, sound = DEFECTS[name]

    assert Verdict.REFUTED is asked(data, broken).verdict
    assert Verdict.REFUTED is not asked(data, sound).verdict


@pytest.mark.parametrize("check", ["isdigit", "isdecimal"])
def test_a_digit_that_is_no_number_keeps_a_claim_from_being_consistent(check):
    def total(texts, rng):
        return sum(min(int(text[:9]), 50) for text in texts if text is not None and getattr(text, check)()) + rng.laplace(scale=50)

    result = asked(COUNTS, total)
    assert (DIGIT in result.summary) == (check == "isdigit")
    assert Verdict.REFUTED is not result.verdict
    assert check != "isdigit" or Verdict.INCONCLUSIVE is result.verdict


def test_digits_are_made_up_among_digits_alone_and_minus_one_among_positive_numbers():
    assert not values_beyond(COUNTS)[DIGIT].isdecimal()
    assert DIGIT not in values_beyond(["a lot", "12", "few"])
    assert len(values_beyond(COUNTS)[UNSEEN][:10].upper()) > 10
    assert MINUS in values_beyond([row["value"] for row in METERS])


def test_lists_of_several_lengths_may_be_empty_or_longer_and_those_of_one_length_not():
    assert {HOLLOW: [], LONGER: [2, 3] * 10, ALIKE: [2, 2], MISSING: None} == values_beyond([[1], [2, 3]])
    assert {HOLLOW: (), LONGER: (2, 3) * 10, ALIKE: (2, 2), MISSING: None} == values_beyond([(), (2, 3), None])
    assert {MISSING} == values_beyond([(1, 2), (2, 3)]).keys() == values_beyond([[1], (2, 3)]).keys()


def test_an_error_at_an_empty_list_keeps_a_claim_from_being_consistent():
    carts = [{"items": [float(1 + place)] * (1 + place % 3)} for place in range(9)]

    def dearest(rows, rng):
        return sum(clipped(max(row["items"]), 0, 6) for row in rows if row["items"] is not None) + rng.laplace(scale=6)

    result = asked(carts, dearest)
    assert Verdict.INCONCLUSIVE is result.verdict
    assert HOLLOW in result.summary


def course(runs, places, alone=(), promising=()):
    pairs = {place: SimpleNamespace(first=[1], second=[] if place in alone else [1]) for place in places}
    return SimpleNamespace(
        runs=runs, case=SimpleNamespace(plan="planned", promising=promising, subject=SimpleNamespace(pairs=pairs))
    )


def test_the_best_quarter_of_a_crowd_goes_on_and_half_of_few_pairs_or_of_many_runs():
    crowd, few = list(range(40)), list(range(8))

    assert crowd[:10] == _kept(course(2_000, crowd), crowd)
    assert crowd[:8] == _kept(course(2_000, crowd), crowd[:12])
    assert few[:4] == _kept(course(2_000, few), few)
    assert crowd[:20] == _kept(course(40 * 4096, crowd), crowd)


def test_a_pair_on_which_equal_random_numbers_change_most_stays_in_a_crowd():
    crowd = list(range(40))

    assert [30, *crowd[:9]] == _kept(course(2_000, crowd, promising=(35, 30)), crowd)


def test_a_pair_of_one_record_and_none_stays_in_a_crowd():
    crowd = list(range(40))

    assert [30, *range(9)] == _kept(course(2_000, crowd, alone={30, 35}), crowd)


def test_a_larger_distance_decides_between_changes_of_all_outputs():
    def outputs(place):
        return np.linspace(place, place + 1, 16)[:, None], np.zeros(16, np.uint8)

    near, far, none = (_between(outputs(0.0), outputs(place), label=0) for place in (50.0, 500.0, 0.0))

    assert none < near < far
    assert none.apart == 0
