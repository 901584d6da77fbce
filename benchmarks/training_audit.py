"""Epsilon of two models from 1,000 canaries in one training, by the bounds of dpaudit and of jax_privacy on the same scores.

`python benchmarks/training_audit.py scores.npz --seeds 20` trains and bounds, and goes on where it was cut off; then, where
jax_privacy 2.0.0 is installed too, `python benchmarks/training_audit.py scores.npz --theirs`. The second writes the table.

Needs: jax_privacy for its bounds, optional. Size: 16 cells, 20 seeds each.
"""

import argparse
import json
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np

from dpaudit.accounting import Poisson, gaussian
from dpaudit.auditor.membership import DPSGD
from dpaudit.auditor.membership.scores import combine_steps
from dpaudit.auditor.training import DiracCanaries, audit_steps

EPSILONS, DELTA, CANARIES, FRESH_SEEDS = (1, 2, 4, 8), "1e-5", 1000, 5
SETTINGS = {"no sampling, 10 steps": ("1", 10), "rate .1, 50 steps": ("1/10", 50)}
LEARNING = 2.0
RESULTS = Path(__file__).parent / "results"


def noise_for(epsilon: int, rate: str, steps: int) -> float:
    """Least noise multiplier, up to a ten-thousandth, with which steps have that epsilon."""
    low, high = 0.2, 50.0
    while high / low > 1.0001:
        middle = (low * high) ** 0.5
        step = gaussian(sigma=Fraction(middle))
        whole = steps * (step if rate == "1" else step.sampled(Poisson(rate)))
        low, high = (middle, high) if whole.epsilon(delta=DELTA).upper > epsilon else (low, middle)
    return high


