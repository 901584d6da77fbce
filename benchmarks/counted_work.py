"""Work that is counted and not timed: random bits, ball operations, transforms, questions to solvers, runs, in fixed jobs.

    python benchmarks/counted_work.py [--quick]                        beside the counts that are committed
    python benchmarks/counted_work.py --output benchmarks/results      writes them anew

Counts are the same on every machine with the locked versions, and on a busy one, so that they can be compared where times cannot: a
job that needs a tenth more or less of anything than is committed is told, and ends the program with 1. Jobs are done in one
process in a fixed order, since what one of them computes the next ones may find. How it is counted is in counting.py.

A draw is one noisy number that a release gives (a choice counts as one); bits are those that the source was asked for, however many
at a time. Balls and rationals are operations and calls on python-flint's values in our own sources. Points are those of all
transforms. Questions are those to z3 (with its own count of steps) and to cvc5.

Needs: nothing. Size: every job once, with fixed seeds.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

from counting import COUNTS, install, replace_everywhere  # noqa: E402
from measuring import table, versions, write  # noqa: E402

BASELINE: Final = ROOT / "benchmarks" / "results" / "counted_work.json"
TOLERANCE: Final = 0.1
RENEW: Final = "If the change is meant, `python benchmarks/counted_work.py --output benchmarks/results` writes the counts anew."
QUICK_PROGRAMS: Final = ("laplace_mechanism", "partial_sum", "bad_partial_sum", "randomised_response")
COLUMNS: Final = ("draws", "requests", "bits", "balls", "rationals", "points", "z3", "z3 steps", "cvc5", "runs")

Work = Callable[[], object]


@dataclass(frozen=True)
class Job:
    """Something to do, by a name that says what; the quick ones are done by the test suite too."""

    name: str
    work: Work
    quick: bool = True


def counted(job: Job) -> dict[str, int]:
    """What one job needs."""
    from dpaudit.releases import recording

    before = COUNTS.copy()
    with recording() as log:
        job.work()
    COUNTS["draws"] += sum(release.count * release.dimension for release in log)
    return {name: COUNTS[name] - before[name] for name in COLUMNS if COUNTS[name] > before[name]}


def watch() -> None:
    """Count what happens outside of our own arithmetic, from now on."""
    import z3  # type: ignore[import-untyped]

    from dpaudit.accounting.model import transform
    from dpaudit.verifier.solving.child import Child
    from mechanisms.sampling import keystream

    check, ask = z3.Solver.check, Child.ask

    def words(original: Any, stream: Any, bits: int, size: int) -> Any:
        COUNTS.update({"requests": 1, "bits": bits * size})
        return original(stream, bits, size)

    def number(original: Any, stream: Any, count: int) -> Any:
        COUNTS.update({"requests": 1, "bits": count})
        return original(stream, count)

    def transformed(original: Any, values: Any) -> Any:
        COUNTS["points"] += values[0].size
        return original(values)

    def checked(solver: Any, *assumptions: Any) -> Any:
        start = _steps(solver)
        found = check(solver, *assumptions)
        COUNTS.update({"z3": 1, "z3 steps": _steps(solver) - start})
        return found

    def asked(child: Any, text: str, seconds: float) -> Any:
        COUNTS["cvc5"] += 1
        return ask(child, text, seconds)

    for module, name, made in ((keystream, "words", words), (keystream, "number", number), (transform, "transform", transformed)):
        replace_everywhere(module, name, lambda original, made=made: partial(made, original))
    z3.Solver.check, Child.ask = checked, asked  # type: ignore[method-assign]


def _steps(solver: Any) -> int:
    """How many steps z3 says it has made in the context of a solver."""
    found = solver.statistics()
    return int(found.get_key_value("rlimit count")) if "rlimit count" in found.keys() else 0  # noqa: SIM118 - no mapping


def jobs() -> Iterator[Job]:
    """All jobs, the quick ones first."""
    listed = [*releases(), *prices(), *proofs(), *fits(), *audits()]
    yield from sorted(listed, key=lambda job: not job.quick)


def releases() -> Iterator[Job]:
    """A thousand releases of each mechanism."""
    import numpy as np

    import mechanisms as m

    scores, rows, people = [0, 1, 2, 3, 5, 8], np.ones((8, 4)) / 4, [number % 4 for number in range(200)]
    made: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "LaplaceMechanism": (m.LaplaceMechanism(sensitivity=1, epsilon="1/2"), (42,)),
        "GaussianMechanism": (m.GaussianMechanism(sensitivity=1, sigma=10), (42,)),
        "GaussianMechanism, sigma 10^6/3": (m.GaussianMechanism(sensitivity=1, sigma="1000000/3"), (42,)),
        "DiscreteGaussianMechanism": (m.DiscreteGaussianMechanism(sensitivity=1, sigma=10), (42,)),
        "RealLaplaceMechanism": (m.RealLaplaceMechanism(sensitivity="0.1", epsilon="1/2"), (0.5,)),
        "RealGaussianMechanism": (m.RealGaussianMechanism(sensitivity="0.3", noise_multiplier=2), (0.5,)),
        "AdditiveMechanism, staircase": (m.AdditiveMechanism(m.Staircase(sensitivity=4, epsilon=1), sensitivity=4), (42,)),
        "EuclideanMechanism": (m.EuclideanMechanism(sensitivity=2, epsilon="1/2"), (np.array([5, 6, 7]),)),
        "VectorMechanism": (m.VectorMechanism(norm_bound=1, noise_multiplier=2), (rows,)),
        "RandomizedResponse": (m.RandomizedResponse(epsilon=1, categories=3), (2,)),
        "ExponentialMechanism": (m.ExponentialMechanism(sensitivity=1, epsilon=1), (scores,)),
        "PermuteAndFlip": (m.PermuteAndFlip(sensitivity=1, epsilon=1), (scores,)),
        "NoisyMax": (m.NoisyMax(sensitivity=1, epsilon="1/2"), (scores,)),
        "TopK": (m.TopK(k=2, sensitivity=1, epsilon=4), (scores,)),
        "AboveThreshold": (m.AboveThreshold(sensitivity=1, epsilon=2), (5, scores)),
        "SparseVector": (m.SparseVector(sensitivity=1, epsilon=2, cutoff=2), (5, scores)),
        "HistogramMechanism": (m.HistogramMechanism(range(4), epsilon=1), (people,)),
        "StabilityHistogram": (m.StabilityHistogram(epsilon=1, delta="1e-6"), (people,)),
        "PartitionSelection": (m.PartitionSelection(epsilon=1, delta="1e-6"), (people,)),
    }
    for name, (mechanism, values) in made.items():
        yield Job(name, partial(_released, mechanism, values))


def _released(mechanism: Any, values: tuple[Any, ...]) -> None:
    """A thousand releases, from a stream of their own."""
    import numpy as np

    from mechanisms import source_from

    mechanism.releases(*values, 1000, source=source_from(np.random.default_rng(1)))


def prices() -> Iterator[Job]:
    """Prices of compositions and least noises, all certified."""
    from dpaudit import accounting as a

    poisson = a.Poisson("0.01")
    losses: dict[str, tuple[Any, bool]] = {
        "1,000 Gaussian": (1000 * a.gaussian(sigma=50), True),
        "2,000 Laplace": (2000 * a.laplace(scale=100), True),
        "20 Gaussian and 300 Laplace": (a.compose(20 * a.gaussian(sigma=30), 300 * a.laplace(scale=40)), True),
        "10 discrete Gaussian": (10 * a.discrete_gaussian(sigma=5), True),
        "100 noisy choices": (100 * a.bounded_range(epsilon="1/20"), True),
        "1,000 sampled Gaussian": (1000 * a.gaussian(sigma="0.8").sampled(poisson), True),
        "10^4 sampled Gaussian": (10**4 * a.gaussian(sigma="0.8").sampled(poisson), False),
        "60,000 sampled Gaussian": (60_000 * a.gaussian(sigma="1.1").sampled(a.Poisson("0.001")), False),
    }
    for name, (loss, quick) in losses.items():
        yield Job(f"epsilon of {name}", lambda loss=loss: loss.epsilon(delta="1e-6"), quick)
        yield Job(f"delta of {name}", lambda loss=loss: loss.delta(epsilon=1), quick)
    noises: dict[str, tuple[Any, bool]] = {
        "100 Gaussian": (lambda sigma: 100 * a.gaussian(sigma=sigma), True),
        "2 discrete Laplace": (lambda scale: 2 * a.discrete_laplace(scale=scale), True),
        "2,000 Laplace": (lambda scale: 2000 * a.laplace(scale=scale), False),
    }
    for name, (made, quick) in noises.items():
        ends = {"low": 1, "high": 1000}
        yield Job(f"least noise of {name}", lambda made=made, ends=ends: a.calibrate(made, epsilon=1, delta="1e-6", **ends), quick)


def proofs() -> Iterator[Job]:
    """Programs of the verifier's suite."""
    from dpaudit.catalogue import PROGRAMS
    from dpaudit.verifier import verify

    for case in PROGRAMS:
        name = case.program.__name__
        yield Job(f"verify {name}", partial(verify, case.program), name in QUICK_PROGRAMS)


