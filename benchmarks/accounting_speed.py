"""Processor time of further questions, of many different laws, and of calibration, beside dp-accounting's distributions.

    python benchmarks/accounting_speed.py [--dp-accounting PYTHON] [--repeats 3] [--output benchmarks/results]

Every job runs in a new process with all imports done before its clock starts, ours and the peer's in turn; the least processor time
of several counts, which other programs on the machine hardly move. A further question is one of 50 at neighbouring epsilons, all
different from each other and from the first. The peer computes on its default grid of 1e-4 and gives one number, not an interval.

Needs: a Python with dp-accounting, optional. Size: 22 jobs of up to a few seconds, three times.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]

PATIENCE: Final = 30
"""Seconds of processor time after which a job is given up."""

FURTHER: Final = 50
"""Further questions to each loss."""

FORTY: Final = [(Fraction(4 + index, 400), Fraction(80 + 3 * index, 100)) for index in range(40)]
"""Rate and noise multiplier of forty sampled Gaussians, 25 steps each."""

SETTINGS: Final = (("0.01", 1000), ("0.004", 15_000), ("0.001", 60_000), ("0.01", 100_000))
"""Sampling rate and steps of four runs of DP-SGD."""


@dataclass(frozen=True)
class Object:
    """Something composed: text of our loss in terms of `dpaudit.accounting`, an epsilon, and the peer's event where it has one."""

    name: str
    loss: str
    epsilon: str
    peer: str | None = None


OBJECTS: Final = (
    Object(
        "10^4 sampled Gaussian, q .01, sigma .8", "10**4 * gaussian(sigma='0.8').sampled(Poisson('0.01'))", "12",
        "repeated(PoissonSampledDpEvent(0.01, GaussianDpEvent(0.8)), 10**4)",
    ),
    Object(
        "60,000 sampled Gaussian, q .001, sigma 1.1", "60_000 * gaussian(sigma='1.1').sampled(Poisson('0.001'))", "1",
        "repeated(PoissonSampledDpEvent(0.001, GaussianDpEvent(1.1)), 60_000)",
    ),
    Object("500 Laplace, scale 1", "500 * laplace(scale=1)", "300", "repeated(LaplaceDpEvent(1.0), 500)"),
    Object(
        "100 mixtures of four Gaussians",
        "100 * gaussian_mixture(sigma=2, sensitivities=[0, 1, 2, 5], weights=['9/10', '1/20', '3/100', '1/50'])", "2",
        "repeated(MixtureOfGaussiansDpEvent(2.0, [0.0, 1.0, 2.0, 5.0], [0.9, 0.05, 0.03, 0.02]), 100)",
    ),
    Object("1,000 sampled Gaussian, user of 2", "1000 * gaussian(sigma=1).sampled(Poisson('0.01')).user(records=2)", "5"),
    Object("200 sampled Gaussian, user of 32", "200 * gaussian(sigma=4).sampled(Poisson('0.01')).user(records=32)", "8"),
    Object(
        "1,000 sampled Gaussian, replace-one",
        "1000 * gaussian(sigma=1).sampled(Poisson('0.01')).under('replace_one')", "2",
    ),
    Object(
        "64 bands of 2,000 steps, q 1/4",
        "matrix_mechanism(toeplitz(prefix_root(bands=64), steps=2000), noise_multiplier=4, "
        "participation=CyclicPoisson(rate='1/4', bands=64))", "1",
    ),
    Object("10^9 pure 1e-5", "10**9 * pure_dp('1e-5')", "1"),
    Object(
        "truncated batches, 1,000 steps",
        "1000 * gaussian(sigma=1).sampled(TruncatedPoisson(rate='1/100', cap=20, records=1000))", "3",
        "repeated(TruncatedSubsampledGaussianDpEvent(1000, 0.01, 20, 1.0), 1000)",
    ),
    Object(
        "4 Gaussian and one pure on one sample",
        "compose(4 * gaussian(sigma=2), pure_dp('1/2')).sampled(Poisson('1/10'), together=True)", "1/4",
    ),
    Object("one of 3 slots, sigma 1/2", "gaussian(sigma='1/2').sampled(RandomAllocation(3))", "2"),
)  # fmt: skip


