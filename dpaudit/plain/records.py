"""Records from a CSV file: one mapping a row, types inferred from whole columns, refusals that name a line and never a value."""

from __future__ import annotations

import csv
import io
import math
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NoReturn, TypeAlias

from dpaudit.errors import TargetFailure

Cell: TypeAlias = int | float | str | None
Record: TypeAlias = dict[str, Cell]

LARGEST_FILE: Final = 64 * 2**20
"""Most bytes that are read, since records take ten times the memory; a larger file wants a target that reads it by itself."""

MOST_COLUMNS: Final = 4096

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,4000}")
_DECIMAL: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def read_csv(path: str | os.PathLike[str]) -> tuple[Record, ...]:
    r"""The records of a CSV file.

    A column whose cells all are whole numbers is read as int, one whose cells all are finite decimal numbers as float, any other
    as str; so a column with the words nan or inf is a column of texts. White space around numbers is dropped, other text is kept
    as it stands. An empty or blank cell is None and has no say in its column's type. Lines without any character are skipped.

    Source: RFC 4180.
    """
    name = Path(path).name
    rows = _rows(_text(Path(path), name), name)
    line, header = next(rows, (1, []))
    _check_header(header, line, name)
    table = []
    for number, row in rows:
        if len(row) != len(header):
            _refuse(name, f"line {number} has {len(row)} cells, the header has {len(header)}")
        table.append(row)
    if not table:
        _refuse(name, "it has a header but no records")
    columns = [_typed([row[place] for row in table]) for place in range(len(header))]
    return tuple(dict(zip(header, cells, strict=True)) for cells in zip(*columns, strict=True))


def _refuse(name: str, what: str) -> NoReturn:
    """Raise the refusal of a data file."""
    raise TargetFailure("DPA406", f"{name}: {what}. Data must be UTF-8, comma-separated, with a header and rows of equal length.")


def _text(path: Path, name: str) -> str:
    """The file's text; the size is checked on what is read, so that pipes and growing files are bounded too."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise TargetFailure("DPA406", f"{path} cannot be read ({error.strerror}). Check the path and its permissions.") from error
    except ValueError as error:
        raise TargetFailure("DPA406", "the data path has a character that no path may have. Check the path.") from error
    if len(content) > LARGEST_FILE:
        _refuse(name, f"it is larger than {LARGEST_FILE // 2**20} MiB")
    text, fault = _decoded(content)
    if fault is not None:
        _refuse(name, f"line {fault} is not UTF-8 or has a NUL character")
    return text


def _decoded(content: bytes) -> tuple[str, int | None]:
    """The text, and the line of the first byte that is not text."""
    try:
        text, fault = content.decode("utf-8-sig"), content.find(b"\0")
    except UnicodeDecodeError as error:
        text, fault = "", error.start
    return text, None if fault < 0 else content.count(b"\n", 0, fault) + 1


def _rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """Rows with the number of the line they end on."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error:
        _refuse(name, f"line {reader.line_num} has a broken quote or a cell that is too long")


def _check_header(header: list[str], line: int, name: str) -> None:
    """Refuse a missing header, too many columns, and names that are empty or given twice."""
    if not header:
        _refuse(name, "it is empty")
    if len(header) > MOST_COLUMNS:
        _refuse(name, f"it has {len(header)} columns, allowed are {MOST_COLUMNS}")
    for place, column in enumerate(header, start=1):
        if not column.strip():
            _refuse(name, f"column {place} of the header in line {line} has no name")
        if column in header[: place - 1]:
            _refuse(name, f"column {place} of the header in line {line} has a name that was given before")


def _typed(cells: list[str]) -> list[Cell]:
    """A column with its values: whole numbers, else finite decimals, else texts; an empty cell is None."""
    present = [cell.strip() for cell in cells if cell.strip()]
    convert: Callable[[str], Cell] = str
    if all(_WHOLE.fullmatch(cell) for cell in present):
        convert = int
    elif all(_DECIMAL.fullmatch(cell) and math.isfinite(float(cell)) for cell in present):
        convert = float
    return [convert(cell) if cell.strip() else None for cell in cells]
