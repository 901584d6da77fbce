"""The names that an audit without any takes: the story or all bundled targets, found in processes of their own."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpaudit.errors import InvalidArgument, MissingExtra, TargetFailure
from dpaudit.extras import left_out_of
from dpaudit.loading import STORY, broken_bundles, bundle_locations, bundled_targets
from dpaudit.results import TargetResult, Verdict

if TYPE_CHECKING:
    from dpaudit.auditor.supervision.child import Json, Send


@dataclass(frozen=True)
class Bundled:
    """Names of bundled targets, a failed result for each package whose targets do not load, and what lacks only an extra."""

    names: list[str]
    broken: list[TargetResult]
    left_out: tuple[str, ...]


def bundled(*, everything: bool) -> Bundled:
    """Find the targets of the story, or all bundled ones; a package that ends its process while it is loaded hides no other one."""
    names, broken, left_out = _bundles(None if everything else STORY)
    if not names and not broken:
        unseen = "".join(f" Left out are {one}." for one in left_out)
        raise InvalidArgument(
            "DPA109", f"no target is bundled with the installed packages.{unseen} Name one, FILE.py:NAME or MODULE:NAME."
        )
    return Bundled(names, [_failed(location, failure) for location, failure in broken.items()], tuple(left_out))


def _bundles(locations: Collection[str] | None) -> tuple[list[str], dict[str, str], list[str]]:
    """Names, failures by location, what is left out: from one process, or from one for each location where that one died."""
    from dpaudit.auditor.supervision.apart import run_apart
    from dpaudit.auditor.supervision.audits import load_own
    from dpaudit.auditor.supervision.limits import Limits

    load_own(one for one in STORY if locations and one in locations)
    try:
        return _texts(run_apart(_listing(locations), Limits()))
    except TargetFailure:
        names: list[str] = []
        broken: dict[str, str] = {}
        left_out: list[str] = []
        for location in bundle_locations() if locations is None else locations:
            try:
                more, refused, lacking = _texts(run_apart(_listing([location]), Limits()))
            except TargetFailure as failure:
                more, refused, lacking = [], {location: str(failure)}, []
            names += [name for name in more if name not in names]
            broken |= refused
            left_out += lacking
        return names, broken, left_out


def _listing(locations: Collection[str] | None) -> Callable[[Send], Json]:
    """Work that lists the bundles at these locations, or at all."""

    def work(_: Send) -> Json:
        # Not given where all are meant, as the functions of a test take nothing.
        given = () if locations is None else (locations,)
        broken = broken_bundles(*given)
        failures = {place: str(error) for place, error in broken.items() if not isinstance(error, MissingExtra)}
        return [list(bundled_targets(*given)), failures, left_out_of(broken)]

    return work


def _texts(found: Json) -> tuple[list[str], dict[str, str], list[str]]:
    """What a process sent, as texts."""
    names, broken, left_out = found
    failures = {str(place): str(failure) for place, failure in broken.items()}
    return [str(name) for name in names], failures, [str(one) for one in left_out]


def _failed(name: str, failure: str) -> TargetResult:
    """The result of a package whose targets could not be loaded."""
    from dpaudit.auditor.supervision.candidates import NO_CLAIM

    return TargetResult(name, "", NO_CLAIM, Verdict.FAILED, "The target could not be audited.", failure=failure)
