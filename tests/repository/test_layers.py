"""Imports point one way: the contracts hold, each of them notices a violation, and no part escapes them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from devtools.survey import PACKAGES, ROOT

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = SETTINGS["tool"]["importlinter"]["contracts"]
VIOLATIONS = [
    ("dpaudit/accounting/planted.py", "import mechanisms", "Learners stand on mechanisms"),
    ("dpaudit/exact.py", "import dpaudit.claims", "Learners stand on mechanisms"),
    ("dpaudit/auditor/planted.py", "def f():\n    from mechanisms import DiscreteLaplace", "dpaudit reaches mechanisms"),
    ("dpaudit/planted.py", "import learners", "dpaudit reaches mechanisms"),
    ("learners/planted.py", "import proofs", "Nothing imports proofs"),
    ("dpaudit/accounting/planted.py", "import dpaudit.auditor", "Accounting knows nothing"),
    ("dpaudit/accounting/planted.py", "def f():\n    import hypothesis", "Accounting knows nothing"),
    ("dpaudit/accounting/laws/planted.py", "def f():\n    import dpaudit.accounting.engines.grid", "In accounting, laws"),
    ("dpaudit/accounting/model/law.py", "import dpaudit.accounting.model.composition", "The modules and rooms"),
    ("dpaudit/claims.py", "def f():\n    import dpaudit.accounting", "The core imports nothing above it"),
    ("dpaudit/interop/planted.py", "import dpaudit.report", "Adapters translate"),
    ("dpaudit/ledger/planted.py", "def f():\n    import rich", "A ledger counts"),
    ("mechanisms/planted.py", "import dpaudit.report", "Mechanisms and learners know nothing"),
    ("learners/rows/planted.py", "import learners.record", "Learners stand on the estimator, on solvers"),
    ("learners/solvers/planted.py", "import learners.estimator", "Learners stand on the estimator, on solvers"),
    ("dpaudit/scan/planted.py", "import dpaudit.auditor", "The scan reads code"),
    ("dpaudit/catalogue/programs/planted.py", "import dpaudit.verifier", "The catalogue shows mechanisms and programs"),
    ("dpaudit/verifier/planted.py", "import dpaudit.auditor", "The verifier proves"),
    ("dpaudit/verifier/kernel/planted.py", "def f():\n    import z3", "The kernel of certificates"),
    ("dpaudit/auditor/planted.py", "import click", "The auditor finds"),
    ("dpaudit/auditor/reading/planted.py", "def f():\n    import dpaudit.auditor.runs.chunks", "In the auditor, rooms follow"),
    ("dpaudit/auditor/pairs/relations.py", "import dpaudit.auditor.pairs.edits", "The modules and rooms"),
    ("dpaudit/report/planted.py", "import dpaudit.auditor", "A report is made from results alone"),
    ("dpaudit/pytest_plugin/planted.py", "def f():\n    import dpaudit.cli", "The pytest plugin needs no command line"),
    ("proofs/planted.py", "import devtools", "What is shipped imports none"),
]


def run_linter(folder: Path) -> subprocess.CompletedProcess[str]:
    """The linter's verdict on the packages in `folder`."""
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """A copy of the packages and the settings."""
    folder = tmp_path_factory.mktemp("copy")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_the_contracts_hold(copy):
    ran = run_linter(copy)
    assert 0 == ran.returncode, ran.stdout + ran.stderr
    assert f"{len(CONTRACTS)} kept, 0 broken" in ran.stdout


@pytest.mark.parametrize(("path", "code", "contract"), VIOLATIONS)
def test_a_planted_violation_is_found(copy, path, code, contract):
    file = copy / path
    before = file.read_text(encoding="utf-8") if file.exists() else None
    file.write_text(f"{before or ''}\n{code}\n", encoding="utf-8")
    try:
        ran = run_linter(copy)
    finally:
        file.unlink() if before is None else file.write_text(before, encoding="utf-8")
    assert 1 == ran.returncode, ran.stdout + ran.stderr
    broken = [line for line in ran.stdout.splitlines() if line.endswith("BROKEN")]
    assert any(line.startswith(contract) for line in broken), broken


def test_every_contract_has_a_violation_that_it_finds():
    for contract in CONTRACTS:
        assert any(contract["name"].startswith(start) for _, _, start in VIOLATIONS), contract["name"]


def test_there_are_contracts_enough_and_none_makes_an_exception():
    assert 5 <= len(CONTRACTS)
    assert [] == [contract["name"] for contract in CONTRACTS if "ignore_imports" in contract]


def test_every_part_of_dpaudit_stands_in_a_contract():
    named = str([contract.get("layers", []) + contract.get("source_modules", []) for contract in CONTRACTS])
    parts = [path.parent.name for path in (ROOT / "dpaudit").glob("*/__init__.py")]
    assert [] == [part for part in parts if f"dpaudit.{part}" not in named and part != "cli"], "cli stands on top of all"
