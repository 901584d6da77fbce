"""How accurate, fast and small private learners are by their default rule, beside diffprivlib and what is possible without noise.

    python benchmarks/learners.py [--data DIR] [--seeds 10] [--quick] [--peer PYTHON] [--output benchmarks/results]

Two problems come with scikit-learn and one is generated; DIR holds the files of the others. PYTHON is an interpreter with
diffprivlib, which needs an older scikit-learn. Ours: (epsilon, 1e-5) under replace-one, exact noise from the operating system,
nothing tuned. diffprivlib: pure epsilon under replace-one, dense data only, the better of C = 1 and C = 0.01 by its test accuracy.

Needs: data files and a Python with diffprivlib, both optional. Size: 9 problems with data, 10 seeds at 4 epsilons.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from learning_data import BUNDLED, IN_FILES, Problem  # noqa: E402
from measuring import Bar, bars_table, mean_and_error, resident, table, versions, write  # noqa: E402

from learners import ObjectivePerturbation, PrivateClassifier  # noqa: E402
from learners.rows.ingest import checked_features, to_rows  # noqa: E402
from learners.solvers.gradient import solve  # noqa: E402
from mechanisms import GaussianMechanism  # noqa: E402

EPSILONS = (0.1, 0.5, 1.0, 3.0)
DELTA = "1e-5"
PEER_SEEDS = 5
MOST_COLUMNS = 1000
SPARSE = "sparse"

BARS: dict[str, tuple[float | None, ...]] = {
    "adult": (80.5, 83.3, 83.9, 84.3),
    "covtype_knots": (81.0, 84.8, 85.5, 85.9),
    "mnist": (75, 84, 85.5, 87),
    "mnist10": (None, 80, 82.5, 87),
    "digits": (60, 79, 84, 86),
    "breast_cancer": (62, 73, 79, 87),
    "20ng": (57, 71, 76.5, 82),
    "signal": (None, 92, 93, None),
}
"""Least accuracy in percent at each epsilon."""

SECONDS = {"adult": 0.3, "covtype": 0.05, "mnist": 0.3}
"""Most seconds of processor time of a fit, asked of float noise; ours is exact."""


RECOMPUTED = 0.5
"""Most seconds of processor time that recomputing a record may take."""


def ours(problem: Problem, epsilon: float, seed: int) -> dict[str, float]:
    """Accuracy of one fit in percent, and its seconds of processor time and of wall time."""
    train, labels, test, truth = problem.split(seed)
    model = PrivateClassifier(epsilon=str(epsilon), delta=DELTA, feature_norm=1, classes=range(problem.classes))
    start, busy = time.perf_counter(), time.process_time()
    model.fit(train, labels)
    wall, busy = time.perf_counter() - start, time.process_time() - busy
    return {"epsilon": epsilon, "accuracy": 100 * float(np.mean(model.predict(test) == truth)), "seconds": busy, "wall": wall}


def perturbed(problem: Problem, epsilon: float, splits: int) -> float | None:
    """Mean accuracy of objective perturbation in percent; None for several classes or many columns, which pure noise drowns."""
    if problem.classes > 2 or problem.features.shape[1] > MOST_COLUMNS:
        return None
    reached = []
    for seed in range(splits):
        train, labels, test, truth = problem.split(seed)
        model = ObjectivePerturbation(epsilon=str(epsilon), feature_norm=1, classes=[0, 1]).fit(train, labels)
        reached.append(100 * float(np.mean(model.predict(test) == truth)))
    return mean_and_error(reached)[0]


def ceiling(problem: Problem, seed: int) -> float:
    """Accuracy of logistic regression without noise, in percent."""
    from sklearn.linear_model import LogisticRegression

    train, labels, test, truth = problem.split(seed)
    return 100 * float(np.mean(LogisticRegression(C=100, max_iter=300, tol=1e-3).fit(train, labels).predict(test) == truth))


def peer(python: Path, problem: Problem, seed: int) -> list[dict[str, float]]:
    """What diffprivlib reaches on one split, for each epsilon and C."""
    train, labels, test, truth = problem.split(seed)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "arrays.npz"
        np.savez(file, train_x=train, train_y=labels, test_x=test, test_y=truth)
        constants = [0.01] if problem.classes > 2 else [1.0, 0.01]
        command = [python, ROOT / "benchmarks" / "learners_peer.py", file, json.dumps(EPSILONS), json.dumps(constants), str(seed)]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [{**reached, "accuracy": 100 * reached["accuracy"]} for reached in json.loads(printed)]


def better_constant(reached: list[dict[str, float]]) -> float:
    """The larger of the mean accuracies for each C."""
    constants = {run["C"] for run in reached}
    return max(mean_and_error(run["accuracy"] for run in reached if run["C"] == constant)[0] for constant in constants)


def measured(name: str, problem: Problem, seeds: int, python: Path | None) -> dict[str, Any]:
    """All that is measured of one problem."""
    splits = 1 if problem.train is not None else seeds
    ours(problem, 1.0, 0)  # what is made on first use
    runs = [ours(problem, epsilon, seed) for epsilon in EPSILONS for seed in range(seeds)]
    cells = []
    for epsilon in EPSILONS:
        chosen = [run for run in runs if run["epsilon"] == epsilon]
        accuracy, error = mean_and_error(run["accuracy"] for run in chosen)
        least = {name: min(run[name] for run in chosen) for name in ("seconds", "wall")}
        cells.append({"epsilon": epsilon, "accuracy": accuracy, "error": error, **least})
    best: list[float | None] = [None] * len(EPSILONS)
    if python is not None and isinstance(problem.features, np.ndarray):
        reached = [run for seed in range(min(splits, PEER_SEEDS)) for run in peer(python, problem, seed)]
        best = [better_constant([run for run in reached if run["epsilon"] == epsilon]) for epsilon in EPSILONS]
    record = {"problem": name, "title": problem.name, "shape": list(problem.features.shape), "cells": cells, "peer": best}
    record["objective"] = [perturbed(problem, epsilon, min(splits, PEER_SEEDS)) for epsilon in EPSILONS]
    return {**record, "ceiling": mean_and_error(ceiling(problem, seed) for seed in range(min(splits, 3)))[0]}


def float_release(self: GaussianMechanism, value: Any, _source: object = None) -> Any:
    """The same release with noise in floats."""
    return value + np.rint(np.random.default_rng().normal(0, float(self.sigma), np.shape(value))).astype(np.int64)


def noise_cost(problem: Problem) -> dict[str, float]:
    """Seconds of processor time of a solution with exact and with float noise, interleaved, best of five; draws and pricing."""
    train, labels, _, _ = problem.split(0)
    read = checked_features(train)
    model = PrivateClassifier(epsilon=1, delta=DELTA, feature_norm=1, classes=range(problem.classes)).fit(train, labels)
    plan = model.plan_
    rows = to_rows(read, labels, feature_norm=1, lattice_bits=plan.lattice_bits, intercept=plan.intercept)
    start = time.process_time()
    model.privacy_.recompute()
    found = {"exact": float("inf"), "floats": float("inf"), "recompute": time.process_time() - start}
    for _ in range(5):
        for kind, release in (("exact", GaussianMechanism.release), ("floats", float_release)):
            with patch.object(GaussianMechanism, "release", release):
                start = time.process_time()
                solve(rows, plan)
                found[kind] = min(found[kind], time.process_time() - start)
    draws = sum(release.dimension * release.count for charge in plan.charges for release in charge.releases)
    return {**found, "ratio": found["exact"] / found["floats"], "draws": draws}


def sparse_problem() -> tuple[Any, Any]:
    """11314 rows of 2**20 columns with 3.1 million entries."""
    from scipy.sparse import csr_array

    random, rows, each = np.random.default_rng(0), 11314, 274
    places = np.sort(random.integers(0, 2**20, size=(rows, each), dtype=np.int32), axis=1).ravel()
    entries = np.full(rows * each, each**-0.5)
    features = csr_array((entries, places, np.arange(0, rows * each + 1, each, dtype=np.int32)), shape=(rows, 2**20))
    features.sum_duplicates()
    return features, random.integers(0, 2, size=rows)


def one_fit(features: Any, labels: Any, classes: int) -> dict[str, float]:
    """Seconds of a fit, and how far it raises the memory of this process above what it held, in MB."""
    model = PrivateClassifier(epsilon=1, delta=DELTA, feature_norm=1, classes=range(classes))
    model.fit(features[:100, :50], labels[:100])  # what is loaded on first use
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak counts from here
    before = resident("VmRSS")
    start = time.process_time()
    model.fit(features, labels)
    return {"seconds": time.process_time() - start, "megabytes": resident("VmHWM") - before, "entries": getattr(features, "nnz", 0)}


def in_a_process_of_its_own(name: str, data: Path | None) -> dict[str, float]:
    """What `one_fit` measures of a problem, where nothing else has run before."""
    command = [sys.executable, __file__, "--one-fit", name, *(() if data is None else ("--data", str(data)))]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def makers_of(data: Path | None) -> dict[str, Callable[[], Problem]]:
    """The problems that there are data for."""
    files = {} if data is None else {name: partial(make, data) for name, make in IN_FILES.items()}
    return {**BUNDLED, **files}


def plot(records: list[dict[str, Any]], file: Path) -> None:
    """Accuracy over epsilon, one panel a problem, as SVG."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "learners"
    width = min(4, len(records))
    height = -(-len(records) // width)
    figure, panels = plt.subplots(height, width, figsize=(3.2 * width, 2.6 * height), squeeze=False)
    for panel in panels.ravel()[len(records) :]:
        panel.set_axis_off()
    for panel, record in zip(panels.ravel(), records, strict=False):
        cells = record["cells"]
        panel.errorbar(
            EPSILONS, [c["accuracy"] for c in cells], [2 * c["error"] for c in cells], marker="o", label="PrivateClassifier"
        )
        if record["peer"][0] is not None:
            panel.plot(EPSILONS, record["peer"], marker="s", linestyle="--", label="diffprivlib, better C")
        panel.axhline(record["ceiling"], color="grey", linewidth=0.8, label="no noise")
        panel.set(title=record["title"], xscale="log", xlabel="epsilon", ylabel="accuracy, %")
    panels[0, 0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(file, metadata={"Date": None})
    plt.close(figure)


def markdown(records: list[dict[str, Any]], bars: list[Bar], sparse: dict[str, float], noise: dict[str, dict[str, float]]) -> str:
    """The page."""
    head = [
        "problem",
        "n x d",
        *(f"epsilon {epsilon:g}" for epsilon in EPSILONS),
        "objective",
        "diffprivlib",
        "no noise",
        "seconds (wall)",
        "MB",
    ]
    lines = [
        [
            record["title"],
            " x ".join(map(str, record["shape"])),
            *(f"{cell['accuracy']:.1f} ± {cell['error']:.1f}" for cell in record["cells"]),
            *(" / ".join("-" if value is None else f"{value:.1f}" for value in record[other]) for other in ("objective", "peer")),
            f"{record['ceiling']:.1f}",
            f"{min(c['seconds'] for c in record['cells']):.2f} ({min(c['wall'] for c in record['cells']):.2f})",
            f"{record['megabytes']:.0f}",
        ]
        for record in records
    ]
    costs = [
        [
            name,
            f"{found['exact']:.3f}",
            f"{found['floats']:.3f}",
            f"{found['ratio']:.2f}",
            f"{found['draws']:.0f}",
            f"{found['recompute']:.2f}",
        ]
        for name, found in noise.items()
    ]
    return "\n".join(
        [
            "Accuracy in percent, mean and standard error over the seeds; the plot shows two standard errors. Ours:",
            f"(epsilon, {DELTA})-DP, the default rule, exact noise. diffprivlib: pure epsilon. Both under replace-one;",
            "diffprivlib has the same features, dense only, and the better of C = 1 and 0.01 by test accuracy (10 classes: 0.01).",
            "objective: our objective perturbation, pure epsilon, binary problems in at most 1,000 columns, at most 5 splits.",
            "`no noise` is logistic regression. Seconds: least processor time of a fit; MB: how far the first fit raises memory.\n",
            table(head, lines),
            f"Sparse: {sparse['entries']:.0f} entries in 2^20 columns: {sparse['seconds']:.2f} s, {sparse['megabytes']:.0f} MB.\n",
            "Seconds of the solver alone at epsilon 1, and of recomputing the record:\n",
            table(["problem", "exact noise", "float noise", "ratio", "draws", "record"], costs),
            bars_table(bars),
        ]
    )


def main() -> int:
    """Measure, print, and write the results if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with the files of adult, covtype20k, mnist10k and 20ng")
    parser.add_argument("--seeds", type=int, default=10, help="splits and draws of noise")
    parser.add_argument("--quick", action="store_true", help="one split and draw of noise of each problem")
    parser.add_argument("--peer", type=Path, help="a Python interpreter with diffprivlib")
    parser.add_argument("--only", nargs="*", help="names of problems; all unless given")
    parser.add_argument("--output", type=Path, help="folder for learners.md, learners.json and learners.svg")
    parser.add_argument("--one-fit", help=argparse.SUPPRESS)
    options = parser.parse_args()
    makers = makers_of(options.data)
    if options.one_fit == SPARSE:
        print(json.dumps(one_fit(*sparse_problem(), 2)))
        return 0
    if options.one_fit:
        problem = makers[options.one_fit]()
        print(json.dumps(one_fit(*problem.split(0)[:2], problem.classes)))
        return 0
    records, noise = [], {}
    for name in options.only or makers:
        problem = makers[name]()
        found = measured(name, problem, 1 if options.quick else options.seeds, options.peer)
        records.append({**found, "megabytes": in_a_process_of_its_own(name, options.data)["megabytes"]})
        noise[name] = noise_cost(problem)
    sparse = in_a_process_of_its_own(SPARSE, None)
    bars = [
        Bar(f"{record['title']}, epsilon {cell['epsilon']:g}, %", cell["accuracy"], least)
        for record in records
        for cell, least in zip(record["cells"], BARS.get(record["problem"], ()), strict=False)
        if least is not None
    ]
    bars += [
        Bar(f"{record['title']}, s", min(cell["seconds"] for cell in record["cells"]), SECONDS[record["problem"]], most=True)
        for record in records
        if record["problem"] in SECONDS
    ]
    for name, found in noise.items():
        bars += [Bar(f"{name}, exact over float noise", found["ratio"], 2, most=True)]
        bars += [Bar(f"{name}, s to recompute the record", found["recompute"], RECOMPUTED, most=True)]
    bars += [
        Bar("2^20 columns, s", sparse["seconds"], 1.5, most=True),
        Bar("2^20 columns, MB", sparse["megabytes"], 100, most=True),
    ]
    text = markdown(records, bars, sparse, noise)
    used = versions(("numpy", "scipy", "scikit-learn"))
    record = {"versions": used, "problems": records, "noise": noise, "sparse": sparse, "bars": [bar.record() for bar in bars]}
    write(options.output, "learners", "Private learners: accuracy, time and memory", text, record)
    if options.output is not None:
        plot(records, options.output / "learners.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
