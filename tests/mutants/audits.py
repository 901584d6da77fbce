"""Checks of the auditor: sizes summed over every outcome, runs that are nobody else's, events judged on runs that chose nothing."""

from __future__ import annotations

import builtins
import math
import os
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from fractions import Fraction
from itertools import product
from threading import Lock

import numpy as np
from scipy.stats import binom, multivariate_normal

from dpaudit import audit
from dpaudit.auditor.attack.tallies import cells_of, expected_bounds, held_out_bounds, tally_of
from dpaudit.auditor.betting.accounts import game_of
from dpaudit.auditor.betting.forecasts import forecast
from dpaudit.auditor.betting.label_bettor import LabelBettor
from dpaudit.auditor.checks.properties import MOST_CHECK_RUNS
from dpaudit.auditor.checks.replay import Recorder
from dpaudit.auditor.checks.values import least_distance, read_further
from dpaudit.auditor.data.disclosure import apply_permission, common_releases, shows_values, text_of, values_of, without_values
from dpaudit.auditor.events.predicates import Atoms, Threshold
from dpaudit.auditor.events.ranking import RankedEvent
from dpaudit.auditor.events.words import describe_event
from dpaudit.auditor.examining import Examined
from dpaudit.auditor.pairs.candidates import Neighbours
from dpaudit.auditor.pairs.kinds import check_neighbours
from dpaudit.auditor.pairs.shrinking import smaller_pair
from dpaudit.auditor.reading.features import fit_features
from dpaudit.auditor.runs import pulse
from dpaudit.auditor.runs.chunks import BETTING, BOUND, Chunk, Manner, Task, perform
from dpaudit.auditor.runs.dispatch import in_order
from dpaudit.auditor.runs.workload import Subject, Workload
from dpaudit.auditor.scoring.fitting import fit_score
from dpaudit.auditor.statistics.bounds import ClaimPoint, epsilon_lower_bound, p_value, profile_lower_bounds, upper_tail
from dpaudit.auditor.statistics.family import reject_claims
from dpaudit.auditor.supervision.apart import run_apart
from dpaudit.auditor.supervision.audits import _check_result
from dpaudit.auditor.supervision.candidates import Candidate
from dpaudit.auditor.supervision.limits import Limits
from dpaudit.auditor.verdict.proof_lookup import ProofFinding, _status, find_proofs
from dpaudit.auditor.verdict.proof_status import Observed, proof_of
from dpaudit.auditor.verdict.verdicts import verdict_of
from dpaudit.claims import Adjacency, Claim, PureDP
from dpaudit.errors import DpauditError, InvalidArgument, TargetFailure
from dpaudit.exact import ball, ball_endpoints, working_precision
from dpaudit.releases import Release
from dpaudit.results import (
    Attack,
    ClaimSummary,
    Counts,
    Pair,
    Power,
    Price,
    ProofStep,
    Property,
    Sequential,
    Settings,
    TargetResult,
    Values,
    Verdict,
)
from dpaudit.targets import Target

ONE = Claim(PureDP(epsilon=1))
HAIR = 1e-9


def outcomes(runs):
    """All counts of one event."""
    return [Counts(ones, zeros, runs) for ones in range(runs + 1) for zeros in range(runs + 1 - ones)]


def bounds_of_one_event_keep_their_size():
    runs, counts = 24, outcomes(24)
    ones, zeros = (np.array([getattr(one, name) for one in counts]) for name in ("ones", "zeros"))
    for epsilon, delta in ((0.5, 0.0), (0.5, 0.1)):
        bounds = [epsilon_lower_bound(one, delta=delta, alpha="0.05") for one in counts]
        deltas = [profile_lower_bounds(one, [epsilon], "0.05")[0] for one in counts]
        point = ClaimPoint(Fraction(epsilon), Fraction(delta))
        over = [
            np.array([bound is not None and bound > epsilon for bound in bounds]),
            np.array(deltas) > delta,
            np.array([p_value(one, point=point) <= 0.05 for one in counts] if delta == 0 else False),
        ]
        sizes = []
        for rare in (0.0, 0.02, 0.1, 0.2, 0.4):
            both = min(1.0, math.exp(epsilon) * rare + delta)
            mass = (both + rare) / 2
            law = binom.pmf(ones + zeros, runs, mass) * binom.pmf(ones, ones + zeros, both / (both + rare) if mass else 0.5)
            sizes += [float((law * part).sum()) for part in over]
        assert max(sizes) <= 0.05
        assert delta or 0.001 < max(sizes)


