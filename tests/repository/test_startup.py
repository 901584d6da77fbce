"""Starting is cheap: nothing slow is imported before it is needed, and the clock agrees within a wide margin."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benchmarks.startup import COSTS, Cost, measure

SLOW = {
    "cffi", "cryptography", "cvc5", "flint", "hypothesis", "jinja2", "matplotlib", "mpmath", "numpy", "pytest", "rich", "scipy",
    "sklearn", "z3",
}  # fmt: skip
COMMAND_LINE = "import sys; from dpaudit.cli import main; (lambda words: (setattr(sys, 'argv', ['dpaudit', *words]), main()))"
GENEROUS = 4


def loaded_after(code: str) -> set[str]:
    """Top-level modules that a new interpreter has loaded after running `code`."""
    show = "import atexit, json, sys; atexit.register(lambda: print('\\n' + json.dumps(sorted(sys.modules))))\n"
    ran = subprocess.run([sys.executable, "-c", show + code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in json.loads(ran.stdout.splitlines()[-1])}


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("import dpaudit", set()),
        ("import mechanisms", set()),
        ("import learners", set()),
        ("import dpaudit.accounting", set()),
        ("import dpaudit.auditor", set()),
        ("import dpaudit.report", set()),
        ("import dpaudit.binding", set()),
        ("import dpaudit.verifier", {"flint"}),
        ("import dpaudit.pytest_plugin", {"pytest"}),
        (f"{COMMAND_LINE}(['--help'])", set()),
        (f"{COMMAND_LINE}(['--version'])", set()),
        (f"{COMMAND_LINE}(['audit', '--help'])", set()),
        (f"{COMMAND_LINE}(['prove', '--help'])", set()),
    ],
)
def test_nothing_slow_is_imported_before_it_is_needed(code: str, allowed: set[str]):
    assert set() == (loaded_after(code) & SLOW) - allowed


@pytest.mark.parametrize("cost", COSTS, ids=lambda cost: cost.name)
def test_starting_takes_no_longer_than_a_wide_margin_over_its_limit(cost: Cost):
    # The median of many: a busy neighbour slows single programs, code that became slow all of them.
    assert measure(cost, repeats=11) <= GENEROUS * cost.limit_ms
