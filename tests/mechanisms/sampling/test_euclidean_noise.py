"""Exact draws of Euclidean Laplace noise: the same real numbers give the same vectors, and all numbers together the stated law."""

from __future__ import annotations

import heapq
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball, working_precision
from mechanisms import EuclideanLaplace, InsecureSeededSourceForTestsOnly, source_from
from mechanisms.euclidean import drawn_reals
from mechanisms.sampling import euclidean_noise
from mechanisms.sampling.euclidean_noise import Stretch, draw_vectors
from mechanisms.sampling.random import OsBitSource
from mechanisms.sampling.reals import DEEPEST, SHIPPED, Cell, Revealing, left_share
from mechanisms.sampling.weights import rounded_probability

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")

COARSE = Revealing(normal_bits=4, uniform_bits=4, step=1)
LENGTH = 3000


class FixedReals:
    """Real numbers that are fixed beforehand to 3000 bits and revealed in whatever pieces are asked for."""

    def __init__(self, seed, revealing):
        self.rng, self.seed, self.revealing = np.random.default_rng(seed), seed, revealing

    def number(self, kind, position):
        """A number of LENGTH binary places: uniform, or near enough to normal."""
        rng = np.random.default_rng([self.seed, kind, position])
        digits = int.from_bytes(rng.bytes(LENGTH // 8), "big")
        return digits if kind else (int(rng.standard_normal() * 2**60) << (LENGTH - 60)) + (digits >> 60)

    def normals(self, count):
        drop = LENGTH - self.revealing.normal_bits
        return np.array([(self.number(0, at) + (1 << (drop - 1))) >> drop for at in range(count)], dtype=np.int64)

    def uniforms(self, count):
        return np.array([self.number(1, at) >> (LENGTH - self.revealing.uniform_bits) for at in range(count)], dtype=np.uint64)

    def half(self, cell, position):
        return cell.half(right=self.number(0, position) >= cell.centre << (LENGTH - cell.bits))

    def digits(self, positions, known):
        step = self.revealing.step
        return [self.number(1, at) >> (LENGTH - known - step) & ((1 << step) - 1) for at in positions]

    def truth(self, scale, dimension, count):
        """The vectors that these numbers stand for, rounded, from all their places at once."""
        width, terms = dimension + (dimension % 2 == 0), (dimension + 1) // 2
        with working_precision(LENGTH + 200):
            result = []
            for row in range(count):
                uniform = [arb((self.number(1, row * terms + at), -LENGTH)) for at in range(terms)]
                normal = [arb((self.number(0, row * width + at), -LENGTH)) for at in range(width)]
                twice = -2 * sum((each.log() for each in uniform), start=arb(0)) + sum(each**2 for each in normal[dimension:])
                stretch = ball(Fraction(scale)) * twice.sqrt()
                result.append([int((stretch * each + 0.5).floor().unique_fmpz()) for each in normal[:dimension]])
        return result


REVEALINGS = [
    SHIPPED,
    COARSE,
    Revealing(normal_bits=0, uniform_bits=1, step=1),
    Revealing(normal_bits=9, uniform_bits=64, step=7),
    Revealing(normal_bits=56, uniform_bits=3, step=64),
    Revealing(normal_bits=30, uniform_bits=30, step=30),
]


@pytest.mark.parametrize("revealing", REVEALINGS, ids=str)
@pytest.mark.parametrize(
    ("scale", "dimension", "count"), [("1/3", 1, 40), (50, 1, 20), (7, 2, 20), (2**20, 3, 8), (2**45, 4, 4), (11, 33, 1)]
)
def test_the_same_real_numbers_give_the_same_vectors_however_they_are_revealed(revealing, scale, dimension, count):
    reals = FixedReals(5, revealing)
    assert reals.truth(scale, dimension, count) == draw_vectors(Fraction(scale), dimension, count, reals).tolist()


@settings(max_examples=25, deadline=None)
@given(
    st.builds(Revealing, st.integers(0, 56), st.integers(1, 64), st.integers(1, 64)),
    st.fractions(Fraction(1, 100), 10**12, max_denominator=100),
    st.integers(1, 6),
    st.integers(0, 10**6),
)
def test_vectors_are_those_of_their_real_numbers_for_every_scale_and_size(revealing, scale, dimension, seed):
    reals = FixedReals(seed, revealing)
    assert reals.truth(scale, dimension, 2) == draw_vectors(scale, dimension, 2, reals).tolist()


def test_a_batch_gives_every_vector_its_own_numbers_in_order():
    one_by_one = draw_vectors(Fraction(9), 2, 50, FixedReals(6, COARSE))
    assert FixedReals(6, COARSE).truth(9, 2, 50) == one_by_one.tolist()
    source = InsecureSeededSourceForTestsOnly(3)
    drawn = draw_vectors(Fraction(9), 5, 50, drawn_reals(source), chunk=12)
    assert 50 == len({tuple(vector) for vector in drawn.tolist()})


@pytest.mark.parametrize("bits", [4, 20, 40, 56])
@pytest.mark.parametrize("dimension", [1, 2, 601, 602])
def test_what_floats_decide_next_to_a_border_balls_decide_alike(dimension, bits):
    reals = FixedReals(0, Revealing(normal_bits=bits, uniform_bits=64))
    terms, wrong, decided = (dimension + 1) // 2, 0, 0
    for seed in range(3 if dimension > 2 else 150):
        rng = np.random.default_rng([seed, bits])
        scale = Fraction(2) ** int(rng.integers(-3, 46)) / 3
        digits = rng.integers(1, 2**64, (1, terms), dtype=np.uint64) >> np.uint64(rng.choice([0, 0, 20, 40]))
        extra = [int(rng.integers(2 ** (bits - 1), 2**bits))] * (1 - dimension % 2)
        stretch = Stretch(scale, reals, 0, digits[0].tolist(), extra, dimension + 1 - dimension % 2)
        near = float(stretch.ball().mid()) * 2.0**-bits
        # Cells whose middle or edge lies by a few roundings of floats beside a border between two integers.
        highest = min(8 * 2**bits * near, 2.0**48)
        borders = (np.rint(rng.uniform(-1, 1, dimension) * highest) + 0.5) / near + rng.choice([-0.5, 0.0, 0.5], dimension)
        beside = rng.uniform(-1, 1, dimension) * (np.abs(borders) * 2.0 ** -rng.integers(46, 54, dimension) + 1.5)
        normals = np.rint(borders).astype(np.int64) + np.rint(beside).astype(np.int64)
        rounded, left_open = euclidean_noise._estimate(scale, dimension, np.array([[*normals.tolist(), *extra]]), digits, reals)
        with working_precision(300):
            for at in np.flatnonzero(~left_open[0]).tolist():
                exact = (stretch.ball() * Cell.around(int(normals[at]), bits).ball() + 0.5).floor().unique_fmpz()
                wrong += exact != rounded[0, at]
                decided += 1
    assert 0 == wrong
    assert 0 < decided or bits == 4


def test_floats_decide_nearly_everything_at_the_shipping_sizes(monkeypatch):
    asked = []
    monkeypatch.setattr(euclidean_noise, "_round_exactly", lambda stretch, cell, position, reals: asked.append(position) or 0)
    draw_vectors(Fraction(2**21), 10_000, 10, drawn_reals(source_from(np.random.default_rng(4))))
    assert len(asked) <= 2


class Wanted(Exception):
    """An answer was asked for that was not given; `options` holds the possible ones with their probabilities."""

    def __init__(self, options):
        self.options = options


def probability(scale, k):
    """P[X = k] of a rounded Gaussian."""
    with working_precision(80):
        return float(rounded_probability(Fraction(scale**2), k))


class Answers:
    """Real numbers whose pieces are given beforehand: normal cells and halves with their exact odds, digits with theirs."""

    def __init__(self, revealing, answers):
        self.revealing, self.answers = revealing, list(answers)

    def take(self, options):
        if not self.answers:
            raise Wanted(options())
        return self.answers.pop(0)

    def normals(self, count):
        scale = 2**self.revealing.normal_bits
        cells = range(-6 * scale, 6 * scale + 1)
        return np.array([self.take(lambda: [(k, probability(scale, k)) for k in cells]) for _ in range(count)], dtype=np.int64)

    def uniforms(self, count):
        return np.array(self.digits(range(count), 0), dtype=np.uint64)

    def half(self, cell, position):
        def options():
            with working_precision(64):
                share = float(left_share(cell))
            return [(False, share), (True, 1 - share)]

        return cell.half(right=self.take(options))

    def digits(self, positions, known):
        bits = self.revealing.step if known else self.revealing.uniform_bits
        return [self.take(lambda: [(each, 2.0**-bits) for each in range(2**bits)]) for _ in positions]


def every_outcome(scale, revealing, left_over):
    """Probability found for each outcome in dimension 1 over all pieces of its numbers, likeliest first, and what is left over."""
    waiting, found, left, made = [(-1.0, 0, ())], {}, 1.0, 0
    while left > left_over:
        mass, _, answers = heapq.heappop(waiting)
        try:
            outcome = int(draw_vectors(scale, 1, 1, Answers(revealing, answers))[0, 0])
        except Wanted as wanted:
            for answer, odds in wanted.options:
                made += 1
                heapq.heappush(waiting, (mass * odds, made, (*answers, answer)))
        else:
            found[outcome] = found.get(outcome, 0.0) - mass
            left += mass
    return found, left


@pytest.mark.parametrize(("scale", "left_over"), [("1/8", 2.0**-12), ("1/4", 2.0**-7), ("1/2", 2.0**-5)])
def test_in_one_dimension_every_outcome_has_the_mass_of_a_rounded_laplace_variable(scale, left_over):
    found, left = every_outcome(Fraction(scale), Revealing(normal_bits=1, uniform_bits=1, step=1), left_over)
    law = EuclideanLaplace(scale, dimension=1)
    assert left <= left_over
    for outcome in {*found, 0, 1, -1}:
        mass = found.get(outcome, 0.0)
        assert mass - 1e-9 <= law.pmf(outcome).upper
        assert mass + left + 1e-9 >= law.pmf(outcome).lower


@pytest.mark.parametrize("cell", [Cell.around(0, 0), Cell.around(1, 0), Cell.around(-2, 1), Cell(3, 2), Cell(-1, 1)], ids=str)
def test_the_halves_of_a_cell_have_their_shares_over_all_tapes(outcomes, cell):
    reals = Revealing(step=1)
    found, rest = outcomes(lambda tape: drawn_reals(tape, reals).half(cell, 0))
    with working_precision(200):
        edges = [(arb((cell.centre + side, -cell.bits)) / arb(2).sqrt()).erf() for side in (-1, 0, 1)]
        share = (edges[1] - edges[0]) / (edges[2] - edges[0])
        for right, mass in ((False, share), (True, 1 - share)):
            least = found[cell.half(right=right)]
            assert not mass < ball(least)
            assert not mass > ball(least + rest)
    assert {cell.half(right=False), cell.half(right=True)} == set(found)


@given(st.integers(-(2**70), 2**70), st.integers(0, 80))
def test_shares_are_sharp_in_small_cells_and_far_out(centre, bits):
    cell = Cell(centre % (20 << bits) - (10 << bits), bits)
    with working_precision(800):
        edges = [(arb((cell.centre + side, -cell.bits)) / arb(2).sqrt()).erf() for side in (-1, 0, 1)]
        expected = (edges[1] - edges[0]) / (edges[2] - edges[0])
    with working_precision(100):
        assert abs(left_share(cell) - expected) < arb(2) ** -90


def test_halves_lie_in_their_cell_and_next_to_each_other():
    cell = Cell.around(-5, 3)
    left, right = cell.half(right=False), cell.half(right=True)
    with working_precision(64):
        assert cell.ball().contains(left.ball())
        assert cell.ball().contains(right.ball())
        assert cell.ball().mid() == left.ball().upper() == right.ball().lower()


def test_numbers_that_are_never_known_well_enough_are_an_error():
    with pytest.raises(Unsupported, match="DPA202"):
        Cell(0, DEEPEST).half(right=True)
    with pytest.raises(Unsupported, match="DPA202"):
        drawn_reals(OsBitSource()).digits(range(1), DEEPEST)


@pytest.mark.parametrize(
    ("name", "size"),
    [("normal_bits", -1), ("normal_bits", 57), ("uniform_bits", 0), ("uniform_bits", 65), ("step", 0), ("step", 65)],
)
def test_sizes_that_machine_words_do_not_hold_are_refused(name, size):
    with pytest.raises(InvalidArgument, match="DPA103"):
        Revealing(**{name: size})


@pytest.mark.parametrize("bits", [1, 4, 33, 64])
@pytest.mark.parametrize("terms", [1, 2, 511, 513, 5000])
def test_the_sum_of_exponentials_lies_within_its_error(bits, terms):
    digits = np.random.default_rng(terms).integers(1, 2**bits - 1, (4, terms), dtype=np.uint64, endpoint=True)
    digits[3] = 2**bits - 1
    values, errors = euclidean_noise._twice_exponentials(digits, bits)
    with working_precision(200):
        for row, value, error in zip(digits.tolist(), values.tolist(), errors.tolist(), strict=True):
            for more in (0, 1):
                expected = -2 * sum((arb((each + more, -bits)).log() for each in row), start=arb(0))
                assert abs(expected - value) <= error
    assert bits < 64 or (errors < 2.0**-49 * terms).all()


def test_a_digit_string_of_zeros_leaves_the_exponential_unbounded():
    with np.errstate(divide="ignore"):
        _, errors = euclidean_noise._twice_exponentials(np.array([[0, 3]], dtype=np.uint64), 4)
    assert np.isinf(errors[0])


DRAWS = {1: 1_000_000, 2: 500_000, 3: 333_334, 50: 20_000}


def distance(sample, cumulative):
    """Largest distance of an empirical from a continuous distribution function."""
    values = cumulative(np.sort(sample))
    steps = np.arange(len(sample) + 1) / len(sample)
    return max((steps[1:] - values).max(), (values - steps[:-1]).max())


def allowed(count):
    """Dvoretzky-Kiefer-Wolfowitz-Massart: a larger distance has a probability of at most 1e-9."""
    return math.sqrt(math.log(2e9) / (2 * count))


@pytest.mark.parametrize("dimension", DRAWS)
def test_the_length_is_gamma_distributed_and_the_direction_uniform_whatever_the_length(dimension):
    from scipy.special import betainc, gammainc

    count, scale, shape = DRAWS[dimension], 2**24, (dimension - 1) / 2
    drawn = EuclideanLaplace(scale, dimension=dimension).sample(count, source=source_from(np.random.default_rng(dimension)))
    vectors = drawn / scale
    lengths = np.sqrt((vectors**2).sum(axis=1))
    assert distance(lengths, lambda length: gammainc(dimension, length)) <= allowed(count) + math.sqrt(dimension) / scale
    for axis in (np.eye(dimension)[0], np.eye(dimension)[-1], np.ones(dimension), np.arange(1, dimension + 1)):
        shares = vectors @ axis / np.sqrt(axis @ axis) / np.maximum(lengths, 1e-300)
        for part in (shares, shares[lengths > dimension], shares[lengths <= dimension]):
            if dimension == 1:
                assert abs((part > 0).mean() - 0.5) <= allowed(len(part)) + 2.0**-20
            else:
                assert (
                    distance((part + 1) / 2, lambda share: betainc(shape, shape, np.clip(share, 0, 1)))
                    <= allowed(len(part)) + 2.0**-10 / 8
                )


def test_coarse_numbers_follow_the_same_law():
    from scipy.special import gammainc

    reals = drawn_reals(source_from(np.random.default_rng(17)), COARSE)
    drawn = draw_vectors(Fraction(100), 3, 500, reals) + np.random.default_rng(1).uniform(-0.5, 0.5, (500, 3))
    lengths = np.sqrt((drawn**2).sum(axis=1)) / 100
    assert distance(lengths, lambda length: gammainc(3, length)) <= allowed(500) + 0.02
