"""Constant seeds in an audited function's file, as a check: the attack gives each run randomness of its own and cannot see them.

A Target says that each run is given a generator. A plain function is called as its signature allows, also without one: where its
default is a constant seed, who calls it as it is documented publishes noise that every reader can draw again.
"""

from __future__ import annotations

from typing import Final

from dpaudit.plain.calling import PlainRun
from dpaudit.plain.seeding import seeding_place
from dpaudit.results import Property
from dpaudit.targets import Target, short_path

_UNKNOWN_NOISE: Final = "noise cannot be drawn again"


def check_seeds(target: Target) -> tuple[Property, ...]:
    """Say that whoever reads the file of a function can draw its noise again; nothing where no such seed is found."""
    given = (target.function.call.source or "") if isinstance(target.function, PlainRun) else None
    found = seeding_place(getattr(target.function, "func", target.function), given)
    if found is None:
        return ()
    where = f"{short_path(found[0])}:{found[1]}"
    said = f"{where} gives its generator a constant seed; who reads that can draw the same noise and subtract it"
    return (Property(_UNKNOWN_NOISE, "violated", 1, said),)
