"""Privacy events of the dp-accounting library, read as privacy losses; what has no exact counterpart here is refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

from dpaudit import accounting
from dpaudit.accounting.laws.best_of import stop_of_mean
from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import in_range, integer, non_negative, positive, rational

ADDED_UP: Final = Fraction(1, 10**12)  # How far from 1 the sum of probabilities that are floats may be


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
    """Compose events; the loss of nothing where there are none."""
    parts = [from_dp_accounting(part, adjacency=adjacency) for part in getattr(event, "events", ())]
    return accounting.compose(0 * accounting.pure_dp(0, adjacency=adjacency), *parts)


def _on_one_sample(event: Any, adjacency: Adjacency, scheme: Any) -> accounting.PrivacyLoss:
    """Read the releases of a sample, which all of them share."""
    return from_dp_accounting(event.event, adjacency=adjacency).sampled(scheme, together=True)


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


def _mixture(event: Any, adjacency: Adjacency) -> accounting.PrivacyLoss:
    """Gaussian noise on a sum to which a record contributes a random amount."""
    if adjacency.kind not in {"add_remove", "zero_out"}:
        raise Unsupported("DPA202", f"a mixture of Gaussians has a law under add_remove and zero_out, got {adjacency}.")
    norms = [non_negative(norm, "sensitivities") for norm in event.sensitivities]
    weights = [in_range(weight, "sampling_probs", lower=0, upper=1) for weight in event.sampling_probs]
    # Floats seldom add up to 1. What is missing is given to the largest norm, what is too much is taken from the least.
    rest = 1 - sum(weights, Fraction(0))
    if len(norms) == len(weights) and norms and abs(rest) <= ADDED_UP:
        place = norms.index(max(norms) if rest > 0 else min(norms))
        weights[place] += rest
    return accounting.gaussian_mixture(
        sigma=positive(event.standard_deviation, "standard_deviation"), sensitivities=norms, weights=weights, adjacency=adjacency
    )


def _truncated(event: Any, adjacency: Adjacency) -> accounting.PrivacyLoss:
    """A Gaussian on truncated Poisson batches; the noise multiplier is relative to the contribution of one record."""
    if adjacency.kind == "replace_one":
        remedy = "Write gaussian(...).sampled(TruncatedPoisson(...)).under('replace_one') with the noise per contribution."
        raise Unsupported("DPA202", f"truncated batches are read under add_remove and zero_out, got {adjacency}. {remedy}")
    batch = accounting.TruncatedPoisson(rate=event.sampling_probability, cap=event.truncated_batch_size, records=event.dataset_size)
    noise = positive(event.noise_multiplier, "noise_multiplier")
    return accounting.gaussian(sigma=noise).sampled(batch).under(adjacency)


def _repeated(event: Any, adjacency: Adjacency) -> accounting.PrivacyLoss:
    """The best of a random number of runs: Poisson for an infinite shape, else negative binomial above 0 with this mean."""
    run = from_dp_accounting(event.event, adjacency=adjacency)
    if event.shape == math.inf:  # no run at all, which is possible there, tells nothing: so many runs above 0 lose at least as much
        return accounting.best_of_poisson_runs(run, mean=event.mean)
    shape, mean = rational(event.shape, "shape"), rational(event.mean, "mean")
    if mean == 1:
        return run
    return accounting.best_of_negative_binomial_runs(run, shape=shape, stop=stop_of_mean(shape, mean))


def _trees(event: Any, adjacency: Adjacency) -> accounting.PrivacyLoss:
    """Gaussian noise on the nodes of binary trees: a record is in one leaf of one tree, so in as many nodes as that is high."""
    if adjacency.kind != "zero_out":
        raise Unsupported("DPA202", f"tree aggregation has a law under zero_out, got {adjacency}: records must keep their places.")
    counts = event.step_counts if isinstance(event.step_counts, Sequence) else [event.step_counts]
    height = max(integer(count, "step_counts", lower=1) for count in counts).bit_length()
    return height * _gaussian(event, adjacency)


_READERS: Final[dict[str, Callable[[Any, Adjacency], accounting.PrivacyLoss]]] = {
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": lambda event, adjacency: accounting.laplace(scale=event.noise_multiplier, adjacency=adjacency),
    "RandomizedResponseDpEvent": _randomized_response,
    "SingleEpochTreeAggregationDpEvent": _trees,
    "ZCDpEvent": _zcdp,
    "ComposedDpEvent": _composed,
    "MixtureOfGaussiansDpEvent": _mixture,
    "NoOpDpEvent": _composed,
    "PoissonSampledDpEvent": lambda event, adjacency: _on_one_sample(
        event, adjacency, accounting.Poisson(event.sampling_probability)
    ),
    "SampledWithReplacementDpEvent": lambda event, adjacency: _on_one_sample(
        event, adjacency, accounting.SampledWithReplacement(size=event.sample_size, of=event.source_dataset_size)
    ),
    "SampledWithoutReplacementDpEvent": lambda event, adjacency: _on_one_sample(
        event, adjacency, accounting.WithoutReplacement(size=event.sample_size, of=event.source_dataset_size)
    ),
    "TruncatedSubsampledGaussianDpEvent": _truncated,
    "RepeatAndSelectDpEvent": _repeated,
    "SelfComposedDpEvent": lambda event, adjacency: (
        integer(event.count, "count", lower=0) * from_dp_accounting(event.event, adjacency=adjacency)
    ),
}
_WITHOUT: Final = {
    "NonPrivateDpEvent": "it is not private",
    "UnsupportedDpEvent": "it stands for something that nobody described",
}
