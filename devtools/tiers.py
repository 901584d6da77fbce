"""A plugin of pytest for the tiers of tests: which files come first, until when tests start, and which sizes are full."""

from __future__ import annotations

import compileall
import gc
import time
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final

import pytest

LEFT_OUT: Final = "the time is over"
PACKAGES: Final = ("dpaudit", "mechanisms", "learners", "proofs")
ROOMS: Final[Mapping[str, tuple[str, ...]]] = {
    "catch": ("dpaudit/auditor", "dpaudit/catalogue"),
    "plugin": ("dpaudit/pytest_plugin", "examples/clinic"),
    "reference": ("dpaudit/accounting", "mechanisms"),
    "repository": ("devtools", "docs"),
    "statistical": ("dpaudit/auditor", "mechanisms"),
}
"""The folders of code that a folder of tests is about, where it does not have their name."""


def is_touched(test: str, change: Collection[str]) -> bool:
    """Whether a test file itself has changed, or code in the room that its folder is about."""
    room = test.split("/")[1]
    folders = tuple(f"{folder}/" for folder in ROOMS.get(room, (f"dpaudit/{room}", room)))
    return test in change or any(file.startswith(folders) for file in change)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options by which `python3 dev` chooses a tier."""
    group = parser.getgroup("tiers", "tiers of tests")
    group.addoption("--first", action="append", default=[], metavar="FILE", help="a test file to run before all that are not named")
    group.addoption("--until", type=float, metavar="TIME", help="start no test after this time, in seconds since 1970")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the packages once: tests start hundreds of programs, and where none may write bytecode each compiles them anew.

    Until the tests are collected nothing becomes garbage, and looking for it in their growing number took a third of the time.
    """
    gc.disable()
    if not hasattr(session.config, "workerinput"):  # in a worker of xdist the first process has done it
        for package in PACKAGES:
            compileall.compile_dir(session.config.rootpath / package, quiet=2, workers=0)


# Behind the hooks of other plugins, and of the repetition in xdist's workers the same in each: they must agree on the order.
@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the named files first, in the order in which they were named."""
    rank = {file: number for number, file in enumerate(config.getoption("--first"))}
    if rank:
        items.sort(key=lambda item: rank.get(item.path.relative_to(config.rootpath).as_posix(), len(rank)))


def pytest_collection_finish() -> None:
    """Look for garbage again, among what the tests make and not among the tests themselves."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    """Look for garbage again where no tests could be collected."""
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave a test out when the time is over."""
    end = item.config.getoption("--until")
    if end is not None and time.time() > end:
        pytest.skip(LEFT_OUT)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which tests were left out, so that nobody takes their silence for a pass."""
    skipped = (report for report in terminalreporter.stats.get("skipped", []) if LEFT_OUT in str(report.longrepr))
    left = Counter(report.nodeid.partition("::")[0] for report in skipped)
    if left:
        terminalreporter.section(f"{left.total()} tests were left out because the time is over; `python3 dev test` runs them")
        for file, count in sorted(left.items()):
            terminalreporter.write_line(f"{count:6} in {file}")
