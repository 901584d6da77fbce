"""What the experiments measure: one fit, run or bound for each job, with data, maps and noise that follow from the job's own seed.

A job and its result are plain data. Noise comes from a seeded source, which is for measuring only: such a fit protects nobody.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from kernel_learners import made as kernel_learner
from kernel_learners import sphere
from learning_data import BUNDLED, IN_FILES
from numpy.typing import NDArray
from resuming import Found, Job
from scipy.sparse import csr_array

import learners
from dpaudit.claims import Adjacency
from learners.estimator import Public
from learners.kernels.spaces import Polynomial

DELTA: Final = "1e-6"
TESTED: Final = 4000
ASKED: Final = 300
RIDGE: Final = "1/100"
_OTHERS: Final = 16
"""Entries of a generated record besides the one that tells its class."""

_DENSE: Final = 2048
"""Up to so many columns a record is stored with its zeros."""


def separated(records: int, columns: int, margin: float, flipped: float, seed: int) -> tuple[Any, NDArray[np.int64]]:
    """Unit records whose first entry is the margin with the sign of their class, and their labels, a part of which is wrong."""
    rng = np.random.default_rng(seed)
    width = min(_OTHERS, columns - 1)
    signs = 2 * rng.integers(0, 2, size=records) - 1
    ends = 1 + np.arange(width + 1) * (columns - 1) // width  # one of the other entries in each part of the columns
    others = rng.normal(size=(records, width))
    others *= (math.sqrt(1 - margin**2) / np.linalg.norm(others, axis=1))[:, np.newaxis]
    entries = np.column_stack([margin * signs, others])
    places = np.column_stack([np.zeros(records, dtype=np.int64), rng.integers(ends[:-1], ends[1:], size=(records, width))])
    starts = np.arange(0, entries.size + 1, width + 1)
    rows = csr_array((entries.ravel(), places.ravel(), starts), shape=(records, columns))
    wrong = rng.random(records) < flipped
    return (rows.toarray() if columns <= _DENSE else rows), ((signs > 0) ^ wrong).astype(np.int64)


def linear(name: str, *, epsilon: str, margin: str, seed: int) -> Any:
    """A linear learner by its name; for those without privacy neither epsilon nor the margin matters."""
    if name == "no noise":
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=100, max_iter=300, tol=1e-3)
    common = {"epsilon": epsilon, "classes": [0, 1], "random_state": seed}
    pure, usual = {**common, "feature_norm": 1}, {**common, "delta": DELTA}
    made: dict[str, Callable[[], Any]] = {
        "PrivateClassifier": lambda: learners.PrivateClassifier(**usual, feature_norm=1),
        "MarginClassifier": lambda: learners.MarginClassifier(**usual, feature_norm=1, margin=margin, projection_seed=seed),
        "MarginSearch": lambda: learners.MarginSearch(
            learners.MarginClassifier(**usual, feature_norm=1, margin=margin, projection_seed=seed), random_state=seed
        ),
        "HalfspaceClassifier": lambda: learners.HalfspaceClassifier(**usual, margin=margin, seed=seed),
        "PureMarginClassifier": lambda: learners.PureMarginClassifier(**pure, seed=seed),
        "PureHalfspaceClassifier": lambda: learners.PureHalfspaceClassifier(**common, margin=margin, seed=seed),
        "ObjectivePerturbation": lambda: learners.ObjectivePerturbation(**pure),
    }
    return made[name]()


def generated_error(job: Job) -> Found:
    """Error of one fit to generated records."""
    margin = float(Fraction(job["margin"]))
    rows, labels = separated(job["records"] + TESTED, job["columns"], margin, job["flipped"], job["seed"])
    model = linear(job["learner"], epsilon=job["epsilon"], margin=job["margin"], seed=job["seed"])
    model.fit(rows[: job["records"]], labels[: job["records"]])
    chosen = {"chosen": str(model.margin_)} if job["learner"] == "MarginSearch" else {}
    return {"error": float(np.mean(model.predict(rows[job["records"] :]) != labels[job["records"] :])), **chosen}


def real_error(job: Job) -> Found:
    """Error of one fit to records of the world."""
    problem = BUNDLED[job["problem"]]() if job["problem"] in BUNDLED else IN_FILES[job["problem"]](Path(job["data"]))
    train, labels, test, truth = problem.split(job["seed"])
    model = linear(job["learner"], epsilon=job["epsilon"], margin="1/10", seed=job["seed"]).fit(train, labels)
    return {"error": float(np.mean(model.predict(test) != truth))}


def bound(job: Job) -> Found:
    """A certified bound on the error, which needs public numbers alone, and the error of a fit where one is asked for."""
    margin = float(Fraction(job["margin"]))
    relation = Adjacency.of("replace_one")
    pure = job["learner"].startswith("Pure")
    public = Public(job["records"], job["columns"], 2, Fraction(1), Fraction(1), Fraction(0 if pure else DELTA), relation)
    model = linear(job["learner"], epsilon="1", margin=job["margin"], seed=job["seed"])
    plan = model._plan(public)  # noqa: SLF001 - what a fit would do, for records that are not there
    if job["learner"] == "MarginClassifier":
        certain = model._utility(plan).alpha  # noqa: SLF001 - as above
    elif job["learner"] == "HalfspaceClassifier":
        certain = plan.bound(Fraction(1, 20)).alpha
    else:
        certain = model._bound(plan, job["records"]).alpha  # noqa: SLF001 - as above
    found: Found = {"bound": certain if math.isfinite(certain) else None}
    if job["fitted"]:
        rows, labels = separated(job["records"] + TESTED, job["columns"], margin, 0.0, job["seed"])
        model.fit(rows[: job["records"]], labels[: job["records"]])
        found["error"] = float(np.mean(model.predict(rows[job["records"] :]) != labels[job["records"] :]))
    return found


@lru_cache(maxsize=2)
def _sphere(records: int, seed: int) -> tuple[Any, Any, Any, Any, NDArray[np.float64]]:
    """The kernel problem: records, labels, tests, their classes, and the private function's values at the tests."""
    rng = np.random.default_rng(seed)
    rows, labels = sphere(records, rng)
    tests, truth = sphere(TESTED, rng)
    exact = kernel_learner("Gaussian process", "1000000", Polynomial(), RIDGE, 1000).set_params(random_state=seed)
    return rows, labels, tests, truth, exact.fit(rows, labels).decision_function(tests)