class Network:
    """One hidden layer of 128."""

    shapes = ((64, 128), (128,), (128, 10), (10,))

    def features(self, pixels: np.ndarray) -> np.ndarray:
        """The inputs of the model."""
        return pixels

    def logits(self, parts: list[np.ndarray], inputs: np.ndarray) -> np.ndarray:
        """Scores of the classes."""
        return np.tanh(inputs @ parts[0] + parts[1]) @ parts[2] + parts[3]

    def clipped_sum(self, parts: list[np.ndarray], inputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Sum of the gradients, each clipped to length 1."""
        first, bias, second, _ = parts
        hidden, back = np.tanh(inputs @ first + bias), slope(self.logits(parts, inputs), labels)
        below = back @ second.T * (1 - hidden**2)
        # The gradient of a layer is an outer product, so its length is the product of two lengths.
        squares = (below**2).sum(axis=1) * ((inputs**2).sum(axis=1) + 1) + (back**2).sum(axis=1) * ((hidden**2).sum(axis=1) + 1)
        below, back = below * shrink(squares), back * shrink(squares)
        return np.concatenate([(inputs.T @ below).ravel(), below.sum(axis=0), (hidden.T @ back).ravel(), back.sum(axis=0)])


class Logistic:
    """Logistic regression on the pixels and their products with eight pixels of the middle row."""

    shapes = ((64 * 9, 10), (10,))

    def features(self, pixels: np.ndarray) -> np.ndarray:
        """The inputs of the model."""
        return np.concatenate([pixels, *(pixels * pixels[:, [32 + place]] for place in range(8))], axis=1)

    def logits(self, parts: list[np.ndarray], inputs: np.ndarray) -> np.ndarray:
        """Scores of the classes."""
        return inputs @ parts[0] + parts[1]

    def clipped_sum(self, parts: list[np.ndarray], inputs: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Sum of the gradients, each clipped to length 1."""
        back = slope(self.logits(parts, inputs), labels)
        back = back * shrink((back**2).sum(axis=1) * ((inputs**2).sum(axis=1) + 1))
        return np.concatenate([(inputs.T @ back).ravel(), back.sum(axis=0)])


MODELS = {"network": Network(), "logistic regression": Logistic()}


def slope(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Gradient of the loss by the logits."""
    back = np.exp(logits - logits.max(axis=1, keepdims=True))
    back /= back.sum(axis=1, keepdims=True)
    back[np.arange(len(labels)), labels] -= 1
    return back


def shrink(squares: np.ndarray) -> np.ndarray:
    """What clips gradients of these squared lengths to 1."""
    return np.minimum(1, 1 / np.maximum(np.sqrt(squares), 1e-12))[:, None]


def size_of(model: Network | Logistic) -> int:
    """Number of parameters."""
    return sum(int(np.prod(shape)) for shape in model.shapes)


def train(model: Network | Logistic, rate: float, steps: int, noise: float, canaries: DiracCanaries, seed: int) -> float:
    """Train on digits with canaries in the sums, and return the accuracy on the records."""
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    inputs, rng = model.features(pixels / 16), np.random.default_rng([seed, 9])
    sizes = [int(np.prod(shape)) for shape in model.shapes]
    w = np.concatenate(
        [rng.normal(size=size) / shape[0] ** 0.5 * (len(shape) > 1) for size, shape in zip(sizes, model.shapes, strict=True)]
    )

    def split() -> list[np.ndarray]:
        return [part.reshape(shape) for part, shape in zip(np.split(w, np.cumsum(sizes)[:-1]), model.shapes, strict=True)]

    noisy_sum = canaries.wrap(lambda total: total + noise * rng.normal(size=len(w)))
    for _ in range(steps):
        batch = rng.random(len(inputs)) < rate
        w = w - LEARNING * noisy_sum(model.clipped_sum(split(), inputs[batch], labels[batch])) / (rate * len(inputs))
    return float(np.mean(np.argmax(model.logits(split(), inputs), axis=1) == labels))


def ours(seeds: int, path: Path) -> None:
    """Train, bound, and keep the scores for others; what is kept already is left."""
    notes = path.with_suffix(".json")
    found = json.loads(notes.read_text()) if notes.exists() else {"bounds": {}, "accuracy": {}, "seconds": {}, "noise": {}}
    kept = dict(np.load(path)) if path.exists() else {}
    for seed in range(seeds):
        for name in MODELS:
            for setting in SETTINGS:
                for epsilon in EPSILONS:
                    if f"{name}|{setting}|{epsilon}|{seed}|scores" not in kept:
                        _bound(found, kept, (name, setting, epsilon, seed))
            # Kept after each seed, so that a run that is cut off has those before it.
            np.savez(path, **kept)
            notes.write_text(json.dumps(found))
        print(seed, found["seconds"], flush=True)


def _bound(found: dict, kept: dict, cell: tuple[str, str, int, int]) -> None:
    """Train one model, and add its bounds."""
    name, setting, epsilon, seed = cell
    model, (rate, steps), key = MODELS[name], SETTINGS[setting], f"{name}|{setting}|{epsilon}"
    noise = found["noise"].setdefault(f"{setting}|{epsilon}", None) or noise_for(epsilon, rate, steps)
    found["noise"][f"{setting}|{epsilon}"] = noise
    law = DPSGD(rate=rate, steps=steps, noise_multiplier=Fraction(noise))
    one = DiracCanaries(size_of(model), clip=1, rate=rate, canaries=CANARIES, seed=seed)
    accuracy = train(model, float(Fraction(rate)), steps, noise, one, seed)
    found["accuracy"].setdefault(key, []).append(accuracy)
    kept[f"{key}|{seed}|scores"], kept[f"{key}|{seed}|included"] = one.scores.sum(axis=0), one.included
    if rate != "1":
        kept[f"{key}|{seed}|weighted"] = combine_steps(one.scores, law)
    plain, weighted = one.audit(delta=DELTA), one.audit(delta=DELTA, law=law)
    bounds: dict[str, Callable[[], object]] = {
        "dpaudit, any mechanism": lambda: plain.epsilon,
        "dpaudit, DP-SGD": lambda: plain.within(law).epsilon,
    }
    if rate != "1":  # without sampling the sum of the scores is all that they say
        bounds["dpaudit, any mechanism, steps weighted"] = lambda: weighted.epsilon
        bounds["dpaudit, DP-SGD, steps weighted"] = lambda: weighted.within(law).epsilon
    if name == "network" and seed < FRESH_SEEDS:
        fresh = DiracCanaries(size_of(model), clip=1, rate=rate, canaries=CANARIES, fresh=True, seed=seed)
        train(model, float(Fraction(rate)), steps, noise, fresh, seed)
        bounds["dpaudit, step by step, all alike"] = lambda: audit_steps(fresh.scores, fresh.included, law=law, delta=DELTA).epsilon
    for bound, compute in bounds.items():
        begun = time.process_time()
        found["bounds"].setdefault(bound, {}).setdefault(key, []).append(float(compute()))
        took = time.process_time() - begun
        found["seconds"][bound] = round(max(took, found["seconds"].get(bound, 0.0)), 2)


def theirs(path: Path) -> None:
    """Bound the kept scores by jax_privacy, seed by seed, and write the table; goes on where it was cut off."""
    from jax_privacy.auditing import CanaryScoreAuditor

    found, kept, notes = json.loads(path.with_suffix(".json").read_text()), np.load(path), path.with_suffix(".theirs.json")
    made = json.loads(notes.read_text()) if notes.exists() else {}
    keys = [name for name in kept.files if not name.endswith("|included")]
    for key in sorted(keys, key=lambda name: int(name.split("|")[3])):
        if key in made:
            continue
        cell, _, seen = key.rpartition("|")
        scores, included = kept[key], kept[f"{cell}|included"]
        auditor = CanaryScoreAuditor(scores[included], scores[~included])
        bounds = {
            "Clopper-Pearson (Bonferroni)": auditor.epsilon_clopper_pearson,
            "one run": auditor.epsilon_one_run,
            "one run f-DP, Gaussian": auditor.epsilon_one_run_fdp,
        }
        weighted = ", steps weighted" * (seen == "weighted")
        made[key] = {f"jax_privacy, {name}{weighted}": float(bound(0.05, float(DELTA))) for name, bound in bounds.items()}
        notes.write_text(json.dumps(made))
    for key, row in made.items():
        for name, bound in row.items():
            found["bounds"].setdefault(name, {}).setdefault(key.rsplit("|", 2)[0], []).append(bound)
    write(found)


def compare(bounds: dict, suffix: str) -> str:
    """Say in how many cells and trainings the bound of dpaudit for any mechanism is at least both valid ones of jax_privacy."""
    ours = bounds[f"dpaudit, any mechanism{suffix}"]
    theirs = [bounds[f"jax_privacy, {name}{suffix}"] for name in ("Clopper-Pearson (Bonferroni)", "one run")]
    cells = [np.median(mine[: len(theirs[0][cell])]) >= max(np.median(one[cell]) for one in theirs) for cell, mine in ours.items()]
    pairs = [pair for cell, mine in ours.items() for pair in zip(mine, *(one[cell] for one in theirs), strict=False)]
    each = [mine >= max(others) for mine, *others in pairs]
    return f"{sum(cells)} of {len(cells)} medians and {sum(each)} of {len(each)} trainings"


def write(found: dict) -> None:
    """Write the medians as a table, and every bound."""
    RESULTS.joinpath("training_audit.json").write_text(json.dumps(found, indent=1) + "\n")
    seeds = max(len(bounds) for bounds in found["accuracy"].values())
    lines = [
        "# Epsilon of two models from one training",
        "",
        "`python benchmarks/training_audit.py scores.npz --seeds 20`, then `--theirs`. Digits, DP-SGD in numpy, 1,000 Dirac",
        f"gradient canaries, 95 %, delta {DELTA}. True epsilon 1, 2, 4, 8; medians of {seeds} seeds. Both libraries see the same",
        "scores. Rows for DP-SGD and for a Gaussian assume a family and independent canaries;",
        f"*step by step* also that all steps are alike, from a second training ({min(FRESH_SEEDS, seeds)} seeds). Last column:",
        "most processor seconds of one bound.",
    ]
    if any(name.startswith("jax_privacy") for name in found["bounds"]):
        lines += [
            "",
            "Bounds of dpaudit for any mechanism are at or above both of jax_privacy's for any mechanism in",
            f"{compare(found['bounds'], '')}; with weighted steps in {compare(found['bounds'], ', steps weighted')}.",
        ]
    for model, made in MODELS.items():
        lines += ["", f"| {model}: {size_of(made):,} parameters | {' | '.join(SETTINGS)} | seconds |", "|---|---|---|---|"]
        for name in sorted(found["bounds"], reverse=True):
            row = _row(found["bounds"][name], model)
            if row.strip("|-/ "):
                lines.append(f"| {name} {row} {found['seconds'].get(name, '')} |")
        lines.append(f"| accuracy on the records {_row(found['accuracy'], model)} |")
    RESULTS.joinpath("training_audit.md").write_text("\n".join([*lines, ""]))


def _row(found: dict, model: str) -> str:
    """Medians of both settings, with a dash for what was not run."""
    cells = ""
    for setting in SETTINGS:
        keys = [f"{model}|{setting}|{epsilon}" for epsilon in EPSILONS]
        cells += "| " + " / ".join(f"{np.median(found[key]):.2f}" if key in found else "-" for key in keys) + " "
    return cells + "|"


def main() -> None:
    """Run the half that is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scores", type=Path)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--theirs", action="store_true")
    asked = parser.parse_args()
    theirs(asked.scores) if asked.theirs else ours(asked.seeds, asked.scores)


if __name__ == "__main__":
    main()
