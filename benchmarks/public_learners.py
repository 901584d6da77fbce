"""What public records without labels add to private learners: accuracy by the default rule, a span against all columns, regression.

    python benchmarks/public_learners.py [--data DIR] [--seeds 10] [--output benchmarks/results]

DIR holds the files of 20 newsgroups and MNIST. Of the train part, every fifth post and every eighth image are public, by their
row numbers; nobody reads their labels. Ours: (epsilon, 1e-5) under replace-one, exact noise from the operating system, nothing
tuned. The other problems are generated.

Needs: data files, optional. Size: 10 seeds of each problem.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from learning_data import IN_FILES, Problem, unit_rows  # noqa: E402
from measuring import Bar, bars_table, mean_and_error, resident, table, versions, write  # noqa: E402

from dpaudit.claims import Adjacency  # noqa: E402
from learners import PrivateClassifier, PublicSubspaceClassifier, PublicSubspaceRegressor  # noqa: E402
from learners.estimator import Public  # noqa: E402
from learners.public_data.descent import ProjectedDescent  # noqa: E402
from learners.rows.ingest import to_rows  # noqa: E402
from mechanisms import GaussianMechanism  # noqa: E402

EPSILONS = ("0.1", "0.5", "1", "3")
DELTA = "1e-5"
EVERY = {"20ng": 5, "mnist10": 8}
"""One record in so many is public."""

BARS = {"20ng": (76, 80.5, 82.5, 83.5), "mnist10": (53, 80, 82.5, 87)}
"""Least accuracy in percent at each epsilon."""

NORM = 8
TEST = 4000


def accuracies(name: str, problem: Problem, seeds: int) -> list[dict[str, Any]]:
    """Mean accuracy in percent, its standard error and seconds of a fit, with and without the public records."""
    cells = []
    for epsilon in EPSILONS:
        runs = [one_fit(problem, epsilon, seed, EVERY[name]) for seed in range(seeds)]
        mean, error = mean_and_error(run["accuracy"] for run in runs)
        without, _ = mean_and_error(run["without"] for run in runs)
        least = min(run["seconds"] for run in runs)
        cells.append(
            {"epsilon": epsilon, "accuracy": mean, "error": error, "without": without, "seconds": least, **runs[0]["record"]}
        )
    return cells


def one_fit(problem: Problem, epsilon: str, seed: int, every: int) -> dict[str, Any]:
    """A fit with public records, and one on the same private records without them."""
    train, labels, test, truth = problem.split(seed)
    public = np.arange(train.shape[0]) % every == 0
    model = PrivateClassifier(epsilon=epsilon, delta=DELTA, feature_norm=1, classes=range(problem.classes), public_X=train[public])
    start = time.process_time()
    model.fit(train[~public], labels[~public])
    seconds = time.process_time() - start
    plain = model.__class__(**{**model.get_params(), "public_X": None}).fit(train[~public], labels[~public])
    kept = {key: model.privacy_.public[key] for key in ("records", "public_records", "directions")}
    scores = {"accuracy": 100 * model.score(test, truth), "without": 100 * plain.score(test, truth)}
    return {**scores, "seconds": seconds, "record": kept}


def falling(seed: int, *, columns: int = 3000, rows: int = 4000, signal: int = 32) -> tuple[NDArray[Any], ...]:
    """Unit rows whose columns fall off as 1/i, logistic labels from weights of norm 8; the same for tests; public rows."""
    random = np.random.default_rng(seed)
    weights = np.zeros(columns)
    weights[:signal] = random.choice([-1, 1], size=signal) * NORM / signal**0.5
    parts = [unit_rows(random.normal(size=(count, columns)) / np.arange(1, columns + 1)) for count in (rows, TEST, 100)]
    labels = [(random.random(len(part)) < 1 / (1 + np.exp(-part @ weights))).astype(np.int64) for part in parts[:2]]
    return parts[0], labels[0], parts[1], labels[1], parts[2]


def risks(seed: int, epsilon: str) -> dict[str, float]:
    """Mean logistic loss on test rows of projected descent, in all columns and in the span of 100 public rows."""
    train, labels, test, truth, public = falling(seed)
    learner = ProjectedDescent(NORM)
    model = PublicSubspaceClassifier(
        epsilon=epsilon, delta="1e-6", feature_norm=1, classes=[0, 1], public_X=public, centred=False, reach=1, learner=learner
    ).fit(train, labels)
    replaced = Adjacency.of("replace_one")
    plan = learner.plan(Public(len(train), train.shape[1], 2, Fraction(1), Fraction(epsilon), Fraction(1, 10**6), replaced))
    rows, tested = (
        to_rows(some, side, feature_norm=1, lattice_bits=plan.lattice_bits) for some, side in ((train, labels), (test, truth))
    )
    scores = learner.scores(tested, plan, learner.learn(rows, plan, None))
    return {"all columns": loss(scores, truth), "span": loss(model.decision_function(test), truth)}


def loss(scores: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Mean logistic loss."""
    return float(np.logaddexp(0, -scores * (2 * labels - 1)).mean())


