"""The course of one claim: how runs are divided, where bets stop, and that nothing is judged by the runs it was chosen on."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit import GDP, Claim, PureDP, Target, audit
from dpaudit.auditor.attack.course import Case, Clock, Course, late_chunks
from dpaudit.auditor.attack.plans import Plan, plan_of
from dpaudit.auditor.attack.trial import try_claim
from dpaudit.auditor.checks.independence import check_independence
from dpaudit.auditor.events.points import first_line, lines_of
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.reading.features import fit_features
from dpaudit.auditor.runs.chunks import BETTING, BOUND, PILOT, Manner
from dpaudit.auditor.runs.workload import Subject, Workload
from dpaudit.errors import InvalidArgument


def case_of(sample, claim=None, alpha=Fraction(1, 20), plan=None, seed=0, listener=None):
    claim = claim or Claim(PureDP(epsilon=1))
    target = Target(sample=sample, claim=claim, neighbours=[(0, 1)])
    subject = Subject(target, candidate_pairs(target))
    manner = Manner(fit_features([0.5]))
    chosen = plan or plan_of(20_000, 1)
    return Case(subject, Workload("", subject), manner, seed, 0, alpha, lines_of(claim), chosen, listener=listener)


def laplace(scale):
    return lambda data, n, rng: data + rng.laplace(scale=scale, size=n)


@given(runs=st.integers(500, 10**8), pairs=st.integers(1, 16))
def test_a_plan_uses_the_runs_it_has_and_shares_the_pilot_equally(runs, pairs):
    try:
        plan = plan_of(runs, pairs)
    except InvalidArgument as error:
        assert error.code == "DPA103"  # noqa: PT017 - small budgets are refused for many pairs, nothing else is
        assert runs < 4000
        return
    assert 0 <= runs - 40 - plan.total < 1
    assert 0 == plan.pilot % pairs
    assert plan.pilot >= 64 * pairs
    assert plan.bound >= plan.betting


@pytest.mark.parametrize("pairs", [1, 16])
def test_rows_that_are_kept_do_not_grow_with_the_budget(pairs):
    large, larger = plan_of(10**8, pairs), plan_of(10**10, pairs)
    assert (large.pilot, large.betting) == (larger.pilot, larger.betting)
    assert large.pilot <= 4 * 10**6
    assert large.betting <= 10**6


@pytest.mark.parametrize("stage", [PILOT, BETTING, BOUND])
@given(runs=st.integers(1, 3_000_000))
def test_the_chunks_of_a_stage_add_up(stage, runs):
    chunks = list(late_chunks(case_of(laplace(1)), 0, stage, runs))

    assert runs == sum(chunk.size for chunk in chunks)
    assert list(range(len(chunks))) == [chunk.index for chunk in chunks]
    assert {(0, 0, stage)} == {(chunk.target, chunk.pair, chunk.stage) for chunk in chunks}


def test_bets_stop_at_the_very_run_that_reaches_the_threshold():
    course = Course(case_of(laplace(1)))
    threshold = math.log(40)
    course.bet(np.array([0.1, 0.2]))
    course.bet(np.array([0.3, threshold, threshold + 5]))

    assert 4 == course.stopped_at
    assert threshold == course.log_wealth == course.log_peak
    assert pytest.approx(1 / 40) == course.sequential().p_value


def test_the_p_value_of_the_bets_is_that_of_their_highest_wealth():
    course = Course(case_of(laplace(1)))
    course.bet(np.array([0.5, 2.0, -1.0]))
    sequential = course.sequential()

    assert pytest.approx(math.exp(-2)) == sequential.p_value
    assert pytest.approx(-1 / math.log(10)) == sequential.log10_wealth
    assert [0, 1, 2, 3] == [point.run for point in sequential.path]


def test_a_bankroll_that_only_loses_gives_no_evidence():
    course = Course(case_of(laplace(1)))
    course.bet(np.array([-0.5, -2.0]))

    assert 1.0 == course.sequential().p_value


def test_the_bound_is_counted_on_runs_of_its_own_stage_only():
    told = []
    trial = try_claim(case_of(laplace(1), listener=lambda *news: told.append(news)))
    attack = trial.attack
    last = {stage: max(done for name, done, _, _ in told if name == stage) for stage in ("pilot", "betting", "bound")}

    assert attack.plan[0] == last["pilot"]
    assert attack.plan[0] + attack.plan[1] == last["betting"] == attack.sequential.runs
    assert attack.plan[2] == attack.bound.counts.runs
    assert sum(attack.plan) == last["bound"]


def test_after_an_early_refutation_a_short_bound_says_by_how_much():
    trial = try_claim(case_of(laplace(0.4), plan=plan_of(1_000_000, 1)))

    assert trial.attack.sequential.stopped_at < 1000
    assert 20_000 == trial.attack.bound.counts.runs
    assert trial.attack.runs < 30_000
    assert 1 < trial.attack.bound.epsilon <= Fraction(5, 2)


def test_a_curve_moves_to_an_easier_line_and_keeps_its_wealth():
    claim = Claim(GDP(mu="1/2"))
    trial = try_claim(case_of(laplace(1.45), claim, plan=plan_of(60_000, 1)))
    path = trial.attack.sequential.path

    assert trial.point in lines_of(claim)
    assert max(abs(after.log10_wealth - before.log10_wealth) for before, after in itertools.pairwise(path)) < 1.5


def test_a_case_is_repeated_by_its_plan():
    case = case_of(laplace(0.9), plan=Plan(1000, 500, 2000))

    assert try_claim(case) == try_claim(case)


@pytest.mark.parametrize("seed", range(3))
def test_independent_rows_pass_whatever_their_law(seed):
    rng = np.random.default_rng(seed)
    features = np.column_stack([rng.normal(size=20_000), rng.integers(0, 2, 20_000), np.zeros(20_000), rng.pareto(0.5, 20_000)])

    assert "holds" == check_independence(features, rng.integers(0, 2, 20_000, dtype=np.uint8)).status


@pytest.mark.parametrize("weight", [0.5, -0.5, 1.0])
def test_rows_that_follow_each_other_are_found(weight):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 8_000, dtype=np.uint8)
    noise = rng.normal(size=8_001)
    for label in (0, 1):
        places = np.flatnonzero(labels == label)
        noise[places[1:]] += weight * noise[places[:-1]]

    assert "violated" == check_independence(noise[:-1, None], labels).status


def test_few_rows_never_raise_a_false_alarm_and_are_not_said_to_be_independent():
    rng = np.random.default_rng(0)
    for count in (0, 1, 2, 5, 40):
        labels = np.zeros(count, dtype=np.uint8)
        assert "not run" == check_independence(np.column_stack([np.zeros(count), rng.normal(size=count)]), labels).status
    assert "holds" == check_independence(np.zeros((40, 1)), np.zeros(40, dtype=np.uint8)).status


def test_the_clock_affords_what_the_latest_pace_allows(monkeypatch):
    times = iter([0.0, 1.0, 2.0])
    monkeypatch.setattr("dpaudit.auditor.attack.course.time.monotonic", lambda: next(times))
    clock = Clock(10.0)
    clock.mark(100)
    clock.mark(1100)

    assert 0.2 == clock.share
    assert int(0.9 * 1000 * 8) == clock.affordable(None)


def test_the_clock_affords_nothing_when_time_is_over(monkeypatch):
    times = iter([0.0, 99.0])
    monkeypatch.setattr("dpaudit.auditor.attack.course.time.monotonic", lambda: next(times))
    clock = Clock(10.0)
    clock.mark(100)

    assert 0 == clock.affordable(None)


def test_the_line_before_the_pilot_is_one_of_the_claim():
    lines = lines_of(Claim(GDP(mu=1)))

    assert first_line(lines) in lines
    assert lines[0] == first_line(lines[:1])


def count_of_integers(data, rng):
    """A count with the noise of half of the scale that the claim needs."""
    p = 1 - math.exp(-2)
    return len(data) + int(rng.geometric(p)) - int(rng.geometric(p))


def integers():
    """A count that claims half of its epsilon."""
    return Target(name="integers", run=count_of_integers, claim=Claim(PureDP(epsilon="1")), neighbours=[([1], [1, 2])])


def test_a_larger_budget_gives_a_better_bound_on_integers():
    bounds = [audit(integers(), runs=runs, seed=1).results[0].lower_bound for runs in (5_000, 50_000)]
    assert bounds[0].epsilon < bounds[1].epsilon < 2


@pytest.mark.parametrize("stop_early", [False, True])
def test_all_runs_that_are_left_tighten_the_bound_of_a_refuted_claim_unless_it_is_to_stop_early(stop_early):
    attack = audit(integers(), runs=60_000, seed=1, stop_early=stop_early).results[0].attack
    assert attack.sequential.stopped_at is not None
    assert (attack.bound.counts.runs == 20_000) == stop_early
    assert (attack.runs > 59_000) == (not stop_early)


@pytest.mark.parametrize("seed", range(4))
def test_an_early_refutation_does_not_pass_the_budget(seed):
    target = replace(integers(), claim=Claim(PureDP(epsilon="3/2")))
    assert 10_000 >= audit(target, runs=10_000, seed=seed, stop_early=True).results[0].attack.runs


def test_bets_that_refute_say_up_to_which_epsilon():
    attack = audit(integers(), runs=5_000, seed=1).results[0].attack
    assert attack.sequential.rejected == 1
