"""Data files: CSV, JSON lines, Parquet and numpy arrays, read as records or as an array; refusals never quote a value."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NoReturn

from dpaudit.errors import TargetFailure
from dpaudit.plain.records import LARGEST_FILE, read_csv

_PARQUET: Final = ("pyarrow", "polars")
"""Libraries that read Parquet, the first that is installed."""


def read_data(path: str | os.PathLike[str]) -> Any:
    """Read a data file by its ending: a list of records, of JSON values, or an array; TargetFailure (DPA406) where that fails.

    A file that is unchanged since it was last read is not parsed again; records are copied, since a function may change them.
    """
    file = Path(path)
    try:
        seen = file.stat()
        key = (seen.st_mtime_ns, seen.st_size)
    except (OSError, ValueError):
        key = (0, 0)  # whatever reads it says what is wrong
    found = _read(str(file), key) if file.is_file() else _reader_of(file)(file)
    return [dict(one) if type(one) is dict else one for one in found] if isinstance(found, (list, tuple)) else found.copy()


@lru_cache(maxsize=2)
def _read(path: str, key: tuple[int, int]) -> Any:  # noqa: ARG001 - the state of the file, for which the answer holds
    """Read a file once for its state."""
    return _reader_of(Path(path))(Path(path))


def _reader_of(file: Path) -> Callable[[Path], Any]:
    """Return what reads files of this ending; CSV unless it is another one."""
    if file.suffix.lower() == ".py":
        _refuse(file, "it is a program, not a file of records", "Name the records: --data FILE.csv, and the program before it.")
    return _READERS.get(file.suffix.lower(), read_csv)


def _refuse(file: Path, what: str, remedy: str) -> NoReturn:
    """Raise the refusal of a data file."""
    raise TargetFailure("DPA406", f"{file.name}: {what}. {remedy}")


def _content(file: Path) -> bytes:
    """Return the bytes of a file that is not too large."""
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST_FILE + 1)
    except OSError as error:
        raise TargetFailure("DPA406", f"{file} cannot be read ({error.strerror}). Check the path and its permissions.") from error
    if len(content) > LARGEST_FILE:
        _refuse(file, f"it is larger than {LARGEST_FILE // 2**20} MiB", "Audit on a part of it.")
    return content


def _read_json_lines(file: Path) -> list[Any]:
    """Return one JSON value for each line, or the items of one JSON list."""
    remedy = "Each line must hold one JSON object, such as a record with its fields."
    try:
        text = _content(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        _refuse(file, "it is not UTF-8", remedy)
    if text.lstrip().startswith("["):
        found = [(1, text)]
    else:
        found = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    values = [_json(file, number, line, remedy) for number, line in found]
    listed = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    if not listed:
        _refuse(file, "it holds no record", remedy)
    return _with_all_keys(listed)


def _json(file: Path, number: int, line: str, remedy: str) -> Any:
    """Return the value of one line."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        _refuse(file, f"line {number} is no JSON", remedy)


def _with_all_keys(records: list[Any]) -> list[Any]:
    """Give every record the fields of all, None where it lacks one, as an empty cell of a CSV file."""
    if not all(isinstance(record, Mapping) for record in records):
        return records
    keys = list(dict.fromkeys(key for record in records for key in record))
    return [{key: record.get(key) for key in keys} for record in records]


def _read_parquet(file: Path) -> list[dict[str, Any]]:
    """Return the records of a Parquet file."""
    _content(file)
    library = next((name for name in _PARQUET if find_spec(name) is not None), None)
    if library is None:
        _refuse(file, "Parquet needs pyarrow, which is not installed", "Run: pip install pyarrow.")
    try:
        records = list(_parquet_records(file, library))
    except Exception as error:
        raise TargetFailure("DPA406", f"{file.name}: it cannot be read as Parquet. Check that it is a Parquet file.") from error
    if not records:
        _refuse(file, "it holds no record", "Give a file with some.")
    return records


def _parquet_records(file: Path, library: str) -> Iterator[dict[str, Any]]:
    """Yield the records that a library reads."""
    if library == "polars":
        import polars as pl

        return iter(pl.read_parquet(file).to_dicts())
    import pyarrow.parquet as pq

    return iter(pq.read_table(file).to_pylist())


def _read_array(file: Path) -> Any:
    """Return the array of an .npy file; objects, which would have to be unpickled, are refused."""
    import numpy as np

    _content(file)
    try:
        found = np.load(file, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        message = f"{file.name}: it cannot be read as an array of numbers or texts. Write it with numpy.save."
        raise TargetFailure("DPA406", message) from error
    if found.ndim == 0 or not len(found):
        _refuse(file, "it holds no record", "The records must be along the first axis of an array.")
    return found


_READERS: Final[dict[str, Callable[[Path], Any]]] = {
    ".json": _read_json_lines,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
    ".npy": _read_array,
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
}
"""What reads files, by their endings."""
