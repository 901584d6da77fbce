"""Recorded noise for the source: modules in which every generator of noise hands out what was recorded."""

from __future__ import annotations

import bisect
import collections
import dataclasses
import fractions
import functools
import importlib
import itertools
import json
import math
import operator
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Final

from dpaudit.verifier.ordinary import coins, draws

_LEVELS: Final = ("debug", "info", "warning", "error", "critical")
_QUIET: Final = SimpleNamespace(**dict.fromkeys(_LEVELS, lambda *_: None))
"""A logger, and the module of loggers, that writes nothing."""
_QUIET.getLogger = lambda *_: _QUIET
_REAL: Final[dict[str, Any]] = {
    "bisect": bisect, "math": math, "collections": collections, "fractions": fractions, "functools": functools,
    "dataclasses": dataclasses, "itertools": itertools, "json": json, "logging": _QUIET, "operator": operator, "typing": typing,
}  # fmt: skip
_LOADED: Final = ("numpy", "statistics")
_RENAMED: Final = {"mu": "loc", "sigma": "scale", "lambd": "rate", "a": "low", "b": "high"}
_CLOSE: Final = 1e-6
_FARTHEST: Final = 25
"""The largest noise, in scales, of which a uniform float is found."""
_TINY: Final = 1e-250


WAYS: Final = {way.strip("_") + both for way in (coins.KEPT, coins.TURNED) for both in ("", coins.BOTH)} | {"up", "down"}


class Differs(RuntimeError):
    """Python does something else than the core program."""


class TooFar(RuntimeError):
    """Noise so large that no uniform float leads to it."""


@dataclass
class Tape:
    """The draws of a run of the core program, handed out in turn."""

    drawn: list[tuple[str, tuple[Any, ...], Any]]
    exact: bool
    place: int = field(default=0)
    second: bool = field(default=False)  # whether the first of two coins that answer together was handed out
    halved: bool = field(default=False)  # whether the first of two exponential draws that stand for one was handed out

    def sampler(self, law: str) -> Callable[..., Any]:
        """The function that draws from a law."""
        if law == "exponential_choice":
            return lambda scores, epsilon, sensitivity: self.next(law, *scores, epsilon, sensitivity)
        return lambda *args, **named: self.next(law, *args, *named.values())

    def next(self, law: str, *args: Any) -> Any:
        """The next value, which must be of this law with these arguments."""
        if self.place >= len(self.drawn):
            raise Differs(f"{law} is drawn once more than was read")
        wanted, given, value = self.drawn[self.place]
        self.place += 1
        if (wanted, law) == ("laplace", "exponential"):
            # The first of two whose difference is the value, or the second.
            wanted, self.halved = law, not self.halved
            self.place -= self.halved
            value = max(value, 0) if self.halved else max(-value, 0)
        if (wanted, law) == ("randomized_response", "bernoulli"):
            # A coin by which a truth value is kept or turned.
            wanted, given, value = law, given[1:], value == given[0]
        elif wanted.startswith("randomized_response__") and law == "bernoulli":
            wanted, given, value = law, *self._one_of_both(wanted, given, value)
        if wanted != law or not all(close(float(one), float(other)) for one, other in zip(args, given, strict=False)):
            raise Differs(f"draw {self.place} is from {law} where {wanted} with other arguments was read")
        return value if self.exact or isinstance(value, (bool, int)) else float(value)

    def _one_of_both(self, wanted: str, given: tuple[Any, ...], value: Any) -> tuple[tuple[Any, ...], Any]:
        """The chance and the fall of a coin, the first or the second of two that answer for a truth value together."""
        kept, bit, chance = coins.KEPT in wanted, given[0], Fraction(given[1])
        if self.second:
            self.second = False
            return (Fraction(1, 2),), bool(value)
        # The second is tossed where the first does not keep the value, or always.
        keeps = bool(value) is bool(bit)
        self.second = not keeps or coins.BOTH in wanted
        self.place -= self.second
        return ((2 * chance - 1 if kept else 2 - 2 * chance),), keeps is kept

    def is_choice(self) -> bool:
        """True if what comes next was read as a choice by weights."""
        return self.place < len(self.drawn) and self.drawn[self.place][0] == "exponential_choice"

    def is_uniform(self) -> bool:
        """True if the next noise is made of a uniform number."""
        return self.place < len(self.drawn) and self.drawn[self.place][0].endswith(("__up", "__down"))

    def uniform(self) -> float:
        """The uniform number of which the source makes the next noise."""
        wanted, given, value = self.drawn[self.place] if self.place < len(self.drawn) else ("", (), 0)
        law, _, way = wanted.partition("__")
        if law not in ("laplace", "exponential") or way not in ("up", "down"):
            raise Differs(f"draw {self.place + 1} is a uniform number where {wanted or 'nothing'} was read")
        self.place += 1
        size = float(value) / float(given[0])
        if abs(size) > _FARTHEST:
            raise TooFar
        tail = math.exp(-abs(size)) / (2 if law == "laplace" else 1)
        return tail if (size >= 0) is (way == "down") else 1 - tail

    def whole(self, low: int, size: int) -> Any:
        """A uniform whole number, or one of which only a comparison is known."""
        wanted = self.drawn[self.place][0] if self.place < len(self.drawn) else ""
        return low + self.next("uniform_int", size) if wanted in ("uniform_int", "") else _WholeCoin(self, low, size)

    def choice(self, weights: Any) -> int:
        """The next choice, which must be one with these weights."""
        nothing: tuple[str, tuple[Any, ...], Any] = ("", (), 0)
        wanted, given, value = self.drawn[self.place] if self.place < len(self.drawn) else nothing
        if wanted != "exponential_choice" or len(given) != len(weights) + 2:
            raise Differs(f"draw {self.place + 1} is a choice where {wanted or 'nothing'} was read")
        self.place += 1
        rate = float(given[-2]) / (2 * float(given[-1]))
        for score, weight in zip(given[:-2], weights, strict=True):
            expected = rate * float(score - given[0])
            # Weights that floats hold as 0, or nearly, say no more than that they are small.
            if weight > _TINY < weights[0] and not close(math.log(weight / weights[0]), expected):
                raise Differs(f"draw {self.place} is a choice with other weights than were read")
        return int(value)


