"""The border: what callers write becomes exact numbers and known words, once; and `Enclosure`, an interval around the truth."""

from __future__ import annotations

import math
import numbers
import os
import reprlib
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from dpaudit.errors import EngineDisagreement, InvalidArgument

if TYPE_CHECKING:
    from flint import arb, fmpq

Exact: TypeAlias = int | Fraction | Decimal | str | float
"""What a caller may write for an exact number; a float is read as the binary value it is."""

SMALLEST_EXPONENT = -4096
"""Endpoints below 2**SMALLEST_EXPONENT (about 1e-1233) are rounded outward to 0 or to that power."""

_Given = TypeVar("_Given")

_FINITE = "Write a finite number that is chosen without looking at the data."
_MAX_DIGITS = 4000
_MAX_DECIMAL_EXPONENT = 5000
_EXAMPLES: Final = {
    "delta": ' Write for instance delta="1e-6".',
    "rate": ' It is the probability that a record is sampled: write for instance "1/100".',
}
_ENDPOINT_BITS = 96
_LONGEST_SHOWN = 14_000  # bits; Python refuses to print integers of more than 4300 digits
_precision_lock = threading.RLock()


def _renew_lock() -> None:
    """Give a forked child a lock of its own: the old one may be held by a thread that does not exist there."""
    global _precision_lock  # noqa: PLW0603 - the one lock of the process
    _precision_lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def rational(value: Exact, name: str = "value") -> Fraction:
    """Exact rational value of `value`."""
    if isinstance(value, bool) or not isinstance(value, (numbers.Rational, float, Decimal, str)):
        from_numpy = "; .item() gives the number in a numpy scalar or array" if type(value).__module__ == "numpy" else ""
        raise InvalidArgument(
            "DPA101",
            f"{name} must be a number, got {kind_of(value)}. "
            f'Write an int, a float, a Fraction, a Decimal or a string such as "1/3"{from_numpy}.',
        )
    if isinstance(value, str):
        return _from_text(value, name)
    if isinstance(value, Decimal):
        return _from_decimal(value, name)
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidArgument("DPA102", f"{name} must be finite, got {value}. {_FINITE}")
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(value)


def _from_text(text: str, name: str) -> Fraction:
    """Value of a numeric string; refuses numerals so large that reading them would exhaust memory."""
    start = text if len(text) <= 40 else text[:37] + "..."
    decimal_point = ", with a point before decimals" if "," in text else ""
    remedy = f'Write a numeral such as "3", "0.1", "1/3" or "1e-6"{decimal_point}.'
    if len(text) > _MAX_DIGITS:
        raise InvalidArgument("DPA101", f"{name} has {len(text)} characters, allowed are {_MAX_DIGITS}. {remedy}")
    try:
        if "/" in text:
            return Fraction(text)
        decimal = Decimal(text)
    except (ArithmeticError, ValueError) as error:
        raise InvalidArgument("DPA101", f"{name} must be a number, got {start!r}. {remedy}") from error
    return _from_decimal(decimal, name)


def _from_decimal(value: Decimal, name: str) -> Fraction:
    """Value of a finite decimal within 10**+-5000; the exact rational of one beyond might not fit in memory."""
    if not value.is_finite():
        raise InvalidArgument("DPA102", f"{name} must be finite, got {value}. {_FINITE}")
    if value and abs(value.adjusted()) > _MAX_DECIMAL_EXPONENT:
        limits = f"1e-{_MAX_DECIMAL_EXPONENT} and 1e{_MAX_DECIMAL_EXPONENT}"
        raise InvalidArgument("DPA103", f"{name} must be zero or between {limits} in size, got {value:.6e}.")
    return Fraction(value)


def positive(value: Exact, name: str = "value") -> Fraction:
    """Exact value of a parameter that must be greater than zero."""
    exact = rational(value, name)
    if exact <= 0:
        raise InvalidArgument("DPA104", f"{name} must be positive, got {shown(exact)}. {_why_positive(name)}")
    return exact


