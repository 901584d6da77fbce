"""Dates and numbers between those of the data, and far beyond them, that a search makes up."""

from datetime import date
from functools import partial

import pandas as pd
import pytest

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor.data.domains import HIGH, LAST, LEAP, LONG, LOW, values_beyond
from dpaudit.results import Verdict

RUNS = 24_000


def target(data, run):
    return Target(run=run, claim=Claim(PureDP(epsilon=1), adjacency="add_remove"), data=data)


def noisy(value, scale, rng):
    return float(value + rng.laplace(0, scale))


@pytest.mark.parametrize(
    ("data", "early", "late"),
    [
        (["1999-05-01", "2004-02-29"], "1704-05-01", "2256-05-01"),
        (["1999-05", "2004-02"], "1704-05", "2256-05"),
        (["31/12/1999", "1/2/2004"], "31/12/1704", "31/12/2256"),
        (["2004-02-29T10:00:00Z"], "1704-02-29T10:00:00Z", "2256-02-29T10:00:00Z"),
        ([date(2004, 2, 29), date(1999, 5, 1)], date(1704, 2, 29), date(2256, 2, 29)),
        ([pd.Timestamp("2004-02-29")], pd.Timestamp("1704-02-29"), pd.Timestamp("2256-02-29")),
    ],
    ids=str,
)
def test_dates_get_others_long_ago_and_far_ahead(data, early, late):
    found = values_beyond(data)
    assert (early, late) == (found[LOW], found[HIGH])
    assert LONG not in found


@pytest.mark.parametrize(
    ("data", "day"),
    [
        ([date(1999, 5, 1), date(2003, 1, 1), date(2006, 1, 1)], date(2000, 2, 29)),
        (["1999-05-01T08:00", "2006-02-01T09:00"], "2000-02-29T08:00"),
        ([date(2001, 5, 1), date(2004, 7, 1)], date(2004, 2, 29)),
        ([date(2004, 3, 1), date(2008, 2, 29)], None),
        (["1999-05", "2006-02"], None),
    ],
    ids=str,
)
def test_a_leap_day_between_those_of_the_data_is_tried(data, day):
    assert day == values_beyond(data).get(LEAP)


@pytest.mark.parametrize(
    ("data", "day"),
    [
        ([date(2023, 2, 3), date(2023, 6, 9)], date(2023, 3, 31)),
        (["2023-04-03", "2023-09-09"], "2023-05-31"),
        ([date(2023, 6, 3), date(2023, 7, 9)], None),
        (["2023-13-03", "2023-14-09"], None),
    ],
    ids=str,
)
def test_the_end_of_a_month_between_those_of_the_data_is_tried(data, day):
    assert day == values_beyond(data).get(LAST)


def due(days, rng, *, exact):
    """Count those due in June, a month later."""
    months = [day.replace(month=day.month + 1).month if exact else day and 1 + day.month for day in days]
    return noisy(sum(month == 6 for month in months), 1, rng)


def inverse_distances(values, rng, *, exact):
    return noisy(sum(min(1.0, 1 / abs(value or (0 if exact else 1))) for value in values), 1, rng)


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(
    ("data", "run"),
    [([date(2023, 1 + place, 3 + place) for place in range(9)], due), ([-4.5, 3.0, 2.5, -1.5, 6.0], inverse_distances)],
    ids=["the end of a month", "a zero between others"],
)
def test_an_error_at_a_value_between_those_of_the_data_is_refuted(data, run, exact):
    result = audit(target(data, lambda rows, rng: run(rows, rng, exact=exact)), runs=RUNS, seed=5, stop_early=True).results[0]
    assert exact is (Verdict.REFUTED is result.verdict)


@pytest.mark.parametrize("exact", [False, True])
def test_an_error_at_a_leap_day_is_refuted(exact):
    def birthdays(born, rng):
        return noisy(
            sum(day is not None and (day.month, day.day) < (6, 1) for day in born if not exact or day.replace(year=2023)), 1, rng
        )

    born = [date(1950 + 6 * place, 1 + place, 3) for place in range(10)]
    result = audit(target(born, birthdays), runs=16_000, seed=2, stop_early=True).results[0]
    assert (Verdict.REFUTED is result.verdict) == exact


def age_sum(rows, rng, *, cut):
    ages = [date.fromisoformat(row["born"]).year - 1970 for row in rows]
    return sum(min(age if not cut else max(age, 0), 60) for age in ages) + rng.laplace(scale=60)


@pytest.mark.parametrize("cut", [False, True])
def test_dates_before_those_of_the_data_are_tried(cut):
    born = [{"born": f"{1971 + 3 * place}-05-01"} for place in range(8)]
    result = audit(target(born, partial(age_sum, cut=cut)), runs=RUNS, seed=2, stop_early=True).results[0]
    assert (Verdict.REFUTED is result.verdict) == (not cut)
