"""The proofs of the sampler's float arithmetic hold for what ships, are about the code that ships, and refuse broken constants."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.exact import ball, working_precision
from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from mechanisms.sampling import exactnum
from mechanisms.sampling.envelope import envelope_table
from mechanisms.sampling.estimates import FLOAT_SLACK
from mechanisms.sampling.exactnum import LARGEST_EXPONENT, certexp, certexp_one, exp_constants, nearest
from mechanisms.sampling.kernel import one_trial
from proofs import certexp as proof
from proofs.certexp import certexp_by_steps, prove
from proofs.comparison import prove_comparison, weight_error
from proofs.rounding import UNIT, Computed, ProofFailed, compound, exponential_change
from tests.support.sources import TapeSource

small = st.floats(0, 4, allow_subnormal=True)
rationals = st.fractions(0, 4, max_denominator=10**6)


def test_the_shipping_exp_errs_less_than_it_says():
    bound = prove()
    assert bound.total < Fraction(1, 2**51)
    assert bound.total == compound(*(size for _, size in bound.terms))
    assert sum(size for _, size in bound.terms) <= bound.total
    assert all(size > 0 for _, size in bound.terms)


def test_the_bound_is_not_far_above_what_happens():
    # The proof would be of no use if it proved a bound of its own making: some arguments come near it.
    points = np.random.default_rng(3).uniform(0, LARGEST_EXPONENT, 4000)
    with working_precision(200):
        worst = max(
            float(abs(arb(value) * arb(point).exp() - 1).upper())
            for point, value in zip(points.tolist(), certexp(points).tolist(), strict=True)
        )
    assert 2**-52.2 < worst < float(prove().total)


@settings(max_examples=400)
@given(st.floats(0, LARGEST_EXPONENT) | st.integers(0, 2_091_000).map(lambda half: (half + 0.5) * math.log(2) / 2048))
def test_the_operations_proved_are_those_that_run(x):
    assert certexp_by_steps(x) == certexp_one(x) == certexp(np.array([x]))[0]


def test_a_smaller_range_has_no_larger_bound():
    assert prove(largest=46.0).total <= prove().total
    assert prove(largest=46.0).whole < prove().whole


@pytest.mark.parametrize("largest", [0.0, -1.0, 708.5, math.inf, math.nan])
def test_ranges_that_exp_refuses_are_not_proved(largest):
    with pytest.raises(ProofFailed, match="at most 708"):
        prove(largest=largest)


def with_entry(index, value):
    """The constants with another table entry."""
    constants = exp_constants()
    entries = list(constants.entries)
    entries[index] = value
    return replace(constants, entries=tuple(entries), table=np.array(entries))


@pytest.mark.parametrize("index", [1, 2, 17, 1024, 2046, 2047])
@pytest.mark.parametrize("towards", [0.0, 2.0])
def test_an_entry_that_is_off_by_one_ulp_is_refused(index, towards):
    entry = exp_constants().entries[index]
    with pytest.raises(ProofFailed, match=f"entry {index} is the nearest float"):
        prove(with_entry(index, math.nextafter(entry, towards)))


def finer_high():
    """HIGH with more bits than an exact product allows."""
    with working_precision(200):
        step = arb.const_log2() / 2048
        high = math.ldexp(math.floor(math.ldexp(nearest(step), 50)), -50)
        return replace(exp_constants(), high=high, low=nearest(step - arb(high)))


BROKEN = {
    "HIGH with too many bits": (finer_high, "bits together"),
    "the second part of the step left out": (lambda: replace(exp_constants(), low=0.0), "below"),
    "the second part of the step off by one part in a thousand": (
        lambda: replace(exp_constants(), low=exp_constants().low * 1.001),
        "below",
    ),
    "the third power left out": (lambda: replace(exp_constants(), third=0.0), "below"),
    "the third coefficient off by one part in a thousand": (lambda: replace(exp_constants(), third=0.1668), "below"),
    "an inverse step that is too small": (lambda: replace(exp_constants(), inverse=exp_constants().inverse * 0.999), "near 1"),
    "an array that differs from the entries": (
        lambda: replace(exp_constants(), table=np.roll(exp_constants().table, 1)),
        "the same entries",
    ),
    "an entry that is too small for the exponent's shift": (lambda: with_entry(2047, 0.25), "from 1/2 to 1"),
    "a table of another length": (lambda: replace(exp_constants(), bits=10), "power of two"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_broken_constants_are_refused(fault):
    constants, reason = BROKEN[fault]
    with pytest.raises(ProofFailed, match=reason):
        prove(constants())


@pytest.mark.parametrize("large", [2.0**52 + 2.0**31, 1.5 * 2.0**51, 2.0**53, 1.5 * 2.0**52 + 1.0])
def test_a_large_constant_with_which_sums_do_not_give_the_steps_is_refused(monkeypatch, large):
    monkeypatch.setattr(exactnum, "_TO_INTEGER", large)
    with pytest.raises(ProofFailed, match=r"spacing of 1|pattern is zero"):
        prove()


def test_a_bound_that_is_missed_is_refused():
    with pytest.raises(ProofFailed, match="below 2"):
        prove(claimed=Fraction(1, 2**52))


@given(small, small, rationals, rationals)
def test_rounding_is_within_the_running_error(first, second, truth_of_first, truth_of_second):
    pairs = [(first, truth_of_first), (second, truth_of_second)]
    one, two = (Computed(abs(truth), abs(Fraction(value) - truth)) for value, truth in pairs)
    for computed, truth, bound in (
        (first + second, truth_of_first + truth_of_second, one + two),
        (first - second, truth_of_first - truth_of_second, one - two),
        (first * second, truth_of_first * truth_of_second, one * two),
    ):
        assert abs(truth) <= bound.size
        assert abs(Fraction(computed) - truth) <= bound.error


@given(st.floats(-1e-150, 1e-150), st.floats(-1e-170, 1e-170))
def test_products_that_underflow_are_within_the_running_error(first, second):
    bound = Computed(abs(Fraction(first))) * abs(Fraction(second))
    assert abs(Fraction(first * second) - Fraction(first) * Fraction(second)) <= bound.error


def test_an_exponents_error_is_bounded_only_while_it_is_small():
    assert exponential_change(Fraction(1, 1000)) > Fraction(1, 1000)
    with working_precision(100):
        assert ball(Fraction(1, 1000)).exp() - 1 < ball(exponential_change(Fraction(1, 1000)))
    for distance in (Fraction(1), Fraction(-1, 10)):
        with pytest.raises(ProofFailed, match="too much"):
            exponential_change(distance)


@pytest.mark.parametrize(("largest", "bits"), [(46.0, 44), (LARGEST_EXPONENT, 41)])
def test_the_kernels_slack_covers_all_errors_of_its_float_comparison(largest, bits):
    decision = prove_comparison(largest)
    assert decision.needed < Fraction(1, 2**bits)
    assert decision.slack == Fraction(FLOAT_SLACK)
    assert decision.weight == weight_error(largest) > prove().total > 3 * UNIT


def test_a_slack_that_is_too_small_is_refused():
    with pytest.raises(ProofFailed, match="covers errors"):
        prove_comparison(slack=2.0**-42)
    assert prove_comparison(1.0, slack=2.0**-42).needed < Fraction(1, 2**42)


LAWS = [
    DiscreteGaussian(sigma=1000),
    DiscreteLaplace(10**6),
    RoundedGaussian(64),
    RoundedGaussian("100000/3"),
    DiscreteLaplace(2**40),
]


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_points_near_a_weight_are_decided_as_exact_arithmetic_decides_them(law):
    table, rng = envelope_table(law), np.random.default_rng(20)
    prefix, left = table.tuning.prefix, table.tuning.prefix - table.spread
    for cell in rng.integers(table.full, table.occupied, 60).tolist():
        place, k = cell - table.full, int(table.block[cell]) << table.shift
        with working_precision(200):
            height = ball(table.height / (1 << int(table.doublings[place])))
            border = int(((law.weight(k) / height - int(table.level[place])) * 2**left).floor().unique_fmpz())
        for offset in [0, 1, -1, *(sign << bits for bits in range(9, 40) for sign in (1, -1))]:
            digits = min(max(border + offset, 0), 2**left - 1)
            tape = TapeSource((cell << table.shift + prefix | digits) << 640, table.tuning.cell_bits + table.shift + prefix + 640)
            assert (k if digits <= border else None) == one_trial(table, tape)


def test_the_proofs_name_their_terms():
    assert ["argument", "polynomial", "series", "table", "product"] == [name for name, _ in prove().terms]
    assert proof.CLAIMED == Fraction(1, 2**51)
