"""Releases that hide one noisy number in outputs of many kinds: each leaks, or is sound, with the number alone."""

import base64
import csv
import io
import json
import logging
import math
import pickle
import struct
import uuid
import zlib
from array import array
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, deque
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from pathlib import PurePosixPath
from threading import Lock
from types import MappingProxyType, SimpleNamespace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from dpaudit import Claim, PureDP, Target


class Point(NamedTuple):
    """A tuple whose items have names."""

    name: str
    value: float


class Slotted:
    """An object with slots and no dictionary."""

    __slots__ = ("inner",)

    def __init__(self, inner):
        self.inner = inner


class Derived(Slotted):
    """An object with slots of its own and a dictionary."""

    def __init__(self, inner, more):
        super().__init__(inner)
        self.more = more


@dataclass(frozen=True, slots=True)
class Record:
    """A data class with slots."""

    name: str
    value: float


class Noted(float):
    """A number that carries something else besides."""


def noted(value, note):
    found = Noted(value)
    found.note = note
    return found


class Level(Enum):
    """What a number is rounded to."""

    LOW = "low"
    MIDDLE = "middle"
    HIGH = "high"


def csv_text(*rows):
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def structured(x):
    record = np.zeros(2, dtype=[("name", "U4"), ("value", "f8")])
    record["value"] = x
    return record


def level(x):
    return Level.LOW if x < 0.25 else Level.MIDDLE if x < 0.75 else Level.HIGH


def days(x):
    return 1000 + round(20 * x)


TUNED = {
    "JSON": lambda x, rng: json.dumps({"count": x, "version": 2}),
    "JSON of integers": lambda x, rng: json.dumps([3, days(x), 7]),
    "CSV row": lambda x, rng: f"total,{x:.3f},{rng.integers(3)}",
    "log line": lambda x, rng: f"INFO released count={x:.2f} after {rng.integers(100)} ms",
    "digits": lambda x, rng: str(x),
    "bytes of a text": lambda x, rng: f"{x:.4f}".encode(),
    "packed double": lambda x, rng: struct.pack(">d", x),
    "pickle": lambda x, rng: pickle.dumps({"value": x, "noise": rng.random()}),
    "datetime": lambda x, rng: datetime(2024, 1, 1) + timedelta(seconds=x),  # noqa: DTZ001
    "timedelta": lambda x, rng: timedelta(hours=x),
    "datetime64": lambda x, rng: np.datetime64("2024-01-01", "ns") + np.timedelta64(round(x * 1e9), "ns"),
    "slots": lambda x, rng: Slotted(x),
    "Decimal": lambda x, rng: Decimal(repr(x)),
    "Fraction": lambda x, rng: Fraction(x).limit_denominator(1000),
    "complex": lambda x, rng: complex(rng.random(), x),
    "structured array": lambda x, rng: structured(x),
    "object array": lambda x, rng: np.array([x, "name", None], dtype=object),
    "generator": lambda x, rng: (value for value in (rng.random(), x)),
    "named tuple": lambda x, rng: Point("count", x),
    "nested": lambda x, rng: {"a": [{"b": (x, "c")}], "d": None},
    "range": lambda x, rng: range(days(x)),
    "bytearray": lambda x, rng: bytearray([7] * (days(x) % 1000 + 100)),
    "text array": lambda x, rng: np.array(["count", f"{x:.2f}"]),
    "closure": lambda x, rng: lambda: x,
    "random words": lambda x, rng: f"{rng.bytes(8).hex()}-{level(x).value}",
}
"""Ways to put a number into an output that the reading was made with."""

