"""What stands behind an output: files, results that are waited for, and what containers, classes and bytes hold out of sight."""

import base64
import io
import sqlite3
import struct
from collections import ChainMap, defaultdict
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from dpaudit.auditor.reading.keeping import Written, keep_output
from dpaudit.auditor.reading.reader import parse_output


def read(output):
    """All that is read of an output, and what is not."""
    reading = parse_output(keep_output(output))
    return reading.kind, reading.paths, reading.leaves.values, reading.leaves.unread


def future(value):
    made = Future()
    made.set_result(value)
    return made


async def awaited(value):
    return value


def database(value, *, stored):
    made = sqlite3.connect(":memory:")
    made.row_factory = sqlite3.Row
    made.execute("CREATE TABLE means (ward TEXT, mean REAL)")
    made.execute("INSERT INTO means VALUES ('a', ?)", (value,))
    return made.serialize() if stored else made.execute("SELECT * FROM means")


def parquet(value):
    polars = pytest.importorskip("polars")
    held = io.BytesIO()
    polars.DataFrame({"mean": [value]}).write_parquet(held)
    return held.getvalue()


def lazy(value):
    return pytest.importorskip("polars").LazyFrame({"mean": [value]})


def frozen(value):
    from scipy import stats

    return stats.norm(loc=value)


KINDS = {
    "coroutine": awaited,
    "future": future,
    "hidden by a later mapping": lambda value: ChainMap({"a": 1}, {"a": value}),
    "default of a mapping": lambda value: defaultdict(lambda: value, a=1),
    "class": lambda value: type("Settings", (), {"mean": value}),
    "method of a class": lambda value: type("Settings", (), {"mean": staticmethod(lambda: value)}),
    "width of texts": lambda value: np.array(["a"], dtype=f"U{value:.0f}"),
    "rows of a query": lambda value: database(value, stored=False),
    "bytes of a database": lambda value: database(value, stored=True),
    "bytes of parquet": parquet,
    "message pack": lambda value: pytest.importorskip("msgpack").packb({"means": [0.5, value], "by": "batch"}),
    "lazy frame": lazy,
    "distribution": frozen,
    "base 32": lambda value: base64.b32encode(struct.pack("<d", value)).decode(),
    "bars": lambda value: "".join("▁▂▃▄▅▆▇█"[round(height)] for height in (1, 2, value, 4)),
}


@pytest.mark.parametrize("name", KINDS)
def test_what_stands_behind_an_output_is_read(name):
    first, second, third = (read(KINDS[name](value)) for value in (3.0, 3.0, 7.0))
    assert first == second
    assert first[:3] != third[:3]
    assert [] == third[3]


def test_numbers_in_parquet_are_numbers():
    _, _, values, _ = read(parquet(7.25))
    assert 7.25 in values


@pytest.mark.parametrize("form", [Path, str, lambda place: [place], lambda place: {"csv": str(place), "n": 3}], ids=range(4))
def test_a_file_is_read_when_the_run_is_over(form, tmp_path):
    place, found = tmp_path / "out.csv", []
    for value in ("3.25", "4.5"):
        place.write_text(f"mean\n{value}\n")
        found.append(keep_output(form(place)))
    readings = [parse_output(one) for one in found]
    assert [(3.25 in one.leaves.values, 4.5 in one.leaves.values) for one in readings] == [(True, False), (False, True)]


def test_texts_that_name_no_file_are_left_as_they_are(tmp_path):
    for text in ("mean 3.2", "no/such.csv", str(tmp_path), "a\0.csv", "x" * 5000 + ".csv", "lines\n.csv"):
        assert keep_output(text) == text
    assert not isinstance(keep_output(Path(tmp_path)), Written)


def test_an_open_file_is_read(tmp_path):
    place = tmp_path / "out.csv"
    stream = place.open("w")
    stream.write("mean 3.25")
    with stream:
        assert 3.25 in parse_output(keep_output(stream)).leaves.values


def test_a_file_that_is_met_too_late_is_named_as_left_out(tmp_path):
    place = tmp_path / "out.csv"
    place.write_text("mean 3")
    assert ["a file that a path inside an output names"] == read({"files": [[place]]})[3]
