"""Release a private histogram with the mechanisms of this project, and see what it costs.

Run it with `python examples/private_histogram.py`.
"""

import numpy as np

from dpaudit.accounting import price_releases
from dpaudit.releases import recording
from mechanisms import LaplaceMechanism

# Made-up ages. The bins are public: they would be the same for any other people.
AGES = [3, 17, 22, 25, 31, 34, 35, 38, 41, 44, 47, 52, 58, 63, 64, 71, 79, 85]
EDGES = [0, 20, 40, 60, 80, 120]

# Adding or removing one person changes one count by 1: L1 sensitivity 1 for the histogram as a whole.
MECHANISM = LaplaceMechanism(sensitivity=1, epsilon=1)


def main() -> None:
    """Count, add exact noise, print what may be published, and the price computed from what really ran."""
    counts, _ = np.histogram(np.clip(AGES, EDGES[0], EDGES[-1]), bins=EDGES)
    with recording() as log:
        noisy = MECHANISM.release(counts)
    for low, high, number in zip(EDGES[:-1], EDGES[1:], noisy, strict=True):
        print(f"ages {low:3d} to {high:3d}: about {number}")
    print(MECHANISM.describe())
    print("price of everything released: epsilon =", price_releases(log).epsilon(delta=0))


if __name__ == "__main__":
    main()
