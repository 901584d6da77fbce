"""Hooks into Opacus, which is handed over and never imported: a watch of its steps and of the model, and canaries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpaudit.auditor.training.canaries import DiracCanaries
from dpaudit.auditor.training.findings import LoopCheck, not_judged
from dpaudit.auditor.training.interference import PUBLIC
from dpaudit.auditor.training.modules import ModelWatch
from dpaudit.auditor.training.moves import BETWEEN
from dpaudit.auditor.training.promises import TrainingClaim
from dpaudit.auditor.training.separate import SEPARATE
from dpaudit.auditor.training.sums import CLIPPING, FRESH, NOISE
from dpaudit.auditor.training.watching import TrainingWatch
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact

RELEASED: Final = "batches released"

_PARTS: Final = ("clip_and_accumulate", "add_noise", "scale_grad", "step", "expected_batch_size", "max_grad_norm")


def from_opacus(
    model: Any, optimizer: Any, loader: Any, *, steps: int, divisor: Exact | None = None, canaries: Any = None
) -> TrainingWatch:
    """Watch every step of a training by Opacus, against the numbers that Opacus tells its accountant.

    Call it after `PrivacyEngine.make_private`, with what that returned, and before the first epoch. Batches that a
    `BatchMemoryManager` splits count as one.

    Args:
      model: the `GradSampleModule`, whose modules are watched too.
      optimizer: the `DPOptimizer`.
      loader: the `DPDataLoader`, whose batches are noted.
      steps: how many steps will be made.
      divisor: the public number by which sums are to be divided, if `expected_batch_size` was set to one; where not given, the
        divisor that Opacus computes from the length of the dataset is judged by that of one record more or less.
      canaries: directions of gradient canaries, as for `audit_training`.
    Returns:
      The watch; its `checks` are those of `audit_training`, and findings name the part of Opacus or the module of the model.
    Raises:
      InvalidArgument: a model that is no module of torch, an optimizer that does not clip and add noise by the usual methods, or a
        loader without sampling rate (DPA105).
    Example:
      >>> from_opacus(object(), object(), [], steps=1)
      Traceback (most recent call last):
      ...
      dpaudit.errors.InvalidArgument: DPA105 optimizer must be a DPOptimizer of Opacus, this one has no clip_and_accumulate.
    """
    _require(optimizer)
    sampler, rate = getattr(loader, "batch_sampler", None), getattr(loader, "sample_rate", None)
    if sampler is None or not isinstance(rate, float):
        raise InvalidArgument("DPA105", "loader must be the DPDataLoader of make_private, with poisson_sampling=True.")
    if not hasattr(model, "register_forward_hook"):
        raise InvalidArgument("DPA105", "model must be the module that make_private returned.")
    records = len(loader.dataset)
    claim = TrainingClaim(
        noise_multiplier=Fraction(optimizer.noise_multiplier),
        clip=Fraction(optimizer.max_grad_norm),
        rate=Fraction(rate),
        steps=steps,
        records=records,
        divisor=Fraction(optimizer.expected_batch_size) if divisor is None else divisor,
    )
    watch = _OpacusWatch(claim, ModelWatch(model, optimizer.params), canaries=canaries)
    watch.homes = _homes(optimizer, sampler)
    if divisor is None:
        watch.divisor = _judge_divisor(optimizer.expected_batch_size, records, rate)
    noted = _Noted(sampler)
    object.__setattr__(loader, "batch_sampler", noted)  # a loader of torch refuses the plain assignment
    _watch_steps(optimizer, noted, watch)
    return watch


class OpacusCanaries(DiracCanaries):
    """Dirac canaries in the steps of an optimizer of Opacus, from now on.

    Args:
      optimizer: the `DPOptimizer`.
      rate: sampling rate that Opacus tells its accountant, `loader.sample_rate`.
      canaries: how many; 1,000 or half of the parameters where not given.
      fresh: whether each canary has a coin of its own in every step, for `audit_steps`.
      seed: seed of the coins and coordinates; fresh where not given.
    Raises:
      InvalidArgument: another optimizer, or a number out of range (DPA101 to DPA105).
    Example:
      >>> OpacusCanaries(object(), rate="1/10")
      Traceback (most recent call last):
      ...
      dpaudit.errors.InvalidArgument: DPA105 optimizer must be a DPOptimizer of Opacus, this one has no clip_and_accumulate.
    """

    def __init__(
        self, optimizer: Any, *, rate: Exact, canaries: int | None = None, fresh: bool = False, seed: int | None = None
    ) -> None:
        """Draw coins and wrap the method that adds noise."""
        _require(optimizer)
        sizes = [part.numel() for part in optimizer.params]
        clip = Fraction(optimizer.max_grad_norm)
        super().__init__(sum(sizes), clip=clip, rate=rate, canaries=canaries, fresh=fresh, seed=seed)
        ends, add_noise = np.cumsum(sizes), optimizer.add_noise

        def add_noise_with_canaries() -> None:
            drawn = self.draw()
            clean = [part.summed_grad.detach().clone().reshape(-1) for part in optimizer.params]
            for part, end, size in zip(optimizer.params, ends, sizes, strict=True):
                flat = part.summed_grad.reshape(-1)
                for place in drawn[(drawn >= end - size) & (drawn < end)]:
                    flat[int(place - end + size)] += self.clip
                part.summed_grad.copy_(flat.view_as(part.summed_grad))
            add_noise()
            self.observe([part.grad.reshape(-1) for part in optimizer.params], clean_sum=clean)

        optimizer.add_noise = add_noise_with_canaries


class _OpacusWatch(TrainingWatch):
    """A watch that also judges how Opacus computes its divisor, which batches were released, and the modules of the model."""

    def __init__(self, claim: TrainingClaim, model: ModelWatch, *, canaries: Any) -> None:
        """Begin with no step."""
        super().__init__(claim, canaries=canaries)
        self.model, self.unreleased = model, 0
        self.divisor: LoopCheck | None = None
        self.homes = dict[str, str]()

    @property
    def checks(self) -> tuple[LoopCheck, ...]:
        """Every check of the steps, of the modules, and of the divisor."""
        own = [self.model.separate if check.name == SEPARATE and not check.cases else check for check in super().checks]
        own.append(self.model.outside)
        if self.unreleased:
            own.append(self._released())
        return tuple(map(self.locate, (*own, *(() if self.divisor is None else (self.divisor,)))))

    def _released(self) -> LoopCheck:
        """Judge batches that were drawn and not released: used to move parameters, or perhaps only looked at."""
        detail = f"{self.unreleased} batches were drawn and not released by a step of the private optimizer"
        if not any(step.move[0] == BETWEEN for step in self.observed):
            return not_judged(RELEASED, detail + "; whatever they were used for was not seen")
        remedy = "Call step of the optimizer that make_private returned, for every batch."
        return LoopCheck(RELEASED, "violated", len(self.observed), detail + ", and parameters move between its steps", remedy)

    def locate(self, check: LoopCheck) -> LoopCheck:
        """Name the part of Opacus that a finding is about."""
        if check.status != "violated" or check.where:
            return check
        return replace(check, where=self.homes.get(check.name, ""))


class _Noted:
    """A sampler of batches that notes what it yields."""

    def __init__(self, sampler: Any) -> None:
        """Begin with no batch."""
        self.sampler, self.batches = sampler, list[list[int]]()

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the batches of the sampler."""
        for batch in self.sampler:
            self.batches.append([int(place) for place in batch])
            yield batch

    def __len__(self) -> int:
        """Batches in an epoch."""
        return len(self.sampler)

    def __getattr__(self, name: str) -> Any:
        """Whatever else the sampler has."""
        return getattr(self.sampler, name)


