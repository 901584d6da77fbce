"""When a record may take part in the steps of a matrix mechanism: once, in every epoch, far apart, or by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from dpaudit.exact import Exact, in_range, integer


@dataclass(frozen=True)
class Single:
    """Every record takes part in one step at most.

    Source: Denisov, McMahan, Rush, Smith, Thakurta 2022.
    Example:
      >>> Single()
      Single()
    """


@dataclass(frozen=True)
class FixedOrder:
    """Every record takes part once in each of several epochs, always at the same place of the epoch.

    Args:
      epochs: number of epochs, at least 1.
      steps: number of steps of an epoch, at least 1.
    Raises:
      InvalidArgument: a number is no integer (DPA105) or below 1 (DPA103).
    Source: Choquette-Choo, McMahan, Rush, Thakurta 2023.
    Example:
      >>> FixedOrder(epochs=4, steps=50)
      FixedOrder(epochs=4, steps=50)
    """

    epochs: int
    steps: int

    def __post_init__(self) -> None:
        for name in ("epochs", "steps"):
            object.__setattr__(self, name, integer(getattr(self, name), name, lower=1))


@dataclass(frozen=True)
class MinSeparation:
    """Every record takes part in a limited number of steps, any two of which are far enough apart.

    Args:
      separation: least difference of the numbers of two steps, at least 1.
      participations: largest number of steps, at least 1.
    Raises:
      InvalidArgument: a number is no integer (DPA105) or below 1 (DPA103).
    Source: Choquette-Choo, Ganesh, McKenna, McMahan, Rush, Thakurta, Xu 2023.
    Example:
      >>> MinSeparation(8, participations=250)
      MinSeparation(separation=8, participations=250)
    """

    separation: int
    participations: int

    def __post_init__(self) -> None:
        for name in ("separation", "participations"):
            object.__setattr__(self, name, integer(getattr(self, name), name, lower=1))


@dataclass(frozen=True)
class CyclicPoisson:
    """Records are split into classes beforehand, whatever their values; each step draws a Poisson sample of the next class in turn.

    Args:
      rate: probability with which a record of the class is drawn, exact, in [0, 1].
      bands: number of classes, at least the number of bands of the matrix.
    Raises:
      InvalidArgument: a number is not finite (DPA101, DPA102), no integer (DPA105) or out of range (DPA103).
    Source: Choquette-Choo, Ganesh, McKenna, McMahan, Rush, Thakurta, Xu 2023, Theorem 4.
    Example:
      >>> CyclicPoisson(rate="1/32", bands=8).bands
      8
    """

    rate: Exact
    bands: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", in_range(self.rate, "rate", lower=0, upper=1))
        object.__setattr__(self, "bands", integer(self.bands, "bands", lower=1))


Participation: TypeAlias = Single | FixedOrder | MinSeparation | CyclicPoisson
