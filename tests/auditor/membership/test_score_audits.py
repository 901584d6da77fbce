"""Scores in, bounds out: laws of one canary against closed forms, coverage at the truth and at nothing, files, and the verb."""

import itertools
import json
import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import binom, norm

from dpaudit import GDP, ApproxDP, Claim, PureDP
from dpaudit.accounting import Poisson, gaussian, gdp
from dpaudit.auditor.membership import DPSGD, audit_scores, guesses_p_value, guesses_p_value_under_claim, read_scores
from dpaudit.auditor.membership.experiments import sampled_gaussian_experiment, stated_experiment
from dpaudit.auditor.membership.guesses import CanaryGuesses
from dpaudit.auditor.membership.independent_guesses import independent_p_value, weighted_p_value
from dpaudit.auditor.membership.nested_guesses import (
    NestedGuesses,
    _surprise,
    _weighted_tail,
    _weighting,
    count_nested,
    join_blocks,
    nested_epsilon,
    nested_p_value,
)
from dpaudit.cli import main
from dpaudit.errors import InvalidArgument, TargetFailure

ONE = np.array([1.0])


def gaussian_scores(rng, canaries, mu):
    inside = rng.random(canaries) < 0.5
    return mu * inside + rng.normal(size=canaries), inside


@pytest.mark.parametrize("mu", [0.01, 0.25, 1.0, 4.0])
def test_all_guesses_of_a_gaussian_pair_are_right_as_often_as_its_total_variation_says(mu):
    assert norm.cdf(mu / 2) == pytest.approx(sampled_gaussian_experiment(1.0, 1, 1 / mu).best_share(ONE)[0], abs=1e-7)


@pytest.mark.parametrize(("rate", "steps", "noise"), [("1/10", 50, "1"), ("1/100", 400, "3/5"), ("1/2", 3, "2")])
def test_the_law_of_one_canary_agrees_with_the_accountant_from_above(rate, steps, noise):
    """Right guesses at epsilon 0 are (1 + delta(0)) / 2; the surest share follows from the profile at the loss where it ends."""
    price = steps * gaussian(sigma=noise).sampled(Poisson(rate))
    found = sampled_gaussian_experiment(float(Fraction(rate)), steps, float(Fraction(noise)))
    low, high = price.delta(epsilon=0).floats()
    assert (1 + low) / 2 <= found.best_share(ONE)[0] <= (1 + high) / 2 + 1e-5


def test_the_experiment_of_a_stated_claim_shows_delta_and_responds_at_random_otherwise():
    share = stated_experiment(1.0, 0.01).best_share(np.array([0.02, 1.0]))
    sure = 1 / (1 + math.exp(-1))
    assert [0.5 + sure / 2, 0.01 + 0.99 * sure] == pytest.approx(share)


@pytest.mark.parametrize(("canaries", "guessed"), [(6, 2), (6, 6), (9, 5)])
def test_independent_guesses_are_bounded_by_and_near_the_best_choice_of_guesses(canaries, guessed):
    """A simulation of the attacker who sees the Gaussian scores themselves and guesses the surest."""
    right = surest_guesses(canaries, guessed).sum(axis=1)
    for correct in range(1, guessed + 1):
        near(right >= correct, independent_p_value(correct, guessed, canaries, sampled_gaussian_experiment(1.0, 1, 1 / 1.2)))


@pytest.mark.parametrize(
    ("canaries", "sizes"), [(6, (1, 2)), (9, (2, 6)), (20, (4, 13)), (16, (1, 2, 6, 12)), (40, (2, 7, 17, 32))]
)
@pytest.mark.parametrize("mu", [0.3, 1.2])
def test_guesses_that_count_more_the_surer_they_are_are_bounded_by_and_near_the_best_choice(canaries, sizes, mu):
    right = surest_guesses(canaries, sizes[-1], mu)
    total = sum(right[:, :size].sum(axis=1) for size in sizes)
    for sum_ in range(1, sum(sizes) + 1):
        counts = NestedGuesses(canaries, sizes, (*(0 for _ in sizes[1:]), sum_))
        near(total >= sum_, weighted_p_value(counts, sampled_gaussian_experiment(1.0, 1, 1 / mu)))


