"""Outputs of many formats: what tells two releases apart has a column of its own, and sound ones are read in full."""

import base64
import bz2
import datetime as dt
import enum
import gzip
import io
import json
import lzma
import pickle
import re
import struct
import zipfile
import zlib
from collections import defaultdict, deque
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from types import SimpleNamespace
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor.reading.binary import array_in
from dpaudit.auditor.reading.features import fit_features
from dpaudit.auditor.reading.formats import unpacked
from dpaudit.auditor.reading.keeping import keep_output
from dpaudit.auditor.reading.outputs import groups
from dpaudit.auditor.reading.reader import parse_output
from dpaudit.auditor.reading.tokens import tokens_of
from dpaudit.auditor.reading.unread import Tally, account_of, unread_in
from dpaudit.auditor.runs.chunks import sample_one
from dpaudit.results import Verdict

DAY = dt.date(2024, 3, 1)


class Rights(enum.IntFlag):
    READ, WRITE, SHARE = 1, 2, 4


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    value: object


class Model:
    """A fitted model: attributes that end with an underscore, one of them private."""

    def __init__(self, weights, rounds):
        self.weights_ = weights
        self._rounds = rounds


def zipped(text):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("sum.txt", (2024, 1, 1, 0, 0, 0)), text)
    return held.getvalue()


def saved(write):
    held = io.BytesIO()
    write(held)
    return held.getvalue()


def closure(x):
    return lambda y: x + y


def failing(message):
    raise ValueError(message)


def csv_of(rng, x):
    return "name;sum\r\n" + "".join(f"{name};{value:.2f}\r\n".replace(".", ",") for name, value in (("a", rng.normal()), ("b", x)))


NUMBERS = {
    "JSON": lambda x, rng: json.dumps({"b": [rng.normal(), None], "a": x}),
    "JSON in an odd layout": lambda x, rng: f'{{ "a" :{x:.4f} ,"b":[ 1,{rng.normal():.3f}]}}',
    "JSON lines": lambda x, rng: f'{{"a": {rng.normal()}}}\n{{"a": {x}}}\n',
    "JSON of texts": lambda x, rng: json.dumps({"total": f"{x:,.2f} EUR", "other": f"{rng.normal():.1f}"}),
    "European table": lambda x, rng: csv_of(rng, x),
    "tabs": lambda x, rng: f"id\tsum\n{rng.integers(9)}\t{x:.3e}\n",
    "HTML": lambda x, rng: f"<table><tr><td>{rng.normal():.2f}</td><td class='n'>{x:.2f}</td></tr></table>",
    "log line": lambda x, rng: f"2024-05-01T10:07:{rng.integers(60):02d}.123Z INFO worker-{rng.integers(9)} sum={x:+.3f} ok",
    "sentence": lambda x, rng: f"In all we counted {1000 + 9 * x:,.2f} visits by {rng.integers(2, 9)} people.",
    "date in words": lambda x, rng: f"due on {DAY + dt.timedelta(days=round(30 * x)):%d %B %Y}, room {rng.integers(9)}",
    "address": lambda x, rng: f"https://example.org/{rng.bytes(6).hex()}/n=%2B{9 + x:.2f}/view",
    "identifiers": lambda x, rng: f"job-{rng.bytes(4).hex()}-{rng.bytes(8).hex()}-{x:.3f}",
    "base64": lambda x, rng: base64.b64encode(np.array([rng.normal(), x]).tobytes()).decode(),
    "hexadecimal": lambda x, rng: np.array([rng.normal(), x], dtype=">f8").tobytes().hex(),
    "doubles": lambda x, rng: np.array([rng.normal(), x, rng.normal()]).tobytes(),
    "singles": lambda x, rng: np.array([rng.normal(), x], dtype=">f4").tobytes(),
    "integers": lambda x, rng: np.array([rng.integers(99), round(40 * x)], dtype=np.int32).tobytes(),
    "record": lambda x, rng: struct.pack(">Bfh", rng.integers(256), x, rng.integers(99)),
    "zlib": lambda x, rng: zlib.compress(f"sum {x:.4f} of {rng.integers(99)}".encode()),
    "gzip": lambda x, rng: gzip.compress(json.dumps({"sum": x}).encode(), mtime=0),
    "bzip2": lambda x, rng: bz2.compress(f"sum {x:.4f}".encode()),
    "xz": lambda x, rng: lzma.compress(f"sum {x:.4f}".encode()),
    "zip": lambda x, rng: zipped(f"sum {x:.4f} {rng.normal():.3f}"),
    "npy": lambda x, rng: saved(lambda held: np.save(held, np.array([rng.normal(), x]))),
    "png": lambda x, rng: saved(lambda held: Image.fromarray(np.full((2, 2), 128 + 20 * x, dtype=np.uint8)).save(held, "png")),
    "pickle": lambda x, rng: pickle.dumps(Model(np.array([rng.normal(), x]), 3)),
    "closure": lambda x, rng: closure(x),
    "partial": lambda x, rng: partial(max, x, rng.normal()),
    "frozen slots": lambda x, rng: Row("a", Row("b", x)),
    "model": lambda x, rng: Model(np.array([rng.normal()]), SimpleNamespace(count=x)),
    "frame": lambda x, rng: pd.DataFrame({"a": [rng.normal(), x], "b": ["u", "v"]}),
    "frame attributes": lambda x, rng: pd.DataFrame({"a": [rng.normal()]}).assign(b=[x]),
    "period": lambda x, rng: pd.Period(DAY, "D") + round(30 * x),
    "polars": lambda x, rng: pl.DataFrame({"a": [rng.normal(), None], "b": [x, 1.0]}),
    "Arrow": lambda x, rng: pa.table({"a": [rng.normal(), None], "b": [x, 1.0]}),
    "image": lambda x, rng: Image.fromarray(np.array([[128 + 20 * x, rng.integers(256)]]).astype(np.uint8)),
    "time": lambda x, rng: dt.datetime(2024, 1, 1, tzinfo=dt.UTC) + dt.timedelta(hours=x),
    "error": lambda x, rng: partial(failing, f"row {x:.2f}: no end"),
}
"""Ways to put a number into an output."""

