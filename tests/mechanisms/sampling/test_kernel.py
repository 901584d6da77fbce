"""The envelope sampler is exact: its cells hold the weights, and every tape of bits gives what the theorem says."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from dpaudit.exact import ball, working_precision
from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from mechanisms.sampling import kernel
from mechanisms.sampling.envelope import EnvelopeTable, Tuning, envelope_table
from mechanisms.sampling.kernel import draw, draw_one, many_trials, one_trial
from mechanisms.sampling.random import OsBitSource, RecordingSource, source_from

RESOLUTION = Fraction(1, 2**12)

SHIPPED = [
    law
    for scale in ("1/2", 1, 10, "100/3", 10**3, 10**6, 2**40)
    for law in (DiscreteLaplace(scale), DiscreteGaussian(sigma=scale), RoundedGaussian(scale))
]


def small(**sizes):
    """A tuning whose rare paths are common: few cells, tails from one scale on, one digit at a time."""
    return Tuning(**{"cell_bits": 6, "cut": Fraction(1), "prefix": 1, "step": 1, **sizes})


def contradictions(table, found, rest):
    """Outcomes whose enumerated mass certainly differs from rho(k) / (2^b h B), or that lie where nothing may be."""
    wrong = []
    with working_precision(128):
        unit = ball(table.height * 2 ** (table.tuning.cell_bits + table.shift))
        places = {k for k in found if k is not None} | set(range(-table.start - 8, table.start + 9))
        for k in places:
            mass = table.law.weight(k) / unit
            if mass < ball(found.get(k, Fraction(0))) or mass > ball(found.get(k, Fraction(0)) + rest):
                wrong.append(k)
    return sorted(wrong)


def one(table):
    """The scalar sampler as a function of a source."""
    return lambda source: one_trial(table, source)


def many(table):
    """The batch sampler with batches of one trial, as a function of a source."""
    return lambda source: next(iter(many_trials(table, source, 1).tolist()), None)


CASES = [
    (DiscreteGaussian(sigma_squared="1/4"), small()),
    (DiscreteGaussian(sigma=1), small()),
    (DiscreteGaussian(sigma=1), small(cut=Fraction(2), cell_bits=8, prefix=3)),
    (DiscreteGaussian(sigma=1), small(slack=0.5)),
    (DiscreteGaussian(sigma=2), small(cell_bits=7)),
    (DiscreteGaussian(sigma_squared="100/3"), small(shift=1, cut=Fraction(3, 2))),
    (DiscreteGaussian(sigma_squared=5), small(shift=1, cell_bits=5, cut=Fraction(3, 2))),
    (DiscreteGaussian(sigma_squared=5), small(shift=2, cell_bits=5, slack=0.5)),
    (DiscreteLaplace("1/3"), small()),
    (DiscreteLaplace(1), small()),
    (DiscreteLaplace("10/3"), small(cut=Fraction(2))),
    (DiscreteLaplace(3), small(shift=1, cell_bits=5, cut=Fraction(2))),
    (DiscreteLaplace(3), small(shift=2, cell_bits=5, cut=Fraction(2), slack=0.5)),
    (RoundedGaussian("1/2"), small()),
    (RoundedGaussian(1), small(prefix=2)),
    (RoundedGaussian(2), small(shift=1, cell_bits=5)),
]


@pytest.mark.parametrize("sampler", [one, many])
@pytest.mark.parametrize(("law", "tuning"), CASES, ids=str)
def test_every_outcome_has_exactly_its_mass_over_all_tapes(outcomes, law, tuning, sampler):
    table = envelope_table(law, tuning)
    found, rest = outcomes(sampler(table))
    assert [] == contradictions(table, found, rest)
    assert rest <= RESOLUTION
    assert None in found, "no trial was rejected, so the rejecting paths were not tried"
    assert max(found.keys() - {None}) >= table.start, "no draw came from the positive tail"
    assert min(found.keys() - {None}) <= -table.negative_start, "no draw came from the negative tail"


class Reusing:
    """A broken source: the digits of the acceptance uniform are bits of the cell over again."""

    def __init__(self, inner, table):
        self.inner, self.prefix, self.cell_bits, self.shift = inner, table.tuning.prefix, table.tuning.cell_bits, table.shift
        self.last = 0

    def bits(self, count):
        if count != self.cell_bits + self.shift + self.prefix:
            return self.inner.bits(count)
        word = self.inner.bits(count - self.prefix)
        return word << self.prefix | word >> (count - 2 * self.prefix)

    def uniform(self, bits, size):
        if bits == self.prefix:
            return np.full(size, self.last >> (self.cell_bits - bits), dtype=np.uint8)
        words = self.inner.uniform(bits, size)
        self.last = int(words[0]) if bits == self.cell_bits and size else self.last
        return words


MUTANT_LAWS = [
    (DiscreteGaussian(sigma_squared=5), small(shift=1, cell_bits=5, cut=Fraction(3, 2))),
    (DiscreteGaussian(sigma=1), small()),
]


@pytest.mark.parametrize(("law", "tuning"), MUTANT_LAWS, ids=["long blocks", "single integers"])
@pytest.mark.parametrize("sampler", [one, many])
class TestEnumerationFinds:
    """Faults that ten million draws would not show at the shipping sizes."""

    def test_a_negative_tail_that_starts_one_place_too_far(self, outcomes, monkeypatch, law, tuning, sampler):
        table = envelope_table(law, tuning)
        correct = table.negative_start
        monkeypatch.setattr(EnvelopeTable, "negative_start", property(lambda table: correct + 1))
        assert contradictions(table, *outcomes(sampler(table))) == [-correct]

    def test_cell_bits_that_are_used_again(self, outcomes, law, tuning, sampler):
        table = envelope_table(law, tuning)
        assert contradictions(table, *outcomes(lambda tape: sampler(table)(Reusing(tape, table)))) != []

    def test_a_tail_that_is_dropped(self, outcomes, monkeypatch, law, tuning, sampler):
        table = envelope_table(law, tuning)
        monkeypatch.setattr(kernel, "_tail", lambda table, uniform, *, negative: None)
        wrong = contradictions(table, *outcomes(sampler(table)))
        assert {table.start, -table.negative_start} <= set(wrong)

    def test_a_tail_on_one_side_only(self, outcomes, monkeypatch, law, tuning, sampler):
        table, tail = envelope_table(law, tuning), kernel._tail
        monkeypatch.setattr(kernel, "_tail", lambda table, uniform, *, negative: tail(table, uniform, negative=False))
        assert contradictions(table, *outcomes(sampler(table))) != []

    def test_partly_covered_cells_that_always_accept(self, outcomes, monkeypatch, law, tuning, sampler):
        table = envelope_table(law, tuning)
        monkeypatch.setattr(kernel, "_decide_one", lambda *arguments: True)
        monkeypatch.setattr(kernel, "_are_under", lambda table, source, partial, value: np.ones(len(partial), dtype=bool))
        assert contradictions(table, *outcomes(sampler(table))) != []

    def test_a_comparison_off_by_one_cell(self, outcomes, monkeypatch, law, tuning, sampler):
        table, under = envelope_table(law, Tuning(**{**vars(tuning), "slack": 1.0})), kernel._is_under
        monkeypatch.setattr(kernel, "_is_under", lambda table, uniform, k, level: under(table, uniform, k, level + 1))
        assert contradictions(table, *outcomes(sampler(table))) != []


@pytest.mark.parametrize("sampler", [one, many])
def test_enumeration_finds_an_integer_that_block_and_tail_both_count(outcomes, monkeypatch, sampler):
    table = envelope_table(*MUTANT_LAWS[0])
    monkeypatch.setattr(EnvelopeTable, "negative_start", property(lambda table: table.start))
    assert [-table.start] == contradictions(table, *outcomes(sampler(table)))


LAWS = st.one_of(
    st.builds(DiscreteLaplace, st.fractions(Fraction(1, 50), 10**9, max_denominator=1000)),
    st.builds(lambda square: DiscreteGaussian(sigma_squared=square), st.fractions(Fraction(1, 50), 10**12, max_denominator=1000)),
    st.builds(RoundedGaussian, st.fractions(Fraction(1, 20), 200, max_denominator=50)),
)
TUNINGS = st.builds(
    lambda cell_bits, cut: Tuning(cell_bits=cell_bits, cut=cut),
    st.integers(13, 16),
    st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3), None]),
)


@settings(max_examples=60)
@given(LAWS, TUNINGS, st.data())
def test_every_integer_lies_in_exactly_one_block_or_tail(law, tuning, data):
    table = envelope_table(law, tuning)
    edges = [0, 1, -1, table.start, -table.start, table.start - 1, 1 - table.start, -table.start - 1, table.negative_start]
    k = data.draw(st.sampled_from(edges) | st.integers(-2 * table.start, 2 * table.start))
    blocks = set(table.block[: table.occupied].tolist())
    homes = sum(block << table.shift <= k < (block + 1) << table.shift for block in blocks)
    homes += (k >= table.start) + (-k >= table.negative_start)
    assert 1 == homes


def assert_cells_hold_the_weights(table):
    """Each block has as many whole and partial cells as its weights ask for, and the tails' cells hold the tails."""
    assert table.occupied + 2 * table.tail_cells <= 2**table.tuning.cell_bits
    whole = np.bincount(table.block[: table.full] + table.columns, minlength=2 * table.columns)
    partial = defaultdict(list)
    for block, level in zip(table.block[table.full : table.occupied].tolist(), table.level.tolist(), strict=True):
        partial[block].append(level)
    with working_precision(160):
        height = ball(table.height)
        for block in range(-table.columns if table.shift else 1 - table.columns, table.columns):
            full = int(whole[block + table.columns])
            levels = partial[block]
            assert list(range(full, full + len(levels))) == levels
            first, last = block << table.shift, (block + 1 << table.shift) - 1
            nearest, farthest = sorted((abs(first), abs(last)))
            assert height * full <= table.law.weight(farthest)
            assert not height * (full + len(levels)) < table.law.weight(nearest)
        tail = sum((table.law.weight(table.start + j) for j in range(200)), start=arb(0))
        assert tail <= ball(table.tail_area)
        assert table.tail_envelope(0) <= ball(table.tail_area)


