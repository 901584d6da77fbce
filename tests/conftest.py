"""Settings of the whole suite: Hypothesis draws the same examples in every run and keeps no files; sizes follow the tier."""

from __future__ import annotations

import signal
import tomllib
import zlib
from collections import defaultdict
from fractions import Fraction
from math import ceil
from pathlib import Path

import pytest
from hypothesis import settings

from devtools.affected import changed_files
from devtools.survey import ROOT
from devtools.tiers import is_touched

pytest_plugins = ["pytester"]

TIERS = tomllib.loads(Path(__file__).with_name("tiers.toml").read_text(encoding="utf-8"))

SAMPLED = TIERS.pop("sampled")
TOUCHED = TIERS.pop("touched")
settings.register_profile("full", derandomize=True, database=None, deadline=None)
settings.register_profile("touched", settings.get_profile("full"), max_examples=40)
settings.register_profile("untouched", settings.get_profile("full"), max_examples=20)
settings.load_profile("touched")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So a shell starts what runs in the background, and the programs that tests interrupt would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    """Add the option of `python3 dev campaign`."""
    parser.addoption("--full-size", action="store_true", help="run statistical tests at full size")


def pytest_report_header():
    """Say which seeded faults are tests of every run, and which only of the campaign."""
    base = changed_files(ROOT).base or "(no known commit)"
    return f"outside the campaign: faults in files changed since {base}, one in twenty of the others, long tests of changed rooms"


@pytest.fixture(scope="session")
def full_size(pytestconfig) -> bool:
    """Whether statistical tests have their full size, as once a night."""
    return pytestconfig.getoption("--full-size")


CHANGE = changed_files(ROOT).files


def choose_examples(config, path):
    """Draw as many examples as the tier asks for: most once a night, fewest in rooms that the change leaves alone."""
    # A test of this file copies it to another project, whose tests no change of this one touches.
    touched = path.is_relative_to(ROOT) and is_touched(path.relative_to(ROOT).as_posix(), CHANGE)
    settings.load_profile("full" if config.getoption("--full-size") else "touched" if touched else "untouched")


def pytest_collectstart(collector):
    """Choose how many examples the tests of a file draw; `@settings` reads it when the file is imported."""
    if isinstance(collector, pytest.Module):
        choose_examples(collector.config, collector.path)


def pytest_runtest_setup(item):
    """Choose how many examples a test draws; `@given` without `@settings` reads it when the test runs."""
    choose_examples(item.config, item.path)


# Before the hook that leaves out what `-m` does not ask for.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what a tier leaves out, and refuse names that hold a memory address: workers would collect different tests."""
    cases = defaultdict(list)
    for item in items:
        name = f"{item.location[0]}::{item.originalname}"
        for tier in (tier for tier, tests in TIERS.items() if name in tests):
            item.add_marker(tier)
        if name in TOUCHED and not is_touched(item.location[0], CHANGE):
            item.add_marker("campaign")
        if name in SAMPLED:
            cases[name].append(item)
    for name, alike in cases.items():
        # By the names of cases and not by their places, so that a new one changes nothing for the others.
        alike.sort(key=lambda item: zlib.crc32(item.name.encode()))
        for item in alike[ceil(len(alike) / SAMPLED[name]) :]:
            item.add_marker("campaign")
    if changing := [item.nodeid for item in items if " at 0x" in item.nodeid]:
        raise pytest.UsageError(f"test names differ from process to process: {changing[:3]}; give the parameters ids.")


@pytest.fixture(scope="session")
def false_alarm_level() -> Fraction:
    """Most that one statistical test may add to the suite's false-alarm probability; a thousand of them stay within 1e-6."""
    return Fraction(1, 10**9)
