"""Prefix sums of a stream with correlated Gaussian noise: a matrix mechanism that adds its noise exactly, on a lattice."""

from __future__ import annotations

import math
import os
import threading
from collections import deque
from collections.abc import Reversible, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from operator import mul
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from dpaudit.claims import Adjacency, Claim
from dpaudit.errors import BudgetExceeded, InvalidArgument
from dpaudit.exact import Exact, integer, kind_of, positive, shown
from dpaudit.releases import Hold
from mechanisms.gaussian import GaussianMechanism
from mechanisms.noise import Noise, as_text, in_logged_units, one_of, open_release, require_step, store
from mechanisms.roots import root_above
from mechanisms.sampling.limits import LARGEST
from mechanisms.sampling.random import BitSource
from mechanisms.steps import INTEGER_LIMIT, Format, Value, array_steps, format_of, number_steps

if TYPE_CHECKING:
    from dpaudit.accounting import PrivacyLoss
    from dpaudit.accounting.matrices.participation import Participation
    from dpaudit.accounting.matrices.strategies import Toeplitz

MOST_STEPS: Final = 1 << 12
"""Longer streams are refused: their work grows with the square."""

COEFFICIENT_BITS: Final = 20  # Coefficients are multiples of 2^-20, or data in steps of the rows would not fit 64 bits
GUARD_BITS: Final = 12  # Sums are carried to this part of a step before they are rounded: what is done to a release is free
_MOVES: Final = {"add_remove": 1, "zero_out": 1, "replace_one": 2}


