"""The mean of a column of your own CSV file, clamped to public bounds.

Try `dpaudit audit examples/csv_mean.py:target --data examples/visits.csv`. That file is synthetic; running this one with Python
writes it again, byte for byte.
"""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dpaudit import Sensitivity, Target
from mechanisms import LaplaceMechanism, clamp_to_lattice, source_from

# Public: longer visits count as 90 minutes, and lengths are rounded to half minutes. Never take such numbers from the file.
SHORTEST, LONGEST, STEP = 0, 90, "1/2"
# Replacing one visit moves the sum by at most 180 half minutes, so that is the sensitivity.
MECHANISM = LaplaceMechanism(sensitivity=180, epsilon=1, adjacency="replace_one")


def sum_of_minutes(records: Sequence[dict]) -> int:
    """Sum of all visits in half minutes; `clamp_to_lattice` gives empty cells a fixed value instead of an error."""
    minutes = [record.get("minutes") for record in records]
    return int(clamp_to_lattice(minutes, lower=SHORTEST, upper=LONGEST, lattice=STEP).sum())


def mean_minutes(records: Sequence[dict], count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` independent releases of the mean; under replace_one the number of visits is public and may be divided by.

    A real release is MECHANISM.release(sum_of_minutes(records)), which takes its randomness from the operating system.
    """
    return MECHANISM.releases(sum_of_minutes(records), count, source_from(rng)) / 2 / max(len(records), 1)


# Two made-up visits, which --data replaces by the records of a file.
VISITS = [{"visit": 1, "ward": "A", "minutes": 0.0}, {"visit": 2, "ward": "B", "minutes": 90.0}]

target = Target(
    sample=mean_minutes,
    claim=MECHANISM.claim,
    # What is proven of this mechanism, and looked at again in every audit.
    proof="proofs.chain#LaplaceMechanism.claim",
    data=VISITS,
    sensitivity=Sensitivity(query=sum_of_minutes, bound=180),
    name="mean_minutes",
    description="how long does a visit take?",
)


def write_visits(path: Path) -> None:
    """Write 300 made-up visits: gamma distributed lengths from numpy's generator with seed 20240229, a few cells empty."""
    rng = np.random.default_rng(20240229)
    lengths = np.round(rng.gamma(shape=2.5, scale=18.0, size=300), 1)
    wards = rng.choice(["A", "B", "C"], size=300)
    missing = rng.random(300) < 0.02
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["visit", "ward", "minutes"])
        for visit, (ward, length, absent) in enumerate(zip(wards, lengths, missing, strict=True), start=1):
            lines.writerow([visit, ward, "" if absent else length])


if __name__ == "__main__":
    write_visits(Path(__file__).with_name("visits.csv"))
