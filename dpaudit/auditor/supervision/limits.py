"""Limits of a supervised target: seconds, silence, memory, processes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, integer
from dpaudit.targets import MOST_SECONDS

LONGEST_SILENCE: Final = 600
"""Seconds without one call of the target's function coming back, after which a target without a time limit is ended."""

DEFAULT_MEMORY: Final = 4 * 2**30
LEAST_MEMORY: Final = 64 * 2**20
MOST_MEMORY: Final = 2**50
MOST_PROCESSES: Final = 256
"""Processes beside the workers that were asked for, after which a target is taken for one that forks without end."""

_SIZE: Final = re.compile(r"(?P<number>[0-9]{1,18}) *(?P<unit>|B|KB|MB|GB|TB|KiB|MiB|GiB|TiB)", re.IGNORECASE)
_UNITS: Final[dict[str, int]] = {"": 1, "b": 1} | {
    f"{letter}{ending}": base**power for power, letter in enumerate("kmgt", start=1) for ending, base in (("b", 1000), ("ib", 1024))
}


@dataclass(frozen=True)
class Limits:
    """What a target may use: `seconds` in all, None for any time with signs of life; bytes of `memory` for all its processes."""

    seconds: float | None = None
    memory: int = DEFAULT_MEMORY
    silence: float = LONGEST_SILENCE


def limits_of(time_limit: Exact | None = None, memory_limit: int | str | None = None) -> Limits:
    """Return the limits that were asked for, checked."""
    seconds: Fraction | None = None
    if time_limit is not None:
        seconds = in_range(time_limit, "time_limit", lower=0, upper=MOST_SECONDS, lower_open=True)
    size = DEFAULT_MEMORY if memory_limit is None else _read_size(memory_limit)
    memory = integer(size, "memory_limit in bytes", lower=LEAST_MEMORY, upper=MOST_MEMORY)
    return Limits(None if seconds is None else float(seconds), memory)


def size_in_words(size: int) -> str:
    """Write a size in the largest unit that it is a multiple of."""
    unit = max((unit for unit, factor in _UNITS.items() if unit and size % factor == 0), key=lambda unit: _UNITS[unit])
    return f"{size // _UNITS[unit]} {unit.upper().replace('I', 'i')}"


def _read_size(size: object) -> int:
    """Read a number of bytes from an integer or a text with a unit."""
    if isinstance(size, str):
        found = _SIZE.fullmatch(size.strip())
        if found is None:
            raise InvalidArgument("DPA105", f"memory_limit must be a size such as 4 GiB or 512 MB, got {size[:40]!r}.")
        return int(str(found["number"])) * _UNITS[str(found["unit"]).lower()]
    return integer(size, "memory_limit in bytes")
