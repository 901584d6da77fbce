"""The catalogue: published mechanisms and programs, correct and broken, each with its claim, source, verdict and exact truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dpaudit.lazy import lazily

if TYPE_CHECKING:
    from dpaudit.catalogue.programs import PROGRAMS as PROGRAMS
    from dpaudit.catalogue.specimen import Specimen as Specimen
    from dpaudit.catalogue.specimen import Truth as Truth
    from dpaudit.catalogue.zoo import PUBLISHED as PUBLISHED
    from dpaudit.catalogue.zoo import SPECIMENS as SPECIMENS
    from dpaudit.catalogue.zoo import TARGETS as TARGETS
    from dpaudit.catalogue.zoo import specimens as specimens

_HOMES: Final = {  # lazily, since the programs are verified without numpy
    "PROGRAMS": "programs",
    "PUBLISHED": "zoo",
    "SPECIMENS": "zoo",
    "Specimen": "specimen",
    "TARGETS": "zoo",
    "Truth": "specimen",
    "specimens": "zoo",
}

__all__ = [*sorted(_HOMES)]

__getattr__, __dir__ = lazily(__name__, _HOMES)
