"""JSON texts as their values, with numbers as they are written and the layout as a code."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

from dpaudit.auditor.reading.texts import LONGEST

_GAP: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[-+.\w]+')
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")
_STYLES: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"separators": (",", ":")},
    {"ensure_ascii": False},
    {"separators": (",", ":"), "ensure_ascii": False},
    {"indent": 2},
    {"indent": 4},
)
"""Common layouts of JSON: of a text in one of them nothing is left to read but its value and the number of the layout."""


class Numeral(str):
    """A number as a text writes it."""

    __slots__ = ()


class Document(NamedTuple):
    """What a JSON text holds: its value, and its layout as the number of a common one or as a text."""

    value: Any
    layout: float | str


def json_document(text: str) -> Document | None:
    """Read a JSON text of one or of several lines; None where it is none."""
    start = text.lstrip()[:1]
    if start not in ("{", "[") or len(text) > LONGEST:
        return None
    try:
        value = json.loads(text, object_pairs_hook=_mapping, parse_float=Numeral, parse_int=Numeral, parse_constant=Numeral)
    except (ValueError, RecursionError):
        return _lines(text)
    return Document(value, _layout(text))


def _lines(text: str) -> Document | None:
    """Read a text with one JSON value in each line."""
    lines = text.splitlines()
    found = [json_document(line) for line in lines] if len(lines) > 1 else []
    documents = [one for one in found if one is not None]
    if not documents or len(documents) < len(lines):
        return None
    ends = "\n" if text.endswith("\n") else ""
    return Document([one.value for one in documents], " ".join(sorted({str(one.layout) for one in documents})) + ends)


def _mapping(pairs: list[tuple[str, Any]]) -> Any:
    """A mapping, or where a key comes twice all pairs."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else pairs


def _layout(text: str) -> float | str:
    """The number of a common layout, else all that is no value: gaps between values, and which letters are escaped."""
    try:
        plain = json.loads(text)
        for place, style in enumerate(_STYLES):
            if json.dumps(plain, **style) == text:
                return float(place)
    except (ValueError, RecursionError):
        pass
    gaps = _GAP.sub("0", text)
    repeated = len(gaps) > 1000
    escapes = sorted(set(_ESCAPE.findall(text)))
    # Of a long document the kinds of gaps that it has: items may be many, and their number is read with the value.
    found = sorted(set(re.findall(r"[^0]+", gaps))) if repeated else [gaps]
    return " ".join([*found, *escapes])
