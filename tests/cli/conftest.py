"""A folder with target files of a user, and the command line run inside this process."""

from __future__ import annotations

import sys

import pytest
from click.testing import CliRunner

from dpaudit.cli import main

RELEASES = '''
"""Counts with numpy's Laplace noise, which is enough to try the command line."""
from dpaudit import Claim, PureDP, Target


def counted(scale):
    def release(data, count, rng):
        print("a target may print what it likes")
        return len(data) + rng.laplace(scale=scale, size=count)
    return release


def fails(data, rng):
    raise ZeroDivisionError(str(data))


def target(name, **parts):
    return Target(name=name, claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1])], **parts)


sound = target("sound", sample=counted(1.0))
broken = target("broken", sample=counted(0.3), description="needs three times the noise", public_data=True)
crash = target("crash", run=fails)
far = Target(name="far", claim=Claim(PureDP(epsilon=1)), neighbours=[([1], [1, 1, 1])], sample=counted(1.0))
everything = [sound, broken, crash]
number = 3
'''

OWN_DATA = '''
"""A count over records that come from --data."""
from dpaudit import Claim, PureDP, Target


def adults(records, count, rng):
    return sum(record["age"] >= 18 for record in records) + rng.laplace(scale=0.3, size=count)


target = Target(name="adults", claim=Claim(PureDP(epsilon=1)), data=[{"age": 3}, {"age": 40}], sample=adults)
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to be in, with the files of a user."""
    (tmp_path / "releases.py").write_text(RELEASES)
    (tmp_path / "own.py").write_text(OWN_DATA)
    (tmp_path / "people.csv").write_text("age,name\n31,Ada\n12,Bob\n45,Eve\n")
    (tmp_path / "unfinished.py").write_text("raise KeyError('what is private')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path


@pytest.fixture
def dpaudit(folder):
    """Run a command line; the result has exit_code, stdout and stderr."""

    def run(*arguments):
        return CliRunner().invoke(main, [str(argument) for argument in arguments], prog_name="dpaudit")

    return run
