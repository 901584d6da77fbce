"""What floating point gives away: leaking noise is to be refuted soon, and every exact sampler to survive very many runs.

    python benchmarks/float_leaks.py --workers 2 --state state.jsonl --output benchmarks/results      1e8 runs of each sampler
    python benchmarks/float_leaks.py --runs 1000000                                                    a trial

Leaking noise claims epsilon 1/10, which it would keep with real numbers. It is audited at alpha 1/20 until the bets refute it. The
samplers are the bundled targets of `mechanisms`, at alpha 1e-6 over all of them. Where outputs are rows, their first number is
audited too; whole numbers are turned into floats, so that the columns for bits exist.

Needs: nothing. Size: 10^8 runs of each sampler, 5 seeds of each leak; a long campaign.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
from measuring import Bar, bars_table, code_of, incomplete, table, versions, write
from numpy.random import Generator
from numpy.typing import NDArray
from resuming import Found, Job, results

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor.pairs.candidates import candidate_pairs
from mechanisms.targets import choices, noise, queries

SAMPLERS: Final = {target.name: target for target in (*noise.TARGETS, *choices.TARGETS, *queries.TARGETS)}
CODE: Final = ("dpaudit/auditor", "mechanisms")
ALPHA: Final = Fraction(1, 10**6)
SCALE: Final = 10


def from_uniform(bits: int) -> Callable[[float, int, Generator], NDArray[np.float64]]:
    """Laplace noise by inversion of a uniform number of so many bits, the textbook formula and one addition."""

    def noisy(value: float, count: int, rng: Generator) -> NDArray[np.float64]:
        uniform = rng.integers(1, 2**bits, count) * 2.0**-bits - 0.5
        return np.asarray(value - SCALE * np.sign(uniform) * np.log(1 - 2 * np.abs(uniform)))

    return noisy


def of_numpy(value: float, count: int, rng: Generator) -> NDArray[np.float64]:
    """The noise of numpy."""
    return value + rng.laplace(scale=SCALE, size=count)


@dataclass(frozen=True)
class Leak:
    """Noise that leaks, whether the audit looks at bits, and the runs within which it is to be refuted."""

    sample: Callable[[float, int, Generator], NDArray[np.float64]]
    float_bits: bool
    runs: int


LEAKS: Final = {
    "inversion of 53 bits": Leak(from_uniform(53), True, 10_000_000),  # noqa: FBT003
    "numpy's Laplace": Leak(of_numpy, True, 10_000_000),  # noqa: FBT003
    **{f"inversion of {bits} bits": Leak(from_uniform(bits), False, 100_000) for bits in (10, 12, 14, 16)},  # noqa: FBT003
}


@dataclass(frozen=True)
class FirstNumber:
    """The first number of each output of a sampler as a float; whatever a mechanism promises holds for it too."""

    sample: Callable[[Any, int, Generator], Any]

    def __call__(self, data: Any, count: int, rng: Generator) -> NDArray[np.float64]:
        """So many of them."""
        return np.asarray(self.sample(data, count, rng)).reshape(count, -1)[:, 0].astype(np.float64)


def views(name: str) -> list[str]:
    """What is audited of a sampler: outputs that are rows or floats, and their first number unless that is all of them."""
    target = SAMPLERS[name]
    data = candidate_pairs(target)[0].first
    output = np.asarray(target.function(data, 1, np.random.default_rng(0)))
    plain = output.ndim == 1 and output.dtype.kind == "f"
    return ["outputs"] if plain else ["first number"] if output.ndim == 1 else ["outputs", "first number"]


def audited(job: Job) -> Found:
    """One audit: whether the claim was refuted, after how many runs of the bets, and its processor seconds."""
    if "leak" in job:
        leak = LEAKS[job["leak"]]
        claim = Claim(PureDP(Fraction(1, SCALE)))
        target = Target(sample=leak.sample, claim=claim, neighbours=[(0.0, 1.0)], float_bits=leak.float_bits, public_data=True)
    else:
        given = SAMPLERS[job["sampler"]]
        sample = FirstNumber(given.function) if job["view"] == "first number" else given.sample
        target = replace(given, sample=sample, float_bits=True, sensitivity=None, pmf=None)
    start = time.process_time()
    result = audit(target, alpha=job["alpha"], runs=job["runs"], seed=job["seed"]).results[0]
    attack = result.attack
    if attack is None:
        raise RuntimeError(f"{job}: {result.summary}")
    return {
        "refuted": result.rejected_in_family,
        "stopped": attack.sequential.stopped_at,
        "p_value": attack.p_value,
        "event": attack.event,
        "seconds": round(time.process_time() - start, 1),
    }


def leaks_report(found: dict[str, list[Found]]) -> tuple[str, list[Bar]]:
    """Runs to the refutation of leaking noise."""
    medians = {
        name: statistics.median(one["stopped"] or float("inf") if one["refuted"] else float("inf") for one in audits)
        for name, audits in found.items()
    }
    bars = [Bar(f"{name}, runs to refutation", median, LEAKS[name].runs, most=True) for name, median in medians.items()]
    cells = [
        [
            name,
            "yes" if LEAKS[name].float_bits else "no",
            f"{medians[name]:,.0f}",
            f"{LEAKS[name].runs:,}",
            f"{sum(one['refuted'] for one in audits)} of {len(audits)}",
            f"{max(one['seconds'] for one in audits):.1f}",
        ]
        for name, audits in found.items()
    ]
    return table(["noise", "bit features", "runs to refutation, median", "bar", "refuted", "seconds, most"], cells), bars


def survivors_report(found: dict[tuple[str, str], Found], runs: int) -> tuple[str, list[Bar]]:
    """Samplers that were refuted, which is none."""
    bars = [Bar(f"exact samplers refuted at {runs:,} runs", sum(one["refuted"] for one in found.values()), 0, most=True)]
    cells = [
        [name, view, "**refuted**" if one["refuted"] else "no", f"{one['p_value']:.3g}", f"{one['seconds']:.1f}"]
        for (name, view), one in found.items()
    ]
    return table(["sampler", "audited", "refuted", "p", "seconds"], cells), bars


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=100_000_000, help="for each exact sampler")
    parser.add_argument("--seeds", type=int, default=5, help="of each leaking noise; exact samplers are audited once")
    parser.add_argument("--samplers", nargs="*", default=list(SAMPLERS), help="names, all unless given")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--workers", type=int, default=1, help="processes; verdicts do not depend on it")
    parser.add_argument("--state", type=Path, help="file to which every result is added, and from which a later start goes on")
    options = parser.parse_args(arguments)
    pairs = [(name, view) for name in options.samplers for view in views(name)]
    alpha, code = str(ALPHA / max(len(pairs), 1)), code_of(CODE)
    leaks = [(name, seed) for name in LEAKS for seed in range(options.seeds)]
    jobs: list[Job] = [
        *({"leak": name, "alpha": "1/20", "runs": LEAKS[name].runs, "seed": seed, "code": code} for name, seed in leaks),
        *({"sampler": name, "view": view, "alpha": alpha, "runs": options.runs, "seed": 0, "code": code} for name, view in pairs),
    ]
    made = results(jobs, audited, state=options.state, workers=options.workers, title="float_leaks")
    leaking: dict[str, list[Found]] = {}
    for (name, _), one in zip(leaks, made[: len(leaks)], strict=True):
        leaking.setdefault(name, []).extend([] if one is None else [one])
    leaking = {name: audits for name, audits in leaking.items() if audits}
    exact = {pair: one for pair, one in zip(pairs, made[len(leaks) :], strict=True) if one is not None}
    (first, bars), (second, more) = leaks_report(leaking), survivors_report(exact, options.runs)
    text = (
        f"{incomplete(len(made) - made.count(None), len(jobs))}"
        f"Leaking Laplace noise, claim epsilon 1/{SCALE}, alpha 1/20, {options.seeds} seeds:\n\n{first}\n"
        f"Exact samplers with bit features at {options.runs:,} runs each, alpha 1e-6 over all of them:\n\n{second}\n"
        f"{bars_table([*bars, *more])}"
    )
    record = {
        "runs": options.runs,
        "versions": {**versions(("dpaudit", "numpy", "scipy")), "code": code},
        "bars": [bar.record() for bar in (*bars, *more)],
        "leaks": [{"noise": name, **one} for name, audits in leaking.items() for one in audits],
        "samplers": [{"sampler": name, "view": view, **one} for (name, view), one in exact.items()],
    }
    write(options.output, "float_leaks", "What floating point gives away", text, record)


if __name__ == "__main__":
    main()
