"""Privacy events of the dp-accounting library, read as privacy losses; what has no exact counterpart here is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from dpaudit import accounting
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import integer
from dpaudit.interop.plain_events import PLAIN


def from_dp_accounting(event: Any, *, adjacency: Adjacency | str = "add_remove") -> accounting.PrivacyLoss:
    """The privacy loss of a dp-accounting event.

    Args:
      event: a `DpEvent` of the dp-accounting library, composed ones included; its floats are taken as the binary values they are.
      adjacency: the neighbouring relation that the event is meant under, and that its noise multipliers are relative to; the
        library keeps it in its accountants.
    Returns:
      A loss whose answers are certified here, whatever accountant the event was made for.
    Raises:
      InvalidArgument: not a DpEvent (DPA105), or parameters that no mechanism has (DPA101 to DPA104).
      Unsupported: an event without a law here, or not under this adjacency; nothing is approximated (DPA202).
    Source: docs/adapters.md, "dp-accounting".
    Example:
      >>> from types import SimpleNamespace
      >>> GaussianDpEvent = type("GaussianDpEvent", (SimpleNamespace,), {"__module__": "dp_accounting.dp_event"})
      >>> from_dp_accounting(GaussianDpEvent(noise_multiplier=2.0)).describe()
      'gaussian(sigma=2, sensitivity=1)'
    """
    relation, kind = Adjacency.of(adjacency), type(event).__name__
    if not type(event).__module__.startswith("dp_accounting"):
        raise InvalidArgument("DPA105", f"a DpEvent of dp_accounting is expected, got a {kind}.")
    if kind in _WITHOUT:
        raise Unsupported("DPA202", f"{kind} has no law here: {_WITHOUT[kind]}.")
    if kind not in _READERS:
        raise Unsupported("DPA202", f"{kind} has no law here. Events that are read: {', '.join(sorted(_READERS))}.")
    return _READERS[kind](event, relation)


def _composed(event: Any, adjacency: Adjacency) -> accounting.PrivacyLoss:
    """Events one after the other; none, where there are none."""
    parts = [from_dp_accounting(part, adjacency=adjacency) for part in getattr(event, "events", ())]
    return accounting.compose(0 * accounting.pure_dp(0, adjacency=adjacency), *parts)


def _once(event: Any, adjacency: Adjacency) -> accounting.PrivacyLoss:
    """What is released of one sample; several releases are refused, since each would be taken to draw a sample of its own."""
    loss = from_dp_accounting(event.event, adjacency=adjacency)
    if sum(count for _, count in loss.parts) > 1:
        raise Unsupported("DPA202", f"one sample with several releases has no law here, got {loss.describe()}.")
    return loss


_READERS: Final[dict[str, Callable[[Any, Adjacency], accounting.PrivacyLoss]]] = {
    **PLAIN,
    "ComposedDpEvent": _composed,
    "NoOpDpEvent": _composed,
    "PoissonSampledDpEvent": lambda event, adjacency: _once(event, adjacency).sampled(
        accounting.Poisson(event.sampling_probability)
    ),
    "SampledWithoutReplacementDpEvent": lambda event, adjacency: _once(event, adjacency).sampled(
        accounting.WithoutReplacement(size=event.sample_size, of=event.source_dataset_size)
    ),
    "SelfComposedDpEvent": lambda event, adjacency: (
        integer(event.count, "count", lower=0) * from_dp_accounting(event.event, adjacency=adjacency)
    ),
}
_WITHOUT: Final = {
    "MixtureOfGaussiansDpEvent": "write a Poisson sample of a Gaussian as PoissonSampledDpEvent",
    "NonPrivateDpEvent": "it is not private",
    "RepeatAndSelectDpEvent": "use best_of_runs of dpaudit.accounting, or best_of_poisson_runs where shape is infinite",
    "SampledWithReplacementDpEvent": "a record may be drawn several times, and the event does not say what it counts then",
    "TruncatedSubsampledGaussianDpEvent": "how many records its batch leaves out depends on the others",
    "UnsupportedDpEvent": "it stands for something that nobody described",
}
