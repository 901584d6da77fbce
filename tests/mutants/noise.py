"""Checks of the noise samplers: trials have their law over all tapes, tables hold their weights, comparisons are certain."""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from fractions import Fraction
from functools import partial

import mpmath
import numpy as np
from flint import arb

from dpaudit.errors import DpauditError
from dpaudit.exact import ball, working_precision
from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, Geometric, RoundedGaussian
from mechanisms.sampling.cumulative import Words, cumulative_table, draw_place, draw_places
from mechanisms.sampling.digits import DigitWords, GeometricDigit, digit_table, draw_geometric, draw_one_two_sided, draw_two_sided
from mechanisms.sampling.envelope import Tuning, envelope_table
from mechanisms.sampling.exactnum import LazyUniform, certexp, certexp_one
from mechanisms.sampling.kernel import draw, many_trials, one_trial
from mechanisms.sampling.random import OsBitSource, source_from
from proofs.certexp import prove
from proofs.comparison import prove_comparison
from tests.support.sources import NeedBits, RecordingSource, TapeSource

RESOLUTION = Fraction(1, 2**8)


def small(**sizes):
    """A tuning whose rare paths are common."""
    return Tuning(**{"cell_bits": 5, "cut": Fraction(1), "prefix": 1, "step": 1, **sizes})


SMALL = {
    "single integers": (DiscreteGaussian(sigma=1), small()),
    "long blocks": (DiscreteGaussian(sigma_squared=5), small(shift=1, cut=Fraction(3, 2))),
    "shared cells": (DiscreteLaplace(6), small(shift=1, cut=Fraction(6), prefix=3, spread=2)),
    "steep weights": (DiscreteLaplace("1/3"), small(cell_bits=4)),
    "wide slack": (RoundedGaussian(2), small(shift=1, slack=0.5)),
    "rounded weights": (RoundedGaussian(1), small(prefix=2)),
}
SHIPPED = [
    DiscreteGaussian(sigma=1),
    DiscreteLaplace(10),
    RoundedGaussian(10),
    DiscreteGaussian(sigma=1000),
    DiscreteLaplace("1e6"),
]


def one(table, tape):
    """A trial of the scalar sampler."""
    return one_trial(table, tape)


def many(table, tape):
    """A trial of the batch sampler."""
    out = np.empty(1, dtype=np.int64)
    return int(out[0]) if many_trials(table, tape, out) else None


def trials_have_their_law(case, sampler, outcomes):
    """Every integer has mass rho(k) / (2^b h B) in one trial."""
    law, tuning = SMALL[case]
    table = envelope_table(law, tuning)
    found, rest = outcomes(lambda tape: sampler(table, tape), unassigned=RESOLUTION)
    with working_precision(128):
        unit = ball(table.height * 2 ** (tuning.cell_bits + table.shift))
        for k in {k for k in found if k is not None} | set(range(-table.start - 4, table.start + 5)):
            mass = law.weight(k) / unit
            assert not mass < ball(found.get(k, Fraction(0))), k
            assert not mass > ball(found.get(k, Fraction(0)) + rest), k


def first_of_a_batch_has_its_law(outcomes):
    law = DiscreteLaplace("1/3")
    table = envelope_table(law, small(cell_bits=4))
    found, rest = outcomes(lambda tape: int(draw(table, tape, 1, chunk=2)[0]), unassigned=Fraction(1, 2**6))
    for k in found.keys() | set(range(-3, 4)):
        assert law.pmf(k).lower <= found.get(k, 0) + rest, k
        assert found.get(k, 0) <= law.pmf(k).upper, k


