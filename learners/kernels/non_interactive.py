"""NonInteractiveKernelClassifier: a guess that is moved, round by round, where a private choice finds it far off."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Exact, in_range, integer
from dpaudit.releases import note
from learners.choices.levels import choice_release
from learners.kernels.fitting import KernelClassifier
from learners.kernels.guessing import MOVED, Grid, grid_of
from learners.kernels.half_balls import draw_from_half_balls
from learners.kernels.noise import find_noise_scale, laplace_release
from learners.kernels.spaces import Polynomial
from learners.kernels.spectrum import PublicPoints
from learners.record import Charge
from learners.rows.rows import Rows, as_array
from learners.solvers.minimum import IMAGE_BITS
from mechanisms.exponential import ExponentialMechanism
from mechanisms.laplace import LaplaceMechanism
from mechanisms.noise import bit_source

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from dpaudit.claims import Adjacency
    from learners.estimator import Public
    from learners.kernels.fitting import Space
    from learners.solvers.minimum import Minimum
    from mechanisms.sampling.random import BitSource

BALL: Final = "ball"
"""Points are chosen from the whole unit ball of the images, not from a list."""


@dataclass(kw_only=True, eq=False, repr=False)
class NonInteractiveKernelClassifier(PublicPoints, KernelClassifier):
    """A classifier found by the exponential mechanism and noisy tests, without any question being asked.

    In each round a point is chosen where the guess is likely to be far off the minimiser, the difference there is read with noise,
    and the guess is moved if it exceeds a threshold. It is here because the paper has it: `GaussianProcessRelease` errs less unless
    the kernel has more features than there are squared records.

    Args:
      epsilon: privacy parameter in nats, exact, positive.
      delta: failure probability, exact, above 0 and below 1.
      feature_norm: largest L2 norm of a record, public, exact, positive; longer records are scaled to it.
      adjacency: "replace_one".
      classes: the two public classes; None reads them from the labels, which the guarantee does not cover.
      budget: a `Budget`, or a budget of a ledger, that this and other fits spend together, or None.
      random_state: None draws noise from the operating system; an integer or a numpy Generator makes it reproducible, for tests.
      kernel: a `learners.kernels.spaces.Kernel`; None takes `Polynomial(3)`.
      ridge: factor of half the squared norm of the weights, public, exact, positive; the kernel is at most 1.
      points: public array of shape (m, d) to choose from; None takes evenly spread ones; "ball" chooses among all points of the
        unit ball, by an exact draw that is known for the linear kernel, `Polynomial(1)`, alone.
      point_count: number of evenly spread points, used if `points` is None.
      point_seed: public seed of these points.
      rounds: how many, public.
      failure: probability with which the noise of a test may exceed a quarter of the threshold, exact, in (0, 1).
    Source: Jain, Thakurta 2013, Algorithm 3; docs/kernels.md, "Choosing points".
    Example:
      >>> X = np.array([[0.6, 0.6], [-0.6, -0.6]] * 2000)
      >>> model = NonInteractiveKernelClassifier(epsilon=50, delta="1e-6", feature_norm=1, classes=[0, 1], point_count=50)
      >>> model.fit(X, [1, 0] * 2000).predict(X[:2]).shape
      (2,)
    """

    rounds: int = 10
    failure: Exact = "1/20"

    def _telling(self, public: Public, space: Space, found: Minimum) -> Choices:
        """Rounds of a choice and a test."""
        if public.delta == 0:
            raise InvalidArgument("DPA103", "delta must be positive for rounds of choices, got 0. Give a small one, such as 1e-6.")
        rounds = integer(self.rounds, "rounds", lower=1)
        failure = in_range(self.failure, "failure", lower=0, upper=1, lower_open=True, upper_open=True)
        if isinstance(self.points, str):
            if self.points != BALL:
                raise InvalidArgument("DPA103", f'points must be an array, None or "{BALL}", got {self.points!r}.')
            kernel = Polynomial() if self.kernel is None else self.kernel
            if not isinstance(kernel, Polynomial) or (kernel.degree, kernel.columns) != (1, None):
                raise Unsupported("DPA202", "only the linear kernel has exact draws from the whole ball. Give public points.")
            return plan_choices(None, public, found, rounds=rounds, failure=failure)
        return plan_choices(space.images(self._public_points(public)), public, found, rounds=rounds, failure=failure)


@dataclass(frozen=True, eq=False)
class Choices:
    """Rounds of a choice and a test (Jain, Thakurta 2013, Algorithm 3); `plan_choices` makes them."""

    points: Rows | None  # images to choose from; None for the unit ball
    grid: Grid
    choice: ExponentialMechanism  # its scores are sizes of differences, in steps
    test: LaplaceMechanism  # noise of the difference at the point that was chosen
    rounds: int
    threshold: int  # of the noisy difference, in steps

    @property
    def charges(self) -> tuple[Charge, ...]:
        """A choice and a test in every round."""
        return (Charge((choice_release(self.choice), laplace_release(self.test)) * self.rounds),)

    def tell(self, weights: NDArray[np.int64], source: BitSource | None) -> Mapping[str, Any]:
        """The weights of the last guess."""
        # The guess is unit * moves: every update adds the chosen image with its sign.
        unit = self.threshold * self._per_step / (1 << IMAGE_BITS)
        moves = np.zeros_like(weights)
        for _ in range(self.rounds):
            image = self._choose_image(weights, moves, unit, source)
            guess = (self.threshold * int(moves @ image) + (1 << (2 * IMAGE_BITS - 1))) >> (2 * IMAGE_BITS)
            difference = int(self.test.release(self.grid.value(weights, image) - guess, source))
            if abs(difference) > self.threshold:
                moves += image if difference > 0 else -image
        return {"weights_": np.rint(moves * float(unit)).astype(np.int64)}

    def _choose_image(self, weights: NDArray[np.int64], moves: NDArray[np.int64], unit: Fraction, source: BitSource | None) -> Any:
        """Choose the image of a point where the size of the difference is likely to be large."""
        if self.points is None:
            bits = bit_source(source)
            note(replace(choice_release(self.choice), secure=bits.secure))
            pairs = zip(weights.tolist(), moves.tolist(), strict=True)
            apart = [weight * unit.denominator - move * unit.numerator for weight, move in pairs]
            rate = 1 / (self.choice.temperature * self._per_step * unit.denominator)
            return draw_from_half_balls(apart, rate, bits, lattice_bits=IMAGE_BITS)
        # On copies: what rows remember for speed depends on how large weights are, and the minimiser's are private.
        values = [self.grid.rounded(product) for product in replace(self.points).margins(weights).tolist()]
        products = replace(self.points).margins(moves)
        guesses = [(self.threshold * product + (1 << (2 * IMAGE_BITS - 1))) >> (2 * IMAGE_BITS) for product in products.tolist()]
        place = self.choice.release([abs(value - guess) for value, guess in zip(values, guesses, strict=True)], source)
        return as_array(self.points.steps[[place]])[0].astype(np.int64)

    @property
    def _per_step(self) -> Fraction:
        """Units of weights that make one step at a point of norm 1."""
        return Fraction(self.grid.moves, MOVED << IMAGE_BITS)


def plan_choices(points: Rows | None, public: Public, found: Minimum, *, rounds: int, failure: Fraction) -> Choices:
    """Plan rounds that together spend epsilon and delta, choices twice as much as tests in their own measure.

    Source: Jain, Thakurta 2013, Algorithm 3.
    """
    scale = _least_scale(rounds, public.epsilon, public.delta)
    choice, test = _round(scale, public.adjacency)
    threshold = math.ceil(4 * scale * Fraction(math.log(2 * rounds / failure)))
    return Choices(points, grid_of(found), choice, test, rounds, threshold)


def _round(scale: int, adjacency: Adjacency) -> tuple[ExponentialMechanism, LaplaceMechanism]:
    """A test with noise of a scale, and a choice of twice its epsilon, which has the same rate of concentrated loss."""
    choice = ExponentialMechanism(sensitivity=MOVED, epsilon=Fraction(2 * MOVED, scale), adjacency=adjacency)
    return choice, LaplaceMechanism(sensitivity=MOVED, scale=scale, adjacency=adjacency)


@lru_cache(maxsize=64)
def _least_scale(rounds: int, epsilon: Fraction, delta: Fraction) -> int:
    """The least scale at which so many rounds meet a budget."""
    from dpaudit.accounting import PrivacyLoss, bounded_range, compose, discrete_laplace

    def price(scale: int) -> PrivacyLoss:
        """That of all rounds."""
        choice, test = bounded_range(epsilon=Fraction(2 * MOVED, scale)), discrete_laplace(scale, sensitivity=MOVED)
        return compose(rounds * choice, rounds * test)

    start = math.ceil(MOVED * 2 * math.sqrt(rounds * -math.log(delta)) / float(epsilon))
    return find_noise_scale(price, start, epsilon=epsilon, delta=delta)
