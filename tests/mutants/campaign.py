"""The tables of faults, the checks by their names, whether a check notices a fault, and which faults a change concerns."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import sys
import tomllib
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

from devtools.affected import Change, text_at
from devtools.survey import ROOT

HERE = Path(__file__).parent
MOST_TAPES = 60_000
SAMPLERS = ("noise", "queries", "reals", "selection", "sources", "streams", "values")
AUDITOR = ("audits", "memberships", "rarities")
VERIFIER = ("readings", "stamping", "verifications", "witnesses", "lookaheads")
LEARNERS = ("estimators", "halfspaces", "kernel_tellers", "learning", "minimisers", "publics")
ACCOUNTANT = ("budgets", "cells", "compositions", "contours", "lattices", "ledgers", "losses", "schemes", "users")
TABLES = {
    "faults.toml": SAMPLERS,
    "accounting_faults.toml": ACCOUNTANT,
    "auditor_faults.toml": AUDITOR,
    "verifier_faults.toml": VERIFIER,
    "learner_faults.toml": LEARNERS,
}
"""The modules of checks of each table of faults."""


def loaded(path: Path):
    """The module in a file, loaded once, under a name by which dataclasses find it."""
    name = f"mutants_{path.stem}"
    if name not in sys.modules:
        specification = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(sys.modules[name])
    return sys.modules[name]


planting = loaded(HERE / "planting.py")
tapes = loaded(HERE.parent / "mechanisms" / "conftest.py")
OPINIONS = {
    "exact": HERE / "exact.py",
    "oracle": HERE.parent / "reference" / "accounting_oracle.py",
    "forgeries": HERE.parent / "verifier" / "kernel" / "test_forgeries.py",
}
"""Second opinions that a check is given by the names of its parameters."""


def outcomes(kernel: Callable, *, unassigned: Fraction = Fraction(1, 2**12)):
    """The enumeration of a kernel over all its tapes, given up where a fault keeps it from coming to an end."""
    tried = 0

    def counted(tape):
        nonlocal tried
        tried += 1
        assert tried < MOST_TAPES, "the tapes of this kernel do not come to an end"
        return kernel(tape)

    return tapes.all_outcomes(counted, unassigned=unassigned)


def faults(table: str = "faults.toml"):
    """All seeded faults of a table."""
    return faults_in((HERE / table).read_text(encoding="utf-8"))


def faults_in(text: str):
    """All seeded faults of a table with this content."""
    return [planting.Fault(**{**row, "killers": tuple(row["killers"])}) for row in tomllib.loads(text).get("fault", ())]


def concerned(table: str, change: Change) -> set[str]:
    """Names of the faults of a table that every run of the tests plants: those that a change concerns, and one in twenty.

    A change concerns a fault if it is in the file, in the row of the table, or in the module of a check that must notice it.
    """
    path = f"tests/mutants/{table}"
    before = faults_in(text_at(ROOT, change.base, path)) if path in change.files else faults(table)
    touched = {name for module in TABLES[table] if f"tests/mutants/{module}.py" in change.files for name in checks((module,))}
    return {
        fault.name
        for fault in faults(table)
        if fault.file in change.files
        or fault not in before
        or touched & set(fault.killers)
        or hashlib.sha256(fault.name.encode()).digest()[0] % 20 == 0
    }


def checks(modules: tuple[str, ...] = SAMPLERS) -> dict[str, Callable[[], None]]:
    """All checks of some modules by name; those that enumerate tapes or hear a second opinion are given it."""
    found = {}
    for name in modules:
        module = loaded(HERE / f"{name}.py")
        for check in module.CHECKS:
            asked = [opinion for opinion in OPINIONS if opinion in inspect.signature(check).parameters]
            found[check.__name__] = partial(check, **{opinion: loaded(OPINIONS[opinion]) for opinion in asked})
        found |= {name: partial(check, outcomes=outcomes) for name, check in getattr(module, "ENUMERATIONS", {}).items()}
    return found


def notices(check: Callable[[], None], fault) -> bool:
    """Whether a check fails on code with the fault; code that cannot run at all is no fault worth noticing."""
    with planting.planted(fault):
        try:
            check()
        except (NameError, AttributeError, TypeError, SyntaxError):
            raise
        except Exception:  # noqa: BLE001 - an exception of any other kind stops a user, or a test, as an assertion does
            return True
    return False
