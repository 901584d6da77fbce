"""Sources of randomness that are no argument: seeded in processes that serve audits, and left alone in programs of others."""

from __future__ import annotations

import subprocess
import sys

import pytest

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

OF_SOMEBODY_ELSE = """
import os, random
import numpy as np
from dpaudit import audit, claim

drawn, real = [], os.urandom


@claim(epsilon=1, data=[1, 2, 3, 4])
def noisy_count(records):
    drawn.append(random.random())
    return len(records) + np.random.laplace()


def first_draws():
    drawn.clear()
    assert not audit(noisy_count, runs=2000, seed=3).results[0].failure
    return drawn[:100]


assert first_draws() != first_draws()
assert os.urandom is real
"""


@pytest.mark.parametrize("program", [SERVING, OF_SOMEBODY_ELSE], ids=["serving audits alone", "of somebody else"])
def test_all_sources_repeat_where_a_process_serves_audits_alone_and_are_left_alone_elsewhere(program):
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
