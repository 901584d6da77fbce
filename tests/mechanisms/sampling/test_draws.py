"""Batches of the envelope sampler: what recorded bits stand for, in which order, how much memory, how wide."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.exact import ball, working_precision
from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from mechanisms.sampling import kernel
from mechanisms.sampling.envelope import Tuning, envelope_table
from mechanisms.sampling.exactnum import LazyUniform, only_integer, shift_ball
from mechanisms.sampling.kernel import draw, draw_one, many_trials
from mechanisms.sampling.random import OsBitSource, source_from
from tests.support.sources import RecordingSource, TapeSource


def closed(trials):
    """The accepted results of a batch of trials: rejected places take the next result from beyond the number of accepted ones."""
    accepted = [result for result in trials if result is not None]
    late = [result for result in trials[len(accepted) :] if result is not None]
    return [late.pop(0) if result is None else result for result in trials[: len(accepted)]]


def replayed(table, calls, wanted):
    """The draws that recorded bits stand for, decided one trial at a time by exact arithmetic and no table of thresholds."""
    calls, result = list(calls), []
    shift, prefix, left = table.shift, table.tuning.prefix, table.tuning.prefix - table.spread
    with working_precision(200):
        height, area = ball(table.height), ball(table.tail_area)
        rate, whole = ball(table.decay), table.tail_envelope(0)
        while len(result) < wanted:
            bits, cells = calls.pop(0)
            assert table.tuning.cell_bits == bits
            lows = calls.pop(0)[1] if shift else [0] * len(cells)
            partial = [cell for cell in cells if table.full <= cell < table.occupied]
            digits = dict(zip([at for at, cell in enumerate(cells) if cell in partial], calls.pop(0)[1], strict=True))
            trials = [None] * len(cells)
            for at, (cell, low) in enumerate(zip(cells, lows, strict=True)):
                k = (int(table.block[cell]) << shift) + low
                if cell < table.full:
                    trials[at] = k
                elif cell < table.occupied:
                    doublings = int(table.doublings[cell - table.full])
                    k += digits[at] // 2**left // 2 ** (table.spread - doublings) * 2**shift
                    point = int(table.level[cell - table.full]) + ball(Fraction(digits[at] % 2**left, 2**left))
                    trials[at] = k if point * height / 2**doublings < table.law.weight(k) else None
                elif cell < table.occupied + 2 * table.tail_cells:
                    (bits, (value,)) = calls.pop(0)
                    assert prefix == bits
                    z, size = ball(Fraction(value, 2**prefix)) * area, table.start
                    while z < whole * (-rate * (size + 1 - table.start)).exp():
                        size += 1
                    accepted = z < whole * (-rate * (size + 1 - table.start)).exp() + table.law.weight(size)
                    if accepted and cell < table.occupied + table.tail_cells:
                        trials[at] = size
                    elif accepted and size >= table.negative_start:
                        trials[at] = -size
            result += closed(trials)
    assert [] == calls
    return result[:wanted]


REPLAYS = [
    (DiscreteGaussian(sigma="100/3"), Tuning(cut=Fraction(1), cell_bits=9)),
    (DiscreteGaussian(sigma=200), Tuning(cut=Fraction(1), cell_bits=9)),
    (DiscreteLaplace(10), Tuning(cut=Fraction(1), cell_bits=7)),
    (RoundedGaussian(100), Tuning(cut=Fraction(1), cell_bits=9)),
]


FAR = [
    (DiscreteLaplace(200), Tuning(cut=Fraction(8), cell_bits=9)),
    (DiscreteGaussian(sigma=200), Tuning(cut=Fraction(4), cell_bits=9, prefix=50, spread=3)),
]


def recorded(table, **sizes):
    """300 draws and the calls that made them."""
    source = RecordingSource(source_from(np.random.default_rng(99)))
    return draw(table, source, 300, **sizes), source.calls


@pytest.mark.parametrize("chunk", [1, 7, 64, 2**16])
@pytest.mark.parametrize(("law", "tuning"), REPLAYS + FAR, ids=str)
def test_draws_are_what_their_bits_stand_for_whatever_the_chunk(law, tuning, chunk):
    table = envelope_table(law, tuning)
    drawn, calls = recorded(table, chunk=chunk)
    assert replayed(table, calls, 300) == drawn.tolist()


def test_the_replayed_draws_come_from_tails_and_shared_cells():
    for law, tuning in REPLAYS:
        table = envelope_table(law, tuning)
        assert max(abs(recorded(table)[0])) >= table.start
    for law, tuning in FAR:
        table = envelope_table(law, tuning)
        shared = table.block[table.full : table.occupied][table.doublings > 1]
        assert max(recorded(table)[0]) >= int(shared[shared > 0].min()) << table.shift


@given(st.lists(st.booleans()))
def test_rejected_places_are_filled_by_a_rule_that_sees_the_pattern_only(accepted):
    out = np.arange(len(accepted))
    count = kernel._close(out, np.flatnonzero(~np.array(accepted, dtype=bool)))
    expected = closed([at if keep else None for at, keep in enumerate(accepted)])
    assert expected == out[:count].tolist()
    assert sum(accepted) == count == len(set(expected))


@pytest.mark.parametrize("fault", ["rejected places stay", "slow results come last"])
def test_the_replay_finds_results_in_other_places(monkeypatch, fault):
    def many(table, source, out):
        count = many_trials(table, source, out)
        if fault == "slow results come last":
            slow = np.abs(out[:count]) >= table.start
            out[:count] = np.concatenate([out[:count][~slow], out[:count][slow]])
        return count

    if fault == "rejected places stay":
        monkeypatch.setattr(kernel, "_close", lambda out, rejected: len(out) - len(rejected))
    else:
        monkeypatch.setattr(kernel, "many_trials", many)
    for law, tuning in REPLAYS:
        table = envelope_table(law, tuning)
        drawn, calls = recorded(table)
        assert replayed(table, calls, 300) != drawn.tolist()


def test_a_draw_uses_the_bits_that_its_cells_need():
    table = envelope_table(DiscreteGaussian(sigma=1))
    source = RecordingSource(OsBitSource())
    draw(table, source, 10_000)
    used = sum(bits * len(words) for bits, words in source.calls)
    assert used < 10_000 * 17.2


@pytest.mark.parametrize("n", [0, 1, 2, 65_536, 65_537, 200_000])
def test_as_many_draws_come_as_are_asked_for(n):
    assert (n,) == draw(envelope_table(DiscreteLaplace(1000)), OsBitSource(), n).shape


@pytest.mark.parametrize("law", [DiscreteLaplace(10), DiscreteGaussian(sigma=10**6)], ids=str)
def test_many_draws_need_little_more_memory_than_their_result(law):
    table, source = envelope_table(law), OsBitSource()
    draw(table, source, 10)
    tracemalloc.start()
    try:
        draw(table, source, 4_000_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * 4_000_000 + 64 * kernel.CHUNK


@pytest.mark.parametrize("law", [DiscreteGaussian(sigma=2**60), DiscreteLaplace(2**100), RoundedGaussian(2**80)], ids=str)
def test_wide_draws_are_python_integers_of_the_right_size(law):
    table = envelope_table(law)
    drawn = draw(table, OsBitSource(), 2000, wide=True)
    assert all(type(k) is int for k in drawn)
    spread = sum(k * k for k in drawn) / 2000 / float(law.variance().lower)
    assert 0.6 < spread < 1.6
    assert {0, 1} == {k & 1 for k in drawn.tolist()}
    assert type(draw_one(table, OsBitSource())) is int


TAILS = [
    (RoundedGaussian(2**40), Tuning(cut=Fraction(1), prefix=1, step=1, cell_bits=10)),
    (DiscreteLaplace(2**40), Tuning(cut=Fraction(1), prefix=1, step=1, cell_bits=10)),
    (DiscreteGaussian(sigma=10**6), Tuning(cut=Fraction(1), prefix=1, step=1, cell_bits=9)),
]


@pytest.mark.parametrize("border", [0, 1])
@pytest.mark.parametrize(("law", "tuning"), TAILS, ids=str)
def test_comparisons_of_tail_draws_end_however_near_the_border_is(law, tuning, border):
    # The balls that a uniform number is compared with must shrink with its precision, the constants in them included.
    table = envelope_table(law, tuning)
    assert table.tail_area.numerator.bit_length() > 53, "an area that 53 bits hold would test nothing"
    with working_precision(800):
        top = table.tail_envelope(0) if border == 0 else table.tail_envelope(1) + law.weight(table.start)
        nearest = only_integer(shift_ball(top / ball(table.tail_area), 320).floor())
    below, above = (LazyUniform(TapeSource(nearest + side, 320), tuning.prefix, 320 - tuning.prefix) for side in (-1, 1))
    assert kernel._tail(table, above, negative=False) is None
    if border:
        assert table.start == kernel._tail(table, below, negative=False)
    else:
        assert kernel._tail(table, below, negative=False) in {None, table.start}
