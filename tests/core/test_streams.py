"""An audit in the program's own process leaves no generator in a state that its seed tells."""

from __future__ import annotations

import os
import random
import secrets

import numpy as np
import pytest

from dpaudit import audit, claim
from dpaudit.plain.streams import leaving_no_seeds, run_seeded

OWN = np.random.default_rng(5)


@claim(epsilon=1, data=[1, 2, 3, 4])
def noisy_count(records):
    noise = [np.random.laplace(), random.gauss(), OWN.normal(), secrets.randbelow(4)]  # noqa: NPY002 (as people write it)
    return len(records) + sum(noise)


def states():
    shared = np.random.get_state()  # noqa: NPY002 (the state that programs share)
    return random.getstate(), shared[1].tobytes(), shared[2:], OWN.bit_generator.state, os.urandom


def test_after_an_audit_every_generator_is_where_it_was():
    before = states()
    first = audit(noisy_count, runs=2000, seed=3)
    assert before == states()
    assert not first.results[0].failure
    assert audit(noisy_count, runs=2000, seed=3).results[0].attack == first.results[0].attack
    assert before == states()


def test_also_after_an_exception():
    before = states()
    with pytest.raises(ZeroDivisionError), leaving_no_seeds():
        run_seeded(lambda: 1 / 0, np.random.default_rng(1), (OWN,))
    assert before == states()


def test_inside_a_run_all_of_them_repeat():
    def drawn():
        shared = random.random(), float(np.random.random())  # noqa: NPY002, S311 (as people write it)
        return *shared, secrets.randbits(64), float(OWN.random()), os.urandom(4)

    with leaving_no_seeds():
        once, again, other = (run_seeded(drawn, np.random.default_rng(seed), (OWN,)) for seed in (1, 1, 2))
    assert once == again
    assert all(one != two for one, two in zip(once, other, strict=True))
