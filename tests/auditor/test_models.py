"""What a pilot says of the log-odds along a column: flat where nothing changes, sharp where something does, honest about doubt."""

import math

import numpy as np
import pytest

from dpaudit.auditor.scoring.models import column_model, order_column


def column(seed, rows, values_of):
    stream = np.random.default_rng([21, seed])
    labels = stream.integers(0, 2, rows).astype(np.uint8)
    return order_column(values_of(stream, labels), labels)


def below(column, share, *, scored=False):
    """Modelled log-ratio of the lowest share of a column, and its standard deviation."""
    ends = np.array([int(share * len(column.values))])
    model, spread = column_model(column, scored=scored).tails(column, ends, below=True)
    return float(model[0]), float(spread[0])


def test_a_column_counts_the_labels_before_each_place():
    found = order_column(np.array([3.0, 1.0, math.nan, 2.0]), np.array([1, 0, 1, 1], dtype=np.uint8))
    assert [1.0, 2.0, 3.0] == found.values.tolist()
    assert [0, 0, 1, 2] == found.ones.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_the_tail_of_a_plateau_borrows_from_the_whole_of_it(seed):
    # Below 0 every output has log-odds -0.1 exactly: a hundredth of the rows say as much as all of them.
    found = column(seed, 400_000, lambda stream, labels: stream.laplace(0, 10, len(labels)) + labels)
    model, spread = below(found, 0.01)
    assert -0.1 == pytest.approx(model, abs=0.03)
    assert spread < 0.5 * 2 / math.sqrt(0.01 * 400_000)


@pytest.mark.parametrize("seed", range(3))
def test_log_odds_that_keep_growing_into_the_tail_are_followed_to_its_end(seed):
    # Density v^4 under label 0 and (v - 1)^4 under label 1 near the edge: fewer than twenty rows are below 3.
    def values(stream, labels):
        return stream.exponential(20, (len(labels), 5)).max(axis=1) + 1 + labels

    model, spread = below(column(seed, 1_000_000, values), 2e-5)
    assert model < -0.7
    assert spread < 0.7


def test_a_column_without_signal_says_nothing_anywhere():
    found = column(4, 100_000, lambda stream, labels: stream.normal(size=len(labels)))
    curve = column_model(found)
    # One bin alone has a standard error of 0.07.
    assert 0.03 > np.abs(curve.odds).max()


def test_scores_that_are_log_odds_are_believed_where_counts_are_few():
    # The label follows the score's log-odds exactly; a hundred rows are above 0.309.
    def values(stream, labels):
        return stream.normal(0, 0.1, len(labels)) + 0.01 * (labels - 0.5)

    found = column(5, 100_000, values)
    assert 0.3 == pytest.approx(column_model(found, scored=True).at(np.array([0.3]))[0], abs=0.06)
    assert below(found, 0.001, scored=True)[1] < 0.5 * below(found, 0.001)[1]


def test_scores_whose_ends_say_nothing_more_are_level_there():
    # Log-odds are -0.2 or 0.2 by sign; the score adds noise to them, so that its extremes are noise alone.
    def values(stream, labels):
        sign = np.where(stream.random(len(labels)) < 1 / (1 + np.exp(-0.2)), 2.0 * labels - 1, 1 - 2.0 * labels)
        return 0.2 * sign + stream.normal(0, 0.05, len(labels))

    curve = column_model(column(6, 400_000, values), scored=True)
    assert 0.2 == pytest.approx(curve.at(np.array([0.4]))[0], abs=0.02)


def test_a_column_of_few_values_has_a_bin_for_each():
    found = column(7, 50_000, lambda stream, labels: (stream.random(len(labels)) < 0.4 + 0.2 * labels).astype(np.float64))
    curve = column_model(found)
    assert [1.0] == curve.cuts.tolist()
    assert [-math.log(1.5), math.log(1.5)] == pytest.approx(curve.odds.tolist(), abs=0.05)


@pytest.mark.parametrize("below_end", [True, False])
def test_a_tail_is_as_sure_as_all_its_rows_together(below_end):
    # The same sums, row by row: every row moves with the unknowns of its bin.
    found = column(6, 4_000, lambda stream, labels: np.round(stream.normal(size=len(labels)) + labels, 1))
    curve = column_model(found)
    bins = np.searchsorted(curve.cuts, found.values, side="right")
    theta = curve.theta[bins]
    moved = (np.sqrt(theta * (1 - theta)) / 2)[:, None] * curve.loads[bins]
    ends = np.array([1, 10, 1234, 2000, 3500, 3999])
    model, spread = curve.tails(found, ends, below=below_end)
    for place, end in enumerate(ends.tolist()):
        # Inside a bin its rows are alike, so that a cut bin weighs by its share.
        inside = slice(0, end) if below_end else slice(end, None)
        ones = theta[inside].sum()
        zeros = len(theta[inside]) - ones
        assert model[place] == pytest.approx(math.log(ones / zeros), abs=1e-6)
        deviation = math.sqrt(moved[inside].sum(axis=0) ** 2 @ curve.variances)
        assert spread[place] == pytest.approx(deviation * (ones + zeros) / (ones * zeros), rel=1e-6)
