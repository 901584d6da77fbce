"""The names that an audit without any takes: all bundled targets, found in processes of their own, and bundles that do not load."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from dpaudit.errors import InvalidArgument, TargetFailure
from dpaudit.results import TargetResult, Verdict
from dpaudit.targets import broken_bundles, bundle_locations, bundled_targets

if TYPE_CHECKING:
    from dpaudit.auditor.supervision.child import Json, Send


def bundled() -> tuple[list[str], list[TargetResult]]:
    """Names of all bundled targets, and a failed result for each installed package whose targets do not load."""
    names, broken = _bundles()
    if not names and not broken:
        raise InvalidArgument("DPA109", "no target is bundled with the installed packages. Name one, FILE.py:NAME or MODULE:NAME.")
    return names, [_failed(location, failure) for location, failure in broken.items()]


def _bundles() -> tuple[list[str], dict[str, str]]:
    """Names, and failures by location: from one process, or from one for each location where that one died."""
    from dpaudit.auditor.supervision.apart import apart
    from dpaudit.auditor.supervision.limits import Limits

    try:
        return _texts(apart(_listing(None), Limits()))
    except TargetFailure:
        names: list[str] = []
        broken: dict[str, str] = {}
        for location in bundle_locations():
            try:
                more, refused = _texts(apart(_listing([location]), Limits()))
            except TargetFailure as failure:
                more, refused = [], {location: str(failure)}
            names += [name for name in more if name not in names]
            broken |= refused
        return names, broken


def _listing(locations: Collection[str] | None) -> Callable[[Send], Json]:
    """Work that lists the bundles at these locations, or at all."""

    def work(_: Send) -> Json:
        # Not given where all are meant, as the functions of a test take nothing.
        given = () if locations is None else (locations,)
        return [list(bundled_targets(*given)), {place: str(error) for place, error in broken_bundles(*given).items()}]

    return work


def _texts(found: Json) -> tuple[list[str], dict[str, str]]:
    """What a process sent, as texts."""
    names, broken = found
    return [str(name) for name in names], {str(place): str(failure) for place, failure in broken.items()}


def _failed(name: str, failure: str) -> TargetResult:
    """The result of a package whose targets could not be loaded."""
    from dpaudit.auditor.supervision.candidates import NO_CLAIM

    return TargetResult(name, "", NO_CLAIM, Verdict.FAILED, "The target could not be audited.", failure=failure)
