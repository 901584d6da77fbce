"""Lemmas about learners are about the code: what it computes meets their hypotheses and their goals, exactly."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import cache, reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.claims import Adjacency
from dpaudit.verifier.evaluation import value_of
from learners.choices import arcs, hinge_minimum
from learners.choices.counts import Listed, errors, ramps, totals
from learners.choices.generalized import GeneralizedExponential
from learners.choices.hinge_minimum import Scale, least_hinge
from learners.choices.levels import weigh
from learners.estimator import Public
from learners.halfspaces.descent import active_sum
from learners.halfspaces.literal import SCORE_BITS, hinge_scores
from learners.halfspaces.utility import kept_margin
from learners.kernels.guessing import MOVED, grid_of
from learners.kernels.semi_interactive import noisy_values
from learners.kernels.span import SLACK, SpanTeller
from learners.margins.rivals import against_rivals
from learners.perturbation.objective import linear_release, perturbed_objective
from learners.perturbation.svm import PrivateSVM
from learners.rows.rows import Rows, row_bound
from learners.solvers import slopes
from learners.solvers.hinge import HingeStep, hinges
from learners.solvers.losses import Loss
from learners.solvers.minimum import minimum
from learners.solvers.phased import WEIGHT_BITS, mean_of_iterates, on_ball, rounded_mean, schedule
from learners.solvers.plans import DIAGONAL, OFF_DIAGONAL, moment_sensitivity
from proofs.chain import ALL_LEMMAS
from proofs.learning.tables import prove_slopes
from proofs.rounding import ProofFailed


@cache
def read(name):
    """Hypotheses and whole of a lemma, and which of its variables are whole numbers."""
    lemma = ALL_LEMMAS[name]
    kinds = {variable: kind for variable, _, kind in (one.partition(":") for one in lemma.variables.split())}
    return lemma.premises(), lemma.obligations()[-1], kinds


def meets(name, **values):
    """Whether values that the code computed meet the hypotheses of a lemma, and its goal."""
    premises, whole, kinds = read(name)
    assert set(values) == set(kinds)
    exact = {key: int(value) if kinds[key] == "int" else Fraction(value) for key, value in values.items()}
    assert exact == values
    assert all(value_of(term, exact) for term in premises), f"{name}: the code does not meet a hypothesis at {exact}"
    return bool(value_of(whole, exact))


def rows_of(features, labels, bound):
    """Rows as they are."""
    return Rows(np.array(features, dtype=np.int32), bound, Fraction(1), np.array(labels, dtype=np.int64))


BOUND = 20
entry = st.integers(-14, 14)
record = st.tuples(entry, entry)
records = st.lists(st.tuples(record, st.integers(0, 1)), min_size=1, max_size=4)
dyadic = st.integers(-(2**10), 2**10).map(lambda value: value / 2**8)


@given(st.integers(1, 26), st.integers(0, 2**26))
def test_the_bound_of_a_row_is_a_root_rounded_up(bits, constant):
    bound = row_bound(bits, constant)
    assert meets("sums.root_above", k=bound - 1, s=4**bits + constant**2)
    assert meets("sums.constant", q=4**bits, R=4**bits, c=constant, B=bound)


@given(st.integers(-(2**40), 2**40), st.integers(0, 1), st.integers(8, 36))
def test_a_slope_of_two_classes_is_an_entry_with_a_sign(margin, label, bits):
    (slope,) = slopes.logistic_slopes(np.array([margin]), np.array([label]), bits).tolist()
    sign = 2 * label - 1
    assert slope == sign * min(slopes.UNIT, slope * sign)
    assert meets("sums.logistic", U=slopes.UNIT, t=slope * sign, s=sign)


@given(st.lists(st.integers(-(2**16), 2**16), min_size=2, max_size=6), st.integers(0, 5))
def test_a_slope_of_several_classes_is_a_residual_over_its_length(margins, place):
    label = place % len(margins)
    found = slopes.softmax_slopes(np.array([margins]), np.array([label]), 12)[0].tolist()
    cells = [min((max(margins) - margin) >> 4, slopes._CELLS - 1) for margin in margins]
    likely = [int(slopes._EXPONENTIAL[cell]) for cell in cells]
    residual = [slopes._SHARE * (place == label) - each * slopes._SHARE // sum(likely) for place, each in enumerate(likely)]
    squares = sum(each**2 for each in residual)
    (root,) = slopes._root_above(np.array([squares])).tolist()
    below = root if root**2 <= squares else root - 1
    assert meets("sums.rounded_root", r=below, s=squares)
    length = max(root, slopes._CLIP)
    done = cut = 0
    for slope, part in zip(found, residual, strict=True):
        assert meets("sums.cut_step", k=abs(slope), r=abs(part), N=length, U=slopes.UNIT, S=done, T=cut)
        done, cut = done + part**2, cut + slope**2
    assert meets("sums.cut", W=length**2, V=slopes.UNIT**2, S=done, T=cut)


def squared_distance(first, second):
    """Squared length of a difference by the lemma, entry by entry, with both squared lengths and the inner product."""

    def step(so_far, pair):
        left, right, inner = so_far
        x, y = pair
        values = {"D": left - 2 * inner + right, "E": left + 2 * inner + right, "X": left, "Y": right, "u": inner, "x": x, "y": y}
        assert meets("sums.lengths_step", **values)
        return left + x**2, right + y**2, inner + x * y

    left, right, inner = reduce(step, zip(first, second, strict=True), (0, 0, 0))
    return left - 2 * inner + right, left, right, inner


@settings(max_examples=40, deadline=None)
@given(records, record, st.integers(0, 1), st.tuples(entry, entry), st.integers(2, 4))
def test_a_replaced_record_moves_a_gradient_as_the_lemmas_say(others, other, label, weights, classes):
    def pulled(data):
        rows = rows_of([features for features, _ in data], [each for _, each in data], BOUND)
        if classes == 2:
            return rows.weighted_sum(slopes.logistic_slopes(rows.margins(np.array(weights)), rows.labels, 8))
        columns = np.outer(weights, np.arange(classes))
        return rows.weighted_sum(slopes.softmax_slopes(rows.margins(columns), rows.labels, 8))

    before, after = others, [(other, label), *others[1:]]
    moved = (pulled(before) - pulled(after)).ravel().tolist()
    parts = [pulled(data[:1]).ravel().tolist() for data in (before, after)]
    distance, left, right, inner = squared_distance(*parts)
    assert distance == sum(each**2 for each in moved)
    most = (slopes.UNIT * BOUND) ** 2
    assert meets("sums.replaced", X=left, Y=right, u=inner, M=most)
    norm = sum(each**2 for each in other)
    assert meets("sums.contribution", a=Fraction(right, norm or 1), Q=norm, V=slopes.UNIT**2, W=BOUND**2)


@settings(max_examples=40, deadline=None)
@given(records, record)
def test_a_replaced_record_moves_a_second_moment_as_the_lemmas_say(others, other):
    rest, labels = [features for features, _ in others[1:]], [0] * len(others)
    first, second = (rows_of([each, *rest], labels, BOUND) for each in (others[0][0], other))
    moved = (first.second_moment() - second.second_moment()).tolist()
    q, p = others[0][0], other
    whole = (sum(x * x for x in q), sum(y * y for y in p), sum(x * y for x, y in zip(q, p, strict=True)))
    a = b = u = matrix = 0
    for x, y in zip(q, p, strict=True):
        row = (0, 0, 0, 0)
        for c, d in zip(q, p, strict=True):
            assert meets("sums.outer_row", R=row[3], a=row[0], b=row[1], x=x, y=y, u=row[2], c=c, d=d)
            row = (row[0] + c * c, row[1] + d * d, row[2] + c * d, row[3] + (x * c - y * d) ** 2)
        assert meets("sums.outer_all", F=matrix, a=a, b=b, u=u, x=x, y=y, A=whole[0], B=whole[1], U=whole[2])
        a, b, u, matrix = a + x * x, b + y * y, u + x * y, matrix + row[3]
    assert matrix == sum(each**2 for line in moved for each in line)
    assert meets("learners.outer_products", a=a, b=b, u=u, M=BOUND**2)
    (one, both), (_, two) = moved
    triangle = (DIAGONAL * one) ** 2 + (DIAGONAL * two) ** 2 + (OFF_DIAGONAL * both) ** 2
    assert meets("sums.triangle_step", T=(DIAGONAL * one) ** 2, F=one**2, d=two, e=both)
    assert meets("sums.moment", T=triangle, F=matrix, v=2, M=BOUND**2, S=moment_sensitivity(BOUND, 2))
    assert meets("sums.root_above", k=moment_sensitivity(BOUND, 1) - 1, s=(DIAGONAL * BOUND**2) ** 2)


@given(dyadic, dyadic, st.integers(1, 64), st.integers(1, 64), st.integers(1, 64))
def test_the_length_of_a_step_is_that_of_the_lemma(first, second, margin, pull, limit):
    step = HingeStep(margin / 64, pull / 64, limit / 64)
    low, high = sorted((first, second))
    assert meets("passes.slope", A=step.pull, C=step.limit, p=step.margin, a=high, b=low)
    lengths = [Fraction(step.length(at)) for at in (low, high)]
    exact = [min(max(Fraction(step.pull) * (Fraction(step.margin) - Fraction(at)), 0), Fraction(step.limit)) for at in (low, high)]
    assert exact == lengths


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 4000), st.integers(1, 300), st.integers(1, 2**20), st.integers(1, 50), st.integers(1, 40))
def test_a_schedule_contracts_and_charges_what_the_lemmas_say(count, columns, bound, margin, multiplier):
    made = schedule(records=count, columns=columns, bound=bound, margin=Fraction(margin, 50), noise_multiplier=multiplier)
    square, first = made.norm**2, made.phases[0].step
    drift = (4 * columns + 16) * Fraction(1, 2**53) * (1 + Fraction(first.limit) * made.norm)
    assert meets("passes.drift", k=columns, c=Fraction(first.limit) * made.norm)
    for index, phase in enumerate(made.phases):
        pull, limit, n = Fraction(phase.step.pull), Fraction(phase.step.limit), phase.records
        assert Fraction(first.pull) / 4**index == pull
        assert meets("passes.quarter", A=first.pull, R=square, f=4**index)
        assert meets("passes.steepness", c=pull, t=square, A=pull, R=square)
        assert meets("passes.own_step", s=limit, t=square, C=limit, R=square)
        steps, lattice = 2 * limit * made.norm + 2 * n * drift, Fraction(phase.lattice)
        root = next(size for size in range(1, columns + 1) if size**2 >= columns)
        assert phase.release.sensitivity * lattice >= steps + n * lattice * root
        for place in {0, n // 2, n - 1}:
            assert meets("passes.rounded", d=(n - place) * steps / n, T=steps, G=lattice * root, n=n, q=place)


@given(st.lists(record, min_size=4, max_size=4), st.integers(0, 1))
def test_a_mean_is_rounded_to_the_nearest_points(features, label):
    rows = rows_of(features, [label] * 4, 32)
    made = schedule(records=4, columns=2, bound=32, margin="1/2", noise_multiplier=4)
    phase = made.phases[0]
    places = np.arange(phase.records)
    signed = rows.steps[places] * (made.unit * (2 * label - 1))
    mean = mean_of_iterates(signed, np.zeros(2), phase.step)
    points = rounded_mean(rows, made, phase, places, np.zeros(2)) * phase.lattice
    for r, x in zip(points.tolist(), mean.tolist(), strict=True):
        assert meets("passes.nearest", x=Fraction(x), y=0, r=Fraction(r), s=0, g=Fraction(phase.lattice))


@given(st.lists(st.floats(-4, 4, allow_subnormal=False), min_size=1, max_size=6))
def test_released_weights_stay_in_the_ball_entry_by_entry(weights):
    done = inside = Fraction(0)
    kept = on_ball(np.array(weights)).tolist()
    length = max(Fraction(1), Fraction(float(np.linalg.norm(weights)) * (1 + 2.0**-50)))
    for weight, whole in zip(weights, kept, strict=True):
        unit = Fraction(weight) / length
        exact = Fraction(whole, 2**WEIGHT_BITS)
        assert meets("passes.ball", z=unit, k=exact, s=done, t=inside, R=1)
        done, inside = done + unit**2, inside + exact**2


@given(records, record, st.integers(0, 1), st.tuples(entry, entry), st.integers(-9, 9))
def test_one_record_moves_counts_as_the_lemmas_say(others, other, label, candidate, threshold):
    def counted(data, level):
        rows = rows_of([features for features, _ in data], [each for _, each in data], BOUND)
        (count,) = totals(rows, Listed(np.array(candidate)[:, np.newaxis]), errors(level)).tolist()
        return count

    def margin(features, side):
        return (2 * side - 1) * sum(x * y for x, y in zip(features, candidate, strict=True))

    old, new = others[0], (other, label)
    rest = counted(others, threshold) - (margin(*old) <= threshold)
    assert counted([new, *others[1:]], threshold) == rest + (margin(*new) <= threshold)
    assert meets("scores.count", s=rest, m=margin(*old), n=margin(*new), t=threshold)
    rest = counted(others, 0) - (margin(*old) <= 0)
    assert counted([((0, 0), label), *others[1:]], 0) == rest + 1
    assert meets("scores.null", s=rest, m=margin(*old))


@given(st.integers(-60, 60), st.integers(-60, 60), st.integers(1, 40), st.integers(0, 8))
def test_losses_on_a_grid_are_those_of_the_lemmas(first, second, margin, bits):
    ramp = ramps(margin=margin, bits=bits)
    for at in (first, second):
        assert meets("scores.ramp", u=at, e=margin, S=2**bits, v=int(ramp(np.array([at]))[0]))
    low, high = sorted((first, second))
    hinge, change = hinges(margin=margin, bits=bits, largest=60)
    losses = {at: int(hinge(np.array([at]))[0]) for at in (low, high, -60, 60)}
    exact = {at: max(0, margin - at) * 2**bits for at in losses}
    assert meets("scores.falling", x=exact[low], y=exact[high], e=margin, v=losses[low], w=losses[high])
    assert losses[-60] - losses[60] == change
    assert meets("scores.ends", s=0, v=losses[low], w=losses[high], low=losses[-60], high=losses[60])


@given(entry, entry, st.integers(1, 9), st.integers(-9, 9))
def test_the_points_of_an_arc_are_those_of_the_lemmas(first, second, side, along):
    low, high = (int(end[0]) - side for end in arcs._right_points(np.array([first]), np.array([second]), side))
    right = side * first + along * second > 0
    if -side <= along < side:
        assert (low <= along < high) is right
    if second > 0 and -side < low < side:
        assert meets("scores.arc_from", x=side * first, b=second, t=max(along, low), f=low - 1)
        assert meets("scores.arc_after", x=side * first, b=second, t=max(along, low), f=low - 1)
    if second < 0 and -side < high < side:
        assert meets("scores.arc_until", x=side * first, s=-second, t=min(along, high - 1), c=high)
        assert meets("scores.arc_before", x=side * first, s=-second, t=min(along, high - 1), c=high)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4).filter(any), st.integers(0, 10**9))
def test_a_number_names_one_place_of_one_level(numbers, number):
    levels = weigh(numbers, Fraction(2), 8)
    below = number % levels.sums[-1]
    position, place = levels.find(below)
    weight = levels.weights[position]
    rest = below - (levels.sums[position - 1] if position else 0)
    present = [each for each in numbers if each]
    assert 0 <= place < present[position]
    assert meets("scores.place", r=rest, U=weight, j=place, k=place)


@given(st.tuples(dyadic, dyadic), st.tuples(dyadic, dyadic), st.integers(0, 6))
def test_leads_are_those_of_the_lemmas(scores, others, bits):
    grid = Fraction(bits, 16)
    moves = [max(abs(Fraction(one) - Fraction(other)), Fraction(1, 2**9)) for one, other in zip(scores, others, strict=True)]
    mechanism = GeneralizedExponential(sensitivities=moves, epsilon=1, grid=grid)
    (q, r), (p, s) = ([mechanism._on_grid(each) for each in data] for data in (scores, others))
    for x, y, on, own, move in zip(scores, others, (q, r), (p, s), moves, strict=True):
        assert meets("scores.grid", x=Fraction(x), y=Fraction(y), r=on, s=own, g=grid, d=move)
    lead, other = (mechanism.normalised([Fraction(each) for each in data])[0] for data in (scores, others))
    a, b = mechanism.raised
    x, y = ((own - its + mechanism.threshold * (a - b)) / (a + b) for own, its in ((q, r), (p, s)))
    assert meets("learners.generalised_score", q=q, r=r, p=p, s=s, a=a, b=b, t=mechanism.threshold, x=x, y=y)
    assert (max(x, 0), max(y, 0)) == (lead, other)
    assert meets("selection.maximum", a=0, b=0, x=x, y=y, d=1)


@given(records, st.tuples(st.integers(-(2**38), 2**38), st.integers(-(2**38), 2**38)), st.integers(0, 4))
def test_a_least_loss_is_bracketed_as_the_lemmas_say(data, weights, exponent):
    rows = rows_of([[each << 7 for each in features] for features, _ in data], [label for _, label in data], 2**12)
    scale, c, tau, sides = Scale(len(data), exponent), 2**exponent, Fraction(1, 16), (2 * rows.labels - 1).tolist()
    value, below = hinge_minimum._bounds(rows, np.array(sides), scale, np.array(weights, dtype=np.int64))
    width, losses = 2 * tau / c, []
    for row, side in zip(rows.steps.tolist(), sides, strict=True):
        score = side * Fraction(sum(x * y for x, y in zip(row, weights, strict=True)), 2**52)
        short = max(Fraction(0), Fraction(1, c) - score)
        assert meets("scores.range", c=c, u=score, z=short)
        inside = short <= width
        assert meets("scores.parabola" if inside else "scores.line", c=c, z=short, h=width)
        assert meets("scores.parabola_bias", c=c, z=short, h=width)
        losses.append(c * short**2 / (2 * width) if inside else c * (short - width / 2))
    square = Fraction(sum(weight**2 for weight in weights), 4**40)
    assert value == sum(losses) / len(losses) + tau * square
    ridge, found = Fraction(scale.ridge), least_hinge(rows, scale)
    assert ridge == 2 * tau
    assert meets("scores.lowest", H=value, r=min(square, 1), K=ridge)
    assert meets("scores.lowest_border", H=value + ridge, r=min(square, 1), K=ridge)
    # No value is below the bound of another place.
    assert below <= min(value, found)
    change = Fraction(1 + c, len(data))
    assert scale.sensitivity == change + scale.tolerance


@given(st.lists(entry, min_size=2, max_size=2), st.integers(0, 2))
def test_a_row_against_a_rival_is_as_long_as_the_lemma_says(features, label):
    rows = rows_of([features], [label], BOUND)
    paired = against_rivals(rows, classes=3, seed=1)
    square = sum(each**2 for each in features)
    assert 2 * square == sum(int(each) ** 2 for each in paired.steps.data)
    assert meets("sums.beside", q=square, b=BOUND, B=paired.bound)
    assert meets("sums.root_above", k=paired.bound - 1, s=2 * BOUND**2)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 10**4), st.integers(1, 60), st.fractions(Fraction(1, 100), 4, max_denominator=100))
def test_noise_of_minimisers_is_for_what_the_lemmas_say(count, columns, ridge):
    found = minimum(records=count, columns=columns, ridge=ridge, loss="huber")
    plan, unit = found.objective, 2**found.weight_bits
    moved = 2 * plan.loss.steepest * plan.norm / (count * ridge)
    values = {"D": moved, "L": plan.loss.steepest, "R": plan.norm, "n": count, "strength": ridge}
    assert meets("sensitivity.minimiser", **values)
    residual = plan.radius * ridge
    assert meets(
        "sensitivity.minimiser_residual", D=plan.sensitivity, E=plan.radius, F=plan.radius, H=moved, g=residual, strength=ridge
    )
    root = next(size for size in range(1, columns + 1) if size**2 >= columns)
    assert meets("passes.triangle", x=plan.sensitivity * unit, y=root, u=0, Z=(plan.sensitivity * unit) ** 2 + root**2)
    assert found.sensitivity >= plan.sensitivity * unit + root


@given(st.lists(st.integers(-(2**30), 2**30), min_size=1, max_size=4), st.integers(-(2**12), 2**12), st.integers(1, 2**8))
def test_values_on_a_grid_move_by_what_the_lemmas_say(weights, moved, sensitivity):
    found = minimum(records=1000, columns=len(weights), ridge="1/100")
    grid, part = grid_of(found), min(abs(moved), found.sensitivity)
    first, second = np.array(weights), np.array([weights[0] + part, *weights[1:]])
    image = np.eye(len(weights), dtype=np.int64)[0] << 20
    x, y = (Fraction(int(each @ image) * MOVED, grid.moves) + Fraction(1, 2) for each in (first, second))
    j, k = grid.value(first, image), grid.value(second, image)
    assert meets("sensitivity.floor", x=x, y=y, c=MOVED, j=j, k=k)
    assert meets("minimisers.differences", x=j, y=k, g=sensitivity, d=abs(j - k))
    told = noisy_values(rows_of([[2**20]], [0], 2**20), public(1), minimum(records=1000, columns=1, ridge="1/100"), "literal")
    unit = 1 << told.shift
    x, y = (Fraction(2 * weight + unit, 2 * unit) for weight in (weights[0], weights[0] + moved))
    values = [(weight + (unit >> 1)) >> told.shift for weight in (weights[0], weights[0] + moved)]
    if unit > 1:
        assert meets("minimisers.values", x=x, y=y, d=abs(x - y), j=values[0], k=values[1], m=abs(moved) // unit)
    assert told.release.sensitivity == ((told.found.sensitivity << 20) >> told.shift) + 1


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 10**4), st.integers(1, 9), st.fractions(Fraction(1, 100), 4, max_denominator=100))
def test_a_random_term_pays_for_what_the_lemmas_say(count, columns, ridge):
    plan = perturbed_objective(records=count, columns=columns, ridge=ridge, loss=Loss("huber"))
    release = linear_release(plan, epsilon=Fraction(1), lattice=Fraction(1, 64), adjacency=Adjacency("replace_one"))
    steep, stretch = plan.loss.steepest, release.parameter("stretch")
    assert meets("minimisers.linear_term", b=steep, p=-steep, g=-steep, h=steep, r=0, s=steep, t=release.sensitivity)
    curvature, directions = plan.loss.curvature, 1 / (count * ridge)
    assert meets("minimisers.curvature", a=curvature, b=0, u=directions, v=0, c=curvature, N=directions)
    assert stretch == curvature * directions
    assert release.parameter("scale") >= release.sensitivity


@given(st.lists(entry, min_size=1, max_size=6))
def test_sizes_of_entries_sum_to_what_the_lemma_says(entries):
    sizes = squares = 0
    for count, each in enumerate(map(abs, entries)):
        if count:
            assert meets("minimisers.sizes_step", S=sizes, T=squares, x=each, i=count)
        sizes, squares = sizes + each, squares + each**2
        assert meets("minimisers.rounded_step", S=count, e=1, i=count)
    noise = PrivateSVM(epsilon=1, feature_norm=1, classes=[0, 1])._design(public(len(entries)), len(entries), Loss("huber"))
    found = minimum(records=100, columns=len(entries), ridge=noise.objective.ridge, loss="huber")
    assert noise.releases[0].sensitivity ** 2 >= len(entries) * found.sensitivity**2


@given(st.lists(st.tuples(entry, entry, entry), min_size=3, max_size=4), st.tuples(entry, entry, entry))
def test_directions_that_are_read_are_as_near_to_right_angles_as_the_lemmas_need(points, weights):
    teller = SpanTeller(np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64), 0, 1e-3)
    for point in points:
        teller.answer(np.array(point) << 15)
    gram = (teller._directions @ teller._directions.T).tolist()
    assert [sum(map(abs, row)) for row in gram] == teller._sums
    assert all(each <= (1 + SLACK) * 4**20 for each in teller._sums)
    form = bound = sum(gram[place][place] * weights[place] ** 2 for place in range(len(gram)))
    for first, second in itertools.combinations(range(len(gram)), 2):
        x, y, product = weights[first], weights[second], gram[first][second]
        assert meets("minimisers.products", x=x, y=y)
        assert meets("minimisers.row_sums", Q=form, T=bound, g=product, h=abs(product), z=x * y, w=x**2 + y**2)
        form, bound = form + 2 * product * x * y, bound + abs(product) * (x**2 + y**2)
    assert bound == sum(total * weight**2 for total, weight in zip(teller._sums, weights, strict=False))


@given(records, record, st.integers(0, 1), st.tuples(entry, entry), st.integers(-200, 200))
def test_a_replaced_record_moves_a_sum_of_active_ones_as_the_lemmas_say(others, other, label, weights, threshold):
    def pulled(data):
        rows = rows_of([features for features, _ in data], [each for _, each in data], BOUND)
        return active_sum(rows, 2 * rows.labels - 1, np.array(weights), threshold).tolist()

    after = [(other, label), *others[1:]]
    distance, left, right, inner = squared_distance(pulled(others[:1]), pulled(after[:1]))
    assert distance == sum((x - y) ** 2 for x, y in zip(pulled(others), pulled(after), strict=True))
    assert meets("sums.contribution", a=1, Q=left, V=1, W=BOUND**2)
    assert meets("sums.replaced", X=left, Y=right, u=inner, M=BOUND**2)


@given(st.integers(1, 100), st.integers(-1000, 1000), st.integers(-1000, 1000))
def test_the_literal_hinge_and_the_kept_margin_are_those_of_the_lemmas(parts, first, second):
    margin = Fraction(parts, 100)
    kept = kept_margin(margin, columns_in=50, columns=10, jl_fraction=Fraction(1, 100), lattice_bits=40)
    exact = (margin - margin / 100) / (1 + margin / 100)
    assert meets("learners.kept_margin", g=margin, t=margin / 100, k=exact)
    assert 0 <= exact - kept < Fraction(1, 2**30)
    assert meets("learners.kept_margin_third", g=margin, t=margin / 3, k=(margin - margin / 3) / (1 + margin / 3))
    assert meets("learners.margin_gap", g=margin)
    loss, change = hinge_scores(high=96 * parts, low=10 * parts, largest=10**4)
    values = [Fraction(max(0, 96 * parts - at), 86 * parts) for at in (first, second)]
    for at, value in zip((first, second), values, strict=True):
        assert 0 <= int(loss(np.array([at]))[0]) - value * 2**SCORE_BITS < 1
        assert meets("learners.hinge_covers", g=margin, m=Fraction(at, 10**4), l=value)
        assert meets("learners.hinge_range", g=margin, m=Fraction(at, 10**4), l=value)
    (one, other), (least, most) = values, sorted((first, second))
    assert meets("learners.hinge_slope", g=margin, m=Fraction(first, 10**4), k=Fraction(second, 10**4), l=one, h=other)
    ends = [int(loss(np.array([at]))[0]) for at in (-(10**4), 10**4)]
    assert meets("scores.ends", s=0, v=int(loss(np.array([least]))[0]), w=int(loss(np.array([most]))[0]), low=ends[0], high=ends[1])
    assert ends[0] - ends[1] == change


def public(features):
    """A hundred records of two classes."""
    return Public(100, features, 2, Fraction(1), Fraction(1), Fraction(1, 10**6), Adjacency("replace_one"))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("_LOGISTIC", lambda: slopes._LOGISTIC + 1, "larger than the unit"),
        ("_LOGISTIC", slopes._LOGISTIC[::-1].copy, "do not rise"),
        ("_EXPONENTIAL", lambda: slopes._EXPONENTIAL - 2**20, "is negative"),
        ("_EXPONENTIAL", lambda: slopes._EXPONENTIAL[1:], "every cell"),
        ("_CLIP", lambda: slopes._SHARE, "cut where"),
    ],
)
def test_tables_that_do_not_bound_slopes_are_refused(monkeypatch, name, value, said):
    monkeypatch.setattr(slopes, name, value())
    with pytest.raises(ProofFailed, match=said):
        prove_slopes()
