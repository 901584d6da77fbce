"""What ships does what its proven program does: on every tape of noise of few bits, and on random tapes at full size."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms import (
    AboveThreshold,
    DiscreteGaussianMechanism,
    DiscreteLaplace,
    GaussianMechanism,
    HistogramMechanism,
    LaplaceMechanism,
    NoisyMax,
    SparseVector,
    noisy_max,
)
from mechanisms.laws.law import Sampler
from proofs import additive, sparse_vector
from proofs import noisy_max as choices
from tests.support.sources import NeedBits, TapeSource

INPUTS = [row for size in range(1, 5) for row in itertools.product((-1, 0, 1), repeat=size)]


class FewBits:
    """Noise that is uniform from -1 on: a law small enough to enumerate whole releases."""

    scale = Fraction(1)

    def __init__(self, bits=1):
        self.bits = bits
        self.sampler = Sampler(lambda source, n, _: self.sample(n, source=source), self.one, 2**bits)

    def one(self, source):
        return source.bits(self.bits) - 1

    def sample(self, n=None, *, source, wide=False):
        if n is None:
            return self.one(source)
        return source.uniform(self.bits, n).astype(np.int64) - 1 if n else np.zeros(0, dtype=np.int64)


def ended(work, tape):
    """What a release gives on a tape, and how many bits it leaves; None where it needs more."""
    try:
        return work(tape), tape.remaining
    except NeedBits:
        return None


def same_on_every_tape(shipped, program, bits):
    """Whether both give the same and leave the same on all tapes of so many bits; gives how many of them sufficed."""
    found = [(ended(shipped, TapeSource(tape, bits)), ended(program, TapeSource(tape, bits))) for tape in range(2**bits)]
    assert [program for _, program in found] == [shipped for shipped, _ in found]
    return sum(program is not None for _, program in found)


def whole_run(run, values):
    """All answers of a run."""
    return [run.ask(value) for value in values if run.left]


def numbered_run(run, values):
    """All answers of a run, and its numbers."""
    copies = [run.ask_number(value) for value in values if run.left]
    return [copy is not None for copy in copies], [copy for copy in copies if copy is not None]


def with_few_bits(mechanism):
    """A run's mechanism with noise of few bits: two for the threshold, one for questions and numbers."""
    noise = {"threshold": FewBits(2), "query": FewBits()} | ({"number": FewBits()} if mechanism._comparisons.number else {})
    mechanism.__dict__["_comparisons"] = replace(mechanism._comparisons, **noise)
    return mechanism


def draws(mechanism, tape):
    """The program's sampler: the mechanism's own law of this scale, on a tape."""
    laws = mechanism._comparisons
    scales = {mechanism.threshold_scale: laws.threshold, mechanism.query_scale: laws.query}
    if laws.number is not None:
        scales[mechanism.number_scale] = laws.number
    assert len(scales) == 2 + (laws.number is not None), "a scale would not say which law is meant"
    return lambda scale: int(scales[scale].sample(source=tape, wide=True))


def answers(mechanism, threshold, values, tape):
    """What the program answers."""
    program = sparse_vector.monotonic_answers if mechanism.monotonic else sparse_vector.answers
    scales = mechanism.threshold_scale, mechanism.query_scale
    most = getattr(mechanism, "cutoff", 1)
    return program(list(values), threshold, most, *scales, discrete_laplace=draws(mechanism, tape))


