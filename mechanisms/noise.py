"""Additive noise: the one path from a value to its noisy copies (read, note, draw, add, write), and what mechanisms share."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, Protocol, cast, overload

import numpy as np
from numpy.typing import NDArray

from dpaudit.errors import InvalidArgument
from dpaudit.exact import Exact, integer, kind_of, one_given, positive, shown
from dpaudit.releases import Hold, Release, note
from mechanisms.laws.law import MOST_DRAWS, Sampler
from mechanisms.sampling.limits import LARGEST
from mechanisms.sampling.random import BitSource, default_source
from mechanisms.steps import INTEGER_LIMIT, Value, array_steps, format_of, number_steps

_SHORT: Final = 12
"""Letters of a step that an error proposes; longer ones come from floats such as 0.1, and nobody means them."""


class Drawn(Protocol):
    """Integer noise as a mechanism needs it: something that can be drawn from, its tables made on first use."""

    @property
    def sampler(self) -> Sampler:
        """How it is drawn."""


@dataclass(frozen=True)
class Noise:
    """Integer noise in steps of a lattice.

    `width` is its typical size in steps; `record` is the entry of the release log for one noisy number.
    """

    law: Drawn
    lattice: Fraction
    width: Fraction
    record: Release

    def once(self, value: Value, source: BitSource | None) -> int | Fraction | NDArray[Any]:
        """One noisy copy: an int or a Fraction of a number, an array of an array."""
        if isinstance(value, np.ndarray):
            return np.asarray(self.often(value, 1, source)[0])
        steps = number_steps(value, self.lattice)
        bits, hold = open_release(self.record, source)
        total = steps + self.law.sampler.one(bits)
        result = total if self.lattice == 1 else self.lattice * total
        return result if hold is None else hold(value, result)

    def often(self, value: Value, count: int, source: BitSource | None) -> NDArray[Any]:
        """Independent noisy copies, along a new first axis."""
        copies = read_count(count)
        if isinstance(value, np.ndarray):
            steps, form = array_steps(value, self.lattice)
        else:
            form = format_of(self.lattice)
            steps = np.array(_fitting(number_steps(value, self.lattice), form.limit // form.unit), dtype=np.int64)
        form.require_room(self.width)
        sampler = self.law.sampler
        if sampler.reach > LARGEST // 2:
            raise InvalidArgument("DPA108", "the noise reaches beyond int64. Use less of it, or release numbers one at a time.")
        bits, hold = open_release(self.record, source, count=copies, dimension=steps.size)
        noise = sampler.many(bits, copies * steps.size, False).reshape(copies, *steps.shape)  # noqa: FBT003 - not wide
        noise += steps
        result = form.write(noise, self.lattice)
        return result if hold is None else hold(in_logged_units(value, self.lattice, self.record), result)


class AddsNoise(Protocol):
    """A mechanism on a lattice, with its noise; `release` and `releases` become its methods in the class body."""

    @property
    def _noise(self) -> Noise:
        """The noise in steps of the lattice, and its entry in the release log."""


@overload
def release(self: AddsNoise, value: NDArray[Any], source: BitSource | None = None) -> NDArray[Any]: ...
@overload
def release(self: AddsNoise, value: Exact, source: BitSource | None = None) -> int | Fraction: ...
def release(self: AddsNoise, value: Value, source: BitSource | None = None) -> int | Fraction | NDArray[Any]:
    """One noisy copy of a value: an int, or a Fraction where the lattice is not 1, of a number; a new array of an array.

    `value` is an exact number on the lattice (int, Fraction, Decimal, numeric string, or a float that lies on it), or an integer
    array (whole lattice) or float64 array (dyadic one) of any shape. Others are refused (DPA101, DPA102, DPA105, DPA107 to DPA109)
    before randomness is drawn; only a result too large for its dtype is refused later. `source` None takes the system's bits.
    """
    return self._noise.once(value, source)


def releases(self: AddsNoise, value: Value, count: int, source: BitSource | None = None) -> NDArray[Any]:
    """Independent noisy copies of one value, each paid for, along a new first axis; what an audit needs many of.

    `count` is from 1 to 2**32. The array holds int64 for a whole lattice, float64 for a dyadic one, else Fractions.
    """
    return self._noise.often(value, count, source)


def _fitting(steps: int, largest: int) -> int:
    """The number of steps, if it leaves room for the noise in an array."""
    if abs(steps) > min(largest, INTEGER_LIMIT):
        raise InvalidArgument("DPA108", "the value to release is too large for an array of results. Use a coarser lattice.")
    return steps


def in_logged_units(value: Value, lattice: Fraction, record: Release) -> Value | list[Fraction]:
    """The value of a release in the units of its logged sensitivity: mechanisms on vectors read integer steps instead."""
    unit = dict(record.parameters).get("lattice", lattice) / lattice
    return value if unit == 1 else [unit * int(steps) for steps in np.ravel(np.asarray(value))]


def read_count(count: int) -> int:
    """The number of independent copies that a caller asks for: at least 1, and no more than a call may draw."""
    return integer(count, "count", lower=1, upper=MOST_DRAWS)


def bit_source(source: BitSource | None) -> BitSource:
    """The source to draw from: the one given, or else the calling thread's own; DPA105 for what is none, such as a seed."""
    if source is None:
        return default_source()
    if not (hasattr(source, "secure") and hasattr(source, "bits")):
        raise InvalidArgument(
            "DPA105",
            f"source says where random bits come from and must be a bit source or None, got {kind_of(source)}. Mechanisms take no "
            "seed: leave source out. Tests and audits write mechanisms.source_from(rng) with a numpy Generator rng.",
        )
    return source


