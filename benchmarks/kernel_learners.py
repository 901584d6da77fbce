"""How accurate kernel learners are: four ways to tell about one minimiser, at three budgets, and two figures of the paper redrawn.

    python benchmarks/kernel_learners.py [--records 40000] [--seeds 1] [--data DIR] [--columns 21] [--points 1000] [--output DIR]

The generated problem: records on the sphere of ten dimensions, the sign of x1 x2 + 3/2 x3 x4 x5 + noise of deviation .02 as class,
a cubic kernel with all its 286 features, ridge 1/100, delta 1e-6, 1,000 public points. With DIR, a cubic kernel on covtype20k.npz
(class 2 against the rest, a sketch of 256 features, ridge 1/500, which is 1/(n C) of the paper's first experiment, T = 100).
The regression: 20,000 generated rows with the shape of KDD Cup 2010, of 38 ones each among 2**columns columns (perturbation.py says
how), scaled to norm 1; labels in [-1/2, 1/2]; linear kernel without a constant; residuals count in full up to 1/2, ridge 1/100; the
first test rows are the public points, and all methods are scored on them; one set of rows. Objective perturbation is pure.

Needs: data files, optional. Size: 16 fits of 40,000 records, 13 of 20,000 sparse ones, and 10 of CoverType with data.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from learning_data import IN_FILES  # noqa: E402
from measuring import Bar, bars_table, table, versions, write  # noqa: E402
from perturbation import ONES, TRAIN, part, perturbed, unit  # noqa: E402
from perturbation import generated as sparse_rows  # noqa: E402

from dpaudit.claims import Adjacency  # noqa: E402
from learners import (  # noqa: E402  # noqa: E402
    GaussianProcessRelease,
    InteractiveKernelPredictor,
    KernelRidgeRegressor,
    NonInteractiveKernelClassifier,
    SemiInteractiveKernelRegressor,
)
from learners import SemiInteractiveKernelClassifier as SemiInteractive  # noqa: E402
from learners.estimator import Public  # noqa: E402
from learners.kernels.fitting import Space  # noqa: E402
from learners.kernels.spaces import Kernel, Linear, Polynomial  # noqa: E402
from learners.rows.ingest import checked_features, to_rows  # noqa: E402
from learners.rows.labels import targets  # noqa: E402
from learners.solvers.losses import Loss  # noqa: E402
from learners.solvers.minimum import IMAGE_BITS, minimise, minimum  # noqa: E402

DELTA = "1e-6"
EPSILONS = ("1/10", "1", "10")
TESTED = 5000
RIDGE, BOUND = Fraction(1, 100), Fraction(1, 2)
LEARNERS = ("Gaussian process", "points, largest eigenvalue", "points, independent", "points, literal", "choices")


def made(name: str, epsilon: str, kernel: Kernel, ridge: str, points: int) -> Any:
    """A learner by its name in the table."""
    common = {"epsilon": epsilon, "delta": DELTA, "feature_norm": 1, "classes": [0, 1], "kernel": kernel, "ridge": ridge}
    if name == "Gaussian process":
        return GaussianProcessRelease(**common)
    if name == "choices":
        return NonInteractiveKernelClassifier(**common, point_count=points)
    noise = {"points, largest eigenvalue": "spectral", "points, independent": "independent", "points, literal": "literal"}[name]
    return SemiInteractive(**common, point_count=points, noise=noise)


def sphere(count: int, rng: np.random.Generator) -> tuple[Any, Any]:
    """The generated problem."""
    rows = rng.normal(size=(count, 10))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    score = rows[:, 0] * rows[:, 1] + 1.5 * rows[:, 2] * rows[:, 3] * rows[:, 4] + 0.02 * rng.normal(size=count)
    return rows, (score > 0).astype(np.int64)


def without_noise(split: tuple[Any, Any, Any, Any], kernel: Kernel, ridge: str) -> float:
    """Accuracy of the minimiser itself, which is private."""
    rows, labels, tests, truth = split
    public = Public(*rows.shape, 2, Fraction(1), Fraction(1), Fraction(0), Adjacency.of("replace_one"))
    space = Space(kernel.public_map(public), public.feature_norm)
    images = space.images(rows)
    found = minimum(records=len(rows), columns=images.steps.shape[1], ridge=ridge)
    weights = minimise(replace(images, labels=labels), found)
    return float(((space.images(tests).floats @ weights > 0) == truth).mean())


def generated(records: int, seeds: int) -> list[dict[str, Any]]:
    """Accuracies on the generated problem."""
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        split = (*sphere(records, rng), *sphere(TESTED, rng))
        found.append(
            {"learner": "without noise", "epsilon": "", "accuracy": without_noise(split, Polynomial(), "1/100"), "seconds": 0.0}
        )
        found += [run(name, epsilon, split, Polynomial(), "1/100", 1000) for name in LEARNERS for epsilon in EPSILONS]
    return found


def run(name: str, epsilon: str, split: tuple[Any, Any, Any, Any], kernel: Kernel, ridge: str, points: int) -> dict[str, Any]:
    """One fit."""
    rows, labels, tests, truth = split
    start = time.process_time()
    model = made(name, epsilon, kernel, ridge, points).fit(rows, labels)
    busy = time.process_time() - start
    return {"learner": name, "epsilon": epsilon, "accuracy": float((model.predict(tests) == truth).mean()), "seconds": busy}


def thresholds(records: int) -> list[dict[str, Any]]:
    """What an interactive predictor would answer to, in units of the function: no accuracy is to be had below the threshold."""
    found = []
    for epsilon in EPSILONS:
        for accounting in ("updates", "blocks"):
            predictor = InteractiveKernelPredictor(epsilon=epsilon, delta=DELTA, feature_norm=1, updates=10, accounting=accounting)
            public = Public(records, 10, 2, Fraction(1), Fraction(epsilon), Fraction(DELTA), Adjacency.of("replace_one"))
            best = minimum(records=records, columns=286, ridge="1/100")
            told = predictor._told(public, None, best)  # noqa: SLF001 - the plan of a run, without its records
            edge = told.release.parameter("threshold") if accounting == "updates" else told.threshold
            found.append({"accounting": accounting, "epsilon": epsilon, "threshold": float(told.grid.exact(int(edge)))})
    return found


def covtype(folder: Path, seeds: int) -> list[dict[str, Any]]:
    """The paper's first experiment on the rows that there are."""
    problem, found = IN_FILES["covtype"](folder), []
    kernel = Polynomial(columns=256)
    for seed in range(seeds):
        rows, labels, tests, truth = problem.split(seed)
        split, ridge = (rows, labels, tests, truth), "1/500"
        found.append({"learner": "without noise", "epsilon": "", "accuracy": without_noise(split, kernel, ridge), "seconds": 0.0})
        for name in (LEARNERS[0], LEARNERS[1], LEARNERS[3]):
            found += [run(name, epsilon, split, kernel, ridge, 100) for epsilon in EPSILONS]
    return found


