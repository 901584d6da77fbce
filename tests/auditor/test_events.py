"""Events: what they contain, how they read, and which of them a pilot puts first."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import laplace

from dpaudit.auditor.events import ranking as events
from dpaudit.auditor.events.candidates import column_families, score_families
from dpaudit.auditor.events.ranking import Atoms, ScoreThreshold, Shortlist, Threshold, rank_events
from dpaudit.auditor.scoring.fitting import fit_score
from dpaudit.auditor.scoring.table import ScoreTable
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.errors import InvalidArgument

PURE = ClaimPoint(1, 0)
TABLE = ScoreTable(columns=(0, 1), cuts=((0.0,), (0.5, 1.5)), values=((-1.0, 1.0), (0.0, 2.0, 4.0)), offset=0.5)


def labels_of(seed, runs):
    stream = np.random.default_rng(seed)
    return stream.integers(0, 2, runs).astype(np.uint8), stream


def rank(features, labels, *, point=PURE, final_runs=100_000, **options):
    return rank_events(features, labels, point=point, final_runs=final_runs, alpha=0.05, **options)


def test_thresholds_contain_their_limit_and_never_nan():
    column = np.array([[1.0], [2.0], [3.0], [math.nan], [math.inf]])
    assert [True, True, False, False, False] == Threshold(0, 2.0, at_most=True).hits(column).tolist()
    assert [False, True, True, False, True] == Threshold(0, 2.0, at_most=False).hits(column).tolist()


def test_sets_of_rows_contain_exactly_their_rows():
    rows = np.array([[0.0, 1.0], [1.0, 0.0], [-0.0, 1.0], [0.0, 1.5]])
    assert [True, False, True, False] == Atoms((0, 1), ((0.0, 1.0),)).hits(rows).tolist()
    assert [True, True, True, False] == Atoms((0, 1), ((0.0, 1.0), (1.0, 0.0))).hits(rows).tolist()


@given(values=st.lists(st.floats(allow_nan=False), min_size=1, max_size=8), probe=st.lists(st.floats(allow_nan=False), max_size=20))
@settings(max_examples=100, deadline=None)
def test_a_set_of_numbers_means_membership(values, probe):
    event = Atoms((0,), tuple((value,) for value in values))
    column = np.array([*probe, *values], dtype=np.float64)[:, None]
    assert [value in values for value in column[:, 0].tolist()] == event.hits(column).tolist()


def test_scores_add_up_table_values():
    assert [-0.5, 3.5, 5.5] == TABLE.scores(np.array([[-1.0, 0.0], [0.0, 1.0], [3.0, 9.0]])).tolist()


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("value <= 3", Threshold(0, 3.0, at_most=True)),
        ("count >= 0.1", Threshold(1, 0.1, at_most=False)),
        ("value = inf", Atoms((0,), ((math.inf,),))),
        ("value in {0, 2}", Atoms((0,), ((0.0,), (2.0,)))),
        ("(value, count) in {(0, 1), (2, 0.5)}", Atoms((0, 1), ((0.0, 1.0), (2.0, 0.5)))),
        ("value in {0, 1, 2, 3, 4, 5, 6, 7, and 3 more}", Atoms((0,), tuple((float(i),) for i in range(11)))),
        ("score of (value, count) <= 1", ScoreThreshold(TABLE, 1.0, at_most=True)),
    ],
)
def test_events_read_as_people_write_them_and_survive_pickling(text, event):
    assert text == event.describe(("value", "count"))
    assert event == pickle.loads(pickle.dumps(event))
    assert hash(event) == hash(pickle.loads(pickle.dumps(event)))


def test_a_shifted_laplace_is_cut_where_the_final_bound_is_nearly_the_best_possible():
    def bound_at_expected_counts(best, runs):
        # Exact masses of the chosen tail: densities e^-|x| / 2 and e^-|x - 1| / 2.
        below = [laplace.cdf(best.event.limit, loc=label) for label in (0, 1)]
        tails = below if best.event.at_most else [1 - mass for mass in below]
        own, other = sorted(tails, reverse=True)
        deviation = math.sqrt(2 / runs * (1 / own + 1 / other))
        return math.log(own / other) - 1.645 * deviation

    found = []
    for seed in range(9):
        labels, stream = labels_of([1, seed], 10_000)
        best = rank((stream.laplace(0, 1, len(labels)) + labels)[:, None], labels, final_runs=90_000)[0]
        assert best.reverse == best.event.at_most
        found.append(bound_at_expected_counts(best, 90_000))
    # The best event, known in advance, gives 0.979; up to 0 all outputs speak for label 0, from 1 on for label 1.
    assert 0.970 <= np.median(found)


def test_events_that_speak_for_label_zero_are_marked_as_reverse():
    labels, stream = labels_of(2, 20_000)
    # Value 7 appears under label 0 only, so its event must carry the reverse mark.
    values = np.where((labels == 0) & (stream.random(len(labels)) < 0.1), 7.0, np.floor(3 * stream.random(len(labels))))
    best = rank(values[:, None], labels)[0]
    assert best.reverse
    assert [True, False] == best.event.hits(np.array([[7.0], [1.0]])).tolist()


def test_a_rare_exact_value_is_found_where_delta_is_positive():
    labels, stream = labels_of(3, 10_000)
    values = stream.laplace(0, 1, len(labels))
    leaks = stream.random(len(labels)) < 2e-3
    values[leaks] = 7.25 * labels[leaks]
    best = rank(values[:, None], labels, point=ClaimPoint(1, "1e-5"))[0]
    assert best.event.hits(np.array([[7.25 * (not best.reverse)]])).all()
    assert best.mass < 0.01


def test_weak_signs_in_many_columns_are_added_up():
    labels, stream = labels_of(4, 40_000)
    items = stream.laplace(0, 2, (len(labels), 12)) + labels[:, None]
    single = rank(items[:, :1], labels)[0]
    best = rank(items, labels)[0]
    assert isinstance(best.event, ScoreThreshold)
    # One column carries ln-odds of at most 1/2; twelve of them together several times that.
    assert single.predicted < 0.52
    assert best.predicted > 1.5


def test_outputs_that_only_tell_as_a_whole_are_taken_as_sets():
    labels, stream = labels_of(5, 40_000)
    bits = stream.integers(0, 2, (len(labels), 3))
    # The parity of the three bits agrees with the label 80 % of the time; no single bit says anything.
    flip = (bits.sum(axis=1) % 2) ^ labels ^ (stream.random(len(labels)) < 0.2)
    bits[:, 2] ^= flip
    best = rank(bits.astype(np.float64), labels)[0]
    assert isinstance(best.event, Atoms)
    assert {0.0, 1.0} != {sum(row) % 2 for row in best.event.values}
    assert best.predicted > 1.2


@pytest.mark.parametrize("seed", range(4))
def test_noise_without_signal_promises_almost_nothing(seed):
    labels, stream = labels_of([6, seed], 5000)
    features = np.column_stack([stream.normal(size=(5000, 3)), stream.integers(0, 5, 5000)])
    assert rank(features, labels)[0].predicted < 0.2


def test_at_most_the_asked_number_of_events_comes_back_in_order():
    labels, stream = labels_of(7, 4000)
    found = rank((stream.laplace(0, 1, 4000) + labels)[:, None], labels, shortlist=Shortlist(3))
    assert 3 == len(found)
    assert sorted(found, key=lambda ranked: -ranked.predicted) == list(found)


def test_columns_that_never_vary_give_no_events():
    labels, _ = labels_of(8, 100)
    assert () == rank(np.ones((100, 2)), labels)
    assert None is fit_score(np.ones((100, 2)), labels)


def test_the_same_pilot_gives_the_same_events_and_shapes_are_checked():
    labels, stream = labels_of(9, 3000)
    features = stream.normal(size=(3000, 2)) + labels[:, None]
    assert rank(features, labels) == rank(features.copy(), labels.copy())
    with pytest.raises(InvalidArgument, match="features must be of shape"):
        rank(features, labels[:-1])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_values_that_are_not_finite_do_not_stop_the_ranking(bad):
    labels, stream = labels_of(10, 3000)
    values = stream.laplace(0, 1, 3000) + labels
    values[:300] = bad
    assert rank(values[:, None], labels)[0].predicted > 0.5


def test_values_that_repeat_on_one_side_only_are_taken_as_a_set():
    labels, stream = labels_of(11, 10_000)
    # 2^14 values for each label, none of them shared: a value is seen again about every second time.
    values = 2.0 * stream.integers(0, 2**14, len(labels)) + labels
    best = rank(values[:, None] + 0.25, labels)[0]
    assert isinstance(best.event, Atoms)
    assert 1 == len({value % 2 for (value,) in best.event.values})
    assert best.predicted > 2


def test_many_columns_are_screened_and_the_best_one_is_found():
    labels, stream = labels_of(12, 40_000)
    features = stream.normal(size=(40_000, 8))
    features[:, 5] = np.where((labels == 1) & (stream.random(40_000) < 0.1), 9.0, features[:, 5])
    assert rank(features, labels)[0].event.hits(np.full((1, 8), 9.0)).all()
    assert 5 in rank(features, labels)[0].event.columns


def test_the_far_tail_is_seen_where_the_pilot_is_large():
    labels, stream = labels_of(13, 200_000)
    # Under label 0 nothing is below 1; under label 1 one run in a thousand is.
    values = 1 + stream.exponential(1, len(labels))
    values[(labels == 1) & (stream.random(len(labels)) < 1e-3)] = 0.5
    best = rank(values[:, None], labels, final_runs=1_000_000)[0]
    assert best.event.hits(np.array([[0.5]])).all()
    assert 0.5 < best.predicted


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("columns", [1, 4])
def test_every_event_that_is_looked_at_contains_a_run_of_the_pilot(seed, columns):
    runs = 400
    labels, stream = labels_of(seed, runs)
    # Outputs repeat, but are too many to be looked at one by one; labels have nothing to do with them.
    features = np.column_stack(
        [stream.integers(0, 20, (runs, columns)), np.where(stream.random(runs) < 0.5, stream.random(runs), 0)]
    )
    families = [*score_families(features, labels), *column_families(features, labels, 0)]
    for family in families:
        for place in range(len(family.ones)):
            assert family.make(place).hits(features).any()
    assert families


@pytest.mark.parametrize("point", [PURE, ClaimPoint(1, 1e-3)], ids=["pure", "approximate"])
@pytest.mark.parametrize("runs", [300, 20_000])
@pytest.mark.parametrize("shape", ["shift", "rare", "spread", "atom"])
def test_bounds_that_are_not_computed_would_not_have_been_the_best(shape, runs, point, monkeypatch):
    labels, stream = labels_of(runs, runs)
    noise = stream.laplace(size=runs)
    column = {
        "shift": noise + labels,
        "rare": noise + 9 * labels * (stream.random(runs) < 0.02),
        "spread": noise * (1 + labels),
        "atom": np.where(labels * stream.random(runs) > 0.7, 0.0, noise),
    }[shape][:, None]
    some = rank(column, labels, point=point)
    monkeypatch.setattr(events, "_COMPUTED", runs)
    everything = rank(column, labels, point=point)
    assert everything[0].predicted == pytest.approx(some[0].predicted, rel=1e-3)
    assert len(everything) == len(some)
