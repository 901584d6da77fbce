"""A report's runs come back bit for bit, and what changed since is named."""

from dataclasses import replace

import pytest

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor import replay
from dpaudit.errors import InvalidArgument, TargetFailure
from dpaudit.report.document import from_json, to_json

CODE = """
from dpaudit import Claim, PureDP, Target

def count(data, rng):
    return len(data) + rng.laplace(scale={scale})

def constant(data, rng):
    raise ValueError

TARGETS = [
    Target(run=count, claim=Claim(PureDP(epsilon=1)), data=[3, 1, 2]),
    Target(run=count, claim=Claim(PureDP(epsilon=2)), data=[3, 1, 2], name="looser"),
    Target(run=constant, claim=Claim(PureDP(epsilon=2)), data=[3, 1, 2], name="failing"),
]
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "counts.py"
    file.write_text(CODE.format(scale="0.8"))
    return file


@pytest.fixture
def report(path):
    return from_json(to_json(audit(f"{path}:TARGETS", runs=8_000, seed=5)))


def test_every_number_comes_back(report):
    replayed = replay(report)

    assert ["count", "looser", "failing"] == [target.name for target in replayed]
    assert [(), (), ()] == [target.differences for target in replayed]
    assert [result.attack for result in report.results] == [target.repeated for target in replayed]
    assert [True, True, False] == [target.same for target in replayed]
    assert "the report holds no runs of it" == replayed[2].reason


def test_one_target_can_be_replayed_alone(report):
    (target,) = replay(report, only="looser")

    assert report.results[1].attack == target.repeated


def test_another_noise_is_found_out(report, path):
    path.write_text(CODE.format(scale="0.9"))
    (target,) = replay(report, only="count")

    assert any(difference.startswith("wealth: recorded") for difference in target.differences)
    assert any(difference.startswith("counts: recorded") for difference in target.differences)


def test_a_fresh_seed_gives_other_counts_and_no_complaint(report):
    (target,) = replay(report, only="count", fresh=True)

    assert report.settings.seed != target.seed
    assert report.results[0].attack.bound.counts != target.repeated.bound.counts
    assert () == target.differences


def test_a_time_budget_replays_through_its_recorded_plan(path):
    report = audit(f"{path}:TARGETS", seconds="0.6", seed=5)

    assert [(), (), ()] == [target.differences for target in replay(report)]


def test_a_target_given_as_an_object_is_replayed_when_it_is_given_again():
    target = Target(run=lambda data, rng: data + rng.laplace(), claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)], name="mine")
    report = audit(target, runs=2_000)

    assert "targets=" in replay(report)[0].reason
    assert report.results[0].attack == replay(report, targets=[target])[0].repeated


def test_an_unknown_name_is_refused_with_the_known_ones(report):
    with pytest.raises(InvalidArgument, match="count, looser, failing"):
        replay(report, only="median")


def test_a_target_that_is_gone_is_a_coded_error(report, path):
    path.unlink()

    with pytest.raises(TargetFailure, match="DPA401"):
        replay(report)


def test_a_target_that_fails_now_is_a_difference(report, path):
    path.write_text(CODE.format(scale="int('x')"))

    assert ("every run fails now",) == replay(report, only="count")[0].differences


def test_a_tampered_report_is_found_out(report):
    attack = report.results[0].attack
    tampered = replace(attack, bound=replace(attack.bound, counts=replace(attack.bound.counts, zeros=0)))
    changed = replace(report, results=(replace(report.results[0], attack=tampered), *report.results[1:]))

    assert 1 == len(replay(changed, only="count")[0].differences)
