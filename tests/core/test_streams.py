"""Sources of randomness that are no argument: seeded in processes that serve audits, and left alone in programs of others."""

from __future__ import annotations

import os
import random
import secrets
import subprocess
import sys

import numpy as np

from dpaudit import audit, claim

OWN = np.random.default_rng(5)
DRAWN: list[float] = []

SERVING = """
import os, random, secrets
import numpy as np
from dpaudit.plain.streams import own_process, run_seeded

own_process()
own = np.random.default_rng(5)


def drawn():
    return random.random(), np.random.random(), own.random(), np.random.default_rng().random(), secrets.randbits(64), os.urandom(4)


once, again, other = (run_seeded(drawn, np.random.default_rng(seed), (own,)) for seed in (1, 1, 2))
assert once == again
assert all(one != two for one, two in zip(once, other))
assert os.urandom(8) != os.urandom(8)
"""


@claim(epsilon=1, data=[1, 2, 3, 4])
def noisy_count(records):
    DRAWN.append(random.random())  # noqa: S311 (as people write it)
    return len(records) + np.random.laplace() + OWN.normal() + secrets.randbelow(4)  # noqa: NPY002 (as people write it)


def test_an_audit_in_a_program_of_its_own_seeds_nothing():
    real = os.urandom
    drawn = []
    for _ in range(2):
        DRAWN.clear()
        assert not audit(noisy_count, runs=2000, seed=3).results[0].failure
        drawn.append(DRAWN[:100])
    assert drawn[0] != drawn[1]
    assert real is os.urandom


def test_in_a_process_that_serves_audits_all_of_them_repeat():
    subprocess.run([sys.executable, "-c", SERVING], check=True, timeout=60)
