"""Noise that spends a whole budget: of one Gaussian release, or of any loss that falls with a scale in integer steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.releases import Release

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss
    from learners.estimator import Public
    from mechanisms.laplace import LaplaceMechanism

_CLOSE: Final = 0.99
_ASIDE: Final = 1.003
"""A scale is close enough if it spends this share of epsilon; the next one that is tried aims a little beside the border."""


def find_noise_scale(loss: Callable[[int], PrivacyLoss], start: int, *, epsilon: Fraction, delta: Fraction) -> int:
    """A scale at which a loss certainly meets epsilon and delta, and whose loss is within a hundredth of them, or within a step."""
    scale, little, enough, width = start, 0, 0, math.inf
    while scale < start << 30:
        share = float(min(loss(scale).epsilon(delta=delta).upper / epsilon, 4))
        little, enough = (little, scale) if share <= 1 else (scale, enough)
        if _CLOSE <= share <= 1 or (enough and enough - little <= 1 + little // 128):
            return enough
        # Epsilon falls about as fast as the scale grows, but for large delta much faster: then the interval is halved.
        halves = bool(enough) and 2 * (enough - little) > width
        width = enough - little if enough else math.inf
        aimed = min(max(math.ceil(scale * max(share, 0.25) * _ASIDE), little + 1), enough - 1 if enough else scale * 4)
        scale = (little + enough) // 2 if halves else aimed
    raise Unsupported("DPA202", "no useful amount of noise meets epsilon and delta. Give more of them, or read less often.")


def laplace_release(noise: LaplaceMechanism) -> Release:
    """The release of one integer with discrete Laplace noise, as it will be logged."""
    return Release("discrete_laplace", (("lattice", Fraction(1)), ("scale", noise.scale)), noise.sensitivity, noise.adjacency)


def whole_budget_release(public: Public, sensitivity: int, dimension: int) -> Release:
    """A rounded Gaussian release of integers that spends all of epsilon and delta (Dong, Roth, Su 2022, Theorem 2.7)."""
    from dpaudit.accounting import calibrate, gaussian

    epsilon, delta = public.epsilon, public.delta
    if delta == 0:
        raise InvalidArgument(
            "DPA103", 'delta must be positive where a learner adds Gaussian noise, got 0. Write a small one: delta="1e-6".'
        )
    found = calibrate(lambda sigma: gaussian(sigma=sigma), epsilon=epsilon, delta=delta, low="1e-9", high="1e9")
    sigma = math.ceil(found.parameter * sensitivity)
    if sigma > 2**55:
        raise InvalidArgument("DPA108", "epsilon and delta need more noise than 64 bits hold. Give larger ones.")
    parameters = (("lattice", Fraction(1)), ("sigma", Fraction(sigma)))
    return Release("rounded_gaussian", parameters, Fraction(sensitivity), public.adjacency, dimension)
