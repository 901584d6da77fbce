"""How often a whole test run raises a false alarm: thousands of runs of the pytest plugin, all of whose claims are true.

    python benchmarks/plugin_sessions.py --sessions 10000 --through-pytest 400 --audited 60 --output benchmarks/results

A session is a run of 41 exact tests of claims that hold with equality, at a budget large enough to see: .05. Each test spends its
share on the exact binomial test of the auditor. Simulated sessions take the shares from the function that the plugin takes them
from and make the same draws; of some sessions pytest itself is run, in this process, and has to raise the same alarms in the same
tests. The last row audits targets through the fixture.

Needs: pytest. Size: 10,000 simulated sessions, 400 through pytest, 60 of whole audits.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from measuring import Bar, bars_table, code_of, table, versions, write
from scipy.stats import binom

from dpaudit.auditor.statistics.bounds import ClaimPoint, p_value
from dpaudit.pytest_plugin import DEFAULT_BUDGET
from dpaudit.pytest_plugin.session import Share, shares_of
from dpaudit.results import Counts

TESTS: Final = 41
HITS: Final = 20_000
POINT: Final = ClaimPoint(epsilon="1/2", delta=0)
TRUTH: Final = 1 / (1 + math.exp(-POINT.epsilon))
VISIBLE: Final = Fraction(1, 20)
EVEN: Final = (Fraction(1),) * TESTS
MIXED: Final = tuple((Fraction(1), Fraction(2), Fraction(1, 2))[place % 3] for place in range(TESTS))
MISSED: Final = 0.01
"""Probability that a session rate of exactly the budget is called too large."""

LEFT_OUT: Final = ("no:cacheprovider", "no:terminal", "no:unraisableexception", "no:threadexception")
"""Parts of pytest that write files and text, and that collect garbage after each session."""

AUDITED_RUNS: Final = 1000
NULLS: Final = f"""
import pytest
from plugin_sessions import raises_alarm

@pytest.mark.parametrize("place", range({TESTS}))
def test_null(place, dpaudit_check):
    assert not raises_alarm(dpaudit_check.spend())
"""
AUDITS: Final = f"""
import pytest
from dpaudit.catalogue import specimens

TIGHT = [one.target for one in specimens("1/2") if one.name in ("randomized_response", "geometric", "laplace")]

@pytest.mark.parametrize("target", TIGHT, ids=lambda target: target.name)
def test_audit(target, dpaudit_check):
    dpaudit_check(target, runs={AUDITED_RUNS}, allow_inconclusive=True)
"""


@cache
def labels(seed: int) -> int:
    """How many of the hits have label 1, drawn from the law under which the claim holds with equality."""
    return int(np.random.default_rng(seed).binomial(HITS, TRUTH))


@cache
def least_alarm(level: Fraction) -> int:
    """The fewest labels 1 that the auditor's p-value calls evidence at a level; p-values fall as labels rise."""
    low, high = int(HITS * TRUTH), HITS
    while low < high:
        middle = (low + high) // 2
        found = p_value(Counts(ones=middle, zeros=HITS - middle, runs=HITS), point=POINT) <= level
        low, high = (low, middle) if found else (middle + 1, high)
    return low


def raises_alarm(share: Share) -> bool:
    """One exact test of a claim that holds with equality: labels drawn from the share's seed, judged at its level."""
    return labels(share.seed) >= least_alarm(share.alpha)


def size_of(level: Fraction) -> float:
    """Probability with which that test raises its alarm; below the level, since counts are whole numbers."""
    return float(binom.sf(least_alarm(level) - 1, HITS, TRUTH))


def names_of(weights: Sequence[Fraction]) -> list[tuple[str, Fraction]]:
    """The tests of a session as pytest names them, with their weights."""
    return [(f"test_nulls.py::test_null[{place}]", weight) for place, weight in enumerate(weights)]


def simulated(seed: int, budget: Fraction, weights: Sequence[Fraction]) -> frozenset[str]:
    """The tests of one session that raise an alarm."""
    tests = names_of(weights)
    return frozenset(name for (name, _), share in zip(tests, shares_of(budget, seed, tests), strict=True) if raises_alarm(share))


