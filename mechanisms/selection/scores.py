"""Scores of candidates: read without rounding, and how far each lies below the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from dpaudit.exact import kind_of, rational
from mechanisms.entries import exact_array, name_contents

LARGEST_SIZE: Final = 2**30


@dataclass(frozen=True, eq=False)
class Scores:
    """Checked scores, at least one of them finite.

    `values` holds float64 or 64-bit integer scores, or for kind "exact" their gaps, rounded once, while `fractions` holds the
    scores themselves (None for never).
    """

    kind: Literal["float", "integer", "exact"]
    values: NDArray[Any]
    best: Fraction
    fractions: tuple[Fraction | None, ...] = ()

    @property
    def size(self) -> int:
        """The number of candidates."""
        return self.values.size

    def gaps(self, start: int, stop: int) -> NDArray[np.float64]:
        """Best score minus each of a range of scores, as floats with one rounding; infinite where too large or never."""
        return self._rounded(self.values[start:stop])

    def gaps_at(self, positions: NDArray[np.intp]) -> NDArray[np.float64]:
        """The same for scores at any positions."""
        return self._rounded(self.values[positions])

    def _rounded(self, part: NDArray[Any]) -> NDArray[np.float64]:
        """The gaps of a part of the values, in a new array."""
        if self.kind == "exact":
            return part.copy()
        if self.kind == "float":
            with np.errstate(over="ignore"):
                return np.asarray(float(self.best) - part, dtype=np.float64)
        # Unsigned differences wrap to the true one, which is below 2**64.
        return np.subtract(np.uint64(self.best.numerator % 2**64), part.view(np.uint64)).astype(np.float64)

    def gap(self, index: int) -> Fraction | None:
        """Best score minus the score of one candidate, exactly; None where the candidate is never chosen."""
        if self.kind == "exact":
            score = self.fractions[index]
        else:
            value = self.values[index]
            score = None if self.kind == "float" and math.isinf(value) else Fraction(value.item())
        return None if score is None else self.best - score

    def choices(self) -> int:
        """The number of candidates that may be chosen."""
        if self.kind == "exact":
            return sum(score is not None for score in self.fractions)
        return self.size if self.kind == "integer" else int(np.count_nonzero(self.values > -math.inf))

    def possible(self) -> NDArray[np.intp]:
        """Positions of the candidates that may be chosen, in order."""
        if self.kind == "exact":
            return np.array([position for position, score in enumerate(self.fractions) if score is not None], dtype=np.intp)
        return np.flatnonzero(np.isfinite(self.values))

    def only(self, positions: NDArray[np.intp]) -> Scores:
        """The scores at some positions, at least one of which may be chosen."""
        if self.kind == "exact":
            return _from_fractions(tuple(self.fractions[position] for position in positions))
        values = self.values[positions]
        return Scores(self.kind, values, Fraction(values.max().item()))


def read_scores(scores: Sequence[Any] | NDArray[Any]) -> Scores:
    """The scores that a mechanism chooses by, checked."""
    array = scores if isinstance(scores, np.ndarray) else _as_array(scores)
    if array.ndim != 1 or array.dtype.kind not in "iufO":
        raise InvalidArgument(
            "DPA105", f"scores must be numbers in 1 dimension, got {name_contents(array)} in {array.ndim}. Pass one row."
        )
    if array.size == 0:
        raise InvalidArgument("DPA109", "there are no scores, so there is no candidate to choose. Give at least one.")
    if array.size > LARGEST_SIZE:
        raise InvalidArgument("DPA103", f"there may be at most 2**30 scores, got {array.size}. Choose among groups first.")
    if array.dtype.kind in "iu":
        whole = array if array.dtype == np.uint64 else array.astype(np.int64, copy=False)
        return Scores("integer", np.ascontiguousarray(whole), Fraction(int(whole.max())))
    if array.dtype.kind == "f" and array.dtype.itemsize <= 8:
        values = array.astype(np.float64, copy=False)
        best = float(values.max())  # NaN and plus infinity show in the maximum
        _refuse_unless_finite(best)
        return Scores("float", values, Fraction(best))
    return _from_objects(array.tolist() if array.dtype.kind == "O" else [_ratio(entry) for entry in array])


def _as_array(scores: Sequence[Any]) -> NDArray[Any]:
    """A sequence of scores as an array that holds each of them exactly."""
    if isinstance(scores, (str, bytes)) or not hasattr(scores, "__iter__"):
        raise InvalidArgument(
            "DPA105",
            f"scores must be a sequence of numbers or an array, got {kind_of(scores)}. "
            "Pass one score for each candidate, such as [3, 1, 2].",
        )
    return exact_array(scores)


def _from_objects(entries: list[Any]) -> Scores:
    """Scores of mixed types, in exact arithmetic."""
    exact = tuple(_exact(entry) for entry in entries)
    _refuse_unless_finite(-math.inf if all(score is None for score in exact) else 0.0)
    return _from_fractions(exact)


def _from_fractions(exact: tuple[Fraction | None, ...]) -> Scores:
    """Scores in exact arithmetic, None for never."""
    best = max(score for score in exact if score is not None)
    gaps = [math.inf if score is None else _nearest(best - score) for score in exact]
    return Scores("exact", np.array(gaps), best, exact)


def _exact(entry: Any) -> Fraction | None:
    """One score exactly, None for minus infinity; no score is shown in a refusal, since scores are private."""
    if isinstance(entry, float) and entry == -math.inf:
        return None
    try:
        number: Any = None if isinstance(entry, str) else entry
        return rational(number)
    except InvalidArgument as error:
        raise InvalidArgument(
            error.code,
            f"each score must be a finite number, or -inf for what must not be chosen, got {kind_of(entry)} that is neither. "
            "Give one number for each candidate; nan and +inf are refused.",
        ) from None


def _refuse_unless_finite(best: float) -> None:
    """Refuse scores whose maximum is NaN, plus infinity or minus infinity."""
    if best == -math.inf:
        raise InvalidArgument("DPA109", "every score is -inf, so that no candidate may be chosen. Give at least one finite score.")
    if not math.isfinite(best):
        raise InvalidArgument("DPA102", "a score is NaN or +inf. Scores must be finite, or -inf where a candidate is never chosen.")


def _ratio(entry: Any) -> Any:
    """A float wider than 64 bits as an exact Fraction; infinities and NaN as a float."""
    return Fraction(*entry.as_integer_ratio()) if np.isfinite(entry) else float(entry)


def _nearest(value: Fraction) -> float:
    """The nearest float, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
