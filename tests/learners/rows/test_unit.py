"""Unit records: norms in Python's integers, hostile entries, one rule for what has no direction, and no word of other records."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array

from dpaudit.errors import InvalidArgument
from learners.rows.signs import SignMap, sign_map
from learners.rows.unit import unit_images, unit_rows

LARGEST = 1.7976931348623157e308
entries = st.one_of(
    st.floats(width=64),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e-200, 1e200, LARGEST, -LARGEST, math.inf, -math.inf, math.nan, 1.0, -1.0]),
)
tables = arrays.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=entries)
ONES = np.ones(99, dtype=np.int64)


def mapped(features, image=None, bits=20):
    return unit_images(features, ONES[: features.shape[0]], image, lattice_bits=bits)


def steps_of(rows):
    return rows.steps if isinstance(rows.steps, np.ndarray) else rows.steps.toarray()


@given(tables, st.sampled_from([1, 4, 20, 26]), st.booleans(), st.booleans())
def test_no_record_is_longer_than_one_whatever_it_holds(features, bits, csr, project):
    """Norms in Python's integers; nothing is raised, warned of or dropped, and no record is zero."""
    image = SignMap(features.shape[1], 2, 5) if project else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = mapped(csr_array(features) if csr else features, image, bits)
    whole = steps_of(rows).tolist()
    assert len(features) == len(whole)
    assert rows.bound == 2**bits
    assert all(0 < sum(entry * entry for entry in row) <= 4**bits for row in whole)


@given(tables)
def test_a_record_that_has_a_direction_keeps_it(features):
    """Finite records are their exact direction, but for two steps in every entry; others are the first axis."""
    for features_of_one, row in zip(features.tolist(), steps_of(mapped(features)).tolist(), strict=True):
        if not all(map(math.isfinite, features_of_one)) or not any(features_of_one):
            assert [2**20, *[0] * (len(row) - 1)] == row
            continue
        largest = max(map(abs, features_of_one))
        # Halves keep ratios of huge entries finite, doubles those of tiny ones.
        shares = [math.ldexp(entry, -math.frexp(largest)[1]) for entry in features_of_one]
        length = math.sqrt(math.fsum(share * share for share in shares))
        assert all(abs(2**20 * share / length - entry) <= 2 for share, entry in zip(shares, row, strict=True))


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        ([math.inf, 1, 0], [1, 0, 0]),
        ([math.nan, 1, 0], [1, 0, 0]),
        ([0, 0, 0], [1, 0, 0]),
        ([5e-324, 0, 0], [1, 0, 0]),
        ([0, -5e-324, 0], [0, -1, 0]),
        ([1e-200, 1e-200, 0], [0.5**0.5, 0.5**0.5, 0]),
        ([LARGEST, LARGEST, -LARGEST], [3**-0.5, 3**-0.5, -(3**-0.5)]),
    ],
)
def test_extreme_records_are_what_was_computed(record, wanted):
    """A check of integers after a cast would pass the second and the sixth of them: the cast of NaN has a square of zero."""
    assert (2**20 * np.array(wanted)).tolist() == pytest.approx(steps_of(mapped(np.array([record])))[0].tolist(), abs=1)


def test_a_record_whose_image_is_zero_becomes_the_first_axis():
    """(e_1 + e_2) under signs that differ in every row."""
    seed = next(seed for seed in range(999) if _opposite(SignMap(2, 3, seed)))
    image = sign_map(dimension_in=2, dimension_out=3, seed=seed)
    features = np.array([[1.0, 1.0], [1.0, -1.0]])
    assert [2**20, 0, 0] == steps_of(mapped(features, image))[0].tolist()
    assert [2**20, 0, 0] == steps_of(mapped(csr_array(features), image))[0].tolist()
    assert 0.99 < np.linalg.norm(steps_of(mapped(features, image))[1] / 2**20) <= 1


def _opposite(image):
    """Whether the two columns of the signs are opposite."""
    first, second = image.transpose(np.eye(3))
    return bool((first == -second).all())


@settings(max_examples=50)
@given(tables, st.randoms(use_true_random=False), st.booleans())
def test_a_record_becomes_the_same_whatever_the_others_are(features, random, project):
    """Alone, in another order, stored by columns and in CSR."""
    image = SignMap(features.shape[1], 3, 1) if project else None
    whole = steps_of(mapped(features, image))
    order = list(range(len(features)))
    random.shuffle(order)
    assert (whole[order] == steps_of(mapped(features[order], image))).all()
    assert (whole == steps_of(mapped(np.asfortranarray(features), image))).all()
    assert (whole == steps_of(mapped(csr_array(features), image))).all()
    assert all((whole[place] == steps_of(mapped(features[place : place + 1], image))[0]).all() for place in order)


def test_records_are_mapped_in_blocks_and_the_blocks_do_not_show(monkeypatch):
    features = np.random.default_rng(0).normal(size=(50, 30))
    image = sign_map(dimension_in=30, dimension_out=7, seed=2)
    once = steps_of(mapped(features, image))
    monkeypatch.setattr("learners.rows.unit._ENTRIES", 70)
    assert (once == steps_of(mapped(features, image))).all()
    assert (once == steps_of(mapped(csr_array(features), image))).all()


def test_images_are_the_signed_sums_over_their_norms():
    features = np.random.default_rng(1).normal(size=(40, 300))
    image = sign_map(dimension_in=300, dimension_out=20, seed=0)
    signs = image.transpose(np.eye(20))
    wanted = features @ signs
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    assert np.abs(steps_of(mapped(features, image)) / 2**20 - wanted).max() < 2**-14


def test_other_dtypes_are_read_as_floats_and_nothing_of_the_caller_is_changed():
    whole = np.array([[3, -4], [1, 0]])
    for kind in (np.int8, np.int64, np.float32, np.float64):
        features = whole.astype(kind)
        kept = features.copy()
        assert [[629145, -838860], [2**20, 0]] == steps_of(unit_rows(features, ONES[:2])).tolist()
        assert (kept == features).all()
    stored = csr_array(np.array([[0.0, 0.0], [3.0, 4.0]]))
    unit_rows(stored, ONES[:2])
    assert [3.0, 4.0] == stored.data.tolist()
    assert [[2**20, 0], [629145, 838860]] == steps_of(unit_rows(stored, ONES[:2])).tolist()


def test_a_wrong_lattice_is_refused():
    with pytest.raises(InvalidArgument, match="DPA103"):
        unit_rows(np.eye(2), ONES[:2], lattice_bits=27)
