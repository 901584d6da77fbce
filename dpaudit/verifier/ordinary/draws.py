"""Noise as people draw it: the laws by name, generators of numpy, random and scipy, and the mechanisms of the library."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpaudit.spec import LAWS as LAW_NAMES
from dpaudit.verifier.ordinary import numbers
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import Fixed, Generator, Mechanism, Module, Noises, Nothing, Scalar, Uniform, Value

FLOATS: Final = "noise of {}, whose floats follow no law exactly"


def draw(state: State, node: ast.AST, law: str, *args: Scalar) -> Scalar:
    """One draw, written as a statement."""
    if state.record_loops:
        raise teach(node, "draw per record", "a draw for each record")
    state.draws += 1
    name = state.fresh("noise")
    whole = law in ("discrete_laplace", "geometric", "discrete_gaussian", "uniform_int", "exponential_choice")
    kind: Any = "bool" if law in ("bernoulli", "randomized_response") else "int" if whole else "real"
    state.learned.kinds[name] = kind
    state.emit(f"{name} = {law}({', '.join(one.code for one in args)})")
    return Scalar(name, kind, noisy=True)


def _law(name: str) -> Callable[..., Value]:
    """The reader of a call of a sampler by the name of its law."""

    def read(state: State, node: ast.AST, args: list[Value], named: Mapping[str, Value]) -> Value:
        parts: dict[str, tuple[str, ...]] = {
            "laplace": ("scale",),
            "exponential": ("scale",),
            "gaussian": ("sigma",),
            "bernoulli": ("probability",),
        }
        parts |= {"discrete_laplace": ("scale", "lattice"), "geometric": ("scale", "lattice"), "uniform_int": ("size",)}
        parts |= {"discrete_gaussian": ("sigma", "lattice"), "randomized_response": ("bit", "probability")}
        if name not in parts:
            raise refuse(node, f"a call of {name} in this form", f"use {name} in a function of typed parameters", "DPA706")
        given = _by_name(node, args, named, parts[name])
        if "lattice" in given and not (isinstance(given["lattice"], Scalar) and given["lattice"].known == 1):
            raise refuse(node, "a lattice other than 1", "leave it out, and scale the value", "DPA706")
        wanted = [one for one in parts[name] if one != "lattice"]
        if set(wanted) - set(given):
            raise refuse(node, f"this call of {name}", f"write {name}({', '.join(wanted)})", "DPA706")
        values = [numbers.as_scalar(state, node, given[one]) for one in wanted]
        return draw(state, node, name, *values)

    return read


def _by_name(node: ast.AST, args: list[Value], named: Mapping[str, Value], parts: tuple[str, ...]) -> dict[str, Value]:
    """Arguments by the names of parameters."""
    given = dict(zip(parts, args, strict=False))
    if len(args) > len(parts) or set(named) & set(given) or not set(named) <= set(parts):
        raise refuse(node, "this call", f"its parameters are {', '.join(parts)}", "DPA706")
    return given | dict(named)


@dataclass(frozen=True)
class _Drawn:
    """How a generator's method draws: its parameters with their defaults, and the noise made of them."""

    parts: tuple[tuple[str, int | None], ...]
    make: Callable[[State, ast.AST, dict[str, Scalar]], Scalar]


def _shifted(law: str, size: str = "scale") -> Callable[[State, ast.AST, dict[str, Scalar]], Scalar]:
    """Location plus noise of a size."""

    def make(state: State, node: ast.AST, given: dict[str, Scalar]) -> Scalar:
        noise = draw(state, node, law, given[size])
        place = given.get("loc")
        if place is None or (place.is_known and place.known == 0):
            return noise
        return numbers.arithmetic(state, node, ast.Add(), place, noise)

    return make


def _expovariate(state: State, node: ast.AST, given: dict[str, Scalar]) -> Scalar:
    """Exponential noise by its rate."""
    one = numbers.constant(state, Fraction(1))
    return draw(state, node, "exponential", numbers.arithmetic(state, node, ast.Div(), one, given["rate"]))


def _between(state: State, node: ast.AST, given: dict[str, Scalar], *, closed: bool) -> Scalar:
    """A uniform whole number."""
    low, high = (numbers.whole(state, node, given[name], "as an end") for name in ("low", "high"))
    count = numbers.arithmetic(state, node, ast.Sub(), high, low)
    if closed:
        count = numbers.arithmetic(state, node, ast.Add(), count, numbers.constant(state, 1))
    return numbers.arithmetic(state, node, ast.Add(), low, draw(state, node, "uniform_int", count))