def _why_positive(name: str) -> str:
    """Second sentence of the refusal of zero and negative parameters."""
    if "sensitivity" in name:
        return "A query that never changes needs no noise; release it directly."
    return f"Write a value above zero, such as {name}=1."


def non_negative(value: Exact, name: str = "value") -> Fraction:
    """Exact value of a parameter that must not be below zero."""
    exact = rational(value, name)
    if exact < 0:
        raise InvalidArgument("DPA103", f"{name} must be at least 0, got {shown(exact)}.")
    return exact


def in_range(
    value: Exact, name: str, *, lower: Exact, upper: Exact, lower_open: bool = False, upper_open: bool = False
) -> Fraction:
    """Exact value of a parameter that must lie between two bounds."""
    exact, low, high = rational(value, name), rational(lower, "lower"), rational(upper, "upper")
    below = exact <= low if lower_open else exact < low
    above = exact >= high if upper_open else exact > high
    if below or above:
        words = f"{'above' if lower_open else 'at least'} {lower} and {'below' if upper_open else 'at most'} {upper}"
        raise InvalidArgument("DPA103", f"{name} must be {words}, got {shown(exact)}.{_EXAMPLES.get(name, '')}")
    return exact


def integer(value: object, name: str, *, lower: int | None = None, upper: int | None = None) -> int:
    """Value of an integer parameter."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InvalidArgument("DPA105", f"{name} must be an integer, got {kind_of(value)}. Convert it with int().")
    whole = int(value)
    if (lower is not None and whole < lower) or (upper is not None and whole > upper):
        most = None if upper is None else _shown_limit(upper)
        allowed = f"at least {lower}" if upper is None else f"at most {most}" if lower is None else f"from {lower} to {most}"
        raise InvalidArgument(
            "DPA103", f"{name} must be {allowed}, got {whole if abs(whole) < 10**30 else shown(Fraction(whole))}."
        )
    return whole


def _shown_limit(limit: int) -> str:
    """A limit as people write it: a large power of two as one."""
    power = limit.bit_length() - 1
    return f"2**{power}" if power >= 20 and limit == 1 << power else shown(Fraction(limit))


def instance_of(value: _Given, kind: type, name: str) -> _Given:
    """The value of a parameter that has to be of one kind."""
    if not isinstance(value, kind):
        raise InvalidArgument("DPA105", f"{name} must be of type {kind.__name__}, got {kind_of(value)}.")
    return value


def word(value: object, name: str, allowed: Collection[str]) -> str:
    """Value of a parameter that is one of a few words."""
    if not isinstance(value, str) or value not in allowed:
        got = reprlib.repr(value) if isinstance(value, str) else kind_of(value)
        raise InvalidArgument("DPA103", f"{name} must be one of {', '.join(allowed)}, got {got}.")
    return value


def kind_of(value: object) -> str:
    """The type of a value with its article, for an error that must not show the value: "an int", "a list", "None"."""
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0].lower() in 'aeiou' or name == 'ndarray' else 'a'} {name}"


def one_given(**alternatives: object) -> str:
    """Name of the only alternative that is not None; DPA106 where none or several are given, with the first as an example."""
    given = [name for name, value in alternatives.items() if value is not None]
    if len(given) == 1:
        return given[0]
    *others, last = alternatives
    names = f"{', '.join(others)} or {last}"
    if not given:
        raise InvalidArgument(
            "DPA106", f"exactly one of {names} must be given, got none. Write for instance {next(iter(alternatives))}=1."
        )
    got = " and ".join(given)
    raise InvalidArgument(
        "DPA106", f"only one of {names} may be given, got {got}. Keep the one that you mean and leave the rest out."
    )


def shown(value: Fraction) -> str:
    """`value` as people write it: exact when that is short (1/3, 1e-06), else "about" six digits, whatever its size."""
    size = value.numerator.bit_length() - value.denominator.bit_length()
    if value.numerator.bit_length() + value.denominator.bit_length() > _LONGEST_SHOWN:
        return f"about {'-' if value < 0 else ''}2^{size}"
    text = str(value)
    if len(text) <= 6:
        return text
    near = float(value) if abs(size) < 1000 else 0.0  # outside the range of floats, only 0 is safe to convert
    if Fraction(repr(near)) == value:
        return min(text, repr(near), key=len)
    return text if len(text) <= 30 else f"about {near:.6g}" if near else f"about {outward(value, digits=6, up=False)}"


def fmpq_of(value: Fraction) -> fmpq:
    """`value` as a python-flint rational, exactly."""
    from flint import fmpq

    return fmpq(value.numerator, value.denominator)


def ball(value: Fraction | int) -> arb:
    """A ball of the current working precision that contains the exact rational `value`."""
    from flint import arb

    return arb(fmpq_of(Fraction(value)))


@contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Ball arithmetic at `bits` bits inside the block; one thread at a time, so that results never depend on a race."""
    from flint import ctx

    with _precision_lock:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


