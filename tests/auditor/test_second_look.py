"""The second look: before a long bound its event is chosen again, by hits on runs that nothing else saw or will see."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor.attack import second_look
from dpaudit.auditor.attack.course import Case, Course
from dpaudit.auditor.attack.plans import Plan
from dpaudit.auditor.events.points import lines_of
from dpaudit.auditor.events.ranking import RankedEvent, Threshold
from dpaudit.auditor.pairs.candidates import candidate_pairs
from dpaudit.auditor.reading.features import fit_features
from dpaudit.auditor.runs.chunks import Manner
from dpaudit.auditor.runs.workload import Subject, Workload
from dpaudit.auditor.statistics.bounds import ClaimPoint

LOOKED = 40_000
PLAN = Plan(pilot=1000, betting=1000, bound=400_000)
POINT = ClaimPoint(Fraction(1), Fraction(0))


TARGET = Target(
    sample=lambda data, n, rng: np.asarray(data + rng.laplace(size=n)),
    claim=Claim(PureDP(epsilon=2)),
    neighbours=[(0, 1)],
    public_data=True,
)


def course_of():
    subject = Subject(TARGET, candidate_pairs(TARGET))
    lines = lines_of(TARGET.claim)
    return Course(Case(subject, Workload("", subject), Manner(fit_features([0.5])), 7, 0, Fraction(1, 20), lines, PLAN))


def promised(limit, *, at_most, predicted):
    return RankedEvent(Threshold(0, limit, at_most=at_most), reverse=at_most, predicted=predicted, mass=0.5, theta=0.9)


def chosen(*found):
    course = course_of()
    return second_look.best_event(course, 0, found, point=POINT, looked=LOOKED, plan=PLAN), course


# Laplace noise of scale 1 around 0 or 1: beyond 1, and below 0, the log-ratio is 1; further out the same with fewer hits.
@pytest.mark.parametrize(("at_most", "best", "others"), [(False, 1.0, (-3.0, 0.0, 5.0)), (True, 0.0, (4.0, 1.0, -5.0))])
def test_the_best_event_is_found_whatever_was_promised(at_most, best, others):
    flattered = [promised(limit, at_most=at_most, predicted=9.0) for limit in others]
    found, _ = chosen(*flattered, promised(best, at_most=at_most, predicted=0.1))
    assert best == found.event.limit
    assert math.log(found.theta / (1 - found.theta)) == pytest.approx(1, abs=0.15)
    assert (0.5 + 0.5 * math.exp(-1)) / 2 == pytest.approx(found.mass, abs=0.01)
    assert found.hits == pytest.approx(found.mass * LOOKED, abs=1)


def test_the_runs_of_the_look_are_counted():
    _, course = chosen(promised(1.0, at_most=False, predicted=1.0))
    assert LOOKED == course.runs


def test_short_bounds_have_none():
    assert 0 == second_look.runs_to_look(2**24 - 1)
    assert 2**20 == second_look.runs_to_look(2**24)


def test_an_audit_spends_part_of_a_long_bound_on_it_and_bounds_on_other_runs(monkeypatch):
    def attack():
        return audit(TARGET, alpha="0.1", runs=200_000, seed=3).results[0].attack

    once = attack()
    monkeypatch.setattr(second_look, "_LONG", 100_000)
    looked = attack()
    assert once.plan == looked.plan
    assert once.runs == looked.runs
    assert once.plan[2] == once.bound.counts.runs
    assert looked.plan[2] - looked.plan[2] // 16 == looked.bound.counts.runs
    assert 0.9 < looked.bound.epsilon <= 1.05


def test_the_event_of_the_look_is_one_of_those_it_was_given():
    found = [promised(limit, at_most=False, predicted=1.0) for limit in (0.5, 1.5)]
    best, _ = chosen(*found)
    assert replace(best, predicted=1.0, mass=0.5, theta=0.9, hits=0) in found


def test_a_rare_event_is_not_chosen_because_chance_flattered_it():
    found, _ = chosen(*(promised(limit, at_most=False, predicted=1.0) for limit in (1.0, 6.0, 6.5, 7.0, 7.5)))
    assert 1.0 == found.event.limit