def regression(columns: int, count: int) -> list[dict[str, Any]]:
    """The paper's second experiment on generated rows: R^2 at the public points."""
    features, labels = sparse_rows(columns, 0)
    points, truth = features[TRAIN : TRAIN + count], labels[TRAIN : TRAIN + count]
    fine, coarse = (
        unit(to_rows(checked_features(features), targets(labels, BOUND), feature_norm=np.sqrt(ONES), lattice_bits=bits))
        for bits in (IMAGE_BITS, 16)
    )
    test = part(coarse, slice(TRAIN, TRAIN + count))

    def score(weights: np.ndarray) -> float:
        """R^2 of weights that predict in units of the bound."""
        predicted = np.clip(np.asarray(test.floats @ weights) * float(test.step), -1, 1) * float(BOUND)
        return 1 - float(np.square(truth - predicted).mean() / truth.var())

    found = minimum(records=TRAIN, columns=columns, ridge=RIDGE, loss=Loss("residual"))
    exact = score(minimise(part(fine, slice(0, TRAIN)), found) / 2.0**found.weight_bits)
    results = [{"learner": "without noise", "epsilon": "", "accuracy": exact, "seconds": 0.0}]
    shared = {"delta": DELTA, "feature_norm": np.sqrt(ONES), "label_bound": BOUND, "kernel": Linear(), "ridge": RIDGE}
    for epsilon in EPSILONS:
        for name, kind, given in (
            ("all coordinates", KernelRidgeRegressor, {}),
            (LEARNERS[1], SemiInteractiveKernelRegressor, {"points": points}),
            (LEARNERS[3], SemiInteractiveKernelRegressor, {"points": points, "noise": "literal"}),
        ):
            start = time.process_time()
            model = kind(epsilon=epsilon, **shared, **given).fit(features[:TRAIN], labels[:TRAIN])
            busy = time.process_time() - start
            results.append({"learner": name, "epsilon": epsilon, "accuracy": model.score(points, truth), "seconds": busy})
        ones = replace(part(coarse, slice(0, TRAIN)), labels=np.ones(TRAIN, dtype=np.int64))
        rival = perturbed(ones, labels[:TRAIN] / float(BOUND), RIDGE, Fraction(epsilon), score)
        results.append(
            {"learner": "objective perturbation", "epsilon": epsilon, "accuracy": rival["r2"], "seconds": rival["seconds"]}
        )
    return results


