"""Leaves of an output: its numbers and codes with their places, and the names of what was not read."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final, TypeAlias

LARGEST: Final = 1e290
"""Finite numbers are cut to this size, so that sums and differences of them stay finite."""

OWN: Final = "the "
"""Parts of a path that the reading itself added begin like this, such as "the length"; no key or field name does."""

_MOST_VISITS: Final = 200_000
"""Objects that are read of one output, so that one of millions does not stop an audit; the rest is named as left out."""

_PLENTY: Final = 32
"""Names of what was left out that are kept of one output."""

Path: TypeAlias = tuple[int | str, ...]
"""Place of a number inside an output: indices and keys from the outside in, empty for a plain number."""


class Label(str):
    """A text that the reading itself made, of use only as a whole."""

    __slots__ = ()


def stable_code(text: str | bytes) -> int:
    """Code a text as a number below 2**32, the same in every process and on every machine."""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return int.from_bytes(hashlib.blake2b(data, digest_size=4).digest(), "big")


@dataclass
class Leaves:
    """Collection of what is read of one output, in the order in which it is met.

    `codes` maps positions among `values` that code a whole text to the kind of that content: such a code is of use only where it
    repeats. `detail` separates outputs of one form that differ in their paths. `unread` names the types, never the values, of what
    could not be read. `order` describes the order of keys that are not sorted; `mixed` is whether items of one list differ in form;
    `apart` are positions of values that no
    sum of others contains; `negative_zeros` is whether there is a zero with a sign.
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
    negative_zeros: bool = False

    def add(self, path: Path, value: float, detail: str = "") -> None:
        """Append a number; `detail` where the form does not imply that there is one."""
        if detail:
            self.detail.append(f"{len(self.paths)}{detail}")
        self.paths.append(path)
        self.values.append(value)

    def add_code(self, path: Path, text: str | bytes, content: str, detail: str = "") -> None:
        """Append the code of a whole text."""
        self.codes[len(self.values)] = content
        self.add(path, float(stable_code(text)), detail)

    def leave_out(self, name: str) -> None:
        """Note that something of this name is not read."""
        if name not in self.unread and len(self.unread) < _PLENTY:
            self.unread.append(name)

    def has_room(self, name: str) -> bool:
        """Count one more object; True if it may be read, else it is noted as left out."""
        self.visits += 1
        if self.visits > _MOST_VISITS:
            self.leave_out(f"the end of a large {name}")
        return self.visits <= _MOST_VISITS