def _require(optimizer: Any) -> None:
    """Refuse what is no optimizer of Opacus."""
    missing = [name for name in _PARTS if not hasattr(optimizer, name)]
    if missing:
        raise InvalidArgument("DPA105", f"optimizer must be a DPOptimizer of Opacus, this one has no {missing[0]}.")


def _homes(optimizer: Any, sampler: Any) -> dict[str, str]:
    """Say for each check which part of Opacus or of torch does what it is about."""
    private, inner, drawing = (
        f"{type(part).__module__}.{type(part).__qualname__}"
        for part in (optimizer, getattr(optimizer, "original_optimizer", optimizer), sampler)
    )
    methods = {
        CLIPPING: "clip_and_accumulate",
        NOISE: "add_noise",
        FRESH: "add_noise",
        "divisor": "scale_grad",
        PUBLIC: "scale_grad",
    }
    methods |= {"clip": "max_grad_norm", "steps": "step", RELEASED: "step"}
    found = {name: f"{private}.{method}" for name, method in methods.items()}
    return found | {"sampling": drawing, "repeated examples": drawing, "update": f"{inner}.step"}


def _watch_steps(optimizer: Any, noted: _Noted, watch: _OpacusWatch) -> None:
    """Wrap the methods of an optimizer so that each step is reported."""
    samples, clean, sums = list[list[Any]](), list[Any](), list[Any]()

    def before(method: Callable[..., Any], note: Callable[[], None]) -> Callable[..., Any]:
        def noting(*arguments: Any, **named: Any) -> Any:
            note()
            return method(*arguments, **named)

        return noting

    def note_samples() -> None:
        samples.append([part.detach().clone() for part in optimizer.grad_samples])

    def note_clean() -> None:
        clean.extend(part.summed_grad.detach().clone() for part in optimizer.params)

    def note_sums() -> None:
        sums.extend(part.grad.detach().clone() for part in optimizer.params)

    step = optimizer.step

    def watched(*arguments: Any, **named: Any) -> Any:
        old = [part.detach().clone() for part in optimizer.params]
        result = step(*arguments, **named)
        if sums:
            rows = [np.concatenate([np.asarray(one.cpu()) for one in layer]) for layer in zip(*samples, strict=True)]
            divisor = 1.0
            if optimizer.loss_reduction == "mean":
                divisor = float(optimizer.expected_batch_size * optimizer.accumulated_iterations)
            watch.step(
                batch=_batch_of(noted.batches, len(rows[0]), watch),
                gradients=rows,
                noisy_sum=sums,
                clean_sum=clean,
                divisor=divisor,
                clip=optimizer.max_grad_norm,
                learning_rate=optimizer.param_groups[0]["lr"],
                parameters=old,
                updated=[part.detach() for part in optimizer.params],
            )
            for noting in (samples, clean, sums):
                noting.clear()
        return result

    optimizer.clip_and_accumulate = before(optimizer.clip_and_accumulate, note_samples)
    optimizer.add_noise = before(optimizer.add_noise, note_clean)
    optimizer.scale_grad = before(optimizer.scale_grad, note_sums)
    optimizer.step = watched


def _batch_of(batches: list[list[int]], examples: int, watch: _OpacusWatch) -> list[int]:
    """The next noted batch of so many examples; those before it were not released by a step of the private optimizer."""
    while len(batches) > 1 and len(batches[0]) != examples:
        batches.pop(0)
        watch.unreleased += 1
    return batches.pop(0) if batches else []


def _judge_divisor(divisor: float, records: int, rate: float) -> LoopCheck:
    """Judge the divisor of Opacus, floor of records times rate, by lengths of neighbouring datasets (its issues 571, 819)."""
    if divisor != int(records * rate):
        return LoopCheck(PUBLIC, "holds", 1)
    near = {int((records + more) * rate) for more in (-1, 1)} - {divisor}
    if not near:
        detail = f"the divisor is computed from the length of the dataset, though one record more or less leaves {divisor:g}"
        return LoopCheck(PUBLIC, "not judged", 1, detail)
    detail = (
        f"the divisor {divisor:g} is computed from the length of the dataset: with one record more or less it is {near.pop():g}"
    )
    remedy = "Set optimizer.expected_batch_size to a public number after make_private, and tell from_opacus by divisor=."
    return LoopCheck(PUBLIC, "violated", 1, detail, remedy)
