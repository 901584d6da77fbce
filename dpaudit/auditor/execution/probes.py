"""Probes that the check of an executor runs in its workers: calls that identify a worker, and targets for a small audit."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import platform
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

import dpaudit
from dpaudit.claims import Claim, PureDP
from dpaudit.errors import TargetFailure
from dpaudit.targets import Target


@dataclass(frozen=True, order=True)
class Worker:
    """The worker that answered: machine, process and its kind, thread, and whether it belongs to an MPI job."""

    machine: str
    process: int
    kind: str
    thread: int
    mpi: bool


def worker() -> Worker:
    """Identify the worker that runs this call, after a moment in which the others get theirs."""
    time.sleep(0.02)
    kind = multiprocessing.current_process().name.split("-")[0]
    return Worker(platform.node(), os.getpid(), kind, threading.get_ident(), "mpi4py.MPI" in sys.modules)


def surroundings() -> tuple[tuple[str, str], ...]:
    """Collect what the numbers of a run depend on besides its seed: versions, and the last bits of noise and functions."""
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.laplace(size=2000), rng.normal(size=2000), rng.gamma(0.3, size=2000)])
    computed = np.concatenate([values, np.exp(values), np.log(np.abs(values)), np.sin(values), np.float64(1.1) ** values])
    return (
        ("dpaudit", dpaudit.__version__),
        ("python", platform.python_version()),
        ("numpy", np.__version__),
        ("floating point", hashlib.sha256(computed.tobytes()).hexdigest()[:12]),
    )


def token() -> bytes:
    """Return bytes that no two calls share."""
    return os.urandom(16)


def fail() -> None:
    """Raise an error with a code, to check that it arrives as it was raised."""
    raise TargetFailure("DPA405", "as asked.")


def pause(seconds: float) -> None:
    """Keep a worker busy."""
    time.sleep(seconds)


def mark(name: str) -> Path:
    """Path of the empty file that marks that a worker of this machine was ended under that name."""
    return Path(tempfile.gettempdir()) / f"dpaudit-{name}"


def end_worker(name: str) -> None:
    """End the process of this worker at the first call of that name on its machine, however often the call is repeated."""
    try:
        mark(name).touch(exist_ok=False)
    except FileExistsError:
        return
    os._exit(1)


def _count(data: list[int], rng: np.random.Generator) -> float:
    """A count with enough noise."""
    return len(data) + rng.laplace()


def _counts(data: list[int], count: int, rng: np.random.Generator) -> NDArray[Any]:
    """Counts with too little noise."""
    return len(data) + rng.laplace(scale=0.5, size=count)


def _texts(data: list[int], count: int, rng: np.random.Generator) -> list[str]:
    """Answers in words."""
    return ["yes" if draw < 0.6 + 0.1 * len(data) else "no" for draw in rng.random(count).tolist()]


_PARTS: Final = {"claim": Claim(PureDP(epsilon=1)), "neighbours": [([1], [1, 1])], "public_data": True}

TARGETS: Final = (
    Target(name="count", run=_count, **_PARTS),  # type: ignore[arg-type]
    Target(name="counts", sample=_counts, **_PARTS),  # type: ignore[arg-type]
    Target(name="texts", sample=_texts, **_PARTS),  # type: ignore[arg-type]
)
"""A function for single runs, one for many whose claim is false, and one whose outputs are texts."""