@pytest.mark.parametrize("law", SHIPPED, ids=str)
def test_the_shipping_cells_hold_the_weights(law):
    assert_cells_hold_the_weights(envelope_table(law))


@pytest.mark.parametrize(("law", "tuning"), CASES, ids=str)
def test_the_enumerated_cells_hold_the_weights(law, tuning):
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


def replayed(table, calls, wanted):
    """The draws that recorded bits stand for, decided one trial at a time by exact arithmetic and no table of thresholds."""
    calls, result = list(calls), []
    shift, prefix = table.shift, table.tuning.prefix
    with working_precision(200):
        height, area = ball(table.height), ball(table.tail_area)
        rate, whole = ball(table.decay), table.tail_envelope(0)
        while len(result) < wanted:
            bits, cells = calls.pop(0)
            assert table.tuning.cell_bits == bits
            lows = calls.pop(0)[1] if shift else [0] * len(cells)
            partial = [cell for cell in cells if table.full <= cell < table.occupied]
            digits = dict(zip([at for at, cell in enumerate(cells) if cell in partial], calls.pop(0)[1], strict=True))
            for at, (cell, low) in enumerate(zip(cells, lows, strict=True)):
                k = (int(table.block[cell]) << shift) + low
                if cell < table.full:
                    result.append(k)
                elif cell < table.occupied:
                    point = int(table.level[cell - table.full]) + ball(Fraction(digits[at], 2**prefix))
                    result += [k] if point * height < table.law.weight(k) else []
                elif cell < table.occupied + 2 * table.tail_cells:
                    (bits, (value,)) = calls.pop(0)
                    assert prefix == bits
                    z, size = ball(Fraction(value, 2**prefix)) * area, table.start
                    while z < whole * (-rate * (size + 1 - table.start)).exp():
                        size += 1
                    accepted = z < whole * (-rate * (size + 1 - table.start)).exp() + table.law.weight(size)
                    if accepted and cell < table.occupied + table.tail_cells:
                        result.append(size)
                    elif accepted and size >= table.negative_start:
                        result.append(-size)
    assert [] == calls
    return result[:wanted]


