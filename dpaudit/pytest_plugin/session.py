"""A test run: its settings and refusals, the shares of the false-alarm budget that tests get, and its summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any, Final

import pytest

from dpaudit.errors import BudgetExceeded, DpauditError, InvalidArgument
from dpaudit.exact import in_range, positive


@dataclass(frozen=True)
class Share:
    """The share of one test: `alpha` of the run's false-alarm budget, and the `seed` of all its random streams."""

    alpha: Fraction
    seed: int


_SHARE: Final = pytest.StashKey[Share]()
_REFUSAL: Final = pytest.StashKey[str]()

_REPEATING: Final = ("reruns", "retries", "force_flaky")
"""Options of pytest-rerunfailures, pytest-retry and flaky that repeat failed tests; ini options of the same names too."""

_DECORATED: Final = "_flaky_max_runs"
"""Attribute that the decorator of flaky sets on a function."""


def distribute(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Give every statistical test its share, or refuse the run.

    xdist reports a worker that ends with a usage error as crashed, without the reason; there each test fails with it instead.
    """
    try:
        _refuse_repeats(config, items)
        tests = [(item.nodeid, _weight(item)) for item in items]
        for item, share in zip(items, shares_of(_budget(config), session_seed(config), tests), strict=True):
            item.stash[_SHARE] = share
    except (DpauditError, pytest.UsageError) as error:
        if not hasattr(config, "workerinput"):
            raise pytest.UsageError(str(error)) from error
        config.stash[_REFUSAL] = str(error)


def shares_of(budget: Fraction, seed: int, tests: Sequence[tuple[str, Fraction]]) -> list[Share]:
    """Split a budget over tests by weight, and derive their seeds from their names, whatever their order and their worker."""
    whole = sum((weight for _, weight in tests), Fraction(0))
    return [Share(budget * weight / whole, _seed_of(seed, name)) for name, weight in tests]


def _seed_of(seed: int, name: str) -> int:
    """A 63-bit seed that depends on the run's seed and the test's name only."""
    return int.from_bytes(sha256(f"{seed}:{name}".encode()).digest()[:8], "big") >> 1


def share_of(item: pytest.Item) -> Share:
    """The share of a test, which fails where the run was refused; DPA204 where it was not collected as a statistical test."""
    if refusal := item.config.stash.get(_REFUSAL, ""):
        pytest.fail(refusal, pytrace=False)
    share = item.stash.get(_SHARE, None)
    if share is None:
        raise BudgetExceeded("DPA204", f"{item.nodeid} has no false-alarm share. Mark the test with @pytest.mark.dp.")
    return share


def session_seed(config: pytest.Config) -> int:
    """The seed of the whole run."""
    given = config.getoption("--dp-seed")
    try:
        return int(config.getini("dp_seed") if given is None else given)
    except ValueError as error:
        raise pytest.UsageError(f"the ini option dp_seed must be an integer, got {config.getini('dp_seed')!r}.") from error


def limits_of_run(config: pytest.Config) -> dict[str, str]:
    """The limits of every target, as arguments of `dpaudit.audit`, as far as they are set."""
    names = ("time_limit", "memory_limit")
    found = {name: config.getoption(f"dp_{name}", None) or config.getini(f"dp_{name}") for name in names}
    return {name: str(value) for name, value in found.items() if value}


def summary(config: pytest.Config, reports: Sequence[Any], *, verbose: bool) -> Iterator[str]:
    """The lines at the end of a run: what was spent, the least power among tests that passed (all if `verbose`), checks not run."""
    found = {report.nodeid: dict(report.user_properties) for report in reports}
    spent = [Fraction(properties["dp_alpha"]) for properties in found.values() if "dp_alpha" in properties]
    tests = "1 test" if len(spent) == 1 else f"{len(spent)} tests"
    used = f"{float(sum(spent)):.3g} of {float(_budget(config)):.3g}"
    yield f"dpaudit: audits in {tests}, false-alarm budget spent {used}, --dp-seed {session_seed(config)}"
    passed = {report.nodeid for report in reports if report.when == "call" and report.passed}
    powers = {node: properties["dp_power"] for node, properties in found.items() if node in passed and "dp_power" in properties}
    weakest_first = sorted(powers, key=lambda node: (-float(powers[node].split()[0]), node))
    for place, node in enumerate(weakest_first if verbose else weakest_first[:1]):
        factor, _, chance = powers[node].partition(" ")
        found_it = f"epsilon {factor} times the claimed one would have been found {chance}"
        what = "even the largest violation would have been missed" if factor == "inf" else found_it
        yield f"dpaudit: {'least power' if place == 0 else 'power'}: {what} ({node})"
    for node in sorted(node for node, properties in found.items() if node in passed and "dp_not_run" in properties):
        yield f"dpaudit: checks not run: {found[node]['dp_not_run']} ({node})"


def _refuse_repeats(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    """Refuse plugins that repeat failed statistical tests, since a repeat changes their error rate."""
    repeats = [f"the option {name}" for name in _REPEATING if _is_set(config, name)]
    repeats += [f"the marker flaky on {item.nodeid}" for item in items if item.get_closest_marker("flaky") is not None]
    repeats += [f"the decorator flaky on {item.nodeid}" for item in items if hasattr(getattr(item, "obj", None), _DECORATED)]
    if repeats:
        raise pytest.UsageError(
            f"{repeats[0]} repeats failed dp tests, which changes their error rate. Leave it out; their seeds are fixed."
        )


def _is_set(config: pytest.Config, name: str) -> bool:
    """True if an option of another plugin is set, on the command line or else in the ini file."""
    given = config.getoption(name, None)
    if given is None:
        try:
            given = config.getini(name)
        except ValueError:  # no plugin here has such an option
            return False
    return str(given or 0) != "0"


def _budget(config: pytest.Config) -> Fraction:
    """The run's false-alarm budget, exact."""
    given = config.getoption("--dp-budget")
    text = config.getini("dp_budget") if given is None else given
    return in_range(text, "dp-budget", lower=0, upper=1, lower_open=True, upper_open=True)


def _weight(item: pytest.Item) -> Fraction:
    """The exact weight that a test's marker asks for, 1 without one."""
    marker = item.get_closest_marker("dp")
    if marker is None:
        return positive(1)
    if marker.args or marker.kwargs.keys() - {"weight"}:
        raise InvalidArgument("DPA105", f"the marker dp of {item.nodeid} takes weight= only. Write @pytest.mark.dp(weight=2).")
    return positive(marker.kwargs.get("weight", 1), f"weight of {item.nodeid}")
