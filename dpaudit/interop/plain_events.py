"""Events of the dp-accounting library that stand for one mechanism, each with its law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from dpaudit import accounting
from dpaudit.claims import Adjacency
from dpaudit.errors import Unsupported
from dpaudit.exact import in_range, integer, positive, rational


def _gaussian(event: Any, adjacency: Adjacency) -> accounting.PrivacyLoss:
    """Gaussian noise relative to the sensitivity."""
    return accounting.gaussian(sigma=positive(event.noise_multiplier, "noise_multiplier"), adjacency=adjacency)


def _discrete_laplace(event: Any, adjacency: Adjacency) -> accounting.PrivacyLoss:
    """Noise with P(k) proportional to exp(-noise_parameter |k|)."""
    scale, steps = 1 / positive(event.noise_parameter, "noise_parameter"), integer(event.sensitivity, "sensitivity", lower=1)
    return accounting.discrete_laplace(scale=scale, sensitivity=steps, adjacency=adjacency)


def _randomized_response(event: Any, adjacency: Adjacency) -> accounting.PrivacyLoss:
    """With probability `noise_parameter` a uniform bucket instead of the true one."""
    if adjacency.kind != "replace_one":
        raise Unsupported("DPA202", f"a randomized response has a law under replace_one, got {adjacency}: every record has one.")
    buckets = integer(event.num_buckets, "num_buckets", lower=2)
    other = in_range(event.noise_parameter, "noise_parameter", lower=0, upper=1) / buckets
    true, rest = 1 - (buckets - 1) * other, (buckets - 2) * other
    return accounting.explicit_pair([true, other, rest], [other, true, rest], adjacency=adjacency)


def _zcdp(event: Any, adjacency: Adjacency) -> accounting.PrivacyLoss:
    """Zero-concentrated differential privacy, without an offset."""
    if rational(event.xi, "xi"):
        raise Unsupported("DPA202", "ZCDpEvent with xi above 0 has no law here. Give the RDP bounds with rdp({order: bound}).")
    return accounting.zcdp(event.rho, adjacency=adjacency)


def _trees(event: Any, adjacency: Adjacency) -> accounting.PrivacyLoss:
    """Gaussian noise on the nodes of binary trees: a record is in one leaf of one tree, so in as many nodes as that is high."""
    if adjacency.kind != "zero_out":
        raise Unsupported("DPA202", f"tree aggregation has a law under zero_out, got {adjacency}: records must keep their places.")
    counts = event.step_counts if isinstance(event.step_counts, Sequence) else [event.step_counts]
    height = max(integer(count, "step_counts", lower=1) for count in counts).bit_length()
    return height * _gaussian(event, adjacency)


PLAIN: Final[dict[str, Callable[[Any, Adjacency], accounting.PrivacyLoss]]] = {
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": lambda event, adjacency: accounting.laplace(scale=event.noise_multiplier, adjacency=adjacency),
    "RandomizedResponseDpEvent": _randomized_response,
    "SingleEpochTreeAggregationDpEvent": _trees,
    "ZCDpEvent": _zcdp,
}
"""By the name of the event's class: its law, relative to the sensitivity under an adjacency."""
