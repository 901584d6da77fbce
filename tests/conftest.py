"""Settings of the whole suite: Hypothesis draws the same examples in every run, and keeps no files."""

from __future__ import annotations

import signal
from fractions import Fraction

import pytest
from hypothesis import settings

pytest_plugins = ["pytester"]

settings.register_profile("dpaudit", derandomize=True, database=None, deadline=None)
settings.load_profile("dpaudit")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So a shell starts what runs in the background, and the programs that tests interrupt would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    """Refuse names that hold a memory address: workers would collect different tests."""
    if changing := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"test names differ from process to process: {changing[:3]}; give the parameters ids.")


@pytest.fixture(scope="session")
def false_alarm_level() -> Fraction:
    """Most that one statistical test may add to the suite's false-alarm probability; a thousand of them stay within 1e-6."""
    return Fraction(1, 10**9)
