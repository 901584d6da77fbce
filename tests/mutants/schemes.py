"""Checks of sampling schemes: real samples, allocations, shuffles and orders of few records, gone through one by one."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, factorial

import numpy as np
from mpmath import mp, mpf

from dpaudit.accounting import (
    Poisson,
    RandomAllocation,
    RandomOrder,
    Shuffle,
    WithoutReplacement,
    approx_dp,
    bounded_range,
    compose,
    explicit_pair,
    gaussian,
    laplace,
    pure_dp,
    randomized_response,
)
from dpaudit.accounting.engines.bounds import certified_bounds
from dpaudit.accounting.engines.evaluate import evaluate, evaluate_one
from dpaudit.accounting.engines.tilted import lattice_for
from dpaudit.accounting.laws.random_order import Ordered, multiplicity_squares, position_squares
from dpaudit.accounting.model.composition import DeltaAt, EpsilonAt
from dpaudit.accounting.privacy_loss import one_release
from dpaudit.errors import Unsupported

PAIRS = {
    "even": (("3/4", "1/4"), ("1/4", "3/4")),
    "skew": (("1/2", "1/3", "1/6"), ("1/6", "1/2", "1/3")),
    "missing": (("1", "0"), ("1/2", "1/2")),
    "revealing": (("1/4", "5/8", "1/8"), ("0", "1/4", "3/4")),
    "far": (("19/20", "1/20"), ("1/10", "9/10")),
}
EPSILONS = (Fraction(0), Fraction(1, 10), Fraction(1, 2))


def thinned(exact, name, rate):
    """A pair under sampling: with probability `rate` the record is there."""
    p, q = exact.sides(PAIRS[name])
    return tuple(rate * a + (1 - rate) * b for a, b in zip(p, q, strict=True)), q


def poisson_samples_are_mixtures_in_both_directions(exact):
    answered = 0
    for name, rate in (("even", "1/2"), ("skew", "1/5"), ("missing", "1/2"), ("revealing", "9/10")):
        loss = 2 * explicit_pair(*PAIRS[name]).sampled(Poisson(rate))
        for turn, direction in ((1, loss), (-1, loss.reversed())):
            both = exact.products([thinned(exact, name, Fraction(rate))[::turn]] * 2)
            for epsilon in EPSILONS[::2]:
                low, high = exact.delta(both, epsilon)
                built = lattice_for(direction.composition, epsilon=epsilon, width=0.01)
                if built is not None:
                    found, answered = built.delta(epsilon), answered + 1
                    assert found.lower <= high
                    assert found.upper >= low
                    assert found.upper <= high * Fraction(11, 10) + Fraction(1, 10**6)
                    assert found.lower >= low * Fraction(8, 10) - Fraction(1, 10**6)
                bound = certified_bounds(direction.composition, DeltaAt(epsilon))
                assert bound.lower <= high
                assert bound.upper >= low
    assert answered > 10


def the_worse_direction_of_a_sample_counts(exact):
    for name in ("missing", "revealing", "skew"):
        loss, pair = explicit_pair(*PAIRS[name]).sampled(Poisson("1/3")), thinned(exact, name, Fraction(1, 3))
        for epsilon in EPSILONS[::2]:
            ends = [exact.delta(exact.products([pair[::turn]] * 2), epsilon) for turn in (1, -1)]
            for found in ((2 * loss).delta(epsilon=epsilon), (2 * loss.reversed()).delta(epsilon=epsilon)):
                assert found.lower <= max(end[1] for end in ends)
                assert found.upper >= max(end[0] for end in ends)


def answers_under_sampling_are_mixtures_in_both_directions(exact):
    """Answers that reveal everything at times, thinned: in the other direction that mass becomes finite, or is at the edge."""
    with mp.workdps(30):
        likely, delta, rate = 1 / (1 + mp.exp(-1)), mpf(1) / 20, mpf(1) / 3
        p = (delta, (1 - delta) * likely, (1 - delta) * (1 - likely), mpf(0))
        mixed = tuple(rate * a + (1 - rate) * b for a, b in zip(p, reversed(p), strict=True))
        loss = 2 * approx_dp(1, delta="1/20").sampled(Poisson("1/3"))
        for turn, direction in ((1, loss), (-1, loss.reversed())):
            for epsilon in EPSILONS:
                expected = exact.gain(exact.products([(mixed, p[::-1])[::turn]] * 2), mp.exp(exact.number(epsilon)))
                bound = certified_bounds(direction.composition, DeltaAt(epsilon))
                exact.encloses(bound, expected, room="1e-20")
                built = lattice_for(direction.composition, epsilon=epsilon, width=0.01)
                if built is not None:
                    exact.encloses(built.delta(epsilon), expected, room="1e-20")
                    assert built.delta(epsilon).width < Fraction(1, 20)
                assert exact.number(bound.upper) - expected < mpf(2) / 3


def the_worse_direction_of_a_sampled_gaussian_counts(exact):
    """In closed form: q delta(log(1 + (e^e - 1)/q)) where a record is removed, c delta(log(q e^e/c)) where one is added."""
    loss = gaussian(1).sampled(Poisson("1/5"))
    with mp.workdps(30):

        def profile(epsilon):
            return mp.ncdf(mpf(1) / 2 - epsilon) - mp.exp(epsilon) * mp.ncdf(-mpf(1) / 2 - epsilon)

        for epsilon in (Fraction(1, 50), Fraction(1, 5)):
            growth = mp.exp(exact.number(epsilon))
            rest = 1 - growth * 4 / 5
            removed, added = profile(mp.log(1 + (growth - 1) * 5)) / 5, rest * profile(mp.log(growth / 5 / rest)) if rest > 0 else 0
            assert removed > added
            for found in (loss.delta(epsilon=epsilon), loss.reversed().delta(epsilon=epsilon)):
                exact.encloses(found, max(removed, added), room="1e-20", width="2e-3")
    one, other = ((2 * side).delta(epsilon="1/50") for side in (loss, loss.reversed()))  # no closed form, nearly alike
    assert one.meets(other)


def the_worse_direction_of_a_class_counts():
    """Without replacement the laws above are alike in both directions; that below of a record that leaves is the larger one."""
    samples = (20 * laplace(scale=1, adjacency="replace_one").sampled(WithoutReplacement(1, of=4))).composition
    leaving = 20 * laplace(scale=1).sampled(Poisson("1/4"))
    for loss in (samples, samples.reversed()):
        for question, below in (
            (DeltaAt(Fraction(2)), leaving.delta(epsilon=2, direction="remove")),
            (EpsilonAt(Fraction(1, 1000)), leaving.epsilon(delta="1/1000", direction="remove")),
        ):
            one, other, found = evaluate_one(loss, question), evaluate_one(loss.reversed(), question), evaluate(loss, question)
            assert found.upper == max(one.upper, other.upper) > below.upper * Fraction(101, 100)
            assert below.lower * Fraction(99, 100) < found.lower == max(one.lower, other.lower) <= below.upper


def greatest_losses_of_samples_are_those_of_the_mixture(exact):
    with mp.workdps(30):
        for name in ("even", "skew", "far"):
            p, q = thinned(exact, name, Fraction(1, 4))
            most = max(mp.log(exact.number(max(a / b, b / a))) for a, b in zip(p, q, strict=True))
            found = (3 * explicit_pair(*PAIRS[name]).sampled(Poisson("1/4"))).epsilon(delta=0)
            exact.encloses(found, 3 * most, room="1e-20", width="1e-20")
        for loss in (pure_dp(1), laplace(2, sensitivity=2)):
            for direction in (loss.sampled(Poisson("1/4")), loss.sampled(Poisson("1/4")).reversed()):
                exact.encloses((3 * direction).epsilon(delta=0), 3 * mp.log(mpf(3) / 4 + mp.e / 4), room="1e-20", width="1e-20")


def moments_of_samples_are_never_below_their_sums(exact):
    """An infinite loss is finite after sampling where a record is added, and counts there."""
    with mp.workdps(30):
        likely, delta, rate = 1 / (1 + mp.exp(-mpf(1) / 10)), mpf(1) / 4, mpf(1) / 3
        p = (delta, (1 - delta) * likely, (1 - delta) * (1 - likely), mpf(0))
        cases = [
            (explicit_pair(*PAIRS[name]), thinned(exact, name, Fraction(1, 3))) for name in ("even", "skew", "revealing", "missing")
        ]
        cases.append(
            (approx_dp("1/10", delta="1/4"), (tuple(rate * a + (1 - rate) * b for a, b in zip(p, p[::-1], strict=True)), p[::-1]))
        )
        for loss, pair in cases:
            law = loss.sampled(Poisson("1/3")).parts[0][0]
            for turn, direction in ((1, law), (-1, law.reversed())):
                for order in (1, 9):
                    total = sum(p ** (1 + order) / q**order for p, q in zip(*pair[::turn], strict=True) if q)
                    found = direction.log_moment(Fraction(order))
                    assert found is None or exact.ball_of(found)[1] >= mp.log(mpf(1) * total) - mpf(10) ** -20


def sampling_is_not_amplified_where_a_record_is_replaced(exact):
    """Three laws, the third of a sample without the record: half of A and C against half of B and C is 1/6 apart, not 1/8."""
    a, b, c = ([Fraction(x, 6) for x in (3, 2, 1)], [Fraction(x, 6) for x in (1, 2, 3)], [Fraction(x, 4) for x in (1, 2, 1)])
    true = exact.gain([((x + z) / 2, (y + z) / 2) for x, y, z in zip(a, b, c, strict=True)], Fraction(1))
    assert Fraction(1, 6) == true
    try:
        found = explicit_pair(a, b, adjacency="replace_one").sampled(Poisson("1/2"))
    except Unsupported:
        return
    assert found.delta(epsilon=0).upper >= max(true, Fraction(1, 5))


def samples_without_replacement_are_enclosed(exact):
    """A record of few is replaced: all samples of all sizes gone through, with randomised answers about the sample's sum."""
    for records, size in ((2, 1), (3, 2)):
        odds = 3
        loss = explicit_pair(["3/4", "1/4"], ["1/4", "3/4"], adjacency="replace_one").sampled(
            WithoutReplacement(size=size, of=records)
        )
        found = {epsilon: loss.delta(epsilon=epsilon).upper for epsilon in EPSILONS}
        for others in product((0, 1), repeat=records - 1):
            masses = []
            for own in (0, 1):
                data = (own, *others)
                chosen = [sum(data[i] for i in places) % 2 for places in combinations(range(records), size)]
                ones = sum((Fraction(odds if bit else 1, odds + 1) for bit in chosen), Fraction(0)) / len(chosen)
                masses.append((ones, 1 - ones))
            for epsilon in EPSILONS:
                for turn in (1, -1):
                    low, _ = exact.delta(zip(*masses[::turn], strict=True), epsilon)
                    assert found[epsilon] >= low


