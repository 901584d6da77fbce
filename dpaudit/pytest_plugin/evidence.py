"""The evidence of an audit in a test: a report on disk, with names by which `dpaudit replay` finds the targets again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dpaudit.targets import Target

if TYPE_CHECKING:
    from dpaudit.auditor.request import Given
    from dpaudit.results import Report

_LONGEST_NAME = 80


def with_references(report: Report, given: Given | Sequence[Given], item: pytest.Item) -> Report:
    """The report, its targets that were given as objects named where the test's module holds them.

    Naming is all that this does: the audit was made on the objects, and `dpaudit replay` compares every number with what the named
    ones give. A target that the test made itself keeps no name; the test repeats it.
    """
    listed = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    objects = iter([target for target in listed if isinstance(target, Target)])
    named = [
        result if result.reference is not None else replace(result, reference=_reference(next(objects, None), item))
        for result in report.results
    ]
    return replace(report, results=tuple(named))


def keep(report: Report, item: pytest.Item) -> Path | None:
    """Write a report to the folder of --dp-evidence, if one was named; where it is."""
    folder = item.config.getoption("--dp-evidence")
    if folder is None:
        return None
    from dpaudit.report import write_json

    name = re.sub(r"[^A-Za-z0-9]+", "-", item.nodeid)[-_LONGEST_NAME:].strip("-")
    path = item.config.invocation_params.dir / Path(folder) / f"{name}-{report.settings.seed:016x}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(report, path)
    return path


def _reference(target: Target | None, item: pytest.Item) -> str | None:
    """FILE.py:NAME, or MODULE:NAME in a package, of a target in the test's module; from the folder in which pytest was called."""
    module = getattr(item, "module", None)
    file, here = Path(getattr(module, "__file__", None) or ""), item.config.invocation_params.dir
    name = next(_places(vars(module), target), None) if file.is_relative_to(here) and target is not None else None
    if name is None:
        return None
    path = file.relative_to(here)
    packaged = file.with_name("__init__.py").exists()
    return f"{'.'.join(path.with_suffix('').parts) if packaged else path.as_posix()}:{name}"


def _places(names: dict[str, object], target: Target) -> Iterator[str]:
    """Names under which a module holds a target, alone or in a list of targets, as `dpaudit audit` takes them."""
    for name, value in names.items():
        if value is target:
            yield name
        elif isinstance(value, (list, tuple)) and value and all(isinstance(one, Target) for one in value):
            yield from (f"{name}#{place}" if place else name for place, one in enumerate(value) if one is target)
