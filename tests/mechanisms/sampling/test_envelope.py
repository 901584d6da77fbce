"""Envelope tables: their cells hold the weights, every integer has one home, and thresholds add up."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from dpaudit.exact import ball, working_precision
from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from mechanisms.sampling.envelope import Tuning, envelope_table

SHIPPED = [
    law
    for scale in ("1/2", 1, 10, "100/3", 10**3, 10**6, 2**40)
    for law in (DiscreteLaplace(scale), DiscreteGaussian(sigma=scale), RoundedGaussian(scale))
]


LAWS = st.one_of(
    st.builds(DiscreteLaplace, st.fractions(Fraction(1, 50), 10**9, max_denominator=1000)),
    st.builds(lambda square: DiscreteGaussian(sigma_squared=square), st.fractions(Fraction(1, 50), 10**12, max_denominator=1000)),
    st.builds(RoundedGaussian, st.fractions(Fraction(1, 20), 200, max_denominator=50)),
)
TUNINGS = st.builds(
    lambda cell_bits, cut, spread: Tuning(cell_bits=cell_bits, cut=cut, spread=spread),
    st.integers(13, 16),
    st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3), None]),
    st.integers(0, 9),
)


def cells_by_block(table):
    """First integer and number of integers of each block, with how many whole cells it has and the levels of the others."""
    whole = Counter(table.block[: table.full].tolist())
    places = zip(table.block[table.full : table.occupied].tolist(), table.doublings.tolist(), strict=True)
    levels = {(block, 0): [] for block in whole}
    for (block, doublings), level in zip(places, table.level.tolist(), strict=True):
        levels.setdefault((block, doublings), []).append(level)
    return {
        (block << table.shift, 1 << table.shift + doublings): (whole[block] if doublings == 0 else 0, found)
        for (block, doublings), found in levels.items()
    }


@settings(max_examples=60)
@given(LAWS, TUNINGS, st.data())
def test_every_integer_lies_in_exactly_one_block_or_tail(law, tuning, data):
    table = envelope_table(law, tuning)
    edges = [0, 1, -1, table.start, -table.start, table.start - 1, 1 - table.start, -table.start - 1, table.negative_start]
    edges += [edge for first, size in cells_by_block(table) for edge in (first, first - 1, first + size)]
    k = data.draw(st.sampled_from(edges) | st.integers(-2 * table.start, 2 * table.start))
    homes = sum(first <= k < first + size for first, size in cells_by_block(table))
    homes += (k >= table.start) + (-k >= table.negative_start)
    assert 1 == homes


def assert_cells_hold_the_weights(table):
    """Each block has as many whole and partial cells as its weights ask for, and the tails' cells hold the tails."""
    assert table.occupied + 2 * table.tail_cells <= 2**table.tuning.cell_bits
    assert set(table.block[: table.full].tolist()).isdisjoint(
        table.block[table.full : table.occupied][table.doublings > 0].tolist()
    )
    blocks = sorted(cells_by_block(table).items())
    assert [first + size for (first, size), _ in blocks[:-1]] == [first for (first, _), _ in blocks[1:]]
    assert (1 - table.negative_start, table.start) == (blocks[0][0][0], sum(blocks[-1][0]))
    assert table.heights.tolist() == [float(table.height / 2 ** int(doublings)) for doublings in table.doublings]
    with working_precision(160):
        for (first, size), (full, levels) in blocks:
            assert list(range(full, full + len(levels))) == levels
            height = ball(table.height * 2**table.shift / size)
            nearest, farthest = sorted((abs(first), abs(first + size - 1)))
            assert height * full <= table.law.weight(farthest)
            assert not height * (full + len(levels)) < table.law.weight(nearest)
        tail = sum((table.law.weight(table.start + j) for j in range(200)), start=arb(0))
        assert tail <= ball(table.tail_area)
        assert table.tail_envelope(0) <= ball(table.tail_area)


@pytest.mark.parametrize("law", SHIPPED, ids=str)
def test_the_shipping_cells_hold_the_weights(law):
    assert_cells_hold_the_weights(envelope_table(law))


