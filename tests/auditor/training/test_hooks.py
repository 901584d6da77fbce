"""Canaries that draw their own coins, bets on every step, and hooks into an optimizer that works as that of Opacus does."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpaudit.auditor.membership import DPSGD, audit_scores
from dpaudit.auditor.training import DiracCanaries, OpacusCanaries, audit_steps, from_opacus, training_report
from dpaudit.auditor.training.steps import _MARKS, _count, _log_wealth, _mix
from dpaudit.errors import InvalidArgument

LAW = DPSGD(rate="1/4", steps=8, noise_multiplier=1)


class Tensor:
    """The few methods of a tensor that the hooks call."""

    def __init__(self, values):
        self.values = np.array(values, dtype=np.float64)
        self.shape, self.dtype = self.values.shape, self.values.dtype

    def numel(self):
        return self.values.size

    def detach(self):
        return self

    def cpu(self):
        return self

    def double(self):
        return self

    def numpy(self):
        return self.values

    def clone(self):
        return Tensor(self.values)

    def reshape(self, *shape):
        return Tensor(self.values.reshape(*shape))

    def view_as(self, other):
        return Tensor(self.values.reshape(other.shape))

    def copy_(self, other):
        self.values[...] = other.values

    def __setitem__(self, place, value):
        self.values[place] = value

    def __getitem__(self, place):
        return self.values[place]

    def __eq__(self, other):
        return self.values == other.values

    __hash__ = object.__hash__

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.values, dtype=dtype)


class Optimizer:
    """The order of calls of `DPOptimizer` of Opacus 1.6.0, for one layer of 40 parameters."""

    loss_reduction = "mean"

    def __init__(self, *, noise=1.0, told=1.0, expected=5):
        self.rng, self.noise, self.noise_multiplier, self.max_grad_norm = np.random.default_rng(4), noise, told, 1.0
        self.params, self.param_groups, self.expected_batch_size = [Tensor(np.zeros(40))], [{"lr": 0.5}], expected
        self.accumulated_iterations, self.skips = 1, []

    def load(self, gradients):
        self.grad_samples = [Tensor(gradients)]

    def clip_and_accumulate(self):
        rows = self.grad_samples[0].values
        kept = rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
        before = getattr(self.params[0], "summed_grad", None)
        self.params[0].summed_grad = Tensor(kept.sum(axis=0) + (0 if before is None else before.values))

    def add_noise(self):
        self.params[0].grad = Tensor(self.params[0].summed_grad.values + self.noise * self.rng.normal(size=40))

    def scale_grad(self):
        self.params[0].grad = Tensor(self.params[0].grad.values / self.expected_batch_size)

    def step(self):
        self.clip_and_accumulate()
        if self.skips and self.skips.pop(0):
            return
        self.add_noise()
        self.scale_grad()
        self.params[0].values -= 0.5 * self.params[0].grad.values
        self.params[0].summed_grad = None


class Model:
    """The few methods of a module that the hooks call."""

    batch_first = False

    def __init__(self, outside=()):
        self.outside = [*outside]

    def named_parameters(self):
        return [(f"_module.{number}.weight", one) for number, one in enumerate(self.outside)]

    def register_forward_hook(self, hook):
        raise AssertionError("modules of a model whose batches do not come first are not judged")


class Loader:
    """Batches of ten of forty records, by coins."""

    dataset, sample_rate = range(20), 0.25

    def __init__(self):
        rng = np.random.default_rng(6)
        self.batch_sampler = [list(np.flatnonzero(rng.random(20) < 0.25)) for _ in range(60)]


def train(optimizer, loader, *, split=False):
    rng = np.random.default_rng(5)
    for batch in loader.batch_sampler:
        gradients = 2 * rng.normal(size=(len(batch), 40))
        if split:
            optimizer.skips.append(True)
            optimizer.load(gradients[:2])
            optimizer.step()
            optimizer.skips.append(False)
        optimizer.load(gradients[2:] if split else gradients)
        optimizer.step()


@pytest.mark.parametrize("split", [False, True])
def test_a_watch_of_an_optimizer_sees_logical_batches_and_finds_missing_noise(split):
    for noise, expected in ((1.0, set()), (0.5, {"noise"})):
        optimizer, loader = Optimizer(noise=noise), Loader()
        watch = from_opacus(Model(), optimizer, loader, steps=60, divisor=5)
        train(optimizer, loader, split=split)
        assert expected == {check.name for check in watch.violations}
        assert len(watch.observed) == 60


def test_the_divisor_of_opacus_is_judged_by_the_length_of_the_neighbouring_datasets():
    for expected, status in ((5, "violated"), (6, "holds")):
        watch = from_opacus(Model(), Optimizer(expected=expected), Loader(), steps=60)
        assert status == watch.divisor.status


def test_a_parameter_that_learns_outside_the_private_optimizer_is_named():
    head = Tensor(np.zeros(3))
    optimizer, loader = Optimizer(), Loader()
    watch = from_opacus(Model([head]), optimizer, loader, steps=60, divisor=5)
    train(optimizer, loader)
    assert () == watch.violations
    head.values += 1
    assert [("parameters outside", "0.weight")] == [(check.name, check.where) for check in watch.violations]


@pytest.mark.parametrize(("moves", "status"), [(True, "violated"), (False, "not judged")])
def test_a_batch_that_is_not_released_by_the_private_optimizer_is_counted(moves, status):
    optimizer, loader = Optimizer(), Loader()
    watch = from_opacus(Model(), optimizer, loader, steps=30, divisor=5)
    rng = np.random.default_rng(5)
    for number, batch in enumerate(loader.batch_sampler):
        if number % 2:
            optimizer.load(rng.normal(size=(len(batch), 40)))
            optimizer.step()
        elif moves:
            optimizer.params[0].values -= 0.1
    found = {check.name: check for check in watch.checks}
    assert status == found["batches released"].status
    assert (status == "violated") == found["batches released"].where.endswith("Optimizer.step")


def test_an_optimizer_of_another_kind_is_refused():
    for given in ((Model(), object(), Loader()), (Model(), Optimizer(), object()), (object(), Optimizer(), Loader())):
        with pytest.raises(InvalidArgument):
            from_opacus(*given, steps=1)


def test_canaries_in_an_optimizer_are_seen_where_they_are_in():
    optimizer = Optimizer(noise=0.05)
    canaries = OpacusCanaries(optimizer, rate=1, canaries=30, seed=1)
    rng = np.random.default_rng(5)
    for _ in range(3):
        optimizer.load(0.01 * rng.normal(size=(2, 40)))
        optimizer.step()
    assert canaries.scores.shape == (3, 30)
    assert ((canaries.scores.mean(axis=0) > 0.5) == canaries.included).all()
    assert canaries.audit(delta="1e-5").epsilon > 1


def test_canaries_go_into_sums_of_every_form_and_leave_that_form():
    form = {"second": np.zeros((3, 2)), "first": [np.zeros(4), np.zeros(2)]}
    canaries = DiracCanaries(12, clip=2, rate=1, canaries=12, seed=3)
    noisy, state = canaries.wrap(lambda total, state: (total, state + 1))(form, 7)
    assert state == 8
    assert [list(noisy), noisy["second"].shape, len(noisy["first"])] == [["second", "first"], (3, 2), 2]
    assert (canaries.scores[0] == canaries.included).all()
    assert 2 * canaries.included.sum() == sum(part.sum() for part in (noisy["second"], *noisy["first"]))
    with pytest.raises(InvalidArgument):
        canaries.wrap(lambda total: total)(np.zeros(11))


def test_gradients_of_records_do_not_hide_canaries():
    rng, canaries = np.random.default_rng(6), DiracCanaries(300, clip=1, rate=1, canaries=200, seed=4)
    noisy_sum = canaries.wrap(lambda total: total + 0.2 * rng.normal(size=300))
    for _ in range(3):
        noisy_sum(100 * rng.normal(size=300))
    assert ((canaries.scores.mean(axis=0) > 0.5) == canaries.included).all()


def steps_of(rng, noise, canaries=60, steps=8):
    coins = rng.random((steps, canaries)) < 0.5
    return coins * (rng.random((steps, canaries)) < 0.25) + noise * rng.normal(size=(steps, canaries)), coins


def test_bets_on_steps_that_keep_their_claim_reach_the_limit_no_more_often_than_alpha():
    """A bound on the noise is wrong only if the bets against the true one reach the limit."""
    rng, wrong = np.random.default_rng(1), {"all": 0, "one": 0}
    for _ in range(800):
        scores, coins = steps_of(rng, 1.0)
        each = _log_wealth(_count(scores, coins, 1.0, 0.25), LAW, 1.0, 1.0)
        wrong["all"] += _mix(np.cumsum(each, axis=0)).max() >= math.log(1 / 0.05)
        wrong["one"] += _mix(each).max() >= math.log(8 / 0.05)
    assert all(binom.sf(count - 1, 800, 0.05) > 1e-9 for count in wrong.values())


def test_a_bet_neither_gains_nor_loses_in_the_mean_at_the_truth_where_its_mark_is_the_best_event():
    """For rate 1 the price at each mark is that of the best event, so that the mean wealth of a step is 1: no bet is too dear."""
    rng, law = np.random.default_rng(4), DPSGD(rate=1, steps=1, noise_multiplier=1)
    coins = rng.random((400_000, 1)) < 0.5
    scores = coins + rng.normal(size=coins.shape)
    above = scores[:, 0, None] - 0.5 > np.array(_MARKS)
    counts = np.stack([above & coins, above & ~coins, ~above], axis=2).astype(float)
    wealth = np.exp(_log_wealth(counts, law, 1.0, 1.0))
    assert np.abs(wealth.mean(axis=0) - 1).max() < 6 * wealth.std(axis=0).max() / math.sqrt(len(wealth))


def test_steps_with_less_noise_are_refuted_and_the_step_is_named():
    rng = np.random.default_rng(2)
    scores, coins = steps_of(rng, 1.0, canaries=600)
    scores[3] = coins[3] * (rng.random(600) < 0.25) + 0.1 * rng.normal(size=600)
    found = audit_steps(scores, coins, law=LAW, delta="1e-5")
    assert found.refuted
    assert found.refuted_steps == (3,)
    scores, coins = steps_of(rng, 0.5, canaries=600)
    found = audit_steps(scores, coins, law=LAW, delta="1e-5")
    assert 0.5 < found.noise_multiplier < 1
    assert 0 < found.epsilon < LAW.epsilon(noise_multiplier=0.5, delta=found.delta)


def test_fresh_coins_are_drawn_for_every_step():
    canaries = DiracCanaries(400, clip=1, rate="1/4", canaries=400, fresh=True, seed=2)
    rng = np.random.default_rng(3)
    add = canaries.wrap(lambda total: total + 0.1 * rng.normal(size=400))
    for _ in range(8):
        add(np.zeros(400))
    assert canaries.included.shape == canaries.scores.shape == (8, 400)
    assert 100 < (canaries.included[0] != canaries.included[1]).sum() < 300
    assert audit_steps(canaries.scores, canaries.included, law=LAW, delta="1e-5").refuted
    assert not audit_steps(-canaries.scores, canaries.included, law=LAW, delta="1e-5").refuted


@pytest.mark.parametrize(
    ("scores", "law"),
    [
        (np.zeros(5), LAW),
        (np.full((2, 2), math.nan), LAW),
        (np.zeros((9, 2)), LAW),
        (np.zeros((2, 2)), DPSGD(rate=1, steps=2)),
    ],
)
def test_scores_of_steps_that_cannot_be_are_refused(scores, law):
    with pytest.raises(InvalidArgument):
        audit_steps(scores, np.zeros(np.shape(scores)), law=law, delta="1e-5")


def test_a_report_says_of_each_statement_what_it_rests_on_and_what_was_not_checked():
    optimizer, loader = Optimizer(noise=0.5), Loader()
    watch = from_opacus(Model(), optimizer, loader, steps=60, divisor=5)
    train(optimizer, loader)
    rng = np.random.default_rng(2)
    scores, coins = steps_of(rng, 0.5, canaries=600)
    steps = audit_steps(scores, coins, law=LAW, delta="1e-5")
    one = audit_scores(scores.sum(axis=0), coins[0], delta="1e-5")
    told = training_report(watch, delta="1e-5", scores=one, family=LAW, steps=steps).splitlines()
    assert told[0].startswith("The loop: one mistake. Evidence for: clipping, fresh noise")
    assert "Optimizer.add_noise. Add noise_multiplier" in told[1]
    assert " as told; epsilon " in told[2]
    assert [one.assumption in told[3], "do not influence" in told[4], steps.holds_for in told[5], steps.assumption in told[6]] == [
        True
    ] * 4
    assert "every step of the run" not in told[5]
    assert told[7].startswith("Not checked: ")
