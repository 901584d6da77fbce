"""The source run by Python itself beside its core program: the same data, the same noise, and the same end.

Only what was read runs: functions, frozen classes and constants of the file, with modules in which every generator of noise hands
out recorded values.
"""

from __future__ import annotations

import ast
import bisect
import builtins
import collections
import copy
import dataclasses
import fractions
import functools
import importlib
import itertools
import json
import math
import operator
import random
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Final

from dpaudit.spec import LAWS
from dpaudit.verifier.interpreter import Halt, TooLong, Undefined, run
from dpaudit.verifier.ir import Program
from dpaudit.verifier.ordinary import coins, draws, kinds
from dpaudit.verifier.ordinary.reading import Reading
from dpaudit.verifier.ordinary.records import column
from dpaudit.verifier.ordinary.wording import NoText, random_values

_LEVELS: Final = ("debug", "info", "warning", "error", "critical")
_QUIET: Final = SimpleNamespace(**dict.fromkeys(_LEVELS, lambda *_: None))
"""A logger, and the module of loggers, that writes nothing."""
_QUIET.getLogger = lambda *_: _QUIET
_REAL: Final[dict[str, Any]] = {
    "bisect": bisect, "math": math, "collections": collections, "fractions": fractions, "functools": functools,
    "dataclasses": dataclasses, "itertools": itertools, "json": json, "logging": _QUIET, "operator": operator, "typing": typing,
}  # fmt: skip
_LOADED: Final = ("numpy", "statistics")
_ALIKE: Final = {"KeyError": "LookupError", "IndexError": "LookupError", "AssertionError": "RuntimeError"}
_RENAMED: Final = {"mu": "loc", "sigma": "scale", "lambd": "rate", "a": "low", "b": "high"}
_CLOSE: Final = 1e-6
_HUGE: Final = 10**6
_FARTHEST: Final = 25
"""The largest noise, in scales, of which a uniform float is found."""
_TINY: Final = 1e-250


_WAYS: Final = {way.strip("_") + both for way in (coins.KEPT, coins.TURNED) for both in ("", coins.BOTH)} | {"up", "down"}


class Differs(RuntimeError):
    """Python does something else than the core program."""


class TooFar(RuntimeError):
    """Noise so large that no uniform float leads to it."""


@dataclass
class _Tape:
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
        if wanted != law or not all(_close(float(one), float(other)) for one, other in zip(args, given, strict=False)):
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
        above = tail if (size >= 0) is (way == "down") else 1 - tail
        return above

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
            if weight > _TINY < weights[0] and not _close(math.log(weight / weights[0]), expected):
                raise Differs(f"draw {self.place} is a choice with other weights than were read")
        return int(value)


class _Coin:
    """A uniform number, of which only a comparison with a probability is known, or the noise that is made of it."""

    def __init__(self, tape: _Tape) -> None:
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

    def __init__(self, tape: _Tape, low: int, size: int) -> None:
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


class _Stub:
    """A module, or something in one, without noise of its own."""

    def __init__(self, name: str, tape: _Tape) -> None:
        self._name, self._tape = name, tape

    def __getattr__(self, part: str) -> Any:
        return resolved(f"{self._name}.{part}", self._tape)

    def __call__(self, *args: Any, **named: Any) -> Any:
        family, _, method = self._name.rpartition(".")
        if self._name in ("numpy.random.default_rng", "numpy.random.RandomState"):
            return _Stub("numpy.random", self._tape)
        if method in ("Random", "SystemRandom"):
            return _Stub("random", self._tape)
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
                among = args[0] if args else named.get("a", named.get("seq"))
                if "p" not in named:
                    return among[self._tape.whole(0, len(among))]
                if self._tape.drawn[self._tape.place][0] == "exponential_choice" if self._tape.place < len(self._tape.drawn) else False:
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
    tape: _Tape

    def release(self, value: Any) -> Any:
        """The value with recorded noise."""
        law = {"LaplaceMechanism": "discrete_laplace", "GaussianMechanism": "gaussian"}.get(self.name, "discrete_gaussian")
        size = self.parameters.get("scale", self.parameters.get("sigma"))
        size = Fraction(self.parameters["sensitivity"]) / Fraction(self.parameters["epsilon"]) if size is None else Fraction(size)
        found = value + self.tape.next(law, size)
        return round(found) if law == "gaussian" else found