def fits() -> Iterator[Job]:
    """Fits of learners to generated records."""
    import numpy as np

    import learners as ls

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 20))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = (rows[:, 0] > 0).astype(np.int64)
    pure: dict[str, Any] = {"epsilon": 1, "classes": [0, 1], "random_state": 1}
    usual = {**pure, "delta": "1e-6", "feature_norm": 1}
    made = {
        "PrivateClassifier": ls.PrivateClassifier(**usual),
        "MarginClassifier": ls.MarginClassifier(**usual, margin="1/5"),
        "HalfspaceClassifier": ls.HalfspaceClassifier(**pure, delta="1e-6", margin="1/5"),
        "PureMarginClassifier": ls.PureMarginClassifier(**pure, feature_norm=1, candidates=256),
        "GaussianProcessRelease": ls.GaussianProcessRelease(**usual),
        "ObjectivePerturbation": ls.ObjectivePerturbation(**pure, feature_norm=1),
    }
    for name, model in made.items():
        width = 4 if name == "GaussianProcessRelease" else 20
        yield Job(f"fit of {name}", lambda model=model, width=width: model.fit(rows[:, :width], labels))


def audits() -> Iterator[Job]:
    """Audits of a true and of a false claim."""
    from dpaudit import Claim, PureDP, Target, audit
    from mechanisms import LaplaceMechanism, source_from

    mechanism = LaplaceMechanism(sensitivity=1, epsilon=1)

    def noisy(value: int, count: int, rng: Any) -> Any:
        COUNTS["runs"] += count
        return mechanism.releases(value, count, source_from(rng))

    for name, epsilon in (("true", "1"), ("false", "1/2")):
        claim = Claim(PureDP(epsilon=epsilon))
        target = Target(sample=noisy, claim=claim, neighbours=[(0, 1)], name=f"a {name} claim", public_data=True)
        yield Job(f"audit of a {name} claim", lambda target=target: audit(target, alpha=0.05, runs=20_000, seed=7))


