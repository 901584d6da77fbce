"""From the source of a Python function to a proof of its privacy claim, or to a certified counterexample."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dpaudit.verifier.verifying import Verification as Verification
    from dpaudit.verifier.verifying import verify as verify

__all__: Final = ["Verification", "verify"]


def __getattr__(name: str) -> object:
    """Import on first use, so that the front end does not load what only the search for proofs needs."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("dpaudit.verifier.verifying"), name)
