"""How close the auditor comes to the truth where the pair is not given: candidates are searched within the same runs.

python benchmarks/search.py --workers 2 --state state.jsonl --output benchmarks/results

The rows of auditing.py whose bar is above 1/20. Each specimen gets at most 16 candidate pairs, made from a vector of ones under its
adjacency or drawn by `neighbours`; nothing says which of them the published figures are of. A median has to reach 9/10 of the bar.

Needs: nothing. Size: 20 seeds a row, each an audit of 10^7 runs; a long campaign.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from auditing import ALPHA, CODE, GENEROUS, ROWS, Row
from hypothesis import strategies as st
from measuring import Bar, bars_table, code_of, table, versions, write
from resuming import Found, Job, results

from dpaudit import Claim, PureDP, audit
from dpaudit.auditor import neighbours
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.catalogue import specimens
from dpaudit.catalogue.responses import BITS, HASHES

if TYPE_CHECKING:
    from dpaudit.targets import Target

EPSILON: Final = "1/10"
LEAST_BAR: Final = 0.05
SHARE: Final = 0.9
SECONDS: Final = 60.0
SEARCHED: Final = tuple(row for row in ROWS if row.bar > LEAST_BAR)

_MOST: Final = 5


@dataclass(frozen=True)
class Measured:
    """The bounds of one row by seed, how many pairs there were and which were chosen, and the processor time of one audit."""

    row: Row
    bounds: tuple[float, ...]
    chosen: tuple[int, ...]
    seconds: float

    @property
    def share(self) -> float:
        """Median of the bounds over the bar of a given pair."""
        return statistics.median(self.bounds) / self.row.bar

    def cells(self) -> list[str]:
        """The columns of the table."""
        pairs = candidate_pairs(unpaired(self.row.specimen))
        place, times = Counter(self.chosen).most_common(1)[0]
        often = f"{pairs[place].first} and {pairs[place].second}, {times} of {len(self.chosen)}"
        met = "" if self.share >= SHARE and self.seconds <= SECONDS else "**not met**"
        bounds = [f"{self.row.bar:.4g}", f"{statistics.median(self.bounds):.4g}", f"{self.share:.2f}", met]
        return [self.row.specimen, str(len(pairs)), *bounds, often, f"{self.seconds:.1f}"]


def unpaired(name: str) -> Target:
    """A specimen without its pair, under a claim that is not refuted."""
    specimen = next(one for one in specimens(EPSILON) if one.name == name)
    adjacency, first = specimen.target.adjacency, specimen.target.neighbours[0][0]
    target = replace(specimen.target, claim=Claim(PureDP(GENEROUS), adjacency=adjacency))
    if isinstance(first, int):
        numbers = neighbours(st.integers(0, _MOST), adjacency, max_size=1).map(lambda pair: (pair[0][0], pair[1][0]))
        return replace(target, neighbours=numbers.filter(lambda pair: min(pair) >= 0 and max(pair) <= _MOST))
    if adjacency.kind == "replace_one":
        bits = st.sets(st.integers(0, BITS - 1), min_size=HASHES, max_size=HASHES).map(lambda places: tuple(sorted(places)))
        return replace(target, neighbours=neighbours(bits, adjacency, max_size=1))
    return replace(target, neighbours=None, data=(1,) * len(first))


def audited(job: Job) -> Found:
    """One audit; a bound below 0 counts as 0, which is known without any run."""
    began = time.process_time()
    attack = audit(unpaired(job["specimen"]), alpha=ALPHA, runs=job["runs"], seed=job["seed"]).results[0].attack
    if attack is None or attack.bound is None or attack.bound.epsilon is None:
        return {"bound": 0.0, "chosen": 0, "seconds": round(time.process_time() - began, 2)}
    bound, chosen = max(0.0, float(attack.bound.epsilon)), attack.pair.index
    return {"bound": bound, "chosen": chosen, "seconds": round(time.process_time() - began, 2)}


def measured(
    rows: Sequence[Row], runs: int, seeds: Sequence[int], *, workers: int = 1, state: Path | None = None
) -> list[Measured]:
    """Every row, as far as it was done; the cheapest audits are made first."""
    fixed = {"search": EPSILON, "alpha": ALPHA, "runs": runs, "code": code_of(CODE)}
    order = sorted(rows, key=lambda row: row.cost)
    jobs: list[Job] = [{**fixed, "specimen": row.specimen, "seed": seed} for row in order for seed in seeds]
    made = results(jobs, audited, state=state, workers=workers, title="search")
    found: dict[str, list[Found]] = {row.specimen: [] for row in rows}
    for job, one in zip(jobs, made, strict=True):
        found[job["specimen"]] += [] if one is None else [one]
    return [
        Measured(
            row,
            tuple(one["bound"] for one in found[row.specimen]),
            tuple(one["chosen"] for one in found[row.specimen]),
            statistics.median(one["seconds"] for one in found[row.specimen]),
        )
        for row in rows
        if found[row.specimen]
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and, if asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", nargs="*", help="specimens, all unless given")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=10_000_000)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--workers", type=int, default=1, help="processes; the bounds do not depend on it")
    parser.add_argument("--state", type=Path, help="file to which every bound is added, and from which a later start goes on")
    options = parser.parse_args(arguments)
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    rows = [row for row in SEARCHED if options.rows is None or row.specimen in options.rows]
    found = measured(rows, options.runs, seeds, workers=options.workers, state=options.state)
    bars = [Bar(f"{one.row.specimen}, share of the bar", one.share, SHARE) for one in found]
    bars += [Bar(f"{one.row.specimen}, seconds", one.seconds, SECONDS, most=True) for one in found]
    head = ["mechanism", "pairs", "bar, pair given", "ours, median", "share", "", "chosen most often", "seconds"]
    text = (
        f"Bounds of 90 % confidence, mechanisms of epsilon {EPSILON}, {options.runs:,} runs in all, {options.seeds} seeds from "
        f"{options.first_seed}, the pair searched among candidates within these runs; median processor seconds of one audit.\n\n"
        f"{table(head, [one.cells() for one in found])}\n{bars_table(bars)}"
    )
    record = {
        "seeds": list(seeds),
        "runs": options.runs,
        "versions": {**versions(("dpaudit", "numpy", "scipy", "hypothesis")), "code": code_of(CODE)},
        "bars": [bar.record() for bar in bars],
        "rows": [
            {"specimen": one.row.specimen, "bounds": one.bounds, "chosen": one.chosen, "seconds": one.seconds} for one in found
        ],
    }
    write(options.output, "search", "Bounds where the pair is searched", text, record)


if __name__ == "__main__":
    main()
