"""Disclosure: the one decision whether a report shows values of data and outputs, and the words for what it withholds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from dpaudit.errors import CODES, DpauditError
from dpaudit.releases import DISTRIBUTIONS, Release
from dpaudit.results import Price, Settings, Values
from dpaudit.targets import Target

_WITHHELD: Final = "its parameters are not the same in every run on every dataset tried, so they are not shown"
_VARIES: Final = "the releases vary between runs or datasets, and only a fixed list of them is priced"


def shows_values(target: Target) -> bool:
    """True if a report may show values of a target's datasets and outputs; every text of an audit asks here."""
    # A broken function releases raw data, so outputs, exceptions and parameters of noise are as private as the data.
    return target.public_data


def apply_permission(target: Target, settings: Settings) -> Target:
    """Declare the data of a target public where the caller asked to show values."""
    return replace(target, public_data=True) if settings.show_values and not target.public_data else target


def values_of(target: Target, settings: Settings) -> Values:
    """Tell whether the report of a target shows values, and why."""
    if settings.show_values:
        return Values.ASKED
    return Values.PUBLIC if shows_values(target) else Values.HIDDEN


def text_of(error: DpauditError, target: Target) -> str:
    """Describe an error of dpaudit that a target caused: by code alone where values are hidden, since its text may quote them."""
    if shows_values(target):
        return str(error)
    code = error.code if isinstance(error.code, str) and error.code in CODES else "an error"
    return f"{code}, whose text may quote values and is not shown"


def common_releases(logs: Iterable[Sequence[Release]]) -> frozenset[str]:
    """Find the releases that are in every log, as text; what varies between datasets may be a value of them."""
    sets = [frozenset(map(as_text, log)) for log in logs]
    return frozenset.intersection(*sets) if sets else frozenset()


def without_values(price: Price, log: Sequence[Release], common: frozenset[str], target: Target) -> Price:
    """Return the price without parameters of releases that may come from the data."""
    varies = [as_text(release) not in common for release in log]
    if shows_values(target) or not any(varies):
        return price
    kinds = [release.kind if release.kind in DISTRIBUTIONS else "a release" for release in log]
    lines = [f"{kind}: {_WITHHELD}" if hidden else line for kind, line, hidden in zip(kinds, price.releases, varies, strict=True)]
    # A price above the claim speaks against it without its number too.
    return Price("above" if price.status == "above" else "unpriced", releases=tuple(lines), why=(_VARIES,))


def as_text(release: Release) -> str:
    """Write a release without what depends on the source of bits; as text, since what users log may have no hash."""
    return repr(replace(release, secure=True))
