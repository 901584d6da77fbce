"""The exponential mechanism: integer proposals that dominate, exact probabilities, scores of every kind, refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpaudit.accounting import price
from dpaudit.errors import DpauditError
from dpaudit.exact import ball, working_precision
from dpaudit.releases import recording
from mechanisms import ExponentialMechanism, InsecureSeededSourceForTestsOnly
from mechanisms.proposals import (
    CLAMP,
    STEPS,
    SURE_ACCEPTANCE,
    Widths,
    draw_many,
    finest_precision,
    propose,
    repeated_precision,
    staircase,
    table,
    trial,
)
from mechanisms.sampling.random import RecordingSource, TapeSource
from mechanisms.scores import read_scores

pytestmark = pytest.mark.filterwarnings("ignore::mechanisms.sampling.random.InsecureNoiseWarning")

NEVER = -math.inf
finite = st.floats(allow_nan=False, allow_infinity=False)
score_lists = (
    st.lists(finite | st.just(NEVER), min_size=1, max_size=12)
    | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=12)
    | st.lists(st.fractions() | st.integers() | finite, min_size=1, max_size=12)
    | st.lists(st.integers(-200, 200), min_size=1, max_size=12)
)
temperatures = st.fractions(min_value="1/1000", max_value=1000, max_denominator=1000) | st.sampled_from(
    [Fraction(2) ** 900, Fraction(2) ** -900, Fraction(1, 3)]
)


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


@pytest.mark.parametrize("precision", [6, 31, 32, 50, 62])
def test_the_table_holds_powers_of_two_rounded_up(precision):
    entries = table(precision)
    for index in (0, 1, 2, 1000, STEPS // 2, STEPS - 1):
        entry, power = int(entries[index]), 2 ** (precision * STEPS - index)
        assert (entry - 1) ** STEPS < power <= entry**STEPS


def test_the_table_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        table(40)[0] = 0


@given(entries=score_lists, temperature=temperatures, precision=st.sampled_from([6, 20, 32, 42, 58]))
def test_every_proposal_dominates_its_weight_and_is_accepted_often_enough(entries, temperature, precision):
    assume(any(entry != NEVER for entry in entries))
    scores = read_scores(entries)
    weights = staircase(scores.gaps(0, scores.size), temperature, precision).tolist()
    assert all(1 <= weight <= 2**precision + 1 for weight in weights)
    for index, weight in enumerate(weights):
        gap = scores.gap(index)
        with working_precision(300):
            true = ball(0) if gap is None else (-ball(gap / temperature)).exp() * 2**precision
            assert true <= weight
            assert true >= (weight - 2) * ball(Fraction(SURE_ACCEPTANCE))


@given(halvings=st.integers(1, CLAMP), bits=st.integers(40, 53), above=st.booleans())
def test_a_proposal_dominates_its_weight_just_before_and_after_a_step_of_the_staircase(halvings, bits, above):
    with working_precision(300):
        edge = ball(halvings) * ball(2).log() / STEPS * (1 + ball(Fraction(1 if above else -1, 2**bits)))
        gap = float(edge.mid())
        weight = int(staircase(np.array([gap]), Fraction(1), 62)[0])
        assert (-ball(Fraction(gap))).exp() * 2**62 <= weight


def test_equal_scores_have_equal_weights_wherever_they_stand():
    scores = np.full(100_003, 1.1)
    scores[77] = 5.3
    weights = staircase(read_scores(scores).gaps(0, scores.size), Fraction(1, 7), 45)
    assert 1 == np.unique(np.delete(weights, 77)).size


@pytest.mark.parametrize("size", [1, 2, 3, 1024, 1025, 2**20, 2**30])
@pytest.mark.parametrize("precision", [finest_precision, repeated_precision])
def test_the_weights_of_all_candidates_sum_to_less_than_the_largest_integer(size, precision):
    assert size * (2 ** precision(size) + 2) < 2**63
    assert precision(size) >= 30


def test_a_shift_never_reaches_the_width_of_a_word():
    assert 63 == CLAMP // STEPS
    assert 1 == staircase(np.array([math.inf]), Fraction(1), 62)[0]


@pytest.mark.parametrize(
    ("entries", "temperature"),
    [
        ([0, 0, 0], Fraction(1)),
        ([3, 1, 2], Fraction(1)),
        ([0.5, NEVER, -1.25, 0.25, 0.0], Fraction(2, 3)),
        ([1e300, -1e300, 1e300], Fraction(5)),
        ([Fraction(1, 3), Fraction(1, 2), 0], Fraction(1, 10)),
    ],
)
def test_a_trial_chooses_each_candidate_with_its_exact_probability(entries, temperature, outcomes):
    proposal = propose(read_scores(entries), temperature, 6)
    widths = Widths(index=9, coin=1, step=1)
    found, unassigned = outcomes(lambda tape: trial(proposal, tape, widths))
    assert set(found) <= {None, *range(len(entries))}
    usable = Fraction(2**9 // proposal.total, 2**9)
    for index in range(len(entries)):
        gap = proposal.scores.gap(index)
        with working_precision(200):
            true = ball(0) if gap is None else (-ball(gap / temperature)).exp() * ball(usable * 2**6)
            lower = found.get(index, Fraction(0))
            assert lower == 0 or ball(lower) <= true
            assert true <= ball(lower + unassigned)


@pytest.mark.parametrize("size", [5, 2**15, 2**15 + 1, 70_000])
def test_the_number_drawn_finds_its_candidate_in_whichever_chunk(size):
    proposal = propose(read_scores(np.arange(size) % 7), Fraction(3), finest_precision(size))
    running = np.cumsum(proposal.weights(0, size))
    for index in {0, 1, 4, size // 2, size - 2, size - 1}:
        for place in (int(running[index]) - 1, int(running[index - 1]) if index else 0):
            tape = TapeSource(place << 64, 192 + 64)  # the coin reads zero, which accepts
            assert index == trial(proposal, tape)


def test_numbers_beyond_the_last_multiple_of_the_total_are_refused():
    proposal = propose(read_scores([0, 0, 0]), Fraction(1), 6)
    widths = Widths(index=9, coin=1, step=1)
    beyond = 512 // proposal.total * proposal.total
    assert trial(proposal, TapeSource(beyond, 9), widths) is None
    assert trial(proposal, TapeSource((beyond - 1) << 1, 10), widths) == 2


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


def test_repeated_choices_follow_the_law_when_most_proposals_are_refused(false_alarm_level):
    entries, temperature = [0.0, -0.5, -3.0, -9.0], Fraction(1)
    proposal = propose(read_scores(entries), temperature, 1)
    draws = draw_many(proposal, 4000, InsecureSeededSourceForTestsOnly(13))
    assert_follows(np.bincount(draws, minlength=4), probabilities(entries, temperature), false_alarm_level)


def test_a_choice_takes_the_same_number_of_bits_whatever_the_scores():
    mechanism = ExponentialMechanism(sensitivity=1, epsilon=1)
    spent = []
    for entries in ([0.0] * 100, [0.0] * 99 + [1e6], list(range(100)), [NEVER] * 99 + [3.0]):
        source = RecordingSource(InsecureSeededSourceForTestsOnly(14))
        for _ in range(20):
            mechanism.release(entries, source)
        spent.append([bits for bits, _ in source.calls])
    assert [[192, 64] * 20] * 4 == spent


class Script:
    """A source that answers each question with copies of the next number of a script."""

    secure = False

    def __init__(self, *answers):
        self.answers = list(answers)

    def uniform(self, bits, size):
        return np.full(size, self.answers.pop(0), dtype=np.uint64)


def test_repeated_choices_refuse_numbers_beyond_the_last_multiple_of_the_total():
    proposal = propose(read_scores([0, 0, 0]), Fraction(1), 20)
    beyond = 2**64 // proposal.total * proposal.total
    draws = draw_many(proposal, 5, Script(beyond, 0, 2**64 - 1, 0, beyond - 1, 0))  # every other answer is for coins: accept
    assert [2] * 5 == draws.tolist()


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


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "3"])
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
        assert mechanism.loss.delta(epsilon=epsilon) == price(log[:1]).delta(epsilon=epsilon)
    assert mechanism.claim.guarantee.epsilon == mechanism.loss.epsilon(delta=0).upper


def test_a_mechanism_is_a_value_and_can_be_built_from_its_description():
    mechanism = ExponentialMechanism(sensitivity="1/3", epsilon=0.1)
    text = mechanism.to_dict()
    assert "ExponentialMechanism" == text.pop("mechanism")
    assert "False" == text.pop("monotonic")
    assert mechanism == ExponentialMechanism(**text)
    assert hash(mechanism) == hash(ExponentialMechanism(**text))
    assert "epsilon about 0.1" in mechanism.describe()
