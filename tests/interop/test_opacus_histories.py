"""Histories of Opacus are priced as the Poisson samples that its accountants take them for, and as nothing else."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from dpaudit.accounting import Poisson, compose, gaussian
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.interop import from_opacus

HISTORY = [(1.0, 0.25, 100), (2.0, 0.5, 30)]
LOSS = compose(100 * gaussian(sigma=1).sampled(Poisson("1/4")), 30 * gaussian(sigma=2).sampled(Poisson("1/2")))


@pytest.mark.parametrize(
    "history",
    [
        HISTORY,
        tuple(map(list, HISTORY)),
        SimpleNamespace(history=HISTORY),
        SimpleNamespace(accountant=SimpleNamespace(history=HISTORY)),
        {"history": HISTORY, "mechanism": "prv"},
    ],
    ids=["list", "lists", "accountant", "engine", "state"],
)
def test_a_history_is_the_loss_of_its_steps(history):
    assert LOSS == from_opacus(history, poisson_sampling=True)


def test_steps_on_all_records_are_not_sampled():
    assert 3 * gaussian(sigma=2) == from_opacus([(2.0, 1.0, 3)], poisson_sampling=True)


def test_a_model_that_was_not_trained_costs_nothing():
    assert 0 == from_opacus([], poisson_sampling=True).epsilon(delta=0).upper


@pytest.mark.parametrize("poisson_sampling", [False, None, "no", 1])
def test_batches_that_were_no_poisson_samples_are_refused(poisson_sampling):
    with pytest.raises(Unsupported, match="DPA202"):
        from_opacus(HISTORY, poisson_sampling=poisson_sampling)


@pytest.mark.parametrize(
    "history",
    [3, None, "history", [(1.0, 0.5)], [1.0, 0.5, 3], {"mechanism": "rdp"}, [(0.0, 0.5, 3)], [(1.0, 1.5, 3)], [(1.0, 0.5, 2.5)]],
)
def test_what_is_no_history_is_refused(history):
    with pytest.raises(InvalidArgument, match="DPA10"):
        from_opacus(history, poisson_sampling=True)