def shares_without_replacement_have_the_profile_of_the_theorem(exact, oracle):
    """rate * delta(log(1 + (e^epsilon - 1)/rate)), and what a record that leaves no trace shows from below."""
    with mp.workdps(25):
        for rate in (Fraction(1, 10), Fraction(2, 3)):
            scheme, share = WithoutReplacement(size=rate.numerator, of=rate.denominator), exact.number(rate)
            for epsilon in (Fraction(1, 10), Fraction(1, 2)):
                at = mp.log1p(mp.expm1(exact.number(epsilon)) / share)
                for loss, expected in (
                    (gaussian(1, adjacency="replace_one"), oracle.gaussian(at, mu_squared=1)),
                    (randomized_response(1, categories=3), oracle.responses(at, step=1, categories=3, count=1)),
                    (
                        approx_dp(1, delta="1/50", adjacency="replace_one"),
                        oracle.responses(at, step=1, categories=2, count=1, delta="1/50"),
                    ),
                ):
                    found = loss.sampled(scheme).delta(epsilon=epsilon)
                    exact.encloses(found, share * expected, room="1e-13")
                    assert exact.number(found.upper) <= share * expected * (1 + mpf(10) ** -9)


def composed_shares_lose_as_much_as_a_record_that_leaves_no_trace(exact):
    """A real mechanism on a share, composed, is within the answer; for a symmetric pair so is the least pair above all samples."""
    for name in ("skew", "even"):
        loss = 2 * explicit_pair(*PAIRS[name], adjacency="replace_one").sampled(WithoutReplacement(size=1, of=3))
        both = [exact.products([thinned(exact, name, Fraction(1, 3))[::turn]] * 2) for turn in (1, -1)]
        for epsilon in EPSILONS[1:]:
            found, ends = loss.delta(epsilon=epsilon), [exact.delta(outcomes, epsilon) for outcomes in both]
            assert found.upper >= max(low for low, _ in ends)
            assert found.lower <= max(high for _, high in ends)
            if name == "even":  # 5/12 = 3/4 * 1/3 + 1/4 * 2/3, its mirror image, and the rest
                least = exact.products([exact.sides((("5/12", "1/4", "1/3"), ("1/4", "5/12", "1/3")))] * 2)
                low, high = exact.delta(least, epsilon)
                assert low <= found.upper <= high * Fraction(101, 100)