def forty(kind: str) -> Any:
    """A composition of forty different laws."""
    from dpaudit.accounting import Poisson, compose, discrete_laplace, gaussian, laplace, pure_dp, randomized_response

    if kind == "sampled":
        return compose(*(25 * gaussian(sigma=sigma).sampled(Poisson(rate)) for rate, sigma in FORTY))
    makers: list[Callable[[int], Any]] = [
        lambda index: gaussian(sigma=10 + index), lambda index: laplace(scale=20 + index),
        lambda index: discrete_laplace(scale=30 + index, sensitivity=2), lambda index: pure_dp(Fraction(1, 20 + index)),
        lambda index: randomized_response(Fraction(1, 20 + index), categories=3, adjacency="add_remove"),
    ]  # fmt: skip
    return compose(*(makers[index % len(makers)](index) for index in range(40)))


def ours(job: str) -> dict[str, Any]:
    """One of our jobs: processor seconds of the first answer and of each further one, or of a calibration."""
    from dpaudit import accounting
    from dpaudit.accounting.budgets import calibration
    from dpaudit.accounting.engines import estimates, evaluate  # noqa: F401 - before the clock starts

    kind, _, name = job.partition(":")
    names = {name: getattr(accounting, name) for name in accounting.__all__}
    if kind == "calibrate":
        rate, steps = SETTINGS[int(name)]
        begin = time.process_time()
        found = calibration.calibrate(
            lambda sigma: steps * accounting.gaussian(sigma=sigma).sampled(accounting.Poisson(rate)), epsilon=2, delta="1e-6"
        )
        return {"first": time.process_time() - begin, "answer": float(found.parameter), "narrow": found.tight}
    if kind == "forty":
        epsilon, begin = Fraction(2), time.process_time()
        loss = forty(name)
    else:
        asked = OBJECTS[int(name)]
        epsilon, begin = Fraction(asked.epsilon), time.process_time()
        loss = eval(asked.loss, names)  # noqa: S307 - texts above
    answers, times = [], []
    for index in range(FURTHER + 1):
        answers.append(loss.delta(epsilon=epsilon * (1 + Fraction(index, 1000))))
        times.append(time.process_time() - begin)
        begin = time.process_time()
    width = max(float((answer.upper - answer.lower) / answer.upper) for answer in answers)
    return {"first": times[0], "further": sorted(times[1:]), "answer": float(answers[0].upper), "width": width}


def peers(job: str) -> dict[str, Any]:
    """The same by dp-accounting's distributions, in the Python that has it."""
    from dp_accounting import dp_event, mechanism_calibration
    from dp_accounting.pld import PLDAccountant

    kind, _, name = job.partition(":")
    events = {entry: getattr(dp_event, entry) for entry in dir(dp_event) if entry.endswith("DpEvent")}
    repeated = dp_event.SelfComposedDpEvent
    if kind == "calibrate":
        rate, steps = SETTINGS[int(name)]
        begin = time.process_time()
        found = mechanism_calibration.calibrate_dp_mechanism(
            PLDAccountant,
            lambda sigma: repeated(events["PoissonSampledDpEvent"](float(rate), events["GaussianDpEvent"](sigma)), steps),
            2.0, 1e-6, mechanism_calibration.ExplicitBracketInterval(0.3, 30.0), tol=1e-6,
        )  # fmt: skip
        return {"first": time.process_time() - begin, "answer": found}
    begin = time.process_time()
    if kind == "forty":
        epsilon = 2.0
        sampled = [
            repeated(events["PoissonSampledDpEvent"](float(rate), events["GaussianDpEvent"](float(sigma))), 25)
            for rate, sigma in FORTY
        ]
        event = dp_event.ComposedDpEvent(sampled)
    else:
        asked = OBJECTS[int(name)]
        epsilon = float(Fraction(asked.epsilon))
        event = eval(str(asked.peer), {"repeated": repeated, **events})  # noqa: S307 - texts above
    accountant, times, answers = PLDAccountant(), [], []
    accountant.compose(event)
    for index in range(FURTHER + 1):
        answers.append(accountant.get_delta(epsilon * (1 + index / 1000)))
        times.append(time.process_time() - begin)
        begin = time.process_time()
    return {"first": times[0], "further": sorted(times[1:]), "answer": answers[0]}


def jobs() -> list[tuple[str, str, bool]]:
    """Every job with its name in the table, and whether the peer has it."""
    found = [(f"object:{place}", one.name, one.peer is not None) for place, one in enumerate(OBJECTS)]
    found += [("forty:sampled", "40 different sampled Gaussians", True), ("forty:laws", "40 different laws", False)]
    return [*found, *((f"calibrate:{place}", f"{steps:,} steps at q {rate}", True) for place, (rate, steps) in enumerate(SETTINGS))]


