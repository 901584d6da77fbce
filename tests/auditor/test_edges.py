"""Violations that no event of a smooth model shows: noise that ends, and noise that cancels in a weighted sum; and their limits."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from dpaudit import Claim, PureDP, Target, audit
from dpaudit.auditor.attack.edges import UNLIKELY, edge_events
from dpaudit.auditor.attack.trial import _bound
from dpaudit.auditor.events.predicates import Threshold
from dpaudit.auditor.events.ranking import RankedEvent
from dpaudit.auditor.reading.features import fit_features
from dpaudit.auditor.reading.reader import parse_output
from dpaudit.auditor.scoring.directions import find_direction
from dpaudit.auditor.statistics.bounds import ClaimPoint, epsilon_lower_bound, p_value
from dpaudit.auditor.statistics.power import detectable_share
from dpaudit.results import Counts, Verdict

POINT = ClaimPoint(Fraction(1), Fraction(0))
WEIGHTS = np.array([0.3, -1.2, 0.7, 0.45])


def judge(run, **options):
    return audit(Target(run=run, claim=Claim(PureDP(epsilon=1)), neighbours=[(0, 1)]), runs=20_000, **options).results[0]


def within_five(data, rng):
    while True:
        noise = rng.laplace()
        if abs(noise) <= 5:
            return float(data + noise)


def cancelling(data, rng):
    noise = rng.laplace(0, 3, 4)
    noise -= WEIGHTS * (WEIGHTS @ noise) / (WEIGHTS @ WEIGHTS)
    return (noise + data * np.array([1.0, 0, 0, 0])).tolist()


@pytest.mark.parametrize("run", [within_five, cancelling])
def test_noise_that_ends_or_cancels_is_refuted(run):
    assert judge(run).verdict is Verdict.REFUTED


def test_an_exact_claim_stays_consistent_and_names_what_is_out_of_reach():
    result = judge(lambda data, rng: float(data + rng.laplace()), seed=3)
    assert result.verdict is Verdict.CONSISTENT
    assert "Not covered: outputs of less than 0." in result.summary


def test_a_claim_that_the_runs_speak_against_is_not_called_consistent():
    verdicts = {}
    for seed in range(8):
        result = judge(lambda data, rng: float(data + rng.laplace(0, 0.93)), seed=seed)
        verdicts.setdefault(result.verdict, []).append(result)
    assert all(result.attack.p_value > 1 / 50 for result in verdicts.get(Verdict.CONSISTENT, []))
    assert any("speak against the claim" in result.summary for result in verdicts[Verdict.INCONCLUSIVE])


def test_an_end_is_an_event_only_if_chance_does_not_explain_it():
    rng = np.random.default_rng(0)
    labels = np.arange(4000, dtype=np.uint8) % 2
    values = rng.random(4000)
    assert all(chance > UNLIKELY for chance, _ in edge_events(values[:, None], labels, POINT))
    chance, found = edge_events((values + 0.02 * labels)[:, None], labels, POINT)[0]
    assert chance < UNLIKELY
    hits = labels[found.event.hits((values + 0.02 * labels)[:, None])]
    assert {0 if found.reverse else 1} == set(hits.tolist())


def test_equal_values_at_an_end_are_inside_together():
    labels = np.array([1] * 30 + [0] + [1, 0] * 100, dtype=np.uint8)
    values = np.array([9.0] * 31 + list(np.linspace(0, 1, 200)))
    assert edge_events(values[:, None], labels, POINT) == []


@pytest.mark.parametrize(("edge", "chosen", "share"), [(60, 1, Fraction(1, 10)), (5, 0, Fraction(9, 10))])
def test_an_end_beside_the_best_event_is_taken_where_it_refutes_at_its_share_of_the_error_probability(edge, chosen, share):
    best, end = (
        RankedEvent(Threshold(0, limit, at_most=True), reverse, 1.0, 0.1, 0.7) for limit, reverse in ((1.0, False), (0.0, True))
    )
    counts = Counts(7000, 3000, 20_000), Counts(0, edge, 20_000)
    case = SimpleNamespace(
        position=0, alpha=Fraction(1, 1000), half=0.0005, subject=SimpleNamespace(target=SimpleNamespace(claim=Claim(PureDP(1))))
    )
    course = SimpleNamespace(case=case, report=lambda *_: None, hits=lambda *_: (chunk for chunk in [counts]))

    ranked, bound = _bound(course, SimpleNamespace(pair=0, point=POINT), [best, end], 20_000, None)

    assert ranked is (best, end)[chosen]
    assert share == bound.share
    turned = Counts(edge, 0, 20_000)
    each = p_value(counts[0], point=POINT) / 0.9, p_value(turned, point=POINT) / 0.1
    assert min(1, *each) == pytest.approx(bound.p_value)
    assert bound.epsilon == epsilon_lower_bound((counts[0], turned)[chosen], delta=0, alpha=share / 2000)


@pytest.mark.parametrize("delta", ["0", "1/1000"])
def test_the_rarest_output_in_reach_is_found_as_often_as_is_said(delta):
    point, runs = ClaimPoint(Fraction(1), Fraction(delta)), 10_000
    share = detectable_share(runs=runs, point=point, alpha=0.0005)
    rng = np.random.default_rng(1)
    hits = rng.binomial(runs, share / 2, 400)
    found = np.mean([p_value(Counts(ones=int(one), zeros=0, runs=runs), point=point) <= 0.0005 for one in hits])
    assert 0.83 < found < 0.98


def test_a_direction_is_found_only_where_single_numbers_show_less():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 2000, dtype=np.uint8)
    outputs = [cancelling(int(label), rng) for label in labels]
    features = fit_features(outputs[:32])
    assert find_direction(features, [(features.matrix(outputs), labels)]) is not None
    plain = (rng.laplace(0, 1, (2000, 4)) + labels[:, None] * np.array([1.0, 0, 0, 0])).tolist()
    assert find_direction(features, [(features.matrix(plain), labels)]) is None


def test_integers_taken_for_codes_are_named_as_a_limit():
    def audited(data):
        target = Target(run=lambda rows, rng: len(rows) + rng.laplace(), claim=Claim(PureDP(epsilon=1)), data=data)
        return audit(target, runs=16_000).results[0]

    limited, free = audited([1, 2, 3, 1, 2, 3]), audited([1, 70, 300, 1000])
    assert "as codes of categories do" in limited.summary
    assert "as codes of categories do" not in free.summary


def test_the_bits_of_a_large_integer_are_read_one_by_one():
    first, second = (parse_output(2**59 + bit).leaves for bit in (0, 2**37))
    changed = [path[-2:] for path, one, other in zip(first.paths, second.values, first.values, strict=True) if one != other]
    assert ("the bits", 37) in changed


def test_a_value_of_one_dataset_alone_within_a_rare_form_is_an_event():
    rng = np.random.default_rng(0)
    labels = np.arange(6000, dtype=np.uint8) % 2
    raw = rng.random(6000) < 0.01
    shown = np.where(raw, labels, np.round(labels + rng.laplace(size=6000), 1))
    features = np.column_stack([raw, shown]).astype(float)
    chance, found = edge_events(features, labels, ClaimPoint(Fraction(1), Fraction(1, 1000)))[0]

    assert chance < UNLIKELY
    assert (0, 1) == found.event.columns
    assert raw[found.event.hits(features)].all()
    assert {0 if found.reverse else 1} == set(labels[found.event.hits(features)].tolist())


def test_a_rare_form_that_holds_the_same_on_both_datasets_is_none():
    rng = np.random.default_rng(0)
    labels = np.arange(6000, dtype=np.uint8) % 2
    raw = rng.random(6000) < 0.01
    features = np.column_stack([raw, np.where(raw, rng.integers(2, size=6000), np.round(rng.laplace(size=6000), 1))]).astype(float)
    assert all(chance > UNLIKELY for chance, _ in edge_events(features, labels, ClaimPoint(Fraction(1), Fraction(1, 1000))))
