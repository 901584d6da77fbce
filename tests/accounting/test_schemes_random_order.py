"""Random order: laws of positions and multiplicities by enumeration, their prices against sums over the order."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from math import expm1, factorial, isqrt, log1p

import pytest
from mpmath import mp, mpf, ncdf

from dpaudit.accounting import RandomAllocation, RandomOrder, gaussian, laplace
from dpaudit.accounting.laws.random_order import multiplicity_distribution, multiplicity_squares, position_squares
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball, working_precision

HALVES = tuple(100_000 >> index for index in range(1, 17))


def tails_by_position(records, batches, *, averaged):
    """Exact law of the squared factor of record 0 over all permutations."""
    found = {}
    for order in permutations(range(records)):
        place, square = order.index(0), Fraction(0)
        for size in batches:
            if 0 <= place < size:
                square = Fraction(size - 1 - place, size) ** 2 if averaged else Fraction(1)
            place -= size
        found[square] = found.get(square, Fraction(0)) + Fraction(1, factorial(records))
    return found


def tail(law, square):
    """Probability of a square at least this large."""
    return sum(chance for value, chance in law if value >= square)


def profile(mu, epsilon):
    """Delta of N(mu, 1) against N(0, 1)."""
    return ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * ncdf(-mu / 2 - epsilon / mu) if mu else mpf(0)


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize(("records", "batches"), [(7, (3, 2)), (6, (4, 1)), (5, (5,)), (4, (1, 1))])
def test_positions_are_those_of_all_permutations_rounded_up(records, batches, averaged):
    squares, beyond = position_squares(records, batches, 1, averaged=averaged)
    exact = tails_by_position(records, batches, averaged=averaged)
    assert beyond == 0
    assert sum(chance for _, chance in squares) == 1
    for square in exact:
        assert tail(squares, square) >= tail(exact.items(), square)
        assert tail(squares, square + Fraction(1, 1024)) <= tail(exact.items(), square + Fraction(1, 10**9)) + Fraction(1, 2**120)


@pytest.mark.parametrize(("records", "batches", "rounds"), [(3, (2, 1), 1), (2, (3,), 1), (3, (2,), 2)])
def test_multiplicities_are_those_of_all_draws(records, batches, rounds):
    squares, beyond = multiplicity_squares(records, batches, rounds)
    exact = {}
    sizes = batches * rounds
    for draws in product(*(product(range(records), repeat=size) for size in sizes)):
        square = sum(batch.count(0) ** 2 for batch in draws)
        exact[square] = exact.get(square, Fraction(0)) + Fraction(1, records ** sum(sizes))
    assert beyond <= Fraction(1, 2**120)
    for square in exact:
        assert 0 <= tail(squares, square) + beyond - tail(exact.items(), square) <= Fraction(1, 2**120)


def test_rounds_add_squares_of_independent_orders():
    once, _ = position_squares(9, (4, 2), 1, averaged=False)
    thrice, _ = position_squares(9, (4, 2), 3, averaged=False)
    used = dict(once)[Fraction(1)]
    expected = {3: used**3, 2: 3 * used**2 * (1 - used), 1: 3 * used * (1 - used) ** 2, 0: (1 - used) ** 3}
    for square, chance in expected.items():
        assert abs(dict(thrice)[Fraction(square)] - chance) <= Fraction(1, 2**120)


def test_sums_over_rounds_are_rounded_up():
    exact = tails_by_position(5, (3, 2), averaged=True)
    thrice = {}
    for terms in product(exact.items(), repeat=3):
        square, chance = sum(value for value, _ in terms), Fraction(1)
        for _, part in terms:
            chance *= part
        thrice[square] = thrice.get(square, Fraction(0)) + chance
    squares, _ = position_squares(5, (3, 2), 3, averaged=True)
    for square in thrice:
        assert tail(squares, square) >= tail(thrice.items(), square)


def test_the_price_is_the_mean_over_orders():
    order = RandomOrder(records=8, batches=(4, 2))
    found = gaussian(sigma=2, adjacency="replace_one").sampled(order).delta(epsilon="1/4")
    with mp.workdps(30):
        expected = mpf(6) / 8 * profile(mpf(1) / 2, mpf(1) / 4)
    assert float(found.upper) == pytest.approx(float(expected), rel=1e-12)
    assert 0 < found.lower < found.upper


@pytest.mark.parametrize(
    ("multiplier", "order", "epsilon"),
    [
        ("8.45", RandomOrder(records=100_000, batches=HALVES), "1"),
        ("7.19", RandomOrder(records=100_000, batches=HALVES, averaged=True), "1"),
        ("22.63", RandomOrder(records=100_000, batches=HALVES, averaged=True, rounds=4), "1/2"),
        ("57.96", RandomOrder(records=100_000, batches=HALVES, replacement=True, rounds=4), "1/2"),
    ],
)
def test_noise_multipliers_of_phased_gradient_descent_give_delta_of_a_millionth(multiplier, order, epsilon):
    ((law, _),) = gaussian(sigma=Fraction(multiplier) / 2, adjacency="replace_one").sampled(order).parts
    with working_precision(128):
        assert 0.98e-6 < float(law.upper.profile(ball(Fraction(epsilon)))) < 1.02e-6


@pytest.mark.parametrize("replacement", [False, True])
def test_passes_composed_one_by_one_are_bounded_near_those_counted_together(replacement):
    loss = gaussian(sigma=10, adjacency="replace_one")
    one = RandomOrder(records=100, batches=(20,), replacement=replacement)
    both = RandomOrder(records=100, batches=(20,), replacement=replacement, rounds=2)
    apart, together = (2 * loss.sampled(one)).delta(epsilon="1/10").upper, loss.sampled(both).delta(epsilon="1/10").upper
    assert together <= apart * (1 + Fraction(1, 10**9))
    assert apart <= together * Fraction(11, 10)


def test_a_hidden_late_place_costs_less_than_full_weight():
    loss = gaussian(sigma=1, adjacency="zero_out")
    full = RandomOrder(records=64, batches=(32, 16))
    late = RandomOrder(records=64, batches=(32, 16), averaged=True)
    assert loss.sampled(late).delta(epsilon=1).upper < loss.sampled(full).delta(epsilon=1).upper < loss.delta(epsilon=1).lower
    with mp.workdps(20):
        most = loss.sampled(RandomOrder(records=2, batches=(4,), replacement=True)).renyi(order=2).upper
        expected = mp.log(sum(mpf(c) / 16 * mp.exp(mpf(j) ** 2) for j, c in enumerate((1, 4, 6, 4, 1))))
    assert float(most) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize("loss", [laplace(scale=1, adjacency="replace_one"), gaussian(sigma=1)])
def test_an_order_that_no_theorem_covers_is_refused(loss):
    with pytest.raises(Unsupported, match="DPA202"):
        loss.sampled(RandomOrder(records=10, batches=(5,)))


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"records": 1, "batches": (1,)}, "DPA103"),
        ({"records": 4, "batches": (3, 2)}, "DPA103"),
        ({"records": 4, "batches": ()}, "DPA109"),
        ({"records": 4, "batches": (0,)}, "DPA103"),
        ({"records": 4, "batches": "22"}, "DPA109"),
        ({"records": 4, "batches": (2,), "rounds": 0}, "DPA103"),
        ({"records": 4, "batches": (2,), "replacement": True, "averaged": True}, "DPA103"),
    ],
)
def test_parameters_of_an_order_are_checked(wrong, code):
    with pytest.raises(InvalidArgument, match=code):
        RandomOrder(**wrong)


@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize(("records", "batches"), [(7, (3, 2)), (6, (4, 1)), (5, (5,))])
def test_from_below_the_largest_batch_is_seen(records, batches, averaged):
    unit, chances = multiplicity_distribution(records, batches, 1, replacement=False, averaged=averaged)
    size = max(batches)
    factors = [Fraction(size - 1 - place, size) if averaged else Fraction(1) for place in range(size)]
    assert 1 == sum(chances)
    parts = isqrt(unit.denominator)
    for times in range(1, len(chances)):
        expected = Fraction(sum(factor >= Fraction(times, parts) for factor in factors), records)
        assert expected - Fraction(1, 2**100) <= sum(chances[times:]) <= expected
    assert Fraction(1, size**2 if averaged else 1) == unit


def test_from_below_rounds_add_times_and_share_the_noise():
    unit, chances = multiplicity_distribution(3, (2,), 2, replacement=True, averaged=False)
    assert Fraction(1, 2) == unit
    for times in range(1, 5):
        expected = Fraction([16, 32, 24, 8, 1][times], 81)
        assert expected - Fraction(1, 2**100) <= chances[times] <= expected


def test_the_lower_end_is_a_mixture_of_normal_laws():
    # P = N(0, 1)/2 + N(mu, 1)/2 against N(0, 1): the best test is a threshold, the same as of a Poisson sample.
    found = gaussian(sigma=2, adjacency="replace_one").sampled(RandomOrder(records=8, batches=(4, 2))).delta(epsilon="1/4")
    with mp.workdps(30):
        odds = 1 + 2 * mp.expm1(mpf(1) / 4)
        removed = profile(mpf(1) / 2, mp.log(odds)) / 2
        assert 0.99 * removed <= float(found.lower) <= removed * (1 + mpf(10) ** -9)


@pytest.mark.parametrize("adjacency", ["zero_out", "replace_one"])
@pytest.mark.parametrize(("batches", "largest"), [((500, 500), 2), ((300, 200, 300), 2), ((250, 750), 1)])
def test_from_below_a_permutation_is_an_allocation_to_its_largest_batches(batches, largest, adjacency):
    """The pair where all other records contribute nothing: (1 - rate) Q + rate P against Q, P that of a random allocation."""
    rate, epsilon = Fraction(largest * max(batches), 1000), Fraction(2)
    hidden = gaussian(sigma=1, adjacency="zero_out").sampled(RandomAllocation(largest))
    inside = Fraction(log1p(expm1(2) / float(rate)))
    found = gaussian(sigma=1, adjacency=adjacency).sampled(RandomOrder(records=1000, batches=batches)).delta(epsilon=epsilon)
    exact = hidden.delta(epsilon=inside, direction="forward")
    assert (
        rate * exact.lower * (1 - Fraction(1, 1000)) <= found.lower <= rate * exact.upper * (1 + Fraction(1, 10**9)) <= found.upper
    )
