"""Noisy sums of clipped rows: right law, right sensitivity, one path for log and price, refusals before any bit is drawn."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dpaudit.accounting import price_releases
from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from mechanisms import (
    DiscreteLaplace,
    EuclideanLaplace,
    InsecureSeededSourceForTestsOnly,
    RoundedGaussian,
    VectorMechanism,
    clip_and_sum,
    clip_rows,
)

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")

ROWS = np.array([[3.0, 4.0, 0.0], [0.25, -0.5, 0.125], [math.nan, 1.0, 1.0]])


def vector(**changes):
    return VectorMechanism(**{"norm_bound": 1, "sigma": 2, **changes})


def seeded():
    return InsecureSeededSourceForTestsOnly(41)


FAMILIES = [
    ({"sigma": 3}, lambda n, d: RoundedGaussian(3 * 2**21).sample(n * d, source=seeded()).reshape(n, d)),
    (
        {"sigma": None, "noise_multiplier": "1/2", "norm_bound": "1/3", "adjacency": "replace_one"},
        lambda n, d: RoundedGaussian(2**21).sample(n * d, source=seeded()).reshape(n, d),
    ),
    (
        {"sigma": None, "epsilon": "1/2", "lattice_bits": 4, "adjacency": "replace_one"},
        lambda n, d: EuclideanLaplace(64, dimension=d).sample(n, source=seeded()),
    ),
    (
        {"sigma": None, "epsilon": 2, "norm": "l1", "norm_bound": 7, "lattice_bits": 10, "adjacency": "zero_out"},
        lambda n, d: DiscreteLaplace(512).sample(n * d, source=seeded()).reshape(n, d),
    ),
]


@pytest.mark.parametrize(("changes", "noise"), FAMILIES)
def test_a_release_is_the_sum_of_clipped_rows_plus_a_draw_of_the_law(changes, noise):
    mechanism = vector(**changes)
    total = clip_and_sum(ROWS, norm_bound=mechanism.norm_bound, norm=mechanism.norm, lattice_bits=mechanism.lattice_bits)
    assert (total + noise(5, 3)).tolist() == mechanism.releases(ROWS, 5, seeded()).tolist()
    assert (total + noise(1, 3)[0]).tolist() == mechanism.release(ROWS, seeded()).tolist()
    assert (total + noise(1, 3)[0]).tolist() == mechanism.release_steps(total, seeded()).tolist()
    released = mechanism.release(ROWS)
    assert ((3,), np.int64) == (released.shape, released.dtype)
    assert [float(step * mechanism.lattice) for step in released.tolist()] == pytest.approx(mechanism.in_units(released).tolist())


@pytest.mark.parametrize("norm", ["l1", "l2"])
@given(
    first=arrays.arrays(np.float64, (3, 4), elements=st.floats()),
    other=arrays.arrays(np.float64, 4, elements=st.floats()),
    bits=st.integers(1, 26),
)
def test_one_row_moves_the_sum_by_at_most_the_sensitivity(norm, first, other, bits):
    def moved(before, after):
        steps = [abs(int(step)) for step in clip_and_sum(after, **options) - clip_and_sum(before, **options)]
        return sum(steps) ** 2 if norm == "l1" else sum(step**2 for step in steps)

    options = {"norm_bound": "5/3", "norm": norm, "lattice_bits": bits}
    replaced, zeroed = first.copy(), first.copy()
    replaced[1], zeroed[1] = other, 0.0
    for adjacency, after in (("add_remove", np.delete(first, 1, axis=0)), ("zero_out", zeroed), ("replace_one", replaced)):
        mechanism = vector(**options, sigma=None, epsilon=1, adjacency=adjacency)
        assert moved(first, after) <= (mechanism.sensitivity / mechanism.lattice) ** 2


def test_opposite_rows_attain_the_sensitivity_of_replacing():
    mechanism = vector(adjacency="replace_one")
    before, after = (clip_rows(sign * np.array([[5.0, 0.0]]), norm_bound=1) for sign in (1, -1))
    assert mechanism.sensitivity / mechanism.lattice == (before - after).max()
    assert Fraction(2) == mechanism.sensitivity


def test_an_empty_dataset_is_released_like_any_other():
    assert (4,) == vector().release(np.zeros((0, 4))).shape


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({}, "rounded_gaussian"),
        ({"sigma": None, "epsilon": 1}, "euclidean_laplace"),
        ({"sigma": None, "epsilon": 1, "norm": "l1"}, "discrete_laplace"),
    ],
)
@pytest.mark.parametrize("adjacency", ["add_remove", "replace_one", "zero_out"])
def test_the_log_prices_releases_as_the_mechanism_does(changes, kind, adjacency):
    mechanism = vector(**changes, norm_bound="3/7", adjacency=adjacency)
    with recording() as log:
        mechanism.releases(ROWS, 2, seeded())
        mechanism.release_steps(np.arange(5))
    assert [(kind, 3, 2, False), (kind, 5, 1, True)] == [(each.kind, each.dimension, each.count, each.secure) for each in log]
    for each in log:
        assert mechanism.lattice == each.parameter("lattice") == Fraction(3, 7) / 2**21
        assert (mechanism.sensitivity, mechanism.adjacency) == (each.sensitivity, each.adjacency)
    for epsilon in ("0", "1/2", "1"):
        assert mechanism.loss.delta(epsilon=epsilon).upper == price_releases(log[1:]).delta(epsilon=epsilon).upper
    assert mechanism.claim.relation == mechanism.loss.adjacency
    if kind == "rounded_gaussian":
        assert mechanism.sensitivity / 2 == mechanism.claim.guarantee.mu
    else:
        assert 1 == mechanism.claim.guarantee.epsilon == mechanism.loss.epsilon(delta=0).upper


def test_the_noise_multiplier_is_relative_to_the_sensitivity():
    assert vector(sigma=None, noise_multiplier=3, adjacency="replace_one") == vector(sigma=6, adjacency="replace_one")


@pytest.mark.parametrize(
    ("code", "changes"),
    [
        ("DPA104", {"norm_bound": 0}),
        ("DPA102", {"norm_bound": math.inf}),
        ("DPA106", {"sigma": None}),
        ("DPA106", {"epsilon": 1}),
        ("DPA104", {"sigma": 0}),
        ("DPA104", {"sigma": None, "epsilon": -1}),
        ("DPA102", {"sigma": None, "noise_multiplier": math.nan}),
        ("DPA103", {"norm": "l1"}),
        ("DPA103", {"norm": "linf"}),
        ("DPA103", {"norm": "linf", "sigma": None, "epsilon": 1}),
        ("DPA103", {"lattice_bits": 0}),
        ("DPA103", {"lattice_bits": 27}),
        ("DPA105", {"lattice_bits": "21"}),
        ("DPA103", {"adjacency": "label"}),
        ("DPA103", {"adjacency": "nearby"}),
    ],
)
def test_bad_parameters_are_refused(code, changes):
    with pytest.raises(DpauditError, match=code):
        vector(**changes)


@pytest.mark.parametrize("changes", [{}, {"sigma": None, "epsilon": 1}, {"sigma": None, "epsilon": 1, "norm": "l1"}])
@pytest.mark.parametrize(
    ("code", "rows"),
    [
        ("DPA105", [[1.0]]),
        ("DPA105", np.ones(3)),
        ("DPA105", np.ones((1, 2), dtype=object)),
        ("DPA105", np.array([["secret"]])),
        ("DPA109", np.ones((3, 0))),
    ],
)
def test_bad_rows_are_refused_before_bits_are_drawn_or_anything_is_logged(changes, code, rows, unasked):
    mechanism = vector(**changes)
    with recording() as log:
        for call in (lambda: mechanism.release(rows, unasked), lambda: mechanism.releases(rows, 2, unasked)):
            with pytest.raises(DpauditError, match=code) as caught:
                call()
    assert [] == log
    assert "secret" not in caught.value.message


@pytest.mark.parametrize(
    ("code", "steps"),
    [
        ("DPA105", np.ones(3)),
        ("DPA105", [1, 2]),
        ("DPA105", np.array([True])),
        ("DPA109", np.array([], dtype=np.int64)),
        ("DPA108", np.array([2**62 + 1])),
    ],
)
def test_bad_steps_are_refused_before_bits_are_drawn(code, steps, unasked):
    with recording() as log, pytest.raises(DpauditError, match=code):
        vector().release_steps(steps, unasked)
    assert [] == log


@pytest.mark.parametrize(
    "changes",
    [
        {"sigma": 2**40},
        {"sigma": None, "epsilon": Fraction(1, 2**40)},
        {"sigma": None, "epsilon": Fraction(1, 2**40), "norm": "l1"},
    ],
)
def test_more_noise_than_64_bits_hold_is_refused_before_bits_are_drawn(changes, unasked):
    with recording() as log, pytest.raises(DpauditError, match="DPA108"):
        vector(**changes).release(ROWS, unasked)
    assert [] == log


@pytest.mark.parametrize(("count", "source"), [(0, None), (1.0, None), (1, 7), (1, np.random.default_rng(1))])
def test_bad_counts_and_sources_are_refused(count, source):
    with pytest.raises(DpauditError, match=r"DPA10[35]"):
        vector().releases(ROWS, count, source)


def test_shorter_distances_cost_less():
    assert vector(sigma=None, epsilon=1).loss_at("1/4").epsilon(delta=0).upper == Fraction(1, 4)
    assert vector().loss_at("1/2").delta(epsilon=1).upper < vector().loss.delta(epsilon=1).lower
    with pytest.raises(DpauditError, match="DPA107"):
        vector(sigma=None, epsilon=1, norm="l1", lattice_bits=1).loss_at("1/3")


@pytest.mark.parametrize("changes", [{}, {"sigma": None, "epsilon": "1/7"}, {"sigma": None, "epsilon": 1, "norm": "l1"}])
def test_a_mechanism_is_a_value_that_can_be_pickled_and_built_from_its_description(changes):
    mechanism = vector(**changes, norm_bound="2/3")
    mechanism.release(ROWS)
    assert mechanism == pickle.loads(pickle.dumps(mechanism))
    text = mechanism.to_dict()
    assert "VectorMechanism" == text.pop("mechanism")
    assert mechanism == VectorMechanism(**{**text, "lattice_bits": int(text["lattice_bits"])})
    assert "norm 2/3" in mechanism.describe()
