"""Events of dp-accounting become the losses they stand for, and back; stand-ins here, the library in benchmarks/adapters.py."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from functools import partial
from itertools import zip_longest
from types import SimpleNamespace

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from dpaudit.accounting import (
    Poisson,
    SampledWithReplacement,
    Shuffle,
    TruncatedPoisson,
    WithoutReplacement,
    approx_dp,
    best_of_poisson_runs,
    compose,
    discrete_laplace,
    explicit_pair,
    gaussian,
    gaussian_mixture,
    laplace,
    pure_dp,
    zcdp,
)
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.interop import from_dp_accounting, to_dp_accounting


def event(kind, **fields):
    """A stand-in with the class name, module and attributes of an event."""
    return type(kind, (SimpleNamespace,), {"__module__": "dp_accounting.dp_event"})(**fields)


GAUSSIAN = event("GaussianDpEvent", noise_multiplier=2.0)
NOTHING = event("NoOpDpEvent")


@pytest.mark.parametrize(
    ("given", "loss"),
    [
        (GAUSSIAN, gaussian(sigma=2)),
        (event("GaussianDpEvent", noise_multiplier=0.1), gaussian(sigma=Fraction(0.1))),
        (event("LaplaceDpEvent", noise_multiplier=0.5), laplace(scale="1/2")),
        (event("DiscreteLaplaceDpEvent", noise_parameter=0.25, sensitivity=3), discrete_laplace(scale=4, sensitivity=3)),
        (event("ZCDpEvent", rho=0.5, xi=0.0), zcdp("1/2")),
        (event("SelfComposedDpEvent", event=GAUSSIAN, count=7), 7 * gaussian(sigma=2)),
        (event("SelfComposedDpEvent", event=GAUSSIAN, count=0), 0 * gaussian(sigma=2)),
        (NOTHING, 0 * gaussian(sigma=2)),
        (event("ComposedDpEvent", events=[]), 0 * gaussian(sigma=2)),
        (
            event("ComposedDpEvent", events=[GAUSSIAN, NOTHING, event("LaplaceDpEvent", noise_multiplier=3.0), GAUSSIAN]),
            compose(2 * gaussian(sigma=2), laplace(scale=3)),
        ),
        (event("PoissonSampledDpEvent", sampling_probability=0.25, event=GAUSSIAN), gaussian(sigma=2).sampled(Poisson("1/4"))),
        (event("PoissonSampledDpEvent", sampling_probability=0.25, event=NOTHING), 0 * gaussian(sigma=2)),
    ],
)
def test_an_event_is_the_loss_it_stands_for(given, loss):
    assert loss == from_dp_accounting(given)


@pytest.mark.parametrize(
    ("given", "loss"),
    [
        (GAUSSIAN, gaussian(sigma=2, adjacency="replace_one")),
        (
            event("RandomizedResponseDpEvent", noise_parameter=0.5, num_buckets=4),
            explicit_pair(["5/8", "1/8", "1/4"], ["1/8", "5/8", "1/4"], adjacency="replace_one"),
        ),
        (
            event("SampledWithoutReplacementDpEvent", source_dataset_size=100, sample_size=10, event=GAUSSIAN),
            gaussian(sigma=2, adjacency="replace_one").sampled(WithoutReplacement(size=10, of=100)),
        ),
    ],
)
def test_an_event_is_read_under_the_adjacency_that_is_stated(given, loss):
    assert loss == from_dp_accounting(given, adjacency="replace_one")


@pytest.mark.parametrize(("counts", "height"), [(1, 1), (2, 2), (3, 2), (4, 3), ([3, 9], 4), ([8, 7], 4)])
def test_a_record_is_in_as_many_nodes_as_its_tree_is_high(counts, height):
    trees = event("SingleEpochTreeAggregationDpEvent", noise_multiplier=4.0, step_counts=counts)
    assert height * gaussian(sigma=4, adjacency="zero_out") == from_dp_accounting(trees, adjacency="zero_out")


@pytest.mark.parametrize(
    "given",
    [
        event("NonPrivateDpEvent"),
        event("UnsupportedDpEvent"),
        event("RepeatAndSelectDpEvent", event=event("NonPrivateDpEvent"), mean=3.0, shape=1.0),
        event("ZCDpEvent", rho=0.5, xi=0.1),
        event("ComposedDpEvent", events=[GAUSSIAN, event("NonPrivateDpEvent")]),
        event("SomethingNewDpEvent"),
        event("SampledWithReplacementDpEvent", source_dataset_size=9, sample_size=2, event=GAUSSIAN),
        event("SampledWithoutReplacementDpEvent", source_dataset_size=9, sample_size=2, event=GAUSSIAN),
        event("PoissonSampledDpEvent", sampling_probability=0.25, event=event("NonPrivateDpEvent")),
        event("SingleEpochTreeAggregationDpEvent", noise_multiplier=4.0, step_counts=3),
        event("RandomizedResponseDpEvent", noise_parameter=0.5, num_buckets=4),
    ],
)
def test_an_event_without_a_law_is_refused(given):
    with pytest.raises(Unsupported, match="DPA202"):
        from_dp_accounting(given)


@pytest.mark.parametrize(
    "given",
    [
        object(),
        3.0,
        event("GaussianDpEvent", noise_multiplier=0.0),
        event("GaussianDpEvent", noise_multiplier=float("nan")),
        event("SelfComposedDpEvent", event=GAUSSIAN, count=-1),
        event("PoissonSampledDpEvent", sampling_probability=2.0, event=GAUSSIAN),
    ],
)
def test_what_is_no_event_is_refused(given):
    with pytest.raises(InvalidArgument, match="DPA10"):
        from_dp_accounting(given)


FIELDS = {
    "ComposedDpEvent": ("events",),
    "DiscreteLaplaceDpEvent": ("noise_parameter", "sensitivity"),
    "GaussianDpEvent": ("noise_multiplier",),
    "LaplaceDpEvent": ("noise_multiplier",),
    "NoOpDpEvent": (),
    "PoissonSampledDpEvent": ("sampling_probability", "event"),
    "RandomizedResponseDpEvent": ("noise_parameter", "num_buckets"),
    "SampledWithoutReplacementDpEvent": ("source_dataset_size", "sample_size", "event"),
    "SelfComposedDpEvent": ("event", "count"),
    "ZCDpEvent": ("rho", "xi"),
}


def written(kind, *values):
    """An event with the values of its fields in their order; xi is 0 unless given."""
    return event(kind, **dict(zip_longest(FIELDS[kind], values, fillvalue=0)))


@pytest.fixture(scope="module")
def library():
    """A stand-in for the module of events, whose classes take their fields in the order of the library's."""
    made = {kind: partial(written, kind) for kind in FIELDS}
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "dp_accounting", SimpleNamespace())
        patch.setitem(sys.modules, "dp_accounting.dp_event", SimpleNamespace(**made))
        yield


