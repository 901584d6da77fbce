"""Prices of release logs: from what ran to a composed privacy loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor
from typing import Final

from dpaudit.accounting.builders.pairs import update_charged
from dpaudit.accounting.laws.best_of import (
    BestOf,
    BestOfPoisson,
    best_of_pure,
    checked_mean,
    checked_runs,
    comparison_law,
    noisy_max_law,
    permute_and_flip_law,
    top_k_choice_law,
)
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.bounded_noise import finite_noise, truncated_noise
from dpaudit.accounting.laws.concentrated import Concentrated
from dpaudit.accounting.laws.discrete_gaussian import DiscreteGaussian, RoundedGaussian
from dpaudit.accounting.laws.discrete_laplace import DiscreteLaplace, Staircase
from dpaudit.accounting.laws.gaussian import Gaussian
from dpaudit.accounting.laws.laplace import Laplace
from dpaudit.accounting.laws.response import BoundedRange, Response, pure_response, randomized_response_law
from dpaudit.accounting.model.law import Law
from dpaudit.accounting.privacy_loss import PrivacyLoss, compose, one_release
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import ball, ball_endpoints, float_outward, instance_of, shown, working_precision
from dpaudit.releases import Release

_SMALLEST_FLOAT_STEP: Final = 2.0**-960  # Sensitivities below this, whose halves come near the smallest floats, get no lower end


def price_releases(releases: Sequence[Release]) -> PrivacyLoss:
    """Return the privacy loss of everything that a run wrote to its release log.

    Args:
      releases: entries of the log, at least one, all under one adjacency.
    Returns:
      The composition of all of them. Lower ends are about the worst neighbours that the logged sensitivity allows.
    Raises:
      InvalidArgument: the log is empty (DPA109), an entry is no Release or lacks a parameter (DPA105).
      AdjacencyMismatch: entries are about different neighbouring relations (DPA201).
      Unsupported: an entry of a kind that has no law here (DPA202).
    Source: docs/prices.md, "Pricing a release log".
    Example:
      >>> from dpaudit.claims import Adjacency
      >>> entry = Release(
      ...     "discrete_laplace", (("lattice", Fraction(1)), ("scale", Fraction(2))), Fraction(1), Adjacency("add_remove")
      ... )
      >>> print(price_releases([entry, entry]).epsilon(delta=0))
      1
    """
    if not instance_of(releases, Sequence, "releases"):
        raise InvalidArgument(
            "DPA109", "there is nothing to price: the release log is empty. Make the releases inside `dpaudit.releases.recording`."
        )
    for release in releases:
        if not isinstance(release, Release):
            raise InvalidArgument("DPA105", f"price_releases takes entries of a release log, got a {type(release).__name__}.")
    return compose(*(release.count * one_release(_law(release), release.adjacency) for release in releases))


def _law(release: Release) -> Law:
    """The law that prices one release."""
    if release.kind not in _LAWS:
        raise Unsupported("DPA202", f"releases of kind {release.kind!r} have no price. Priced kinds: {', '.join(_LAWS)}.")
    try:
        return _LAWS[release.kind](release)
    except KeyError as error:
        raise InvalidArgument(
            "DPA105", f"a {release.kind} release lacks its parameter {error}. The mechanism must log it."
        ) from error


def _steps(release: Release) -> int:
    """Return how many lattice steps one coordinate can move: values on the lattice differ by integer steps."""
    return floor(release.sensitivity / release.parameter("lattice"))


def _or_nothing(steps: int, law: Callable[[int], Law]) -> Law:
    """The law of a coordinate that moves by `steps`, or of one that cannot move."""
    return law(steps) if steps else Gaussian(Fraction(0), "no difference on the lattice")


def _discrete_laplace(release: Release) -> Law:
    """One coordinate exactly; several lie between one coordinate that moves alone and the pure guarantee."""
    scale, lattice = release.parameter("scale"), release.parameter("lattice")
    coordinate = _or_nothing(_steps(release), lambda steps: DiscreteLaplace(scale / lattice, steps))
    if release.dimension == 1:
        return coordinate
    name = f"discrete_laplace(scale={shown(scale)}, sensitivity={shown(release.sensitivity)}, dimension={release.dimension})"
    ground = "L1 sensitivity: the loss is at most sensitivity/scale; all of it may fall on one coordinate"
    return Between(name, pure_response(release.sensitivity / scale), coordinate, ground)


def _rounded_gaussian(release: Release) -> Law:
    """Post-processing of the continuous law in any dimension; at least what one rounded coordinate loses."""
    sigma, lattice = release.parameter("sigma"), release.parameter("lattice")
    name = f"gaussian(sigma={shown(sigma)}, sensitivity={shown(release.sensitivity)})"
    # What is shown may be computed from the noisy numbers, and then tell less than one of them does.
    processed = "processed" in dict(release.parameters)
    coordinate = None if processed else _or_nothing(_steps(release), lambda steps: RoundedGaussian(sigma / lattice, steps))
    ground = "rounding is post-processing of the continuous Gaussian"
    ground += "" if processed else "; one rounded coordinate may carry the whole sensitivity"
    return Between(name, Gaussian(release.sensitivity / sigma, name), coordinate, ground)


def _discrete_gaussian(release: Release) -> Law:
    """One coordinate exactly; several lie between one coordinate that moves alone and the zCDP guarantee."""
    variance, lattice = release.parameter("sigma_squared"), release.parameter("lattice")
    coordinate = _or_nothing(_steps(release), lambda steps: DiscreteGaussian(variance / lattice**2, steps))
    if release.dimension == 1:
        return coordinate
    rho = release.sensitivity**2 / (2 * variance)
    scale = f"sigma_squared={shown(variance)}, sensitivity={shown(release.sensitivity)}"
    name = f"discrete_gaussian({scale}, dimension={release.dimension})"
    ground = "zCDP with rho = sensitivity^2/(2 sigma^2) (Canonne, Kamath, Steinke 2020); one coordinate may carry all of it"
    return Between(name, Concentrated(rho), coordinate, ground)


def _real_laplace(release: Release) -> Law:
    """Post-processing of the continuous law; at least what three outputs reveal: above both values, below both, between."""
    scale, sensitivity = release.parameter("scale"), release.sensitivity
    name = f"laplace(scale={shown(scale)}, sensitivity={shown(sensitivity)})"
    upper = Laplace(scale, sensitivity) if release.dimension == 1 else pure_response(sensitivity / scale)
    # The values d/2 and -d/2 are floats; rounding moves both borders outward by less than 2**-54 d (docs/laws_and_real_noise.md).
    apart = float_outward(sensitivity, up=False)
    kept = Fraction(apart) / scale if _SMALLEST_FLOAT_STEP < apart < math.inf else Fraction(0)
    outputs = Response(kept, f"{name} seen through three outputs", Fraction(-1), kept * (1 + Fraction(1, 2**52)))
    ground = "rounding to float64 is post-processing of the continuous Laplace; one coordinate may carry the whole sensitivity"
    return Between(name, upper, outputs if kept else None, ground)


def _real_gaussian(release: Release) -> Law:
    """Post-processing of the continuous law in any dimension."""
    sigma = release.parameter("sigma")
    name = f"gaussian(sigma={shown(sigma)}, sensitivity={shown(release.sensitivity)})"
    law = Gaussian(release.sensitivity / sigma, name)
    return Between(name, law, None, "rounding to float64 is post-processing of the continuous Gaussian")


def _euclidean_laplace(release: Release) -> Law:
    """Post-processing of the continuous K-norm mechanism of the Euclidean ball; on one coordinate that is the Laplace mechanism."""
    scale = release.parameter("scale")
    name = f"euclidean_laplace(scale={shown(scale)}, sensitivity={shown(release.sensitivity)}, dimension={release.dimension})"
    upper = Laplace(scale, release.sensitivity) if release.dimension == 1 else pure_response(release.sensitivity / scale)
    ground = "rounding is post-processing; the continuous loss is at most L2 sensitivity/scale (Hardt, Talwar 2010)"
    return Between(name, upper, None, ground)


def _objective_perturbation(release: Release) -> Law:
    """Pure: the random term is moved by the sensitivity, and densities are stretched by the curvature of one record."""
    with working_precision(256):
        stretched = Fraction(ball_endpoints(ball(release.parameter("stretch")).log1p())[1])
    epsilon = release.sensitivity / release.parameter("scale") + stretched
    pure = Response(epsilon, f"objective_perturbation(epsilon={shown(epsilon)})")
    return Between(
        pure.name, pure, None, "a change of variables (Chaudhuri, Monteleoni, Sarwate 2011); docs/choices_and_perturbation.md"
    )


def _best_of_runs(release: Release) -> Law:
    """A random number of runs of which the best is kept: each mu-GDP, pure or rho-zCDP, as the log says."""
    known = dict(release.parameters)
    if "mu" in known:
        return BestOfPoisson(known["mu"], checked_mean(release.parameter("mean")))
    shape, stop = checked_runs(release.parameter("shape"), release.parameter("stop"))
    return best_of_pure(known["epsilon"], shape) if "epsilon" in known else BestOf(release.parameter("rho"), shape, stop)


def _choice_epsilon(release: Release) -> Fraction:
    """The pure epsilon of one choice: twice the sensitivity over the temperature, once where all scores move the same way."""
    return (1 if release.parameter("monotonic") else 2) * release.sensitivity / release.parameter("temperature")


def _top_k(release: Release) -> Law:
    """One of the k choices."""
    epsilon = _choice_epsilon(release)
    return top_k_choice_law(epsilon, None if release.parameter("flips") else BoundedRange(epsilon))


def _sparse_vector(release: Release) -> Law:
    """The threshold moves once, each positive answer twice the sensitivity (once if monotonic), each number once."""
    moves = 1 if release.parameter("monotonic") else 2
    positives, numbers = Fraction(1), Fraction(0)
    if release.kind == "sparse_vector":
        positives, numbers = release.parameter("cutoff"), release.parameter("number_scale")
    parts = 1 / release.parameter("threshold_scale") + moves * positives / release.parameter("query_scale")
    return comparison_law(release.kind, release.sensitivity * (parts + (positives / numbers if numbers else 0)))


def _stability_histogram(release: Release) -> Law:
    """Approximate: delta is the probability that noise lifts any of one person's own keys to the threshold."""
    scale, contributions = release.parameter("scale"), release.parameter("contributions")
    with working_precision(256):
        ratio = ball(-1 / scale).exp()
        lifted = ball((1 - release.parameter("threshold")) / scale).exp() / (1 + ratio)
        if not lifted <= 1 - ratio:
            raise Unsupported("DPA202", "a stability histogram whose threshold lies so low has no price. Use StabilityHistogram.")
        delta = ball_endpoints(-(ball(contributions) * (-lifted).log1p()).expm1())[1]
    return _approximate(release.kind, release.sensitivity / scale, Fraction(delta))


