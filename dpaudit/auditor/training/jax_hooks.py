"""Hooks into jax_privacy and its Keras models, which are handed over and never imported; they work within `jax.jit` too."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from dpaudit.auditor.training.findings import LoopCheck
from dpaudit.auditor.training.observed import Array, array_of
from dpaudit.auditor.training.places import caller_of, locate
from dpaudit.auditor.training.promises import TrainingClaim, as_float
from dpaudit.auditor.training.sums import FRESH, NOISE
from dpaudit.auditor.training.watching import TrainingWatch
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import instance_of

_MULTIPLE: Final = 64


def from_jax_privacy(
    claim: TrainingClaim, *, batches: Iterable[Any], sums: Any, privatizer: Any, batch_argnums: int | tuple[int, ...] = 1
) -> JaxWatch:
    """Watch a training by jax_privacy; the loop takes batches, clipped sums and noise from the watch.

    What each example adds is computed by `sums` from that example alone, so that clipping is judged exactly, up to rounding, and
    the noise is the difference that the privatizer makes.

    Args:
      claim: what was told to the accountant.
      batches: positions of the records of each batch, such as `strategy.batch_iterator(records, rng=...)`; -1 is padding.
      sums: what `clipped_grad` returned; it must take a batch of one.
      privatizer: what `gaussian_privatizer` returned.
      batch_argnums: the arguments of `sums` that hold a batch, as they were given to `clipped_grad`.
    Returns:
      A watch with `batches`, `sums` and `privatizer`, to be used in their place.
    Raises:
      InvalidArgument: a function without a bound on what an example adds, or no privatizer (DPA105).
    Example:
      >>> claim = TrainingClaim(noise_multiplier=1, clip=1, rate=1, steps=1, records=1, divisor=1)
      >>> from_jax_privacy(claim, batches=[], sums=len, privatizer=None)
      Traceback (most recent call last):
      ...
      dpaudit.errors.InvalidArgument: DPA105 sums must be what clipped_grad of jax_privacy returned, with its l2_norm_bound.
    """
    if not hasattr(sums, "l2_norm_bound") or not hasattr(sums, "has_aux"):
        raise InvalidArgument("DPA105", "sums must be what clipped_grad of jax_privacy returned, with its l2_norm_bound.")
    if not hasattr(privatizer, "update") or not hasattr(privatizer, "_replace"):
        raise InvalidArgument("DPA105", "privatizer must be what gaussian_privatizer of jax_privacy returned.")
    arguments = (batch_argnums,) if isinstance(batch_argnums, int) else tuple(batch_argnums)
    watch = JaxWatch(instance_of(claim, TrainingClaim, "claim"))
    scale, alone = as_float(claim.clip) / sums.l2_norm_bound, _rows_alone(sums, arguments)

    def clipped_sums(*given: Any, **named: Any) -> Any:
        watch.callers["clipping"] = caller_of(inspect.currentframe())
        found = sums(*given, **named)
        watch.tell_rows(*alone(given, named), scale)
        return found

    def update(clean: Any, state: Any, params: Any = None) -> Any:
        watch.callers[NOISE] = watch.callers[FRESH] = caller_of(inspect.currentframe())
        noisy, state = privatizer.update(clean, state, params)
        watch.tell_sums(clean, noisy, scale)
        return noisy, state

    watch.batches = _Batches(batches, watch)
    watch.sums, watch.privatizer = clipped_sums, privatizer._replace(update=update)
    return watch


def from_keras(model: Any, records: Any) -> JaxWatch:
    """Watch a Keras model that `jax_privacy.keras_api.make_private` made private; call it before the first `fit`.

    The claim is what the model was configured with: its noise multiplier, clip, batch size, number of records and of steps. A model
    of TensorFlow Privacy is watched by `audit_training` in a loop of one's own, since its `fit` keeps gradients within a graph.

    Args:
      model: the private model.
      records: the inputs for `fit`, an array with a row for each record, all different, by which batches are recognised.
    Returns:
      The watch.
    Raises:
      InvalidArgument: another model, or records of which two are the same (DPA105).
      Unsupported: gradients that are accumulated over several batches (DPA202).
    Example:
      >>> from_keras(object(), [])
      Traceback (most recent call last):
      ...
      dpaudit.errors.InvalidArgument: DPA105 model must be what jax_privacy.keras_api.make_private returned.
    """
    told = getattr(model, "_dp_params", None)
    if told is None:
        raise InvalidArgument("DPA105", "model must be what jax_privacy.keras_api.make_private returned.")
    if told.gradient_accumulation_steps != 1:
        raise Unsupported("DPA202", "accumulated gradients are not watched. Set gradient_accumulation_steps to 1.")
    rows = array_of(records, "records")
    places = {row.tobytes(): place for place, row in enumerate(rows)}
    if len(places) < len(rows) or len(rows) != told.train_size:
        raise InvalidArgument("DPA105", f"records must be the {told.train_size} of the model, all different, got {len(places)}.")
    watch = JaxWatch(
        TrainingClaim(
            noise_multiplier=Fraction(model.get_noise_multiplier()),
            clip=Fraction(told.clipping_norm),
            rate=Fraction(told.batch_size, told.train_size),
            steps=told.train_steps,
            records=told.train_size,
            divisor=told.batch_size,
        )
    )
    _watch_fit(model, told, watch, places)
    return watch


def _watch_fit(model: Any, told: Any, watch: JaxWatch, places: dict[bytes, int]) -> None:
    """Wrap the step of a model and its optimizer's."""
    jax, train_step, apply = _jax(), model.train_step, model.optimizer.stateless_apply

    def note_batch(inputs: Any, weights: Any) -> None:
        drawn = [places.get(row.tobytes(), -1) for row in np.asarray(inputs, dtype=np.float64)]
        watch.batches.noted.append(np.where(np.asarray(weights).reshape(len(drawn)) != 0, drawn, -1))

    def watched_step(state: Any, data: Any) -> Any:
        trainable, fixed, moments, metrics = state
        inputs, labels, weights = (*data, None, None)[:3]
        weights = jax.numpy.ones(len(inputs)) if weights is None else weights

        def loss(variables: Any, *one: Any) -> Any:
            single = [part[None] for part in one]
            return model.compute_loss_and_updates(variables, fixed, metrics, *single, training=True, optimizer_variables=moments)[0]

        jax.debug.callback(note_batch, inputs, weights, ordered=True)
        rows = jax.vmap(jax.grad(loss), in_axes=(None, 0, 0, 0))(trainable, inputs, labels, weights)
        watch.tell_rows(rows, len(inputs), 1.0)
        return train_step(state, data)

    def watched_apply(variables: Any, gradients: Any, trainable: Any) -> Any:
        divisor = told.batch_size * (told.clipping_norm if told.rescale_to_unit_norm else 1)
        after = apply(variables, gradients, trainable)
        watch.tell_sums(None, gradients, divisor, moved=(trainable, after[0]))
        return after

    for name in ("clipping", NOISE, FRESH):
        watch.homes[name] = "jax_privacy.keras_api"
    watch.homes |= {"sampling": "fit", "steps": "fit", "update": type(model.optimizer).__qualname__}
    watch.batches = _Batches((), watch)
    model.train_step, model.optimizer.stateless_apply = watched_step, watched_apply


