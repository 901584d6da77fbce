"""Classes of what the fifth list gives out: numbers with attributes, labelled arrays, an answer that is only shown."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np


class Amount(float):
    """A number with a unit and how many records made it."""

    records: float


class Results(dict[str, float]):
    """Results by name, with what was left out as an attribute."""

    left_out: float = 0.0


class Rows(list[float]):
    """Rows with the time that they took."""

    took: float = 0.0


@attrs.define(frozen=True)
class Estimate:
    """A mean with its number of degrees of freedom."""

    mean: float
    _freedom: float


class Cube:
    """Values with named dimensions, as labelled arrays have them."""

    def __init__(self, values: np.ndarray, dims: tuple[str, ...], coords: dict[str, Any]) -> None:
        """Hold values by coordinates."""
        self._values, self._dims, self._coords = values, dims, coords

    @property
    def values(self) -> np.ndarray:
        """What is held."""
        return self._values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        """The values alone."""
        return np.array(self._values, dtype)

    def __repr__(self) -> str:
        """Dimensions and the size."""
        return f"<Cube {self._dims} {self._values.shape}>"


class Curtain:
    """An answer that shows itself as text alone."""

    __slots__ = ("__show",)

    def __init__(self, value: float) -> None:
        """Keep the value behind a function."""

        def shown() -> str:
            return f"{value:.2f}"

        self.__show = shown

    def __repr__(self) -> str:
        """The value."""
        return f"Curtain({self.__show()})"
