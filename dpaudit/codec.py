"""Frozen dataclasses to plain JSON values and back, directed by their type hints, nothing lost and nothing accepted silently."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, NoReturn, TypeAlias, get_args, get_origin, get_type_hints

from dpaudit.errors import DpauditError, InvalidArgument
from dpaudit.exact import Enclosure, Endpoint, Reason

Json: TypeAlias = dict[str, Any] | list[Any] | str | int | float | bool | None

VIEW: Final = "_float"
"""Beside every exact number stands the nearest float under its name with this ending, for people who plot; it is never read."""

_LONGEST_NUMERAL: Final = 20_000
_NUMERAL: Final = re.compile(r"-?[0-9]+(/0*[1-9][0-9]*)?")
_INFINITIES: Final = {"inf": math.inf, "-inf": -math.inf}


def encode(value: Any, hint: Any) -> Json:
    """The JSON value of a Python value of the given type."""
    if value is None:
        return None
    kind = _present(hint)
    if kind is Fraction:
        return numeral(value)
    if kind is Enclosure:
        return _encode_enclosure(value)
    if kind is float:
        return _encode_float(float(value))
    if kind in (str, bool, int) or _is_enum(kind):
        return str(value) if _is_enum(kind) else kind(value)
    if get_origin(kind) is tuple:
        return [encode(item, item_hint) for item, item_hint in zip(value, _item_hints(kind, len(value)), strict=True)]
    if is_dataclass(kind):
        return _encode_fields(value, kind)
    raise TypeError(f"no JSON form for {kind}")


def decode(document: Any, hint: Any, where: str) -> Any:
    """The Python value that a JSON value stands for; the inverse of `encode`."""
    kind = _present(hint)
    if document is None and kind is not hint:
        return None
    if kind is Fraction:
        return _decode_numeral(document, where)
    if kind is Enclosure:
        return _decode_enclosure(document, where)
    if kind is float:
        return _decode_float(document, where)
    if kind in (str, bool, int):
        return document if type(document) is kind else _refuse(where, _NAMES[kind], document)
    if _is_enum(kind):
        known = isinstance(document, str) and document in set(kind)
        return kind(document) if known else _refuse(where, f"one of {', '.join(kind)}", document)
    if get_origin(kind) is tuple:
        return _decode_tuple(document, kind, where)
    return _decode_fields(document, kind, where)


def numeral(value: Fraction) -> str:
    """An exact fraction as "3" or "1/3", however long; plain `str` refuses integers of more than 4300 digits."""
    top = format(Decimal(value.numerator), "f")
    return top if value.denominator == 1 else f"{top}/{format(Decimal(value.denominator), 'f')}"


def nearest(value: Endpoint) -> float:
    """The nearest float; infinite where the number is beyond the range of floats."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


_NAMES: Final = {str: "a string", bool: "true or false", int: "an integer", NoneType: "null", list: "a list", dict: "an object"}


def _refuse(where: str, allowed: str, found: object) -> NoReturn:
    """Raise the refusal of a value; the value itself is not shown."""
    shown = "a number" if isinstance(found, float) else _NAMES[type(found)]
    raise InvalidArgument("DPA501", f"{where} must be {allowed}, got {'another one' if shown == allowed else shown}.")


def _present(hint: Any) -> Any:
    """The type itself where the hint is that type or None."""
    if isinstance(hint, UnionType):
        (kind,) = (part for part in get_args(hint) if part is not NoneType)
        return kind
    return hint


def _is_enum(kind: Any) -> bool:
    """Whether a type is an enumeration of strings."""
    return isinstance(kind, type) and issubclass(kind, StrEnum)


def _item_hints(kind: Any, size: int) -> tuple[Any, ...]:
    """Types of the items of a tuple of `size` items."""
    hints = get_args(kind)
    return (hints[0],) * size if hints[-1] is Ellipsis else hints