def resolved(name: str, tape: _Tape) -> Any:
    """What a dotted name of a module stands for in a run."""
    root, _, rest = name.partition(".")
    noise = name.startswith(("numpy.random", "random", "secrets", "scipy", "mechanisms")) or root == name == "numpy"
    if noise:
        return _Stub(name, tape)
    if root not in _REAL and root not in _LOADED:
        raise Differs(f"{name} was not read")
    found: Any = _REAL.get(root) or importlib.import_module(root)
    for part in rest.split(".") if rest else ():
        found = getattr(found, part)
    return found


def run_source(reading: Reading, arguments: Mapping[str, Any], drawn: list[tuple[str, tuple[Any, ...], Any]]) -> tuple[Any, str]:
    """What the source returns on these arguments and draws, or the name of the exception that it raises."""
    tape = _Tape(drawn, exact=not reading.reals)
    scope = _namespace(reading, tape)
    given = {name: _argument(reading, scope, name, form, arguments, tape) for name, form in reading.arguments}
    for name in [one.arg for one in reading.source.function.args.kwonlyargs if one.arg in LAWS]:
        given[name] = scope[name]
    function: Callable[..., Any]
    if reading.source.owner:
        first = next(iter(given))
        function = getattr(given.pop(first), reading.source.function.name)
    else:
        function = scope[reading.source.name]
    try:
        returned = function(**given)
    except (Differs, TooFar):
        raise
    except Exception as error:  # noqa: BLE001 - whatever the source raises is how it ends.
        return None, type(error).__name__
    if tape.place != len(drawn):
        raise Differs("the source ends before all draws that were read are made")
    return returned, ""


def _namespace(reading: Reading, tape: _Tape) -> dict[str, Any]:
    """The names of the file, of what was read alone."""
    allowed: dict[str, Any] = {
        name: value for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
    }
    names = (
        "abs all any bool dict enumerate filter float format int isinstance len list map max min print property range repr reversed"
    )
    allowed |= {
        name: getattr(builtins, name)
        for name in (
            *names.split(),
            *["round", "set", "sorted", "staticmethod", "str", "sum", "super", "tuple", "zip", "object", "type", "classmethod"],
        )
    }
    allowed |= {"print": lambda *_, **__: None, "__build_class__": builtins.__build_class__, "__name__": "dataclasses"}

    def load(name: str, _: Any = None, __: Any = None, parts: Any = (), ___: int = 0) -> Any:
        if parts:
            return _Parts(name, tape)
        return resolved(name.partition(".")[0], tape)

    allowed["__import__"] = load
    scope: dict[str, Any] = {name: tape.sampler(name) for name in LAWS}
    scope |= {"__builtins__": allowed, "Fraction": Fraction, "__name__": "dataclasses"}
    for node in reading.source.tree.body:
        one = _bare(node) if isinstance(node, ast.FunctionDef) else node
        keep = isinstance(one, (ast.Import, ast.FunctionDef, ast.ClassDef)) or (
            isinstance(one, ast.ImportFrom) and one.module != "__future__"
        )
        keep = keep or (isinstance(one, (ast.Assign, ast.AnnAssign)) and one.value is not None)
        if not keep:
            continue
        code = compile(ast.Module([one], []), "<source>", "exec", flags=_ANNOTATIONS, dont_inherit=True)
        try:
            exec(code, scope)  # noqa: S102 - of what was read, with nothing around it
        except Differs:
            continue
        except Exception:  # noqa: BLE001, S112 - a name that was not read is missing, which the run will show
            continue
    return scope


_ANNOTATIONS: Final = 0x1000000


class _Parts:
    """A module from which names are imported."""

    def __init__(self, name: str, tape: _Tape) -> None:
        self._module, self._tape = name, tape

    def __getattr__(self, part: str) -> Any:
        try:
            return resolved(f"{self._module}.{part}", self._tape)
        except Differs as error:
            raise AttributeError(part) from error


def _bare(node: ast.FunctionDef) -> ast.FunctionDef:
    """A function without decorators: `@spec` returns it unchanged."""
    made = copy.copy(node)
    made.decorator_list = []
    return made


