"""How often true claims are refuted: all sound mechanisms of the zoo audited together, and bets watched after every run.

    python benchmarks/error_rates.py --parts family peeking --seeds 500 --workers 2 --state FILE --output benchmarks/results

family: each seed is one audit of every sound mechanism together at alpha .05; an error is any refutation in it.
peeking: each seed is one audit of a mechanism whose claim is exactly tight on its pair; the bets hold .05, their wealth is looked
at after every run, and an error is a wealth that ever reaches 20. After Ctrl-C the same command with the same `--state` goes on.

Needs: nothing. Size: 500 audits of the family, 1,000 that are watched.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from measuring import Bar, bars_table, code_of, table, versions, write
from resuming import Found, Job, results

from dpaudit import audit
from dpaudit.auditor.statistics.bounds import clopper_pearson_upper
from dpaudit.catalogue import Specimen, specimens
from dpaudit.results import Verdict

EPSILON: Final = "1/2"
ALPHA: Final = "0.05"
TWICE_ALPHA: Final = "0.1"
"""The alpha of an audit whose bets hold .05."""

MISSED: Final = "0.01"
"""Probability that an upper limit is below the true error rate."""

CODE: Final = ("dpaudit/auditor",)
"""Where the code stands on which decisions depend."""

FAMILY_LIMIT: Final = 0.065
PEEKING_LIMIT: Final = 0.05


@lru_cache(maxsize=1)
def sound() -> tuple[Specimen, ...]:
    """The mechanisms whose claim is true."""
    return tuple(one for one in specimens(EPSILON) if not one.broken)


@lru_cache(maxsize=1)
def tight() -> tuple[Specimen, ...]:
    """Those whose pair is exactly as bad as the claim allows: the nulls that are hardest to spare."""
    return tuple(one for one in sound() if math.isclose(one.truth.epsilon, one.truth.at_epsilon, rel_tol=1e-5))


def family_of(job: Job) -> Found:
    """One audit of every sound mechanism together: which of them it refutes."""
    began = time.process_time()
    report = audit([one.target for one in sound()], alpha=ALPHA, runs=job["runs"], seed=job["seed"])
    refuted = [result.name for result in report.results if result.verdict is Verdict.REFUTED]
    return {"errors": refuted, "seconds": round(time.process_time() - began, 2)}


def peeking_of(job: Job) -> Found:
    """One audit of a tight mechanism: whether the bets ever reached their level, and how far they came."""
    began = time.process_time()
    specimen = tight()[job["seed"] % len(tight())]
    attack = audit(specimen.target, alpha=TWICE_ALPHA, runs=job["runs"], seed=job["seed"]).results[0].attack
    if attack is None:
        raise RuntimeError(f"{specimen.name} was not attacked")
    errors = [specimen.name] if attack.sequential.stopped_at is not None else []
    return {"errors": errors, "peak": attack.sequential.log10_peak, "seconds": round(time.process_time() - began, 2)}


PARTS: Final[dict[str, Callable[[Job], Found]]] = {"family": family_of, "peeking": peeking_of}


def upper_limit(errors: int, trials: int) -> float:
    """The error rate that is exceeded with a confidence of 99 % only."""
    return float(clopper_pearson_upper(errors, trials, MISSED))


def bars_of(errors: Mapping[str, Sequence[bool]]) -> list[Bar]:
    """The bars on what was measured: for each part, whether each trial ended in an error."""
    bars = []
    if family := errors.get("family"):
        bars.append(Bar("family-wise error rate, 99 % upper limit", upper_limit(sum(family), len(family)), FAMILY_LIMIT, most=True))
    if peeking := errors.get("peeking"):
        bars.append(Bar("share of tight claims refuted while watched", sum(peeking) / len(peeking), PEEKING_LIMIT, most=True))
    return bars


def row_of(part: str, runs: int, found: Sequence[Found]) -> list[str]:
    """One row of the table: trials, errors, rate, its limit, who was refuted, time."""
    errors, names = sum(bool(one["errors"]) for one in found), sorted({name for one in found for name in one["errors"]})
    return [
        part,
        f"{runs:,}",
        f"{len(found):,}",
        str(errors),
        f"{errors / len(found):.4f}",
        f"{upper_limit(errors, len(found)):.4f}",
        ", ".join(names) or "-",
        f"{sum(one['seconds'] for one in found) / len(found):.1f}",
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parts", nargs="*", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--seeds", type=int, default=500, help="audits of the family")
    parser.add_argument("--nulls", type=int, default=1000, help="audits that are watched")
    parser.add_argument("--runs", type=int, default=1000, help="of each mechanism in an audit of the family")
    parser.add_argument("--watched-runs", type=int, default=10_000, help="of an audit that is watched")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--state", type=Path, help="file to which every result is added, and from which a later start goes on")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args(arguments)
    rows, errors, record, code = [], {}, dict[str, Any](), code_of(CODE)
    for part in options.parts:
        seeds, runs = (options.seeds, options.runs) if part == "family" else (options.nulls, options.watched_runs)
        jobs: list[Job] = [{"part": part, "epsilon": EPSILON, "runs": runs, "seed": seed, "code": code} for seed in range(seeds)]
        made = results(jobs, PARTS[part], state=options.state, workers=options.workers, title=part)
        found = [{**job, **one} for job, one in zip(jobs, made, strict=True) if one is not None]
        if found:
            rows.append(row_of(part, runs, found))
            errors[part] = [bool(one["errors"]) for one in found]
            record[part] = found
    text = (
        f"Claims of the zoo at epsilon {EPSILON} that are true. family: {len(sound())} sound mechanisms audited together at alpha "
        f"{ALPHA} (Holm), an error is any refutation. peeking: {len(tight())} mechanisms whose claim is exactly tight, in turn; "
        "the bets hold .05, an error is a wealth that reaches 20 after any run. Limits are Clopper-Pearson, 99 %; seconds are "
        "processor seconds of one audit.\n\n"
        + table(["", "runs of each", "audits", "errors", "rate", "limit", "refuted", "seconds"], rows)
        + "\n"
        + bars_table(bars_of(errors))
    )
    settings: dict[str, Any] = {
        "epsilon": EPSILON,
        "alpha": ALPHA,
        "sound": [one.name for one in sound()],
        "tight": [one.name for one in tight()],
        "versions": versions(["dpaudit", "numpy", "scipy"]),
    }
    write(options.output, "error_rates", "Error rates of audits", text, settings | record)


if __name__ == "__main__":
    main()
