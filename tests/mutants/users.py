"""Checks of users and matrices: groups in samples, cut batches, patterns and rare losses beside numbers from other code."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

from dpaudit.accounting import (
    CyclicPoisson,
    FixedOrder,
    MinSeparation,
    Poisson,
    RandomAllocation,
    RandomOrder,
    SampledWithReplacement,
    Single,
    Tree,
    TruncatedPoisson,
    compose,
    explicit_pair,
    gaussian,
    laplace,
    matrix_mechanism,
    mixture,
    prefix_root,
    pure_dp,
    toeplitz,
)
from dpaudit.accounting.engines.binary import many_binary
from dpaudit.accounting.engines.closed_forms import closed_form
from dpaudit.accounting.engines.contour import contour
from dpaudit.accounting.engines.jumps import largest_jump
from dpaudit.accounting.engines.shape import below_chords, implied, known_at
from dpaudit.accounting.engines.tilted import lattice_for, tilted_lattice
from dpaudit.accounting.engines.tilts import tilted_end
from dpaudit.accounting.laws.unsampled import published_laws
from dpaudit.accounting.matrices.sensitivities import squared_sensitivity
from dpaudit.accounting.matrices.strategies import pattern_sum, strategy_of
from dpaudit.accounting.model.composition import DeltaAt


def delta_in_one_direction(loss, epsilon):
    """Exact delta of one release, the first dataset against the second."""
    return closed_form(loss.composition, DeltaAt(Fraction(epsilon)))


def is_near(found, value, digits=15):
    """The interval is narrow and holds the value up to its digits."""
    value = Fraction(value)
    room = value / 10**digits
    assert found.lower <= value + room
    assert value - room <= found.upper
    assert found.width <= room


def groups_are_mixtures_over_how_many_are_drawn(exact):
    release = gaussian(sigma=1).sampled(Poisson("1/10"))
    is_near(delta_in_one_direction(release.group(removed=2), "1/2"), "0.014528907704117948783")
    is_near(delta_in_one_direction(release.group(added=2), "1/5"), "0.000015100600690477958571")
    is_near(
        delta_in_one_direction(gaussian(sigma=1).sampled(Poisson("1/5")).group(removed=2, added=1), "1/2"),
        "0.083589525598636416436",
    )
    is_near(release.under("replace_one").delta(epsilon=1), "0.00032728440697453553498")
    assert release.group(2).delta(epsilon="1/2").upper >= release.user(records=2).delta(epsilon="1/2").lower


def cut_batches_lose_what_both_kinds_of_batches_do(exact):
    for cap, value in ((15, "0.000046067282561810323502"), (20, "2.2185794847016846821e-6")):
        found = gaussian(sigma=1).sampled(TruncatedPoisson(rate="1/100", cap=cap, records=1000)).delta(epsilon="1/2")
        assert Fraction(value) * (1 - Fraction(1, 10**15)) <= found.upper <= Fraction(value) * Fraction(1001, 1000)
        assert found.lower <= Fraction(value)


def patterns_are_the_worst_of_all(exact):
    rows = [[1, 0, 0, 0, 0], [2, 1, 0, 0, 0], [0, 1, 3, 0, 0], [-1, 0, 2, 1, 0], [1, 1, 0, 1, 2]]
    for matrix in (strategy_of(rows), toeplitz(prefix_root(bands=3), steps=7), toeplitz([1, 0, 3], steps=6), Tree(6)):
        for separation, count in ((1, 2), (2, 3), (3, 2)):
            patterns = [
                pattern
                for size in range(1, count + 1)
                for pattern in combinations(range(matrix.steps), size)
                if all(after - before >= separation for before, after in pairwise(pattern))
            ]
            worst = max(pattern_sum(matrix, pattern) for pattern in patterns)
            found = squared_sensitivity(matrix, MinSeparation(separation, participations=count))
            assert found.low <= worst <= found.high
            assert found.high >= max(pattern_sum(matrix, pattern, abs) for pattern in patterns)


def allocations_of_two_normal_steps_agree_with_an_integral(exact):
    for sigma, epsilon, value in (("1/2", 2, "0.23232134345906371041"), (2, "1/2", "0.018326594760935130162")):
        found = gaussian(sigma=sigma).sampled(RandomAllocation(2)).delta(epsilon=epsilon)
        assert found.lower <= Fraction(value) <= found.upper
        assert found.width <= found.upper / 1000


def epochs_and_steps_of_matrices_are_gaussian(exact):
    rows = [[2, 0, 0, 0], [-1, 1, 0, 0], [0, 2, 1, 0], [1, -1, 0, 3]]
    found = squared_sensitivity(strategy_of(rows), FixedOrder(epochs=2, steps=2))
    patterns = [(0, 2), (1, 3)]
    assert found.low == max(pattern_sum(strategy_of(rows), pattern) for pattern in patterns)
    assert found.high == max(pattern_sum(strategy_of(rows), pattern, abs) for pattern in patterns)
    single = matrix_mechanism([[3, 0], [4, 2]], noise_multiplier=2, participation=Single())
    assert single.delta(epsilon=1) == gaussian(sigma=2).delta(epsilon=1)
    bands = toeplitz([3, 4], steps=5)  # columns of length 5, the last one of 3
    sampled = matrix_mechanism(bands, noise_multiplier=1, participation=CyclicPoisson(rate="1/4", bands=2))
    rest = gaussian(sigma=1, sensitivity="3/5").sampled(Poisson("1/4"))
    assert sampled.delta(epsilon=1).meets(compose(2 * gaussian(sigma=1).sampled(Poisson("1/4")), rest).delta(epsilon=1))


def rare_losses_are_seen_from_below(exact):
    pair = explicit_pair(["1/4", "5/8", "1/8"], ["0", "3/4", "1/4"])
    once = largest_jump(pair.composition, Fraction(1, 4)).lower
    assert abs(once - pair.delta(epsilon="1/4", direction="remove").lower) < Fraction(1, 10**20)
    many = largest_jump((9 * pair).composition, Fraction(1, 4)).lower
    assert Fraction(9, 10) < many <= (9 * pair).delta(epsilon="1/4", direction="remove").upper
    near = explicit_pair(["3/4", "1/4"], ["1/2", "1/2"])
    for count in (2, 5):
        found = largest_jump((count * near).composition, Fraction(1, 10)).lower
        assert found <= (count * near).delta(epsilon="1/10", direction="remove").upper


def answers_beside_a_jump_of_the_tilted_law_are_narrow(exact):
    few = 8 * gaussian(sigma="1166/367").sampled(Poisson("10/833"))
    pairs = 5 * gaussian(sigma="2775/491").sampled(Poisson("18/961")).group(removed=1, added=1)
    for loss, epsilon in ((few, "1/1000"), (pairs, "13/238")):
        found = loss.delta(epsilon=epsilon, direction="remove")
        assert found.width < found.upper / 1000
    # On a lattice alone: a tilt on the other side of a jump leaves it a hundred times wider.
    rare, place = 30 * gaussian(sigma="14/25").sampled(Poisson("1/10000")), Fraction(1, 1000)
    found = lattice_for(rare.reversed().composition, epsilon=place).delta(place)
    assert found.width < found.upper / 1000


def moments_at_one_tilt_are_never_below_delta(exact):
    question = DeltaAt(Fraction(5))
    bound = tilted_end((3 * gaussian(sigma=2).sampled(Poisson("1/2"))).composition, question).upper
    found = (3 * gaussian(sigma=2).sampled(Poisson("1/2"))).delta(epsilon=5, direction="remove")
    assert found.lower <= bound <= found.upper * 12
    normal = tilted_end(gaussian(sigma=1).composition, question).upper
    assert Fraction("2.896e-6") < normal < Fraction("2.91e-6")


def lines_of_shown_mixtures_agree_with_their_lattice(exact):
    parts = [("1/3", gaussian(sigma=2).sampled(Poisson("1/5"))), ("2/3", gaussian(sigma=3))]
    loss, question = (20 * mixture(parts)).composition, DeltaAt(Fraction(1))
    line, lattice = contour(loss, question), tilted_lattice(loss, question)
    assert line.meets(lattice)
    assert line.width < line.upper / 10**9


def random_orders_lose_what_their_largest_batch_does(exact):
    release = gaussian(sigma=1, adjacency="replace_one")
    half = release.sampled(RandomOrder(records=4, batches=(2, 1)))
    alone = gaussian(sigma=1).sampled(Poisson("1/2")).delta(epsilon="1/2", direction="remove")
    assert half.delta(epsilon="1/2", direction="forward").lower >= alone.lower
    assert half.delta(epsilon="1/2").lower < release.delta(epsilon="1/2").lower


def shapes_imply_ends_around_the_truth(exact):
    normal = gaussian(sigma=1)
    known = [(Fraction(place), normal.delta(epsilon=place)) for place in ("1/4", "3/4", "5/4", "7/4")]
    truth = normal.delta(epsilon=1)
    found = implied(Fraction(1), known, None)
    assert found.lower <= truth.lower
    assert truth.upper <= found.upper
    assert found.width < truth.upper * 3 / 10
    alone = implied(Fraction(1), known[2:3], None)  # one place further out: the slope is at most 1
    assert truth.upper <= alone.upper
    ended = implied(Fraction(1), [], (Fraction(2), Fraction(1, 100)))
    assert ended.upper >= Fraction(1, 100)
    assert implied(Fraction(1), known[:1], None).lower <= truth.lower
    chord = below_chords(Fraction(1), [known_at(*one) for one in known])
    assert truth.upper <= chord.upper < Fraction(3, 10)


def many_equal_binary_losses_are_counted(exact):
    found = many_binary((10**6 * pure_dp("1/1000")).composition, DeltaAt(Fraction(1)))
    is_near(found, "0.12693661281682627277")
    is_near(many_binary((10**6 * pure_dp("1/1000")).composition, DeltaAt(Fraction("1.0005"))), "0.126845965673491455")


def few_outcomes_are_counted_one_by_one(exact):
    for epsilon, value in (("1/50", "0.025095478920375013273"), ("3/20", "0.00030895284614751387802")):
        is_near((3 * pure_dp("3/10").sampled(Poisson("3/20"))).delta(epsilon=epsilon), value)


def releases_on_one_sample_share_their_coin(exact):
    shared = compose(4 * gaussian(sigma=2), pure_dp("1/2")).sampled(Poisson("1/10"), together=True)
    is_near(shared.delta(epsilon="1/4", direction="remove"), "0.010871494185456696796")
    is_near(shared.delta(epsilon="1/20", direction="add"), "0.013123623225228101478")


def groups_under_other_noise_are_mixtures_too(exact):
    wide = laplace(scale="3/2").sampled(Poisson("1/5"))
    is_near(
        laplace(scale=2).sampled(Poisson("1/10")).group(removed=2).delta(epsilon="1/20", direction="remove"),
        "0.024989443165373298384",
    )
    is_near(wide.group(removed=3).delta(epsilon="1/10", direction="add"), "0.10665070485928866189")
    promised = pure_dp("1/2").sampled(Poisson("1/5")).group(removed=2)
    found = promised.delta(epsilon="1/10", direction="remove")  # a class: no mechanism is known to lose as much
    assert found.lower < Fraction("0.0544064468322866") < found.upper < Fraction("0.0544064468322867")
    mixed = pure_dp("1/2").sampled(Poisson("1/5")).group(removed=1, added=1)
    is_near(mixed.delta(epsilon="1/10", direction="remove"), "0.042112211543835159652")


def redrawn_and_zeroed_records_are_priced_from_both_sides(exact):
    release = gaussian(sigma=2, adjacency="replace_one").sampled(SampledWithReplacement(size=10, of=1000))
    found = release.delta(epsilon="1/10")
    assert 0 < found.lower <= Fraction("3.3424827153640140008e-7") * (1 + Fraction(1, 10**15))
    assert Fraction("3.3424827153640140008e-7") * (1 - Fraction(1, 10**15)) <= found.upper < Fraction("3.3425e-7")
    batch = gaussian(sigma="3/2").sampled(TruncatedPoisson(rate="1/50", cap=14, records=500))
    for adjacency, value in (("replace_one", "0.000068967515427630401676"), ("zero_out", "0.000067982881425713191504")):
        found = batch.under(adjacency).delta(epsilon="1/4", direction="forward")
        assert Fraction(value) * (1 - Fraction(1, 10**12)) <= found.upper <= Fraction(value) * (1 + Fraction(1, 10**6))


def no_sample_loses_more_than_the_whole(exact):
    for sampled, whole in (
        (laplace(scale=1).sampled(RandomAllocation(3)), laplace(scale=1)),
        (gaussian(sigma=1).sampled(Poisson("1/3")), gaussian(sigma=1)),
    ):
        ways = published_laws((2 * sampled).composition)
        assert [(2 * whole).composition] == list(ways)


def errors_are_those_of_the_null_hypothesis_that_was_asked_for(exact):
    sampled = gaussian(sigma=1).sampled(Poisson("1/10"))
    for direction, value in (("remove", "0.92904889771585559294"), ("add", "0.94496555714497627281")):
        found = sampled.tradeoff(alpha="1/20", direction=direction)
        assert found.lower <= Fraction(value) <= found.upper
        assert found.width < Fraction(1, 10**9)


CHECKS = [
    shapes_imply_ends_around_the_truth,
    many_equal_binary_losses_are_counted,
    few_outcomes_are_counted_one_by_one,
    releases_on_one_sample_share_their_coin,
    groups_under_other_noise_are_mixtures_too,
    redrawn_and_zeroed_records_are_priced_from_both_sides,
    no_sample_loses_more_than_the_whole,
    errors_are_those_of_the_null_hypothesis_that_was_asked_for,
    epochs_and_steps_of_matrices_are_gaussian,
    rare_losses_are_seen_from_below,
    answers_beside_a_jump_of_the_tilted_law_are_narrow,
    lines_of_shown_mixtures_agree_with_their_lattice,
    moments_at_one_tilt_are_never_below_delta,
    random_orders_lose_what_their_largest_batch_does,
    groups_are_mixtures_over_how_many_are_drawn,
    cut_batches_lose_what_both_kinds_of_batches_do,
    patterns_are_the_worst_of_all,
    allocations_of_two_normal_steps_agree_with_an_integral,
]
