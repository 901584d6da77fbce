"""Samples as they are given: arrays, sequences, tables, and files of several forms; nothing that could run code is loaded."""

from __future__ import annotations

import csv
import io
import json
import os
import zipfile
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from dpaudit.auditor.samples.sample import Sample, cell_of, columns_of, of_array, of_columns
from dpaudit.errors import InvalidArgument, TargetFailure
from dpaudit.exact import kind_of

LARGEST_TEXT: Final = 2**30
"""Most bytes of a text file: its rows take several times the memory; a larger one is better saved as npy or Parquet."""

_PARQUET: Final = (("pyarrow.parquet", "read_table"), ("polars", "read_parquet"), ("pandas", "read_parquet"))
_HINT: Final = "Write a row for each output; docs/audit_your_own.md lists the forms."


def sample_of(given: Any, name: str) -> Sample:
    """Return what was given as a sample: an array, a sequence of outputs, a table, or the path of a file with one of them."""
    if isinstance(given, (str, os.PathLike)):
        return read_sample(given)
    if (columns := columns_of(given)) is not None:
        return of_columns(columns, name)
    if hasattr(given, "__array__"):
        return of_array(np.asarray(given), name)
    if not isinstance(given, Sequence) or isinstance(given, (bytes, bytearray)):
        raise InvalidArgument("DPA105", f"{name} must be an array, a list, a table or a path, got {kind_of(given)}.")
    return Sample(given, ("list",), name)


def read_sample(path: str | os.PathLike[str]) -> Sample:
    """Return the outputs in a file, by the ending of its name; an unknown ending means lines of text."""
    place = Path(path)
    try:
        return _READERS.get(place.suffix.lower(), _read_lines)(place)
    except OSError as error:
        raise TargetFailure("DPA406", f"{place.name} cannot be read ({error.strerror}). Check the path.") from error


def _refuse(path: Path, what: str, cause: Exception | None = None) -> NoReturn:
    """Raise the refusal of a file, which quotes none of its content."""
    raise TargetFailure("DPA406", f"{path.name}: {what}. {_HINT}") from cause


def _read_npy(path: Path) -> Sample:
    """Read one array, whose entries along the first axis are the outputs."""
    try:
        # Mapped, since only some rows of a large file are looked at.
        return of_array(np.load(path, mmap_mode="r", allow_pickle=False), path.name)
    except (ValueError, EOFError) as error:
        _refuse(path, "it is no array of numbers or texts; pickled objects are not loaded, since they can run code", error)


def _read_npz(path: Path) -> Sample:
    """Read one array, or several of one length side by side."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in sorted(archive.files)}
    except (ValueError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        _refuse(path, "it is no archive of arrays; pickled objects are not loaded, since they can run code", error)
    if len(arrays) == 1:
        return of_array(next(iter(arrays.values())), path.name)
    if not arrays or min(array.ndim for array in arrays.values()) == 0:
        _refuse(path, "it needs an array with an entry for each output")
    return of_columns({f"{name} {one.dtype} {one.shape[1:]}": list(one) for name, one in arrays.items()}, path.name)


def _text(path: Path) -> str:
    """Read a text file as UTF-8, of bounded size."""
    with path.open("rb") as file:
        content = file.read(LARGEST_TEXT + 1)
    if len(content) > LARGEST_TEXT:
        _refuse(path, f"it is larger than {LARGEST_TEXT // 2**20} MiB, so save it as npy or Parquet")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        _refuse(path, f"line {line} is not UTF-8", error)


def _read_table(path: Path) -> Sample:
    """Read a table of cells, with a header unless its first row holds numbers alone."""
    text = _text(path)
    sign = "\t" if path.suffix.lower() == ".tsv" else ";" if ";" in text.partition("\n")[0] else ","
    rows = _rows(path, text, sign)
    # Where semicolons part cells, commas are decimal.
    cells = [[cell_of(cell, "," if sign == ";" else ".") for cell in row] for row in rows]
    bare = not rows or all(isinstance(cell, (int, float)) for cell in cells[0])
    names = [str(place) if bare else name for place, name in enumerate(rows[0])] if rows else []
    # Equal names are kept apart by their places.
    columns = zip(*(cells if bare else cells[1:]), strict=True)
    return of_columns(
        {f"{place} {name}": column for place, (name, column) in enumerate(zip(names, columns, strict=False))}, path.name
    )


def _rows(path: Path, text: str, sign: str) -> list[list[str]]:
    """Part the lines of a table into as many cells as the first one has."""
    reader, rows = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True), list[list[str]]()
    try:
        for row in filter(None, reader):
            if rows and len(row) != len(rows[0]):
                _refuse(path, f"line {reader.line_num} has {len(row)} cells, the first line has {len(rows[0])}")
            rows.append(row)
    except csv.Error as error:
        _refuse(path, f"line {reader.line_num} has a broken quote or a cell that is too long", error)
    return rows


def _read_lines(path: Path) -> Sample:
    """Read every line as an output that is a text."""
    return Sample(_text(path).splitlines(), ("line",), path.name)


def _read_json_lines(path: Path) -> Sample:
    """Read every line that is not blank as an output written in JSON."""
    outputs = []
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line.strip():
            outputs.append(_json(path, line, f"line {number}"))
    return Sample(outputs, ("JSON",), path.name)


def _read_json(path: Path) -> Sample:
    """Read the items of one JSON list."""
    outputs = _json(path, _text(path), "it")
    if not isinstance(outputs, list):
        _refuse(path, "it holds no list of outputs")
    return Sample(outputs, ("JSON",), path.name)


def _json(path: Path, text: str, where: str) -> Any:
    """Read one JSON value."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        _refuse(path, f"{where} is not JSON", error)


def _read_parquet(path: Path) -> Sample:
    """Read a table by the first library that is installed and reads Parquet."""
    for module, name in _PARQUET:
        try:
            read = getattr(import_module(module), name)
        except ImportError:
            continue
        try:
            columns = columns_of(read(path))
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - each library has errors of its own for a broken file
            _refuse(path, "it is no Parquet file that can be read", error)
        assert columns is not None, "each of them gives a table"  # noqa: S101
        return of_columns(columns, path.name)
    raise InvalidArgument("DPA105", f"{path.name} needs a reader of Parquet. Run: pip install pyarrow.")


_READERS: Final[dict[str, Callable[[Path], Sample]]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".csv": _read_table,
    ".tsv": _read_table,
    ".parquet": _read_parquet,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".json": _read_json,
}
"""Readers by the ending of a file's name."""
