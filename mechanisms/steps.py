"""Released values in lattice steps: read exactly before the noise is added, written exactly after it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, kind_of, rational, shown
from mechanisms.entries import name_contents

Value: TypeAlias = "Exact | NDArray[np.integer[Any]] | NDArray[np.float64]"
"""What a mechanism adds noise to: one exact number, or an array of integers or of floats that lie on the lattice."""

INTEGER_LIMIT: Final = 2**60
"""Values in steps are at most this large, and results below twice that.

Noise that does not fit int64 draws, 2**62 or more, is refused by the sampler. Together with a value of at most 2**60 it would give
a result that is refused anyway, so whether a release is refused is a fixed function of its exact result and reveals no more.
"""

FLOAT_LIMIT: Final = 2**52
_LARGEST_SHIFT: Final = 1000
_SPREAD: Final = 64  # one number has Laplace noise of more than 64 scales with probability e**-64


@dataclass(frozen=True)
class Format:
    """The exact form of numbers on the lattice `unit` / 2**`shift` in an array.

    Values before the noise have numerators of at most `limit`; with the noise they stay below twice that, which still fits.
    """

    kind: Literal["int64", "float64", "fractions"]
    unit: int
    shift: int
    limit: int

    def require_room(self, spread: Fraction) -> None:
        """Refuse a noise whose typical size, in steps, comes so near the limit that results would overflow now and then."""
        if spread * self.unit * _SPREAD > self.limit:
            raise InvalidArgument(
                "DPA108",
                f"{self.kind} arrays hold noise of scale up to 2**{self.limit.bit_length() - 7 - self.shift} only. "
                "Use less noise, a coarser lattice, or release numbers one at a time.",
            )

    def write(self, steps: NDArray[np.int64], lattice: Fraction) -> NDArray[Any]:
        """The numbers that `steps` stand for, exactly; refuses with DPA108 those that are beyond twice the limit."""
        # What this refuses depends on the released numbers only, so that the refusal costs no privacy.
        if steps.size and max(int(steps.max()), -int(steps.min())) > (2 * self.limit - 1) // self.unit:
            raise InvalidArgument("DPA108", "a noisy result is too large for the array. The release is paid for; use less noise.")
        if self.kind == "fractions":
            return np.array([lattice * int(step) for step in steps.reshape(-1)] or [], dtype=object).reshape(steps.shape)
        numerators = steps if self.unit == 1 else steps * np.int64(self.unit)
        return numerators if self.kind == "int64" else np.ldexp(numerators.astype(np.float64), -self.shift)


def number_steps(value: Exact, lattice: Fraction) -> int:
    """The exact number `value` in steps of `lattice`; DPA107 when it is no multiple of it."""
    if type(value) is int:  # the common case; the quotient in integers spares a Fraction
        whole, rest = divmod(value * lattice.denominator, lattice.numerator)
        if rest:
            raise _off_lattice("the value to release", lattice)
        return whole
    try:
        steps = rational(value, "the value to release") / lattice
    except InvalidArgument as error:
        raise InvalidArgument(
            error.code,
            f"the value to release must be a finite number or an array, got {kind_of(value)}. "
            "Convert several numbers with numpy.array().",
        ) from None
    if steps.denominator != 1:
        raise _off_lattice("the value to release", lattice)
    return steps.numerator


def format_of(lattice: Fraction) -> Format:
    """The format for arrays of numbers on `lattice`: int64 where it is whole, float64 where that is exact, else Fractions."""
    if lattice.denominator == 1 and lattice <= INTEGER_LIMIT // _SPREAD:
        return Format("int64", lattice.numerator, 0, INTEGER_LIMIT)
    return _float_format(lattice) or Format("fractions", 1, 0, INTEGER_LIMIT)


def array_steps(values: NDArray[Any], lattice: Fraction) -> tuple[NDArray[np.int64], Format]:
    """The entries of an array in steps, and the format that its noisy copy is written in."""
    if values.size == 0:
        raise InvalidArgument("DPA109", "the array to release is empty. Give at least one number.")
    if values.dtype.kind in "iu":
        return _integer_steps(values, lattice)
    if values.dtype == np.float64:
        return _float_steps(values, lattice)
    raise InvalidArgument(
        "DPA105", f"arrays must hold integers or float64, got {name_contents(values)}. Convert with astype(numpy.int64)."
    )


def _integer_steps(values: NDArray[np.integer[Any]], lattice: Fraction) -> tuple[NDArray[np.int64], Format]:
    """Integer entries in steps of an integer lattice."""
    form = format_of(lattice)
    if form.kind != "int64":
        raise InvalidArgument(
            "DPA105",
            f"integer arrays need a lattice that is an integer up to 2**54, got {shown(lattice)}. "
            "Count in steps with lattice=1 and multiply the result, or give a float64 array on a dyadic lattice.",
        )
    if int(values.max()) > INTEGER_LIMIT or int(values.min()) < -INTEGER_LIMIT:
        raise _too_large("2**60")
    whole = values.astype(np.int64)
    if form.unit == 1:
        return whole, form
    steps, rest = np.divmod(whole, np.int64(form.unit))
    if rest.any():
        raise _off_lattice("at least one entry", lattice)
    return steps, form


def _float_steps(values: NDArray[np.float64], lattice: Fraction) -> tuple[NDArray[np.int64], Format]:
    """Float entries in steps of a dyadic lattice, if every entry lies exactly on it."""
    form = _float_format(lattice)
    if form is None:
        raise InvalidArgument(
            "DPA105",
            f'float64 arrays need a lattice m / 2**s with s <= 1000, got {shown(lattice)}. Use "1/1024", or integers in steps.',
        )
    if not np.isfinite(values).all():
        raise InvalidArgument("DPA102", "the array to release holds NaN or infinity. Clamp every contribution before summing.")
    with np.errstate(over="ignore"):
        numerators = np.ldexp(values, form.shift)
    if not (np.abs(numerators) <= form.limit).all():
        raise _too_large(f"2**52 / 2**{form.shift}")
    whole = numerators.astype(np.int64)
    steps, rest = np.divmod(whole, np.int64(form.unit))
    if rest.any() or (whole != numerators).any():
        raise _off_lattice("at least one entry", lattice)
    return steps, form


def _float_format(lattice: Fraction) -> Format | None:
    """The float64 format of a lattice, None where floats cannot hold its multiples."""
    shift = lattice.denominator.bit_length() - 1
    if lattice.denominator != 1 << shift or shift > _LARGEST_SHIFT or lattice.numerator > FLOAT_LIMIT // _SPREAD:
        return None
    return Format("float64", lattice.numerator, shift, FLOAT_LIMIT)


def _too_large(allowed: str) -> InvalidArgument:
    """The refusal of values that leave no room for the noise."""
    return InvalidArgument("DPA108", f"values to release must be at most {allowed} in size. Use a coarser lattice.")


def _off_lattice(what: str, lattice: Fraction) -> InvalidArgument:
    """The refusal of values off the lattice; the value itself is private and not shown."""
    return InvalidArgument(
        "DPA107",
        f"{what} is not a multiple of {shown(lattice)}, the lattice of this mechanism, which releases no other numbers. Build it "
        'with a finer one, such as lattice="1/1024", and round each person\'s contribution to it before summing: '
        "mechanisms.clamp_to_lattice(values, lower=..., upper=..., lattice=...).",
    )