REPLAYS = [
    (DiscreteGaussian(sigma="100/3"), Tuning(cut=Fraction(1), cell_bits=9)),
    (DiscreteGaussian(sigma=200), Tuning(cut=Fraction(1), cell_bits=9)),
    (DiscreteLaplace(10), Tuning(cut=Fraction(1), cell_bits=7)),
    (RoundedGaussian(100), Tuning(cut=Fraction(1), cell_bits=9)),
]


@pytest.mark.parametrize("chunk", [1, 7, 64, 2**16])
@pytest.mark.parametrize(("law", "tuning"), REPLAYS, ids=str)
def test_draws_come_in_the_order_of_their_trials_whatever_the_chunk(law, tuning, chunk):
    table = envelope_table(law, tuning)
    source = RecordingSource(source_from(np.random.default_rng(99)))
    drawn = draw(table, source, 300, chunk=chunk)
    assert replayed(table, source.calls, 300) == drawn.tolist()
    assert max(abs(drawn)) >= table.start


def test_the_replay_finds_slow_results_that_are_put_at_the_end(monkeypatch):
    def sorted_trials(table, source, trials, *, wide=False):
        values = many_trials(table, source, trials, wide=wide)
        slow = np.abs(values) >= table.start
        return np.concatenate([values[~slow], values[slow]])

    monkeypatch.setattr(kernel, "many_trials", sorted_trials)
    for law, tuning in REPLAYS:
        table = envelope_table(law, tuning)
        source = RecordingSource(source_from(np.random.default_rng(99)))
        drawn = draw(table, source, 300)
        assert replayed(table, source.calls, 300) != drawn.tolist()