def _partition_selection(release: Release) -> Law:
    """Approximate: every key that may differ between neighbours costs the same."""
    parts = release.sensitivity
    return _approximate(release.kind, parts * release.parameter("epsilon"), parts * release.parameter("delta"))


def _approximate(kind: str, epsilon: Fraction, delta: Fraction) -> Law:
    """The worst pair of an approximate promise, from above only."""
    scale = f"epsilon={shown(epsilon)}, delta={shown(delta)}"
    ground = "(epsilon, delta)-DP, proved in docs/selection_and_queries.md; what is lost below epsilon is not bounded"
    return Between(f"{kind}({scale})", Response(epsilon, f"approx_dp({scale})", infinity=delta), None, ground)


def _alone(release: Release) -> int:
    """Steps that one number moves; several numbers at once have no price for noise whose loss does not add up over coordinates."""
    if release.dimension != 1:
        raise Unsupported("DPA202", f"{release.kind} noise is priced for one number at a time, got {release.dimension} at once.")
    return _steps(release)


def _update_charged(release: Release) -> Law:
    """A run of any length that its updates end."""
    lattice, updates = release.parameter("lattice"), int(release.parameter("updates"))
    scale, threshold = release.parameter("scale"), release.parameter("threshold")

    def moved(steps: int) -> Law:
        run = update_charged(scale=scale, sensitivity=steps * lattice, threshold=threshold, updates=updates, lattice=lattice)
        return run.composition.parts[0][0]

    return _or_nothing(_alone(release), moved)


