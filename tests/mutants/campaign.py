"""The table of faults, the checks by their names, and whether a check notices a fault."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path

HERE = Path(__file__).parent
MOST_TAPES = 60_000


def loaded(path: Path):
    """The module in a file, loaded once, under a name by which dataclasses find it."""
    name = f"sampler_mutants_{path.stem}"
    if name not in sys.modules:
        specification = importlib.util.spec_from_file_location(name, path)
        sys.modules[name] = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(sys.modules[name])
    return sys.modules[name]


planting = loaded(HERE / "planting.py")
tapes = loaded(HERE.parent / "mechanisms" / "conftest.py")


def outcomes(kernel: Callable, *, unassigned: Fraction = Fraction(1, 2**12)):
    """The enumeration of a kernel over all its tapes, given up where a fault keeps it from coming to an end."""
    tried = 0

    def counted(tape):
        nonlocal tried
        tried += 1
        assert tried < MOST_TAPES, "the tapes of this kernel do not come to an end"
        return kernel(tape)

    return tapes.all_outcomes(counted, unassigned=unassigned)


def faults():
    """All seeded faults."""
    rows = tomllib.loads((HERE / "faults.toml").read_text(encoding="utf-8"))["fault"]
    return [planting.Fault(**{**row, "killers": tuple(row["killers"])}) for row in rows]


def checks() -> dict[str, Callable[[], None]]:
    """All checks by name; those that enumerate tapes are given the enumeration."""
    found = {}
    for name in ("noise", "queries", "reals", "selection", "sources", "values"):
        module = loaded(HERE / f"{name}.py")
        found |= {check.__name__: check for check in module.CHECKS}
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
