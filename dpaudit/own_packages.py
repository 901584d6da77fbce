"""The packages that are installed with dpaudit, distinguished from others of the same common names."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from dpaudit.errors import ForeignPackage

NEEDS: Final = {"mechanisms": (), "learners": ("mechanisms",), "proofs": ("learners", "mechanisms")}
"""Each of these packages, with those that it imports."""


def require_own(module: str) -> None:
    """Refuse a module of `mechanisms`, `learners` or `proofs` where Python finds another package for it or what it needs (DPA417).

    Only the first part of the dotted name is looked up, and nothing is imported.
    """
    first = module.partition(".")[0]
    for name in (first, *NEEDS[first]) if first in NEEDS else ():
        own = Path(__file__).resolve().parent.parent / name
        found = _places(name)
        if found and own not in found:
            raise ForeignPackage(
                "DPA417",
                f"{module if name == first else name} belongs to dpaudit, but Python finds another package {name} first: "
                f"{found[0]}. dpaudit's own is {own}. Rename the other one, or take its folder off the path: run the command "
                "elsewhere, or change PYTHONPATH.",
            )


def _places(name: str) -> list[Path]:
    """Where Python finds a package or a module of that name; nothing where there is none."""
    try:
        found = find_spec(name)
    except (ImportError, ValueError):
        return []
    if found is None:
        return []
    folders = list(found.submodule_search_locations or ()) or [found.origin or "a module without a file"]
    return [Path(folder).resolve() for folder in folders]
