"""The learners' bundled audit targets: their releases seen from inside, whole fits from outside, and single choices."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dpaudit.targets import Target

    TARGETS: tuple[Target, ...]

_FAMILIES: Final = (
    "linear", "sums", "phased", "choices", "outside", "halfspaces", "public_data", "kernels", "perturbation", "boosting",
    "structure",
)  # fmt: skip
"""Modules of targets, in the order in which an audit of everything makes them."""


def __getattr__(name: str) -> Any:
    """Make `TARGETS`, all of them, when first asked: the story needs one family, and all take seconds to import."""
    if name != "TARGETS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: tuple[Target, ...] = tuple(target for family in _FAMILIES for target in import_module(f"{__name__}.{family}").TARGETS)
    globals()[name] = found
    return found