def surest_guesses(canaries, guessed, mu=1.2):
    """Whether the surest guesses are right, a row for each of many runs."""
    scores = np.random.default_rng(5).normal(size=(2_000_000 // canaries, canaries)) + mu / 2  # right where positive
    return np.take_along_axis(scores, np.argsort(-np.abs(scores), axis=1)[:, :guessed], axis=1) > 0


def near(happened, bound):
    share = float(np.mean(happened))
    # What happens in every one of these runs may have a probability of a little less than 1.
    assert share - 6 * math.sqrt(share * (1 - share) / len(happened)) - 20 / len(happened) <= bound
    assert bound <= share + 0.03


def test_one_block_of_guesses_gives_the_bound_of_a_fixed_number():
    block = NestedGuesses(100, (60,), (52,))
    fixed = guesses_p_value(CanaryGuesses(canaries=100, guessed=60, correct=52), epsilon="1", delta="1e-6")
    assert fixed <= 0.9 * nested_p_value(block, 1.0, 1e-6) <= fixed + 2e-5


def test_both_events_of_blocks_are_as_probable_as_an_enumeration_says():
    """Eight guesses and then three more: every outcome of randomized response, counted."""
    sizes, right, sure = (8, 11), (7, 10), 1 / (1 + math.exp(-0.5))
    found = NestedGuesses(11, sizes, right)
    least = min(binom.sf(6, 8, sure), binom.sf(9, 11, sure))
    weights, _, _ = _weighting(sizes, 0.5)
    surprise = weighted = 0.0
    for steps in itertools.product((0, 1), repeat=11):
        chance = sure ** sum(steps) * (1 - sure) ** (11 - sum(steps))
        first, rest = sum(steps[:8]), sum(steps[8:])
        surprise += chance * (min(binom.sf(first - 1, 8, sure), binom.sf(first + rest - 1, 11, sure)) <= least * (1 + 1e-9))
        weighted += chance * (weights @ [first, rest] >= weights @ [7, 3])
    assert weights[0] > weights[1] > 0
    assert surprise == pytest.approx(_surprise(found, sure), abs=1e-12)
    assert weighted == pytest.approx(_weighted_tail(found, 0.5), abs=1e-12)
    assert min(surprise / 0.1, weighted / 0.9) == pytest.approx(nested_p_value(found, 0.5, 0.0), abs=1e-7)


def test_a_mechanism_that_reveals_with_probability_delta_is_within_the_nested_level():
    """Fifty canaries, delta .002: revealed ones are guessed first, the others by randomized response at epsilon 1."""
    rng, wrong = np.random.default_rng(11), 0
    for _ in range(400):
        shown = rng.random(50) < 0.002
        right = np.sort(shown)[::-1] | (rng.random(50) < 1 / (1 + math.exp(-1)))
        wrong += nested_p_value(count_nested(right, 50), 1.0, 0.002) <= 0.05
    assert binom.sf(wrong - 1, 400, 0.05) > 1e-9


def count_errors(runs, canaries, alpha, family, noise, delta):
    """Trainings whose bounds are wrong. A bound passes the truth only if the p-value there is at most alpha: that is counted."""
    rng, rate = np.random.default_rng(23), family.rate
    step = gaussian(sigma=Fraction(noise))
    true = (family.steps * (step if rate == 1 else step.sampled(Poisson(rate)))).epsilon(delta=delta).upper
    place = math.ceil(float(true) * 64) / 64
    law, wrong = family.experiment(noise), {"nested": 0, "independent": 0, "curve": 0}
    mu = math.sqrt(family.steps) / noise

    @lru_cache
    def curve(guesses):
        return guesses_p_value_under_claim(guesses, Claim(GDP(mu=Fraction(mu))))

    for _ in range(runs):
        inside = rng.random(canaries) < 0.5
        hits = rng.binomial(family.steps, float(rate), size=canaries)
        scores = hits * inside + noise * math.sqrt(family.steps) * rng.normal(size=canaries)
        found = audit_scores(scores, inside, delta=delta)
        wrong["nested"] += nested_p_value(found.nested, place, float(Fraction(delta))) <= alpha
        wrong["independent"] += found._p_value(law) <= alpha
        wrong["curve"] += rate == 1 and curve(found.surest) <= alpha
    return wrong


@pytest.mark.parametrize("noise", [1e6, 4.0, 0.6])
def test_bounds_of_simulated_trainings_are_wrong_no_more_often_than_stated(noise):
    """At the truth and near nothing, where whatever took an absolute value would always be wrong."""
    for wrong in count_errors(120, 100, 0.1, DPSGD(rate=1, steps=1), noise, "1e-3").values():
        assert binom.sf(wrong - 1, 120, 0.1) > 1e-9


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("rate", "steps", "noise"), [("1", 1, 1e6), ("1", 1, 4.0), ("1", 1, 0.6), ("1/10", 50, 1.14), ("1/10", 50, 30.0)]
)
def test_two_thousand_trainings_keep_every_bound_within_its_level(rate, steps, noise):
    for wrong in count_errors(2000, 200, 0.05, DPSGD(rate=rate, steps=steps), noise, "1e-4").values():
        assert binom.sf(wrong - 1, 2000, 0.05) > 1e-9


def test_scores_against_the_wrong_side_give_no_bound():
    """A score that is high where a canary is out says nothing here: no bound takes the absolute value of a statistic."""
    scores, inside = gaussian_scores(np.random.default_rng(2), 400, 3.0)
    found = audit_scores(-scores, inside, delta="1e-5")
    assert (0, 0, None) == (found.epsilon, found.mu, found.within(DPSGD(rate=1, steps=1)).noise_multiplier)


@pytest.mark.parametrize("scores", [np.ones(400), np.repeat([0.0, 1.0], 200), np.arange(400) % 3], ids=["one", "two", "three"])
def test_equal_scores_show_nothing_in_whatever_order_a_file_has_them(scores):
    inside = np.arange(400) % 2 == 0
    for order in (np.argsort(inside, kind="stable"), np.argsort(~inside, kind="stable")):
        found = audit_scores(scores[order], inside[order], delta=0)
        assert 0 == found.epsilon
        assert 0 == found.mu


def test_a_claim_is_refuted_by_what_it_excludes_and_not_by_what_it_allows():
    scores, inside = gaussian_scores(np.random.default_rng(3), 1000, 2.0)
    for claim, refuted in ((GDP(mu="1/2"), True), (GDP(mu=2), False), (ApproxDP(1, "1e-5"), True), (PureDP(9), False)):
        assert refuted == audit_scores(scores, inside, claim=Claim(claim), delta="1e-5").refuted


def test_steps_weighted_by_their_likelihood_show_more_than_their_sum():
    rng, inside = np.random.default_rng(4), np.random.default_rng(5).random(1000) < 0.5
    steps = 0.7 * rng.normal(size=(50, 1000)) + (rng.random((50, 1000)) < 0.1) * inside
    law = DPSGD(rate="1/10", steps=50, noise_multiplier="0.7")
    plain, weighted = (audit_scores(steps, inside, delta="1e-5", law=one).within(law) for one in (None, law))
    assert plain.epsilon + 1 < weighted.epsilon < law.epsilon(noise_multiplier=0.7, delta=Fraction(1, 10**5))


@pytest.mark.parametrize(
    ("scores", "included", "code"),
    [
        (np.zeros((100, 2)), np.zeros(100), "DPA105"),
        ([math.nan] * 100, [0, 1] * 50, "DPA105"),
        ([0.0] * 100, [2, 0] * 50, "DPA105"),
        ([0.0] * 8, [1, 0] * 4, "DPA103"),
        ([0.0] * 100, [1] * 100, "DPA103"),
    ],
)
def test_what_no_experiment_gives_is_refused(scores, included, code):
    with pytest.raises(InvalidArgument) as refusal:
        audit_scores(scores, included)
    assert code == refusal.value.code


def test_files_of_every_form_hold_the_same_scores(tmp_path):
    scores, inside = np.array([[0.5, 1.5, -2.0], [0.0, 1.0, 2.0]]), np.array([True, False, True])
    lines = [f"{x},{int(coin)},{y}" for x, y, coin in zip(*scores, inside, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["score_1,included,score_2", *lines, ""]))
    (tmp_path / "a.tsv").write_text("\n".join(["score_1,included,score_2", *lines]).replace(",", "\t"))
    rows = [{"included": bool(coin), "score": [x, y]} for x, y, coin in zip(*scores, inside, strict=True)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    np.save(tmp_path / "a.npy", np.column_stack([inside, *scores]))
    np.savez(tmp_path / "a.npz", scores=scores, included=inside)
    for ending in ("csv", "tsv", "jsonl", "npy", "npz"):
        read, coins = read_scores(tmp_path / f"a.{ending}")
        assert scores.tolist() == read.tolist()
        assert inside.tolist() == coins.tolist()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "included,score\n1,0.5\n1,secret\n", "line 3"),
        ("a.csv", "included,score\nmaybe,0.5\n", "line 2"),
        ("a.csv", "in,points\n1,0.5\n", "header"),
        ("a.csv", "included,score\n1,0.5,7\n", "line 2 has 3 cells"),
        ("a.csv", "included,score\n", "no canary"),
        ("a.jsonl", '{"included": 1, "score": NaN}', "line 1"),
        ("a.jsonl", '{"included": 1}', "line 1"),
        ("a.txt", "1 2", "ending"),
        ("a.npy", "nothing", "neither"),
    ],
)
def test_a_file_that_holds_no_scores_is_refused_with_its_line_and_without_its_content(tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    with pytest.raises(TargetFailure, match=said) as refusal:
        read_scores(tmp_path / name)
    assert "DPA406" == refusal.value.code
    assert "secret" not in refusal.value.message


def test_the_verb_prints_every_bound_with_its_assumption_and_draws_the_rates(tmp_path):
    scores, inside = gaussian_scores(np.random.default_rng(6), 400, 3.0)
    np.savez(tmp_path / "s.npz", scores=scores, included=inside)
    asked = ["membership", str(tmp_path / "s.npz"), "--delta", "1e-5", "--mu", "1", "--rate", "1", "--steps", "1"]
    told = CliRunner().invoke(main, [*asked, "--plot", str(tmp_path / "roc.svg"), "--json"])
    found = json.loads(told.stdout)["membership"]
    assert 1 == told.exit_code
    assert found["refuted"]
    assert ["epsilon", "mu", "epsilon"] == [bound["quantity"] for bound in found["bounds"]]
    assert found["bounds"][2]["assumes"] != found["bounds"][0]["assumes"]
    assert "most that the claim allows" in (tmp_path / "roc.svg").read_text()
    assert "refuted, p =" in CliRunner().invoke(main, asked).stdout


def test_the_search_for_epsilon_ends_at_the_first_that_survives():
    guesses = count_nested(np.arange(200) % 10 != 0, 200)
    bound = nested_epsilon(guesses, 1e-5, 0.05)
    assert nested_p_value(guesses, float(bound), 1e-5) <= 0.05 < nested_p_value(guesses, float(bound + Fraction(1, 32)), 1e-5)


def test_many_canaries_bound_epsilon_though_delta_times_their_number_is_one():
    rng, canaries = np.random.default_rng(3), 100_000
    coins = rng.random(canaries) < 0.5
    found = audit_scores(2 * coins + rng.normal(size=canaries), coins, delta="1e-5")
    assert 3.5 < found.epsilon < gdp(mu=2).epsilon(delta="1e-5").lower
    assert 1.2 < found.mu < 2


def test_joined_blocks_are_blocks_that_were_counted_and_delta_costs_its_share():
    counted = count_nested(np.arange(20_000) % 3 > 0, 20_000)
    joined = join_blocks(counted, 1e-5, 0.05)
    assert (
        dict(zip(joined.guessed, joined.correct, strict=True)).items()
        <= dict(zip(counted.guessed, counted.correct, strict=True)).items()
    )
    assert 1 < len(joined.guessed) < len(counted.guessed)
    assert counted == join_blocks(counted, 1e-7, 0.05)
