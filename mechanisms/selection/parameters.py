"""What all choosing mechanisms are given: a sensitivity of scores, an epsilon, whether scores move together, an adjacency."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from dpaudit.claims import Adjacency
from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, positive
from mechanisms.noise import read_flag

_TEMPERATURE_EXPONENT: Final = 900


def checked(*, sensitivity: Exact, epsilon: Exact, monotonic: bool, adjacency: Adjacency | str) -> dict[str, Any]:
    """The common parameters, exact; refused with DPA101, DPA102, DPA103, DPA104 or DPA105."""
    return {
        "sensitivity": positive(sensitivity, "sensitivity"),
        "epsilon": positive(epsilon, "epsilon"),
        "monotonic": read_flag(monotonic, "monotonic"),
        "adjacency": Adjacency.of(adjacency),
    }


def moves(*, monotonic: bool) -> int:
    """By how many sensitivities the distance of two scores can change: by two where they may move against each other."""
    return 1 if monotonic else 2


def require_temperature(temperature: Fraction) -> None:
    """Refuse temperatures with which gaps of scores would leave the range of floats in every case."""
    limit = Fraction(2) ** _TEMPERATURE_EXPONENT
    if not 1 / limit <= temperature <= limit:
        raise InvalidArgument(
            "DPA103", "sensitivity / epsilon is too large or too small: allowed is 2**-900 to 2**900. Scale scores."
        )


def kind_of_scores(*, monotonic: bool) -> str:
    """How a description calls the scores."""
    return "monotonic scores" if monotonic else "scores"
