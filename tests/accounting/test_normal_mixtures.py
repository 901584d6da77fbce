"""Normal losses beside one of bounded range: the closed form against integrals, the lattice and mechanisms that attain it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpaudit.accounting import RandomOrder, bounded_range, compose, explicit_pair, gaussian, pure_dp
from dpaudit.accounting.engines.closed_forms import closed_form, exact_profile
from dpaudit.accounting.engines.tilted import lattice_for
from dpaudit.accounting.laws.random_order import Ordered
from dpaudit.accounting.model.composition import DeltaAt
from dpaudit.accounting.privacy_loss import one_release
from dpaudit.exact import ball, working_precision

FEW = settings(max_examples=20, deadline=None)


def normal_profile(mu, epsilon):
    """Delta of N(mu, 1) against N(0, 1)."""
    if not mu:
        return max(-mp.expm1(epsilon), mpf(0))
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)


def range_profile(width, epsilon):
    """Delta of the worst mechanism of some range."""
    if epsilon <= -width:
        return -mp.expm1(epsilon)
    return (mp.exp(width / 2) - mp.exp(epsilon / 2)) ** 2 / mp.expm1(width) if epsilon < width else mpf(0)


def beside(mu, width, epsilon):
    """Mean over the normal loss of the profile of the range: the mechanism of the range is chosen when that loss is known."""
    if not mu:
        return range_profile(width, epsilon)
    kinks = [epsilon - width, epsilon, epsilon + width]
    mean = mu * mu / 2
    ends = sorted({mean - 12 * mu, *(kink for kink in kinks if abs(kink - mean) < 12 * mu), mean + 12 * mu})
    density = lambda loss: mp.npdf(loss, mean, mu) * range_profile(width, epsilon - loss)  # noqa: E731
    return mp.quad(density, ends)


@FEW
@given(
    sigma=st.fractions(Fraction(1, 3), 6, max_denominator=8),
    width=st.fractions(Fraction(1, 20), 3, max_denominator=20),
    epsilon=st.fractions(0, 3, max_denominator=10),
)
def test_a_gaussian_beside_a_range_costs_the_mean_of_the_ranges_profile(sigma, width, epsilon):
    found = compose(gaussian(sigma), bounded_range(width)).delta(epsilon=epsilon)
    with mp.workdps(25):
        expected = beside(
            1 / mpf(sigma.numerator) * sigma.denominator, mpf(width.numerator) / width.denominator, mpf(float(epsilon))
        )
    assert float(found.lower) == pytest.approx(float(expected), rel=1e-9, abs=1e-15)
    assert found.width <= found.upper * Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("sigma", "width", "epsilon"), [("4", "1/10", "1"), ("2", "1/2", "1"), ("1", "2", "5/2"), ("20", "1/3", "1/5")]
)
def test_the_closed_form_lies_in_the_interval_of_the_lattice(sigma, width, epsilon):
    loss = compose(gaussian(sigma), bounded_range(width))
    exact, lattice = loss.delta(epsilon=epsilon), lattice_for(loss.composition, epsilon=Fraction(epsilon))
    wide = lattice.delta(Fraction(epsilon))
    assert wide.lower <= exact.upper
    assert exact.lower <= wide.upper
    assert wide.width < exact.upper / 100


def test_an_order_beside_a_range_and_more_noise_costs_the_mean_over_orders():
    chances = ((Fraction(0), Fraction(1, 4)), (Fraction(1, 2), Fraction(1, 4)), (Fraction(1), Fraction(3, 8)))
    law = Ordered(Fraction(1, 4), chances, Fraction(1, 8))
    for others, added, width in (
        ((), 0, None),
        ((gaussian(4),), Fraction(1, 16), None),
        ((gaussian(4), bounded_range("1/2")), Fraction(1, 16), 0.5),
    ):
        found = compose(one_release(law, "add_remove"), *others).delta(epsilon="3/10")
        expected = mpf(1) / 8
        with mp.workdps(25):
            for square, chance in chances:
                mu, epsilon = mp.sqrt(mpf(float(square / 4 + added))), mpf(3) / 10
                expected += mpf(float(chance)) * (normal_profile(mu, epsilon) if width is None else beside(mu, mpf(width), epsilon))
        assert float(found.upper) == pytest.approx(float(expected), rel=1e-10)


def test_a_range_of_which_one_mechanism_is_chosen_after_the_noise_attains_the_price():
    """Two groups of losses of the noise, and for each the pair of the range that is worst there."""
    width, epsilon = Fraction(1), Fraction(1, 2)
    noise = pure_dp("1/4")
    found = compose(noise, bounded_range(width)).delta(epsilon=epsilon)
    with mp.workdps(25):
        rise = mp.exp(mpf(1) / 4)
        chances = {1: rise / (1 + rise), -1: 1 / (1 + rise)}
        expected = sum(chance * range_profile(mpf(1), mpf(1) / 2 - sign * mpf(1) / 4) for sign, chance in chances.items())
    assert float(found.lower) == pytest.approx(float(expected), rel=1e-12)


def test_several_ranges_are_left_to_the_lattice():
    assert exact_profile(compose(gaussian(2), 2 * bounded_range(1)).composition) is None
    assert closed_form(compose(gaussian(2), bounded_range(1), bounded_range(2)).composition, DeltaAt(Fraction(1))) is None


@pytest.mark.parametrize("part", [Fraction(1, 4), 1])
def test_members_of_the_range_lose_no_more(part):
    """With losses t and t - 1, for t anywhere in the range."""
    with mp.workdps(20):
        top = mpf(float(part)) * 3 / 4
        high = (mp.e - mp.exp(top)) / (mp.e - 1)
        p_mass, q_mass = 1 - Fraction(str(high)), 1 - Fraction(str(high * mp.exp(-top) if top else high))
    member = explicit_pair([p_mass, 1 - p_mass], [q_mass, 1 - q_mass])
    together, most = compose(gaussian(2), member), compose(gaussian(2), bounded_range("1001/1000"))
    for epsilon in ("0", "1/2", "1"):
        assert together.delta(epsilon=epsilon).lower <= most.delta(epsilon=epsilon).upper


def test_moments_over_orders_are_direct_sums():
    order = RandomOrder(records=1000, batches=(500, 250, 125), averaged=True, rounds=2)
    ((law, _),) = gaussian("3.6", adjacency="replace_one").sampled(order).dominating().parts
    with working_precision(128):
        for power in (Fraction(1, 1000), Fraction(3), Fraction(50)):
            slope = ball(power * (1 + power) * law.mu_squared_once / 2)
            direct = sum((ball(chance) * (slope * ball(square)).exp() for square, chance in law.squares), arb(0)).log()
            assert law.log_moment(power).overlaps(direct)
            assert law.log_moment(power).rel_accuracy_bits() > 90
