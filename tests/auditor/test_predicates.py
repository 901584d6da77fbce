"""Events say what they are: the text of a range event is true of exactly the outputs it holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.auditor.predicates import Atoms, ScoreThreshold, Threshold
from dpaudit.auditor.scoring.table import ScoreTable

CUTS = st.lists(st.integers(-5, 5), min_size=1, max_size=6, unique=True).map(sorted)
GRID = np.arange(-7, 7.25, 0.25)


@given(st.data())
def test_a_score_of_one_column_reads_as_the_ranges_it_holds(data):
    cuts = tuple(map(float, data.draw(CUTS)))
    values = tuple(map(float, data.draw(st.lists(st.integers(-2, 2), min_size=len(cuts) + 1, max_size=len(cuts) + 1))))
    table = ScoreTable(columns=(0,), cuts=(cuts,), values=(values,), offset=0.5)
    event = ScoreThreshold(table, data.draw(st.sampled_from(values)) + 0.5, at_most=data.draw(st.booleans()))
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
