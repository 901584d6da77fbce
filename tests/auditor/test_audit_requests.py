"""What an audit is asked for: refusals before any run, names, data files."""

import math

import pytest

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.errors import DpauditError, InvalidArgument, TargetFailure
from dpaudit.results import Verdict

PURE = Claim(PureDP(epsilon=1))


def laplace(scale):
    return lambda data, n, rng: data + rng.laplace(scale=scale, size=n)


def normal(sigma):
    return lambda data, n, rng: data + rng.normal(scale=sigma, size=n)


def pair_target(claim=PURE, neighbours=((0, 1),), **parts):
    return Target(claim=claim, neighbours=list(neighbours), **parts)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"alpha": 0}, "DPA103"),
        ({"alpha": 1}, "DPA103"),
        ({"alpha": math.nan}, "DPA102"),
        ({"alpha": "x"}, "DPA101"),
        ({"runs": 100}, "DPA103"),
        ({"runs": 1e6}, "DPA105"),
        ({"runs": True}, "DPA105"),
        ({"runs": 1000, "seconds": 5}, "DPA106"),
        ({"seconds": 0}, "DPA103"),
        ({"seconds": 10**10}, "DPA103"),
        ({"runs": 2**40 + 1}, "DPA103"),
        ({"alpha": "1e-101"}, "DPA103"),
        ({"seconds": math.inf}, "DPA102"),
        ({"seed": -1}, "DPA103"),
        ({"seed": 1.5}, "DPA105"),
        ({"power_target": 1}, "DPA103"),
        ({"family": "fisher"}, "DPA103"),
        ({"executor": 4}, "DPA105"),
        ({"progress": 4}, "DPA105"),
        ({"data": "people.csv"}, "DPA105"),
    ],
)
def test_bad_options_are_refused_before_any_run(options, code):
    def never(data, rng):
        raise AssertionError

    with pytest.raises(InvalidArgument, match=code):
        audit(pair_target(run=never), **options)


@pytest.mark.parametrize(
    ("targets", "code"),
    [([], "DPA109"), (7, "DPA105"), ([7], "DPA105"), ("no such target", "DPA401"), ("nowhere:TARGET", "DPA401"), (None, "DPA105")],
)
def test_what_is_no_target_is_refused(targets, code):
    with pytest.raises((InvalidArgument, TargetFailure), match=code):
        audit(targets)


def test_one_bad_target_stops_the_audit_before_the_good_one_runs():
    def never(data, rng):
        raise AssertionError

    with pytest.raises(DpauditError, match="DPA407"):
        audit([pair_target(run=never), pair_target(run=never, neighbours=[([1, 2, 3], [1])])], runs=1000)


def test_too_many_pairs_for_the_runs_are_refused():
    with pytest.raises(InvalidArgument, match="64 are needed"):
        audit(pair_target(sample=laplace(1), neighbours=[(0, step) for step in range(20)]), runs=1000)


def test_a_target_that_takes_long_is_run_no_more_often_than_it_says():
    slow, quick = (pair_target(sample=laplace(1.0), most_runs=most) for most in (600, None))
    (first, second) = audit([slow, quick], runs=1000, seed=1).results
    assert first.attack.runs <= 600 < second.attack.runs <= 1000
    assert (600, None) == (first.most_runs, second.most_runs)


def test_a_limit_of_its_own_that_is_not_reached_is_not_said_to_end_the_runs():
    targets = [pair_target(sample=laplace(scale), most_runs=most) for scale, most in ((1.0, 1000), (0.1, 9000))]
    assert [None, None] == [result.most_runs for result in audit(targets, runs=1000, seed=1).results]
    assert None is audit(targets[1], runs=10_000, seed=1).results[0].most_runs


@pytest.mark.parametrize(("most", "code"), [(499, "DPA103"), (1e4, "DPA105"), ("600", "DPA105")])
def test_a_number_of_runs_that_no_audit_can_be_made_of_is_refused(most, code):
    with pytest.raises(InvalidArgument) as refusal:
        pair_target(sample=laplace(1.0), most_runs=most)
    assert code == refusal.value.code


def test_a_csv_file_replaces_the_data_of_a_named_target(tmp_path):
    (tmp_path / "people.csv").write_text("age\n" + "\n".join(str(age) for age in range(20, 60)) + "\n")
    (tmp_path / "count.py").write_text(
        "from dpaudit import Claim, PureDP, Target\n"
        "def count(data, rng):\n    return len(data) + rng.laplace(scale=0.3)\n"
        "target = Target(run=count, claim=Claim(PureDP(epsilon=1)), data=[1])\n"
    )
    report = audit(f"{tmp_path / 'count.py'}:target", runs=5_000, data=str(tmp_path / "people.csv"))

    assert Verdict.REFUTED == report.results[0].verdict
    assert any(last in report.results[0].attack.pair.difference for last in ("40 -> 39 records", "records 0 and 39 of the data"))
    assert str(tmp_path / "people.csv") == report.settings.data


def test_targets_of_one_name_are_told_apart():
    target = Target(run=lambda data, rng: data + rng.laplace(), claim=Claim(PureDP(epsilon=2)), neighbours=[(0, 1)], name="twin")
    report = audit([target, target], runs=2000, seed=3)
    assert ["twin", "twin (2)"] == [result.name for result in report.results]
    assert {"twin", "twin (2)", "total"} == {name for name, _ in report.seconds}
