"""The leaves of an output: its numbers and codes with their places, and the names of what was not read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final, TypeAlias

LARGEST: Final = 1e290
"""Finite numbers are cut to this size, so that sums and differences of them stay finite."""

OWN: Final = "the "
"""Parts of a path that begin like this were made by the reading itself, such as "the length"; no key or field name does."""

_MOST_VISITS: Final = 200_000
_PLENTY: Final = 32

Path: TypeAlias = tuple[int | str, ...]
"""Where a number stands inside an output: indices and keys from the outside in, empty for a plain number."""


def stable_code(text: str | bytes) -> int:
    """A number below 2**32 that stands for `text` in every process and on every machine."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return int.from_bytes(hashlib.blake2b(data, digest_size=4).digest(), "big")


@dataclass
class Leaves:
    """What reading one output collects, in the order in which it is met.

    `codes` maps positions among `values` whose number stands for a text as a whole to what kind of content that is: such a code
    says something only where it repeats. `detail` tells apart outputs of one form that differ in their paths. `unread` names the
    types, never the values, of what could not be looked into. `order` describes the order of keys where they are not sorted;
    `mixed` is whether items of one list differ in form; `apart` are positions of values that would drown what they are summed with.
    """

    paths: list[Path] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    codes: dict[int, str] = field(default_factory=dict)
    detail: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    inside: list[int] = field(default_factory=list)
    visits: int = 0
    mixed: bool = False
    apart: list[int] = field(default_factory=list)

    def add(self, path: Path, value: float, detail: str = "") -> None:
        """One number; `detail` where its being there does not follow from the form."""
        if detail:
            self.detail.append(f"{len(self.paths)}{detail}")
        self.paths.append(path)
        self.values.append(value)

    def add_code(self, path: Path, text: str | bytes, content: str, detail: str = "") -> None:
        """A text as a whole, which is read only where it repeats."""
        self.codes[len(self.values)] = content
        self.add(path, float(stable_code(text)), detail)

    def leave_out(self, name: str) -> None:
        """Note that something of this name is not looked into."""
        if name not in self.unread and len(self.unread) < _PLENTY:
            self.unread.append(name)

    def has_room(self, name: str) -> bool:
        """Whether one more object may be visited; what does not fit is noted as not looked into."""
        self.visits += 1
        if self.visits > _MOST_VISITS:
            self.leave_out(f"the end of a large {name}")
        return self.visits <= _MOST_VISITS