class _Row(dict[str, Any]):
    """A row whose parts are read by key or as attributes."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


def _argument(reading: Reading, scope: dict[str, Any], name: str, form: str, given: Mapping[str, Any], tape: _Tape) -> Any:
    """An argument as the source takes it."""
    if form == "generator":
        return _Stub("random" if "random" in reading.state.noises else "numpy.random", tape)
    if form == "none":
        return None
    value = given[name]
    if form == "object":
        kind = reading.source.owner or next(kind for one, kind, _ in reading.inputs if one == name)
        return scope[kind](**{key: _plain(one, exact=tape.exact) for key, one in value.items()})
    if form != "list":
        return _plain(value, exact=tape.exact)
    held = reading.data.fields[name][1]
    items = [_item(one, held.owner.name if held.owner else "", scope, exact=tape.exact) for one in value]
    arrays = held.shape == "array" or (held.shape == "any" and "numpy" in reading.source.text)
    if arrays and set(held.fields) <= {""} and "str" not in held.fields.values():
        import numpy as np

        return np.array(items, dtype=None if items else float)
    if name in reading.state.matrices:
        import numpy as np

        return np.array(items, dtype=float).reshape(len(items), len(held.fields))
    return items


def _item(value: Any, owner: str, scope: dict[str, Any], *, exact: bool) -> Any:
    """A record as the source takes it."""
    if isinstance(value, dict):
        parts = {key: _plain(one, exact=exact) for key, one in value.items()}
        if owner:
            known = (
                [one.name for one in dataclasses.fields(scope[owner])]
                if dataclasses.is_dataclass(scope[owner])
                else scope[owner]._fields
            )
            return scope[owner](**{key: parts.get(key, 0) for key in known})
        return _Row(parts)
    if isinstance(value, list):
        return [_plain(one, exact=exact) for one in value]
    if isinstance(value, tuple):
        return tuple(_plain(one, exact=exact) for one in value)
    return _plain(value, exact=exact)


def _plain(value: Any, *, exact: bool) -> Any:
    """A number as the source has it."""
    return float(value) if isinstance(value, Fraction) and not exact else value


def compare(reading: Reading, program: Program, inputs: Mapping[str, Any], noise: Callable[[str, tuple[Any, ...]], Any]) -> bool:
    """Run both on core inputs; False where the core program is not defined there, an error where they differ."""
    drawn: list[tuple[str, tuple[Any, ...], Any]] = []

    def draw(statement: Any, args: tuple[Any, ...]) -> Any:
        law = statement.law.value
        value = noise(law, args)
        # The name says where two coins of the source became one answer.
        way = statement.name.partition("__")[2].partition("__")[2]
        drawn.append((f"{law}__{way}" if way in _WAYS else law, args, value))
        return value

    try:
        ended: Halt = run(program, inputs, draw=draw, limit=4000)
    except (Undefined, TooLong, ArithmeticError):
        return False
    try:
        returned, error = run_source(reading, reading.back(inputs), drawn)
    except (NoText, TooFar):
        return False
    if ended.exception or error:
        wanted = reading.raised(ended.exception)
        if _ALIKE.get(error, error) != _ALIKE.get(wanted, wanted):
            raise Differs(f"the source ends with {error or 'a value'}, not with {wanted or 'a value'}")
        return True
    if not _alike(returned, reading.returned(ended.values)):
        raise Differs("the source returns another value than was read")
    return True


def _close(one: float, other: float) -> bool:
    """True for the same number but for rounding."""
    return abs(one - other) <= _CLOSE * max(1.0, abs(one), abs(other))


def _alike(found: Any, wanted: Any) -> bool:
    """True if a value is the one that was computed, as far as it was."""
    if wanted is ...:
        return True
    if dataclasses.is_dataclass(found) and not isinstance(found, type):
        found = dataclasses.astuple(found)
    if hasattr(found, "tolist"):
        found = found.tolist()
    if isinstance(wanted, range):
        return isinstance(found, range) and repr(found) == repr(wanted)
    if isinstance(wanted, dict):
        return (
            isinstance(found, dict) and list(found) == list(wanted) and all(_alike(found[key], one) for key, one in wanted.items())
        )
    if isinstance(wanted, (list, tuple)):
        fits = isinstance(found, (list, tuple)) and len(found) == len(wanted)
        return fits and all(_alike(one, other) for one, other in zip(found, wanted, strict=True))
    if wanted is None or isinstance(wanted, str):
        return bool(found == wanted)
    if isinstance(found, (str, list, dict)) or found is None or isinstance(wanted, bool) is not isinstance(found, bool):
        return isinstance(wanted, bool) and found in (0, 1) and bool(found) is wanted
    return _close(float(found), float(wanted))


def random_noise(source: random.Random) -> Callable[[str, tuple[Any, ...]], Any]:
    """Noise for a comparison: small numbers that floats hold exactly."""

    def noise(law: str, args: tuple[Any, ...]) -> Any:
        if law == "exponential_choice":
            return source.randrange(len(args) - 2)
        if law in ("bernoulli", "randomized_response"):
            return source.random() < 0.5
        if law == "uniform_int":
            return source.randrange(max(1, int(args[0])))
        if law in ("discrete_laplace", "discrete_gaussian", "geometric"):
            return abs(source.randint(-6, 6)) if law == "geometric" else source.randint(-6, 6)
        value = Fraction(source.randint(-40, 40), 4)
        return abs(value) if law == "exponential" else value

    return noise


def constants(reading: Reading) -> list[Fraction]:
    """The numbers that the source names, but for huge ones."""
    found = [one.value for one in ast.walk(reading.source.tree) if isinstance(one, ast.Constant)]
    return [Fraction(str(one)) for one in found if isinstance(one, (int, float)) and not isinstance(one, bool) and abs(one) < _HUGE]


def random_inputs(reading: Reading, program: Program, source: random.Random) -> dict[str, Any]:
    """Core inputs: short lists and small numbers, among them those that the program compares with."""
    from dpaudit.verifier.ir import ListOf
    from dpaudit.verifier.terms import Sort

    length = source.choice((0, 1, 2, 3, 4, source.randint(5, 12)))
    written = [int(one) for one in constants(reading)]
    pairs = [(one, other) for one in written[:12] for other in written[:12]]
    made = [value for one, other in pairs for value in (one + other, one - other, one * other) if abs(value) < _HUGE]
    named = [*written, *source.sample(made, min(len(made), len(written)))]

    def number(sort: Sort) -> Any:
        if sort is Sort.BOOL:
            return source.random() < 0.5
        base = source.choice(named) if named and source.random() < 0.5 else source.randint(-3, 6)
        return base if sort is Sort.INT else Fraction(base) + Fraction(source.randint(-2, 2), 4)

    found: dict[str, Any] = {}
    for one in program.parameters:
        if isinstance(one.sort, ListOf):
            mark = one.name.endswith(("__here", "__which"))
            sort = one.sort.element
            found[one.name] = tuple(source.randint(0, 1) if mark else number(sort) for _ in range(length))
        else:
            found[one.name] = number(one.sort)
            if one.sort is Sort.REAL and source.random() < 0.7:
                found[one.name] = Fraction(source.randint(1, 8), source.choice((1, 2, 4)))
    for name, (_, kind) in reading.data.fields.items():
        for part, form in kind.fields.items():
            for core in (
                key for key in found if key.startswith(f"{name}__{part}" if part else name) and isinstance(found[key], Sequence)
            ):
                if form in ("bool", "str") and not core.endswith(("__here", "__which")):
                    most = 1 if form == "bool" else len(reading.state.texts)
                    found[core] = tuple(source.randint(0, most) for _ in found[core])
    for name, (_, kind) in reading.data.fields.items():
        for core in (one for one in found if kind.inner and one.startswith(f"{name}__size")):
            found[core] = tuple(source.randint(0, len(kind.fields)) for _ in found[core])
    _with_texts(reading, found, source)
    kinds.fitted(reading.state.ends, found)
    return found


def _with_texts(reading: Reading, found: dict[str, Any], source: random.Random) -> None:
    """Let fields that are made of texts be those of random texts."""
    numbers = {text: number for number, text in reading.state.words.items()} | dict(reading.state.texts)
    for name, (_, kind) in reading.data.fields.items():
        for base in dict.fromkeys(one.field for one in kind.made.values()):
            for suffix in ("", "__old", "__new"):
                columns = {one: column(name, one) + suffix for one in (base, *(key for key, m in kind.made.items() if m.field == base))}
                if columns[base] not in found:
                    continue
                rows = [random_values(kind.made, base, numbers, source) for _ in found[columns[base]]]
                found |= {core: tuple(row[one] for row in rows) for one, core in columns.items()}
    known = set(reading.state.texts.values())
    reading.state.words |= {number: text for text, number in numbers.items() if number not in known}
