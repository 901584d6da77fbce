"""Laws of integer noise: discrete Laplace, discrete Gaussian, rounded Gaussian; they sample exactly and know their own odds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import TYPE_CHECKING, Any, Final, overload

from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.exact import Enclosure, Exact, Reason, in_range, integer, positive, working_precision
from mechanisms.sampling import estimates, weights
from mechanisms.sampling.envelope import EvenLaw, envelope_table
from mechanisms.sampling.estimates import Estimate
from mechanisms.sampling.kernel import LARGEST, draw, draw_one
from mechanisms.sampling.random import BitSource, default_source

if TYPE_CHECKING:
    from flint import arb
    from numpy.typing import NDArray

LAPLACE_CUT: Final = Fraction(30)
"""Blocks of the discrete Laplace sampler reach this many scales; 1e-13 of the law lies beyond."""

GAUSSIAN_CUT: Final = Fraction(19, 2)
"""Blocks of the Gaussian samplers reach this many standard deviations; 2e-21 of the law lies beyond."""

LARGEST_SCALE: Final = 2**512
"""Larger scales are refused; no use is known for them."""


@dataclass(frozen=True, init=False)
class DiscreteLaplace:
    """Discrete Laplace law: P[X = k] proportional to exp(-|k| / scale) on the integers.

    Args:
      scale: exact, positive, at most 2**512, in units of the integers.
    Raises:
      InvalidArgument: not a finite number (DPA101, DPA102), not positive (DPA104) or too large (DPA103).
    Source: Ghosh, Roughgarden, Sundararajan 2009 (the geometric mechanism); docs/exact_sampling.md for the sampler.
    Example:
      >>> law = DiscreteLaplace("1/2")
      >>> isinstance(law.sample(), int), law.sample(4).shape
      (True, (4,))
      >>> print(law.pmf(0), law.tail(1), law.variance())
      [0.761594, 0.761595] [0.119202, 0.119203] [0.36203, 0.362031]
    """

    scale: Fraction

    def __init__(self, scale: Exact) -> None:
        """Store the parameter exactly."""
        object.__setattr__(self, "scale", _scale(scale, "scale"))

    @property
    def width_squared(self) -> Fraction:
        """Square of the scale, by which the sampler sizes its blocks."""
        return self.scale**2

    @property
    def cut(self) -> Fraction:
        """How many scales from 0 the sampler's blocks reach."""
        return LAPLACE_CUT

    def weight(self, k: int) -> arb:
        """Ball around P[X = k] / P[X = 0]."""
        return weights.laplace_weight(self.scale, k)

    def decay(self, start: int) -> Fraction:  # noqa: ARG002
        """Rate at which weights fall beyond `start`; here the same everywhere."""
        return 1 / self.scale

    def estimate(self, shift: int, reach: int) -> Estimate:  # noqa: ARG002
        """Float formula for the weights."""
        return estimates.laplace_estimate(self.scale, shift)

    @overload
    def sample(self, n: None = None, *, source: BitSource | None = None, wide: bool = False) -> int: ...
    @overload
    def sample(self, n: int, *, source: BitSource | None = None, wide: bool = False) -> NDArray[Any]: ...
    def sample(self, n: int | None = None, *, source: BitSource | None = None, wide: bool = False) -> int | NDArray[Any]:
        """Independent exact draws.

        Args:
          n: how many, at least 0; None for a single Python int.
          source: random bits; None takes the operating system's.
          wide: whether draws of 2**62 and beyond are wanted, as Python integers.
        Returns:
          One int, or an array of shape (n,): int64, or Python integers if `wide`.
        Raises:
          InvalidArgument: `n` or `source` is not what it should be (DPA103, DPA105), or the law reaches beyond int64 and `wide` is
            False (DPA108); refused before randomness is drawn.
          Unsupported: a draw happened to be 2**62 or larger and `wide` is False (DPA108), less likely than 1e-26.
          EntropyFailure: the operating system gives no random bytes (DPA301).
        Source: docs/exact_sampling.md, exactness theorem.
        Example:
          >>> DiscreteLaplace(10).sample(3).dtype
          dtype('int64')
        """
        return _sample(self, n, source, wide=wide)

    def pmf(self, k: int, *, precision: int = 128) -> Enclosure:
        """P[X = k] for an integer k, computed with `precision` (32 to 4096) bits."""
        place = integer(k, "k")
        return _enclosed(self, lambda: weights.laplace_probability(self.scale, place), precision, "geometric series")

    def tail(self, k: int, *, precision: int = 128) -> Enclosure:
        """P[X >= k] for an integer k, computed with `precision` (32 to 4096) bits."""
        return _enclosed_tail(self, lambda place: weights.laplace_tail(self.scale, place), k, precision, "geometric series")

    def variance(self, *, precision: int = 128) -> Enclosure:
        """E[X^2], which is the variance, computed with `precision` (32 to 4096) bits."""
        return _enclosed(self, lambda: weights.laplace_variance(self.scale), precision, "geometric series", highest=inf)


