"""Sizes of the one-event bounds at 240 runs, by exact enumeration of every outcome; the suite does the same at 40 runs.

Needs: nothing. Size: every outcome of 240 runs.
"""

import math
import time

import numpy as np
from scipy.stats import binom

from dpaudit.auditor.statistics.bounds import epsilon_lower_bound
from dpaudit.results import Counts

RUNS = 240
ALPHA = "0.05"
POINTS = ((0.0, 0.0), (0.1, 0.0), (1.0, 0.0), (2.0, 0.0), (0.1, 0.01), (1.0, 0.01), (1.0, 0.05), (1.0, 0.2), (2.0, 0.1))
RARE = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)


def main() -> None:
    """Print the largest size over boundary nulls for each claim point."""
    counts = [(ones, zeros) for ones in range(RUNS + 1) for zeros in range(RUNS + 1 - ones)]
    ones, zeros = np.array(counts).T
    print(f"{RUNS} runs, nominal {ALPHA}, largest size over Q(S) in {RARE}")
    for epsilon, delta in POINTS:
        start = time.perf_counter()
        bounds = [epsilon_lower_bound(Counts(one, zero, RUNS), delta=delta, alpha=ALPHA) for one, zero in counts]
        rejected = np.array([bound is not None and bound >= epsilon for bound in bounds])
        sizes = {}
        for rare in RARE:
            often = math.exp(epsilon) * rare + delta
            if often <= 1:
                mass = (often + rare) / 2
                theta = often / (often + rare) if mass else 0.5
                chance = binom.pmf(ones + zeros, RUNS, mass) * binom.pmf(ones, ones + zeros, theta)
                sizes[rare] = float(chance @ rejected)
        worst = max(sizes, key=lambda rare: sizes[rare])
        seconds = time.perf_counter() - start
        print(f"epsilon {epsilon:<4} delta {delta:<5} size {sizes[worst]:.4f} at Q(S) = {worst:<6} ({seconds:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