def a_batch_keeps_what_its_trials_accept():
    """Recorded bits of a batch, decided again one trial at a time: the same integers are left, each as often."""
    compared = 0
    for law, tuning in (
        (DiscreteGaussian(sigma=3), Tuning(cell_bits=6)),
        (DiscreteLaplace(200), Tuning(cell_bits=11, cut=Fraction(8), prefix=40)),
    ):
        table = envelope_table(law, tuning)
        for seed in range(40):
            source, out = RecordingSource(source_from(np.random.default_rng(seed))), np.empty(40, dtype=np.int64)
            kept = out[: many_trials(table, source, out)]
            calls = [words for _, words in source.calls]
            cells = calls.pop(0)
            if any(table.occupied <= cell < table.occupied + 2 * table.tail_cells for cell in cells):
                continue
            lows = calls.pop(0) if table.shift else [0] * len(cells)
            digits = iter(calls.pop(0))
            assert [] == calls, "a comparison of 40 digits stayed open"
            expected = []
            for cell, low in zip(cells, lows, strict=True):
                partly = table.full <= cell < table.occupied
                word = (cell << table.shift | low) << tuning.prefix | (next(digits) if partly else 0)
                expected.append(one_trial(table, TapeSource(word, tuning.cell_bits + table.shift + tuning.prefix)))
            assert sorted(k for k in expected if k is not None) == sorted(kept.tolist())
            compared += 1
    assert compared > 20


def wide_draws_are_python_integers():
    table = envelope_table(DiscreteLaplace(2**70))
    drawn = draw(table, source_from(np.random.default_rng(6)), 1000, wide=True).tolist()
    assert all(type(k) is int for k in drawn)
    assert {0, 1} == {k & 1 for k in drawn}
    assert {True, False} == {k < 0 for k in drawn}
    assert 2**69 < sum(abs(k) for k in drawn) / 1000 < 2**71


def too_large_draws_are_refused():
    table = envelope_table(DiscreteLaplace(2**56))
    # The first cell of the positive tail, and a uniform number there that stands for about 99 scales.
    tape = TapeSource(table.occupied << table.shift + 4000 | 1 << 4000 - 100, 16 + table.shift + 4000)
    with contextlib.suppress(DpauditError):
        draw(table, tape, 1, chunk=1)
        raise AssertionError("a draw beyond 2**62 was given as int64")
    for scale in (2**60, 2**70, 2**100):
        with contextlib.suppress(DpauditError):
            DiscreteLaplace(scale).sample(1)
            raise AssertionError("a law beyond int64 was drawn without wide=True")


def cells_hold_their_weights():
    """Each block has cells enough for its largest weight, and whole ones below its smallest only; tails' cells hold the tails."""
    for law, tuning in [*SMALL.values(), *((law, None) for law in SHIPPED)]:
        table = envelope_table(law, tuning) if tuning else envelope_table(law)
        assert table.occupied + 2 * table.tail_cells <= 2**table.tuning.cell_bits
        whole, partial = defaultdict(int), defaultdict(list)
        for block in table.block[: table.full].tolist():
            whole[block] += 1
        for place, block in enumerate(table.block[table.full : table.occupied].tolist()):
            partial[block, int(table.doublings[place])].append(int(table.level[place]))
        covered = []
        with working_precision(160):
            assert all(Fraction(h) == table.height / 2 ** int(d) for h, d in zip(table.heights, table.doublings, strict=True))
            for block, doublings in {(block, 0) for block in whole} | set(partial):
                first, last = block << table.shift, (block + (1 << doublings) << table.shift) - 1
                covered.append((first, last))
                nearest, farthest = sorted((abs(first), abs(last)))
                height, levels = ball(table.height / 2**doublings), partial[block, doublings]
                full = whole[block] if doublings == 0 else 0
                assert list(range(full, full + len(levels))) == levels
                assert height * full <= law.weight(farthest)
                assert not height * (full + len(levels)) < law.weight(nearest)
            tail = sum((law.weight(table.start + j) for j in range(60)), start=arb(0))
            assert tail <= ball(table.tail_area)
            assert table.tail_envelope(0) <= ball(table.tail_area)
        covered.sort()
        assert [first for first, _ in covered[1:]] == [last + 1 for _, last in covered[:-1]], "blocks meet without a gap"
        assert (covered[0][0], covered[-1][1]) == (1 - table.negative_start, table.start - 1)