SMALL = [
    (DiscreteGaussian(sigma=1), Tuning(cell_bits=6, cut=Fraction(1))),
    (DiscreteGaussian(sigma_squared=5), Tuning(cell_bits=5, shift=1, cut=Fraction(5), prefix=3, spread=2)),
    (DiscreteLaplace("1/3"), Tuning(cell_bits=6, cut=Fraction(1))),
    (DiscreteLaplace(3), Tuning(cell_bits=5, shift=1, cut=Fraction(4), prefix=3, spread=2)),
    (DiscreteLaplace(200), Tuning(cell_bits=9, cut=Fraction(8))),
    (RoundedGaussian(3), Tuning(cell_bits=5, shift=1, cut=Fraction(4), prefix=4, spread=3)),
    (RoundedGaussian(2**80), Tuning(cell_bits=10)),
]
"""Tables with few cells for their size, most of them with blocks that were doubled."""


@pytest.mark.parametrize(("law", "tuning"), SMALL, ids=str)
def test_small_tables_hold_the_weights_too(law, tuning):
    assert_cells_hold_the_weights(envelope_table(law, tuning))


@pytest.mark.parametrize("law", [law for law in SHIPPED if law.width_squared < 64**2], ids=str)
def test_the_cells_under_a_weight_add_up_to_it(law):
    # The theorem's sum over cells, clip(rho(k) / h - j, 0, 1) = rho(k) / h, with the thresholds that ship.
    table = envelope_table(law)
    columns = table.block[table.full : table.occupied]
    with working_precision(200):
        for k in range(1 - table.columns, table.columns):
            whole = int(np.count_nonzero(table.block[: table.full] == k))
            parts = np.flatnonzero(columns == k)
            lowest = whole + sum(Fraction(int(table.accept_below[part]), 2**64) for part in parts)
            highest = whole + sum(Fraction(int(table.reject_above[part]) + 1, 2**64) for part in parts)
            filled = law.weight(k) / ball(table.height)
            assert ball(lowest) <= filled <= ball(highest)
            assert highest - lowest <= Fraction(2 * len(parts), 2**64)


@pytest.mark.parametrize("law", [law for law in SHIPPED if law.width_squared >= 64**2], ids=str)
def test_the_float_formula_errs_less_than_its_slack(law):
    table = envelope_table(law)
    rng = np.random.default_rng(8)
    places = [int(place) for place in rng.integers(-table.start, table.start, 300)] + [0, table.start - 1, -table.start]
    blocks = np.array([abs(k) / 2**table.shift for k in places])
    values = table.estimate.of(blocks)
    assert [table.estimate.of_one(float(block)) for block in blocks] == values.tolist()
    with working_precision(200):
        for k, value in zip(places, values, strict=True):
            assert abs(ball(Fraction(float(value))) / law.weight(k) - 1) < table.estimate.slack + 2.0**-44


def test_tables_cannot_be_changed():
    table = envelope_table(DiscreteGaussian(sigma=3))
    for array in (table.block, table.first, table.level, table.doublings, table.heights, table.accept_below, table.reject_above):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        table.full = 0


def test_equal_laws_share_a_table():
    assert envelope_table(DiscreteGaussian(sigma=3)) is envelope_table(DiscreteGaussian(sigma_squared=9))


@pytest.mark.parametrize(
    "sizes",
    [
        {"cell_bits": 1},
        {"cell_bits": 17},
        {"prefix": 0},
        {"prefix": 65},
        {"step": 0},
        {"slack": -0.1},
        {"slack": 1.5},
        {"spread": -1},
        {"prefix": 5, "spread": 5},
    ],
)
def test_sizes_that_no_table_has_are_refused(sizes):
    with pytest.raises(InvalidArgument, match="DPA103"):
        Tuning(**sizes)


@pytest.mark.parametrize("tuning", [Tuning(cell_bits=4), Tuning(cell_bits=8), Tuning(cut=Fraction(40))])
def test_a_table_that_cannot_hold_its_law_is_refused(tuning):
    with pytest.raises(InvalidArgument, match="DPA103"):
        envelope_table(DiscreteGaussian(sigma=1000), tuning)