class JaxWatch(TrainingWatch):
    """A watch of a training in JAX, told by callbacks from within compiled functions.

    Args:
      claim: what was told to the accountant.
    Example:
      >>> claim = TrainingClaim(noise_multiplier=1, clip=1, rate=1, steps=1, records=1, divisor=1)
      >>> JaxWatch(claim).observed
      ()
    """

    batches: Any
    sums: Callable[..., Any]
    privatizer: Any

    def __init__(self, claim: TrainingClaim) -> None:
        """Begin with no step."""
        super().__init__(claim)
        self.callers = dict[str, tuple[str, int]]()
        self.homes = dict[str, str]()
        self._rows = list[Array]()

    @property
    def checks(self) -> tuple[LoopCheck, ...]:
        """Every check, once compiled functions have come to their end."""
        if "jax" in sys.modules:
            _jax().effects_barrier()
        return super().checks

    def locate(self, check: LoopCheck) -> LoopCheck:
        """Name the line at which the loop called what a finding is about."""
        if check.status != "violated" or check.where:
            return check
        if check.name in self.callers:
            return locate(check, self.callers[check.name])
        return replace(check, where=self.homes.get(check.name, ""))

    def tell_rows(self, rows: Any, count: int, scale: float) -> None:
        """Keep what the first `count` examples add, from within a compiled function or not."""
        leaves = _jax().tree.leaves(rows)

        def keep(*parts: Any) -> None:
            flat = [np.asarray(part[:count], dtype=np.float64).reshape(count, int(np.prod(part.shape[1:]))) for part in parts]
            self._rows.append(scale * np.concatenate(flat, axis=1))

        _jax().debug.callback(keep, *leaves, ordered=True)

    def tell_sums(self, clean: Any, noisy: Any, scale: float, *, moved: tuple[Any, Any] | None = None) -> None:
        """End a step: its sum before noise, where it is known, and after, and how parameters moved."""
        jax = _jax()
        groups = [jax.tree.leaves(group) for group in ((), noisy, *(moved or ()))]
        groups[0] = [] if clean is None else jax.tree.leaves(clean)
        sizes = [len(group) for group in groups]

        def keep(*parts: Any) -> None:
            given = iter(parts)
            before, after, *both = [[np.asarray(next(given)) for _ in range(size)] for size in sizes]
            rows, self._rows = np.concatenate(self._rows), []
            batch = self.batches.take(len(rows))
            real = batch >= 0
            exact: dict[str, Any] = {"clean_sum": _scaled(before, scale), "clipped": rows[real]} if before else {}
            told: dict[str, Any] = dict(zip(("parameters", "updated"), both, strict=True)) if both else {}
            self.step(
                batch=batch[real],
                gradients=rows[real],
                noisy_sum=_scaled(after, scale),
                divisor=as_float(self.claim.divisor) if both else None,
                **exact,
                **told,
            )

        jax.debug.callback(keep, *(leaf for group in groups for leaf in group), ordered=True)