def tails_of_binomials_are_enclosed():
    # The last has more trials than are summed; half of an odd number of them is the same on both sides.
    cases = [(3, 7, "1/3"), (7, 7, "1/3"), (1, 40, "9/10"), (260, 700, "1/3"), (230, 700, "1/3"), (2**20 + 1, 2**21 + 1, "1/2")]
    for successes, trials, chance in cases:
        with working_precision(128):
            tail = ball_endpoints(upper_tail(successes, trials, ball(chance)))
        part = Fraction(chance)
        truth = Fraction(1, 2) if part == Fraction(1, 2) else binomial_tail(successes, trials, part)
        assert tail[0] <= truth <= tail[1]
        assert tail[1] - tail[0] < truth * Fraction(1, 2**80)


def binomial_tail(successes, trials, chance):
    inside, outside = chance.numerator, chance.denominator - chance.numerator
    terms = (math.comb(trials, hits) * inside**hits * outside ** (trials - hits) for hits in range(successes, trials + 1))
    return Fraction(sum(terms), chance.denominator**trials)


def an_event_of_one_dataset_alone_refutes_no_more_than_alpha():
    runs, delta = 240, Fraction(1, 5)
    law = binom.pmf(np.arange(runs + 1), runs, float(delta) / 2)
    likely = np.flatnonzero(law > 1e-9)
    bounds = [epsilon_lower_bound(Counts(hits, 0, runs), delta=delta, alpha="0.05") for hits in likely.tolist()]
    assert law[likely] @ np.array([bound is not None and bound > 0 for bound in bounds]) <= 0.05


def many_claims_share_one_alpha():
    for p_values in product((0.004, 0.016, 0.02, 0.026, 0.06), repeat=3):
        # A claim falls when every family of claims that holds it is refuted by its least p-value times its size.
        families = [family for family in product((0, 1), repeat=3) if any(family)]
        least = [min(p for p, inside in zip(p_values, family, strict=True) if inside) * sum(family) for family in families]
        closed = tuple(
            all(value <= 0.05 for family, value in zip(families, least, strict=True) if family[place]) for place in range(3)
        )
        assert closed == reject_claims(p_values, Fraction(1, 20))


def one(data, rng):
    """A run that shows its random number."""
    return data + rng.random()


def tasks():
    """Chunks of two stages and pairs, of a target with two pairs."""
    pairs = tuple(Neighbours(float(place), place + 0.5, "") for place in (0, 10))
    subject = Subject(Target(run=one, claim=ONE, neighbours=[(0.0, 0.5)]), pairs)
    manner = Manner(fit_features([0.5]))
    chunks = [Chunk(0, pair, stage, index, 8) for pair in (0, 1) for stage in (BETTING, BOUND) for index in range(3)]
    return [Task(Workload("", subject), 7, chunk, manner) for chunk in chunks]


class Mortal:
    """An executor whose workers die at some calls, losing everything that was not asked for."""

    def __init__(self, deaths):
        self.calls, self.deaths, self.dead, self.renewals = 0, deaths, False, 0

    def submit(self, work, task):
        self.calls += 1
        self.dead = self.dead or self.calls in self.deaths
        future = Future()
        future.set_exception(BrokenProcessPool()) if self.dead else future.set_result(work(task))
        return future

    def renew(self):
        self.dead, self.renewals = False, self.renewals + 1


def runs_are_made_once_in_order_whoever_dies():
    expected = [outcome.features.tolist() for outcome in map(perform, tasks())]
    assert len({tuple(map(tuple, rows)) for rows in expected}) == len(expected)
    for deaths in ((), (1,), (4, 15), (9,)):
        executor = Mortal(deaths)
        assert expected == [outcome.features.tolist() for outcome in in_order(executor, tasks())]
        assert bool(deaths) == bool(executor.renewals)