def one_of(pair, steps):
    """All outputs of an epoch, with the record in one of its steps and without it."""
    p, q = pair
    found = []
    for outputs in product(range(len(p)), repeat=steps):
        rows = [[p[output] if index == place else q[output] for index, output in enumerate(outputs)] for place in range(steps)]
        with_record = sum((times(row) for row in rows), Fraction(0)) / steps
        found.append((with_record, times([q[output] for output in outputs])))
    return found


def times(row):
    """Product of probabilities."""
    total = Fraction(1)
    for mass in row:
        total *= mass
    return total


def allocations_are_means_over_the_secret_step(exact):
    for name, steps in (("even", 3), ("skew", 2), ("missing", 2), ("revealing", 3), ("far", 2)):
        law = explicit_pair(*PAIRS[name]).sampled(RandomAllocation(steps=steps))
        both = one_of(exact.sides(PAIRS[name]), steps)
        for turn, direction in ((1, law), (-1, law.reversed())):
            for epsilon in EPSILONS:
                low, high = exact.delta([pair[::turn] for pair in both], epsilon)
                bound = certified_bounds(direction.composition, DeltaAt(epsilon))
                assert bound.lower <= high + Fraction(1, 10**15)
                assert low - Fraction(1, 10**15) <= bound.upper <= high + Fraction(1, 10**9)