class _Coin:
    """A uniform number, of which only a comparison with a probability is known, or the noise that is made of it."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.number: float | None = None

    def __float__(self) -> float:
        if self.number is None:
            self.number = self.tape.uniform()
        return self.number

    def _is_number(self) -> bool:
        """True if noise is made of it."""
        return self.number is not None or self.tape.is_uniform()

    def __lt__(self, chance: Any) -> bool:
        return float(self) < chance if self._is_number() else bool(self.tape.next("bernoulli", chance))

    def __gt__(self, chance: Any) -> bool:
        return float(self) > chance if self._is_number() else bool(self.tape.next("bernoulli", 1 - chance))

    __le__, __ge__ = __lt__, __gt__

    def __add__(self, other: Any) -> Any:
        return float(self) + other

    def __sub__(self, other: Any) -> Any:
        return float(self) - other

    def __rsub__(self, other: Any) -> Any:
        return other - float(self)

    def __mul__(self, other: Any) -> Any:
        return float(self) * other

    def __truediv__(self, other: Any) -> Any:
        return float(self) / other

    def __neg__(self) -> Any:
        return -float(self)

    __radd__, __rmul__ = __add__, __mul__


class _WholeCoin:
    """A uniform whole number, of which only one comparison with a constant is known."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tape: Tape, low: int, size: int) -> None:
        self.tape, self.low, self.size = tape, low, size
        self.known: dict[frozenset[int], bool] = {}

    def _falls(self, fits: Callable[[int], bool]) -> bool:
        """Whether the number is one of those that fit, which is asked of one set alone."""
        held = frozenset(one for one in range(self.low, self.low + self.size) if fits(one))
        rest = frozenset(range(self.low, self.low + self.size)) - held
        if rest in self.known:
            return not self.known[rest]
        if held not in self.known:
            if self.known:
                raise Differs("a whole number is compared in two ways, which was not read")
            self.known[held] = bool(self.tape.next("bernoulli", Fraction(len(held), self.size)))
        return self.known[held]

    def __eq__(self, other: object) -> bool:
        return self._falls(lambda one: one == other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: Any) -> bool:
        return self._falls(lambda one: one < other)

    def __le__(self, other: Any) -> bool:
        return self._falls(lambda one: one <= other)

    def __gt__(self, other: Any) -> bool:
        return self._falls(lambda one: one > other)

    def __ge__(self, other: Any) -> bool:
        return self._falls(lambda one: one >= other)

    def __bool__(self) -> bool:
        return self._falls(lambda one: one != 0)

    def __index__(self) -> int:
        # An element of two is looked up by whether the place is the first.
        if self.size != 2:
            raise Differs("a whole number is used in a way that was not read")
        return self.low if self._falls(lambda one: one == self.low) else self.low + 1

    __int__ = __index__