def differences(baseline: Mapping[str, Mapping[str, int]], found: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Each count that is further from the committed one than allowed, in words; jobs that are found alone are compared."""
    lines = []
    for name, counts in found.items():
        known = baseline.get(name)
        if known is None:
            lines.append(f"{name} is new")
            continue
        for what in (what for what in COLUMNS if what in known or what in counts):
            before, now = known.get(what, 0), counts.get(what, 0)
            if abs(now - before) > TOLERANCE * before:
                lines.append(f"{name}: {now:,} {what}, committed are {before:,}")
    return lines


def committed() -> dict[str, dict[str, int]]:
    """The counts that are committed, by job."""
    return {row["job"]: row["counts"] for row in json.loads(BASELINE.read_text(encoding="utf-8"))["jobs"]}


def main() -> int:
    """Count, print, and compare or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="only the jobs that the test suite does too")
    parser.add_argument("--output", type=Path, help="folder for counted_work.md and counted_work.json")
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets decides what is looked at first
        variables = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
        os.execve(sys.executable, [sys.executable, *sys.argv], variables)  # noqa: S606 - this program again
    # A program to be proven must be what its source says, and so must stay as it is.
    install("dpaudit", "mechanisms", "learners", spare=("dpaudit.catalogue", "dpaudit.verifier"))
    watch()
    found = {job.name: counted(job) for job in jobs() if job.quick or not options.quick}
    body = [[name, *(f"{counts[what]:,}" if what in counts else "" for what in COLUMNS)] for name, counts in found.items()]
    used = versions(("cvc5", "numpy", "python-flint", "z3-solver"))
    record = {"versions": used, "jobs": [{"job": name, "counts": counts} for name, counts in found.items()]}
    write(options.output, "counted_work", "Counted work", table(["job", *COLUMNS], body), record)
    if options.output is not None:
        return 0
    lines = differences(committed(), found)
    sys.stdout.write("\n".join(["", *lines, RENEW if lines else "Every count is within a tenth of the committed one.", ""]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