def _staircase(release: Release) -> Law:
    """One number exactly, as far as the step of the staircase."""
    lattice, epsilon = release.parameter("lattice"), release.parameter("epsilon")
    step, width = int(release.parameter("step") / lattice), int(release.parameter("width") / lattice)
    if release.sensitivity > release.parameter("step"):
        raise Unsupported("DPA202", "a staircase has no price beyond the sensitivity that it was made for.")
    return _or_nothing(_alone(release), lambda steps: Staircase(epsilon, step, width, steps))


def _truncated(release: Release) -> Law:
    """One number, whose noise stays within its reach."""
    lattice, power, name = release.parameter("lattice"), *_POWERS[release.kind]
    parameter, reach = release.parameter(name) / lattice**power, int(release.parameter("reach") / lattice)
    return _or_nothing(_alone(release), lambda steps: truncated_noise(power, parameter, reach, steps))


def _finite_noise(release: Release) -> Law:
    """One number, whose noise has finitely many values with logged odds."""
    known = dict(release.parameters)
    places = sorted(name for name in known if name.startswith("value_"))
    values = [int(known[name] / release.parameter("lattice")) for name in places]
    masses = [known[name.replace("value", "weight", 1)] for name in places]
    return _or_nothing(_alone(release), lambda steps: finite_noise(values, masses, steps))


# The power of the distance in the exponent of the weights, and the name of the parameter that divides it.
_POWERS: Final = {"truncated_discrete_laplace": (1, "scale"), "truncated_discrete_gaussian": (2, "sigma_squared")}
_LAWS: Final[dict[str, Callable[[Release], Law]]] = {
    "discrete_laplace": _discrete_laplace,
    "discrete_gaussian": _discrete_gaussian,
    "rounded_gaussian": _rounded_gaussian,
    "staircase": _staircase,
    "truncated_discrete_laplace": _truncated,
    "truncated_discrete_gaussian": _truncated,
    "finite_noise": _finite_noise,
    "real_laplace": _real_laplace,
    "real_gaussian": _real_gaussian,
    "euclidean_laplace": _euclidean_laplace,
    "randomized_response": lambda release: randomized_response_law(
        release.parameter("epsilon"), int(release.parameter("categories"))
    ),
    "exponential_mechanism": lambda release: BoundedRange(_choice_epsilon(release)),
    "permute_and_flip": lambda release: permute_and_flip_law(_choice_epsilon(release)),
    "top_k": _top_k,
    "noisy_max": lambda release: noisy_max_law(_choice_epsilon(release)),
    "above_threshold": _sparse_vector,
    "sparse_vector": _sparse_vector,
    "stability_histogram": _stability_histogram,
    "partition_selection": _partition_selection,
    "objective_perturbation": _objective_perturbation,
    "best_of_runs": _best_of_runs,
    "update_charged": _update_charged,
}