RUNS = {
    "above threshold": lambda: AboveThreshold(sensitivity=1, epsilon=1),
    "above threshold, monotonic": lambda: AboveThreshold(sensitivity=1, epsilon=1, monotonic=True, threshold_share="1/3"),
    "sparse vector": lambda: SparseVector(sensitivity=1, epsilon=1, cutoff=2),
    "sparse vector, monotonic": lambda: SparseVector(sensitivity=1, epsilon=1, cutoff=3, monotonic=True, threshold_share="1/5"),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_its_program_on_every_tape(name):
    mechanism = with_few_bits(RUNS[name]())
    for values in INPUTS:
        bits = 2 + len(values)
        enough = same_on_every_tape(
            lambda tape, values=values: whole_run(mechanism.start(0, tape), values),
            lambda tape, values=values: answers(mechanism, 0, values, tape),
            bits,
        )
        assert enough == 2**bits


@pytest.mark.parametrize("name", ["above threshold", "sparse vector"])
def test_one_of_many_runs_is_its_program_on_every_tape(name):
    mechanism = with_few_bits(RUNS[name]())

    def shipped(values, tape):
        if name == "sparse vector":
            return [bool(answer) for answer in mechanism.releases(0, values, 1, tape)[0].tolist() if answer >= 0]
        place = int(mechanism.releases(0, values, 1, tape)[0])
        return [False] * place + [True] * (place < len(values))

    for values in INPUTS:
        same_on_every_tape(
            lambda tape, values=values: shipped(values, tape),
            lambda tape, values=values: answers(mechanism, 0, values, tape),
            2 + len(values),
        )


def test_a_run_with_numbers_is_its_program_on_every_tape():
    mechanism = with_few_bits(SparseVector(sensitivity=1, epsilon=1, cutoff=2, number_share="1/3"))
    scales = mechanism.threshold_scale, mechanism.query_scale, mechanism.number_scale
    for values in INPUTS:
        bits = 4 + len(values)
        enough = same_on_every_tape(
            lambda tape, values=values: numbered_run(mechanism.start(0, tape), values),
            lambda tape, values=values: sparse_vector.numbers(list(values), 0, 2, *scales, discrete_laplace=draws(mechanism, tape)),
            bits,
        )
        assert enough == 2**bits


@pytest.mark.parametrize("name", RUNS)
def test_at_full_size_runs_are_their_program_on_random_tapes(name):
    mechanism, rng = RUNS[name](), np.random.default_rng(11)
    positive = 0
    for values in [rng.integers(-12, 12, 8).tolist() for _ in range(60)]:
        tape = int.from_bytes(rng.bytes(1500), "big")
        shipped = ended(lambda source, values=values: whole_run(mechanism.start(2, source), values), TapeSource(tape, 12_000))
        program = ended(lambda source, values=values: answers(mechanism, 2, values, source), TapeSource(tape, 12_000))
        assert program == shipped
        positive += sum(program[0])
    assert positive > 30


@given(
    sensitivity=st.integers(1, 50),
    epsilon=st.fractions("1/100", 100, max_denominator=1000),
    cutoff=st.integers(1, 100),
    shares=st.tuples(*[st.fractions("1/100", "49/100", max_denominator=100)] * 2),
    monotonic=st.booleans(),
)
def test_the_scales_of_a_run_cost_its_epsilon(sensitivity, epsilon, cutoff, shares, monotonic):
    mechanism = SparseVector(
        sensitivity=sensitivity,
        epsilon=epsilon,
        cutoff=cutoff,
        threshold_share=shares[0],
        number_share=shares[1],
        monotonic=monotonic,
    )
    moves = cutoff if monotonic else 2 * cutoff
    cost = 1 / mechanism.threshold_scale + moves / mechanism.query_scale + cutoff / mechanism.number_scale
    assert epsilon == sensitivity * cost
    single = AboveThreshold(sensitivity=sensitivity, epsilon=epsilon, threshold_share=shares[0], monotonic=monotonic)
    assert epsilon == sensitivity * (1 / single.threshold_scale + (1 if monotonic else 2) / single.query_scale)


NOISES = {
    "Laplace": lambda: LaplaceMechanism(sensitivity=1, epsilon=1),
    "Gaussian": lambda: GaussianMechanism(sensitivity=1, sigma=1),
    "discrete Gaussian": lambda: DiscreteGaussianMechanism(sensitivity=1, sigma=1),
}


def noisy(mechanism):
    """A mechanism with additive noise of two bits, and what its program draws from."""
    law = FewBits(2)
    mechanism.__dict__["_noise"] = replace(mechanism._noise, law=law)
    return mechanism, law


@pytest.mark.parametrize("name", NOISES)
def test_a_number_is_released_as_its_program_does_on_every_tape(name):
    mechanism, law = noisy(NOISES[name]())
    for value in (-1, 0, 1):
        enough = same_on_every_tape(
            lambda tape, value=value: mechanism.release(value, tape),
            lambda tape, value=value: additive.number([value], Fraction(1), 1, discrete_laplace=lambda _: law.one(tape)),
            2,
        )
        assert 4 == enough


@pytest.mark.parametrize("name", NOISES)
def test_an_array_is_released_as_its_program_does_on_every_tape(name):
    mechanism, law = noisy(NOISES[name]())
    for values in [row for row in INPUTS if len(row) <= 3]:
        enough = same_on_every_tape(
            lambda tape, values=values: mechanism.release(np.array(values), tape).tolist(),
            lambda tape, values=values: additive.array(list(values), Fraction(1), 1, discrete_laplace=lambda _: law.one(tape)),
            2 * len(values),
        )
        assert 4 ** len(values) == enough


@pytest.mark.parametrize("noise", [{"epsilon": 1}, {"sigma": 1}])
def test_a_histogram_is_released_as_its_program_does_on_every_tape(noise):
    mechanism = HistogramMechanism([-1, 0, 1], **noise)
    _, law = noisy(mechanism._mechanism)
    for records in [(), *INPUTS]:
        counts = [records.count(category) for category in (-1, 0, 1)]
        same_on_every_tape(
            lambda tape, records=records: mechanism.release(list(records), tape).tolist(),
            lambda tape, counts=counts: additive.array(counts, Fraction(1), 1, discrete_laplace=lambda _: law.one(tape)),
            6,
        )


def test_at_full_size_numbers_are_released_as_their_program_does_on_random_tapes():
    mechanism, law, rng = LaplaceMechanism(sensitivity=1, scale=40), DiscreteLaplace(40), np.random.default_rng(12)
    for value in range(-30, 30):
        tape = int.from_bytes(rng.bytes(150), "big")
        expected = ended(
            lambda source, value=value: additive.number(
                [value], Fraction(40), 1, discrete_laplace=lambda _: int(law.sample(source=source, wide=True))
            ),
            TapeSource(tape, 1200),
        )
        assert expected == ended(lambda source, value=value: mechanism.release(value, source), TapeSource(tape, 1200))


def odds_of(shipped, value=0, bits=0):
    """The odds of what a release gives over all tapes, until 2^-14 of a branch is open, and what is left open."""
    if bits > 14:
        return {}, Fraction(1, 2**bits)
    tape = TapeSource(value, bits)
    try:
        found = shipped(tape)
    except NeedBits as needed:
        more = [odds_of(shipped, value << needed.count | tail, bits + needed.count) for tail in range(2**needed.count)]
        places = {place for odds, _ in more for place in odds}
        return {place: sum(odds.get(place, Fraction(0)) for odds, _ in more) for place in places}, sum(left for _, left in more)
    return {found: Fraction(1, 2**bits)}, Fraction(0)


def mean_over_orders(program, values, noises):
    """The odds of the program's choices, with the candidates put into every order and all noise."""
    orders = list(itertools.permutations(range(len(values))))
    odds = {}
    for order in orders:
        for noise in itertools.product(noises, repeat=len(values)):
            stream = iter(noise)
            place = order[program([values[one] for one in order], lambda _, stream=stream: next(stream))]
            odds[place] = odds.get(place, 0) + Fraction(1, len(orders) * len(noises) ** len(values))
    return odds


PROGRAMS = {
    "geometric": lambda q, draw: choices.geometric_choice(q, Fraction(1), geometric=draw),
    "laplace": lambda q, draw: choices.laplace_choice(q, Fraction(1), discrete_laplace=draw),
    "geometric, monotonic": lambda q, draw: choices.monotonic_geometric_choice(q, Fraction(1), geometric=draw),
    "laplace, monotonic": lambda q, draw: choices.monotonic_laplace_choice(q, Fraction(1), discrete_laplace=draw),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_noisy_maximum_is_its_program_in_a_random_order(name, monkeypatch):
    shipped = noisy_max.greatest
    monkeypatch.setattr(noisy_max, "greatest", lambda noisy, source: shipped(noisy, source, 2))
    mechanism = NoisyMax(sensitivity=1, epsilon=1, noise=name.partition(",")[0], monotonic="monotonic" in name)
    mechanism.__dict__["_law"] = FewBits()
    for values in INPUTS if name == "geometric" else [row for row in INPUTS if len(row) <= 3]:
        found, left = odds_of(lambda tape, values=values: mechanism.release(list(values), tape))
        assert left <= Fraction(1, 2**9)
        for place, chance in mean_over_orders(PROGRAMS[name], values, (-1, 0)).items():
            assert found.get(place, 0) <= chance <= found.get(place, 0) + left