@dataclass(frozen=True, init=False)
class DiscreteGaussian:
    """Discrete Gaussian law: P[X = k] proportional to exp(-k^2 / (2 sigma^2)) on the integers.

    Args:
      sigma: exact, positive, at most 2**512, in units of the integers; the standard deviation of the law is a little less.
      sigma_squared: its square, instead of `sigma`, which may then be irrational.
    Raises:
      InvalidArgument: not exactly one of both (DPA106), not a finite number (DPA101, DPA102), not positive (DPA104) or too large
        (DPA103).
    Source: Canonne, Kamath, Steinke 2020, Definition 1; docs/exact_sampling.md for the sampler.
    Example:
      >>> law = DiscreteGaussian(sigma=1)
      >>> law == DiscreteGaussian(sigma_squared=1)
      True
      >>> print(law.pmf(0), law.tail(1), law.variance())
      [0.398942, 0.398943] [0.300528, 0.300529] [0.999999, 1]
    """

    sigma_squared: Fraction

    def __init__(self, *, sigma: Exact | None = None, sigma_squared: Exact | None = None) -> None:
        """Store the square exactly."""
        if sigma is not None and sigma_squared is None:
            square = _scale(sigma, "sigma") ** 2
        elif sigma is None and sigma_squared is not None:
            square = in_range(positive(sigma_squared, "sigma_squared"), "sigma_squared", lower=0, upper=LARGEST_SCALE**2)
        else:
            raise InvalidArgument("DPA106", "give exactly one of sigma= and sigma_squared=, for instance sigma=10.")
        object.__setattr__(self, "sigma_squared", square)

    @property
    def width_squared(self) -> Fraction:
        """The square of sigma, by which the sampler sizes its blocks."""
        return self.sigma_squared

    @property
    def cut(self) -> Fraction:
        """How many sigma from 0 the sampler's blocks reach."""
        return GAUSSIAN_CUT

    def weight(self, k: int) -> arb:
        """Ball around P[X = k] / P[X = 0]."""
        return weights.gaussian_weight(self.sigma_squared, k)

    def decay(self, start: int) -> Fraction:
        """Rate at which weights fall beyond `start`, from (start + j)^2 >= start^2 + 2 start j."""
        return start / self.sigma_squared

    def estimate(self, shift: int, reach: int) -> Estimate:  # noqa: ARG002
        """Float formula for the weights."""
        return estimates.gaussian_estimate(self.sigma_squared, shift)

    @overload
    def sample(self, n: None = None, *, source: BitSource | None = None, wide: bool = False) -> int: ...
    @overload
    def sample(self, n: int, *, source: BitSource | None = None, wide: bool = False) -> NDArray[Any]: ...
    def sample(self, n: int | None = None, *, source: BitSource | None = None, wide: bool = False) -> int | NDArray[Any]:
        """Independent exact draws.

        Args:
          n: how many, at least 0; None for a single Python int.
          source: random bits; None takes the operating system's.
          wide: whether draws of 2**62 and beyond are wanted, as Python integers.
        Returns:
          One int, or an array of shape (n,): int64, or Python integers if `wide`.
        Raises:
          InvalidArgument: `n` or `source` is not what it should be (DPA103, DPA105), or the law reaches beyond int64 and `wide` is
            False (DPA108); refused before randomness is drawn.
          Unsupported: a draw happened to be 2**62 or larger and `wide` is False (DPA108), less likely than 1e-26.
          EntropyFailure: the operating system gives no random bytes (DPA301).
        Source: docs/exact_sampling.md, exactness theorem.
        Example:
          >>> DiscreteGaussian(sigma=10).sample(3).dtype
          dtype('int64')
        """
        return _sample(self, n, source, wide=wide)

    def pmf(self, k: int, *, precision: int = 128) -> Enclosure:
        """P[X = k] for an integer k, computed with `precision` (32 to 4096) bits."""
        place = integer(k, "k")
        return _enclosed(self, lambda: weights.gaussian_probability(self.sigma_squared, place), precision, "Poisson summation")

    def tail(self, k: int, *, precision: int = 128) -> Enclosure:
        """P[X >= k] for an integer k, computed with `precision` (32 to 4096) bits."""
        return _enclosed_tail(
            self,
            lambda place: weights.gaussian_tail(self.sigma_squared, place),
            k,
            precision,
            "partial sums or Euler-Maclaurin formula",
        )

    def variance(self, *, precision: int = 128) -> Enclosure:
        """E[X^2], which is the variance, computed with `precision` (32 to 4096) bits."""
        return _enclosed(self, lambda: weights.gaussian_variance(self.sigma_squared), precision, "Poisson summation", highest=inf)


