"""Laws that a review found to be wrong: what each says now, or that it is refused."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest
from flint import arb

from dpaudit.accounting import (
    CyclicPoisson,
    MinSeparation,
    Poisson,
    RandomAllocation,
    SampledWithReplacement,
    Shuffle,
    Single,
    TruncatedPoisson,
    bounded_range,
    compose,
    gaussian,
    gaussian_mixture,
    matrix_mechanism,
    mixture,
    pure_dp,
    toeplitz,
    zcdp,
)
from dpaudit.accounting.laws.allocation import Fused
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.distributions import Halved, Thinned, distribution_of
from dpaudit.accounting.laws.gaussian import SquaredGaussian
from dpaudit.accounting.laws.groups import SplitGroup
from dpaudit.accounting.laws.mixed_responses import MixedResponses
from dpaudit.accounting.laws.response import Response
from dpaudit.accounting.laws.sampled import Sampled
from dpaudit.accounting.model.distribution import Points
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.interop import from_dp_accounting

BANDS = toeplitz([1, "1/2"], steps=4)
CUT = gaussian(sigma=2).sampled(TruncatedPoisson(rate="1/4", cap=2, records=9))
LN2 = "0.6931471805599453"


def refused(ask):
    """The message of a refusal."""
    with pytest.raises(Unsupported, match="DPA202") as found:
        ask()
    return str(found.value)


def test_a_replaced_record_of_a_sampled_matrix_is_one_taken_out_and_one_put_in():
    once = matrix_mechanism(
        toeplitz([1], steps=1), noise_multiplier=1, participation=CyclicPoisson(rate="1/10", bands=1), adjacency="replace_one"
    )
    swapped = gaussian(sigma=1).sampled(Poisson("1/10")).under("replace_one")
    assert once.delta(epsilon=1).lower == swapped.delta(epsilon=1).lower
    assert abs(once.delta(epsilon=1).upper - Fraction("0.00032728440697453553498")) < Fraction(1, 10**22)
    kept = matrix_mechanism(BANDS, noise_multiplier=2, participation=CyclicPoisson(rate="1/10", bands=2), adjacency="zero_out")
    left_out = matrix_mechanism(BANDS, noise_multiplier=2, participation=CyclicPoisson(rate="1/10", bands=2))
    assert kept.parts == left_out.parts
    assert kept.adjacency.kind == "zero_out"


@pytest.mark.parametrize("participation", [Single(), MinSeparation(2, 2), CyclicPoisson(rate=1, bands=2)])
def test_a_replaced_record_moves_a_matrix_twice_as_far(participation):
    near, far = (
        matrix_mechanism(BANDS, noise_multiplier=noise, participation=participation, adjacency=adjacency).gdp()
        for noise, adjacency in ((2, "add_remove"), (4, "replace_one"))
    )
    assert near.lower <= far.upper
    assert far.lower <= near.upper
    assert "add_remove" in refused(
        lambda: matrix_mechanism(BANDS, noise_multiplier=2, participation=participation, adjacency="hamming")
    )


def test_groups_of_promises_in_samples_are_between_two_laws():
    sampled = pure_dp(LN2).sampled(Poisson("999/1000"))
    single = sampled.delta(epsilon=0)
    for loss in (sampled.user(records=2), sampled.group(added=2), sampled.group(removed=1, added=2)):
        ((law, _),) = loss.parts
        assert isinstance(law, Between)
        assert isinstance(law.upper, MixedResponses)
    for loss in (sampled.user(records=2), sampled.group(added=2), sampled.group(2)):
        found = loss.delta(epsilon=0)
        assert single.lower <= found.lower <= Fraction(1, 2) <= found.upper
        assert loss.renyi(order=2).lower <= sampled.group(2).renyi(order=2).upper
    ((pair, _),) = sampled.under("replace_one").parts
    assert isinstance(pair, MixedResponses)
    for group in (sampled.user(records=2), sampled.group(added=2), sampled.reversed().group(added=2)):
        assert single.lower <= group.delta(epsilon=0).lower <= single.upper
        assert group.reversed().reversed() == group


def test_moments_of_split_groups_of_promises_say_nothing_from_below():
    ((promise, _),), ((noise, _),) = (loss.sampled(Poisson("1/2")).group(2).parts for loss in (pure_dp(1), gaussian(sigma=1)))
    assert isinstance(promise, SplitGroup)
    assert promise.log_moment(Fraction(1)).lower() <= 0 < promise.log_moment(Fraction(1)).upper()
    assert noise.log_moment(Fraction(1)) > 0


def test_bounded_range_on_a_shared_sample_is_a_class_of_mechanisms():
    shared = compose(bounded_range(epsilon=2), pure_dp("1e-9")).sampled(Poisson(1), together=True)
    plain, found = (2 * bounded_range(epsilon=2)).delta(epsilon=1), (2 * shared).delta(epsilon=1)
    assert found.lower <= Fraction("0.337835")
    assert plain.lower <= found.upper
    ((law, _),) = shared.parts
    assert isinstance(law, Between)
    assert Fraction(1) in {part.epsilon for part, _ in law.lower.parts if isinstance(part, Response)}


@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one"])
def test_bounded_range_in_one_of_several_steps_is_a_class_of_mechanisms(adjacency):
    scheme = RandomAllocation if adjacency == "add_remove" else Shuffle
    loss, symmetric = (law.sampled(scheme(2)) for law in (bounded_range(2, adjacency=adjacency), pure_dp(1, adjacency=adjacency)))
    ((law, _),), ((other, _),) = loss.parts, symmetric.parts
    assert not isinstance(other, Between) or law.lower == other.lower
    assert "bounded_range" not in law.lower.describe()
    found = loss.delta(epsilon=0, direction=loss.directions[0])
    assert found.lower <= Fraction("0.359815") <= found.upper


def test_points_that_are_not_known_are_no_certain_infinite_loss():
    points = Fused(SquaredGaussian(Fraction(2**42), "far"), 2).points(44)
    assert points.p_infinity.contains(0)
    assert points.p_infinity.contains(1)
    ((law, _),) = gaussian(sigma=Fraction(1, 2**21)).sampled(RandomAllocation(2)).parts
    assert "sums are seen" in law.lower.describe()  # which may take a while here, so no number is asked for
    assert law.lower.beside == Sampled(law.upper.law, Fraction(1, 2), removing=True)


def test_points_on_no_certain_side_of_0_are_not_known():
    class Undecided:
        """Half of everything at a place that may be 0."""

        def points(self, tail):
            return Points(((arb(0, 1e-9), arb("0.5"), arb("0.5")),), arb(0), arb(0))

        def sides(self, losses):
            return distribution_of(SquaredGaussian(Fraction(1), "one")).sides(losses)

    found = Halved(Undecided(), Fraction(1, 2))
    assert isinstance(found._directions()[0], Thinned)
    points = found.points(44)
    assert not points.finite
    assert points.p_infinity.contains(0)
    assert points.p_infinity.contains(1)


@pytest.mark.parametrize(
    "nested",
    [
        lambda: CUT.sampled(Poisson("1/2")),
        lambda: mixture([("1/2", CUT), ("1/2", pure_dp(1))]),
        lambda: mixture([("1/2", CUT), ("1/2", pure_dp(1))], revealed=False),
        lambda: compose(CUT, pure_dp(1)).sampled(Poisson("1/2"), together=True),
        lambda: compose(CUT, pure_dp(1)).sampled(Poisson(1), together=True),
        lambda: CUT.sampled(RandomAllocation(2)),
        CUT.dominating,
        lambda: CUT.dominating().reversed(),
    ],
)
def test_cut_batches_inside_other_laws_are_not_read_under_another_adjacency(nested):
    for adjacency in ("zero_out", "replace_one"):
        refused(lambda adjacency=adjacency: nested().under(adjacency))


def test_laws_without_cut_batches_keep_what_they_are_under_zero_out():
    loss = compose(gaussian(sigma=1).sampled(Poisson("1/2")), pure_dp(1).sampled(Poisson("1/2"))).under("zero_out")
    assert loss.adjacency.kind == "zero_out"
    assert CUT.under("zero_out").delta(epsilon="1/10").upper > CUT.delta(epsilon="1/10").upper


def test_events_of_truncated_batches_are_not_read_under_replace_one():
    kind = type("TruncatedSubsampledGaussianDpEvent", (SimpleNamespace,), {"__module__": "dp_accounting.dp_event"})
    event = kind(dataset_size=9, sampling_probability=0.25, truncated_batch_size=2, noise_multiplier=2.0)
    assert from_dp_accounting(event) == CUT
    assert from_dp_accounting(event, adjacency="zero_out") == CUT.under("zero_out")
    assert "under('replace_one')" in refused(lambda: from_dp_accounting(event, adjacency="replace_one"))


def test_mixtures_of_gaussians_are_stated_for_a_record_that_is_left_out():
    stated = {"sigma": 1, "sensitivities": [0, 1], "weights": ["9/10", "1/10"]}
    for adjacency in ("replace_one", "hamming"):
        with pytest.raises(InvalidArgument, match=r'DPA103.*\.under\("replace_one"\)'):
            gaussian_mixture(**stated, adjacency=adjacency)
    swapped = gaussian(sigma=1).sampled(Poisson("1/10")).under("replace_one").delta(epsilon=1)
    for loss in (gaussian_mixture(**stated), gaussian_mixture(**stated).reversed()):
        assert loss.under("replace_one").delta(epsilon=1).upper == swapped.upper
    refused(lambda: gaussian(sigma=1).sampled(Poisson("1/10")).user(records=2).under("replace_one"))


@pytest.mark.parametrize("adjacency", ["replace_one", "zero_out"])
def test_numbers_of_removed_and_added_records_are_about_add_remove(adjacency):
    loss = gaussian(sigma=1, adjacency=adjacency)
    for ask in (lambda: loss.user(records=2), lambda: loss.group(removed=1, added=1), lambda: loss.group(added=1)):
        assert "group(size)" in refused(ask)
    assert loss.group(2).gdp().upper == 2


@pytest.mark.parametrize("mu", [Fraction(1, 20000), Fraction(1, 10**6), Fraction(1, 10**12)])
def test_ratios_next_to_1_have_no_places_in_geometric_progression(mu):
    ((law, _),) = gaussian(sigma=1 / mu).sampled(RandomAllocation(2)).parts
    assert "sums are seen" in law.lower.describe()
    assert law.lower.beside is not None
    assert Fused(SquaredGaussian(mu**2, "near"), 2).points(44).finite == ()


def test_promises_on_draws_with_replacement_have_a_profile():
    scheme = SampledWithReplacement(size=10, of=1000)
    found = pure_dp(1, adjacency="replace_one").sampled(scheme).delta(epsilon="1/10")
    assert found.upper < Fraction("1e-7")
    assert bounded_range(1, adjacency="replace_one").sampled(scheme).delta(epsilon="1/10").upper < found.upper
    # At epsilon 0: the chance of every number of copies with what a promise allows at that distance.
    whole = pure_dp(1, adjacency="replace_one").sampled(SampledWithReplacement(size=1, of=10)).delta(epsilon=0)
    assert abs(float(whole.upper) - 0.1 * 0.46211715726) < 1e-9
    refused(lambda: zcdp(1, adjacency="replace_one").sampled(scheme))
