"""Hooks into JAX and into modules of torch, on doubles of the few functions that they call."""

import contextlib
from collections import OrderedDict
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from dpaudit.auditor.training import TrainingClaim, from_jax_privacy, from_keras, jax_hooks, modules
from dpaudit.auditor.training.modules import ModelWatch
from dpaudit.errors import InvalidArgument, Unsupported

RECORDS, SIZE, STEPS = 120, 30, 40
CLAIM = TrainingClaim(noise_multiplier=1, clip=1, rate="1/4", steps=STEPS, records=RECORDS, divisor=30)


def leaves(tree):
    return [leaf for part in tree for leaf in leaves(part)] if isinstance(tree, list | tuple) else [] if tree is None else [tree]


def mapped(function, tree):
    return type(tree)(mapped(function, part) for part in tree) if isinstance(tree, list | tuple) else function(tree)


def vmap(function, in_axes=0):
    """A loop over the first axis, for one array of results."""

    def over(*given):
        axes = in_axes if isinstance(in_axes, tuple) else (0,) * len(given)
        count = next(len(leaves(part)[0]) for part, axis in zip(given, axes, strict=True) if axis == 0 and leaves(part))
        split = [
            [part if axis is None or part is None else mapped(lambda leaf, at=at: leaf[at], part) for at in range(count)]
            for part, axis in zip(given, axes, strict=True)
        ]
        return np.stack([function(*one) for one in zip(*split, strict=True)])

    return over


@pytest.fixture
def jax(monkeypatch):
    double = SimpleNamespace(
        jit=lambda function: function,
        vmap=vmap,
        grad=lambda function: function,  # losses of these tests are gradients
        numpy=np,
        tree=SimpleNamespace(leaves=leaves, map=mapped),
        debug=SimpleNamespace(callback=lambda function, *given, ordered: function(*given)),
        core=SimpleNamespace(Tracer=type("Tracer", (), {})),
        effects_barrier=lambda: None,
    )
    monkeypatch.setattr(jax_hooks, "_jax", lambda: double)


class Privatizer(NamedTuple):
    init: object
    update: object


class Sums:
    """Clipped gradients of a linear function, as `clipped_grad` gives them."""

    l2_norm_bound, has_aux = 1.0, False

    def __init__(self, *, clips=True, mixes=False):
        self.clips, self.mixes = clips, mixes

    def __call__(self, parameters, rows, is_padding_example=None):
        rows = rows - (rows.mean(axis=0) if self.mixes and len(rows) else 0)
        kept = rows / np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True)) if self.clips else rows
        return (kept if is_padding_example is None else kept * ~is_padding_example[:, None]).sum(axis=0)


def train(sums, *, noise=1.0, padded=False, masked=True):
    rng = np.random.default_rng(3)
    records = rng.normal(size=(RECORDS, SIZE))
    batches = [np.flatnonzero(rng.random(RECORDS) < 0.25) for _ in range(STEPS)]
    if padded:
        batches = [np.append(batch, np.full(-len(batch) % 16, -1)) for batch in batches]
    add = Privatizer(lambda parameters: 0, lambda clean, state, params: (clean + noise * rng.normal(size=SIZE), state))
    watch = from_jax_privacy(CLAIM, batches=batches, sums=sums, privatizer=add)
    for batch in watch.batches:
        named = {"is_padding_example": batch < 0} if padded and masked else {}
        watch.privatizer.update(watch.sums(None, records[batch], **named), 0)
    return {check.name: check.where for check in watch.violations}


def test_a_sound_training_in_jax_is_not_flagged_with_padding_or_without(jax):
    assert {} == train(Sums())
    assert {} == train(Sums(), padded=True)


@pytest.mark.parametrize(
    ("options", "found", "call"),
    [
        ({"sums": Sums(), "noise": 0.5}, "noise", "watch.privatizer.update"),
        ({"sums": Sums(clips=False)}, "clipping", "watch.sums"),
        ({"sums": Sums(mixes=True)}, "clipping", "watch.sums"),
        ({"sums": Sums(), "padded": True, "masked": False}, "clipping", "watch.sums"),
    ],
)
def test_a_mistake_in_jax_is_named_with_the_line_that_calls_it(jax, options, found, call):
    violations = train(**options)
    assert call in violations[found]
    assert violations[found].startswith("test_frameworks.py:")