@dataclass(frozen=True, init=False)
class PrefixSums:
    """Releases the running sums of a stream with noise that is correlated over the steps, so that it hardly grows with them.

    A lower triangular matrix C of `coefficients` is applied to the values in exact arithmetic, the rows get independent rounded
    Gaussian noise, and every running sum is computed from the noisy rows alone. A value may depend on everything released before.

    Args:
      steps: largest number of values, 1 to 4096; all of them are paid for.
      sensitivity: largest L2 norm of what one record contributes to the value of one step, exact, at least `lattice`.
      sigma: standard deviation of the noise of a row before rounding, exact, in output units; give this or
      noise_multiplier: sigma over the length of what one step moves, exact, dimensionless.
      participation: when a record may contribute: Single(), FixedOrder(...) or MinSeparation(...) of `dpaudit.accounting`; Single()
        unless given. The caller answers for it.
      coefficients: first column of C, exact, rounded to multiples of 2**-20, the first one positive. Unless given, that of the
        square root of the matrix of prefix sums, nearly the best for records that contribute once; for records that come back take
        `prefix_root(bands=)` of `dpaudit.accounting`, with about as many bands as there are steps between.
      lattice: distance of adjacent released numbers, exact, in output units; values are multiples of it.
      adjacency: "add_remove", "zero_out", or "replace_one", which costs twice the distance.
    Raises:
      InvalidArgument: a parameter is not a number (DPA101, DPA102), out of range (DPA103), not positive (DPA104), of the wrong type
        (DPA105), given twice or not at all (DPA106), or off its lattice (DPA107).
      Unsupported: participation by chance, or a search for its worst pattern that is too long (DPA202).
    Source: Denisov, McMahan, Rush, Smith, Thakurta 2022; Fichtenberger, Henzinger, Upadhyay 2023; docs/vectors.md, "Running sums".
    Example:
      >>> daily = PrefixSums(steps=365, sensitivity=1, noise_multiplier=2)
      >>> daily.claim.guarantee.mu <= Fraction(1, 2)
      True
      >>> run = daily.start()
      >>> [isinstance(run.add(visits), int) for visits in (31, 28, 35)]
      [True, True, True]
    """

    steps: int
    sensitivity: Fraction
    sigma: Fraction
    coefficients: tuple[Fraction, ...]
    participation: Participation
    lattice: Fraction
    adjacency: Adjacency

    def __init__(
        self,
        *,
        steps: int,
        sensitivity: Exact,
        sigma: Exact | None = None,
        noise_multiplier: Exact | None = None,
        participation: Participation | None = None,
        coefficients: Sequence[Exact] | None = None,
        lattice: Exact = 1,
        adjacency: Adjacency | str = "add_remove",
    ) -> None:
        from dpaudit.accounting import Single, prefix_root

        relation = Adjacency.of(adjacency)
        if relation not in {Adjacency(kind) for kind in _MOVES}:
            raise InvalidArgument("DPA103", f"adjacency must be one of {', '.join(_MOVES)} for a stream, got {relation}.")
        size = integer(steps, "steps", lower=1, upper=MOST_STEPS)
        store(self, steps=size, sensitivity=positive(sensitivity, "sensitivity"), adjacency=relation)
        store(self, coefficients=_rounded(prefix_root(bands=size) if coefficients is None else coefficients, size))
        store(self, lattice=positive(lattice, "lattice"), participation=Single() if participation is None else participation)
        deviation = one_of(noise_multiplier=noise_multiplier, sigma=sigma)
        if sigma is None:  # to a part in 2^60, never less noise
            deviation = root_above((deviation * self.sensitivity) ** 2 * self.strategy.product(0, 0))
        store(self, sigma=deviation)
        _ = self._rows

    @property
    def strategy(self) -> Toeplitz:
        """The matrix C, for `matrix_mechanism` and `sensitivity` of `dpaudit.accounting`."""
        from dpaudit.accounting import toeplitz

        return toeplitz(self.coefficients, steps=self.steps)

    @property
    def claim(self) -> Claim:
        """The claim that an audit may test: Gaussian differential privacy of the whole stream."""
        return self._rows.claim

    @property
    def loss(self) -> PrivacyLoss:
        """The privacy loss of a whole stream: at most that of `matrix_mechanism`, its sensitivity rounded up in the 19th digit."""
        from dpaudit.accounting import price_releases

        return price_releases([self._noise.record])

    def start(self, source: BitSource | None = None) -> PrefixRun:
        """Open a run for values that come one after the other; all steps are paid for from here on.

        Args:
          source: random bits of the whole run; None takes the operating system's.
        Returns:
          A run whose `add` takes the value of the next step and returns the noisy sum of all values so far.
        Source: Denisov, McMahan, Rush, Smith, Thakurta 2022, Theorem 2.1 (values may depend on earlier outputs).
        Example:
          >>> run = PrefixSums(steps=2, sensitivity=1, sigma=3).start()
          >>> run.add(np.array([4, 7])).dtype.name, run.left
          ('int64', 1)
        """
        bits, hold = open_release(self._noise.record, source, dimension=self.steps)
        return PrefixRun(self, bits, hold)

    def release(self, values: Sequence[Exact] | NDArray[Any], source: BitSource | None = None) -> NDArray[Any]:
        """The noisy running sums of a whole stream.

        Args:
          values: the values of the first steps, on the lattice: a sequence of exact numbers, or an array with a step in each row.
          source: random bits; None takes the operating system's.
        Returns:
          Array of the same shape: int64 for a whole lattice, float64 for a dyadic one, else Fractions.
        Raises:
          InvalidArgument: not numbers (DPA101, DPA102), of the wrong type or shape (DPA105), off the lattice (DPA107), too large
            (DPA108), none, or more than the steps (DPA109, DPA103); refused before randomness is drawn.
        Example:
          >>> PrefixSums(steps=3, sensitivity=1, sigma=2).release([5, 0, 2]).shape
          (3,)
        """
        return np.asarray(self.releases(values, 1, source)[0])

    def releases(self, values: Sequence[Exact] | NDArray[Any], count: int, source: BitSource | None = None) -> NDArray[Any]:
        """Independent noisy running sums of one stream, each paid for, along a new first axis; what an audit needs many of."""
        steps, form = self._read(values)
        moved = np.array([weighted(self._whole, list(steps[: step + 1])) for step in range(len(steps))], dtype=np.object_)
        if max(map(abs, moved.ravel())) > INTEGER_LIMIT:
            raise InvalidArgument("DPA108", "the values are too large for an array of results. Use a coarser lattice, or start().")
        noisy = self._noise.often(moved.astype(np.int64), count, source)
        return form.write(self._sums(np.moveaxis(noisy, 1, 0)), self.lattice)

    def describe(self) -> str:
        """One line that names the mechanism and its exact parameters."""
        return (
            f"running sums of {self.steps} steps, {len(self.coefficients)} bands, {self.participation}, on multiples of "
            f"{shown(self.lattice)}: rounded Gaussian noise of deviation {shown(self.sigma)} a row; "
            f"L2 sensitivity {shown(self.sensitivity)} a step under {self.adjacency}"
        )

    def to_dict(self) -> dict[str, str]:
        """The mechanism as plain text values, exact."""
        texts = as_text(self, "steps", "sensitivity", "sigma", "participation", "lattice", "adjacency")
        return {**texts, "coefficients": " ".join(map(str, self.coefficients))}

    @cached_property
    def _whole(self) -> tuple[int, ...]:
        """The coefficients in steps of the rows, for values in steps of the lattice."""
        return tuple(int(value * self.lattice / self._row_lattice) for value in self.coefficients)

    @property
    def _row_lattice(self) -> Fraction:
        """Distance of adjacent rows: values on the lattice times coefficients are multiples of it."""
        return self.lattice / math.lcm(*(value.denominator for value in self.coefficients))

    @cached_property
    def _rows(self) -> GaussianMechanism:
        """The mechanism that adds the noise to all rows at once, whose sensitivity is that of the matrix."""
        from dpaudit.accounting.matrices.sensitivities import squared_sensitivity

        require_step(self.sensitivity, self.lattice, "sensitivity")
        square = self.sensitivity**2 * squared_sensitivity(self.strategy, self.participation).high
        distance = _MOVES[self.adjacency.kind] * root_above(square)
        return GaussianMechanism(sensitivity=distance, sigma=self.sigma, lattice=self._row_lattice, adjacency=self.adjacency)

    @cached_property
    def _noise(self) -> Noise:
        """The noise of the rows, in their steps, and the entry of the release log."""
        noise = self._rows._noise  # noqa: SLF001 - one family of mechanisms
        parameters = tuple(sorted((*noise.record.parameters, ("processed", Fraction(1)))))
        return Noise(noise.law, Fraction(1), noise.width, replace(noise.record, parameters=parameters))

    def _read(self, values: Sequence[Exact] | NDArray[Any]) -> tuple[NDArray[Any], Format]:
        """The values in steps of the lattice, as Python integers, and the format of the sums."""
        if not isinstance(values, np.ndarray):
            if isinstance(values, (str, bytes)) or not isinstance(values, Sequence):
                raise InvalidArgument("DPA105", f"values must be a sequence of numbers or an array, got {kind_of(values)}.")
            steps, form = np.array([number_steps(value, self.lattice) for value in values], dtype=object), format_of(self.lattice)
        else:
            if not values.ndim:
                raise InvalidArgument("DPA105", "values must be an array with a step in each row, got a single number.")
            whole, form = array_steps(values, self.lattice)
            steps = whole.astype(object)
        if not len(steps):
            raise InvalidArgument("DPA109", "there are no values to release. Give the value of at least one step.")
        integer(len(steps), "the number of values", lower=1, upper=self.steps)
        return steps, form

    def _sums(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Running sums of the values from noisy rows, in steps of the lattice; a function of the rows alone."""
        recovery = Recovery(self._whole)
        return np.stack([_as_int64(recovery.next(row)) for row in rows], axis=1)


class Recovery:
    """Running sums from noisy rows, one at a time: solves C v = w, with v to a fixed part of a step, and adds up.

    It sees what was released and nothing else, so that its rounding costs no privacy.
    """

    def __init__(self, column: Sequence[int]) -> None:
        self._column = column
        self._total: Any = 0
        self._known = deque[Any](maxlen=len(column) - 1)
        self._spread, self._largest, self._reach = sum(map(abs, column)), 0, 0

    def next(self, row: Any) -> Any:
        """The running sum in steps of the lattice after one more row: numbers, or arrays of them."""
        row, lead = self._with_room(row), self._column[0]
        rest = (row << GUARD_BITS) - weighted(self._column[1:], self._known)
        value = (2 * rest + lead) // (2 * lead)
        self._known.append(value)
        self._total = self._total + value
        return (self._total + (1 << GUARD_BITS - 1)) >> GUARD_BITS

    def _with_room(self, row: Any) -> Any:
        """The row, as Python integers from the first one on with which 64 bits might not hold all numbers that `next` meets."""
        if not isinstance(row, np.ndarray) or row.dtype == object:
            return row
        rest = (int(np.abs(row).max()) << GUARD_BITS) + self._spread * self._largest
        self._largest = max(self._largest, rest // self._column[0] + 1)
        self._reach += self._largest
        if max(2 * rest + self._column[0], self._reach) < LARGEST:
            return row
        self._known = deque((value.astype(object) for value in self._known), maxlen=self._known.maxlen)
        self._total = np.asarray(self._total).astype(object)
        return row.astype(object)


class PrefixRun:
    """An open run of `PrefixSums`: takes one value after the other and returns the noisy sum of all so far.

    It keeps the last values, which are secret, so it can be neither copied nor pickled, and answers only in the process that
    started it. Threads may share it.
    """

    __slots__ = ("_bits", "_hold", "_lock", "_mechanism", "_process", "_recovery", "_shape", "_values", "left")

    def __init__(self, mechanism: PrefixSums, bits: BitSource, hold: Hold | None) -> None:
        self._mechanism, self._bits, self._hold, self.left = mechanism, bits, hold, mechanism.steps
        self._values = deque[Any](maxlen=len(mechanism.coefficients))
        self._recovery = Recovery(mechanism._whole)  # noqa: SLF001 - a part of the mechanism
        self._shape: tuple[int, ...] | None = None
        self._lock, self._process = threading.Lock(), os.getpid()

    def add(self, value: Value) -> int | Fraction | NDArray[Any]:
        """The noisy sum of all values so far, after this one, which may depend on earlier sums.

        A number, or an array as `release` takes it, all of one shape; DPA204 once all steps are taken or in another process.
        """
        lattice = self._mechanism.lattice
        if isinstance(value, np.ndarray):
            whole, form = array_steps(value, lattice)
            return form.write(_as_int64(self._next(whole.astype(object), whole.shape)), lattice)
        total = int(self._next(number_steps(value, lattice), ()))
        return total if lattice == 1 else lattice * total

    def _next(self, steps: Any, shape: tuple[int, ...]) -> Any:
        """The sum in steps after one more value in steps."""
        if os.getpid() != self._process:
            raise BudgetExceeded(
                "DPA204", "this run belongs to another process, where the same noise may be drawn. Start a new run."
            )
        with self._lock:
            if not self.left:
                raise BudgetExceeded(
                    "DPA204", f"the run has taken its {self._mechanism.steps} steps. Start a new run, which costs its own loss."
                )
            if self._shape not in {None, shape}:
                raise InvalidArgument("DPA105", f"all values of a run must have one shape, which is {self._shape}, got {shape}.")
            self._shape = shape
            self._values.append(steps)
            self.left -= 1
            row, noise = weighted(self._mechanism._whole, self._values), self._mechanism._noise  # noqa: SLF001 - as above
            drawn = noise.law.sampler.many(self._bits, math.prod(shape), True).reshape(shape)  # noqa: FBT003 - Python integers
            noisy = row + (drawn.astype(object) if shape else int(drawn))
            if self._hold is not None:
                noisy = self._hold(in_logged_units(np.asarray(row, dtype=object), noise.lattice, noise.record), noisy)
            return self._recovery.next(noisy)

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied: two copies would draw the noise of the same steps twice."""
        raise TypeError("an open run cannot be copied or pickled; start a new run, which is paid for")


def weighted(column: Sequence[Any], values: Reversible[Any]) -> Any:
    """The sum of products of coefficients and values, the latest value with the first coefficient."""
    return sum(map(mul, column, reversed(values)))


def _as_int64(totals: NDArray[Any]) -> NDArray[np.int64]:
    """Sums as 64-bit integers; DPA108 for those that do not fit, which released numbers alone decide."""
    if totals.dtype == object and max(map(abs, totals.ravel())) >= LARGEST:
        raise InvalidArgument("DPA108", "a noisy sum is too large for the array. The release is paid for; use less noise.")
    return totals.astype(np.int64)


def _rounded(coefficients: Sequence[Exact], steps: int) -> tuple[Fraction, ...]:
    """The coefficients of the matrix to multiples of 2^-20, which keeps their order, without zeros at the end."""
    from dpaudit.accounting import toeplitz

    unit = 1 << COEFFICIENT_BITS
    column = toeplitz(
        [Fraction(round(value * unit), unit) for value in toeplitz(coefficients, steps=steps).coefficients], steps=steps
    )
    positive(column.coefficients[0], "coefficients[0]")
    return column.coefficients
