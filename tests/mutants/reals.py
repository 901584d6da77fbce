"""Checks of real noise, vectors and selections of keys: sums are rounded as exact arithmetic rounds them, coins have their law."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
from flint import arb

from dpaudit.exact import ball, working_precision
from mechanisms.contributions import clip_and_sum, clip_rows
from mechanisms.partition_selection import Rule, select_keys
from mechanisms.sampling.cells import GaussianCells, LaplaceCells
from mechanisms.sampling.envelope import Tuning
from mechanisms.sampling.euclidean_noise import draw_vectors
from mechanisms.sampling.float_format import FloatFormat
from mechanisms.sampling.logarithm import LOG_ERROR, certlog
from mechanisms.sampling.real_noise import RealTuning, real_noise, sum_at, sums_at
from mechanisms.sampling.reals import Cell, DrawnReals, Revealing, left_share
from tests.support.sources import TapeSource

DEEP = 400


def many_at(noise, value, step, source):
    """The batch kernel on one value."""
    return sums_at(noise, np.array([value]), np.array([step]), source).item()


def beneath(family, scale, place):
    """Ball around P(noise < place), from the law's textbook formula."""
    if family is GaussianCells:
        return (-ball(place) / ball(2 * scale**2).sqrt()).erfc() / 2
    half = ball(-abs(place) / scale).exp() / 2
    return half if place <= 0 else 1 - half


def sums_of_a_cell_have_their_share(outcomes):
    for family in (LaplaceCells, GaussianCells):
        for value, scale, step, fineness, prefix, form in (
            (0.0, Fraction(3, 2), 0, 1, 1, FloatFormat(2, -4)),
            (1.5, Fraction(1), -3, 2, 2, FloatFormat(3, -5)),
            (12.0, Fraction(3, 2), 2, 1, 2, FloatFormat(2, 0)),
            (24.0, Fraction(5), -4, 3, 4, FloatFormat(3, -1)),
        ):
            tuning = RealTuning(fineness, prefix, 1, Tuning(cell_bits=5, cut=Fraction(1), prefix=1, step=1))
            noise = real_noise(family, scale, tuning, form)
            unit = Fraction(2) ** noise.exponent
            first, last = unit * (step - Fraction(1, 2)), unit * (step + Fraction(1, 2))
            for kernel in (sum_at, many_at):
                found, rest = outcomes(lambda tape: kernel(noise, value, step, tape), unassigned=Fraction(1, 2**9))  # noqa: B023
                ranks = [form.rank(Fraction(result)) for result in found]
                with working_precision(160):
                    cell = beneath(family, scale, last) - beneath(family, scale, first)
                    for rank in range(min(ranks) - 2, max(ranks) + 3):
                        here, there = form.number(rank), form.number(rank + 1)
                        low, high = (form.number(rank - 1) + here) / 2 - Fraction(value), (here + there) / 2 - Fraction(value)
                        low, high = max(low, first), min(high, last)
                        mass = (beneath(family, scale, high) - beneath(family, scale, low)) / cell if low < high else arb(0)
                        seen = found.get(float(here), Fraction(0))
                        assert not mass < ball(seen), (value, here)
                        assert not mass > ball(seen + rest), (value, here)


