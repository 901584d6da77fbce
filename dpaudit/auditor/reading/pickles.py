"""Pickles as what they would build, read from their opcodes: nothing of them is ever loaded."""

from __future__ import annotations

import pickletools
from typing import Any, Final, NamedTuple

from dpaudit.auditor.reading.leaves import Label

_MOST_OPCODES: Final = 20_000
_STRUCTURE: Final = {"FRAME", "PROTO", "BINPUT", "LONG_BINPUT", "PUT", "MEMOIZE"}
"""Opcodes whose arguments say nothing that the others do not: where things lie in the stream."""

_NAMES: Final = {"GLOBAL", "INST"}


class Pickled(NamedTuple):
    """Values of a pickle in the order of the stream, and its opcodes without them."""

    values: list[Any]
    opcodes: str
    whole: bool


def pickled(data: bytes) -> Pickled | None:
    """Read the opcodes of a pickle of protocol 2 or later; None where the bytes are no pickle."""
    if len(data) < 4 or data[:1] != b"\x80" or data[1] > 5 or data[-1:] != b".":
        return None
    values, names = list[Any](), list[str]()
    try:
        for number, (opcode, argument, _) in enumerate(pickletools.genops(data)):
            if number == _MOST_OPCODES:
                return Pickled(values, " ".join(names), whole=False)
            if opcode.name in _STRUCTURE:
                continue
            names.append(_family(opcode.name))
            if isinstance(argument, (int, float, str, bytes, bytearray)):
                # References to what came before belong to the structure.
                if "GET" in opcode.name:
                    names.append(str(argument))
                else:
                    values.append(Label(argument) if opcode.name in _NAMES else argument)
    except (ValueError, IndexError, OverflowError, UnicodeError, EOFError):
        return None
    return Pickled(values, " ".join(names), whole=True)


def _family(name: str) -> str:
    """The name of an opcode without the size of its argument: integers, texts and bytes of every size alike."""
    if name in {"BININT", "BININT1", "BININT2", "LONG1", "LONG4", "INT", "LONG"}:
        return "INT"
    return name.replace("SHORT_", "").rstrip("148")
