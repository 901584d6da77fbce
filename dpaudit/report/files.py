"""Reports on disk: written whole or not at all, read with a coded error when they are not reports."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path

from dpaudit.errors import InvalidArgument
from dpaudit.exact import instance_of
from dpaudit.report.document import from_json, to_json
from dpaudit.results import Report


def read_report(path: str | os.PathLike[str]) -> Report:
    """The report in a JSON file.

    Args:
      path: a report.json that `dpaudit audit` or `write_json` wrote.
    Returns:
      The report.
    Raises:
      InvalidArgument: the file cannot be read or is not a report (DPA501).
    Source: design rule 8 (every number in a report can be recomputed).
    Example:
      >>> read_report("missing.json")
      Traceback (most recent call last):
      dpaudit.errors.InvalidArgument: DPA501 missing.json cannot be read (No such file or directory).
    """
    try:
        content = _path(path).read_bytes()
    except OSError as error:
        raise InvalidArgument("DPA501", f"{path} cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise InvalidArgument("DPA501", "the path of the report has a character that no path may have.") from error
    try:
        return from_json(content)
    except InvalidArgument as error:
        raise InvalidArgument(error.code, f"{path}: {error.message}") from error


def write_json(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the report's JSON document.

    Args:
      report: what an audit found.
      path: file to make or to replace; its folder must exist.
    Raises:
      InvalidArgument: the file cannot be written (DPA503).
    Source: design rule 8 (every number in a report can be recomputed).
    Example:
      >>> from fractions import Fraction
      >>> from dpaudit.results import Settings
      >>> import tempfile
      >>> path = Path(tempfile.mkdtemp(), "report.json")
      >>> report = Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), results=())
      >>> write_json(report, path)
      >>> read_report(path) == report
      True
    """
    _write(to_json(report).encode("ascii"), _path(path))


def write_html(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the report as one HTML page that needs nothing else.

    Args:
      report: what an audit found.
      path: file to make or to replace; its folder must exist.
    Raises:
      InvalidArgument: the file cannot be written (DPA503).
    Source: docs/auditing.md, "Replay".
    Example:
      >>> import tempfile
      >>> from fractions import Fraction
      >>> from dpaudit.results import Settings
      >>> path = Path(tempfile.mkdtemp(), "index.html")
      >>> write_html(Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), results=()), path)
      >>> path.read_text(encoding="utf-8")[:15]
      '<!DOCTYPE html>'
    """
    from dpaudit.report.page import to_html

    _write(to_html(report).encode("utf-8", errors="replace"), _path(path))


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a form of a report that is text.

    Args:
      text: from `to_junit`, `to_sarif` or the like.
      path: file to make or to replace; its folder must exist.
    Raises:
      InvalidArgument: the file cannot be written (DPA503).
    Source: docs/ci.md.
    Example:
      >>> import tempfile
      >>> path = Path(tempfile.mkdtemp(), "report.xml")
      >>> write_text("<testsuite />", path)
      >>> path.read_text(encoding="utf-8")
      '<testsuite />'
    """
    _write(instance_of(text, str, "text").encode("utf-8", errors="replace"), _path(path))


def _path(path: str | os.PathLike[str]) -> Path:
    """A path; DPA105 for what is none."""
    return Path(path if isinstance(path, str) else instance_of(path, os.PathLike, "path"))


def _write(content: bytes, path: Path) -> None:
    """Write beside `path` and move into place, so that readers never see half a file."""
    if not path.name:
        raise InvalidArgument("DPA503", "the path names no file. Give the name of one in a folder that may be written.")
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with beside.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a possible path"
        raise InvalidArgument(
            "DPA503", f"{path} cannot be written ({reason}). Name a file in a folder that may be written."
        ) from error
    finally:
        with suppress(OSError, ValueError):
            beside.unlink(missing_ok=True)