def answers(job: Job) -> Found:
    """How far answers about the private function are off, at points that nobody chose, and how often their sign is the class."""
    rows, labels, tests, truth, values = _sphere(job["records"], job["seed"])
    if job["learner"] == "no noise":
        return {"accuracy": float(np.mean((values > 0) == truth)), "off": 0.0, "size": float(np.sqrt(np.mean(values**2)))}
    if job["learner"] == "questions one by one":
        told, read = _asked(job, rows, labels, tests[:ASKED])
        return {"accuracy": float(np.mean((told > 0) == truth[:ASKED])), "off": _root(told - values[:ASKED]), "read": read}
    model = kernel_learner(job["learner"], job["epsilon"], Polynomial(), RIDGE, 1000).set_params(random_state=job["seed"])
    told = model.fit(rows, labels).decision_function(tests)
    return {"accuracy": float(np.mean((told > 0) == truth)), "off": _root(told - values)}


def _asked(job: Job, rows: Any, labels: Any, points: Any) -> tuple[NDArray[np.float64], int]:
    """Answers of an interactive run, by guesses where it is over, and how many of them were read from the records."""
    predictor = learners.InteractiveKernelPredictor(
        epsilon=job["epsilon"], delta=DELTA, feature_norm=1, classes=[0, 1], ridge=RIDGE, random_state=job["seed"]
    )
    run = predictor.open(rows, labels)
    before = run.left
    told = [float(run.ask(point).value if run.left else run.guess(point)) for point in points]
    return np.array(told), before - run.left


def _root(values: NDArray[np.float64]) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(np.square(values))))


WORK: Final[Mapping[str, Callable[[Job], Found]]] = {
    "generated": generated_error,
    "real": real_error,
    "bound": bound,
    "answers": answers,
}


def work(job: Job) -> Found:
    """What came of a job."""
    return WORK[job["measure"]](job)