def allocated_normal_releases_agree_with_an_integral(exact, oracle):
    """Ratios that no grid carries: bounds of either direction beside the integral over the first of two outputs."""
    loss = gaussian(2).sampled(RandomAllocation(steps=2))
    with mp.workdps(20):
        for adding, direction in ((False, loss), (True, loss.reversed())):
            expected = exact.rational(oracle.allocated_gaussian("0.1", mu="1/2", adding=adding))
            bound = certified_bounds(direction.composition, DeltaAt(Fraction(1, 10)))
            assert bound.lower <= expected * (1 + Fraction(1, 10**8))
            assert expected * (1 - Fraction(1, 10**8)) <= bound.upper <= expected * Fraction(101, 100)


def allocated_laplace_releases_agree_with_an_integral():
    """Ratios of a table: either direction beside the sum over a fine grid of the two outputs."""
    loss, level, cells = laplace(scale=1).sampled(RandomAllocation(steps=2)), math.exp(0.1), 2000
    middles = (np.arange(cells) + 0.5) / cells
    # An output below 0 and one above 1 have the ratios 1/e and e, those between e^(2x - 1).
    ratios = np.exp(np.concatenate([[-1.0, 1.0], 2 * middles - 1]))
    masses = np.concatenate([[0.5, math.exp(-1) / 2], np.exp(-middles) / 2 / cells])
    mean = (ratios[:, None] + ratios) / 2
    for direction, excess in ((loss, mean - level), (loss.reversed(), 1 - level * mean)):
        expected = masses @ np.maximum(excess, 0) @ masses
        bound = certified_bounds(direction.composition, DeltaAt(Fraction(1, 10)))
        assert float(bound.lower) <= expected * 1.001
        assert expected * 0.999 <= float(bound.upper) <= expected * 1.02


