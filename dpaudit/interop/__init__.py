"""Adapters to other libraries and programs; none of them is needed, and none is imported before its own objects are handed over."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dpaudit.interop.diffprivlib import from_diffprivlib as from_diffprivlib
    from dpaudit.interop.event_writing import to_dp_accounting as to_dp_accounting
    from dpaudit.interop.events import from_dp_accounting as from_dp_accounting
    from dpaudit.interop.opacus import from_opacus as from_opacus
    from dpaudit.interop.opendp import from_opendp as from_opendp
    from dpaudit.interop.programs import from_program as from_program
    from dpaudit.interop.sklearn import from_sklearn as from_sklearn

_HOMES: Final = {
    "from_diffprivlib": "dpaudit.interop.diffprivlib",
    "from_dp_accounting": "dpaudit.interop.events",
    "from_opacus": "dpaudit.interop.opacus",
    "from_opendp": "dpaudit.interop.opendp",
    "from_program": "dpaudit.interop.programs",
    "from_sklearn": "dpaudit.interop.sklearn",
    "to_dp_accounting": "dpaudit.interop.event_writing",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    """Load a public name on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'dpaudit.interop' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Every public name, loaded or not."""
    return sorted(__all__)
