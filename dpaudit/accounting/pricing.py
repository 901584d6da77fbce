"""The price of what ran: from the release log to a composed privacy loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import floor
from typing import Final

from dpaudit.accounting.law import Law
from dpaudit.accounting.laws.between import Between
from dpaudit.accounting.laws.bounded_range import BoundedRange
from dpaudit.accounting.laws.concentrated import Concentrated
from dpaudit.accounting.laws.discrete_gaussian import DiscreteGaussian
from dpaudit.accounting.laws.discrete_laplace import DiscreteLaplace
from dpaudit.accounting.laws.gaussian import Gaussian
from dpaudit.accounting.laws.response import Response
from dpaudit.accounting.laws.rounded_gaussian import RoundedGaussian
from dpaudit.accounting.loss import PrivacyLoss, compose, single
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import shown
from dpaudit.releases import Release


def price(releases: Sequence[Release]) -> PrivacyLoss:
    """Privacy loss of everything that a run wrote to its release log.

    Args:
      releases: entries of the log, at least one, all under one adjacency.
    Returns:
      The composition of all of them. Lower ends speak of the worst neighbours that the logged sensitivity allows.
    Raises:
      InvalidArgument: the log is empty (DPA109), an entry is no Release or lacks a parameter (DPA105).
      AdjacencyMismatch: entries speak of different neighbouring relations (DPA201).
      Unsupported: an entry of a kind that has no law here (DPA202).
    Source: docs/accounting.md, section on pricing.
    Example:
      >>> from dpaudit.claims import Adjacency
      >>> entry = Release(
      ...     "discrete_laplace", (("lattice", Fraction(1)), ("scale", Fraction(2))), Fraction(1), Adjacency("add_remove")
      ... )
      >>> print(price([entry, entry]).epsilon(delta=0))
      1
    """
    if not releases:
        raise InvalidArgument(
            "DPA109", "there is nothing to price: the release log is empty. Only mechanisms of this project write to it."
        )
    for release in releases:
        if not isinstance(release, Release):
            raise InvalidArgument("DPA105", f"price takes entries of a release log, got a {type(release).__name__}.")
    return compose(*(release.count * single(_law(release), release.adjacency) for release in releases))


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
    """How many whole lattice steps one coordinate can move: values on the lattice differ by nothing between."""
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
    epsilon = release.sensitivity / scale
    name = f"discrete_laplace(scale={shown(scale)}, sensitivity={shown(release.sensitivity)}, dimension={release.dimension})"
    ground = "L1 sensitivity: the loss is at most sensitivity/scale; all of it may fall on one coordinate"
    return Between(name, Response(epsilon, f"pure_dp(epsilon={shown(epsilon)})"), coordinate, ground)


def _rounded_gaussian(release: Release) -> Law:
    """Post-processing of the continuous law in any dimension; at least what one rounded coordinate loses."""
    sigma, lattice = release.parameter("sigma"), release.parameter("lattice")
    name = f"gaussian(sigma={shown(sigma)}, sensitivity={shown(release.sensitivity)})"
    coordinate = _or_nothing(_steps(release), lambda steps: RoundedGaussian(sigma / lattice, steps))
    ground = "rounding is post-processing of the continuous Gaussian; one rounded coordinate may carry the whole sensitivity"
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


def _randomized_response(release: Release) -> Law:
    """k-ary randomized response."""
    epsilon, categories = release.parameter("epsilon"), int(release.parameter("categories"))
    return Response(
        epsilon, f"randomized_response(epsilon={shown(epsilon)}, categories={categories})", others=Fraction(categories - 2)
    )


def _exponential_mechanism(release: Release) -> Law:
    """Bounded range: twice the sensitivity over the temperature, once where all scores move the same way."""
    moves = 1 if release.parameter("monotonic") else 2
    return BoundedRange(moves * release.sensitivity / release.parameter("temperature"))


_LAWS: Final[dict[str, Callable[[Release], Law]]] = {
    "discrete_laplace": _discrete_laplace,
    "discrete_gaussian": _discrete_gaussian,
    "rounded_gaussian": _rounded_gaussian,
    "randomized_response": _randomized_response,
    "exponential_mechanism": _exponential_mechanism,
}
