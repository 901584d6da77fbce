"""The minimal pair of a refuted claim: found on runs that the refutation saved, tested on fresh ones, the same for everyone."""

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor import neighbours, replay
from dpaudit.auditor.attack.minimal import RUNS_AGAIN, enough_runs
from dpaudit.auditor.statistics.bounds import ClaimPoint
from dpaudit.pytest_plugin import check
from dpaudit.report.document import from_json, to_json
from dpaudit.report.wording import minimal
from dpaudit.results import Bound, Counts, Minimal, Pair

RUNS = 100_000


def summed(data, n, rng):
    return sum(data) + rng.laplace(size=n)


def counted(data, n, rng):
    return len(data) + rng.laplace(scale=0.4, size=n)


def from_strategy(**parts):
    rows = neighbours(st.integers(0, 9), max_size=5)
    return Target(sample=summed, claim=Claim(PureDP(epsilon=1)), neighbours=rows, name="summed", **parts)


def from_data(**parts):
    return Target(sample=counted, claim=Claim(PureDP(epsilon=1)), data=["alice", *range(40)], name="counted", **parts)


def attack_of(target, **settings):
    return audit(target, runs=RUNS, seed=2, **settings).results[0].attack


@pytest.fixture(scope="module")
def attacks():
    return {target.name: attack_of(target) for target in (from_strategy(), from_data())}


@pytest.mark.parametrize(("name", "most"), [("summed", 1), ("counted", 1)])
def test_the_pair_shrinks_and_is_refuted_again_on_fresh_runs(attacks, name, most):
    found = attacks[name].minimal

    assert found.refuted
    assert found.p_value <= found.alpha == attacks[name].alpha
    assert f"{most} -> 0 records" in found.pair.difference or f"0 -> {most} records" in found.pair.difference
    assert 1 <= found.tried
    assert 0 < found.bound.epsilon


def test_all_runs_together_stay_within_the_budget(attacks):
    for attack in attacks.values():
        assert 0 < attack.minimal.runs < attack.runs <= RUNS


def test_no_record_is_shown_unless_it_is_public(attacks):
    assert None is attacks["counted"].minimal.pair.witness
    assert "alice" not in repr(attacks["counted"])
    record, nothing = attack_of(from_data(public_data=True)).minimal.pair.witness
    assert record in {"['alice']", "[0]"}
    assert "[]" == nothing


def test_workers_do_not_change_the_evidence(attacks):
    with ThreadPoolExecutor(2) as threads:
        assert attacks["summed"] == attack_of(from_strategy(), executor=threads)


def test_a_replay_repeats_the_minimal_pair_bit_for_bit():
    report = from_json(to_json(audit(from_data(), runs=RUNS, seed=2)))
    (again,) = replay(report, targets=[from_data()])

    assert report.results[0].attack.minimal is not None
    assert again.same


def test_the_quick_tests_and_the_fresh_one_have_seeds_of_their_own(attacks):
    attack = attacks["counted"]

    assert attack.minimal.bound.counts.ones != attack.bound.counts.ones


def barely(data, n, rng):
    return len(data) + rng.laplace(scale=1 / 1.1, size=n)


@pytest.fixture(scope="module")
def late():
    """A claim that fails by little: the bets do not find it out, the bound does, by so much that fewer runs would do."""
    target = Target(sample=barely, claim=Claim(PureDP(epsilon=1)), data=list(range(1000, 1040)), public_data=True, name="barely")
    for seed in range(40):
        report = audit(target, alpha="0.05", runs=40_000, seed=seed)
        attack = report.results[0].attack
        if attack.sequential.stopped_at is None and attack.minimal is not None:
            return target, report
    pytest.fail("no seed at which the bound alone refutes")


def test_a_claim_that_only_the_bound_refutes_gets_a_minimal_pair_from_new_runs(late):
    attack = late[1].results[0].attack

    assert attack.p_value <= attack.alpha
    assert attack.minimal.refuted
    assert attack.minimal.bound.counts.ones != attack.bound.counts.ones
    assert "[]" in attack.minimal.pair.witness
    assert 40_000 < attack.runs <= 40_000 * (1 + RUNS_AGAIN)
    assert attack.runs - attack.minimal.runs <= 40_000


def test_a_failing_test_shows_the_minimal_pair(late):
    shown = check.describe(late[1].results[0])

    assert re.search(r"\n  minimal:  record 0 removed, 1 -> 0 records; refuted again on [\d,]+ fresh runs at .+\n  dataset:", shown)


def test_such_a_pair_is_replayed_too_and_a_budget_in_seconds_has_no_runs_for_it(late):
    target, report = late
    (again,) = replay(from_json(to_json(report)), targets=[target])
    timed = replace(report.settings, runs=None, seconds=Fraction(1000))
    (hurried,) = replay(replace(report, settings=timed), targets=[target])

    assert again.same
    assert None is hurried.repeated.minimal


def test_runs_that_would_still_refute_are_halved_down():
    point = ClaimPoint(epsilon=Fraction(1), delta=Fraction(0))
    strong, weak = Counts(90_000, 10_000, 200_000), Counts(7500, 2500, 20_000)

    assert 200_000 // 2**10 >= enough_runs(strong, point, 0.01)
    assert 20_000 // 8 < enough_runs(weak, point, 0.01) <= 20_000 * 4 // 5
    assert 10 == enough_runs(Counts(6, 1, 10), point, 0.01)


@pytest.mark.parametrize(
    "target",
    [
        Target(sample=summed, claim=Claim(PureDP(epsilon=1)), neighbours=[([0, 9], [0])], name="given"),
        Target(sample=summed, claim=Claim(PureDP(epsilon=1)), data=[1, 0, 1], name="true"),
    ],
    ids=lambda target: target.name,
)
def test_given_pairs_and_surviving_claims_have_no_minimal_pair(target):
    assert None is attack_of(target).minimal


def test_the_report_says_which_statement_is_certain():
    bound = Bound(Fraction(3, 2), Fraction(0), Fraction(39, 40), Counts(90, 10, 10_000), "forward", 1e-9)
    found = Minimal(
        Pair(0, "record 0 removed, 1 -> 0 records"),
        tried=7,
        refuted=True,
        bound=bound,
        p_value=2e-9,
        alpha=Fraction(1, 20),
        runs=14_000,
    )
    missed = replace(found, refuted=False, bound=None, p_value=1.0)

    said = (
        "record 0 removed, 1 -> 0 records; refuted again on 10,000 fresh runs at error probability 0.05 of its own: epsilon >= 1.5"
    )
    assert said == minimal(found)
    assert minimal(missed).endswith("so only the pair above is certain")
    assert "" == minimal(None)