def open_release(record: Release, source: BitSource | None, *, count: int = 1, dimension: int = 1) -> tuple[BitSource, Hold | None]:
    """The source to draw from, after the release is written to the log, and what holds its output while a function is checked."""
    bits = default_source() if source is None else bit_source(source)
    # One release from a secure source is the common case: its record needs no copy, nor a tuple to find that out.
    if not bits.secure or record.count != count or record.dimension != dimension:
        record = replace(record, dimension=dimension, count=count, secure=bits.secure)
    return bits, note(record)


def one_of(**alternatives: Exact | None) -> Fraction:
    """The only alternative that is given, exact and positive; DPA106 otherwise. Callers name all that there are."""
    name = one_given(**alternatives)
    return positive(cast("Exact", alternatives[name]), name)


def read_flag(flag: object, name: str) -> bool:
    """A parameter that must be True or False."""
    if not isinstance(flag, bool):
        raise InvalidArgument(
            "DPA105", f"{name} must be True or False, got a {type(flag).__name__}. Write {name}=True or {name}=False."
        )
    return flag


def require_step(distance: Fraction, lattice: Fraction, name: str) -> None:
    """Refuse with DPA107 a distance that no two different values on the lattice keep."""
    if distance < lattice:
        raise InvalidArgument(
            "DPA107",
            f"{name} must be at least the lattice, got {name}={shown(distance)} and lattice={shown(lattice)}. "
            "Values on the lattice cannot change by less than a step; choose a finer lattice.",
        )


def require_multiple(value: Fraction, lattice: Fraction, name: str) -> None:
    """Refuse with DPA107 the distances that values on the lattice cannot have."""
    if (value / lattice).denominator != 1:
        below = shown(value // lattice * lattice or lattice)
        step = shown(Fraction(1, value.denominator))
        finer = f', such as lattice="{step}"' if len(step) <= _SHORT else ""
        raise InvalidArgument(
            "DPA107",
            f"{name} must be a multiple of the lattice, got {name}={shown(value)} and lattice={shown(lattice)}. "
            f"Multiples of {shown(lattice)} cannot differ by {shown(value)}: "
            f"if all values are multiples of it, write {name}={below}; if they are not, write a finer lattice{finer}.",
        )


def store(mechanism: object, **fields: object) -> None:
    """Set the fields of a frozen dataclass from its own constructor."""
    for name, value in fields.items():
        object.__setattr__(mechanism, name, value)


def to_dict(self: Any) -> dict[str, str]:
    """The mechanism as plain text values, exact, from which it can be built again."""
    return as_text(self, *(field.name for field in fields(self)))


def as_text(mechanism: object, *names: str) -> dict[str, str]:
    """Type and some parameters of a mechanism as text, numbers exactly."""
    values = {name: getattr(mechanism, name) for name in names}
    texts = {name: _digits(value) if isinstance(value, Fraction) else str(value) for name, value in values.items()}
    return {"mechanism": type(mechanism).__name__, **texts}


def _digits(value: Fraction) -> str:
    """All digits of an exact number; by way of Decimal, since Python refuses to print an int of more than 4300 digits."""
    numerator, denominator = (f"{Decimal(part):f}" for part in (value.numerator, value.denominator))
    return numerator if denominator == "1" else f"{numerator}/{denominator}"
