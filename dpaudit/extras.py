"""Optional extras: which packages each one adds, and the one sentence that refuses what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import Final

from dpaudit.errors import DpauditError, MissingExtra

EXTRAS: Final[Mapping[str, Mapping[str, str]]] = {
    "proofs": {"z3": "z3-solver", "cvc5": "cvc5"},
    "learners": {"sklearn": "scikit-learn"},
    "plots": {"matplotlib": "matplotlib"},
    "postgres": {"psycopg": "psycopg"},
}
"""The packages that tell whether an extra is there: the name that is imported, and the one that pip knows."""


@cache  # of a success alone: an error is not kept, so that a package which is installed meanwhile is found
def require(extra: str) -> None:
    """Refuse to go on where packages of an extra are not installed (DPA206); they are looked for, not imported."""
    missing = [name for module, name in EXTRAS[extra].items() if not _is_installed(module)]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        raise MissingExtra(
            "DPA206",
            f'{extra} need {" and ".join(missing)}, which {verb} not installed. Run: pip install "dpaudit[{extra}]".',
        )


def left_out_of(broken: Mapping[str, DpauditError]) -> list[str]:
    """Name the bundled targets that lack only an extra: one sentence, without a full stop, for each package of targets."""
    missing = {location: error for location, error in broken.items() if isinstance(error, MissingExtra)}
    return [f"the targets of {place.partition('.')[0]}: {error.message.rstrip('.')}" for place, error in missing.items()]


def _is_installed(module: str) -> bool:
    """True if Python finds a package of that name."""
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # a finder refuses, or something without a specification is loaded in its place
        return False