floats = st.floats(2**-10, 2**10)
rates = st.integers(1, 2**20 - 1).map(lambda number: Fraction(number, 2**20))
additive = st.builds(gaussian, sigma=floats) | st.builds(laplace, scale=floats) | st.builds(zcdp, floats)
steps = st.builds(
    lambda power, size: discrete_laplace(scale=Fraction(2) ** power, sensitivity=size), st.integers(-9, 9), st.integers(1, 9)
)
sampled = st.builds(
    lambda loss, rate: loss.sampled(Poisson(rate)), st.builds(gaussian, sigma=floats) | st.builds(laplace, scale=floats), rates
)
losses = st.lists(st.tuples(st.integers(1, 5), additive | steps | sampled), max_size=4).map(
    lambda parts: compose(0 * pure_dp(0), *(count * loss for count, loss in parts))
)


@drawn(losses)
def test_what_is_written_is_read_as_the_same_loss(library, loss):
    assert loss == from_dp_accounting(to_dp_accounting(loss))


@drawn(st.sampled_from((0.5, 0.25, 0.375)), st.sampled_from((2, 4, 8, 3)), st.integers(1, 5))
def test_what_is_about_replacing_is_written_and_read_too(library, noise, buckets, size):
    answers = event("RandomizedResponseDpEvent", noise_parameter=noise, num_buckets=buckets)
    sample = gaussian(sigma=2, adjacency="replace_one").sampled(WithoutReplacement(size=size, of=50))
    for loss in (from_dp_accounting(answers, adjacency="replace_one"), sample):
        assert loss == from_dp_accounting(to_dp_accounting(loss), adjacency="replace_one")


def test_a_sensitivity_is_divided_out_of_the_noise(library):
    assert gaussian(sigma=2) == from_dp_accounting(to_dp_accounting(gaussian(sigma=6, sensitivity=3)))