def thresholds_add_up():
    """The cells under a weight add up to it, with the thresholds that ship."""
    for law in (DiscreteGaussian(sigma=1), DiscreteLaplace(3), RoundedGaussian(2)):
        table = envelope_table(law)
        columns = table.block[table.full : table.occupied]
        with working_precision(200):
            for k in range(1 - table.columns, table.columns):
                whole, parts = int(np.count_nonzero(table.block[: table.full] == k)), np.flatnonzero(columns == k)
                lowest = whole + sum(Fraction(int(table.accept_below[part]), 2**64) for part in parts)
                highest = whole + sum(Fraction(int(table.reject_above[part]) + 1, 2**64) for part in parts)
                filled = law.weight(k) / ball(table.height)
                assert ball(lowest) <= filled <= ball(highest), k
                assert highest - lowest <= Fraction(2 * len(parts), 2**64)


def weights_are_ratios_of_probabilities():
    """Against mpmath, from the definitions; and tails and decay agree with the weights."""
    for scale in (Fraction(1, 2), Fraction(7, 3), Fraction(40)):
        with mpmath.workdps(40):
            s = mpmath.mpf(scale.numerator) / scale.denominator
            cells = {
                DiscreteLaplace(scale): lambda k, s=s: mpmath.exp(-abs(k) / s),
                DiscreteGaussian(sigma=scale): lambda k, s=s: mpmath.exp(-(k**2) / (2 * s**2)),
                RoundedGaussian(scale): lambda k, s=s: mpmath.quad(
                    lambda t: mpmath.exp(-((t / s) ** 2) / 2), [k - 0.5, k, k + 0.5]
                ),
            }
            for law, cell in cells.items():
                for k in (0, 1, -2, 5):
                    with working_precision(128):
                        middle = mpmath.mpf(law.weight(k).mid().str(35, radius=False))
                    assert abs(middle - cell(k) / cell(0)) < middle * mpmath.mpf(10) ** -25, (law, k)
    for law in (DiscreteLaplace("7/3"), DiscreteGaussian(sigma=2), RoundedGaussian("3/2")):
        with working_precision(128):
            for start in (2, 3, 9):
                rate = ball(law.decay(start))
                assert not any(law.weight(start + j) > law.weight(start) * (-rate * j).exp() for j in range(30))
        total = sum(law.pmf(k).upper for k in range(-9, 10)) + 2 * law.tail(10).upper
        assert 1 <= total < 1 + Fraction(1, 2**90)


def formulas_stay_within_their_slack():
    """The float formula of long blocks against balls."""
    for law in (DiscreteGaussian(sigma=1000), DiscreteLaplace(10**6), RoundedGaussian(64), RoundedGaussian(1000)):
        table = envelope_table(law)
        rng = np.random.default_rng(8)
        places = [int(place) for place in rng.integers(-table.start, table.start, 60)] + [0, table.start - 1, -table.start]
        blocks = np.array([abs(k) / 2**table.shift for k in places])
        values = table.estimate.of(blocks)
        assert [table.estimate.of_one(float(block)) for block in blocks] == values.tolist()
        assert table.estimate.slack < 1e-8
        with working_precision(200):
            for k, value in zip(places, values, strict=True):
                assert abs(ball(Fraction(float(value))) / law.weight(k) - 1) < table.estimate.slack + 2.0**-44


