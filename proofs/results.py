"""The record of the tests that nodes cite: that they passed, when, with which source and which libraries."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from dpaudit.verifier.chain import Node
from dpaudit.verifier.stamps.cited import Cited, code_digest, read_cited
from proofs.reviewed import COMMAND, PACKAGES, files_digest, reach_of

FILE: Final = "test_results.json"
LIBRARIES: Final = ("cryptography", "mpmath", "numpy", "python-flint", "scikit-learn", "scipy")
"""Other libraries whose operations the code calls. They are leaves of a stamp by name; their versions are on record here."""
PASSED: Final = "passed"


@dataclass(frozen=True)
class Result:
    """The record of one test.

    Args:
      outcome: "passed", "failed", "skipped" or "missing", over all of its parameters.
      cases: how many there were.
      cited: the digests of what ran.
      run: the number of the run it was made in.
    """

    outcome: str
    cases: int
    cited: Cited
    run: str


@dataclass(frozen=True)
class Record:
    """The record of all tests.

    Args:
      files: digest of all files of packages and tests when every result was current; empty if some were not.
      packages: the same of the packages alone.
      runs: by number when a run was made, and with what.
      tests: by "path::function" its result.
    """

    files: str = ""
    packages: str = ""
    runs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    tests: Mapping[str, Result] = field(default_factory=dict)


def cited_tests(nodes: Sequence[Node]) -> tuple[str, ...]:
    """Return the tests that nodes cite."""
    return tuple(sorted({one.partition(":")[2] for node in nodes for one in node.evidence if one.startswith("test:")}))


def read_record(root: Path) -> Record:
    """Read the record; an empty one where there is none, or one that cannot be read."""
    try:
        found: dict[str, Any] = json.loads((root / "proofs" / FILE).read_text(encoding="utf-8"))
        places = tuple(found["places"])
        return Record(
            str(found["files"]),
            str(found["packages"]),
            {name: dict(run) for name, run in found["runs"].items()},
            {
                name: Result(
                    str(one["outcome"]),
                    int(one["cases"]),
                    Cited(str(one["test"]), str(one["code"]), tuple(places[index] for index in one["reaches"])),
                    str(one["run"]),
                )
                for name, one in found["tests"].items()
            },
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return Record()


def write_record(root: Path, outcomes: Mapping[str, tuple[str, int]], before: Mapping[str, Cited], nodes: Sequence[Node]) -> Record:
    """Add the outcomes of a run to the record."""
    old, reach = read_record(root), reach_of(root)
    run = str(1 + max((int(name) for name in old.runs), default=0))
    cited = cited_tests(nodes)
    tests = {name: result for name, result in old.tests.items() if name in cited}
    for name, (outcome, cases) in outcomes.items():
        if name in cited and before.get(name) == read_cited(reach, name):
            tests[name] = Result(outcome, cases, before[name], run)
    used = {result.run for result in tests.values()}
    runs = {name: made for name, made in {**old.runs, run: _made_with()}.items() if name in used}
    current = all(name in tests and not _why_not(tests[name], read_cited(reach, name), name) for name in cited)
    files, packages = (files_digest(root, (*PACKAGES, "tests")), files_digest(root, PACKAGES)) if current else ("", "")
    record = Record(files, packages, runs, dict(sorted(tests.items())))
    (root / "proofs" / FILE).write_text(_written(record), encoding="utf-8")
    return record


def test_check(root: Path, *, quick: bool) -> Callable[[str], str]:
    """Return a check that says why a test is no evidence now, with an empty text where it is."""
    record = read_record(root)
    there = are_installed(root)
    kept, folders = (record.files, (*PACKAGES, "tests")) if there else (record.packages, PACKAGES)
    same = quick and bool(kept) and kept == files_digest(root, folders)
    source = cache(lambda: reach_of(root))  # one state of the files for all tests

    def check(name: str) -> str:
        result = record.tests.get(name)
        if result is not None and same:
            return _why_not(result, result.cited, name)
        if there or not quick:
            return _why_not(result, read_cited(source(), name), name)
        if result is None:
            return _why_not(None, Cited("", "", ()), name)
        now = Cited(result.cited.test, code_digest(source(), result.cited.reaches), result.cited.reaches)
        return _why_not(result, now, name)

    return check


def are_installed(root: Path) -> bool:
    """True if the tests are installed beside the packages."""
    return (root / "tests" / "proofs").is_dir()


def libraries() -> dict[str, str]:
    """Return the versions of the libraries that run here."""
    found = {"Python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def describe_runs(record: Record, names: Iterable[str]) -> str:
    """Describe when tests were run, and with what."""
    used = sorted({record.tests[name].run for name in names if name in record.tests}, key=int)
    runs = [record.runs[run] for run in used if run in record.runs]
    return "; ".join(f"{run['date']} with {', '.join(f'{key} {run[key]}' for key in run if key != 'date')}" for run in runs)


def other_libraries(record: Record, names: Iterable[str]) -> str:
    """Describe how the libraries that run here differ from those that tests ran with."""
    here = libraries()
    used = [record.runs.get(run, {}) for run in sorted({record.tests[name].run for name in names if name in record.tests}, key=int)]
    then = {name: sorted({run[name] for run in used if name in run}) for name in here}
    differ = {name: versions for name, versions in then.items() if versions and versions != [here[name]]}
    return ", ".join(f"{name} {' and '.join(versions)} then, {here[name]} now" for name, versions in differ.items())


def _why_not(result: Result | None, now: Cited, name: str) -> str:
    """Return why a test is no evidence, empty where it is."""
    run = f"Run `{COMMAND} --run {name}`"
    if result is None:
        return f"stale: no result is on record. {run}"
    if not now.test:
        return "there is no such test"
    if result.outcome != PASSED:
        return f"stale: it is on record as {result.outcome}. {run}"
    if result.cited.test != now.test:
        return f"stale: the test changed after it was run. {run}"
    return "" if result.cited.code == now.code else f"stale: code that it reaches changed after it was run. {run}"


def _made_with() -> dict[str, str]:
    """Return the date, the platform and the libraries of this run."""
    return {"date": datetime.now(UTC).date().isoformat(), "platform": f"{platform.system()} {platform.machine()}", **libraries()}


def _written(record: Record) -> str:
    """Return the record as JSON, with each place once."""
    places = sorted({place for result in record.tests.values() for place in result.cited.reaches})
    index = {place: number for number, place in enumerate(places)}
    tests = {
        name: {
            "outcome": one.outcome,
            "cases": one.cases,
            "run": one.run,
            "test": one.cited.test,
            "code": one.cited.code,
            "reaches": [index[place] for place in one.cited.reaches],
        }
        for name, one in record.tests.items()
    }
    head = json.dumps({"files": record.files, "packages": record.packages, "runs": record.runs, "places": places}, indent=1)[:-2]
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in tests.items())
    return f'{head},\n "tests": {{\n{lines}\n }}\n}}\n'