_PLACED: Final = (("loc", 0), ("scale", 1))
_NUMPY: Final[Mapping[str, _Drawn]] = {
    "laplace": _Drawn(_PLACED, _shifted("laplace")),
    "normal": _Drawn(_PLACED, _shifted("gaussian")),
    "standard_normal": _Drawn((), lambda state, node, _: draw(state, node, "gaussian", numbers.constant(state, 1))),
    "exponential": _Drawn((("scale", 1),), _shifted("exponential")),
    "integers": _Drawn((("low", None), ("high", None)), lambda state, node, given: _between(state, node, given, closed=False)),
}
_RANDOM: Final[Mapping[str, _Drawn]] = {
    "gauss": _Drawn(_PLACED, _shifted("gaussian")),
    "normalvariate": _Drawn(_PLACED, _shifted("gaussian")),
    "expovariate": _Drawn((("rate", 1),), _expovariate),
    "randint": _Drawn((("low", None), ("high", None)), lambda state, node, given: _between(state, node, given, closed=True)),
}
RENAMED: Final = {"mu": "loc", "sigma": "scale", "lambd": "rate", "a": "low", "b": "high"}
SCIPY: Final = {"laplace": "laplace", "norm": "gaussian", "expon": "exponential"}


def generated(state: State, node: ast.AST, family: str, name: str, args: list[Value], named: Mapping[str, Value]) -> Value:
    """A draw from a generator."""
    known = (_NUMPY if family == "numpy" else _RANDOM).get(name)
    if name in ("random", "uniform") and not args and not named:
        return Uniform()
    if known is None:
        raise teach(node, "noise by hand", f"a draw by `{name}`")
    named = {RENAMED.get(key, key): value for key, value in named.items()}
    size = named.pop("size", None)
    names = tuple(part for part, _ in known.parts)
    if size is None and len(args) == len(names) + 1 and family == "numpy":
        args, size = args[:-1], args[-1]
    given = _by_name(node, args, named, names)
    values: dict[str, Scalar] = {}
    for part, default in known.parts:
        one = given.get(part)
        if one is None and default is None:
            raise refuse(node, f"a draw without {part}", "pass it", "DPA706")
        values[part] = (
            numbers.constant(state, default) if one is None else numbers.number(state, node, numbers.as_scalar(state, node, one))
        )
    return _many(state, node, size, family, lambda: known.make(state, node, values))


def _many(state: State, node: ast.AST, size: Value | None, family: str, make: Callable[[], Scalar]) -> Value:
    """One draw, or an array of them."""
    why = FLOATS.format(family)
    state.real(why)
    state.learned.noises.setdefault(family, state.line)
    if isinstance(size, Fixed) and len(size.items) == 1:
        size = size.items[0]
    if size is None or isinstance(size, Nothing):
        return make()
    length = numbers.whole(state, node, numbers.as_scalar(state, node, size), "as a size")
    if length.counts_records:
        raise teach(node, "draw per record", "noise for each record")
    # It is drawn where it is added, with the parameters that it has here.
    for name in state.tried(lambda: make() and None)[2]:
        state.captured.setdefault(name, name)
    return Noises(length, make, state.loops)


def _scipy(law: str) -> Callable[..., Value]:
    """The reader of `scipy.stats.*.rvs`."""

    def read(state: State, node: ast.AST, args: list[Value], named: Mapping[str, Value]) -> Value:
        named = dict(named)
        if "random_state" in named and not isinstance(named.pop("random_state"), (Generator, Nothing)):
            raise teach(node, "seed", "a constant random_state")
        given = _by_name(node, args, named, ("loc", "scale", "size"))
        size = given.pop("size", None)
        values = {name: numbers.number(state, node, numbers.as_scalar(state, node, one)) for name, one in given.items()}
        values.setdefault("scale", numbers.constant(state, 1))
        return _many(state, node, size, "scipy", lambda: _shifted(law)(state, node, values))

    return read


def _generator(family: str) -> Callable[..., Value]:
    """The reader of a new generator, which takes no seed."""

    def read(_: State, node: ast.AST, args: list[Value], named: Mapping[str, Value]) -> Value:
        if any(not isinstance(one, (Nothing, Generator)) for one in (*args, *named.values())):
            raise teach(node, "seed", "a generator with a seed")
        return Generator(family)

    return read


def _seeded(_: State, node: ast.AST, __: list[Value], ___: Mapping[str, Value]) -> Value:
    """A seed for all."""
    raise teach(node, "seed", "a seed")


def coin(state: State, node: ast.AST, probability: Scalar, *, less: bool) -> Scalar:
    """Whether a uniform number is less than a probability, or more."""
    state.real(FLOATS.format("random"))
    chance = numbers.number(state, node, probability)
    if not less:
        chance = numbers.arithmetic(state, node, ast.Sub(), numbers.constant(state, 1), chance)
    return draw(state, node, "bernoulli", chance)


