"""The pytest plugin: audits inside tests, all of them under one false-alarm budget per test run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from dpaudit.pytest_plugin.check import Check

DEFAULT_BUDGET: Final = "1e-6"

# Every pytest run loads this module, so imports that only audits need are inside functions.


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options and their ini forms."""
    group = parser.getgroup("dpaudit", "statistical audits of differential privacy claims")
    why = f"{DEFAULT_BUDGET}, since tests are run many times a day"
    group.addoption("--dp-budget", metavar="P", help=f"probability of one or more false alarms in the whole run ({why})")
    group.addoption("--dp-seed", metavar="N", type=int, help="seed from which each test's own seed is made (0)")
    group.addoption("--dp-evidence", metavar="DIR", help="write the report of every audit to this folder, for `dpaudit replay`")
    group.addoption("--dp-time-limit", metavar="SECONDS", help="end a target that takes longer, and fail its test")
    group.addoption("--dp-memory-limit", metavar="SIZE", help="end a target that holds more memory, and fail its test (4 GiB)")
    parser.addini("dp_budget", "as --dp-budget", default=DEFAULT_BUDGET)
    parser.addini("dp_seed", "as --dp-seed", default="0")
    parser.addini("dp_time_limit", "as --dp-time-limit")
    parser.addini("dp_memory_limit", "as --dp-memory-limit")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "dp(weight=1): an audit in a test; weight sets its part of the run's false-alarm budget")


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Split the budget over everything collected; a wrapper, so that whatever deselects tests comes later and raises no share."""
    statistical = [item for item in items if _is_statistical(item)]
    if statistical:
        from dpaudit.pytest_plugin.session import distribute

        distribute(config, statistical)
    yield


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many tests audited something, what that cost of the budget, and what would have been found."""
    # Tests that were deselected are listed too, as items that never ran.
    reports = [
        report
        for group in terminalreporter.stats.values()
        for report in group
        if hasattr(report, "user_properties") and hasattr(report, "when")
    ]
    if any(name == "dp_alpha" for report in reports for name, _ in report.user_properties):
        from dpaudit.pytest_plugin.session import summary

        for line in summary(config, reports, verbose=config.get_verbosity() > 0):
            terminalreporter.write_line(line)


@pytest.fixture
def dpaudit_check(request: pytest.FixtureRequest) -> Check:
    """A function that audits a target under this test's share of the run's false-alarm budget."""
    from dpaudit.pytest_plugin.check import Check
    from dpaudit.pytest_plugin.session import share_of

    return Check(request.node, share_of(request.node))


def _is_statistical(item: pytest.Item) -> bool:
    """True if a test takes part in the split: it has the marker or uses the fixture."""
    return item.get_closest_marker("dp") is not None or "dpaudit_check" in getattr(item, "fixturenames", ())
