"""Events say what they are: the text of a range event is true of exactly the outputs it holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditor.events.predicates import Atoms, ScoreThreshold, Threshold, hits_of
from dpaudit.auditor.scoring.table import ScoreTable

CUTS = st.lists(st.integers(-5, 5), min_size=1, max_size=6, unique=True).map(sorted)
GRID = np.arange(-7, 7.25, 0.25)


@st.composite
def scores_of_one(draw):
    """A threshold on a score of one column."""
    cuts = tuple(map(float, draw(CUTS)))
    values = tuple(map(float, draw(st.lists(st.integers(-2, 2), min_size=len(cuts) + 1, max_size=len(cuts) + 1))))
    table = ScoreTable(columns=(0,), cuts=(cuts,), values=(values,), offset=0.5)
    return ScoreThreshold(table, draw(st.sampled_from(values)) + 0.5, at_most=draw(st.booleans()))


@given(scores_of_one())
def test_the_ranges_of_a_score_of_one_column_hold_what_its_bins_do(event):
    rows = np.array([*GRID, np.nan, np.inf, -np.inf, -0.0])[:, None]
    assert event.of_scores(event.table.scores(rows)).tolist() == event.hits(rows).tolist()


@given(st.lists(scores_of_one(), max_size=3), st.integers(-6, 6), st.data())
def test_events_together_hold_what_each_holds_alone(events, limit, data):
    cuts, values = ((0.0, 2.0), (1.0,)), ((-1.0, 0.0, 1.0), (0.5, -0.5))
    shared = ScoreTable(columns=(0, 1), cuts=cuts, values=values, offset=0.0)
    other = ScoreTable(columns=(1, 0), cuts=cuts, values=values, offset=1.0)
    several = [ScoreThreshold(table, at, at_most=up) for table in (shared, other) for at in (0.0, 0.5) for up in (True, False)]
    events = data.draw(st.permutations([*events, *several, Threshold(1, float(limit), at_most=True), Atoms((0,), ((1.0,),))]))
    rows = np.stack([GRID, GRID[::-1]], axis=1)
    assert [event.hits(rows).tolist() for event in events] == [hits.tolist() for hits in hits_of(events, rows)]


@given(scores_of_one())
def test_a_score_of_one_column_reads_as_the_ranges_it_holds(event):
    text = event.describe(("value",)).replace("any value", "True")
    assert [eval(text, {"value": value}) for value in GRID] == event.hits(GRID[:, None]).tolist()  # noqa: S307


@pytest.mark.parametrize("at_most", [True, False])
def test_a_threshold_holds_its_limit_and_never_nan(at_most):
    event = Threshold(0, 2.0, at_most=at_most)
    assert [True, False] == event.hits(np.array([[2.0], [np.nan]])).tolist()


def test_atoms_hold_the_listed_rows_only_and_both_zeros_are_one():
    event = Atoms((0, 1), ((0.0, 1.0), (2.0, 3.0)))
    rows = np.array([[-0.0, 1.0], [2.0, 3.0], [0.0, 3.0], [2.0, 1.0]])
    assert [True, True, False, False] == event.hits(rows).tolist()