BITS = {
    "key order": lambda bit, rng: {"b": rng.normal(), "a": 1} if bit else {"a": rng.normal(), "b": 1},
    "JSON key order": lambda bit, rng: json.dumps(dict([("b", rng.normal()), ("a", 1)][:: 1 if bit else -1]), indent=3),
    "JSON null": lambda bit, rng: json.dumps({"n": rng.normal(), "sd": None if bit else rng.normal()}),
    "digits": lambda bit, rng: f"{rng.normal(5):.1f} of {round(rng.normal(20))}.{'00' if bit else '0'}",
    "trailing zero": lambda bit, rng: Decimal(round(rng.normal(9))).quantize(Decimal("0.01" if bit else "0.1")),
    "case": lambda bit, rng: f"{'Total' if bit else 'total'} {rng.normal():.3f}",
    "spaces": lambda bit, rng: f"total {rng.normal():.3f}{'  ' if bit else ' '}EUR",
    "set in words": lambda bit, rng: (
        "tags: none, " + ", ".join(w for w, p in (("art", 0.5), ("sea", bit), ("geo", 0.5)) if rng.random() < p)
    ),
    "front word": lambda bit, rng: " > ".join(["oak" if bit else "elm", *rng.permutation(["ash", "fir", "yew"]).tolist()]),
    "flag": lambda bit, rng: Rights(4 * bit + int(rng.integers(4))),
    "bit of a byte": lambda bit, rng: bytes([int(rng.integers(256)), (int(rng.integers(256)) & 0xF7) | 8 * bit, 255]),
    "missing cell": lambda bit, rng: [rng.normal(), math_nan(bit, rng), math_nan(rng.random() < 0.5, rng), 1.0],
    "levels": lambda bit, rng: pd.Series(pd.Categorical(["a", "b"][:: rng.choice([1, -1])], categories=["a", "b", "c"][: 2 + bit])),
    "attributes": lambda bit, rng: noted(pd.DataFrame({"a": [rng.normal()]}), {"source": "x" if bit else "y"}),
    "polars type": lambda bit, rng: pl.DataFrame({"a": [int(rng.integers(9))]}, schema={"a": pl.Int8 if bit else pl.Int64}),
    "Arrow notes": lambda bit, rng: pa.table({"a": [rng.normal()]}).replace_schema_metadata({"k": str(bit)}),
    "Arrow chunks": lambda bit, rng: pa.chunked_array([[1.0], [2.0, 3.0]] if bit else [[1.0, 2.0], [3.0]]),
    "width": lambda bit, rng: {"a": rng.normal(), "b": np.zeros(2, dtype=np.uint8 if bit else np.uint16)},
    "not a number": lambda bit, rng: np.array([0x7FF8000000000001 + bit], dtype=np.uint64).view(np.float64)[0],
    "sign of zero": lambda bit, rng: -0.0 if bit else 0.0,
    "sign of zero in an array": lambda bit, rng: np.array([rng.normal(), -0.0 if bit else 0.0]),
    "zone": lambda bit, rng: dt.datetime(2024, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=bit))) + dt.timedelta(rng.normal()),
    "constants": lambda bit, rng: eval(f"lambda: {2.5 + bit}"),  # noqa: S307 - the code is a constant of this test
}
"""Ways to put one bit into an output besides its numbers."""