@dataclass(frozen=True, init=False)
class RoundedGaussian:
    """Rounded Gaussian law: a continuous N(0, sigma^2) rounded to the nearest integer.

    Added to integers it is the continuous Gaussian mechanism followed by rounding, so its privacy is that of the continuous one.

    Args:
      sigma: exact, positive, at most 2**512, in units of the integers; the deviation before rounding.
    Raises:
      InvalidArgument: not a finite number (DPA101, DPA102), not positive (DPA104) or too large (DPA103).
    Source: docs/exact_sampling.md, rounded Gaussian.
    Example:
      >>> law = RoundedGaussian(1)
      >>> print(law.pmf(0), law.tail(1), law.variance())
      [0.382924, 0.382925] [0.308537, 0.308538] [1.08333, 1.08334]
    """

    sigma: Fraction

    def __init__(self, sigma: Exact) -> None:
        """Store the parameter exactly."""
        object.__setattr__(self, "sigma", _scale(sigma, "sigma"))

    @property
    def width_squared(self) -> Fraction:
        """Square of sigma, by which the sampler sizes its blocks."""
        return self.sigma**2

    @property
    def cut(self) -> Fraction:
        """How many sigma from 0 the sampler's blocks reach."""
        return GAUSSIAN_CUT

    def weight(self, k: int) -> arb:
        """Ball around P[X = k] / P[X = 0]."""
        return weights.rounded_weight(self.sigma**2, k)

    def decay(self, start: int) -> Fraction:
        """Rate at which weights fall beyond `start`: that of the density at the left end of the cell of `start`."""
        return (start - Fraction(1, 2)) / self.sigma**2

    def estimate(self, shift: int, reach: int) -> Estimate:
        """Float formula for the weights."""
        return estimates.rounded_estimate(self.sigma**2, shift, reach)

    @overload
    def sample(self, n: None = None, *, source: BitSource | None = None, wide: bool = False) -> int: ...
    @overload
    def sample(self, n: int, *, source: BitSource | None = None, wide: bool = False) -> NDArray[Any]: ...
    def sample(self, n: int | None = None, *, source: BitSource | None = None, wide: bool = False) -> int | NDArray[Any]:
        """Independent exact draws.

        Args:
          n: how many, at least 0; None for a single Python int.
          source: random bits; None takes the operating system's.
          wide: whether draws of 2**62 and beyond are wanted, as Python integers.
        Returns:
          One int, or an array of shape (n,): int64, or Python integers if `wide`.
        Raises:
          InvalidArgument: `n` or `source` is not what it should be (DPA103, DPA105), or the law reaches beyond int64 and `wide` is
            False (DPA108); refused before randomness is drawn.
          Unsupported: a draw happened to be 2**62 or larger and `wide` is False (DPA108), less likely than 1e-26.
          EntropyFailure: the operating system gives no random bytes (DPA301).
        Source: docs/exact_sampling.md, exactness theorem.
        Example:
          >>> RoundedGaussian(10).sample(3).dtype
          dtype('int64')
        """
        return _sample(self, n, source, wide=wide)

    def pmf(self, k: int, *, precision: int = 128) -> Enclosure:
        """P[X = k] for an integer k, computed with `precision` (32 to 4096) bits."""
        place = integer(k, "k")
        return _enclosed(self, lambda: weights.rounded_probability(self.sigma**2, place), precision, "error function")

    def tail(self, k: int, *, precision: int = 128) -> Enclosure:
        """P[X >= k] for an integer k, computed with `precision` (32 to 4096) bits."""
        return _enclosed_tail(self, lambda place: weights.rounded_tail(self.sigma**2, place), k, precision, "error function")

    def variance(self, *, precision: int = 128) -> Enclosure:
        """E[X^2], which is the variance, computed with `precision` (32 to 4096) bits."""
        return _enclosed(
            self, lambda: weights.rounded_variance(self.sigma**2), precision, "Fourier series of the rounding error", highest=inf
        )


