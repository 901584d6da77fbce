"""Privacy events of the dp-accounting library, read as privacy losses; what has no exact counterpart here is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dpaudit.accounting import PrivacyLoss, compose, discrete_laplace, explicit_pair, gaussian, laplace, pure_dp, zcdp
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import in_range, integer, positive, rational


def from_dp_accounting(event: Any, *, adjacency: Adjacency | str = "add_remove") -> PrivacyLoss:
    """The privacy loss of a dp-accounting event.

    Args:
      event: a `DpEvent` of the dp-accounting library, composed ones included; its floats are taken as the binary values they are.
      adjacency: the neighbouring relation that the event is meant under; the library keeps it in its accountants.
    Returns:
      A loss whose answers are certified here, whatever accountant the event was made for.
    Raises:
      InvalidArgument: not a DpEvent (DPA105), or parameters that no mechanism has (DPA101 to DPA104).
      Unsupported: an event without a law here; nothing is approximated (DPA202).
    Source: docs/accounting_on_the_command_line.md.
    Example:
      >>> from types import SimpleNamespace
      >>> GaussianDpEvent = type("GaussianDpEvent", (SimpleNamespace,), {"__module__": "dp_accounting.dp_event"})
      >>> from_dp_accounting(GaussianDpEvent(noise_multiplier=2.0)).describe()
      'gaussian(sigma=2, sensitivity=1)'
    """
    relation, kind = Adjacency.of(adjacency), type(event).__name__
    if not type(event).__module__.startswith("dp_accounting"):
        raise InvalidArgument("DPA105", f"a DpEvent of dp_accounting is expected, got a {kind}.")
    if kind not in _READERS:
        raise Unsupported("DPA202", f"{kind} has no law here. Events that are read: {', '.join(sorted(_READERS))}.")
    return _READERS[kind](event, relation)


def _nothing(_: Any, adjacency: Adjacency) -> PrivacyLoss:
    """An event that releases nothing."""
    return 0 * pure_dp(0, adjacency=adjacency)


def _gaussian(event: Any, adjacency: Adjacency) -> PrivacyLoss:
    """Gaussian noise relative to the sensitivity."""
    return gaussian(sigma=positive(event.noise_multiplier, "noise_multiplier"), adjacency=adjacency)


def _laplace(event: Any, adjacency: Adjacency) -> PrivacyLoss:
    """Laplace noise relative to the sensitivity."""
    return laplace(scale=positive(event.noise_multiplier, "noise_multiplier"), adjacency=adjacency)


def _discrete_laplace(event: Any, adjacency: Adjacency) -> PrivacyLoss:
    """Noise with P(k) proportional to exp(-noise_parameter |k|)."""
    scale = 1 / positive(event.noise_parameter, "noise_parameter")
    return discrete_laplace(scale=scale, sensitivity=integer(event.sensitivity, "sensitivity", lower=1), adjacency=adjacency)


def _randomized_response(event: Any, adjacency: Adjacency) -> PrivacyLoss:
    """With probability `noise_parameter` a uniform bucket instead of the true one."""
    buckets = integer(event.num_buckets, "num_buckets", lower=2)
    other = in_range(event.noise_parameter, "noise_parameter", lower=0, upper=1) / buckets
    true, rest = 1 - (buckets - 1) * other, (buckets - 2) * other
    return explicit_pair([true, other, rest], [other, true, rest], adjacency=adjacency)


def _zcdp(event: Any, adjacency: Adjacency) -> PrivacyLoss:
    """Zero-concentrated differential privacy, without an offset."""
    if rational(event.xi, "xi"):
        raise Unsupported("DPA202", "ZCDpEvent with xi above 0 has no law here. Give the RDP bounds with rdp({order: bound}).")
    return zcdp(event.rho, adjacency=adjacency)


def _composed(event: Any, adjacency: Adjacency) -> PrivacyLoss:
    """Events one after the other."""
    return compose(_nothing(event, adjacency), *(from_dp_accounting(part, adjacency=adjacency) for part in event.events))


def _repeated(event: Any, adjacency: Adjacency) -> PrivacyLoss:
    """One event many times."""
    return integer(event.count, "count", lower=0) * from_dp_accounting(event.event, adjacency=adjacency)


_READERS: Final[dict[str, Callable[[Any, Adjacency], PrivacyLoss]]] = {
    "ComposedDpEvent": _composed,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "NoOpDpEvent": _nothing,
    "RandomizedResponseDpEvent": _randomized_response,
    "SelfComposedDpEvent": _repeated,
    "ZCDpEvent": _zcdp,
}
