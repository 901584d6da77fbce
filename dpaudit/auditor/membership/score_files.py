"""Scores in files: a line for each canary, or arrays; nothing that could run code is loaded, and no refusal quotes a value."""

from __future__ import annotations

import csv
import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import TargetFailure

_LARGEST: Final = 2**28
_COINS: Final = {"1": True, "true": True, "in": True, "yes": True, "0": False, "false": False, "out": False, "no": False}
_HINT: Final = 'Write a header "included,score" and a line for each canary, such as "1,0.73"; several score columns are steps.'


def read_scores(path: str | Path) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    r"""Read scores of canaries, and who was in, from a file.

    Args:
      path: csv or tsv with a header that names `included` and one or more columns `score...`; jsonl or ndjson with objects of
        "included" and "score"; npy with a row (coin, scores...) for each canary; npz with arrays `scores` and `included`.
    Returns:
      Scores of shape (steps, canaries), or (canaries,) as an archive has them, and booleans of shape (canaries,).
    Raises:
      TargetFailure: a file that cannot be read, or a line that is no canary (DPA406).
    Example:
      >>> import tempfile
      >>> place = Path(tempfile.mkdtemp()) / "scores.csv"
      >>> _ = place.write_text("included,score\n1,0.7\n0,0.1\n")
      >>> read_scores(place)[0].tolist()
      [[0.7, 0.1]]
    """
    place = Path(path)
    reader = _READERS.get(place.suffix.lower())
    if reader is None:
        _refuse(place, f"its ending is not one of {', '.join(_READERS)}")
    try:
        scores, included = reader(place)
    except OSError as error:
        raise TargetFailure("DPA406", f"{place.name} cannot be read ({error.strerror}). Check the path.") from error
    if not len(included):
        _refuse(place, "it holds no canary")
    return scores, included


def _refuse(path: Path, what: str) -> NoReturn:
    """Raise the refusal of a file, which quotes none of its content, as the error that it hides may."""
    raise TargetFailure("DPA406", f"{path.name}: {what}. {_HINT}") from None


def _text(path: Path) -> str:
    """Read a text of bounded size."""
    if path.stat().st_size > _LARGEST:
        _refuse(path, f"it is larger than {_LARGEST // 2**20} MiB, so save it as npz")
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        _refuse(path, "it is not UTF-8")


def _table(path: Path) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Read a table whose header names one column `included` and one or more that begin with `score`."""
    text = _text(path)
    sign = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True))
    except csv.Error:
        _refuse(path, "it has a broken quote or a cell that is too long")
    header = [name.strip().lower() for name in lines[0]] if lines else []
    places = [place for place, name in enumerate(header) if name.startswith("score")]
    if header.count("included") != 1 or not places:
        _refuse(path, "its first line does not name a column included and a column score")
    coin, scores, coins = header.index("included"), list[list[float]](), list[bool]()
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        if len(line) != len(header):
            _refuse(path, f"line {number} has {len(line)} cells, the first line has {len(header)}")
        coins.append(_coin(path, line[coin], number))
        scores.append([_number(path, line[one], number) for one in places])
    return np.array(scores, dtype=np.float64).T, np.array(coins, dtype=bool)


def _json_lines(path: Path) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Read objects with `included` and `score`, a number or a list of one for each step."""
    scores, coins = list[list[float]](), list[bool]()
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            _refuse(path, f"line {number} is not JSON")
        if not isinstance(found, dict) or not {"included", "score"} <= set(found):
            _refuse(path, f'line {number} is no object with "included" and "score"')
        given = found["score"] if isinstance(found["score"], list) else [found["score"]]
        if any(isinstance(one, (bool, str)) for one in given):
            _refuse(path, f"line {number} has a score that is no number")
        scores.append([_number(path, one, number) for one in given])
        coins.append(_coin(path, found["included"], number))
        if len(scores[-1]) != len(scores[0]):
            _refuse(path, f"line {number} has another number of scores than the first")
    return np.array(scores, dtype=np.float64).T, np.array(coins, dtype=bool)


def _array(path: Path) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Read a matrix with a row for each canary: the coin, 0 or 1, and its scores; or an archive of `scores` and `included`."""
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            parts = (loaded[:, 1:].T, loaded[:, 0])
        else:
            with loaded as archive:
                parts = (archive["scores"], archive["included"])
        scores, coins = np.asarray(parts[0], dtype=np.float64), np.asarray(parts[1], dtype=np.float64)
    except (ValueError, EOFError, KeyError, IndexError, TypeError, zipfile.BadZipFile, zlib.error):
        _refuse(path, "it is neither a matrix of coin and scores in each row nor an archive of arrays scores and included")
    if not np.isfinite(scores).all() or not np.isin(coins, (0.0, 1.0)).all() or not scores.size:
        _refuse(path, "it holds a score that is not finite, a coin that is neither 0 nor 1, or no score")
    return scores, coins != 0


def _coin(path: Path, cell: Any, line: int) -> bool:
    """Read whether a canary was in."""
    found = _COINS.get(str(cell).strip().lower())
    if found is None:
        _refuse(path, f"line {line} does not say whether the canary was in, by 1 or 0, true or false, in or out")
    return found


def _number(path: Path, cell: Any, line: int) -> float:
    """Read a finite score."""
    try:
        found = float(cell)
    except (TypeError, ValueError, OverflowError):
        found = float("nan")
    if not np.isfinite(found):
        _refuse(path, f"line {line} has a score that is no finite number")
    return found


_READERS: Final = {".csv": _table, ".tsv": _table, ".jsonl": _json_lines, ".ndjson": _json_lines, ".npy": _array, ".npz": _array}