def _scale(value: Exact, name: str) -> Fraction:
    """A positive scale of bearable size, exactly."""
    return in_range(positive(value, name), name, lower=0, upper=LARGEST_SCALE)


def _sample(law: EvenLaw, n: int | None, source: BitSource | None, *, wide: bool) -> int | NDArray[Any]:
    """Check everything, then draw."""
    count = None if n is None else integer(n, "n", lower=0)
    if source is None:
        source = default_source()
    elif not (hasattr(source, "uniform") and hasattr(source, "bits")):
        kind = type(source).__name__
        raise InvalidArgument("DPA105", f"source must be a BitSource, got a {kind}. None takes the system's randomness.")
    table = envelope_table(law)
    if not wide and table.start > LARGEST // 2:
        raise InvalidArgument("DPA108", "the law reaches beyond int64. Use a smaller scale, or wide=True for Python integers.")
    if count is not None:
        return draw(table, source, count, wide=wide)
    single = draw_one(table, source)
    if abs(single) >= LARGEST and not wide:
        raise Unsupported("DPA108", "a draw is 2**62 or larger. Ask for wide=True to get Python integers.")
    return single


def _enclosed(law: EvenLaw, value: Callable[[], arb], precision: int, reason: str, *, highest: float = 1) -> Enclosure:
    """A non-negative number as an enclosure, computed with guard bits for what very wide and very narrow laws cancel."""
    bits = integer(precision, "precision", lower=32, upper=4096)
    width = law.width_squared
    guard = 32 + abs(width.numerator.bit_length() - width.denominator.bit_length())
    with working_precision(bits + min(guard, 1100)):
        return Enclosure.from_ball(value(), Reason(reason), lowest=0, highest=highest)


def _enclosed_tail(law: EvenLaw, above: Callable[[int], arb], k: int, precision: int, reason: str) -> Enclosure:
    """P[X >= k] from a formula for k >= 1: for smaller k by the law's symmetry."""
    place = integer(k, "k")
    return _enclosed(law, (lambda: above(place)) if place >= 1 else (lambda: 1 - above(1 - place)), precision, reason)