def sums_beside_a_rounding_border_are_settled_exactly():
    """Digits made so that the sum lies beside the middle of two floats, where floats must not decide."""
    scale = Fraction(10, 7)
    for family, (fineness, prefix) in product((LaplaceCells, GaussianCells), ((46, 4), (46, 32), (1, 51))):
        noise = real_noise(family, scale, RealTuning(fineness=fineness, prefix=prefix))
        unit, form = Fraction(2) ** noise.exponent, noise.form
        for value, nearby in ((3.0, 1), (-0.1, -2), (1e5, None), (2.0**40, None), (-7e3, None), (0.7, 2), (1e-9, 0), (0.3, -3)):
            exact = Fraction(value)
            step = round((form.middle(form.rank(exact)) - exact) / unit) if nearby is None else nearby
            cell = [exact + unit * (step + end) for end in (Fraction(-1, 2), Fraction(1, 2))]
            lowest, highest = map(form.rank, cell)
            border = lowest + (highest - lowest) * 5 // 13
            with working_precision(500):
                first, last, middle = (beneath(family, scale, place - exact) for place in (*cell, form.middle(border)))
                share = (middle - first) / (last - first) * 2**prefix
                digits = int(share.mid().floor().unique_fmpz())
                for sixteenth in (-9, 3, 5, 7, 9, 11, 13, 25):
                    read = ((16 * digits + sixteenth << DEEP) + 2**DEEP // 3) // 16
                    read = min(max(read, 0), 2 ** (prefix + DEEP) - 1)
                    below = bool(ball(Fraction(read, 2**DEEP)) < share)
                    results = {kernel(noise, value, step, TapeSource(read, prefix + DEEP)) for kernel in (sum_at, many_at)}
                    assert {below} == {result <= float(form.number(border)) for result in results}, (value, step, sixteenth)
                    assert 1 == len(results)


class KnownReals:
    """Real numbers that are known to many bits beforehand, and revealed as a kernel asks."""

    def __init__(self, normals, uniforms, revealing):
        self.revealing, self._normals, self._uniforms = revealing, normals, uniforms
        self._given = [0, 0]

    def normals(self, count):
        start = self._given[0]
        self._given[0] += count
        return np.array([round(self._normals[start + i] * 2**self.revealing.normal_bits) for i in range(count)], dtype=np.int64)

    def uniforms(self, count):
        start = self._given[1]
        self._given[1] += count
        return np.array([int(self._uniforms[start + i] * 2**self.revealing.uniform_bits) for i in range(count)], dtype=np.uint64)

    def half(self, cell, position):
        return cell.half(right=self._normals[position] * 2**cell.bits > cell.centre)

    def digits(self, positions, known):
        step = self.revealing.step
        return [int(self._uniforms[position] * 2 ** (known + step)) % 2**step for position in positions]


def rounded_exactly(scale, dimension, normals, uniforms):
    """The vector that the theorem makes of real numbers, rounded in ball arithmetic."""
    with working_precision(600):
        product = math.prod((ball(u) for u in uniforms), start=arb(1))
        twice = -2 * product.log() + sum((ball(g) ** 2 for g in normals[dimension:]), start=arb(0))
        factor = ball(scale) * twice.sqrt()
        return [int((factor * ball(g) + 0.5).floor().unique_fmpz()) for g in normals[:dimension]]


def vectors_are_rounded_exactly():
    rng = np.random.default_rng(12)
    for revealing in (
        Revealing(),
        Revealing(normal_bits=2, uniform_bits=2, step=1),
        Revealing(normal_bits=20, uniform_bits=6, step=3),
    ):
        for dimension in (1, 2, 3, 6):
            width, exponentials = dimension + 1 - dimension % 2, (dimension + 1) // 2
            for scale in (Fraction(10, 3), Fraction(2**40)):
                for _ in range(12):
                    normals = [
                        Fraction(float(g)) + Fraction(int(rng.integers(1, 2**60)), 2**130) for g in rng.standard_normal(width)
                    ]
                    uniforms = [
                        Fraction(float(u)) + Fraction(int(rng.integers(1, 2**60)), 2**130) for u in rng.random(exponentials)
                    ]
                    drawn = draw_vectors(scale, dimension, 1, KnownReals(normals, uniforms, revealing))[0].tolist()
                    assert rounded_exactly(scale, dimension, normals, uniforms) == drawn


def halves_have_their_share(outcomes):
    for cell in (Cell(0, 1), Cell(2, 1), Cell(-6, 3), Cell(5, 2)):

        def goes_right(tape, cell=cell):
            reals = DrawnReals(tape, None, Revealing(normal_bits=1, uniform_bits=1, step=1))
            return reals.half(cell, 0).centre > 2 * cell.centre

        found, rest = outcomes(goes_right, unassigned=Fraction(1, 2**9))
        with working_precision(200):
            left, middle, right = ((ball(Fraction(cell.centre + side, 2**cell.bits)) / arb(2).sqrt()).erf() for side in (-1, 0, 1))
            share = (right - middle) / (right - left)
            assert not share < ball(found[True])
            assert not share > ball(found[True] + rest)
            assert left_share(cell).overlaps(1 - share)


def the_logarithm_keeps_its_error():
    rng = np.random.default_rng(4)
    mantissa = np.array([0.5, 0.75, math.nextafter(1, 0), *rng.uniform(0.5, 1, 200)])
    exponent = np.array([0, 1, 0, *rng.integers(-2000, 2, 199), -(2**30)])
    values = certlog(mantissa, exponent)
    with working_precision(200):
        for m, e, value in zip(mantissa.tolist(), exponent.tolist(), values.tolist(), strict=True):
            truth = ball(Fraction(m)).log() + e * arb.const_log2()
            assert abs(ball(Fraction(value)) - truth) < LOG_ERROR * (1 + abs(truth))


def rows_are_clipped_to_their_ball():
    rng = np.random.default_rng(5)
    rows = np.concatenate(
        [rng.standard_normal((60, 5)) * 10.0 ** rng.integers(-3, 4, (60, 1)), [[0.0] * 5, [1e300] * 5, [5e-324] * 5]]
    )
    bad = np.array([[math.nan, 1.0, 0, 0, 0], [math.inf, 1.0, 0, 0, 0]])
    for norm, size in (
        ("l2", lambda row: sum(k * k for k in row)),
        ("l1", lambda row: sum(map(abs, row))),
        ("linf", lambda row: max(map(abs, row))),
    ):
        for bits, bound in ((4, Fraction(1)), (21, Fraction(1, 3)), (26, Fraction(7))):
            steps = clip_rows(rows, norm_bound=bound, norm=norm, lattice_bits=bits)
            limit = 4**bits if norm == "l2" else 2**bits
            assert all(size(row) <= limit for row in steps.tolist())
            assert np.all(clip_rows(bad, norm_bound=bound, norm=norm, lattice_bits=bits) == 0)
            assert np.array_equal(steps.sum(axis=0), clip_and_sum(rows, norm_bound=bound, norm=norm, lattice_bits=bits))
            for row, kept in zip(rows.tolist(), steps.tolist(), strict=True):
                exact = [Fraction(entry) * 2**bits / bound for entry in row]
                if size(exact) < limit * Fraction(99, 100):
                    near = [entry * Fraction(1 - 2**-40) for entry in exact]
                    assert all(k in {math.trunc(entry), math.trunc(less)} for k, entry, less in zip(kept, exact, near, strict=True))
                elif bits > 20:
                    assert size(kept) > limit * Fraction(99, 100)
                assert all(abs(k) <= abs(entry) for k, entry in zip(kept, exact, strict=True))


def keys_are_selected_with_their_probability(outcomes):
    for rule in (Rule(Fraction(1), Fraction(1, 10)), Rule(Fraction(1, 2), Fraction(1, 5))):
        with working_precision(200):
            chance, growth = ball(0), ball(rule.epsilon).exp()
            for people in range(1, 9):
                rising, falling = growth * chance + ball(rule.delta), 1 - (1 - chance - ball(rule.delta)) / growth
                chance = min((rising, falling, ball(1)), key=lambda value: float(value.mid()))
                found, rest = outcomes(
                    lambda tape, people=people, rule=rule: bool(select_keys(rule, np.array([people]), tape, bits=3, step=1)[0]),
                    unassigned=Fraction(1, 2**9),
                )
                assert ball(found.get(True, Fraction(0))) <= chance, people
                assert chance <= ball(found.get(True, Fraction(0)) + rest), people


ENUMERATIONS = {
    "sums of a cell": sums_of_a_cell_have_their_share,
    "halves of a normal number": halves_have_their_share,
    "selected keys": keys_are_selected_with_their_probability,
}

CHECKS = [
    sums_beside_a_rounding_border_are_settled_exactly,
    vectors_are_rounded_exactly,
    the_logarithm_keeps_its_error,
    rows_are_clipped_to_their_ball,
]
