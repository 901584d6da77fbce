"""Charged updates: the certified cost against quadrature, sums and whole runs enumerated; attacks; tables; refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpaudit.accounting import Filter, Poisson, WithoutReplacement, compose, laplace, pure_dp, update_charged
from dpaudit.accounting.laws.charged import Round, Waits, cost_of_update, repeated_query
from dpaudit.claims import RDP
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball, ball_endpoints, working_precision

LINE = Fraction(0)
MILLIONTH = "1e-6"
SCALES = st.fractions(min_value=Fraction(1, 4), max_value=40, max_denominator=20)
ORDERS = st.fractions(min_value=Fraction(1, 50), max_value=6, max_denominator=50)


def on_the_line(noise, order):
    """log(U/(1 - V)) of two centres, with the integral over the line by quadrature between the kinks."""
    scale, edge, power = (mpf(x.numerator) / x.denominator for x in (noise.scale, noise.first, 1 + order))

    def cost(p_centre, q_centre):
        def joint(x):
            return mp.exp((-power * abs(x - p_centre) - (1 - power) * abs(x - q_centre)) / scale) / (2 * scale)

        def silence(centre):
            return mp.quad(lambda x: mp.exp(-abs(x - centre) / scale) / (2 * scale), [-edge, max(-edge, min(edge, centre)), edge])

        kinks = sorted({-edge, edge, p_centre, q_centre})
        update = mpf(0)
        for left, right in zip([-mp.inf, *kinks], [*kinks, mp.inf], strict=True):
            if right <= -edge or left >= edge:
                update += mp.quad(joint, [left, right])
        silent = silence(p_centre) ** power * silence(q_centre) ** (1 - power)
        return mp.log(update / (1 - silent)) if silent < 1 else mp.inf

    return cost


def on_the_integers(scale, first, power):
    """U and V of two integer centres by adding up over the integers; beyond all centres the ratio of P and Q is constant."""
    fall = mp.exp(-1 / (mpf(scale.numerator) / scale.denominator))
    weight = (1 - fall) / (1 + fall)

    def parts(p_centre, q_centre):
        reach = max(abs(p_centre), abs(q_centre), first) + 1

        def chances(x, power_of_tail=1):
            return tuple(weight * fall ** abs(x - centre) * power_of_tail for centre in (p_centre, q_centre))

        outcomes = [chances(x) for x in range(-reach + 1, reach) if abs(x) >= first]
        outcomes += [chances(x, 1 / (1 - fall)) for x in (-reach, reach)]
        silent = [1 - sum(side) for side in zip(*outcomes, strict=True)]
        return sum(p**power * q ** (1 - power) for p, q in outcomes), silent[0] ** power * silent[1] ** (1 - power)

    return parts


@pytest.mark.parametrize(("order", "cost"), [(1, "0.001895"), (4, "0.02096"), (9, "0.1154"), (14, "0.3542"), (19, "1.008")])
def test_the_cost_of_an_update_is_the_tabulated_one(order, cost):
    found = cost_of_update(Round(Fraction(100_000, 3024), Fraction(1), Fraction(10_000), LINE), Fraction(order))
    assert mp.nstr(mpf(cost), 4) == mp.nstr(mpf(found.numerator) / found.denominator, 4)


@pytest.mark.parametrize(
    ("scale", "first", "order"),
    [("33", "100", 9), ("2", "3", Fraction(1, 2)), ("2", "1/2", Fraction(1, 4)), ("1", "4", Fraction(1, 3)), ("5", "1", 2)],
)
def test_the_cost_on_the_line_is_the_greatest_that_quadrature_finds(scale, first, order):
    noise = Round(Fraction(scale), Fraction(1), Fraction(first), LINE)
    found = cost_of_update(noise, Fraction(order))
    with mp.workdps(15):
        cost, edge, width = (
            on_the_line(noise, Fraction(order)),
            mpf(noise.first.numerator) / noise.first.denominator,
            mpf(noise.scale),
        )
        near = [edge - mpf(place) / 40 for place in range(2, 51, 8)]
        places = {centre for place in [*near, *(edge * part / 4 for part in (-2, 0, 2))] for centre in (place, -place - 1)}
        values = [cost(place, place + 1) for place in places | {edge + 3 * width, -edge - 3 * width}]
        most = max(values)
        assert most <= mpf(found.numerator) / found.denominator <= most * (1 + mpf("2e-2"))


@settings(max_examples=20)
@given(SCALES, st.integers(1, 5), st.integers(0, 12), ORDERS)
@example(Fraction(100, 3), 1, 40, Fraction(9))
@example(Fraction(10), 5, 2, Fraction(2))
def test_the_cost_on_the_integers_is_the_greatest_of_all_centres(scale, distance, threshold, order):
    first = max(threshold, (distance + 1) // 2) + 1
    found = cost_of_update(Round(scale, Fraction(distance), Fraction(first), Fraction(1)), order)
    with mp.workdps(50):
        parts, power = on_the_integers(scale, first, 1 + mpf(order.numerator) / order.denominator), 1
        values = [parts(place, place + power * distance) for place in range(-first - distance - 9, first + distance + 9)]
        most = max(mp.log(update / (1 - silent)) if silent < 1 else mp.inf for update, silent in values)
        assert (found is None) == mp.isinf(most)
        if found is not None:
            upper = mpf(found.numerator) / found.denominator
            assert most * (1 - mpf("1e-30")) <= upper <= most * (1 + mpf("1e-4"))


@settings(max_examples=20)
@given(SCALES, st.integers(1, 3), st.integers(2, 6), ORDERS)
def test_moving_the_query_by_less_than_the_sensitivity_never_costs_more(scale, distance, threshold, order):
    found = cost_of_update(Round(scale, Fraction(distance), Fraction(threshold + 1), Fraction(1)), order)
    if found is None:
        return
    with mp.workdps(50):
        parts = on_the_integers(scale, threshold + 1, 1 + mpf(order.numerator) / order.denominator)
        discount = mp.exp(-mpf(found.numerator) / found.denominator)
        for place in range(-threshold - 6, threshold + 7):
            for moved in range(-distance, distance + 1):
                update, silent = parts(place, place + moved)
                assert silent + discount * update <= 1 + mpf("1e-40")


@pytest.mark.parametrize(("power", "scale"), [(2, Fraction(3)), (3, Fraction(5)), (2, Fraction(7, 2))])
@pytest.mark.parametrize("updates", [1, 2])
def test_no_adaptive_analyst_exceeds_the_moment_of_the_updates(power, scale, updates):
    """The best analyst of up to four rounds by backward induction over all centres, in exact arithmetic."""
    law = update_charged(scale=scale, sensitivity=2, threshold=2, updates=updates, lattice=1).parts[0][0]
    bound = moment_bound(law, power)
    rounds = [exact_round(scale, 3, place, place + moved, power) for place in range(-7, 8) for moved in (-2, -1, 0, 1, 2)]

    @cache
    def best(left, paid):
        return max(v * best(left - 1, paid) + u * best(left - 1, paid + 1) for u, v in rounds) if left and paid < updates else 1

    values = [best(left, 0) for left in range(5)]
    assert values == sorted(values)
    assert 1 < values[4] <= bound


@settings(max_examples=15)
@given(st.randoms(use_true_random=False))
def test_every_transcript_of_an_adaptive_run_is_covered(random):
    """All transcripts of three rounds of an analyst who looks at every number that was shown, added up in exact arithmetic."""
    scale, power, updates = Fraction(3), 2, 2
    bound = moment_bound(update_charged(scale=scale, threshold=1, updates=updates, lattice=1).parts[0][0], power)
    choices = {}

    def moment(history):
        if len(history) == 3 or sum(shown is not None for shown in history) == updates:
            return Fraction(1)
        place, moved = choices.setdefault(history, (random.randint(-4, 4), random.choice((-1, 0, 1))))
        return sum(
            (p**power / q ** (power - 1) * moment((*history, shown)) for shown, p, q in outcomes(scale, 2, place, place + moved)),
            Fraction(0),
        )

    assert 1 <= moment(()) <= bound


def moment_bound(law, power):
    """e^(log moment) as a rational, with room for the rounding of `decay`."""
    with working_precision(256):
        return Fraction(ball_endpoints(law.log_moment(Fraction(power - 1)).exp())[1]) * (1 + Fraction(1, 10**50))


@cache
def decay(scale):
    """e^(-1/scale) to 60 digits."""
    with working_precision(256):
        return Fraction(round(ball_endpoints((-1 / ball(scale)).exp())[0] * 10**60), 10**60)


def outcomes(scale, first, p_centre, q_centre):
    """Every outcome of a round with its chance under P and Q: None for silence, numbers, and all beyond 6 as one."""
    fall = decay(scale)
    weight = (1 - fall) / (1 + fall)
    found = [(x, *(weight * fall ** abs(x - centre) for centre in (p_centre, q_centre))) for x in range(-6, 7) if abs(x) >= first]
    found += [(7 * sign, *(weight * fall ** abs(7 * sign - c) / (1 - fall) for c in (p_centre, q_centre))) for sign in (-1, 1)]
    return [(None, 1 - sum(p for _, p, _ in found), 1 - sum(q for _, _, q in found)), *found]


@cache
def exact_round(scale, first, p_centre, q_centre, power):
    """U and V of a round, centres within 7 or a little beyond, where the last outcomes are still pieces of constant ratio."""
    fall = decay(scale)
    weight, reach = (1 - fall) / (1 + fall), 12
    chances = [[weight * fall ** abs(x - c) for c in (p_centre, q_centre)] for x in range(-reach + 1, reach) if abs(x) >= first]
    chances += [[weight * fall ** abs(x - c) / (1 - fall) for c in (p_centre, q_centre)] for x in (-reach, reach)]
    silent = [1 - sum(side) for side in zip(*chances, strict=True)]
    return sum(p**power / q ** (power - 1) for p, q in chances), silent[0] ** power / silent[1] ** (power - 1)


def test_the_moment_is_met_by_a_query_that_is_repeated_for_ever():
    """The sum over all numbers of silent rounds is (U/(1 - V))^updates, so the Renyi bound is tight at every order."""
    law = update_charged(scale=4, threshold=6, updates=3, lattice=1).parts[0][0]
    with mp.workdps(40):
        update, silent = on_the_integers(Fraction(4), 7, 3)(6, 7)
        moment = law.log_moment(Fraction(2))
        assert mp.almosteq(3 * mp.log(update / (1 - silent)), mpf(float(moment)), rel_eps=mpf("1e-12"))


@pytest.mark.parametrize(
    ("divisor", "updates", "upper", "lower"),
    [
        (8, 10, "0.952", "0.829"),
        (8, 50, "0.741", "0.666"),
        (8, 200, "0.663", "0.604"),
        (2, 10, "2.04", "1.78"),
        (2, 200, "1.40", "1.28"),
    ],
)
def test_what_textbook_noise_for_the_updates_alone_really_loses(divisor, updates, upper, lower):
    scale = Fraction(math.sqrt(divisor * updates * math.log(10**6)))
    found = update_charged(scale=scale, threshold=200 * scale, updates=updates).epsilon(delta=MILLIONTH)
    assert Fraction(lower) <= found.lower < found.upper <= Fraction(upper) + Fraction(1, 1000)


def test_silence_tells_more_than_the_updates_composed():
    """Ten updates are no composition of ten pure releases: that would promise 0.601 where a count of rounds loses 1.78."""
    scale = Fraction(1) / Fraction("0.06016")
    loss = update_charged(scale=scale, threshold=5000, updates=10)
    assert (10 * pure_dp(1 / scale)).epsilon(delta=MILLIONTH).upper < Fraction("0.602")
    assert Fraction("1.78") < loss.epsilon(delta=MILLIONTH).lower
    assert math.inf == loss.epsilon(delta=0).lower


def test_a_coarse_lattice_costs_more_than_the_line():
    line, coarse, fine = (
        update_charged(scale=33, threshold=2000, updates=1, lattice=lattice).renyi(order=10).upper
        for lattice in (None, 1, "1/1000")
    )
    assert coarse > line * Fraction(101, 100)
    assert abs(fine / line - 1) < Fraction(1, 10**4)


def test_the_attack_is_the_negative_binomial_law_of_the_silent_rounds():
    waits = repeated_query(Round(Fraction(20), Fraction(1), Fraction(4000), LINE), 4)
    with mp.workdps(40):
        first, second = (mpf(chance.numerator) / chance.denominator for chance in (waits.first, waits.second))
        assert mp.almosteq(first, mp.exp(mpf(-7) / 200) / 2, rel_eps=mpf(2) ** -60)
        assert mp.almosteq(second, 1 - mp.exp(mpf(-3) / 200) / 2, rel_eps=mpf(2) ** -60)
        delta = mpf(0)
        for silent in range(900):
            ways = mp.binomial(silent + 3, silent)
            gain = ways * (first**4 * (1 - first) ** silent - mp.exp(mpf(1) / 2) * second**4 * (1 - second) ** silent)
            delta += max(gain, 0)
        found = update_charged(scale=20, threshold=4000, updates=4).delta(epsilon="1/2")
        assert mp.almosteq(delta, mpf(found.lower.numerator) / found.lower.denominator, rel_eps=mpf("1e-9"))
        assert waits.log_moment(Fraction(10**6)) is None
        both = zip(waits.reversed().atoms(64).atoms, waits.atoms(64).atoms, strict=False)
        assert all(one.loss == Waits(waits.second, waits.first, 4)._loss(index) for index, (one, _) in enumerate(both))
        assert waits.reversed().greatest_loss() == waits.reversed()._loss(0)


@settings(max_examples=6)
@given(
    st.integers(3, 40),
    st.integers(1, 40),
    st.sampled_from([None, 1, "1/3"]),
    st.fractions(min_value=0, max_value=4, max_denominator=9),
)
def test_the_lower_end_stays_below_the_upper_one(scale, updates, lattice, epsilon):
    found = update_charged(scale=scale, threshold=3, updates=updates, lattice=lattice).delta(epsilon=epsilon)
    assert 0 <= found.lower <= found.upper <= 1


@settings(max_examples=25)
@given(SCALES, ORDERS, st.sampled_from([LINE, Fraction(1)]))
def test_the_cost_grows_with_sensitivity_and_order_and_falls_with_the_scale(scale, order, step):
    def cost(width, distance, at):
        found = cost_of_update(Round(width, Fraction(distance), Fraction(9), step), at)
        return math.inf if found is None else found

    slack = 1 + Fraction(1, 10**3)
    assert cost(scale, 1, order) <= cost(scale, 2, order) * slack
    assert cost(2 * scale, 2, order) <= cost(scale, 2, order) * slack
    assert cost(scale, 2, order) * 2 <= cost(scale, 2, 2 * order) * slack  # convex in the order, and 0 at 0


@pytest.mark.parametrize("scale", ["1e-3", "1e9", "1e30"])
@pytest.mark.parametrize("lattice", [None, "1e-12"])
@pytest.mark.parametrize("updates", [1, 1000])
def test_extreme_parameters_give_an_enclosure(scale, lattice, updates):
    loss = update_charged(scale=scale, threshold=5, updates=updates, lattice=lattice)
    found = loss.epsilon(delta=MILLIONTH)
    assert 0 <= found.lower <= found.upper
    assert (found.upper < 1) == (Fraction(scale) > 10**6)


@pytest.mark.parametrize("order", [Fraction(1, 65), Fraction(1, 1000), Fraction(1, 2**90)])
def test_orders_close_to_one_are_bounded_through_a_larger_one(order):
    found = cost_of_update(Round(Fraction(3), Fraction(1), Fraction(5), Fraction(1)), order)
    with mp.workdps(80):
        update, silent = on_the_integers(Fraction(3), 5, 1 + mpf(order.numerator) / order.denominator)(4, 5)
        met = mp.log(update / (1 - silent))
        assert met <= mpf(found.numerator) / found.denominator <= met * mpf("1.1")


@pytest.mark.parametrize("threshold", ["1/2", "1e70"])
@pytest.mark.parametrize("lattice", [None, 1, "1e-30"])
def test_a_threshold_far_below_and_far_above_the_noise_gives_an_enclosure(threshold, lattice):
    found = update_charged(scale="1e60", threshold=threshold, updates=3, lattice=lattice)
    assert 0 <= found.delta(epsilon="1e-58").lower <= found.delta(epsilon="1e-58").upper < Fraction(1, 10**9)
    assert 0 < found.renyi(order=2).upper < Fraction(1, 10**118)


def test_an_order_without_a_finite_moment_is_given_up_at_once():
    noise = Round(Fraction(10), Fraction(1), Fraction(1000), LINE)
    assert cost_of_update(noise, Fraction(7)) is None
    assert cost_of_update(noise, Fraction(10**6)) is None
    assert cost_of_update(noise, Fraction(6)) is not None


def test_runs_compose_with_other_releases_and_spend_renyi_budgets():
    run = update_charged(scale=100, threshold=1000, updates=5)
    both = compose(run, laplace(scale=2))
    assert both.renyi(order=4).upper == pytest.approx(run.renyi(order=4).upper + laplace(scale=2).renyi(order=4).upper)
    assert run.epsilon(delta=MILLIONTH).upper < both.epsilon(delta=MILLIONTH).upper
    assert run.sampled(Poisson("1/10")).delta(epsilon="1/2").upper < run.delta(epsilon="1/2").upper
    budget = Filter(RDP({4: 1}))
    budget.spend(run)
    assert budget.spent["Renyi divergence of order 4"] == pytest.approx(run.renyi(order=4).upper)
    assert (2 * run).renyi(order=4).upper == 2 * run.renyi(order=4).upper


def test_what_is_known_by_moments_is_not_sampled_without_replacement():
    with pytest.raises(Unsupported, match="DPA202"):
        update_charged(scale=9, threshold=9, updates=1, adjacency="replace_one").sampled(WithoutReplacement(size=1, of=9))


def test_the_reason_names_both_ends():
    why = update_charged(scale=9, threshold=90, updates=3).delta(epsilon=1).why()
    assert [] == [words for words in ("charged updates", "Canonne, Kamath, Steinke 2020", "silent rounds") if words not in why]


def test_a_run_says_its_parameters():
    run = update_charged(scale=9, threshold="1/2", updates=3, lattice="1/4", adjacency="replace_one")
    assert "update_charged(scale=9, sensitivity=1, threshold=1/2, lattice=1/4, updates=3) under replace_one" == str(run)


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"scale": 0}, "DPA104"),
        ({"scale": math.nan}, "DPA102"),
        ({"sensitivity": -1}, "DPA104"),
        ({"threshold": 0}, "DPA104"),
        ({"threshold": "0.49"}, "DPA103"),
        ({"updates": 0}, "DPA103"),
        ({"updates": 1.0}, "DPA105"),
        ({"lattice": 0}, "DPA104"),
        ({"lattice": "2/3"}, "DPA107"),
        ({"lattice": 2}, "DPA107"),
        ({"lattice": True}, "DPA101"),
        ({"adjacency": "nearly"}, "DPA103"),
    ],
)
def test_a_run_is_refused(changed, code):
    with pytest.raises(InvalidArgument, match=code):
        update_charged(**({"scale": 9, "threshold": 9, "updates": 1} | changed))