@pytest.mark.parametrize(
    "loss",
    [
        gaussian(sigma="1.1"),
        gaussian(sigma=Fraction(1, 3)),
        gaussian(sigma=10**400),
        pure_dp(1),
        approx_dp(1, delta="1e-6"),
        explicit_pair(["3/4", "1/4"], ["1/2", "1/2"]),
        explicit_pair(["1/2", "1/3", "1/6"], ["1/6", "1/3", "1/2"]),
        pure_dp(1, adjacency="replace_one").sampled(Shuffle(reports=1000)),
    ],
)
def test_what_no_event_holds_is_not_written(library, loss):
    with pytest.raises(Unsupported, match="DPA202"):
        to_dp_accounting(loss)


def test_what_is_no_loss_is_not_written():
    with pytest.raises(InvalidArgument, match="DPA105"):
        to_dp_accounting(3)


def test_the_library_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    monkeypatch.setitem(sys.modules, "dp_accounting.dp_event", None)
    with pytest.raises(Unsupported, match="DPA205 dp-accounting is not installed"):
        to_dp_accounting(gaussian(sigma=2))


def test_a_selection_is_the_best_of_as_many_runs_as_are_expected():
    def selection(**given):
        return from_dp_accounting(event("RepeatAndSelectDpEvent", event=GAUSSIAN, **given))

    run = from_dp_accounting(GAUSSIAN)
    assert selection(mean=5.0, shape=math.inf) == best_of_poisson_runs(run, mean=5)
    assert run == selection(mean=1.0, shape=2.0)
    # A geometric number of runs stops with the inverse of its mean; two runs are expected of a logarithmic one at 0.2847.
    for mean, shape, stop in ((4.0, 1.0, "0.25"), (10.0, 1.0, "0.1"), (2.0, 0.0, "0.28466814")):
        ((law, count),) = selection(mean=mean, shape=shape).parts
        assert (count, law.rho, law.shape) == (1, run.zcdp().upper, shape)
        assert Fraction(stop) - Fraction(1, 10**8) <= law.stop <= Fraction(stop)


@pytest.mark.parametrize("given", [{"mean": 0.5, "shape": 1.0}, {"mean": 1e300, "shape": 1.0}, {"mean": 3.0, "shape": -1.0}])
def test_a_selection_that_no_number_of_runs_has_is_refused(given):
    with pytest.raises(InvalidArgument, match="DPA103"):
        from_dp_accounting(event("RepeatAndSelectDpEvent", event=GAUSSIAN, **given))


def test_mixtures_batches_and_shared_samples_are_read_as_the_losses_they_are():
    mixed = event("MixtureOfGaussiansDpEvent", standard_deviation=1.0, sensitivities=[0.0, 1.0], sampling_probs=[0.75, 0.25])
    assert from_dp_accounting(mixed) == gaussian_mixture(sigma=1, sensitivities=[0, 1], weights=["3/4", "1/4"])
    cut = event(
        "TruncatedSubsampledGaussianDpEvent",
        dataset_size=9,
        sampling_probability=0.25,
        truncated_batch_size=2,
        noise_multiplier=2.0,
    )
    batch = gaussian(sigma=2).sampled(TruncatedPoisson(rate="1/4", cap=2, records=9))
    assert from_dp_accounting(cut) == batch
    with pytest.raises(Unsupported, match="DPA202"):
        from_dp_accounting(cut, adjacency="replace_one")
    drawn = event("SampledWithReplacementDpEvent", source_dataset_size=9, sample_size=2, event=GAUSSIAN)
    release = gaussian(sigma=2, adjacency="replace_one")
    assert from_dp_accounting(drawn, adjacency="replace_one") == release.sampled(SampledWithReplacement(size=2, of=9))
    twice = event("PoissonSampledDpEvent", sampling_probability=0.25, event=event("SelfComposedDpEvent", event=GAUSSIAN, count=2))
    shared = (2 * gaussian(sigma=2)).sampled(Poisson("1/4"), together=True)
    assert from_dp_accounting(twice).delta(epsilon=1) == shared.delta(epsilon=1)


def test_probabilities_that_miss_one_by_rounding_are_completed_on_the_safe_side():
    weights = [0.7, 0.2, 0.1]
    mixed = event("MixtureOfGaussiansDpEvent", standard_deviation=1.0, sensitivities=[0.0, 1.0, 2.0], sampling_probs=weights)
    ((law, _),) = from_dp_accounting(mixed).parts
    assert sum(weight for _, weight in law.up) == 1
    assert law.up[-1][1] >= Fraction(0.1)
    assert law.up[0][1] <= Fraction(0.7)
    far = event("MixtureOfGaussiansDpEvent", standard_deviation=1.0, sensitivities=[0.0, 1.0], sampling_probs=[0.5, 0.25])
    with pytest.raises(InvalidArgument, match="DPA103"):
        from_dp_accounting(far)