Endpoint: TypeAlias = Fraction | float
"""An end of an `Enclosure`: a Fraction, or the float infinity."""


def ball_endpoints(value: arb) -> tuple[Endpoint, Endpoint]:
    """Rationals (or infinities) on both sides of everything in the ball `value`."""
    if value.is_nan():
        return -math.inf, math.inf
    return _endpoint(value.lower(), up=False), _endpoint(value.upper(), up=True)


def _endpoint(point: arb, *, up: bool) -> Endpoint:
    """An exact ball as a Fraction, with sizes outside 2**+-4096 rounded outward."""
    if not point.is_finite():
        return math.inf if point > 0 else -math.inf
    mantissa, exponent = (int(part) for part in point.man_exp())
    size = mantissa.bit_length() + exponent
    if mantissa == 0:
        return Fraction(0)
    if size > -SMALLEST_EXPONENT:
        if mantissa > 0:
            return math.inf if up else Fraction(2) ** (-SMALLEST_EXPONENT)
        return -(Fraction(2) ** (-SMALLEST_EXPONENT)) if up else -math.inf
    if size < SMALLEST_EXPONENT:
        tiny = Fraction(2) ** SMALLEST_EXPONENT
        if mantissa > 0:
            return tiny if up else Fraction(0)
        return Fraction(0) if up else -tiny
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def _trim(value: Endpoint, *, up: bool) -> Endpoint:
    """`value`, or the nearest 96-bit dyadic on the outer side when it is a very long rational."""
    if isinstance(value, float) or value.denominator.bit_length() + value.numerator.bit_length() <= 1024:
        return value
    from flint import arb

    with working_precision(_ENDPOINT_BITS):
        enclosing = arb(fmpq_of(value))
        return ball_endpoints(enclosing)[1 if up else 0]


@dataclass(frozen=True)
class Reason:
    """Why a certified number holds: a statement (theorem, assumption or error term) and the reasons beneath it."""

    statement: str
    parts: tuple[Reason, ...] = ()

    def lines(self, indent: int = 0) -> list[str]:
        """The tree as indented lines, this statement first."""
        return ["  " * indent + self.statement, *(line for part in self.parts for line in part.lines(indent + 1))]