class Stub:
    """A module, or something in one, without noise of its own."""

    def __init__(self, name: str, tape: Tape) -> None:
        self._name, self._tape = name, tape

    def __getattr__(self, part: str) -> Any:
        return resolved(f"{self._name}.{part}", self._tape)

    def __call__(self, *args: Any, **named: Any) -> Any:
        """What was recorded for a call."""
        family, _, method = self._name.rpartition(".")
        if self._name in ("numpy.random.default_rng", "numpy.random.RandomState"):
            return Stub("numpy.random", self._tape)
        if method in ("Random", "SystemRandom"):
            return Stub("random", self._tape)
        if family.startswith("scipy.stats."):
            return self._spread(draws.SCIPY[family.rpartition(".")[2]], ("loc", "scale", "size"), args, named)
        if self._name.startswith("mechanisms"):
            return _Mechanism(method, named, self._tape)
        renamed = {_RENAMED.get(key, key): value for key, value in named.items()}
        match method:
            case "laplace":
                return self._spread("laplace", ("loc", "scale", "size"), args, renamed)
            case "normal" | "gauss" | "normalvariate":
                return self._spread("gaussian", ("loc", "scale", "size"), args, renamed)
            case "standard_normal":
                return self._spread("gaussian", ("size",), args, renamed)
            case "exponential":
                return self._spread("exponential", ("scale", "size"), args, renamed)
            case "expovariate":
                rate = args[0] if args else renamed.get("rate", 1)
                return self._tape.next("exponential", 1 / rate)
            case "integers" | "randint" | "randrange" | "randbelow":
                ends = (*args, *renamed.values())
                low, high = (0, *ends)[-2:]
                closed = method == "randint" and not family.startswith("numpy")
                return self._tape.whole(low, high - low + closed)
            case "getrandbits" | "randbits":
                return self._tape.whole(0, 2 ** next(iter((*args, *renamed.values()))))
            case "binomial":
                parts = (*args, *renamed.values())
                return int(self._tape.next("bernoulli", parts[1]))
            case "choices":
                given = dict(zip(("population", "weights"), args, strict=False)) | named
                chosen = [self._tape.choice(given["weights"]) for _ in range(given.get("k", 1))]
                return [given["population"][place] for place in chosen]
            case "choice":
                among: Any = args[0] if args else named.get("a", named.get("seq"))
                if "p" not in named:
                    return among[self._tape.whole(0, len(among))]
                if self._tape.is_choice():
                    return (range(among) if isinstance(among, int) else among)[self._tape.choice(named["p"])]
                return among[0 if self._tape.next("bernoulli", named["p"][0]) else 1]
            case "uniform" if args not in ((), (0, 1)) or named:
                low, high = (*args, *renamed.values())
                return low + (high - low) * float(_Coin(self._tape))
            case "random" | "uniform" | "rand":
                return _Coin(self._tape)
        raise Differs(f"{self._name} is called, which was not read")

    def _spread(self, law: str, parts: tuple[str, ...], args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Location plus noise, once or in an array."""
        given = {"loc": 0, "scale": 1, "size": None, **dict(zip(parts, args, strict=False)), **named}
        if given["size"] is None:
            return given["loc"] + self._tape.next(law, given["scale"])
        import numpy as np

        size = given["size"][0] if isinstance(given["size"], tuple) else given["size"]
        return np.array([given["loc"] + self._tape.next(law, given["scale"]) for _ in range(size)])


@dataclass
class _Mechanism:
    """A mechanism of the library."""

    name: str
    parameters: Mapping[str, Any]
    tape: Tape

    def release(self, value: Any) -> Any:
        """The value with recorded noise."""
        law = {"LaplaceMechanism": "discrete_laplace", "GaussianMechanism": "gaussian"}.get(self.name, "discrete_gaussian")
        size = self.parameters.get("scale", self.parameters.get("sigma"))
        size = Fraction(self.parameters["sensitivity"]) / Fraction(self.parameters["epsilon"]) if size is None else Fraction(size)
        found = value + self.tape.next(law, size)
        return round(found) if law == "gaussian" else found


def resolved(name: str, tape: Tape) -> Any:
    """What a dotted name of a module stands for in a run."""
    root, _, rest = name.partition(".")
    noise = name.startswith(("numpy.random", "random", "secrets", "scipy", "mechanisms")) or root == name == "numpy"
    if noise:
        return Stub(name, tape)
    if root not in _REAL and root not in _LOADED:
        raise Differs(f"{name} was not read")
    found: Any = _REAL.get(root) or importlib.import_module(root)
    for part in rest.split(".") if rest else ():
        found = getattr(found, part)
    return found


def close(one: float, other: float) -> bool:
    """True for the same number but for rounding."""
    return abs(one - other) <= _CLOSE * max(1.0, abs(one), abs(other))
