"""Two samples of outputs in, a bound and a verdict out: as tight as an audit, and no more false alarms than stated."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit import GDP, ApproxDP, Claim, PureDP, Target, audit, audit_samples
from dpaudit.auditor.checks.independence import INDEPENDENT
from dpaudit.auditor.events.points import lines_of
from dpaudit.auditor.samples.drawing import KEPT, draw_runs, rows_needed, runs_within, suffice
from dpaudit.auditor.samples.files import sample_of
from dpaudit.auditor.samples.testing import try_samples
from dpaudit.errors import InvalidArgument
from dpaudit.report import from_json, to_html, to_json, to_junit, to_sarif, to_text
from dpaudit.results import Verdict

ONE = Claim(PureDP(epsilon=1))
ROWS = 6000


def laplace(scale):
    """A number with Laplace noise."""
    return lambda x, count, rng: x + rng.laplace(0, scale, count)


def geometric(ratio):
    """An integer with two-sided geometric noise."""
    return lambda x, count, rng: x + rng.geometric(1 - ratio, count) - rng.geometric(1 - ratio, count)


def response(epsilon):
    """Randomized response."""
    return lambda x, count, rng: np.where(rng.random(count) < 1 / (1 + np.exp(-epsilon)), x, 1 - x)


def wide(scale):
    """A hundred numbers, of which one depends on the data."""

    def release(x, count, rng):
        out = rng.laplace(0, scale, (count, 100))
        out[:, 40] += x
        return out

    return release


def objects(scale):
    """What JSON lines hold."""
    return lambda x, count, rng: [{"mean": value, "unit": "years"} for value in (x + rng.laplace(0, scale, count)).tolist()]


def texts(scale):
    """Lines of a log."""
    return lambda x, count, rng: [f"the mean is {value:.3f}" for value in x + rng.laplace(0, scale, count)]


def gaussian(sigma):
    """A number with Gaussian noise."""
    return lambda x, count, rng: x + rng.normal(0, sigma, count)


def two(release, rows=ROWS, seed=1):
    """Two samples of a release."""
    rng = np.random.default_rng(seed)
    return release(0, rows, rng), release(1, rows, rng)


def result_of(samples, claim=ONE, **options):
    """The one result of an audit of two samples."""
    return audit_samples(*samples, claim=claim, **options).results[0]


KINDS = {
    "a number": (laplace(0.5), laplace(1), ONE),
    "an integer": (geometric(np.exp(-2)), geometric(np.exp(-1)), ONE),
    "a bit": (response(2), response(1), ONE),
    "one of a hundred numbers": (wide(0.4), wide(1), ONE),
    "an object": (objects(0.5), objects(1), ONE),
    "a text": (texts(0.5), texts(1), ONE),
    "approximate": (gaussian(1), gaussian(5), Claim(ApproxDP(epsilon=1, delta="1e-5"))),
    "a curve": (gaussian(0.5), gaussian(1), Claim(GDP(mu=1))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_samples_of_a_broken_release_are_refuted_and_those_of_its_sound_twin_are_not(kind):
    broken, sound, claim = KINDS[kind]
    assert Verdict.REFUTED is result_of(two(broken, 3000), claim).verdict
    assert Verdict.REFUTED is not result_of(two(sound, 3000), claim).verdict


@pytest.mark.parametrize("kind", ["a number", "an integer", "a bit", "one of a hundred numbers"])
def test_the_bound_is_about_that_of_an_audit_with_as_many_runs(kind):
    broken, _, claim = KINDS[kind]
    target = Target(sample=broken, claim=claim, neighbours=[(0, 1)], name="broken")
    audited = audit(target, runs=20_000).results[0].lower_bound.epsilon
    assert audited * Fraction(9, 10) <= result_of(two(broken, 10_000), claim).lower_bound.epsilon


def test_true_claims_are_refuted_no_more_often_than_alpha_allows():
    releases, refuted, tried, alpha = [geometric(np.exp(-1)), response(1), laplace(1)], 0, 300, Fraction(1, 20)
    for seed in range(tried):
        samples = tuple(sample_of(given, "") for given in two(releases[seed % 3], rows=90 + seed % 7, seed=seed))
        tested = try_samples(samples, draw_runs(samples, seed), lines_of(ONE), alpha=alpha, shown=False)
        refuted += Fraction(tested.attack.p_value) <= alpha
    tail = sum(comb(tried, count) * alpha**count * (1 - alpha) ** (tried - count) for count in range(refuted, tried + 1))
    assert tail > 1e-7


@given(rows=st.integers(1, 60))
@settings(max_examples=20)
def test_the_coins_ask_for_more_rows_than_there_are_as_rarely_as_is_paid_for(rows):
    runs = runs_within(rows)
    fit = sum(comb(runs, ones) for ones in range(runs + 1) if max(ones, runs - ones) <= rows)
    assert Fraction(fit, 2**runs) >= KEPT
    assert rows <= runs <= 2 * rows


@given(sizes=st.tuples(st.integers(2, 300), st.integers(2, 300)), seed=st.integers(0, 2**40))
@settings(max_examples=20)
def test_no_row_is_used_twice_and_the_seed_decides_which(sizes, seed):
    samples = tuple(sample_of(np.arange(size), "") for size in sizes)
    runs = draw_runs(samples, seed)
    for label, size in enumerate(sizes):
        rows = runs.rows[runs.labels == label].tolist()
        assert len(set(rows)) == len(rows) <= size
    again = draw_runs(samples, seed)
    assert (runs.rows.tolist(), runs.labels.tolist()) == (again.rows.tolist(), again.labels.tolist())


def test_samples_may_differ_in_size_and_the_report_says_how_many_rows_were_used():
    rng = np.random.default_rng(3)
    found = result_of((rng.laplace(0, 0.5, 2000), rng.laplace(1, 0.5, 50_000)))
    assert Verdict.REFUTED is found.verdict
    assert (2000, 50_000) == found.samples.rows
    assert max(found.samples.used) <= 2000


def test_a_weak_drift_that_both_samples_share_makes_no_difference():
    drift = np.linspace(0, 0.3, ROWS)
    for scale, verdict in ((0.4, Verdict.REFUTED), (1.0, Verdict.CONSISTENT)):
        first, second = two(laplace(scale), seed=2)
        assert verdict is result_of((first + drift, second + drift), alpha="0.05").verdict


def test_sorted_samples_are_judged_and_their_order_is_named():
    for scale, verdict in ((0.4, Verdict.REFUTED), (1.0, Verdict.CONSISTENT)):
        found = result_of(tuple(map(np.sort, two(laplace(scale), seed=2))), alpha="0.05")
        assert verdict is found.verdict
        assert ["not run"] == [check.status for check in found.properties if check.name == INDEPENDENT]


def same_seeds(release, rows=3000):
    """Two samples of which row i was drawn with seed i."""
    return tuple(np.array([release(x, 1, np.random.default_rng(seed))[0] for seed in range(rows)]) for x in (0, 1))


NOT_INDEPENDENT = {
    "one sample twice": (np.random.default_rng(1).normal(size=3000),) * 2,
    "sorted, one sample twice": (np.sort(np.random.default_rng(1).normal(size=3000)),) * 2,
    "the same seeds": same_seeds(laplace(1)),
    "the same seeds, of bits": same_seeds(response(1)),
    "a file written twice": tuple(np.tile(part, 2) for part in two(laplace(1), 2000)),
    "seeds used again": tuple(np.resize(part, 6000) for part in two(laplace(1), 500)),
    "a strong drift": tuple(part + np.linspace(0, 9, ROWS) for part in two(laplace(1))),
    "a walk": tuple(np.cumsum(np.random.default_rng(seed).normal(size=3000)) for seed in (1, 2)),
}


@pytest.mark.parametrize("kind", NOT_INDEPENDENT)
def test_rows_that_depend_on_each_other_are_not_judged(kind):
    found = result_of(NOT_INDEPENDENT[kind])
    assert Verdict.INCONCLUSIVE is found.verdict
    assert [INDEPENDENT] == [check.name for check in found.properties if check.status == "violated"]


@pytest.mark.parametrize("release", [laplace(1), response(1), response(7), geometric(0.1), texts(1)])
def test_independent_rows_are_not_said_to_depend_on_each_other(release):
    for seed in range(2):
        assert not [check for check in result_of(two(release, 2500, seed)).properties if check.status == "violated"]


def test_outputs_that_are_all_alike_decide_nothing():
    assert Verdict.INCONCLUSIVE is result_of((np.zeros(ROWS), np.zeros(ROWS))).verdict


TABLES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "records": lambda columns: np.rec.fromarrays(list(columns.values()), names=list(columns)),
    "a list of rows": lambda columns: list(zip(*(column.tolist() for column in columns.values()), strict=True)),
}


@pytest.mark.parametrize("library", TABLES)
@pytest.mark.parametrize(("scale", "refuted"), [(0.4, True), (1.0, False)])
def test_tables_are_read_by_rows(library, scale, refuted):
    noise = np.random.default_rng(5)
    tables = [TABLES[library]({"mean": part, "size": noise.integers(0, 9, ROWS)}) for part in two(laplace(scale))]
    assert refuted == (result_of(tables).verdict is Verdict.REFUTED)


@pytest.mark.parametrize("made", [pd.Series, pl.Series, pa.array, np.ndarray.tolist])
def test_a_column_of_a_table_is_a_sample(made):
    assert Verdict.REFUTED is result_of(tuple(map(made, two(laplace(0.4))))).verdict


def test_a_column_that_numbers_the_rows_is_left_out_and_named():
    tables = [pd.DataFrame({"run": range(len(part)), "mean": part}) for part in (two(laplace(1))[0], two(laplace(1), 7000)[1])]
    found = result_of(tables)
    assert Verdict.REFUTED is not found.verdict
    assert ["column 1 only numbers the rows"] == [check.detail for check in found.properties if check.name == "columns left out"]


REFUSED = {
    "nothing": (([], [1.0]), "DPA109"),
    "a number": ((1.0, [1.0]), "DPA105"),
    "a single value": ((np.array(1.0), np.zeros(3)), "DPA105"),
    "another width": ((np.zeros((500, 2)), np.zeros((500, 3))), "DPA105"),
    "another type": ((np.zeros(500), np.zeros(500, dtype=np.int64)), "DPA105"),
    "other columns": ((pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [1.0]})), "DPA105"),
    "too few": ((np.zeros(60), np.zeros(5000)), "DPA103"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_pair_of_samples_is_refused(kind):
    samples, code = REFUSED[kind]
    with pytest.raises(InvalidArgument) as refusal:
        audit_samples(*samples, claim=ONE)
    assert code == refusal.value.code


def test_a_refusal_of_small_samples_says_how_many_rows_are_enough():
    with pytest.raises(InvalidArgument, match="at least 67 rows for any verdict, got 60 and 5,000"):
        audit_samples(np.zeros(60), np.zeros(5000), claim=ONE)
    assert 67 == rows_needed(lines_of(ONE), Fraction(1, 1000))
    found = result_of((np.zeros(67), np.ones(67)), seed=2)
    assert Verdict.REFUTED is found.verdict


@given(epsilon=st.fractions(0, 6), delta=st.sampled_from(["0", "1e-6", "1/10"]), alpha=st.sampled_from(["1/1000", "1/20"]))
@settings(max_examples=10, deadline=None)
def test_the_rows_that_are_needed_suffice_and_one_less_does_not(epsilon, delta, alpha):
    lines, level = lines_of(Claim(ApproxDP(epsilon, delta))), Fraction(alpha)
    needed = rows_needed(lines, level)
    assert suffice(needed, lines, level)
    assert not suffice(needed - 1, lines, level)


def test_the_same_seed_gives_the_same_evidence_and_every_form_of_report_takes_it():
    samples = two(laplace(0.5))
    report, again = (audit_samples(*samples, claim=ONE, seed=4) for _ in range(2))
    assert report.results == again.results
    assert report == from_json(to_json(report))
    text = " ".join(to_text(report).split())
    assert "each row is an independent release of its own" in text
    assert "no certified price and no proof" in text
    assert "wealth" not in text
    assert "<dt>Bets" not in to_html(report)
    assert "samples" in to_junit(report)
    assert "DPA-E01" in to_sarif(report)


def test_values_of_outputs_are_shown_only_where_that_is_asked_for():
    samples = [["secret" if flag else "open" for flag in part.tolist()] for part in two(response(5))]
    hidden, shown = (audit_samples(*samples, claim=ONE, show_values=flag) for flag in (False, True))
    assert "secret" not in to_json(hidden) + to_html(hidden)
    assert "values of the data are not shown" in to_text(hidden)
    assert "--show-values was given" in to_text(shown)


def test_an_undecided_claim_is_told_how_many_rows_would_decide_it():
    text = to_text(audit_samples(*two(response(1), 400), claim=ONE), width=200)
    assert "rows each would decide it" in text
    assert "--runs" not in text


def test_texts_that_never_repeat_are_not_called_consistent():
    letters = np.random.default_rng(1).choice(list("abcdefgh"), (2, 3000, 40))
    report = audit_samples(*(["".join(row) for row in part] for part in letters.tolist()), claim=ONE)
    assert Verdict.INCONCLUSIVE is report.results[0].verdict
    assert "score=" not in to_text(report)
