"""Watch a private training loop: ten lines in the loop, and every check of what it did against what an accountant was told."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import numpy as np

from dpaudit.auditor.training.batches import check_repeated, check_sampling
from dpaudit.auditor.training.constants import check_constants
from dpaudit.auditor.training.findings import LoopCheck, not_judged
from dpaudit.auditor.training.moves import Moves
from dpaudit.auditor.training.observed import (
    Array,
    Step,
    array_of,
    clipped_rows,
    gap_of,
    observe,
    precision_of,
    rows_of,
    vector_of,
)
from dpaudit.auditor.training.places import caller_of, locate
from dpaudit.auditor.training.promises import TrainingClaim, as_float
from dpaudit.auditor.training.separate import SEPARATE, check_separate
from dpaudit.auditor.training.sums import CLIPPING, NOISE, check_clipping, check_fresh_noise, check_noise
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Enclosure, Exact, instance_of, positive


def audit_training(claim: TrainingClaim, *, canaries: Any = None) -> TrainingWatch:
    """Watch a training loop against what was told to an accountant.

    Args:
      claim: the noise, clip, rate, steps, records and divisor that were told.
      canaries: directions of gradient canaries, shape (canaries, parameters), which the loop adds as records of their own by
        fair coins; the watch scores them, for `audit_scores`.
    Returns:
      A watch for a `with` block; call its `step` once for every noisy sum, then read `checks`, `violations` and `price`.
    Raises:
      InvalidArgument: no TrainingClaim, or directions that are no matrix of finite numbers (DPA105).
    Example:
      >>> claim = TrainingClaim(noise_multiplier=1, clip=1, rate=1, steps=20, records=2, divisor=2)
      >>> rng = np.random.default_rng(0)
      >>> with audit_training(claim) as watch:
      ...     for _ in range(20):
      ...         gradients = 3 * rng.normal(size=(2, 8))
      ...         watch.step(batch=[0, 1], gradients=gradients, noisy_sum=gradients.sum(axis=0) + rng.normal(size=8), divisor=2)
      >>> [check.name for check in watch.violations]
      ['clipping']
    """
    return TrainingWatch(instance_of(claim, TrainingClaim, "claim"), canaries=canaries)


class TrainingWatch:
    """What was seen of a loop, in numbers that are kept small: no record, and of gradients only what the checks need.

    Args:
      claim: what was told to the accountant.
      canaries: directions of gradient canaries, if any.
    Example:
      >>> claim = TrainingClaim(noise_multiplier=1, clip=1, rate=1, steps=1, records=1, divisor=1)
      >>> TrainingWatch(claim).checks[0].status
      'not judged'
    """

    def __init__(self, claim: TrainingClaim, *, canaries: Any = None) -> None:
        """Begin with no step."""
        self.claim = claim
        self._canaries = None if canaries is None else array_of(canaries, "canaries")
        if self._canaries is not None and self._canaries.ndim != 2:
            raise InvalidArgument("DPA105", "canaries must be a matrix with the direction of a canary in each row.")
        self._scores = list[Array]()
        self._steps = list[Step]()
        self._by_coordinate: Array = np.zeros(0)
        self._moves = Moves()
        self._caller: tuple[str, int] | None = None
        self._separate = LoopCheck(SEPARATE, "not judged", 0, "call check_examples with a function of records")

    def __enter__(self) -> Self:
        """Begin to watch."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """End; the checks are made when they are asked for."""

    @property
    def observed(self) -> tuple[Step, ...]:
        """What is kept of every step."""
        return tuple(self._steps)

    @property
    def scores(self) -> Array:
        """Scores of the canaries in every step, shape (steps, canaries), for `audit_scores`."""
        return np.array(self._scores).reshape(len(self._scores), 0 if self._canaries is None else len(self._canaries))

    def step(  # noqa: PLR0913 - one argument for each thing that a loop can tell
        self,
        *,
        batch: Any,
        gradients: Any,
        noisy_sum: Any,
        clipped: Any = None,
        clean_sum: Any = None,
        divisor: float | None = None,
        clip: float | None = None,
        learning_rate: float | None = None,
        parameters: Any = None,
        updated: Any = None,
    ) -> None:
        """Tell about one noisy sum of gradients. Arrays may be of numpy, torch or JAX, one or a list of one for each layer.

        Args:
          batch: positions of the records in the whole (logical) batch, from 0, in the order of `gradients`; empty ones count.
          gradients: per-example gradients before clipping, a row for each example, over all parameters that are released.
          noisy_sum: the sum of clipped gradients with noise, before it is divided.
          clipped: per-example gradients after clipping, where the loop clips otherwise than by one norm over all layers.
          clean_sum: the sum before noise, where the loop has it: clipping is then judged exactly, and not through the noise.
          divisor: by what the sum is divided.
          clip: at what norm the loop clips.
          learning_rate: the learning rate of the step.
          parameters: the parameters before the step.
          updated: the parameters after it.
        Raises:
          InvalidArgument: shapes that do not fit, or numbers that are not finite (DPA105).
        """
        places = np.asarray(batch)
        if places.size == 0:
            places = places.astype(np.int64)
        if (
            places.ndim != 1
            or places.dtype.kind not in "iu"
            or (places.size and not 0 <= places.min() <= places.max() < self.claim.records)
        ):
            raise InvalidArgument(
                "DPA105",
                f"batch must be positions of records, integers from 0 to {self.claim.records - 1}. Give those of the dataset.",
            )
        total, limit = vector_of(noisy_sum, "noisy_sum"), as_float(self.claim.clip)
        rows = rows_of(gradients, "gradients", len(places)) if len(places) else np.zeros((0, len(total)))
        kept = clipped_rows(rows, limit) if clipped is None or not len(places) else rows_of(clipped, "clipped", len(places))
        if not len(total) == rows.shape[1] == kept.shape[1] or (self._steps and self._steps[0].size != len(total)):
            raise InvalidArgument("DPA105", "gradients, clipped and noisy_sum must be over the same parameters, in every step.")
        clean = kept.sum(axis=0) if clean_sum is None else vector_of(clean_sum, "clean_sum")
        if len(clean) != len(total):
            raise InvalidArgument("DPA105", f"clean_sum has {len(clean)} numbers, noisy_sum has {len(total)}.")
        if self._caller is None:
            self._caller = caller_of(inspect.currentframe())
        if self._canaries is not None:
            if self._canaries.shape[1] != len(total):
                raise InvalidArgument("DPA105", f"canaries have {self._canaries.shape[1]} parameters, noisy_sum has {len(total)}.")
            self._scores.append(self._canaries @ total)
        deviation = limit * as_float(self.claim.noise_multiplier)
        if not self._steps:
            self._by_coordinate = np.zeros(len(total))
        self._by_coordinate += ((total - clean) / deviation) ** 2
        told = {"divisor": divisor, "clip": clip, "learning_rate": learning_rate}
        seen = observe(
            places.astype(np.int64),
            rows,
            kept,
            total,
            clean,
            deviation=deviation,
            clip=limit,
            expected=as_float(self.claim.divisor),
        )
        precision = max(precision_of(gradients), precision_of(clean_sum))
        self._steps.append(
            Step(
                **seen,
                longest=None if clipped is None or not len(kept) else float(np.linalg.norm(kept, axis=1).max()) / limit,
                gap=None if clean_sum is None else gap_of(clean, kept, clip=limit, precision=precision),
                public={name: float(value) for name, value in told.items() if value is not None},
                move=self._moves.judge(parameters, updated, noisy_sum, (clean, rows.sum(axis=0))),
            )
        )

    def check_examples(self, gradients: Callable[[Any], Any], records: Any) -> LoopCheck:
        """Check that no layer mixes examples, by gradients of some records together and alone.

        Args:
          gradients: function of an array of records that returns a gradient for each, at fixed parameters.
          records: a few records.
        Returns:
          The check, which is also kept for `checks`.
        Raises:
          TargetFailure: the function raises (DPA405).
        """
        self._separate = check_separate(gradients, records)
        return self._separate

    @property
    def checks(self) -> tuple[LoopCheck, ...]:
        """Every check, in a fixed order; one that holds is evidence and no proof."""
        if not self._steps:
            return (LoopCheck("loop", "not judged", 0, "no step was watched"),)
        clipping = check_clipping(self._steps)
        fresh = check_fresh_noise(self._steps, clipping)
        if clipping.status == fresh.status == "violated" and any(step.gap is None for step in self._steps):
            clipping = not_judged(CLIPPING, "steps have the same noise, through which it would be judged. Give clean_sum= to step.")
        batches = [step.batch for step in self._steps]
        found = (
            clipping,
            check_noise(self._steps, self._by_coordinate, clipping, fresh),
            fresh,
            check_sampling(batches, self.claim),
            check_repeated(batches),
            *check_constants(self._steps, self.claim),
            self._separate,
        )
        return tuple(map(self.locate, found))

    def locate(self, check: LoopCheck) -> LoopCheck:
        """Add to a violation where in the loop it is.

        Args:
          check: a check of this loop.
        Returns:
          The check, with the line that made what is wrong.
        """
        return check if self._caller is None else locate(check, self._caller)

    @property
    def violations(self) -> tuple[LoopCheck, ...]:
        """The checks that name a mistake, each with what to write."""
        return tuple(check for check in self.checks if check.status == "violated")

    def price(self, *, delta: Exact) -> dict[str, Enclosure | None]:
        """Price what was told, and what was seen where the accountant has a law for it.

        Args:
          delta: where epsilon is asked, in (0, 1).
        Returns:
          "told": epsilon as the claim has it; "seen": epsilon for the observed number of steps and deviation of the noise, without
          the gain of sampling if that was refuted; None where another check failed, since no price is known then.
        Raises:
          InvalidArgument: delta out of range (DPA103).
        """
        at = positive(delta, "delta")
        told = self.claim.loss.epsilon(delta=at)
        wrong = {check.name for check in self.violations}
        if wrong - {NOISE, "sampling", "steps", "divisor"} or "divisor" in wrong or not self._steps:
            return {"told": told, "seen": None}
        noise = as_float(self.claim.noise_multiplier)
        if NOISE in wrong:
            noise *= float(np.sqrt(sum(step.energy for step in self._steps) / sum(step.size for step in self._steps)))
            # More than was told may be anything that was not seen, such as gradients that were not clipped.
            if noise == 0 or noise > as_float(self.claim.noise_multiplier) or self._by_coordinate.min() < len(self._steps) * 1e-6:
                return {"told": told, "seen": None}
        seen = self.claim.priced(steps=len(self._steps), sampled="sampling" not in wrong, noise_multiplier=noise)
        return {"told": told, "seen": seen.epsilon(delta=at)}