class KerasModel:
    """The parts of a model of `jax_privacy.keras_api` that are hooked into."""

    def __init__(self, **changed):
        told = {
            "gradient_accumulation_steps": 1,
            "train_size": RECORDS,
            "clipping_norm": 1.0,
            "batch_size": 30,
            "train_steps": STEPS,
        }
        self._dp_params = SimpleNamespace(**told | {"rescale_to_unit_norm": False} | changed)
        self.rng = np.random.default_rng(3)
        self.optimizer = SimpleNamespace(stateless_apply=lambda moments, grads, now: ([now[0] - 0.1 * grads[0]], moments))
        self.noise = 1.0

    def get_noise_multiplier(self):
        return 1.0

    def compute_loss_and_updates(self, variables, fixed, metrics, x, y, w, training, optimizer_variables):
        return x[0], None

    def train_step(self, state, data):
        x, _, weights = data
        kept = (x / np.maximum(1, np.linalg.norm(x, axis=1, keepdims=True)) * weights[:, None]).sum(axis=0)
        grads = [(kept + self.noise * self.rng.normal(size=SIZE)) / 30]
        return self.optimizer.stateless_apply((), grads, state[0])[0]

    def fit(self, records):
        now = [np.zeros(SIZE)]
        for _ in range(STEPS):
            batch = np.flatnonzero(self.rng.random(len(records)) < 0.25)
            batch = np.append(batch, np.full(-len(batch) % 16, -1))
            now = self.train_step((now, (), (), ()), (records[batch], batch[:, None], 1.0 * (batch >= 0)))


def test_a_keras_model_is_watched_through_its_fit(jax):
    records = 3 * np.random.default_rng(3).normal(size=(RECORDS, SIZE))
    for noise, found in ((1.0, {}), (0.5, {"noise": "jax_privacy.keras_api"})):
        model = KerasModel()
        model.noise = noise
        watch = from_keras(model, records)
        model.fit(records)
        assert found == {check.name: check.where for check in watch.violations}
        assert "holds" == {check.name: check.status for check in watch.checks}["update"]


def test_models_that_cannot_be_watched_are_refused(jax):
    with pytest.raises(Unsupported):
        from_keras(KerasModel(gradient_accumulation_steps=2), np.eye(RECORDS))
    for model, records in ((object(), []), (KerasModel(), np.ones((RECORDS, 2))), (KerasModel(), np.eye(5))):
        with pytest.raises(InvalidArgument):
            from_keras(model, records)
    with pytest.raises(InvalidArgument):
        from_jax_privacy(CLAIM, batches=[], sums=Sums(), privatizer=object())


class Numbers(np.ndarray):
    """An array with the methods of a tensor."""

    def norm(self):
        return np.linalg.norm(np.asarray(self))

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        return np.asarray(self)

    def clone(self):
        return self.copy()

    def copy_(self, other):
        self[...] = other


class Module:
    """A module with one function, hooks, and perhaps a buffer."""

    training = True

    def __init__(self, function, buffer=None):
        self.function, self.kept = function, buffer
        for name in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"):
            setattr(self, name, OrderedDict())

    def register_forward_hook(self, hook):
        self._forward_hooks[len(self._forward_hooks)] = hook

    def register_forward_pre_hook(self, hook):
        self._forward_pre_hooks[0] = hook

    def named_parameters(self):
        return []

    def named_modules(self):
        return [("_module.layer", self)]

    def modules(self):
        return [self]

    def buffers(self):
        return [] if self.kept is None else [self.kept]

    def named_buffers(self, recurse):
        return [("kept", one) for one in self.buffers()]

    def forward(self, rows):
        if self.kept is not None:
            self.kept[...] = 0.9 * self.kept + 0.1 * np.asarray(rows).mean(axis=0)
        return self.function(rows).view(Numbers)

    def __call__(self, rows):
        for hook in self._forward_pre_hooks.values():
            hook(self, (rows,))
        result = self.forward(rows)
        for hook in self._forward_hooks.values():
            hook(self, (rows,), result)
        return result


@pytest.mark.parametrize(
    ("function", "buffer", "status", "said"),
    [
        (np.tanh, None, "holds", ""),
        (lambda rows: rows - rows.mean(axis=0), None, "violated", "alone"),
        (np.tanh, np.zeros(4).view(Numbers), "violated", "buffer"),
        (lambda rows: rows * np.random.default_rng().random(rows.shape), None, "not judged", "no module"),
    ],
    ids=["separate", "centred", "statistics", "dropout"],
)
def test_modules_that_mix_examples_or_keep_statistics_of_them_are_named(monkeypatch, function, buffer, status, said):
    torch = SimpleNamespace(no_grad=contextlib.nullcontext, random=SimpleNamespace(fork_rng=contextlib.nullcontext))
    monkeypatch.setattr(modules, "_torch", lambda: torch)
    module, rng = Module(function, buffer), np.random.default_rng(1)
    watch = ModelWatch(module, [])
    for count in (7, 7, 9):
        rows = rng.normal(size=(count, 4)).view(Numbers)
        before = None if buffer is None else 0.9 * buffer + 0.1 * np.asarray(rows).mean(axis=0)
        module(rows)
        assert buffer is None or np.allclose(before, buffer)  # a look leaves the buffers as the training made them
    assert (status, "layer (Module)" if status == "violated" else "") == (watch.separate.status, watch.separate.where)
    assert said in watch.separate.detail