def floats_decide_as_exact_arithmetic_does():
    """Points so near a weight that a slack too small would show, by the scalar sampler on tapes made for them."""
    prove_comparison()
    for law in (DiscreteGaussian(sigma=1000), DiscreteLaplace(10**6), RoundedGaussian(64)):
        table, rng = envelope_table(law), np.random.default_rng(20)
        prefix, left = table.tuning.prefix, table.tuning.prefix - table.spread
        for cell in rng.integers(table.full, table.occupied, 40).tolist():
            place, k = cell - table.full, int(table.block[cell]) << table.shift
            with working_precision(200):
                height = ball(table.height / (1 << int(table.doublings[place])))
                border = int(((law.weight(k) / height - int(table.level[place])) * 2**left).floor().unique_fmpz())
            for offset in [0, 1, -1, *(sign << bits for bits in range(8, 45, 3) for sign in (1, -1))]:
                digits = min(max(border + offset, 0), 2**left - 1)
                word = cell << table.shift + prefix | digits
                drawn = one_trial(table, TapeSource(word << 640, table.tuning.cell_bits + table.shift + prefix + 640))
                assert (k if digits <= border else None) == drawn


def batches_decide_as_single_draws_do():
    """The same bits in both samplers, with comparisons that mostly stay open: cells, digits and answers agree trial by trial."""
    for law, tuning in (
        (DiscreteGaussian(sigma=200), Tuning(cut=Fraction(1), cell_bits=9, prefix=20, slack=0.25)),
        (DiscreteLaplace(1000), Tuning(cut=Fraction(8), cell_bits=11, prefix=30)),
        (RoundedGaussian(10), Tuning(cut=Fraction(1), cell_bits=9)),
    ):
        table, prefix = envelope_table(law, tuning), tuning.prefix
        for seed in range(150):
            rng = np.random.default_rng(seed)
            cell, low = int(rng.integers(0, table.occupied)), int(rng.integers(0, 1 << table.shift))
            digits, more = int(rng.integers(0, 1 << min(prefix, 62))), int(rng.integers(0, 2**62))
            if seed % 2:
                cell = max(cell, table.full)
            tail = 640
            word = (cell << table.shift | low) << prefix | digits
            first = one_trial(table, TapeSource(word << tail | more, tuning.cell_bits + table.shift + prefix + tail))
            head, width = cell << table.shift | low, tuning.cell_bits + table.shift
            if cell >= table.full:
                head, width = word, width + prefix
            out = np.empty(1, dtype=np.int64)
            kept = many_trials(table, TapeSource(head << tail | more, width + tail), out)
            assert ([] if first is None else [first]) == out[:kept].tolist()


def exp_keeps_its_proved_error():
    prove()
    points = [0.0, 5e-324, 1e-9, 0.5, 1.0, 30.0, 707.9, 708.0, *np.random.default_rng(3).uniform(0, 708, 300).tolist()]
    points += [(half + 0.5) * math.log(2) / 2048 for half in range(0, 2_000_000, 40_013)]
    values = certexp(np.array(points))
    assert [certexp_one(point) for point in points] == values.tolist()
    with working_precision(160):
        for x, value in zip(points, values.tolist(), strict=True):
            assert abs(ball(Fraction(value)) * ball(Fraction(x)).exp() - 1) < 2.0**-51
    for bad in (-1e-300, 708.1, math.nan):
        try:
            certexp(np.array([1.0, bad]))
        except DpauditError:
            continue
        raise AssertionError("a number beyond the proof was taken")


def comparisons_never_guess():
    """A lazily revealed number against all dyadic thresholds of 3 digits, and against some that are none."""
    for first, step in ((1, 1), (3, 1), (2, 2)):
        for numerator in range(9):
            for tape in range(2**9):
                uniform = LazyUniform(TapeSource(tape, 9), first, step)
                try:
                    answer = uniform.less(lambda _, numerator=numerator: ball(Fraction(numerator, 8)))
                except NeedBits as lacking:
                    raise AssertionError("a threshold of 3 digits was not decided by 9") from lacking
                assert (tape >> 6 < numerator) == answer
                assert tape >> 9 - uniform.bits == uniform.value
    for tape in range(2**8):
        uniform = LazyUniform(TapeSource(tape, 8), 1, 1)
        try:
            answer = uniform.less(lambda precision: arb(1) / 3 if precision > 60 else arb(0.5, 1))
        except NeedBits:
            continue
        low, high = Fraction(uniform.value, 2**uniform.bits), Fraction(uniform.value + 1, 2**uniform.bits)
        assert high <= Fraction(1, 3) if answer else low >= Fraction(1, 3)
    begun = LazyUniform.begun(TapeSource(0b11, 2), 0b10, 2, 1)
    assert not begun.less(lambda _: ball(Fraction(11, 16)))
    assert (0b1011, 4) == (begun.value, begun.bits)


