"""The sampler on a second back end: mpmath's intervals give the same probabilities, the same tables and the same draws."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import fields
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpaudit.exact import Enclosure, ball, working_precision
from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from mechanisms.sampling.envelope import SHIPPED, EnvelopeTable, Tuning, envelope_table
from mechanisms.sampling.kernel import draw, draw_one
from mechanisms.sampling.random import source_from
from tests.support.sources import RecordingSource


def loaded(name):
    """A module that stands beside this file, under a name by which dataclasses find it."""
    specification = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


second = loaded("interval_laws")

SCALES = [Fraction(1, 2), Fraction(1), Fraction(100, 3), Fraction(1000), Fraction(2**40)]
PAIRS = [
    pair
    for scale in SCALES
    for pair in (
        (DiscreteLaplace(scale), second.IntervalLaplace(scale)),
        (DiscreteGaussian(sigma=scale), second.IntervalGaussian(scale**2)),
        (RoundedGaussian(scale), second.IntervalRounded(scale)),
    )
]
NAMES = [str(law) for law, _ in PAIRS]
FORCED = [
    Tuning(cut=Fraction(1), prefix=1, step=1, cell_bits=10),
    Tuning(cut=Fraction(1), prefix=3, step=2, cell_bits=11, slack=0.5),
    Tuning(cut=Fraction(1), prefix=64, cell_bits=12, slack=1.0),
]


def places(law):
    """Integers from the centre to beyond the sampler's blocks."""
    scale = float(law.width_squared) ** 0.5
    return sorted({round(scale * part) for part in (0, 0.1, 0.5, 1, 2, 5, 9.5, 12)} | {0, 1, 2, 5})


@pytest.mark.parametrize(("law", "other"), PAIRS, ids=NAMES)
def test_both_back_ends_enclose_the_same_probabilities(law, other):
    with second.interval_precision(160):
        for k in places(law):
            low, high = second.ends(other.pmf(k))
            assert law.pmf(k, precision=128).meets(Enclosure(low, high)), k
            assert second.relative_bits(other.pmf(k)) > 100


@pytest.mark.parametrize(("law", "other"), PAIRS, ids=NAMES)
def test_both_back_ends_enclose_the_same_tails(law, other):
    with second.interval_precision(160):
        for k in places(law)[1:]:
            value = other.tail(k)
            assert law.tail(k, precision=128).meets(Enclosure(*second.ends(value))), k
            wide = isinstance(law, DiscreteGaussian) and law.sigma_squared > 1000
            assert second.relative_bits(value) > (12 if wide else 100)


@pytest.mark.parametrize(("law", "other"), PAIRS, ids=NAMES)
def test_both_back_ends_give_meeting_weights_at_every_precision(law, other):
    for precision in (60, 128, 300):
        with working_precision(precision):
            for k in places(law):
                mine, theirs = law.weight(k), other.weight(-k)
                assert mine.overlaps(theirs), (precision, k)
                assert theirs.rel_accuracy_bits() > precision - 4


def test_the_probabilities_of_an_interval_law_add_up_to_one():
    for other in (
        second.IntervalLaplace(Fraction(3)),
        second.IntervalGaussian(Fraction(7)),
        second.IntervalRounded(Fraction(5, 2)),
    ):
        with second.interval_precision(120):
            total = other.pmf(0) + 2 * sum((other.pmf(k) for k in range(1, 30)), start=0) + 2 * other.tail(30)
            low, high = second.ends(total)
            assert low <= 1 <= high
            assert high - low < Fraction(1, 2**100)


def assert_same_tables(mine, theirs):
    """Everything but law and float formula alike; thresholds that bracket the same numbers."""
    bracketed = {"law", "estimate", "accept_below", "reject_above"}
    for name in {field.name for field in fields(EnvelopeTable)} - bracketed:
        assert np.array_equal(getattr(mine, name), getattr(theirs, name)), name
    assert len(mine.accept_below) == len(theirs.accept_below)
    assert np.all(np.maximum(mine.accept_below, theirs.accept_below) <= np.minimum(mine.reject_above, theirs.reject_above))
    if mine.tuning.slack == 0:
        for table in (mine, theirs):
            assert np.all(table.reject_above - table.accept_below <= np.uint64(2))


@pytest.mark.parametrize(("law", "other"), PAIRS, ids=NAMES)
def test_the_shipping_tables_are_the_same_on_both_back_ends(law, other):
    assert_same_tables(envelope_table(law, SHIPPED), envelope_table(other, SHIPPED))


@pytest.mark.parametrize("tuning", FORCED, ids=str)
@pytest.mark.parametrize(("law", "other"), PAIRS, ids=NAMES)
def test_the_forced_tables_are_the_same_on_both_back_ends(law, other, tuning):
    assert_same_tables(envelope_table(law, tuning), envelope_table(other, tuning))


def drawn_from(law, tuning, seed, count):
    """Draws of a batch and one at a time, and the bits that both used."""
    source = RecordingSource(source_from(np.random.default_rng(seed)))
    table = envelope_table(law, tuning)
    batch = draw(table, source, count).tolist()
    return batch, [draw_one(table, source) for _ in range(count // 10)], source.calls


@pytest.mark.parametrize(("law", "other"), PAIRS, ids=NAMES)
def test_the_same_bits_give_the_same_draws_on_both_back_ends(law, other):
    assert drawn_from(law, SHIPPED, 31, 10_000) == drawn_from(other, SHIPPED, 31, 10_000)


@pytest.mark.parametrize("tuning", FORCED, ids=str)
@pytest.mark.parametrize(("law", "other"), PAIRS, ids=NAMES)
def test_the_same_bits_give_the_same_draws_through_the_rare_paths(law, other, tuning):
    mine, theirs = drawn_from(law, tuning, 32, 60), drawn_from(other, tuning, 32, 60)
    assert mine == theirs
    assert max(abs(k) for k in mine[0]) >= envelope_table(law, tuning).start


def test_a_law_that_is_a_little_wider_has_another_table_and_other_draws():
    # Positive control: these comparisons see a change of one part in a million.
    law, other = DiscreteGaussian(sigma=1), second.IntervalGaussian(Fraction(1_000_001, 1_000_000))
    with pytest.raises(AssertionError):
        assert_same_tables(envelope_table(law, SHIPPED), envelope_table(other, SHIPPED))
    with working_precision(128):
        assert not law.weight(3).overlaps(other.weight(3))
    with second.interval_precision(160):
        assert not law.pmf(2).meets(Enclosure(*second.ends(other.pmf(2))))


def test_the_error_function_is_enclosed():
    with second.interval_precision(100), working_precision(300):
        for place in (Fraction(0), Fraction(1, 3), Fraction(2), Fraction(13, 2)):
            low, high = second.ends(second.error_function(second.interval(place)))
            assert ball(low) <= ball(place).erf() <= ball(high)