def logs(rows: int = 25000, columns: int = 2**21, each: int = 38) -> tuple[Any, NDArray[np.float64]]:
    """Records of 38 one-hot choices out of 2**21 columns, some of which nearly all records have; labels mostly linear in them."""
    from scipy.sparse import csr_array

    random = np.random.default_rng(0)
    places = np.sort(np.minimum((random.pareto(0.6, size=(rows, each)) * 20).astype(np.int64), columns - 1), axis=1).astype(
        np.int32
    )
    entries = np.full(rows * each, each**-0.5)
    features = csr_array((entries, places.ravel(), np.arange(0, rows * each + 1, each, dtype=np.int32)), shape=(rows, columns))
    features.sum_duplicates()
    features.data[:] = each**-0.5
    signal = features @ random.normal(size=columns)
    return features, np.clip(signal / (2 * signal.std()) + 0.2 * random.normal(size=rows), -1, 1)


def regression(train: int = 20000) -> dict[str, float]:
    """R^2 of a fit and of its own fit without noise, seconds, and growth in memory in MB."""
    features, labels = logs()
    parts = features[:train], labels[:train], features[train:], labels[train:]
    del features, labels
    model = PublicSubspaceRegressor(epsilon=1, delta=DELTA, feature_norm=1, label_bound=1)
    model.fit(parts[0][:100, :2000], parts[1][:100])  # what is loaded on first use
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak counts from here
    before, start = resident("VmRSS"), time.process_time()
    model.fit(parts[0], parts[1])
    found = {
        "seconds": time.process_time() - start,
        "megabytes": resident("VmHWM") - before,
        "R^2": model.score(parts[2], parts[3]),
    }
    with (
        patch.object(GaussianMechanism, "release", lambda _self, value, _source=None: np.array(value)),
        patch("learners.record.PrivacyRecord.ran", lambda self, _log: self),
    ):
        model.fit(parts[0], parts[1])
    return {**found, "R^2 without noise": model.score(parts[2], parts[3])}


def markdown(found: dict[str, list[dict[str, Any]]], spans: list[list[str]], fitted: dict[str, float], bars: list[Bar]) -> str:
    """The page."""
    head = ["problem", "epsilon", "private", "public", "directions", "accuracy", "without public records", "seconds"]
    lines = [
        [
            name,
            cell["epsilon"],
            str(cell["records"]),
            str(cell["public_records"]),
            str(cell["directions"]),
            f"{cell['accuracy']:.1f} ± {cell['error']:.1f}",
            f"{cell['without']:.1f}",
            f"{cell['seconds']:.2f}",
        ]
        for name, cells in found.items()
        for cell in cells
    ]
    squares = (
        f"Least squares, 20,000 rows in 2^21 columns, epsilon 1: R^2 {fitted['R^2']:.3f}, without noise "
        f"{fitted['R^2 without noise']:.3f}; {fitted['seconds']:.2f} s, {fitted['megabytes']:.0f} MB.\n"
    )
    return "\n".join(
        [
            f"Accuracy in percent by the default rule, (epsilon, {DELTA})-DP under replace-one; seconds of a fit (processor).\n",
            table(head, lines) if lines else "",
            "Logistic loss of projected descent, 4,000 rows in 3,000 columns that fall off as 1/i, delta 1e-6:\n",
            table(["epsilon", "all columns", "span of 100 public rows"], spans),
            squares,
            bars_table(bars),
        ]
    )


def main() -> int:
    """Measure, print, and write the results if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the files of mnist10k and 20ng")
    parser.add_argument("--seeds", type=int, default=10, help="draws of noise, and splits of the images")
    parser.add_argument("--output", type=Path, help="folder for public_learners.md and public_learners.json")
    parser.add_argument("--regression", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.regression:
        print(json.dumps(regression()))
        return 0
    found = {name: accuracies(name, IN_FILES[name](options.data), options.seeds) for name in EVERY} if options.data else {}
    spans = {epsilon: [risks(seed, epsilon) for seed in range(min(options.seeds, 5))] for epsilon in ("0.5", "2")}
    command = [sys.executable, __file__, "--regression"]  # in a process where nothing else has run
    fitted: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    gain = float(np.mean([run["all columns"] - run["span"] for run in spans["0.5"]]))
    bars = [
        Bar(f"{name}, epsilon {cell['epsilon']}, %", cell["accuracy"], least)
        for name, cells in found.items()
        for cell, least in zip(cells, BARS[name], strict=True)
    ]
    bars += [
        Bar("span of 100 public rows, epsilon 0.5: risk below that in all columns", gain, 0.03),
        Bar("2^21 columns, R^2 over that without noise", fitted["R^2"] / fitted["R^2 without noise"], 0.9),
        Bar("2^21 columns, s", fitted["seconds"], 1.5, most=True),
        Bar("2^21 columns, MB", fitted["megabytes"], 120, most=True),
    ]
    lines = [
        [epsilon, *(f"{np.mean([run[part] for run in runs]):.4f}" for part in ("all columns", "span"))]
        for epsilon, runs in spans.items()
    ]
    text = markdown(found, lines, fitted, bars)
    known = versions(("numpy", "scipy", "scikit-learn"))
    record = {"versions": known, "problems": found, "spans": spans, "regression": fitted, "bars": [bar.record() for bar in bars]}
    write(options.output, "public_learners", "Public records: accuracy, risk, regression", text, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
