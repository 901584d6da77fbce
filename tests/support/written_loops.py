"""Whole training loops as people write them, each with one mistake and without it; read from `written_loops.txt`.

Lines marked `#B` are in the broken loop alone, `#S` in its sound twin alone; a finding must name a line marked `#B` or `#W`.
"""

import importlib.util
import re
from pathlib import Path

import numpy as np

from dpaudit.auditor.training import TrainingClaim, audit_loop, audit_training

__all__ = ["D", "N", "TrainingClaim", "audit_loop", "audit_training", "data", "grads", "np", "sig"]

N, D = 400, 20
LOOPS = dict(
    part.split("\n", 1) for part in re.split(r"^=== ", Path(__file__).with_suffix(".txt").read_text(), flags=re.MULTILINE)[1:]
)


def data(seed=0, n=N, d=D):
    """Features, and a class in the last column."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * 2
    return np.column_stack([x, x @ rng.normal(size=d) + rng.normal(size=n) > 0])


def sig(z):
    """The logistic function."""
    return 1 / (1 + np.exp(-np.clip(z, -30, 30)))


def grads(w, rows):
    """Per-example gradients of logistic regression."""
    return (sig(rows[:, :-1] @ w) - rows[:, -1])[:, None] * rows[:, :-1]


def run(name, folder, *, broken):
    """Violations of a loop, and the lines of which one must be named."""
    lines = [line for line in LOOPS[name].splitlines() if ("#S" if broken else "#B") not in line]
    file = folder / f"{name}_{'broken' if broken else 'sound'}.py"
    file.write_text("\n".join(re.sub(r"  #[BSW]$", "", line) for line in lines) + "\n")
    specification = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    found = [check for check in module.main() if check.status == "violated"]
    return found, {number for number, line in enumerate(lines, start=1) if re.search(r"#[BW]$", line)}