def measure(python: str, side: str, job: str) -> dict[str, Any] | None:
    """One job in a process of its own, on one thread; None where it takes too long."""
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [python, str(Path(__file__).resolve()), "--job", side, job]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, **single})
    if done.returncode == -signal.SIGXCPU:
        return None
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def best(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The least time of the first answer, and of the further ones at each place of their order."""
    found = {**runs[0], "first": min(run["first"] for run in runs)}
    if "further" in runs[0]:
        places = [min(column) for column in zip(*(run["further"] for run in runs), strict=True)]
        found |= {"mean": sum(places) / len(places), "longest": places[-1]}
        del found["further"]
    return found


def main() -> int:
    """Measure, print, and write the results if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--job", nargs=2, metavar=("SIDE", "NAME"), help=argparse.SUPPRESS)
    parser.add_argument("--dp-accounting", metavar="PYTHON", help="a Python that has dp-accounting")
    parser.add_argument("--repeats", type=int, default=3, help="repeats in turn, of which the best counts")
    parser.add_argument("--output", type=Path, help="folder for accounting_speed.md and accounting_speed.json")
    options = parser.parse_args()
    if options.job:
        warnings.simplefilter("ignore")
        resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE + 5))
        print(json.dumps({"ours": ours, "peer": peers}[options.job[0]](options.job[1])))
        return 0
    from measuring import Bar, bars_table, table, versions, write

    rows, record, shown = [], [], {}
    for job, name, has_peer in jobs():
        sides = {"ours": sys.executable, **({"peer": options.dp_accounting} if has_peer and options.dp_accounting else {})}
        runs: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
        for _ in range(options.repeats):
            for side, python in sides.items():
                if (run := measure(python, side, job)) is not None:
                    runs[side].append(run)
        found = {side: best(known) for side, known in runs.items() if known}
        record.append({"job": name, **found})
        shown[job] = found["ours"]
        mine, other = found["ours"], found.get("peer")
        ratio = "-" if other is None else f"{other['first'] / mine['first']:.2f}"
        further = [f"{mine[one] * 1e3:.2f}" if one in mine else "-" for one in ("mean", "longest")]
        peer = ["-", "-"] if other is None else [f"{other['first']:.3f}", f"{other['mean'] * 1e3:.2f}" if "mean" in other else "-"]
        rows.append([name, f"{mine['first']:.3f}", *further, *peer, ratio, f"{mine['width']:.0e}" if "width" in mine else "-"])
        print(*rows[-1], sep=" | ", flush=True)
    head = ["job", "s, first", "ms, further", "ms, longest", "peer, s, first", "peer, ms, further", "times as fast", "width"]
    objects = [shown[f"object:{place}"] for place in range(len(OBJECTS))]
    bars = [
        Bar("further question of the slowest object, mean of 50, ms", max(one["mean"] for one in objects) * 1e3, 5, most=True),
        Bar("longest further question of all, ms", max(one["longest"] for one in objects) * 1e3, 5, most=True),
        Bar("40 different laws, first answer, s", shown["forty:laws"]["first"], 0.5, most=True),
        Bar("40 different sampled Gaussians, first answer, s", shown["forty:sampled"]["first"], 2, most=True),
        Bar("40 different sampled Gaussians, further question, ms", shown["forty:sampled"]["mean"] * 1e3, 5, most=True),
        Bar("slowest of four calibrations, s", max(shown[f"calibrate:{place}"]["first"] for place in range(4)), 1, most=True),
    ]
    text = (
        f"Processor time on one thread, the least of {options.repeats} new processes, none beyond {PATIENCE} s. The peer is\n"
        "dp-accounting's `PLDAccountant` with its defaults. Of 50 further questions the mean and the longest; of a calibration\n"
        "the whole; width is that of the widest interval for delta, relative: one is that of a class, between two laws.\n\n"
        f"{table(head, rows)}\n## Bars\n\n{bars_table(bars)}"
    )
    found = versions(("numpy", "python-flint"))
    write(options.output, "accounting_speed", "Accounting: further questions, many laws, calibration", text,
          {"versions": found, "jobs": record, "bars": [bar.record() for bar in bars]})  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