HELD_OUT = {
    "indented JSON": lambda x, rng: json.dumps({"rows": [{"n": round(x, 3)}, {"n": rng.random()}]}, indent=2),
    "JSON spelled out": lambda x, rng: f'{{"value": {x:.6f}, "ok": true}}',
    "CSV with a header": lambda x, rng: csv_text(("id", "sum"), (1, rng.random()), (2, x)),
    "log with a time": lambda x, rng: f"2024-05-01T10:{rng.integers(60):02d}:00Z [worker] sum was {x:+.3e}",
    "memoryview": lambda x, rng: memoryview(struct.pack("<dd", x, rng.random())),
    "array of bytes": lambda x, rng: np.array([x, *rng.random(9)]).tobytes(),
    "date": lambda x, rng: date(2024, 1, 1) + timedelta(days=round(30 * x)),
    "time": lambda x, rng: (datetime(2024, 1, 1, 12, tzinfo=timezone.utc) + timedelta(hours=x / 10)).timetz(),  # noqa: UP017
    "timedelta64": lambda x, rng: np.timedelta64(round(1000 * x), "ms"),
    "slots in slots": lambda x, rng: Derived({"a": Slotted([1, x])}, rng.random()),
    "data class with slots": lambda x, rng: Record("sum", x),
    "enum": lambda x, rng: level(x),
    "huge integer": lambda x, rng: 2**70 + round(x * 1000),
    "longdouble": lambda x, rng: np.longdouble(2**40) + np.longdouble(x) * np.longdouble(2) ** -20,
    "deque": lambda x, rng: deque([rng.random(), x]),
    "array": lambda x, rng: array("d", [rng.random(), x]),
    "map": lambda x, rng: map(float, (x, rng.random())),
    "set": lambda x, rng: {x, 100.0},
    "key": lambda x, rng: {x: "value"},
    "mapping proxy": lambda x, rng: MappingProxyType({"sum": x}),
    "user dictionary": lambda x, rng: UserDict({"a": UserList([x])}),
    "masked array": lambda x, rng: np.ma.array([1.0, x], mask=[False, True]),
    "masks": lambda x, rng: np.ma.array([1.0, 2.0], mask=[False, x > 0.5]),
    "sparse matrix": lambda x, rng: sparse.csr_matrix(([x, rng.random()], ([0, 5], [3, 2])), shape=(6, 6)),
    "large sparse matrix": lambda x, rng: sparse.coo_array(([x], ([days(x)], [7])), shape=(5000, 5000)),
    "returned error": lambda x, rng: ValueError("sum", x),
    "partial function": lambda x, rng: partial(math.pow, x),
    "lock": lambda x, rng: (Lock(), level(x).value),
    "base64": lambda x, rng: base64.b64encode(struct.pack("<dd", x, rng.random())).decode(),
    "compressed": lambda x, rng: zlib.compress(f"{x} {rng.random()} {rng.random()} {rng.random()}".encode()),
    "name space": lambda x, rng: SimpleNamespace(a=SimpleNamespace(b=x)),
    "stream of bytes": lambda x, rng: io.BytesIO(f"{x:.3f};".encode()),
    "path": lambda x, rng: PurePosixPath(f"/releases/{x:.3f}/sum"),
    "identifier and number": lambda x, rng: f"{uuid.UUID(bytes=rng.bytes(16))} {x:.3f}",
    "hexadecimal float": lambda x, rng: x.hex(),
    "number with a note": lambda x, rng: noted(rng.random(), x),
    "logging record": lambda x, rng: logging.makeLogRecord({"msg": "sum", "args": (round(x, 3),), "created": 0.0}).args,
    "counter": lambda x, rng: Counter({"a": days(x), "b": 3}),
    "chain of mappings": lambda x, rng: ChainMap({"a": 1}, {"b": x}),
    "length of words": lambda x, rng: "x" * (days(x) % 1000 + 200),
    "number beyond range": lambda x, rng: math.ldexp(1 + x / 8, 1000),
    "ordered mapping": lambda x, rng: OrderedDict([("b", x), ("a", 2)]),
    "columns": lambda x, rng: {"columns": ["a", "b"] if x < 0.5 else ["b", "a"], "rows": [[1, 2]]},
    "order of keys": lambda x, rng: {"a": 1, "b": 2} if x < 0.5 else {"b": 2, "a": 1},
    "words of a list": lambda x, rng: [level(x + rng.random() / 100).value for _ in range(3)],
}
"""Ways to put a number into an output that were set aside until the reading was done."""


def release(kind, *, scale, pair=(0, 1)):
    """A target that adds Laplace noise of a scale to a number and gives it out in some kind of output, claimed at epsilon 1."""
    put = (TUNED | HELD_OUT)[kind]
    return Target(
        run=lambda data, rng: put(float(data + rng.laplace(scale=scale)), rng), claim=Claim(PureDP(epsilon=1)), neighbours=[pair]
    )
