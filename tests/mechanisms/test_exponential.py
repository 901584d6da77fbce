"""The exponential mechanism: exact probabilities, scores of every kind, refusals, what it logs and costs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.accounting import price_releases
from dpaudit.errors import DpauditError
from dpaudit.releases import recording
from mechanisms import ExponentialMechanism, InsecureSeededSourceForTestsOnly
from mechanisms.selection.scores import read_scores
from tests.support.sources import RecordingSource

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")

NEVER = -math.inf
finite = st.floats(allow_nan=False, allow_infinity=False)


def probabilities(scores, temperature):
    """Softmax as floats, for statistical tests only."""
    weights = np.exp((np.array(scores, dtype=float) - max(scores)) / float(temperature))
    return weights / weights.sum()


def assert_follows(counts, expected, level):
    """Chi-square test of counts against probabilities; what is impossible must not occur."""
    from scipy.stats import chisquare

    possible = expected > 0
    assert 0 == counts[~possible].sum()
    if possible.sum() > 1:
        assert chisquare(counts[possible], expected[possible] * counts.sum()).pvalue > level


def test_single_choices_follow_the_law(false_alarm_level):
    entries, mechanism = [2.0, 0.0, NEVER, -1.5, 2.0, 1.9], ExponentialMechanism(sensitivity=1, epsilon=2)
    source = InsecureSeededSourceForTestsOnly(11)
    counts = np.bincount([mechanism.release(entries, source) for _ in range(6000)], minlength=6)
    assert_follows(counts, probabilities(entries, mechanism.temperature), false_alarm_level)


@pytest.mark.parametrize("entries", [[0], [0, 1, 2, 3], [0.0, -40.0, -1e9], [5] * 3000 + [8], [2**62, 2**62 - 1, -(2**62)]])
def test_repeated_choices_follow_the_law(entries, false_alarm_level):
    mechanism = ExponentialMechanism(sensitivity=1, epsilon=2)
    draws = mechanism.releases(entries, 400_000, InsecureSeededSourceForTestsOnly(12))
    assert (400_000,) == draws.shape
    assert np.int64 == draws.dtype
    groups = np.array([sorted(set(entries)).index(entry) for entry in entries])
    expected = np.bincount(groups, weights=probabilities([float(entry - max(entries)) for entry in entries], mechanism.temperature))
    counts = np.bincount(groups[draws], minlength=expected.size)
    assert_follows(counts, np.where(expected < 1e-12, 0.0, expected), false_alarm_level)


def test_a_choice_takes_the_same_number_of_bits_whatever_the_scores():
    mechanism = ExponentialMechanism(sensitivity=1, epsilon=1)
    spent = []
    for entries in ([0.0] * 100, [0.0] * 99 + [1e6], list(range(100)), [NEVER] * 99 + [3.0]):
        source = RecordingSource(InsecureSeededSourceForTestsOnly(14))
        for _ in range(20):
            mechanism.release(entries, source)
        spent.append([bits for bits, _ in source.calls])
    assert [[192, 64] * 20] * 4 == spent


def test_few_choices_among_many_candidates_are_made_one_by_one(false_alarm_level):
    entries = np.zeros(8000)
    entries[:4000] = -2.0
    mechanism, source = ExponentialMechanism(sensitivity=1, epsilon=2), RecordingSource(InsecureSeededSourceForTestsOnly(16))
    draws = np.concatenate([mechanism.releases(entries, 3, source) for _ in range(700)])
    assert {192, 64} == {bits for bits, _ in source.calls}
    share = math.exp(-2) / (1 + math.exp(-2))
    counts = np.array([(draws < 4000).sum(), (draws >= 4000).sum()])
    assert_follows(counts, np.array([share, 1 - share]), false_alarm_level)


def test_impossible_candidates_are_never_chosen():
    mechanism = ExponentialMechanism(sensitivity=1, epsilon="1/1000")
    draws = mechanism.releases([NEVER, 0.0, NEVER, -5.0], 20_000, InsecureSeededSourceForTestsOnly(15))
    assert {1, 3} == set(draws.tolist())


@pytest.mark.parametrize(
    ("entries", "gaps"),
    [
        ([2**53, 2**53 + 1], [1, 0]),
        (np.array([2**64 - 1, 0], dtype=np.uint64), [0, 2**64 - 1]),
        (np.array([-(2**63), 2**63 - 1]), [2**64 - 1, 0]),
        ([0.1, 0.3], [Fraction(0.3) - Fraction(0.1), 0]),
        (np.array([0.1, 0.3], dtype=np.float32), [Fraction(float(np.float32(0.3))) - Fraction(float(np.float32(0.1))), 0]),
        ([Fraction(1, 3), 1, 0.5, NEVER], [Fraction(2, 3), 0, Fraction(1, 2), None]),
        ([10**400, 0], [0, 10**400]),
        ([np.int64(3), np.float64(1.5)], [0, Fraction(3, 2)]),
    ],
)
def test_gaps_between_scores_are_exact(entries, gaps):
    scores = read_scores(entries)
    assert gaps == [scores.gap(index) for index in range(scores.size)]
    rounded = [math.inf if gap is None or gap > 2**1024 else float(gap) for gap in gaps]
    assert rounded == scores.gaps(0, scores.size).tolist()


def test_a_choice_leaves_the_scores_as_they_were():
    array = np.array([1.0, 5.0, NEVER])
    ExponentialMechanism(sensitivity=1, epsilon=1).release(array)
    assert [1.0, 5.0, NEVER] == array.tolist()


@pytest.mark.parametrize(
    ("code", "entries"),
    [
        ("DPA109", []),
        ("DPA109", [NEVER, NEVER]),
        ("DPA109", np.array([])),
        ("DPA102", [1.0, math.nan]),
        ("DPA102", [1.0, math.inf]),
        ("DPA102", [1, math.nan]),
        ("DPA102", [1, math.inf]),
        ("DPA102", np.array([math.nan, NEVER])),
        ("DPA105", 7),
        ("DPA105", "123"),
        ("DPA105", None),
        ("DPA101", [[1, 2], [3, 4]]),
        ("DPA105", np.array([[1, 2]])),
        ("DPA105", np.array([True, False])),
        ("DPA105", np.array([1j])),
        ("DPA101", [True, 2]),
        ("DPA101", [1, "2"]),
        ("DPA101", [1, None]),
    ],
)
def test_bad_scores_are_refused_before_bits_are_drawn_or_anything_is_logged(code, entries, unasked):
    mechanism = ExponentialMechanism(sensitivity=1, epsilon=1)
    with recording() as log:
        for call in (lambda: mechanism.release(entries, unasked), lambda: mechanism.releases(entries, 3, unasked)):
            with pytest.raises(DpauditError, match=code):
                call()
    assert [] == log


junk = (
    st.none()
    | st.booleans()
    | st.text(max_size=3)
    | st.sampled_from([math.nan, math.inf])
    | st.binary(max_size=2)
    | st.complex_numbers()
)


@given(entries=st.lists(finite | st.integers(), max_size=5), bad=junk, position=st.integers(0, 5))
def test_scores_with_junk_among_them_are_refused(entries, bad, position, unasked):
    with pytest.raises(DpauditError) as caught:
        ExponentialMechanism(sensitivity=1, epsilon=1).release([*entries[:position], bad, *entries[position:]], unasked)
    assert not isinstance(bad, str) or len(bad) < 2 or bad not in caught.value.message


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        ("DPA104", {"sensitivity": 0, "epsilon": 1}),
        ("DPA104", {"sensitivity": 1, "epsilon": -1}),
        ("DPA102", {"sensitivity": math.inf, "epsilon": 1}),
        ("DPA101", {"sensitivity": 1, "epsilon": None}),
        ("DPA105", {"sensitivity": 1, "epsilon": 1, "monotonic": 1}),
        ("DPA103", {"sensitivity": 1, "epsilon": "1e-300"}),
        ("DPA103", {"sensitivity": 1, "epsilon": 1, "adjacency": "nearby"}),
    ],
)
def test_bad_parameters_are_refused(code, arguments):
    with pytest.raises(DpauditError, match=code):
        ExponentialMechanism(**arguments)


@pytest.mark.parametrize("count", [0, -1, 2**32 + 1, 1.5, True, "3"])
def test_bad_counts_are_refused(count, unasked):
    with pytest.raises(DpauditError, match=r"DPA10[35]"):
        ExponentialMechanism(sensitivity=1, epsilon=1).releases([1, 2], count, unasked)


@pytest.mark.parametrize("source", [7, "seed", np.random.default_rng(1)])
def test_a_seed_is_no_source_of_bits(source):
    with pytest.raises(DpauditError, match="DPA105"):
        ExponentialMechanism(sensitivity=1, epsilon=1).release([1, 2], source)


@pytest.mark.parametrize(("monotonic", "temperature"), [(False, Fraction(6)), (True, Fraction(3))])
def test_the_log_holds_what_was_done_and_its_price_is_the_mechanisms_loss(monotonic, temperature):
    mechanism = ExponentialMechanism(sensitivity="3/2", epsilon="1/2", monotonic=monotonic, adjacency="replace_one")
    assert temperature == mechanism.temperature
    with recording() as log:
        mechanism.release([1, 2, 3])
        mechanism.releases([1, 2, 3], 5, InsecureSeededSourceForTestsOnly(1))
    assert [1, 5] == [release.count for release in log]
    assert [True, False] == [release.secure for release in log]
    for release in log:
        assert "exponential_mechanism" == release.kind
        assert (("monotonic", Fraction(int(monotonic))), ("temperature", temperature)) == release.parameters
        assert (Fraction(3, 2), mechanism.adjacency, 1) == (release.sensitivity, release.adjacency, release.dimension)
    for epsilon in ("0", "1/10", "1/4", "1/2"):
        assert mechanism.loss.delta(epsilon=epsilon) == price_releases(log[:1]).delta(epsilon=epsilon)
    assert mechanism.claim.guarantee.epsilon == mechanism.loss.epsilon(delta=0).upper


def test_a_mechanism_is_a_value_and_can_be_built_from_its_description():
    mechanism = ExponentialMechanism(sensitivity="1/3", epsilon=0.1)
    text = mechanism.to_dict()
    assert "ExponentialMechanism" == text.pop("mechanism")
    assert "False" == text.pop("monotonic")
    assert mechanism == ExponentialMechanism(**text)
    assert hash(mechanism) == hash(ExponentialMechanism(**text))
    assert "epsilon about 0.1" in mechanism.describe()
