"""A noisy count with half the noise it needs, and its correct twin.

Try `dpaudit audit examples/noisy_count.py:target` (refuted) and `dpaudit audit examples/noisy_count.py:corrected` (consistent).
"""

from collections.abc import Sequence

from numpy.random import Generator

from dpaudit import Claim, PureDP, Sensitivity, Target

# Made-up records; the auditor removes one of them at a time to make neighbouring datasets.
RECORDS = [{"age": 20 + 7 * person % 60, "ill": int(person % 3 == 0)} for person in range(20)]


def count_ill(records: Sequence[dict]) -> int:
    """How many people are ill: adding or removing one of them changes this by at most 1."""
    return sum(record["ill"] == 1 for record in records)


def half_noise(records: Sequence[dict], rng: Generator) -> float:
    """The count with Laplace noise of scale 1/2. At sensitivity 1 that is epsilon = 1 / (1/2) = 2, not the 1 it claims."""
    return count_ill(records) + rng.laplace(scale=0.5)


def enough_noise(records: Sequence[dict], rng: Generator) -> float:
    """The count with Laplace noise of scale sensitivity / epsilon = 1.

    An audit of this size cannot see the last bits of a float, where numpy's noise still leaks; release with
    mechanisms.LaplaceMechanism, as in private_histogram.py.
    """
    return count_ill(records) + rng.laplace(scale=1.0)


claim = Claim(PureDP(epsilon=1), adjacency="add_remove")
count = Sensitivity(query=count_ill, bound=1)
target = Target(run=half_noise, claim=claim, data=RECORDS, sensitivity=count, public_data=True)
corrected = Target(run=enough_noise, claim=claim, data=RECORDS, sensitivity=count, public_data=True)