def test_a_draw_uses_the_bits_that_its_cells_need():
    table = envelope_table(DiscreteGaussian(sigma=1))
    source = RecordingSource(OsBitSource())
    draw(table, source, 10_000)
    used = sum(bits * len(words) for bits, words in source.calls)
    assert used < 10_000 * 17.2


@pytest.mark.parametrize("n", [0, 1, 2, 65_536, 65_537, 200_000])
def test_as_many_draws_come_as_are_asked_for(n):
    assert (n,) == draw(envelope_table(DiscreteLaplace(1000)), OsBitSource(), n).shape


@pytest.mark.parametrize("law", [DiscreteGaussian(sigma=2**60), DiscreteLaplace(2**100), RoundedGaussian(2**80)], ids=str)
def test_wide_draws_are_python_integers_of_the_right_size(law):
    table = envelope_table(law)
    drawn = draw(table, OsBitSource(), 2000, wide=True)
    assert all(type(k) is int for k in drawn)
    spread = sum(k * k for k in drawn) / 2000 / float(law.variance().lower)
    assert 0.6 < spread < 1.6
    assert {0, 1} == {k & 1 for k in drawn.tolist()}
    assert type(draw_one(table, OsBitSource())) is int


def test_tables_cannot_be_changed():
    table = envelope_table(DiscreteGaussian(sigma=3))
    for array in (table.block, table.level, table.accept_below, table.reject_above):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        table.full = 0


def test_equal_laws_share_a_table():
    assert envelope_table(DiscreteGaussian(sigma=3)) is envelope_table(DiscreteGaussian(sigma_squared=9))


@pytest.mark.parametrize(
    "sizes",
    [{"cell_bits": 1}, {"cell_bits": 17}, {"prefix": 0}, {"prefix": 65}, {"step": 0}, {"slack": -0.1}, {"slack": 1.5}],
)
def test_sizes_that_no_table_has_are_refused(sizes):
    with pytest.raises(InvalidArgument, match="DPA103"):
        Tuning(**sizes)


@pytest.mark.parametrize("tuning", [Tuning(cell_bits=4), Tuning(cell_bits=10), Tuning(cut=Fraction(40))])
def test_a_table_that_cannot_hold_its_law_is_refused(tuning):
    with pytest.raises(InvalidArgument, match="DPA103"):
        envelope_table(DiscreteGaussian(sigma=1000), tuning)