@lru_cache(maxsize=64)
def _field_hints(kind: Any) -> Mapping[str, Any]:
    """Names and types of a dataclass's fields."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


@lru_cache(maxsize=64)
def _left_out(kind: Any) -> frozenset[str]:
    """Names of fields that are left out of the object where they are None, so that older reports lack them too."""
    return frozenset(field.name for field in fields(kind) if field.metadata.get("left out"))


def _encode_fields(value: Any, kind: Any) -> dict[str, Json]:
    """A dataclass as an object, with a float view beside each exact number."""
    document: dict[str, Json] = {}
    for name, hint in _field_hints(kind).items():
        part = getattr(value, name)
        if part is None and name in _left_out(kind):
            continue
        document[name] = encode(part, hint)
        if _present(hint) is Fraction:
            document[name + VIEW] = None if part is None else _encode_float(nearest(part))
    return document


def _decode_fields(document: Any, kind: Any, where: str) -> Any:
    """A dataclass from an object that has exactly its fields."""
    if not isinstance(document, dict):
        _refuse(where, "an object", document)
    hints = _field_hints(kind)
    absent = _left_out(kind) - document.keys()
    views = {name + VIEW for name, hint in hints.items() if _present(hint) is Fraction and name not in absent}
    check_names(document, (hints.keys() - absent) | views, where)
    parts = {name: decode(document[name], hint, f"{where}.{name}") for name, hint in hints.items() if name not in absent}
    return _built(where, kind, parts)


def check_names(document: Mapping[str, Any], names: AbstractSet[str], where: str) -> None:
    """Refuse an object that lacks one of the names or has others (DPA501)."""
    missing, unknown = sorted(names - document.keys()), sorted(document.keys() - names)
    if missing:
        raise InvalidArgument("DPA501", f"{where} lacks {', '.join(missing)}.")
    if unknown:
        raise InvalidArgument("DPA501", f"{where} has {len(unknown)} fields that schema version 1 does not know.")


def _decode_tuple(document: Any, kind: Any, where: str) -> tuple[Any, ...]:
    """A tuple from a list of the right length."""
    if not isinstance(document, list):
        _refuse(where, "a list", document)
    hints = _item_hints(kind, len(document))
    if len(hints) != len(document):
        raise InvalidArgument("DPA501", f"{where} must have {len(hints)} items, got {len(document)}.")
    return tuple(decode(item, hint, f"{where}[{place}]") for place, (item, hint) in enumerate(zip(document, hints, strict=True)))


def _encode_float(value: float) -> float | str:
    """A float as a JSON number, or the words inf, -inf and nan, which JSON numbers cannot say."""
    return value if math.isfinite(value) else str(value)


def _decode_float(document: Any, where: str) -> float:
    """A float from a JSON number or one of the three words."""
    if document in ("inf", "-inf", "nan"):
        return float(document)
    if isinstance(document, bool) or not isinstance(document, (int, float)):
        _refuse(where, "a number", document)
    return nearest(document)


def _decode_numeral(document: Any, where: str) -> Fraction:
    """An exact fraction from "3" or "1/3"."""
    if not isinstance(document, str):
        _refuse(where, "an exact number as a string", document)
    if len(document) > _LONGEST_NUMERAL or _NUMERAL.fullmatch(document) is None:
        raise InvalidArgument("DPA501", f'{where} must be an exact number such as "3" or "1/3".')
    top, _, bottom = document.partition("/")
    return Fraction(int(Decimal(top)), int(Decimal(bottom or "1")))


def _encode_enclosure(value: Enclosure) -> dict[str, Json]:
    """An interval with exact ends, their outward float views, and the reason tree."""
    low, high = value.floats()
    return {
        "lower": _encode_end(value.lower),
        "upper": _encode_end(value.upper),
        "lower" + VIEW: _encode_float(low),
        "upper" + VIEW: _encode_float(high),
        "why": _encode_reason(value.reason),
    }


def _decode_enclosure(document: Any, where: str) -> Enclosure:
    """An interval from its object."""
    if not isinstance(document, dict):
        _refuse(where, "an object", document)
    check_names(document, {"lower", "upper", "lower" + VIEW, "upper" + VIEW, "why"}, where)
    ends = {name: _decode_end(document[name], f"{where}.{name}") for name in ("lower", "upper")}
    found: Enclosure = _built(where, Enclosure, ends | {"reason": _decode_reason(document["why"], f"{where}.why")})
    return found


def _encode_end(value: Endpoint) -> str:
    """An end of an interval: exact, or the word for an infinity."""
    return str(value) if isinstance(value, float) else numeral(value)


def _decode_end(document: Any, where: str) -> Endpoint:
    """An end of an interval from its text."""
    return _INFINITIES[document] if document in ("inf", "-inf") else _decode_numeral(document, where)


def _encode_reason(reason: Reason) -> dict[str, Json]:
    """A reason tree as nested objects."""
    return {"statement": reason.statement, "parts": [_encode_reason(part) for part in reason.parts]}


def _decode_reason(document: Any, where: str) -> Reason:
    """A reason tree from nested objects."""
    if not isinstance(document, dict):
        _refuse(where, "an object", document)
    check_names(document, {"statement", "parts"}, where)
    statement, parts = decode(document["statement"], str, f"{where}.statement"), document["parts"]
    if not isinstance(parts, list):
        _refuse(f"{where}.parts", "a list", parts)
    return Reason(statement, tuple(_decode_reason(part, f"{where}.parts[{place}]") for place, part in enumerate(parts)))


def _built(where: str, kind: Any, parts: Mapping[str, Any]) -> Any:
    """The object made from its parts, which may contradict each other."""
    try:
        return kind(**parts)
    except DpauditError as error:
        raise InvalidArgument("DPA501", f"{where} is refused: {error.message}") from error
