"""Optional libraries, imported on first use; the error for a missing one says how to install it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Final

from dpaudit.errors import Unsupported

_PACKAGES: Final = {"dp_accounting": "dp-accounting", "pipeline_dp": "pipeline-dp"}


def library(name: str) -> ModuleType:
    """Import a module by name; DPA205 where its package is not installed."""
    place = name.partition(".")[0]
    package = _PACKAGES.get(place, place)
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise Unsupported("DPA205", f"{package} is not installed. Run: pip install {package}") from error
