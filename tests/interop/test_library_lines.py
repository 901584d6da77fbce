"""Findings about an adapted library name its file and line where that can be told, never those of the adapter."""

from __future__ import annotations

import importlib
import random
import sys
from functools import partial
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from dpaudit import Claim, PureDP, audit
from dpaudit.auditor.diagnosis.diagnosing import _source
from dpaudit.auditor.diagnosis.twins import Bench
from dpaudit.blame import is_library
from dpaudit.interop import from_client, from_diffprivlib, from_function, from_program, from_sklearn
from dpaudit.report.answers import why
from dpaudit.targets import Target

CLAIM = Claim(PureDP(epsilon=1), "replace_one")
LIBRARY = '''"""A library with three mistakes."""

import math
import random


def _noise(scale):
    return random.choice((-1, 1)) * random.expovariate(1 / scale)


def mean(values, epsilon=1.0, random_state=None):
    """Claim epsilon for values in [0, 1], which are not clamped."""
    count = len(values)
    total = sum(values)  # the line
    return total / count + _noise(1 / (epsilon * count))


def respond(bit):
    if bit:  # the branch
        return 1
    return int(random.random() < 0.5)


class Scaler:
    def __init__(self, epsilon=1.0):
        self.epsilon = epsilon

    def get_params(self, deep=True):
        return {"epsilon": self.epsilon}

    def set_params(self, **parameters):
        return self

    def fit(self, rows):
        top = rows.max()
        self.top_ = top + 0 * math.pi
'''


@pytest.fixture
def library(tmp_path, monkeypatch) -> ModuleType:
    """A package beside the others that are installed, of which the folder around is the current one."""
    folder = tmp_path / "venv" / "site-packages" / "leaky"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "release.py").write_text(LIBRARY, encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.chdir(tmp_path)
    yield importlib.import_module("leaky.release")
    for name in ("leaky", "leaky.release"):
        del sys.modules[name]


def line_of(text: str) -> int:
    return next(number for number, line in enumerate(LIBRARY.splitlines(), 1) if text in line)


def parting(target: Target, sign: str = "value") -> tuple[str, int] | None:
    pair = SimpleNamespace(**dict(zip(("first", "second"), target.neighbours[0], strict=True)))
    return _source(Bench(target, SimpleNamespace(copies=False), 1, 0, 0), pair, (sign,))


def test_a_value_that_parts_in_a_library_is_found_there_although_the_caller_is_of_the_user(library):
    def mine(data):
        biggest = max(data)  # differs before the library does
        return library.mean(data) + 0 * biggest

    target = from_function(mine, claim=CLAIM, neighbours=[([0.5] * 4, [9.0] + [0.5] * 3)])
    result = audit(target, runs=4_000, seed=1).results[0]
    assert "refuted" == str(result.verdict)
    assert ("leaky/release.py", line_of("# the line")) == result.diagnosis.source
    assert f"leaky/release.py:{line_of('# the line')}." in why(result)
    assert "tests/interop/test_library_lines.py" in result.source[0]


def test_a_branch_of_a_client_is_found_and_the_target_is_named_where_the_library_defines_it(library):
    target = from_client(library.respond, epsilon=1, values=[0, 1])
    assert ("leaky/release.py", line_of("# the branch")) == parting(target, "branch")
    assert ("leaky/release.py", line_of("def respond")) == target.source


def test_where_a_library_does_not_part_the_line_is_that_of_the_user():
    def mine(data):
        if data[0] > 5:
            return 0.0
        return random.random()  # noqa: S311 - a global generator

    file, line = parting(from_function(mine, claim=CLAIM, neighbours=[([1], [9])]), "branch")
    assert file.endswith("test_library_lines.py")
    assert mine.__code__.co_firstlineno < line


def test_a_plain_target_is_followed_in_its_own_code_alone(library):
    def run(data, rng):
        random.seed(int(rng.integers(2**32)))
        return library.mean(data)

    file, _ = parting(Target(run=run, claim=CLAIM, neighbours=[([0.5] * 4, [9.0] + [0.5] * 3)]))
    assert file.endswith("test_library_lines.py")


def test_tools_and_models_are_named_where_their_library_defines_them(library):
    tool = from_diffprivlib(partial(library.mean, epsilon=0.5), data=[0.1, 0.2])
    model = from_sklearn(library.Scaler(), claim=CLAIM, data=np.eye(3), labels=False)
    assert ("leaky/release.py", line_of("def mean")) == tool.source
    assert ("leaky/release.py", line_of("def fit")) == model.source


def test_a_program_is_named_by_no_line_of_the_adapter():
    assert from_program([sys.executable, "-c", "1"], claim=CLAIM, data=[1]).source is None


@pytest.mark.parametrize(
    ("file", "followed"),
    [
        ("/usr/lib/python3/site-packages/leaky/release.py", True),
        ("/usr/lib/python3/dist-packages/leaky.py", True),
        ("/usr/lib/python3/site-packages/numpy/linalg.py", False),
        (importlib.import_module("dpaudit.claims").__file__, False),
        ("/opt/work/release.py", False),
        (random.__file__, False),
        ("<string>", False),
    ],
)
def test_libraries_are_packages_that_may_promise_something(file, followed):
    assert followed is is_library(file)
