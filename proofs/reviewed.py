"""The source that nodes are about: its stamps when it was last reviewed, and what changed since."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from dpaudit.verifier.chain import Node, rests_on
from dpaudit.verifier.stamps.canonical import digest
from dpaudit.verifier.stamps.modules import Tree, file_digest
from dpaudit.verifier.stamps.reach import Reach

PACKAGES: Final = ("dpaudit", "mechanisms", "learners", "proofs")
"""The packages that ship, the lowest layer first."""
ASIDE: Final = (
    *(f"dpaudit/{name}/" for name in ("auditor", "catalogue", "cli", "interop", "ledger", "plain", "pytest_plugin", "report")),
    "dpaudit/verifier/",
    *("learners/targets/", "mechanisms/targets/", "proofs/"),
)
"""Code that checks, charges and shows: no mechanism or learner gets an object of these packages from any other code."""
RESOLVED: Final[Mapping[str, str]] = {
    "dpaudit/lazy.py:lazily": "it loads what the table of its caller names, and names are looked up in that table",
    "dpaudit/exact.py:working_precision": "it sets the precision of python-flint under a lock, and sets it back",
    "dpaudit/extras.py:_is_installed": "it checks whether a package is installed, and loads nothing",
    "dpaudit/own_packages.py:_places": "it looks where a package is, and loads nothing",
}
"""Names that cannot be resolved by reading the source, at places that a person has reviewed."""
PROSE: Final[Mapping[str, str]] = {
    "dpaudit/errors.py:CODES": "it explains errors to people; an error looks only whether its code is there",
}
"""Constants that no stamp covers, although code reaches them."""
FILE: Final = "bound_source.json"
COMMAND: Final = "python -m proofs.chain"


@dataclass(frozen=True)
class Reviewed:
    """The record of the last review.

    Args:
      packages: digest of all files of the packages at that time, so that an unchanged installation need not be read again.
      stamps: by bound place the stamp of the definition.
      definitions: by place the own digest of every definition that a bound one reaches.
      is_covered: whether the stamps cover all that the bound source reached then.
    """

    packages: str
    stamps: Mapping[str, str]
    definitions: Mapping[str, str]
    is_covered: bool = False


@dataclass(frozen=True)
class Change:
    """One definition that is not what was reviewed.

    Args:
      place: "path:name", or the path of a data file.
      kind: "changed", "new" or "gone"; "bound" for one that was reviewed for others, and that a node is about only since.
      claims: the mechanisms and learners whose claims rest on it.
    """

    place: str
    kind: str
    claims: tuple[str, ...]


def reach_of(root: Path) -> Reach:
    """Return what the definitions below a folder reach, read once as long as no file changes."""
    return _reach(root, files_digest(root, (*PACKAGES, "tests")))


@lru_cache(maxsize=2)
def _reach(root: Path, files: str) -> Reach:  # noqa: ARG001 - the digest of the files says when to read them again
    """Read the definitions of one state of all files."""
    return Reach(Tree(root, PACKAGES, ASIDE), RESOLVED, PROSE)


def files_digest(root: Path, folders: Iterable[str]) -> str:
    """Hash all files of some folders but the records that the check itself writes."""
    kept = [one for one in Tree(root, tuple(folders)).files() if not (one.startswith("proofs/") and one.endswith(".json"))]
    return digest(*(part for one in kept for part in (one, file_digest(root / one))))


def read_reviewed(root: Path) -> Reviewed:
    """Read the record of the last review; an empty one where it cannot be read."""
    try:
        found: dict[str, Any] = json.loads((root / "proofs" / FILE).read_text(encoding="utf-8"))
        covered = found.get("covered") is True
        return Reviewed(str(found["packages"]), dict(found["stamps"]), dict(found["definitions"]), covered)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Reviewed("", {}, {})


def write_reviewed(root: Path, nodes: Sequence[Node]) -> None:
    """Record the source as it is now as reviewed."""
    reach = reach_of(root)
    bound = sorted({place for node in nodes for place in node.binds})
    text = {
        "packages": files_digest(root, PACKAGES),
        "covered": not open_edges(root)(nodes),
        "stamps": {place: reach.stamp(place) for place in bound},
        "definitions": dict(sorted(reach.digests(_reached(reach, bound)).items())),
    }
    (root / "proofs" / FILE).write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")


def staleness(root: Path, *, quick: bool) -> Callable[[str], str]:
    """Return a check that says why the source at a place is not what was reviewed, with an empty text where it is."""
    reviewed = read_reviewed(root)
    same = quick and reviewed.packages == files_digest(root, PACKAGES)
    source = cache(lambda: reach_of(root))  # one state of the files for all places: to hash them takes longer than most answers

    def changed(place: str) -> str:
        if same and place in reviewed.stamps:
            return ""
        reach = source()
        stamp = reach.stamp(place)
        if not stamp or stamp == reviewed.stamps.get(place):
            return "" if stamp else f"{place} is not there"
        own = reach.digests(reach.closure(place))
        other = sorted(one for one in own if own[one] != reviewed.definitions.get(one))
        if place in other or not other:
            return f"{place} is not what was reviewed"
        more = f" and {len(other) - 3} more" if len(other) > 3 else ""
        return f"{place} reaches {', '.join(other[:3])}{more}, not as reviewed"

    return changed


def open_edges(root: Path, *, quick: bool = False) -> Callable[[Sequence[Node]], dict[str, str]]:
    """Return a function that lists what the source of nodes reaches uncovered by stamps; `quick` trusts a review of these files."""
    reviewed = read_reviewed(root)
    same = quick and reviewed.is_covered and reviewed.packages == files_digest(root, PACKAGES)
    source = cache(lambda: reach_of(root))

    def edges(nodes: Sequence[Node]) -> dict[str, str]:
        bound = {place for node in nodes for place in node.binds}
        if same and bound <= set(reviewed.stamps):
            return {}
        found = source().unresolved(_reached(source(), bound))
        return {place: "; ".join(words) for place, words in sorted(found.items())}

    return edges


def changes(root: Path, nodes: Sequence[Node]) -> list[Change]:
    """Return the definitions that are not what was reviewed."""
    reach, reviewed = reach_of(root), read_reviewed(root)
    bound = {place for node in nodes for place in node.binds}
    now = reach.digests(_reached(reach, bound))
    bound_of = {claim: bound_by(nodes, claim) for claim in claims_of(nodes)}

    def resting_on(places: Iterable[str]) -> tuple[str, ...]:
        there = frozenset(places)
        return tuple(claim for claim, own in bound_of.items() if own & there)

    found = []
    for place in sorted({*now, *reviewed.definitions}):
        if now.get(place) != reviewed.definitions.get(place):
            kind = "new" if place not in reviewed.definitions else "changed" if place in now else "gone"
            found.append(Change(place, kind, resting_on(one for one in bound if place in reach.closure(one))))
    listed = {one.place for one in found}
    added = sorted(bound - set(reviewed.stamps) - listed)
    return [*found, *(Change(place, "bound", resting_on([place])) for place in added)]


def claims_of(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return the mechanisms and learners that nodes make claims of, sorted."""
    return tuple(sorted(node.id.removesuffix(".claim") for node in nodes if node.stage == "claim"))


def bound_by(nodes: Sequence[Node], claim: str) -> frozenset[str]:
    """Return the source that a claim and all that it rests on is about."""
    below = {name for names in rests_on(nodes, f"{claim}.claim").values() for name in names}
    return frozenset(place for node in nodes if node.id in below for place in node.binds)


def _reached(reach: Reach, bound: Iterable[str]) -> frozenset[str]:
    """Return all places that bound definitions reach."""
    return frozenset().union(*(reach.closure(place) for place in bound))
