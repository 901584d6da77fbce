"""The types of samplers that programs of the suite take."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

Laplace: TypeAlias = Callable[[Fraction], Fraction]
Choice: TypeAlias = Callable[[list[Fraction], Fraction, int], int]
Response: TypeAlias = Callable[[bool, Fraction], bool]