def mean(rows: list[dict[str, Any]], name: str, epsilon: str) -> float:
    """Mean accuracy of a learner at an epsilon."""
    return float(np.mean([row["accuracy"] for row in rows if row["learner"] == name and row["epsilon"] in (epsilon, "")]))


def accuracies(rows: list[dict[str, Any]], epsilons: tuple[str, ...]) -> str:
    """A table of means."""
    body = []
    for name in dict.fromkeys(row["learner"] for row in rows):
        busy = max(row["seconds"] for row in rows if row["learner"] == name)
        body.append([name, *(f"{mean(rows, name, each):.3f}" for each in epsilons), f"{busy:.1f}"])
    return table(["learner", *(f"epsilon {each}" for each in epsilons), "seconds of a fit"], body)


def figure(rows: list[dict[str, Any]], measure: str, title: str, text: str) -> str:
    """A table as an SVG file."""
    from dpaudit.report.figures import canvas, inline
    from dpaudit.report.svg import alone

    with canvas() as (drawn, axes):
        ends = [float(Fraction(each)) for each in EPSILONS]
        for name in dict.fromkeys(row["learner"] for row in rows):
            means = [mean(rows, name, each) for each in EPSILONS]
            axes.plot(ends, means, label=name, marker="o", linestyle="--" if name == "without noise" else "-")
        axes.set_xscale("log")
        axes.set_ylim(bottom=max(axes.get_ylim()[0], -1.0))
        axes.set_xlabel("epsilon")
        axes.set_ylabel(measure)
        axes.legend()
        return alone(inline(drawn, title=title, description=f"{text}; the numbers are in kernel_learners.md.", key="kernel"))


def draw(folder: Path | None, name: str, drawing: str) -> None:
    """Write a figure beside the results."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"kernel_learners_{name}.svg").write_text(drawing, encoding="utf-8")


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=40_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--data", type=Path, default=None)
    parser.add_argument("--columns", type=int, default=21, help="binary logarithm of the columns of the regression; 0 for none")
    parser.add_argument("--points", type=int, default=1000, help="public points of the regression")
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    rows, edges = generated(options.records, options.seeds), thresholds(options.records)
    bars = [
        Bar("Gaussian process at epsilon 1", mean(rows, LEARNERS[0], "1"), 0.80),
        Bar("points with the largest eigenvalue at epsilon 1", mean(rows, LEARNERS[1], "1"), 0.72),
        Bar("points, literal, at epsilon 1", mean(rows, LEARNERS[3], "1"), 0.58, most=True),
    ]
    text = f"## {options.records:,} records of the sphere\n\n{accuracies(rows, EPSILONS)}\n{bars_table(bars)}\n"
    text += "Thresholds of interactive runs of ten updates, in units of the function, whose values are mostly below .5:\n\n"
    text += table(
        ["accounting", *(f"epsilon {each}" for each in EPSILONS)],
        [[name, *(f"{row['threshold']:.2f}" for row in edges if row["accounting"] == name)] for name in ("updates", "blocks")],
    )
    cover = covtype(options.data, options.seeds) if options.data else []
    if cover:
        text += f"\n## CoverType, 16,000 of 20,000 rows, T = 100\n\n{accuracies(cover, EPSILONS)}\n"
        what = "Accuracy of cubic-kernel classifiers on 16,000 rows of CoverType by epsilon"
        draw(options.output, "covtype", figure(cover, "accuracy", "Cubic kernel on CoverType", what))
    sparse = regression(2**options.columns, options.points) if options.columns else []
    if sparse:
        title = f"Regression in {2**options.columns:,} columns, T = {options.points:,}: R^2"
        text += f"\n## {title}\n\n{accuracies(sparse, EPSILONS)}\n"
        what = "R^2 of linear regressions of 20,000 rows of 38 ones by epsilon, cut below -1"
        draw(options.output, "regression", figure(sparse, "R^2", "Sparse regression", what))
    record = {"generated": rows, "thresholds": edges, "covtype": cover, "regression": sparse}
    record["bars"] = [bar.record() for bar in bars]
    record["versions"] = versions(["dpaudit", "numpy", "scikit-learn"])
    write(options.output, "kernel_learners", "Kernel learners", text, record)


if __name__ == "__main__":
    main()