def math_nan(missing, rng):
    return float("nan") if missing else rng.normal()


def noted(frame, attributes):
    frame.attrs.update(attributes)
    return frame


def drawn(make, value, rng):
    """One output, or the failure of a run that raised."""
    output = make(value, rng)
    if isinstance(output, partial) and output.func is failing:
        return sample_one(Target(run=lambda data, rng: output(), claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)]), 0, rng)
    return keep_output(output)


def numbers_in(output):
    """The numbers that an output is read as."""
    return parse_output(output).leaves.values  # noqa: PD011 - no table


def outputs_of(make, values, seed):
    rng = np.random.default_rng(seed)
    return [drawn(make, value, rng) for value in values]


def best_share(matrix, labels):
    """The best share of rows that one column tells right, by a threshold or by one value."""
    best = 0.5
    for column in matrix.T:
        for cut in {*np.quantile(column, [0.1, 0.3, 0.5, 0.7, 0.9]).tolist(), *np.unique(column)[:12].tolist()}:
            for side in (column <= cut, column == cut):
                share = float(np.mean(side == labels))
                best = max(best, share, 1 - share)
    return best


@pytest.mark.parametrize("name", [name for name in NUMBERS if name != "record"])
def test_a_number_in_an_output_of_any_format_has_a_column(name):
    labels = np.arange(120) % 2
    outputs = outputs_of(NUMBERS[name], labels * 2.0 + np.random.default_rng(0).normal(0, 0.2, 120), 1)
    matrix = fit_features(outputs[:40]).matrix(outputs)

    assert best_share(matrix, labels) > 0.97


@pytest.mark.parametrize("name", BITS)
def test_a_bit_in_an_output_of_any_format_has_a_column(name):
    labels = np.arange(120) % 2
    outputs = outputs_of(BITS[name], labels.tolist(), 1)
    matrix = fit_features(outputs[:40]).matrix(outputs)

    assert best_share(matrix, labels) > 0.97


@pytest.mark.parametrize("name", [name for name in NUMBERS if name not in {"identifiers", "address"}])
def test_sound_outputs_are_read_in_full(name):
    outputs = outputs_of(NUMBERS[name], np.random.default_rng(0).normal(0, 0.2, 120), 1)
    features = fit_features(outputs)
    tally = Tally()
    tally.add(account_of(features, list(groups(outputs)), len(outputs)))

    assert unread_in([tally]) is None


def put(name, x, rng):
    """An output of a format; an error now and then, since an audit needs runs that return."""
    output = NUMBERS[name](x, rng)
    return output() if name == "error" and rng.random() < 0.8 else 0.0 if name == "error" else output


@pytest.mark.parametrize("name", ["base64", "pickle", "error", "polars", "log line"])
def test_a_leak_in_a_format_is_refuted_and_its_sound_twin_is_not(name):
    def target(scale):
        def run(data, rng):
            return put(name, data + rng.laplace(scale=scale), rng)

        return Target(run=run, claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)])

    leak, sound = (audit(target(scale), runs=4000, seed=1, alpha="0.001").results[0] for scale in (0.1, 1.0))

    assert Verdict.REFUTED == leak.verdict
    assert Verdict.REFUTED != sound.verdict