def _mechanism(name: str) -> Callable[..., Value]:
    """The reader of a mechanism of the library."""

    def read(state: State, node: ast.AST, args: list[Value], named: Mapping[str, Value]) -> Value:
        if args:
            raise refuse(node, f"{name} with arguments by position", "pass them by name", "DPA706")
        return Mechanism(name, {key: state.held(node, one) for key, one in named.items()})

    return read


def _exact(state: State, node: ast.AST, found: Value | None, what: str) -> Scalar:
    """A parameter of a mechanism: an exact number, or the text of one."""
    if isinstance(found, Scalar) and found.kind == "str" and found.is_known:
        try:
            return numbers.constant(state, Fraction(found.known))
        except (ValueError, ZeroDivisionError):
            pass
    if not isinstance(found, Scalar) or found.kind in ("str", "bool"):
        raise refuse(node, f"a mechanism without {what}", f"pass {what}= as an exact number", "DPA706")
    return found


def released(state: State, node: ast.AST, owner: Mechanism, name: str, args: list[Value], named: Mapping[str, Value]) -> Value:
    """A release by a mechanism of the library; its sensitivity is not believed, the noise counts."""
    if name != "release" or len(args) != 1 or named:
        raise refuse(node, f"`.{name}` of a mechanism", "write `.release(value)`", "DPA706")
    value = numbers.as_scalar(state, node, args[0])
    given = dict(owner.parameters)
    lattice = given.pop("lattice", None)
    if lattice is not None and not (isinstance(lattice, Scalar) and lattice.is_known and lattice.known == 1):
        raise refuse(node, "a lattice other than 1", "release whole numbers", "DPA706")
    value = numbers.whole(state, node, value, "released on the lattice of whole numbers")
    given.pop("adjacency", None)
    sensitivity = _exact(state, node, given.pop("sensitivity", None), "sensitivity")
    if not sensitivity.is_known or sensitivity.known < 1 or Fraction(sensitivity.known).denominator != 1:
        raise refuse(node, "a sensitivity that is no constant whole number", "write it out; it is checked by the proof", "DPA706")
    if owner.name == "LaplaceMechanism":
        given.pop("fixed_work", None)
        scale = _exact(state, node, given.pop("scale"), "scale") if "scale" in given else None
        if scale is None:
            epsilon = _exact(state, node, given.pop("epsilon", None), "epsilon")
            top = numbers.constant(state, Fraction(sensitivity.known))
            scale = numbers.arithmetic(state, node, ast.Div(), top, epsilon)
        law, size = "discrete_laplace", scale
    else:
        size = _exact(state, node, given.pop("sigma", None), "sigma")
        law = "discrete_gaussian" if owner.name == "DiscreteGaussianMechanism" else "gaussian"
    if given:
        raise refuse(node, f"{owner.name} with {', '.join(given)}", "leave it out", "DPA706")
    noisy = numbers.arithmetic(state, node, ast.Add(), value, draw(state, node, law, size))
    if law == "gaussian":
        # What is released is rounded: a function of the value and continuous noise.
        return numbers.opaque(state, node, "release", noisy, sort="number")
    return noisy


def _of_module(name: str, family: str) -> Callable[..., Value]:
    """The reader of a draw by a function of a module."""
    return lambda state, node, args, named: generated(state, node, family, name, args, named)


_MECHANISMS: Final = {
    "LaplaceMechanism": "laplace",
    "GaussianMechanism": "gaussian",
    "DiscreteGaussianMechanism": "discrete_gaussian",
}

LAWS: Final[Mapping[str, Callable[..., Value]]] = {
    **{f"law.{name}": _law(name) for name in LAW_NAMES},
    **{
        f"{module}.{name}": _of_module(name, family)
        for module, family, names in (
            ("numpy.random", "numpy", (*_NUMPY, "random", "geometric", "gumbel", "uniform", "choice", "poisson")),
            ("random", "random", (*_RANDOM, "random", "uniform", "choice", "shuffle", "sample")),
        )
        for name in names
    },
    **{f"scipy.stats.{name}.rvs": _scipy(law) for name, law in SCIPY.items()},
    "numpy.random.default_rng": _generator("numpy"),
    "numpy.random.RandomState": _generator("numpy"),
    "numpy.random.seed": _seeded,
    "random.seed": _seeded,
    "random.Random": _generator("random"),
    "random.SystemRandom": _generator("random"),
    "secrets.SystemRandom": _generator("random"),
    **{
        f"mechanisms{place}.{name}": _mechanism(name)
        for name, home in _MECHANISMS.items()
        for place in ("", f".{home}")
    },
}  # fmt: skip
"""What draws, or makes something that does, by its dotted name."""

__all__ = ["LAWS", "Module", "coin", "draw", "generated", "released"]
