"""Tables and columns of polars and Arrow, rows of databases, images and matches, known by module and name, never imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from dpaudit.auditor.reading.leaves import Label

Parts: TypeAlias = list[tuple[str, Any]]


def _polars_frame(frame: Any) -> tuple[str, Parts]:
    """The parts of a table of polars: names, types, and values by position of the column."""
    types = ",".join(str(kind) for kind in frame.dtypes)
    columns = [part for place, series in enumerate(frame.get_columns()) for part in _polars_column(f"the column {place}", series)]
    parts: Parts = [("the types", Label(types)), ("the columns", list(frame.columns)), ("the height", frame.height)]
    return f"DataFrame {types}", [*parts, *columns]


def _polars_series(series: Any) -> tuple[str, Parts]:
    """The parts of a column of polars."""
    parts: Parts = [("the type", Label(str(series.dtype))), ("the name", series.name), ("the height", len(series))]
    return f"Series {series.dtype}", [*parts, *_polars_column("the values", series)]


def _polars_column(name: str, series: Any) -> Parts:
    """The values of a column of polars, an array where they are numbers and none is missing."""
    plain = series.dtype.is_numeric() and not series.dtype.is_decimal() and not series.null_count()
    return [(name, series.to_numpy() if plain else series.to_list())]


def _arrow_table(table: Any) -> tuple[str, Parts]:
    """The parts of a table of Arrow: its schema with all notes, and values by position of the column."""
    types = ",".join(map(str, table.schema.types))
    columns = [part for place, column in enumerate(table.columns) for part in _arrow_column(f"the column {place}", column)]
    return f"{type(table).__name__} {types}", [("the schema", table.schema), ("the height", table.num_rows), *columns]


def _arrow_schema(schema: Any) -> tuple[str, Parts]:
    """The parts of a schema of Arrow."""
    fields = [(field.name, Label(f"{field.type}{'' if field.nullable else ' not null'}")) for field in schema]
    notes = [_notes(part.metadata) for part in (schema, *schema)]
    parts: Parts = [("the types", Label(",".join(map(str, schema.types)))), ("the fields", fields)]
    return type(schema).__name__, [*parts, *([("the notes", notes)] if any(notes) else [])]


def _notes(metadata: Any) -> list[Any]:
    """Notes on a schema or a field, in their order."""
    return list((metadata or {}).items())


def _arrow_values(array: Any) -> tuple[str, Parts]:
    """The parts of an array of Arrow."""
    return f"{type(array).__name__} {array.type}", [("the type", Label(str(array.type))), *_arrow_column("the values", array)]


def _arrow_column(name: str, column: Any) -> Parts:
    """The values of a column of Arrow, the lengths of its chunks where it has several, and its levels."""
    chunks = getattr(column, "chunks", None)
    parts: Parts = [] if chunks is None or len(chunks) == 1 else [(f"{name} has chunks", [len(chunk) for chunk in chunks])]
    levels = [getattr(chunk, "dictionary", None) for chunk in ([column] if chunks is None else chunks)]
    parts += [(f"{name} has levels", [level.to_pylist() for level in levels if level is not None])] if any(levels) else []
    return [*parts, (name, column.to_pylist())]


def _image(image: Any) -> tuple[str, Parts]:
    """The parts of an image: its mode and size, what a file said about it, its colours and its numbers."""
    palette = image.getpalette() if image.mode == "P" else None
    parts: Parts = [("the mode", Label(image.mode)), ("the size", image.size), ("the notes", dict(image.info))]
    parts += [] if palette is None else [("the palette", palette)]
    return f"{type(image).__name__} {image.mode}", [*parts, ("the bytes", list(image.tobytes()))]


def _match(match: Any) -> tuple[str, Parts]:
    """The parts of a match of a regular expression."""
    return "Match", [("the text", match.string), ("the pattern", match.re.pattern), ("the spans", match.regs)]


PARTS: Final[dict[str, Callable[[Any], tuple[str, Parts] | None]]] = {
    "polars.DataFrame": _polars_frame,
    "polars.LazyFrame": lambda frame: ("LazyFrame", [("the table", frame.collect())]),
    "polars.Series": _polars_series,
    "pyarrow.Table": _arrow_table,
    "pyarrow.RecordBatch": _arrow_table,
    "pyarrow.Schema": _arrow_schema,
    "pyarrow.Array": _arrow_values,
    "pyarrow.ChunkedArray": _arrow_values,
    "pyarrow.Scalar": lambda scalar: (f"{type(scalar).__name__} {scalar.type}", [("the value", scalar.as_py())]),
    "sqlite3.Row": lambda row: ("Row", [("the names", row.keys()), ("the values", tuple(row))]),
    "PIL.Image": _image,
    "re.Match": _match,
    "re.Pattern": lambda pattern: ("Pattern", [("the text", pattern.pattern), ("the flags", pattern.flags)]),
}
"""Readers by library and name of a type, its own or one it is derived from."""
