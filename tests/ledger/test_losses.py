"""Losses as entries keep them: every law comes back as it was, and nothing but laws comes back."""

import json
import warnings
from dataclasses import is_dataclass
from importlib import import_module
from pkgutil import iter_modules

import pytest

from dpaudit import GDP, RDP, ZCDP, ApproxDP, Curve, PureDP
from dpaudit.accounting import (
    CyclicPoisson,
    Poisson,
    RandomAllocation,
    RandomOrder,
    SampledWithReplacement,
    Shuffle,
    TruncatedPoisson,
    WithoutReplacement,
    approx_dp,
    best_of_negative_binomial_runs,
    best_of_poisson_runs,
    bounded_range,
    compose,
    discrete_gaussian,
    discrete_laplace,
    explicit_pair,
    gaussian,
    gaussian_mixture,
    gdp,
    laplace,
    laws,
    matrix_mechanism,
    mixture,
    noisy_max,
    permute_and_flip,
    pure_dp,
    randomized_response,
    rdp,
    sparse_vector,
    staircase,
    toeplitz,
    update_charged,
    zcdp,
)
from dpaudit.errors import DpauditError
from dpaudit.ledger.losses import _HOMES, spending_from_dict, spending_to_dict

MAKES = {
    "approx_dp": lambda: approx_dp(1, delta="1e-6"),
    "best of runs": lambda: best_of_negative_binomial_runs(zcdp("0.01"), shape=1, stop="1/10"),
    "best of Poisson runs": lambda: best_of_poisson_runs(gdp("1/10"), mean=3),
    "bounded range": lambda: bounded_range(epsilon=1),
    "discrete Gaussian": lambda: discrete_gaussian(sigma=3),
    "discrete Laplace": lambda: discrete_laplace(scale=3),
    "explicit pair": lambda: explicit_pair(["1/2", "1/2"], ["1/3", "2/3"]),
    "Gaussian": lambda: gaussian(sigma=2),
    "Laplace": lambda: laplace(scale="1/3"),
    "mixture": lambda: mixture([("1/2", laplace(scale=1)), ("1/2", gaussian(sigma=1))]),
    "noisy max": lambda: noisy_max(1),
    "permute and flip": lambda: permute_and_flip(1),
    "pure": lambda: pure_dp("1/2"),
    "randomized response": lambda: randomized_response(epsilon=1),
    "Renyi": lambda: rdp({2: "1/2", 8: 1}),
    "sparse vector": lambda: sparse_vector(epsilon=1),
    "staircase": lambda: staircase(epsilon=1, step=4, width=2),
    "update charged": lambda: update_charged(scale=10, threshold=20, updates=3),
    "concentrated": lambda: zcdp("1/8"),
    "Poisson": lambda: gaussian(sigma=2).sampled(Poisson("1/100")),
    "without replacement": lambda: gaussian(sigma=2, adjacency="replace_one").sampled(WithoutReplacement(1, 100)),
    "allocation": lambda: gaussian(sigma=2).sampled(RandomAllocation(steps=10)),
    "shuffle": lambda: randomized_response(epsilon=1, adjacency="replace_one").sampled(Shuffle(1000)),
    "order": lambda: gaussian(sigma=2, adjacency="replace_one").sampled(RandomOrder(100, [50, 50])),
    "group": lambda: laplace(scale=2).group(3),
    "mixture of Gaussians": lambda: gaussian_mixture(sigma=1, sensitivities=[0, 1], weights=["1/2", "1/2"]),
    "group in a sample": lambda: gaussian(sigma=2).sampled(Poisson("1/100")).group(2),
    "user in a sample": lambda: laplace(scale=2).sampled(Poisson("1/100")).user(records=2),
    "replaced in a sample": lambda: gaussian(sigma=2).sampled(Poisson("1/100")).under("replace_one"),
    "truncated": lambda: gaussian(sigma=2).sampled(TruncatedPoisson(rate="1/10", cap=2, records=20)),
    "with replacement": lambda: gaussian(sigma=2, adjacency="replace_one").sampled(SampledWithReplacement(size=2, of=9)),
    "together": lambda: compose(gaussian(sigma=2), pure_dp(1)).sampled(Poisson("1/100"), together=True),
    "bands": lambda: matrix_mechanism(
        toeplitz([1, "1/2"], steps=8), noise_multiplier=1, participation=CyclicPoisson(rate="1/10", bands=2)
    ),
    "two slots": lambda: gaussian(sigma="1/2").sampled(RandomAllocation(steps=2)),
    "sum": lambda: compose(5 * gaussian(sigma=2), laplace(scale=1)),
    "guarantees": lambda: PureDP("1/3"),
    "approximate": lambda: ApproxDP(1, "1e-6"),
    "zcdp": lambda: ZCDP("1/7"),
    "gdp": lambda: GDP("1/7"),
    "orders": lambda: RDP({2: "1/3", "5/2": 1}),
    "curve": lambda: Curve(gaussian(sigma=3)),
}


def test_every_law_has_a_place_in_the_table():
    found = set()
    for module in iter_modules(laws.__path__):
        home = import_module(f"{laws.__name__}.{module.name}")
        found |= {(name, module.name) for name, kind in vars(home).items() if is_law(kind, home)}
    assert found <= set(_HOMES.items())


def is_law(kind, home):
    """A class of this module that a privacy loss may hold; protocols are none."""
    return isinstance(kind, type) and kind.__module__ == home.__name__ and is_dataclass(kind) and hasattr(kind, "infinity_mass")


def made(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MAKES[name]()


@pytest.mark.parametrize("name", MAKES)
def test_a_loss_comes_back_as_it_was(name):
    loss = made(name)
    assert loss == spending_from_dict(json.loads(json.dumps(spending_to_dict(loss))))


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"curve": {"curve": {}}},
        {"guarantee": {"name": "Popen"}},
        {"adjacency": {"kind": "add_remove"}, "parts": [["x", 1]]},
        {"adjacency": {"kind": "add_remove"}, "parts": [[{"is": "os"}, 1]]},
        {"adjacency": {"kind": "add_remove"}, "parts": [[{"is": "Gaussian", "mu": {"exact": "1"}, "name": "x"}, 0]]},
        {"adjacency": {"kind": "add_remove"}, "parts": [[{"exact": "1"}, 1]]},
    ],
)
def test_what_is_no_loss_is_refused(values):
    with pytest.raises((DpauditError, LookupError, TypeError, ValueError)):
        spending_from_dict(values)
