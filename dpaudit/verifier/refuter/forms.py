"""Linear forms of noise: what a program computes from its draws, and the conditions that its tests put on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from flint import fmpq

Number: TypeAlias = int | fmpq | bool
Relation: TypeAlias = Literal["<", "<=", "=="]


class NotLinear(ArithmeticError):
    """The program decides by its noise in a way that linear forms cannot say."""


class Blur:
    """A number that noise enters otherwise than linearly, such as a product: nothing is known of it, and no test may need it."""

    def _blurred(self, *_: object) -> Blur:
        """Whatever is computed from it."""
        return self

    def _refused(self, *_: object) -> bool:
        """Refuse to compare it."""
        raise NotLinear("noise is multiplied, divided by or rounded, and then tested")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _blurred
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = _blurred
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __bool__ = _refused
    __hash__ = None  # type: ignore[assignment]


BLUR: Final = Blur()


class Quotient(Blur):
    """A form or number divided by a form; with a divisor of known sign, linear forms say between which numbers it lies."""

    def __init__(self, top: Form | Number, bottom: Form) -> None:
        """With both forms."""
        self.top, self.bottom = top, bottom

    def between(self, low: fmpq, high: fmpq) -> list[Condition | bool]:
        """The conditions that it is at least one number and below another, if the divisor is above 0."""
        return [self.bottom * low <= self.top, self.top < self.bottom * high]

    def has_positive_bottom(self, conditions: Sequence[Condition]) -> bool:
        """True if one of some conditions says that the divisor is above 0."""
        return any(_says_positive(one, self.bottom) for one in conditions if one.relation != "==")


def _says_positive(condition: Condition, bottom: Form) -> bool:
    """True if a condition, `start - factor * bottom` at most 0 with a factor above 0, keeps the bottom above 0."""
    form = condition.form
    place = next(iter(bottom.factors))
    factor = -form.factors.get(place, fmpq()) / bottom.factors[place]
    if not factor > 0 or form.factors.keys() != bottom.factors.keys():
        return False
    if any(form.factors[one] != -factor * bottom.factors[one] for one in bottom.factors):
        return False
    start = form.start + factor * bottom.start
    return bool(start > 0 or (start == 0 and condition.relation == "<"))


@dataclass(frozen=True, eq=False)
class Form:
    """A sum of multiples of draws, by their numbers, plus a constant; it behaves as a number that is not known yet."""

    factors: Mapping[int, fmpq]
    start: fmpq

    def __add__(self, other: Form | Number) -> Form | Blur | fmpq:
        """The sum; a plain number where the noise cancels."""
        if isinstance(other, Blur):
            return other
        if not isinstance(other, Form):
            return Form(self.factors, self.start + other)
        places = {**self.factors, **other.factors}
        factors = {place: self.factors.get(place, fmpq()) + other.factors.get(place, 0) for place in places}
        kept = {place: factor for place, factor in factors.items() if factor}
        start = self.start + other.start
        return Form(kept, start) if kept else start

    def __mul__(self, other: Form | Number) -> Form | Blur | fmpq:
        """A multiple."""
        if isinstance(other, (Form, Blur)):
            return BLUR
        return Form({place: factor * other for place, factor in self.factors.items()}, self.start * other) if other else fmpq(0)

    __radd__ = __add__
    __rmul__ = __mul__

    def __neg__(self) -> Form | Blur | fmpq:
        """Minus this."""
        return self * -1

    def __sub__(self, other: Form | Number) -> Form | Blur | fmpq:
        """The difference."""
        return self + other * -1

    def __rsub__(self, other: Number) -> Form | Blur | fmpq:
        """The difference from a number."""
        return self * -1 + other

    def __truediv__(self, other: Form | Number) -> Form | Blur | fmpq:
        """A part; what is divided by noise is not known."""
        if isinstance(other, Form):
            return Quotient(self, other)
        return BLUR if isinstance(other, Blur) else self * (fmpq(1) / other)

    def __rtruediv__(self, other: Number) -> Blur:
        """A number divided by this."""
        return Quotient(other, self)

    def _blurred(self, *_: object) -> Blur:
        """What linear forms cannot express."""
        return BLUR

    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _blurred

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

    def unequal(self) -> tuple[Condition, Condition]:
        """The two sides on which an equality fails."""
        opposite = -self.form
        assert isinstance(opposite, Form)  # noqa: S101 - minus a form that is no number
        return Condition(self.form, "<"), Condition(opposite, "<")


def _condition(difference: Form | Blur | Number, relation: Relation) -> Condition | bool:
    """The comparison of a difference with 0, decided where no noise is in it."""
    if isinstance(difference, Blur):
        raise NotLinear("noise is multiplied, divided by or rounded, and then tested")
    if isinstance(difference, Form):
        return Condition(difference, relation)
    compare: Mapping[str, Callable[[Number], bool]] = {"<": lambda x: x < 0, "<=": lambda x: x <= 0, "==": lambda x: x == 0}
    return compare[relation](difference)