def labels_are_fair_and_of_their_own():
    assert all(set(perform(task).features[:, 0] // 10) == {task.chunk.pair} for task in tasks())
    labels = np.concatenate([perform(task).labels for task in tasks()])
    outputs = np.concatenate([perform(task).features[:, 0] % 10 for task in tasks()])
    assert set((outputs >= 0.5)[labels == 0]) == {True, False}
    assert all(0.5 <= output <= 1.5 for output in outputs[labels == 1])
    assert all(0.0 <= output < 1.0 for output in outputs[labels == 0])


def scores_are_judged_on_rows_they_were_not_fitted_on():
    # Each value says one label on two thirds of the rows and the other one on the last third: what was learned there is refuted.
    rng = np.random.default_rng(5)
    values = np.repeat(np.arange(40), 300)
    turns = np.tile(np.arange(3), 4000)
    said = rng.integers(0, 2, size=(40, 3))
    labels = said[values, turns].astype(np.uint8)
    features = np.stack([values, rng.integers(0, 2, len(values))], axis=1).astype(np.float64)
    held_out = fit_score(features, labels).held_out
    assert np.corrcoef(held_out, labels)[0, 1] < 0


def distances_are_of_the_metric_of_the_release():
    assert [7, 5, 4, 2] == [least_distance([0, 3, 1], [3, 7, 1], metric) for metric in ("l1", "l2", "linf", "hamming")]
    assert least_distance({"a": 1}, {"a": 1, "b": 2}, "l1") == 2
    assert read_further({"a": 1}, {"a": 1, "b": 2}, "l1", Fraction(3, 2))
    assert not read_further([0, -math.inf], [1, -math.inf], "linf", Fraction(1))


def a_tape_gives_back_what_was_recorded_at_its_place():
    release = Release("discrete_laplace", (("scale", Fraction(1)),), Fraction(1), Adjacency("add_remove"), 1, 1, secure=True)
    first = Recorder()
    assert [3, 4] == [first.hold(release)(value, output) for value, output in ((1, 3), (2, 4))]
    again = Recorder(first.entries)
    assert [3, 4, 9] == [again.hold(release)(value, output) for value, output in ((5, 7), (6, 8), (7, 9))]
    assert [5, 6, 7] == [entry.values[0] for entry in again.entries]


def refuses(pair, adjacency):
    """Whether a pair is no pair of neighbours."""
    try:
        check_neighbours(pair, adjacency)
    except DpauditError:
        return True
    return False


def neighbours_are_told_from_others():
    added, replaced, label = Adjacency("add_remove"), Adjacency("replace_one"), Adjacency("label")
    users = Adjacency("add_remove", unit="user:0")
    rows = [(1, 5), (1, 6), (2, 7)]
    assert not refuses((rows, rows[2:]), users)
    assert refuses((rows, rows[1:]), users)
    assert refuses(([1, 2], [1, 3]), added)
    assert not refuses(([1, 2], [2, 3]), replaced)
    assert refuses(([1, 2], [1]), replaced)
    assert refuses(([1, 2, 3], [1, 4, 5]), replaced)
    assert refuses(([(1, 0)], [(2, 1)]), label)
    assert not refuses(([(1, 0)], [(1, 1)]), label)


def small_pairs_are_neighbours_that_still_fail():
    target = Target(run=one, claim=Claim(PureDP(epsilon=1)), data=list(range(12)))
    found = smaller_pair(target, (list(range(12)), list(range(11))), lambda pair: {3, 11} <= set(pair[0]))
    assert ([3, 11], [3]) == found


def a_proof_counts_only_for_what_was_audited():
    """A proof is called by its weakest step, where releases, price, checks, claim and neighbours are the proven ones."""
    name = "proofs.additive:array(scale=2, distance=2)"
    program = find_proofs([name])[name]
    chain = ProofFinding("in part", logged=("discrete_laplace",))
    other = (Release("noisy_max", (), Fraction(1), Adjacency("add_remove")),)
    noise = (Release("discrete_laplace", (), Fraction(1), Adjacency("add_remove")),)

    def said(finding, log=noise, price="within", checks=(), *, returned=True, epsilon=1, radius=2):
        claim = Claim(PureDP(epsilon=epsilon), adjacency=Adjacency("norm_ball", norm="l1", radius=radius))
        found = proof_of(name, finding, Observed(claim, ((log, log), (log, log)), Price(price), checks, returned))
        return found.status

    assert ("proven", "in part") == (said(program), said(chain))
    assert {"unknown"} == {said(program, returned=False), said(program, epsilon=Fraction(99, 100)), said(program, radius=3)}
    assert {"unknown"} == {said(chain, (*noise, *other)), said(chain, ()), said(chain, price="undecided")}
    assert "unknown" == said(chain, checks=[Property("declared sensitivity", "violated", 1)])
    words = [[ProofStep("a", "a", word)] for word in ("proven", "axiom", "enumerated", "tested")]
    assert ["proven", "proven", "in part", "in part"] == [_status(steps, ()) for steps in words]
    assert ["stale", "unknown"] == [_status(words[0], [reason]) for reason in ("a: stale: b", "a: b")]


def tally(zeros, ones):
    """The tally of outputs 0, 1, 2, ... that came so often under each label."""
    outputs = np.concatenate([np.repeat(np.arange(len(side)), side) for side in (zeros, ones)])
    return tally_of(outputs[:, None].astype(np.float64), np.repeat(np.array([0, 1], dtype=np.uint8), [sum(zeros), sum(ones)]))


def pairs_of_few_outputs_are_judged_by_all_counts_of_their_datasets():
    def promised(*tallies, firsts=None):
        places = list(range(len(tallies))) if firsts is None else firsts
        return expected_bounds(dict(enumerate(tallies)), places, point=ClaimPoint(1, 0), final_runs=10**7, alpha=0.1)

    clear = promised(tally([10_000, 90_000], [30_000, 70_000]), tally([30_000, 70_000], [10_000, 90_000]))
    assert all(math.isclose(math.log(3), bound, abs_tol=0.03) for bound in clear.values())
    lucky, sure = promised(tally([995, 2], [995, 9]), tally([995_000, 2000], [995_000, 9000])).values()
    assert 10 * lucky < sure
    together = promised(tally([60, 940], [70, 930]), tally([94_000, 6_000], [1, 99]), firsts=[0, 0])[0]
    assert promised(tally([94_060, 6_940], [70, 930]))[0] == together
    assert math.isclose(clear[0], clear[1], abs_tol=HAIR)
    late = np.minimum(np.arange(10_000)[::-1], 59.0)[:, None]
    assert tally_of(late, np.zeros(10_000, dtype=np.uint8)) is None
    few = promised(tally([1900, 100], [1750, 250]))[0]
    assert 0.55 < few < math.log(2.5) - 1.645 * math.sqrt(1 / 100 + 1 / 250) / 2


def rare_outputs_promise_something_where_both_halves_of_the_runs_show_them():
    def promised(*halves):
        return held_out_bounds([{0: half} for half in halves], [0], point=ClaimPoint(1, 0), final_runs=10**5, alpha=0.001)[0]

    rare, none = tally([490, 10], [500, 0]), tally([499, 1], [499, 1])
    assert promised(rare, none) < 0.25
    assert promised(rare, rare) > 1.5


def cells_of_exact_values_and_numbers_add_up():
    stream = np.random.default_rng(4)
    labels = stream.integers(0, 2, 400_000).astype(np.uint8)
    first = stream.random(labels.size) < np.where(labels == 1, 0.2, 0.1)
    second = stream.random(labels.size) < np.where(labels == 1, 0.3, 0.1)
    numbers = np.where(second, stream.normal(size=labels.size), -9.0)
    features = np.column_stack([first, numbers, numbers - first, first])
    cells = cells_of(features[:20_000], (0, 0, 1, 3))
    assert [0, 1, 3] == [column for column, _ in cells]
    counted = tally_of(features, labels, cells)
    assert 2 * 9 == len(counted.codes)
    found = expected_bounds({0: counted}, [0], point=ClaimPoint(1, 0), final_runs=10**7, alpha=0.1)[0]
    assert math.isclose(math.log(6), found, abs_tol=0.1)


def bets_on_forecasts_are_fair_and_of_columns_that_tell():
    point = ClaimPoint(0, "0.3")
    counts = np.array([[500, 500], [900, 100], [0, 0], [900, 100], [500, 500]], dtype=np.float64)
    factors, _ = forecast(np.array([[40, 60], [300, 5], [5, 300]], dtype=np.float64), game_of(point))
    # With delta the most favourable pair puts .3 more of one dataset's mass wherever a label gains most.
    for gained, lost in (factors.T, factors.T[::-1]):
        fair = np.array([[0.5 * (1 - 0.3) * (gained[bin_] + lost[bin_]) for bin_ in range(3)]]).max()
        assert fair + 0.3 * 0.5 * (gained.max() + lost.max()) <= 1 + HAIR
    factors, _ = forecast(counts, game_of(ClaimPoint(1, 0)))
    assert factors[2, 0] > 1 > factors[2, 1]
    ratios, noise = np.log(counts + 0.5) @ [-1, 1], np.diag((1 / (counts + 0.5)).sum(axis=1))
    signal = 4 * np.exp(-np.abs(np.subtract.outer(np.arange(5), np.arange(5))) / 10)
    expected = multivariate_normal(cov=signal + noise).logpdf(ratios) - multivariate_normal(cov=noise).logpdf(ratios)
    assert math.isclose(expected, forecast(counts, game_of(ClaimPoint(1, 0)))[1], rel_tol=1e-6)
    stream = np.random.default_rng(5)
    labels = stream.integers(0, 2, 600).astype(np.uint8)
    features = stream.normal(size=(600, 2)) + np.outer(labels, [0, 1])
    weights = []
    for groups in ((0, 0), (0, 3)):
        bettor = LabelBettor(ClaimPoint(3, 0), groups)
        bettor.observe(features, labels)
        assert (groups == (0, 0)) == math.isfinite(bettor._log_forecasting)
        weights.append({column.source: column.weight for column in bettor._columns if isinstance(column.source, int)})
    assert weights[0][1] > 100 * weights[0][0]


def values_are_shown_of_declared_data_and_on_request_alone():
    private, public = (Target(run=len, claim=ONE, data=[1], public_data=declared) for declared in (False, True))
    silent, asked = (Settings(alpha=Fraction(1, 20), runs=1000, seed=0, show_values=given) for given in (False, True))
    cases = ((private, silent), (public, silent), (private, asked))
    assert [False, True, True] == [shows_values(apply_permission(target, settings)) for target, settings in cases]
    assert [Values.HIDDEN, Values.PUBLIC, Values.ASKED] == [
        values_of(apply_permission(target, settings), settings) for target, settings in cases
    ]
    error = InvalidArgument("DPA104", "scale must be positive, got -31.")
    assert ["31" in text_of(error, target) for target in (private, public)] == [False, True]


def a_release_that_varies_keeps_its_parameters():
    scales = (Fraction(31), Fraction(32))
    logs = [[Release("discrete_laplace", (("scale", scale),), Fraction(1), Adjacency("add_remove"))] for scale in scales]
    price = Price("above", "epsilon", None, Fraction(1), ("discrete_laplace(scale=31)",), ("scale 31",))
    target = Target(run=len, claim=ONE, data=[1])
    hidden = without_values(price, logs[0], common_releases(logs), target)
    assert "31" not in repr(hidden)
    assert hidden.status == "above"
    assert price == without_values(price, logs[0], common_releases(logs[:1]), target)


def an_event_on_private_data_holds_no_value():
    features = fit_features([31.5, 33.5])
    for event in (Threshold(0, 31.5, at_most=False), Atoms((0,), ((31.5,),)), Atoms((0, 2), ((31.5, 0.0),))):
        ranked = RankedEvent(event, reverse=False, predicted=1.0, mass=0.02, theta=0.9)
        assert "31.5" in describe_event(features, ranked, shown=True)
        assert "31.5" not in describe_event(features, ranked, shown=False)
        assert "2 % of the outputs" in describe_event(features, ranked, shown=False)


def a_violated_check_keeps_a_claim_from_being_consistent():
    bets = Sequential(0.0, 0.0, 2.0, 100, None, 1.0)
    attack = Attack(Pair(0, ""), 1, "value = 1", bets, None, Power(1.1, 1.1), 1.0, Fraction(1, 20), 100, (0, 0))
    for status, expected in (("holds", Verdict.CONSISTENT), ("note", Verdict.CONSISTENT), ("violated", Verdict.INCONCLUSIVE)):
        check = Property("a law of the query", status, 1, "why")
        verdict, summary = verdict_of(attack, [check], None, rejected=False, power_target=Fraction(5, 4))
        assert expected is verdict
        assert (status == "violated") == ("a law of the query (why)" in summary)


def failure_apart(work, **limits):
    """The failure of work in a process of its own; empty where it gave a result."""
    try:
        run_apart(work, Limits(**limits))
    except TargetFailure as failure:
        return str(failure)
    return ""


def the_gate_stays_shut():
    assert "exit status 0" in failure_apart(lambda _: os._exit(0))
    assert "no call" in failure_apart(lambda _: time.sleep(5), silence=0.4)
    assert "it replaced" in failure_apart(lambda _: setattr(builtins, "len", None))
    heard = []

    def fork(send):
        if os.fork() == 0:
            send("from the fork")
            os._exit(0)
        os.wait()

    run_apart(fork, Limits(), heard.append)
    assert [] == heard

    def return_twice(_):
        read, write = os.pipe()
        mark = pulse.mark_call()
        born = os.fork()
        if born:
            os.waitpid(born, 0)
        pulse.end_call(mark)
        os.write(write, b"x")
        if not born:
            os._exit(0)
        return len(os.read(read, 2))

    assert 1 == run_apart(return_twice, Limits())
    claim = ClaimSummary("unknown", (), "", "unknown")
    result = TargetResult("a", "", claim, Verdict.FAILED, "")
    for odd in (math.nan, -0.1, 1.5):
        try:
            _check_result(Examined(odd, result, result), Candidate("a", "", claim, None, "", "", 0))
        except InvalidArgument:
            continue
        raise AssertionError("a p-value that is none was believed")


def audited(late, rate, runs):
    """The result of a sound release of a number that gives something else out now and then, but not in its first runs."""
    calls = []

    def run(data, rng):
        calls.append(1)
        return late(data, rng) if len(calls) > MOST_CHECK_RUNS and rng.random() < rate else data + rng.laplace()

    return audit(Target(run=run, claim=ONE, neighbours=[(4, 5)]), runs=runs, seed=1, power_target=9).results[0]


def late_forms_get_columns():
    found = audited(lambda data, rng: ("debug", data), 0.05, 4000)
    assert found.verdict is Verdict.REFUTED
    assert found.attack.unread is None


def what_is_not_read_keeps_a_claim_from_being_consistent():
    closed, random = audited(lambda data, rng: Lock(), 0.2, 2000), audited(lambda data, rng: str(rng.bytes(9)), 0.2, 2000)
    assert closed.verdict is random.verdict is Verdict.INCONCLUSIVE
    assert closed.attack.unread.kinds == ("object",)
    assert 300 < closed.attack.unread.runs < 500
    assert "str values that hardly repeat" in random.attack.unread.kinds


CHECKS = (
    bounds_of_one_event_keep_their_size,
    tails_of_binomials_are_enclosed,
    an_event_of_one_dataset_alone_refutes_no_more_than_alpha,
    many_claims_share_one_alpha,
    runs_are_made_once_in_order_whoever_dies,
    labels_are_fair_and_of_their_own,
    scores_are_judged_on_rows_they_were_not_fitted_on,
    distances_are_of_the_metric_of_the_release,
    a_tape_gives_back_what_was_recorded_at_its_place,
    neighbours_are_told_from_others,
    small_pairs_are_neighbours_that_still_fail,
    pairs_of_few_outputs_are_judged_by_all_counts_of_their_datasets,
    rare_outputs_promise_something_where_both_halves_of_the_runs_show_them,
    cells_of_exact_values_and_numbers_add_up,
    bets_on_forecasts_are_fair_and_of_columns_that_tell,
    a_proof_counts_only_for_what_was_audited,
    values_are_shown_of_declared_data_and_on_request_alone,
    a_release_that_varies_keeps_its_parameters,
    an_event_on_private_data_holds_no_value,
    a_violated_check_keeps_a_claim_from_being_consistent,
    the_gate_stays_shut,
    late_forms_get_columns,
    what_is_not_read_keeps_a_claim_from_being_consistent,
)