class Verdicts:
    """A plugin that keeps the names of the tests that ran and of those that failed."""

    def __init__(self) -> None:
        self.ran: set[str] = set()
        self.failed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a test ended; one that could not be set up has not run."""
        if report.when == "call":
            (self.failed if report.failed else self.ran).add(report.nodeid)


def through_pytest(folder: Path, seed: int, budget: Fraction) -> tuple[set[str], set[str]]:
    """The tests that ran and those that failed in one session of pytest itself."""
    verdicts = Verdicts()
    plugins = [part for name in ("dpaudit.pytest_plugin", *LEFT_OUT) for part in ("-p", name)]
    options = [*plugins, "--capture", "no", "--dp-seed", str(seed), "--dp-budget", str(budget)]
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main([str(folder), "--rootdir", str(folder), *options], plugins=[verdicts])
    return verdicts.ran | verdicts.failed, verdicts.failed


@dataclass(frozen=True)
class Row:
    """Sessions of one kind: how many, in how many an alarm was raised, the rate that exact sizes give, processor seconds."""

    name: str
    budget: Fraction
    sessions: int
    alarms: int
    expected: float | None
    seconds: float

    @property
    def most(self) -> int:
        """Most sessions with an alarm that a rate of at most the budget explains."""
        return int(binom.isf(MISSED, self.sessions, float(self.budget)))

    def cells(self) -> list[str]:
        """The columns of the table."""
        expected = "-" if self.expected is None else f"{self.expected:.3g}"
        rate = f"{self.alarms / self.sessions:.4f}"
        return [self.name, f"{float(self.budget):g}", f"{self.sessions:,}", str(self.alarms), rate, expected, str(self.most)]


def simulate(name: str, budget: Fraction, weights: Sequence[Fraction], sessions: int) -> Row:
    """Simulated sessions of seeds 0, 1, 2 ..."""
    began = time.process_time()
    alarms = sum(bool(simulated(seed, budget, weights)) for seed in range(sessions))
    sizes = {share.alpha for share in shares_of(budget, 0, names_of(weights))}
    chance = {level: size_of(level) for level in sizes}
    quiet = math.prod(1 - chance[share.alpha] for share in shares_of(budget, 0, names_of(weights)))
    return Row(name, budget, sessions, alarms, 1 - quiet, time.process_time() - began)


def unsplit(sessions: int) -> Row:
    """The same sessions with the whole budget for every test: what a level per test comes to."""
    began, shares = time.process_time(), [shares_of(VISIBLE, seed, names_of(EVEN)) for seed in range(sessions)]
    alarms = sum(any(raises_alarm(Share(VISIBLE, share.seed)) for share in session) for session in shares)
    expected = 1 - (1 - size_of(VISIBLE)) ** TESTS
    return Row("simulated, the whole budget for every test", VISIBLE, sessions, alarms, expected, time.process_time() - began)


def run_pytest(sessions: int, audited: int) -> tuple[list[Row], int]:
    """Sessions of pytest itself: of the exact tests, of whole audits; and how many of the first differ from their simulation."""
    rows, different = [], 0
    with tempfile.TemporaryDirectory() as made:
        for name, code, count, expected in (("test_nulls", NULLS, sessions, TESTS), ("test_audits", AUDITS, audited, 3)):
            folder = Path(made).resolve() / name
            folder.mkdir()
            (folder / f"{name}.py").write_text(code, encoding="utf-8")
            began, alarms = time.process_time(), 0
            for seed in range(count):
                ran, failed = through_pytest(folder, seed, VISIBLE)
                if len(ran) != expected:
                    raise RuntimeError(f"{len(ran)} of {expected} tests of session {seed} ran")
                alarms += bool(failed)
                different += name == "test_nulls" and failed != simulated(seed, VISIBLE, EVEN)
            what = "exact tests" if name == "test_nulls" else f"audits of {AUDITED_RUNS:,} runs"
            if count:
                rows.append(Row(f"pytest, {expected} {what}", VISIBLE, count, alarms, None, time.process_time() - began))
    return rows, different


def bars_of(rows: Sequence[Row], different: int) -> list[Bar]:
    """Sessions with an alarm beside the exact limit of the binomial law; sessions of pytest that differ from their simulation."""
    bars = [Bar(f"sessions with an alarm: {row.name}", row.alarms, row.most, most=True) for row in rows]
    return [*bars, Bar("sessions of pytest unlike their simulation", different, 0, most=True)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sessions", type=int, default=10_000, help="that are simulated")
    parser.add_argument("--through-pytest", type=int, default=400, help="of exact tests that pytest runs")
    parser.add_argument("--audited", type=int, default=60, help="of whole audits that pytest runs")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    rows = [
        simulate(f"simulated, {TESTS} exact tests", VISIBLE, EVEN, options.sessions),
        simulate(f"simulated, {TESTS} tests of weights 1, 2, 1/2", VISIBLE, MIXED, options.sessions),
        simulate(f"simulated, {TESTS} exact tests", Fraction(DEFAULT_BUDGET), EVEN, options.sessions),
    ]
    through, different = run_pytest(options.through_pytest, options.audited)
    contrast = unsplit(options.sessions // 10)
    head = ["sessions", "budget", "number", "with an alarm", "rate", "exact", "limit"]
    text = (
        f"Sessions whose claims all hold with equality. An exact test judges {HITS:,} labels by the auditor's binomial test at the "
        "share that the plugin gives it. `exact`: the rate that the sizes of the tests multiply to, below the budget since counts "
        f"are whole numbers and tests independent. `limit`: the most sessions with an alarm that the budget explains ({MISSED:.0%} "
        "of such series exceed it). The last row is the contrast: the budget as a level for each test. Sessions of pytest have the "
        "seeds of the first simulated ones and have to raise the same alarms.\n\n"
        + table(head, [row.cells() for row in [*rows, *through, contrast]])
        + "\n"
        + bars_table(bars_of([*rows, *through], different))
        + f"\nProcessor seconds: {sum(row.seconds for row in [*rows, *through, contrast]):.0f}.\n"
    )
    record: dict[str, Any] = {
        "rows": [{"name": row.name, "budget": str(row.budget), "sessions": row.sessions, "alarms": row.alarms} for row in rows],
        "pytest": [{"name": row.name, "sessions": row.sessions, "alarms": row.alarms} for row in through],
        "unlike their simulation": different,
        "unsplit": {"sessions": contrast.sessions, "alarms": contrast.alarms},
        "code": code_of(["dpaudit/pytest_plugin"]),
        "versions": versions(["dpaudit", "numpy", "pytest", "scipy"]),
    }
    write(options.output, "plugin_sessions", "False alarms of whole test runs", text, record)


if __name__ == "__main__":
    main()
