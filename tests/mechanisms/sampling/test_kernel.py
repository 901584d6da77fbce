"""The envelope sampler is exact: every tape of bits gives what the theorem says, and faults in it are found."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpaudit.exact import ball, working_precision
from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from mechanisms.sampling import kernel
from mechanisms.sampling.envelope import EnvelopeTable, Tuning, envelope_table
from mechanisms.sampling.kernel import many_trials, one_trial

RESOLUTION = Fraction(1, 2**12)


def small(**sizes):
    """A tuning whose rare paths are common: few cells, tails from one scale on, one digit at a time."""
    return Tuning(**{"cell_bits": 6, "cut": Fraction(1), "prefix": 1, "step": 1, **sizes})


def shared(**sizes):
    """A tuning whose blocks far from 0 share cells with their neighbours."""
    return small(**{"cell_bits": 5, "prefix": 3, "spread": 2, "shift": 1, "cut": Fraction(4), **sizes})


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


def many(table, dtype=np.int64):
    """The batch sampler with batches of one trial, as a function of a source."""

    def trial(source):
        out = np.empty(1, dtype=dtype)
        return int(out[0]) if many_trials(table, source, out) else None

    return trial


def wide(table):
    """The batch sampler that gives Python integers, with batches of one trial."""
    return many(table, object)


SAMPLERS = (one, many, wide)


CASES = [
    (DiscreteGaussian(sigma_squared="1/4"), small()),
    (DiscreteGaussian(sigma=1), small()),
    (DiscreteGaussian(sigma=1), small(cut=Fraction(2), cell_bits=8, prefix=3)),
    (DiscreteGaussian(sigma=1), small(slack=0.5)),
    (DiscreteGaussian(sigma=2), small()),
    (DiscreteGaussian(sigma_squared="100/3"), small(shift=1, cell_bits=5, cut=Fraction(3, 2))),
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

SHARED = [
    (DiscreteLaplace(3), shared()),
    (DiscreteLaplace("10/3"), shared(shift=2, cell_bits=4, prefix=2, spread=1)),
    (DiscreteLaplace(5), shared(cell_bits=6, prefix=2, spread=1, slack=0.5)),
    (DiscreteGaussian(sigma_squared=5), shared(cut=Fraction(5))),
    (DiscreteGaussian(sigma_squared=5), shared(cell_bits=6, prefix=2, spread=1)),
    (DiscreteGaussian(sigma_squared="100/3"), shared(cut=Fraction(3), slack=0.25)),
    (RoundedGaussian(3), shared(prefix=4, spread=3)),
]


@pytest.mark.parametrize(("law", "tuning"), SHARED, ids=str)
def test_these_tables_have_cells_that_neighbouring_blocks_share(law, tuning):
    assert set(range(tuning.spread + 1)) >= set(envelope_table(law, tuning).doublings.tolist()) > {0}


@pytest.mark.parametrize(
    ("law", "tuning", "sampler"),
    [(*case, sampler) for case in CASES for sampler in (one, many)] + [(*case, sampler) for case in SHARED for sampler in SAMPLERS],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_every_outcome_has_exactly_its_mass_over_all_tapes(outcomes, law, tuning, sampler):
    table = envelope_table(law, tuning)
    found, rest = outcomes(sampler(table))
    assert [] == contradictions(table, found, rest)
    assert rest <= RESOLUTION
    assert None in found, "no trial was rejected, so the rejecting paths were not tried"
    if tuning.cut <= 2:
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
        monkeypatch.setattr(kernel, "_are_under", lambda table, source, partial, out, places: np.ones(len(partial), dtype=bool))
        assert contradictions(table, *outcomes(sampler(table))) != []

    def test_a_comparison_off_by_one_cell(self, outcomes, monkeypatch, law, tuning, sampler):
        table, under = envelope_table(law, Tuning(**{**vars(tuning), "slack": 1.0})), kernel._is_under
        raised = replace(table, level=table.level + 1)
        monkeypatch.setattr(kernel, "_is_under", lambda table, uniform, k, partial: under(raised, uniform, k, partial))
        assert contradictions(table, *outcomes(sampler(table))) != []

    def test_tails_that_are_cut_off_too_early(self, outcomes, law, tuning, sampler):
        table = envelope_table(law, tuning)
        table = envelope_table(law, replace(tuning, prefix=4, spread=0))
        assert table.tail_above > 0
        assert contradictions(table, *outcomes(sampler(replace(table, tail_above=table.tail_above // 2)))) != []


@pytest.mark.parametrize("sampler", SAMPLERS)
class TestEnumerationFindsOfSharedCells:
    """Faults of the cells that serve several blocks."""

    def test_that_the_same_block_is_always_chosen(self, outcomes, sampler):
        table = envelope_table(*SHARED[0])
        assert contradictions(table, *outcomes(sampler(replace(table, doublings=table.doublings * 0)))) != []

    def test_that_they_are_as_high_as_others(self, outcomes, sampler):
        table = envelope_table(DiscreteLaplace(3), shared(prefix=6))
        assert contradictions(table, *outcomes(sampler(replace(table, heights=table.heights * 0 + table.heights.max())))) != []

    def test_that_the_digits_which_chose_the_block_are_compared_as_well(self, outcomes, sampler):
        table = envelope_table(*SHARED[0])
        spread = table.spread

        class Repeating:
            """A source whose first digits come again, after those that choose the block."""

            def __init__(self, inner):
                self.inner = inner

            def repeated(self, digits):
                left = table.tuning.prefix - spread
                return digits >> left << left | digits >> spread

            def bits(self, count):
                if count != table.tuning.cell_bits + table.shift + table.tuning.prefix:
                    return self.inner.bits(count)
                word, size = self.inner.bits(count), 2**table.tuning.prefix
                return word // size * size + self.repeated(word % size)

            def uniform(self, bits, size):
                words = self.inner.uniform(bits, size)
                return self.repeated(words) if bits == table.tuning.prefix else words

        assert contradictions(table, *outcomes(lambda tape: sampler(table)(Repeating(tape)))) != []


@pytest.mark.parametrize("sampler", [one, many])
def test_enumeration_finds_an_integer_that_block_and_tail_both_count(outcomes, monkeypatch, sampler):
    table = envelope_table(*MUTANT_LAWS[0])
    monkeypatch.setattr(EnvelopeTable, "negative_start", property(lambda table: table.start))
    assert [-table.start] == contradictions(table, *outcomes(sampler(table)))
