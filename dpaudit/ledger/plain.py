"""The content of entries as plain data and back: guarantees, adjacencies and caps; and the excess of releases over a charge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any, Final

from dpaudit.accounting import price_releases
from dpaudit.accounting.budgets.filters import Amounts, Cap
from dpaudit.claims import GDP, RDP, ZCDP, Adjacency, ApproxDP, Guarantee, PureDP
from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.releases import Release

_GUARANTEES: Final = {kind.__name__: kind for kind in (PureDP, ApproxDP, ZCDP, RDP, GDP)}


def guarantee_to_dict(guarantee: Guarantee) -> dict[str, Any]:
    """Write a guarantee as its name and its numbers as text."""
    if isinstance(guarantee, RDP):
        return {"name": "RDP", "orders": {str(order): str(bound) for order, bound in guarantee.orders}}
    numbers = {field.name: str(getattr(guarantee, field.name)) for field in fields(guarantee)}
    return {"name": type(guarantee).__name__, **numbers}


def guarantee_from_dict(values: Mapping[str, Any]) -> Guarantee:
    """Read a guarantee back."""
    numbers = dict(values)
    kind = _GUARANTEES.get(str(numbers.pop("name", "")))
    if kind is None:
        raise InvalidArgument("DPA105", f"a budget is one of {', '.join(_GUARANTEES)}.")
    guarantee: Guarantee = kind(**numbers)
    return guarantee


def adjacency_to_dict(adjacency: Adjacency) -> dict[str, Any]:
    """Write an adjacency as its parts, its radius as text."""
    parts = {field.name: getattr(adjacency, field.name) for field in fields(adjacency)}
    return {name: str(value) if name == "radius" else value for name, value in parts.items() if value is not None}


def cap_of(body: Mapping[str, Any]) -> Cap:
    """Return the cap that an entry of kind "budget" opened, with the limits that it states."""
    cap = Cap(guarantee_from_dict(body["guarantee"]), adjacency_from_dict(body["adjacency"]), ())
    return Cap(cap.guarantee, cap.adjacency, cap.read(body["limits"]))


def adjacency_from_dict(values: Mapping[str, Any]) -> Adjacency:
    """Read an adjacency back."""
    parts = dict(values)
    if parts.get("kind") == "hamming" and "radius" in parts:
        parts["radius"] = int(parts["radius"])
    return Adjacency(**parts)


def release_to_dict(release: Release) -> dict[str, Any]:
    """Write a release with its adjacency."""
    return {**release.to_dict(), "adjacency": adjacency_to_dict(release.adjacency)}


def excess(cap: Cap, ran: Sequence[Release], reserved: Amounts) -> Amounts | None:
    """Compute what releases cost beyond their reservation, at least 0; None where they have no price under the cap."""
    if not ran:
        return cap.nothing
    try:
        cost = cap.cost(price_releases(ran))
    except DpauditError:
        return None
    return tuple(max(one - kept, Fraction(0)) for one, kept in zip(cost, reserved, strict=True))


def all_left(limits: Amounts, spent: Amounts, pending: Iterable[Amounts]) -> Amounts:
    """Return the charge for a release without a price: all that is left of a budget, and all that open charges could give back."""
    left = [max(limit - taken, Fraction(0)) for limit, taken in zip(limits, spent, strict=True)]
    return tuple(sum(parts, Fraction(0)) for parts in zip(left, *pending, strict=True))