def shuffled(epsilon, reports):
    """P and Q masses of the pair of the theorem, summed over how many others hide the report and how many of them fall left."""
    growth = mp.exp(epsilon)
    likely, hidden = growth / (1 + growth), 1 / growth
    found = {}
    for count in range(reports):
        chance = comb(reports - 1, count) * hidden**count * (1 - hidden) ** (reports - 1 - count)
        for left in range(count + 1):
            mass = chance * comb(count, left) / mpf(2) ** count
            for first, share in ((1, likely), (0, 1 - likely)):
                place = (left + first, count - left + 1 - first)
                p, q = found.get(place, (mpf(0), mpf(0)))
                found[place] = (p + mass * share, q + mass * (1 - share))
    return list(found.values())


def shuffles_are_sums_over_hiding_reports(exact):
    with mp.workdps(40):
        for epsilon, reports in ((1, 1), (1, 2), (2, 9), ("1/2", 14)):
            loss = pure_dp(epsilon, adjacency="replace_one").sampled(Shuffle(reports=reports))
            both = shuffled(exact.number(epsilon), reports)
            for at in (Fraction(0), Fraction(1, 3)):
                expected = exact.rational(exact.gain(both, mp.exp(exact.number(at))))
                found = loss.delta(epsilon=at)
                assert (
                    expected * (1 - Fraction(1, 10**14)) <= found.upper <= expected * (1 + Fraction(1, 10**9)) + Fraction(1, 10**30)
                )


def two_shuffles_lose_no_more_than_stated():
    """All pairs of outcomes of two shuffles of thirty reports, in doubles: more numbers of hiding reports than are kept apart."""
    with mp.workdps(25):
        p, q = (np.array([float(pair[side]) for pair in shuffled(mpf(1), 30)]) for side in (0, 1))
    for at in (Fraction(0), Fraction(1, 4)):
        expected = np.maximum(np.outer(p, p) - math.exp(at) * np.outer(q, q), 0).sum()
        found = float((2 * pure_dp(1, adjacency="replace_one").sampled(Shuffle(reports=30))).delta(epsilon=at).upper)
        assert expected * (1 - 1e-9) <= found <= expected * 1.1


def tail(law, square):
    """Probability of a square at least this large."""
    return sum((chance for value, chance in law if value >= square), Fraction(0))


def orders_put_a_record_where_permutations_do():
    """Upper tails of the squared factor, over all permutations of six records, twice; never below, and hardly above."""
    for averaged in (True, False):
        once = {}
        for order in permutations(range(6)):
            place, square = order.index(0), Fraction(0)
            for size in (5,):
                if 0 <= place < size:
                    square = Fraction(size - 1 - place, size) ** 2 if averaged else Fraction(1)
                place -= size
            once[square] = once.get(square, Fraction(0)) + Fraction(1, factorial(6))
        twice = {}
        for (left, chance), (right, other) in product(once.items(), once.items()):
            twice[left + right] = twice.get(left + right, Fraction(0)) + chance * other
        for rounds, true in ((1, once), (2, twice)):
            squares, beyond = position_squares(6, (5,), rounds, averaged=averaged)
            assert 1 == beyond + tail(squares, Fraction(0))
            for square in true:
                assert beyond + tail(squares, square) >= tail(true.items(), square)
            mean = sum(square * chance for square, chance in squares)
            assert mean <= sum(square * chance for square, chance in true.items()) + Fraction(rounds, 100)


def multiplicities_are_those_of_draws_with_replacement():
    for batches in ((3,), (2, 2)):
        true = {}
        for draws in product(range(3), repeat=sum(batches)):
            square, place = 0, 0
            for size in batches:
                square, place = square + draws[place : place + size].count(0) ** 2, place + size
            true[square] = true.get(square, Fraction(0)) + Fraction(1, 3 ** sum(batches))
        squares, beyond = multiplicity_squares(3, batches, 1)
        assert 1 == beyond + tail(squares, 0)
        for square in true:
            exactly = tail(true.items(), square)
            assert exactly <= beyond + tail(squares, square) <= exactly + Fraction(1, 2**100)