@dataclass(frozen=True)
class Enclosure:
    """An interval that contains the true value: `lower <= truth <= upper`.

    The ends are Fractions, so that comparing them with an exact claim is exact; an unbounded end is a float infinity.

    Args:
      lower: a number not above the truth.
      upper: a number not below the truth.
      reason: why both ends hold.
    Raises:
      EngineDisagreement: the ends are in the wrong order (DPA203).
    Source: docs/decisions/0002-exact-numbers-at-the-border.md.
    Example:
      >>> Enclosure(lower=Fraction(1, 3), upper=Fraction(1, 3)).contains("1/3")
      True
    """

    lower: Endpoint
    upper: Endpoint
    reason: Reason = field(default_factory=lambda: Reason("exact value"), compare=False)

    def __post_init__(self) -> None:
        """Normalise the ends and refuse an empty interval."""
        for name in ("lower", "upper"):
            end = getattr(self, name)
            if isinstance(end, float) and math.isnan(end):
                raise EngineDisagreement("DPA203", f"{name} end of an enclosure is NaN.")
            exact = end if isinstance(end, float) and math.isinf(end) else rational(end, f"{name} end")
            object.__setattr__(self, name, _trim(exact, up=name == "upper"))
        if self.lower > self.upper:
            raise EngineDisagreement("DPA203", f"lower end {_end(self.lower)} lies above upper end {_end(self.upper)}.")

    @classmethod
    def point(cls, value: Exact, reason: Reason | None = None) -> Enclosure:
        """The enclosure of an exactly known value."""
        exact = rational(value)
        return cls(exact, exact) if reason is None else cls(exact, exact, reason)

    @classmethod
    def from_ball(cls, value: arb, reason: Reason, *, lowest: Endpoint = -math.inf, highest: Endpoint = math.inf) -> Enclosure:
        """The enclosure of a python-flint ball, cut to [`lowest`, `highest`] where the truth is known to lie; DPA203 outside."""
        lower, upper = ball_endpoints(value)
        return cls(max(lower, lowest), min(upper, highest), reason)

    def contains(self, value: Exact) -> bool:
        """True if the exact number `value` lies inside, ends included."""
        return bool(self.lower <= rational(value) <= self.upper)

    def meets(self, other: Enclosure) -> bool:
        """True if the two intervals have a point in common."""
        instance_of(other, Enclosure, "the other enclosure")
        return bool(self.lower <= other.upper and other.lower <= self.upper)

    def intersect(self, other: Enclosure) -> Enclosure:
        """Return the intersection; raise EngineDisagreement (DPA203) when the two do not meet."""
        if not self.meets(other):
            raise EngineDisagreement("DPA203", f"{self} and {other} do not meet, so one of the two computations is wrong.")
        reason = Reason("intersection of two independent enclosures", (self.reason, other.reason))
        return Enclosure(max(self.lower, other.lower), min(self.upper, other.upper), reason)

    @property
    def is_point(self) -> bool:
        """True if the value is known exactly."""
        return self.lower == self.upper

    @property
    def width(self) -> Endpoint:
        """Distance of the ends; 0 when the value is known exactly."""
        return math.inf if isinstance(self.lower, float) or isinstance(self.upper, float) else self.upper - self.lower

    def floats(self) -> tuple[float, float]:
        """The ends as floats, rounded outward."""
        return float_outward(self.lower, up=False), float_outward(self.upper, up=True)

    def why(self) -> str:
        """The reason tree as indented text: theorem, assumptions and error terms."""
        return "\n".join(self.reason.lines())

    def __str__(self) -> str:
        """The interval with six digits, rounded outward; one number where both ends print alike."""
        low, high = outward(self.lower, digits=6, up=False), outward(self.upper, digits=6, up=True)
        return low if low == high else f"[{low}, {high}]"

    def __repr__(self) -> str:
        """The interval in one line; the ends themselves and the reasons may be pages long."""
        return f"<Enclosure {self}>"


def _end(value: Endpoint) -> str:
    """An end of an enclosure for a message."""
    return str(value) if isinstance(value, float) else shown(value)


def float_outward(value: Endpoint, *, up: bool) -> float:
    """The nearest float at or above (`up`) or at or below `value`."""
    if isinstance(value, float):
        return value
    try:
        near = float(value)
    except OverflowError:
        near = math.inf if value > 0 else -math.inf
    if up and near < value:
        return math.nextafter(near, math.inf)
    if not up and near > value:
        return math.nextafter(near, -math.inf)
    return near


def outward(value: Endpoint, *, digits: int, up: bool) -> str:
    """`value` in decimal with `digits` significant digits, rounded up or down as asked."""
    if isinstance(value, float):
        return str(value)
    context = Context(prec=digits, rounding=ROUND_CEILING if up else ROUND_FLOOR, Emin=-9999, Emax=9999)
    quotient = context.divide(Decimal(value.numerator), Decimal(value.denominator))
    text = str(quotient.normalize(context))
    return format(quotient.normalize(context), "f") if "E+" in text and quotient.adjusted() < 15 else text
