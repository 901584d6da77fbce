"""Columns as bins: exact values apart from numbers, and the patterns that they make."""

import numpy as np

from dpaudit.auditor.scoring.encoding import MOST_PATTERNS, encode_columns, patterns_of


def mixture(seed=0, rows=4000):
    """Two columns: one of numbers with -5 in a third of the rows, one of numbers alone; and a constant one."""
    stream = np.random.default_rng(seed)
    first = np.where(stream.random(rows) < 1 / 3, -5.0, stream.normal(size=rows))
    return np.column_stack([first, stream.normal(size=rows), np.full(rows, 3.0)])


def test_a_value_that_repeats_has_a_bin_of_its_own_and_constants_are_left_out():
    features = mixture()
    first, second = encode_columns(features, None)
    assert (0, 1) == (first.source, second.source)
    exact = first.bins[features[:, 0] == -5.0]
    assert 1 == len(set(exact.tolist()))
    assert not first.numeric[exact[0]]
    assert exact[0] not in first.bins[features[:, 0] != -5.0]
    assert second.numeric.all()


def test_columns_of_few_values_get_one_bin_for_each():
    values = np.random.default_rng(1).integers(0, 5, (1000, 2)).astype(np.float64)
    for column in encode_columns(values, (0, 3)):
        assert values[:, column.source].tolist() == column.bins.tolist()
        assert not column.numeric.any()
    assert [0, 3] == [column.group for column in encode_columns(values, (0, 3))]


def test_rows_share_a_pattern_when_the_same_exact_values_stand_in_the_same_places():
    features = np.column_stack([mixture(2)[:, 0], mixture(3)[:, 0]])
    codes = patterns_of(encode_columns(features, None), len(features))
    expected = {(row[0] == -5.0, row[1] == -5.0): code for row, code in zip(features.tolist(), codes.tolist(), strict=True)}
    assert 4 == len(set(codes.tolist())) == len(expected)
    assert [expected[row[0] == -5.0, row[1] == -5.0] for row in features.tolist()] == codes.tolist()


def test_too_many_patterns_are_not_counted():
    bits = np.random.default_rng(4).integers(0, 2, (3 * MOST_PATTERNS, 20)).astype(np.float64)
    assert None is patterns_of(encode_columns(bits, None), len(bits))
    assert None is patterns_of(encode_columns(mixture()[:, 1:2], None), 4000)
