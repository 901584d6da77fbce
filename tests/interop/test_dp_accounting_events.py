"""Events of dp-accounting become the losses they stand for; with stand-ins here, and the library itself where it is installed."""

from __future__ import annotations

import importlib.util
from fractions import Fraction
from types import SimpleNamespace

import pytest

from dpaudit.accounting import compose, discrete_laplace, explicit_pair, gaussian, laplace, zcdp
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.interop import from_dp_accounting


def event(kind, **fields):
    """A stand-in with the class name, module and attributes of an event."""
    return type(kind, (SimpleNamespace,), {"__module__": "dp_accounting.dp_event"})(**fields)


GAUSSIAN = event("GaussianDpEvent", noise_multiplier=2.0)
NOTHING = event("NoOpDpEvent")


@pytest.mark.parametrize(
    ("given", "loss"),
    [
        (GAUSSIAN, gaussian(sigma=2)),
        (event("GaussianDpEvent", noise_multiplier=0.1), gaussian(sigma=Fraction(0.1))),
        (event("LaplaceDpEvent", noise_multiplier=0.5), laplace(scale="1/2")),
        (event("DiscreteLaplaceDpEvent", noise_parameter=0.25, sensitivity=3), discrete_laplace(scale=4, sensitivity=3)),
        (event("ZCDpEvent", rho=0.5, xi=0.0), zcdp("1/2")),
        (event("SelfComposedDpEvent", event=GAUSSIAN, count=7), 7 * gaussian(sigma=2)),
        (event("SelfComposedDpEvent", event=GAUSSIAN, count=0), 0 * gaussian(sigma=2)),
        (NOTHING, 0 * gaussian(sigma=2)),
        (event("ComposedDpEvent", events=[]), 0 * gaussian(sigma=2)),
        (
            event("ComposedDpEvent", events=[GAUSSIAN, NOTHING, event("LaplaceDpEvent", noise_multiplier=3.0), GAUSSIAN]),
            compose(2 * gaussian(sigma=2), laplace(scale=3)),
        ),
        (
            event("RandomizedResponseDpEvent", noise_parameter=0.5, num_buckets=4),
            explicit_pair(["5/8", "1/8", "1/4"], ["1/8", "5/8", "1/4"]),
        ),
    ],
)
def test_an_event_is_the_loss_it_stands_for(given, loss):
    assert loss == from_dp_accounting(given)


def test_the_adjacency_is_that_which_is_stated():
    assert "replace_one" == str(from_dp_accounting(GAUSSIAN, adjacency="replace_one").adjacency)


@pytest.mark.parametrize(
    "given",
    [
        event("NonPrivateDpEvent"),
        event("UnsupportedDpEvent"),
        event("RepeatAndSelectDpEvent", event=GAUSSIAN, mean=1.0, shape=1.0),
        event("ZCDpEvent", rho=0.5, xi=0.1),
        event("ComposedDpEvent", events=[GAUSSIAN, event("NonPrivateDpEvent")]),
        event("SomethingNewDpEvent"),
    ],
)
def test_an_event_without_a_law_is_refused(given):
    with pytest.raises(Unsupported, match="DPA202"):
        from_dp_accounting(given)


@pytest.mark.parametrize(
    "given",
    [
        object(),
        3.0,
        event("GaussianDpEvent", noise_multiplier=0.0),
        event("GaussianDpEvent", noise_multiplier=float("nan")),
        event("SelfComposedDpEvent", event=GAUSSIAN, count=-1),
        event("RandomizedResponseDpEvent", noise_parameter=2.0, num_buckets=4),
    ],
)
def test_what_is_no_event_is_refused(given):
    with pytest.raises(InvalidArgument, match="DPA10"):
        from_dp_accounting(given)


@pytest.mark.skipif(importlib.util.find_spec("dp_accounting") is None, reason="dp-accounting is not installed")
def test_the_library_itself_is_read():
    from dp_accounting import dp_event

    composed = dp_event.ComposedDpEvent(
        [dp_event.GaussianDpEvent(2.0), dp_event.SelfComposedDpEvent(dp_event.LaplaceDpEvent(3.0), 2)]
    )
    assert compose(gaussian(sigma=2), 2 * laplace(scale=3)) == from_dp_accounting(composed)