def orders_cost_the_mean_over_where_they_put_a_record(exact, oracle):
    """One round of three draws among three records; what a Gaussian release loses at each multiplicity, averaged."""
    with mp.workdps(25):
        release = gaussian(2, adjacency="replace_one")
        found = release.sampled(RandomOrder(records=3, batches=(3,), replacement=True)).delta(epsilon="1/2")
        chances = [Fraction(comb(3, times) * 2 ** (3 - times), 27) for times in range(4)]
        expected = sum(
            exact.number(c) * oracle.gaussian("0.5", mu_squared=Fraction(times**2, 4)) for times, c in enumerate(chances) if times
        )
        exact.encloses(found, expected, room="1e-13")
        assert exact.number(found.upper) <= expected * (1 + mpf(10) ** -9)


def a_choice_and_an_order_cost_the_mean_over_both(exact):
    """Gaussian noise, a choice of range 1/2 and an order of four factors: integrals of the range's profile over normal losses."""
    chances = ((Fraction(0), Fraction(1, 4)), (Fraction(1, 2), Fraction(1, 4)), (Fraction(1), Fraction(3, 8)))
    order = one_release(Ordered(Fraction(1), chances, Fraction(1, 8)), "add_remove")

    def ranged(at):
        """Delta of the worst mechanism of range 1/2."""
        return -mp.expm1(at) if at <= -0.5 else (mp.exp(mpf(1) / 4) - mp.exp(at / 2)) ** 2 / mp.expm1(0.5) if at < 0.5 else mpf(0)

    def mean(square, epsilon):
        """Its mean over a normal loss."""
        if not square:
            return ranged(epsilon)
        middle, mu = mpf(square) / 2, mp.sqrt(mpf(square))
        ends = sorted([middle - 10 * mu, epsilon - 0.5, epsilon, epsilon + 0.5, middle + 10 * mu])
        return mp.quad(lambda loss: mp.npdf(loss, middle, mu) * ranged(epsilon - loss), ends)

    with mp.workdps(20):
        for noise, added in (((), 0.0), ((gaussian(4),), 1 / 16)):
            found = compose(order, bounded_range("1/2"), *noise).delta(epsilon="1/4")
            expected = sum(float(chance) * mean(float(square) + added, mpf(1) / 4) for square, chance in chances) + mpf(1) / 8
            exact.encloses(found, expected, room="1e-10")


def the_lower_end_of_a_class_under_sampling_is_a_members(exact):
    """Randomised answers with half the range belong to the class of bounded range, and its worst pair is a law above it."""
    found = (3 * bounded_range(1).sampled(Poisson("1/4"))).delta(epsilon="1/10")
    with mp.workdps(30):
        likely, rate = 1 / (1 + mp.exp(-mpf(1) / 2)), mpf(1) / 4
        p, q = (likely, 1 - likely), (1 - likely, likely)
        mixed = tuple(rate * a + (1 - rate) * b for a, b in zip(p, q, strict=True))
        member = max(exact.gain(exact.products([(mixed, q)[::turn]] * 3), mp.exp(mpf(1) / 10)) for turn in (1, -1))
        assert exact.number(found.upper) >= member
        assert exact.number(found.lower) <= exact.gain(exact.products([(mixed, q)] * 3), mp.exp(mpf(1) / 10)) * mpf("1.25")


CHECKS = [
    poisson_samples_are_mixtures_in_both_directions,
    the_worse_direction_of_a_sample_counts,
    answers_under_sampling_are_mixtures_in_both_directions,
    the_worse_direction_of_a_sampled_gaussian_counts,
    the_worse_direction_of_a_class_counts,
    greatest_losses_of_samples_are_those_of_the_mixture,
    moments_of_samples_are_never_below_their_sums,
    sampling_is_not_amplified_where_a_record_is_replaced,
    samples_without_replacement_are_enclosed,
    shares_without_replacement_have_the_profile_of_the_theorem,
    composed_shares_lose_as_much_as_a_record_that_leaves_no_trace,
    allocations_are_means_over_the_secret_step,
    allocated_normal_releases_agree_with_an_integral,
    allocated_laplace_releases_agree_with_an_integral,
    shuffles_are_sums_over_hiding_reports,
    two_shuffles_lose_no_more_than_stated,
    orders_put_a_record_where_permutations_do,
    multiplicities_are_those_of_draws_with_replacement,
    orders_cost_the_mean_over_where_they_put_a_record,
    a_choice_and_an_order_cost_the_mean_over_both,
    the_lower_end_of_a_class_under_sampling_is_a_members,
]