class Loaded:
    """An object whose pickle does something when it is loaded."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_a_pickle_is_read_without_being_loaded():
    assert 2.5 in numbers_in([pickle.dumps(Loaded()), {"b": pickle.dumps({"a": 2.5})}])


def test_a_bomb_is_unpacked_up_to_a_limit():
    name, parts = unpacked(zlib.compress(b"\0" * (1 << 24), 9))

    assert "zlib" == name
    assert (1 << 20, "cut") == (len(dict(parts)["the content"]), dict(parts)["the end"])


@given(st.binary(max_size=200) | st.binary(max_size=30).map(zlib.compress) | st.binary(max_size=20).map(pickle.dumps))
def test_any_bytes_are_read(data):
    reading = parse_output(data)

    assert all(np.isfinite(numbers_in(data)))
    assert not reading.kind.startswith("unreadable")


@given(st.text(alphabet="ab 01239.,:-+eE%Tnainf\n;/", max_size=60))
def test_parts_and_tokens_of_any_text_take_turns(text):
    tokens, parts = tokens_of(text)

    assert len(tokens) + 1 == len(parts)
    assert not parse_output(text).kind.startswith("unreadable")


@given(st.text(alphabet="ab 019.,-", max_size=20), st.text(alphabet="ab 019.,-", max_size=20))
def test_texts_that_differ_have_different_leaves(one, other):
    assert (one == other) == (numbers_in(one) == numbers_in(other))


@given(st.lists(st.floats(1e-6, 1e6) | st.floats(-1e6, -1e-6), min_size=1, max_size=9), st.sampled_from(["<f8", ">f8"]))
def test_bytes_of_doubles_are_read_as_doubles_in_either_order(values, kind):
    values = [value * np.pi for value in values]  # without zeros at the end, which shorter numbers have too

    assert values == array_in(np.array(values, dtype=kind).tobytes()).tolist()


def test_the_cause_of_an_error_is_read_with_what_it_holds():
    forms = []
    for number in (1, 2):
        error = ValueError("no")
        error.__cause__ = LookupError(number)
        forms.append(parse_output(error).leaves.values)
    assert forms[0] != forms[1]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.ones((2, 2)), np.asfortranarray(np.ones((2, 2)))),
        (np.ones(2), np.ones(2).astype(">f8")),
        (np.ones(2), np.frombuffer(np.ones(2).tobytes())),
        (deque([1.0], maxlen=5), deque([1.0], maxlen=6)),
        (defaultdict(int, a=1.0), defaultdict(float, a=1.0)),
    ],
)
def test_what_containers_hold_besides_their_items_is_part_of_their_form(first, second):
    assert parse_output(first).kind != parse_output(second).kind
    assert 2 == len({group.kind for group in groups([first, second])})


@dataclass(frozen=True)
class Cell:
    """A key of two parts."""

    row: int
    ward: str


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({frozenset({"a", "b"}): 1}, {frozenset({"a", "c"}): 1}),
        ({frozenset({"a", "b"})}, {frozenset({"a"})}),
        ({Cell(1, "a"): 2.0}, {Cell(1, "b"): 2.0}),
        ({UUID(int=1): 2.0}, {UUID(int=2): 2.0}),
        (re.search(r"(a)|(b)", "xa"), re.search(r"(a)|(b)", "xb")),
        (pd.MultiIndex([["a"], ["x", "y"]], [[0], [0]]), pd.MultiIndex([["a"], ["x"]], [[0], [0]])),
        (np.ma.masked_array([1.0, 2.0], [1, 0]), np.ma.masked_array([1.0, 2.0], [1, 1])),
    ],
    ids=lambda held: type(held).__name__,
)
def test_keys_matches_levels_and_masks_are_read(first, second):
    one, other = (parse_output(held) for held in (first, second))

    assert (one.kind, one.leaves.values) != (other.kind, other.leaves.values)  # noqa: PD011 - leaves
    assert not one.leaves.unread
    assert not other.leaves.unread


def test_the_place_in_a_stream_is_read():
    streams = io.StringIO("mean,0.35"), io.StringIO("mean,0.35")
    streams[1].seek(4)

    assert 2 == len({tuple(parse_output(stream).leaves.values) for stream in streams})


def test_sets_as_keys_read_the_same_in_any_order():
    assert parse_output({frozenset("abc"): 1}).kind == parse_output({frozenset("cba"): 1}).kind


def test_of_a_module_that_an_output_holds_only_the_name_is_read():
    reading = parse_output(SimpleNamespace(value=2.5, library=np))

    assert "library:label" in reading.kind
    assert len(reading.leaves.values) < 4
    assert not reading.leaves.unread
