"""Noisy gradient descent in plain numpy: a claim from the accountant, hooks for a white-box audit, three mistakes to switch on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from dpaudit.accounting import Poisson, compose, gaussian
from dpaudit.auditor.membership import TrainingHooks
from dpaudit.claims import GDP, Claim, Curve
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, in_range, instance_of, integer, positive

Matrix: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class NoisyGradients:
    """Estimates a mean by steps along noisy sums of clipped gradients; its noise is a float, so it is for audits only.

    A step takes every record with probability `rate`, clips each gradient to norm 1, adds the gradients and normal noise. The
    claim counts on `noise_multiplier`, on clipping, and on `rate`; the last three arguments say what really happens.

    Args:
      steps: how many, at least 1.
      noise_multiplier: standard deviation of the noise of each coordinate that the claim counts on, positive.
      rate: probability with which the claim takes a record into a step, in (0, 1].
      noise: factor of the noise that is really added, positive; 1 is right.
      clips: whether gradients are really clipped.
      real_rate: probability with which a record is really taken; `rate` unless given.
    Raises:
      InvalidArgument: a parameter is no number (DPA101, DPA102) or out of range (DPA103 to DPA105).
    Source: Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang 2016, Algorithm 1.
    Example:
      >>> model = NoisyGradients(steps=4, noise_multiplier=2)
      >>> str(model.claim)
      'mu = 1 (GDP) under add_remove'
      >>> model.fit(np.ones((10, 3)), np.random.default_rng(0)).shape
      (3,)
    """

    steps: int
    noise_multiplier: Exact
    rate: Exact = 1
    noise: Exact = 1
    clips: bool = True
    real_rate: Exact | None = None

    def __post_init__(self) -> None:
        """Store the numbers exactly."""
        integer(self.steps, "steps", lower=1)
        for name in ("noise_multiplier", "noise"):
            object.__setattr__(self, name, positive(getattr(self, name), name))
        real = self.rate if self.real_rate is None else self.real_rate
        for name, value in (("rate", self.rate), ("real_rate", real)):
            object.__setattr__(self, name, in_range(value, name, lower=0, upper=1, lower_open=True))

    @property
    def claim(self) -> Claim:
        """What it promises for one record added or removed: GDP where every step takes all records, otherwise a curve."""
        multiplier = Fraction(self.noise_multiplier)
        if self.rate == 1:
            square = Fraction(self.steps) / multiplier**2
            root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
            return Claim(GDP(mu=root if root**2 == square else Fraction(math.nextafter(math.sqrt(square), math.inf))))
        return Claim(Curve(compose(self.steps * gaussian(sigma=multiplier).sampled(Poisson(self.rate)))))

    def fit(self, records: Any, rng: Generator, hooks: TrainingHooks | None = None) -> Matrix:
        """The estimate after the last step.

        Args:
          records: shape (records, dimension), finite.
          rng: where all randomness comes from.
          hooks: what an audit does inside the training.
        Returns:
          Shape (dimension,).
        Raises:
          InvalidArgument: no finite matrix of records, no generator, or no hooks (DPA105).
        """
        instance_of(rng, Generator, "rng")
        if hooks is not None:
            instance_of(hooks, TrainingHooks, "hooks")
        rows = np.asarray(records, dtype=float)
        if rows.ndim != 2 or not np.isfinite(rows).all():
            raise InvalidArgument("DPA105", f"records must be a finite matrix with a row for each record, got shape {rows.shape}.")
        parameters = np.zeros(rows.shape[1])
        scale, chance = float(self.noise_multiplier) * float(self.noise), float(self.real_rate or self.rate)
        for step in range(self.steps):
            order = None if hooks is None else hooks.order(step, len(rows))
            gradients = parameters - (rows if order is None else rows[order])
            if hooks is not None:
                gradients = np.concatenate([gradients, hooks.gradients(step, parameters)])
            taken = gradients[rng.random(len(gradients)) < chance]
            if self.clips:
                taken = taken / np.maximum(1.0, np.linalg.norm(taken, axis=1, keepdims=True))
            released = taken.sum(axis=0) + rng.normal(scale=scale, size=len(parameters))
            # The learning rate is public: it must not depend on how many records there are.
            parameters = parameters - released / (16 * self.steps)
            if hooks is not None:
                hooks.observe(step, released, parameters)
        return parameters