class _Batches:
    """An iterator of batches that notes what it yields."""

    def __init__(self, batches: Iterable[Any], watch: JaxWatch) -> None:
        """Begin with no batch."""
        self._batches, self._watch, self.noted = iter(batches), watch, list[Array]()

    def __iter__(self) -> Iterator[Any]:
        """The iterator itself."""
        return self

    def __next__(self) -> Any:
        """The next batch, as it was given."""
        self._watch.callers["sampling"] = self._watch.callers["steps"] = caller_of(inspect.currentframe())
        batch = next(self._batches)
        self.noted.append(np.asarray(batch, dtype=np.int64))
        return batch

    def take(self, examples: int) -> Any:
        """Positions of the batches that were noted first, until they are as many as examples were summed."""
        taken = np.zeros(0, dtype=np.int64)
        while len(taken) < examples and self.noted:
            taken = np.concatenate([taken, self.noted.pop(0)])
        if not examples and self.noted and not len(self.noted[0]):
            self.noted.pop(0)
        return taken


def _rows_alone(sums: Any, arguments: tuple[int, ...]) -> Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, int]]:
    """Make the function that says what each example of a batch adds when it is alone, and how many examples there are."""
    jax = _jax()

    def rows(given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        padding = named.get("is_padding_example")

        def alone(one: Any, masked: Any) -> Any:
            whole = list(given)
            for place, part in zip(arguments, one, strict=True):
                whole[place] = jax.tree.map(lambda leaf: leaf[None], part)
            found = sums(*whole, **(named if masked is None else named | {"is_padding_example": masked[None]}))
            return found[0] if sums.has_aux else found

        return jax.vmap(alone)([given[place] for place in arguments], padding)

    compiled = jax.jit(rows)

    def padded(given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, int]:
        count = len(jax.tree.leaves(given[arguments[0]])[0])
        if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((given, named))):
            return compiled(given, named), count
        # Batches have many sizes, and each new one would be compiled: zeros are added, and what they give is left out.
        more = -count % _MULTIPLE or _MULTIPLE * (not count)
        wider = list(given)
        for place in arguments:
            wider[place] = jax.tree.map(lambda leaf: _widen(leaf, more), given[place])
        masks = {name: _widen(mask, more) for name, mask in named.items() if name == "is_padding_example"}
        return compiled(tuple(wider), named | masks), count

    return padded


def _widen(leaf: Any, more: int) -> Array:
    """Add rows of zeros."""
    found = np.asarray(leaf)
    return np.concatenate([found, np.zeros((more, *found.shape[1:]), dtype=found.dtype)])


def _scaled(parts: list[Any], scale: float) -> list[Array]:
    """Arrays in units of the claim, of the precision that they had."""
    return [np.asarray(part * np.asarray(scale, dtype=part.dtype)) for part in parts]


def _jax() -> Any:
    """JAX, as whoever handed something of it over has imported it."""
    return sys.modules["jax"]
