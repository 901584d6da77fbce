"""Programs as targets: one line of JSON in and out for every release, coded errors, and private data nowhere else."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from dpaudit import Claim, PureDP, audit
from dpaudit.errors import InvalidArgument, TargetFailure
from dpaudit.interop import from_program

CLAIM = Claim(PureDP(epsilon=1))
HEAD = "import json, random, sys\nfor line in sys.stdin:\n    request = json.loads(line)\n    "
COUNT = HEAD + "print(len(request['data']), flush=True)"


def target(code, **others):
    """A target that runs a few lines of Python."""
    return from_program([sys.executable, "-c", code], claim=CLAIM, **others)


def run(code, data=("secret",), **others):
    """The output of one run."""
    return target(code, **others).run(data, np.random.default_rng(1))


def test_the_output_is_what_the_program_writes():
    assert {"n": 3, "x": [1.5, None]} == run(
        HEAD + "print(json.dumps({'n': len(request['data']), 'x': [1.5, None]}))", data=[1, 2, 3]
    )


def test_a_run_repeats_from_its_seed():
    code = HEAD + "print(random.Random(request['seed']).random())"
    assert run(code) == run(code)


def test_the_releases_of_a_batch_have_seeds_of_their_own():
    many = target(HEAD + "print(request['seed'])", batches=True)
    seeds = many.sample([1], 5, np.random.default_rng(1))
    assert 5 == len(set(seeds))
    assert all(0 <= seed < 2**53 for seed in seeds)


def test_arrays_are_written_as_lists():
    assert [[1.0, 2.0]] == run(HEAD + "print(json.dumps(request['data']))", data=np.array([[1.0, 2.0]]))


def test_a_text_may_hold_any_letter():
    assert "a\u2028b\n" == run(HEAD + "print(json.dumps(request['data'], ensure_ascii=False))", data="a\u2028b\n")


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ("import sys; sys.exit('secret')", "DPA410"),
        ("raise ValueError('secret')", "DPA410"),
        ("import time; time.sleep(30)", "DPA411"),
        ("print('secret')", "DPA412"),
        ("print('1\\n2')", "DPA412"),
        ("pass", "DPA412"),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\n')", "DPA412"),
    ],
)
def test_a_program_that_fails_has_a_code_and_no_words_of_its_own(code, number):
    with pytest.raises(TargetFailure, match=number) as error:
        run(code, timeout="1/2" if number == "DPA411" else 60)
    assert "secret" not in str(error.value)


def test_data_stand_in_no_argument_and_in_no_environment():
    code = HEAD + "import os; print(json.dumps('secret' in repr(sys.argv) + repr(os.environ)))"
    assert run(code) is False


def test_there_is_no_shell(tmp_path):
    place = tmp_path / "made"
    from_program([sys.executable, "-c", COUNT, f"; touch {place}"], claim=CLAIM).run([1], np.random.default_rng(1))
    assert not place.exists()


@pytest.mark.parametrize(
    ("command", "number"),
    [("python3 release.py", "DPA105"), ([], "DPA105"), (3, "DPA105"), ([None], "DPA105"), (["/no/such/program"], "DPA103")],
)
def test_what_is_no_command_is_refused(command, number):
    with pytest.raises(InvalidArgument, match=number):
        from_program(command, claim=CLAIM)


def test_data_that_json_cannot_hold_are_refused_by_type():
    with pytest.raises(InvalidArgument, match=r"DPA105 .* no object"):
        run(COUNT, data=[object()])


def test_a_program_that_shows_its_data_is_refuted():
    found = audit(from_program(["cat"], claim=CLAIM, batches=True, data=[1, 2, 3]), runs=500, seed=1).results[0]
    assert "refuted" == str(found.verdict)


def test_a_program_that_always_fails_is_told_by_its_code():
    found = audit(from_program(["false"], claim=CLAIM, data=[1, 2]), runs=500, seed=1).results[0]
    assert "failed" == str(found.verdict)
    assert "DPA410" in found.failure
