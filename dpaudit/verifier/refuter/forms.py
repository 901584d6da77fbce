"""Linear forms of noise: what a program computes from its draws, and the conditions that its tests put on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from flint import fmpq

Number: TypeAlias = int | fmpq | bool
Relation: TypeAlias = Literal["<", "<=", "=="]


class NotLinear(ArithmeticError):
    """The program does with its noise what linear forms cannot say."""


@dataclass(frozen=True, eq=False)
class Form:
    """A sum of multiples of draws, by their numbers, plus a constant; it behaves as a number that is not known yet."""

    factors: Mapping[int, fmpq]
    start: fmpq

    def __add__(self, other: Form | Number) -> Form | fmpq:
        """The sum; a plain number where the noise cancels."""
        if not isinstance(other, Form):
            return Form(self.factors, self.start + other)
        places = {**self.factors, **other.factors}
        factors = {place: self.factors.get(place, fmpq()) + other.factors.get(place, 0) for place in places}
        kept = {place: factor for place, factor in factors.items() if factor}
        start = self.start + other.start
        return Form(kept, start) if kept else start

    def __mul__(self, other: Form | Number) -> Form | fmpq:
        """A multiple."""
        if isinstance(other, Form):
            raise NotLinear("a product of two noises")
        return Form({place: factor * other for place, factor in self.factors.items()}, self.start * other) if other else fmpq(0)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Form | fmpq:
        """Minus this."""
        return self * -1

    def __sub__(self, other: Form | Number) -> Form | fmpq:
        """The difference."""
        return self + other * -1

    def __rsub__(self, other: Number) -> Form | fmpq:
        """The difference from a number."""
        return self * -1 + other

    def __truediv__(self, other: Form | Number) -> Form | fmpq:
        """A part; noise is no divisor."""
        if isinstance(other, Form):
            raise NotLinear("a division by noise")
        return self * (fmpq(1) / other)

    def _refused(self, *_: object) -> Form:
        """Refuse an operation that linear forms cannot express."""
        raise NotLinear("noise is rounded or divides")

    __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refused

    def __lt__(self, other: Form | Number) -> Condition | bool:
        """The condition that it is less."""
        return _condition(self - other, "<")

    def __le__(self, other: Form | Number) -> Condition | bool:
        """The condition that it is at most the other."""
        return _condition(self - other, "<=")

    def __gt__(self, other: Form | Number) -> Condition | bool:
        """The condition that it is more."""
        return _condition(other - self, "<")

    def __ge__(self, other: Form | Number) -> Condition | bool:
        """The condition that it is at least the other."""
        return _condition(other - self, "<=")

    def __eq__(self, other: object) -> Condition | bool:  # type: ignore[override]
        """The condition that it equals the other."""
        if not isinstance(other, (Form, int, fmpq)):
            raise NotLinear("noise is compared with something other than a number")
        return _condition(self - other, "==")

    def __hash__(self) -> int:
        """By identity: forms are unknown numbers, not values."""
        return id(self)

    def __bool__(self) -> bool:
        """A number that is not known yet has no truth value."""
        raise NotLinear("noise is used as a truth value")


@dataclass(frozen=True, eq=False)
class Condition:
    """A form compared with 0: a truth value that is not known yet."""

    form: Form
    relation: Relation

    def __bool__(self) -> bool:
        """Whoever needs the truth has to decide on it."""
        raise NotLinear("a condition on noise is used as a truth value")

    def negated(self) -> Condition | None:
        """The opposite, where it is again one condition; not so for an equality."""
        if self.relation == "==":
            return None
        opposite = -self.form
        assert isinstance(opposite, Form)  # noqa: S101 - minus a form that is no number
        return Condition(opposite, "<" if self.relation == "<=" else "<=")


def _condition(difference: Form | Number, relation: Relation) -> Condition | bool:
    """The comparison of a difference with 0, decided where no noise is in it."""
    if isinstance(difference, Form):
        return Condition(difference, relation)
    compare: Mapping[str, Callable[[Number], bool]] = {"<": lambda x: x < 0, "<=": lambda x: x <= 0, "==": lambda x: x == 0}
    return compare[relation](difference)
