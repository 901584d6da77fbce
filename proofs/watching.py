"""A plugin of pytest that writes the outcome of each case and, on request, which code of the packages each test executed."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, cast

import pytest

from proofs.reviewed import PACKAGES

_outcomes: Final[dict[str, str]] = {}
_executed: Final[dict[str, set[str]]] = {}


def pytest_addoption(parser: Any) -> None:
    """Add the options for the results folder and for watching."""
    parser.addoption("--proof-results", default="", help="folder that outcomes are written to")
    parser.addoption("--proof-watch", action="store_true", help="record which code of the packages each test executes")


def pytest_runtest_logreport(report: Any) -> None:
    """Keep the outcome of a case: of its call, and of set-up and tear-down if they do not pass; expected failures are skipped."""
    known = _outcomes.get(report.nodeid)
    if report.when == "call" or report.outcome != "passed":
        outcome = "skipped" if hasattr(report, "wasxfail") else report.outcome
        _outcomes[report.nodeid] = outcome if known in (None, "passed") else known


def pytest_configure(config: Any) -> None:
    """Watch tests only where it was asked for, since watching slows them down."""
    if config.getoption("--proof-watch"):
        config.pluginmanager.register(_Watcher(Path(str(config.rootpath))), "proof-watcher")


def pytest_sessionfinish(session: Any) -> None:
    """Write what this process has seen."""
    if folder := session.config.getoption("--proof-results"):
        seen = {"outcomes": _outcomes, "executed": {name: sorted(places) for name, places in _executed.items()}}
        (Path(folder) / f"{os.getpid()}.json").write_text(json.dumps(seen), encoding="utf-8")


class _Watcher:
    """Records the calls that each test makes.

    `sys.settrace` with a function that declines to trace lines costs one call of Python for each call in the program, and sees
    those of Python alone, which is what is asked for; `sys.setprofile` would be called for functions in C as well.
    """

    def __init__(self, root: Path) -> None:
        self._inside = tuple(str(root / package) + os.sep for package in PACKAGES)
        self._root = str(root) + os.sep

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Generator[None, Any, Any]:
        """Watch one case, with its fixtures."""
        seen = _executed.setdefault(item.nodeid.partition("[")[0], set())
        with _calls() as codes:
            result = yield
        for code in codes:
            if code.co_filename.startswith(self._inside) and code.co_filename != __file__:
                seen.add(f"{code.co_filename.removeprefix(self._root).replace(os.sep, '/')}:{code.co_qualname}")
        return result


@contextmanager
def _calls() -> Iterator[set[CodeType]]:
    """The code objects that are called while the context is open, in this thread and in those that are started in it."""
    codes: set[CodeType] = set()

    def called(frame: FrameType, _event: str, _argument: Any) -> None:
        codes.add(frame.f_code)

    before = sys.gettrace()
    sys.settrace(called)
    threading.settrace(called)
    try:
        yield codes
    finally:
        sys.settrace(before)
        threading.settrace(cast("Any", before))