def open_comparisons_ask_for_narrower_balls():
    for endless in (arb(0.5, 0.5), arb(1, 1)):
        source, asked = RecordingSource(OsBitSource()), []

        def value(precision, endless=endless, asked=asked):
            asked.append(precision)
            return endless

        try:
            LazyUniform(source, 64, 2**12).less(value)
        except DpauditError:
            assert all(precision >= bits for precision, bits in zip(asked, range(64, 2**16, 2**12), strict=False))
            continue
        raise AssertionError("a comparison that cannot be decided was decided")


def inversion_has_its_law(sampler, outcomes):
    law = GeometricDigit(Fraction(2, 3), None)
    table = cumulative_table(law, Words(guide=2, prefix=3, step=1, reach=2))
    found, rest = outcomes(lambda tape: sampler(table, tape), unassigned=Fraction(1, 2**7))
    for k in found.keys() | set(range(6)):
        with working_precision(128):
            mass = (ball(Fraction(-2, 3) * k)).exp() * -(ball(Fraction(-2, 3)).expm1())
            assert ball(found.get(k, Fraction(0))) <= mass <= ball(found.get(k, Fraction(0)) + rest), k


def digits_have_their_law(outcomes):
    tuning = DigitWords(digit=1, top_scale=Fraction(2), words=Words(guide=1, prefix=2, step=1, reach=2))
    table, law = digit_table(Fraction(3), tuning), Geometric(3)  # of two digits
    found, rest = outcomes(lambda tape: int(draw_geometric(table, tape, 1)[0]), unassigned=Fraction(1, 2**5))
    for k in found.keys() | set(range(6)):
        assert law.pmf(k).lower <= found.get(k, 0) + rest, k
        assert found.get(k, 0) <= law.pmf(k).upper, k


def signed_digits_have_their_law(outcomes):
    tuning = DigitWords(digit=1, top_scale=Fraction(2), words=Words(guide=1, prefix=2, step=1, reach=2))
    table, law = digit_table(Fraction(3), tuning), DiscreteLaplace(3)  # of two digits
    for sampler in (lambda tape: int(draw_two_sided(table, tape, 1)[0]), lambda tape: draw_one_two_sided(table, tape)):
        found, rest = outcomes(sampler, unassigned=Fraction(1, 2**4))
        for k in found.keys() | set(range(-4, 5)):
            assert law.pmf(k).lower <= found.get(k, 0) + rest, k
            assert found.get(k, 0) <= law.pmf(k).upper, k


ENUMERATIONS = {
    **{
        f"{name} of {case}": partial(trials_have_their_law, case, sampler)
        for case in SMALL
        for name, sampler in (("single trials", one), ("batches", many))
    },
    "first of a batch": first_of_a_batch_has_its_law,
    "inversion, batches": partial(inversion_has_its_law, lambda table, tape: int(draw_places(table, tape, 1)[0])),
    "inversion, single draws": partial(inversion_has_its_law, draw_place),
    "geometric digits": digits_have_their_law,
    "signed digits": signed_digits_have_their_law,
}

CHECKS = [
    a_batch_keeps_what_its_trials_accept,
    wide_draws_are_python_integers,
    too_large_draws_are_refused,
    cells_hold_their_weights,
    thresholds_add_up,
    weights_are_ratios_of_probabilities,
    formulas_stay_within_their_slack,
    floats_decide_as_exact_arithmetic_does,
    batches_decide_as_single_draws_do,
    exp_keeps_its_proved_error,
    comparisons_never_guess,
    open_comparisons_ask_for_narrower_balls,
]
