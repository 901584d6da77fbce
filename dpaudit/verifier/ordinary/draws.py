"""Noise as people draw it: the laws by name, generators of numpy, random and scipy, and the mechanisms of the library."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

from dpaudit.spec import LAWS as LAW_NAMES
from dpaudit.verifier.ordinary import arrays, exponentials, iterating, numbers, quantiles, subscripts, texts
from dpaudit.verifier.ordinary.calls import Sources, given
from dpaudit.verifier.ordinary.iterating import MOST_UNROLLED
from dpaudit.verifier.ordinary.loops import template
from dpaudit.verifier.ordinary.refusing import refuse, teach
from dpaudit.verifier.ordinary.state import State
from dpaudit.verifier.ordinary.values import (
    Generator,
    Items,
    Iterator,
    Mechanism,
    Nothing,
    Ref,
    Scalar,
    Tuple,
    Value,
)

FLOATS: Final = "noise of {}, whose floats follow no law exactly"
Args = list[Value]
Named = dict[str, Value]
_WHOLE: Final = ("discrete_laplace", "geometric", "discrete_gaussian", "uniform_int")


def draw(state: State, node: ast.AST, law: str, *args: Scalar, types: frozenset[str] = numbers.FLOAT) -> Scalar:
    """One draw, written as a statement."""
    if state.record_loops and not state.lenient:
        raise teach(node, "draw per record", "a draw for each record")
    name = state.fresh("noise")
    kind: Any = "bool" if law in ("bernoulli", "randomized_response") else "int" if law in _WHOLE else "real"
    state.emit(f"{name} = {law}({', '.join(one.code for one in args)})")
    own = numbers.BOOL if kind == "bool" else numbers.INT if kind == "int" else types
    return Scalar(name, kind, own, noisy=True)


def _law(name: str) -> Any:
    """The reader of a call of a sampler by the name of its law."""
    parts: dict[str, tuple[str, ...]] = {
        "laplace": ("scale",), "exponential": ("scale",), "gaussian": ("sigma",), "bernoulli": ("probability",),
        "discrete_laplace": ("scale", "lattice?"), "geometric": ("scale", "lattice?"), "uniform_int": ("size",),
        "discrete_gaussian": ("sigma", "lattice?"), "randomized_response": ("bit", "probability"),
    }  # fmt: skip

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        if name == "exponential_choice":
            return _choice(state, node, given(node, args, named, "scores", "epsilon", "sensitivity"))
        found = given(node, args, named, *parts[name])
        lattice = found.pop("lattice", None)
        if lattice is not None and not (isinstance(lattice, Scalar) and lattice.known == 1):
            raise refuse(node, "a lattice other than 1", "leave it out, and scale the value", "DPA706")
        values = [numbers.scalar(state, node, found[one]) for one in parts[name] if one != "lattice?"]
        return draw(state, node, name, *values, types=numbers.EXACT)

    return read


def _choice(state: State, node: ast.AST, found: Named) -> Scalar:
    """The place of one of several scores that are written out."""
    scores = found["scores"]
    held = state.object(scores) if isinstance(scores, Ref) else None
    if not isinstance(held, Items) or held.form != "list" or not held.items or state.record_loops:
        raise refuse(node, f"`{ast.unparse(node)}`", "choose from a list of scores that are written out", "DPA706")
    values = [numbers.number(state, node, one) for one in (*held.items, found["epsilon"], found["sensitivity"])]
    *codes, epsilon, sensitivity = (one.code for one in values)
    name = state.fresh("noise")
    state.emit(f"{name} = exponential_choice([{', '.join(codes)}], {epsilon}, {sensitivity})")
    return Scalar(name, "int", numbers.INT, noisy=True)


@dataclass(frozen=True)
class _Drawn:
    """How a generator's method draws: its parameters with their defaults, and the noise made of them."""

    parts: tuple[tuple[str, int | None], ...]
    make: Callable[[State, ast.AST, dict[str, Scalar]], Scalar]
    sized: bool = True


def _shifted(law: str, place: str = "loc", size: str = "scale") -> Callable[[State, ast.AST, dict[str, Scalar]], Scalar]:
    """Location plus noise of a size."""

    def make(state: State, node: ast.AST, found: dict[str, Scalar]) -> Scalar:
        noise = draw(state, node, law, found[size])
        at = found.get(place)
        if at is None or (at.is_known and at.known == 0):
            return noise
        return replace(numbers.arithmetic(state, node, ast.Add(), at, noise), types=numbers.FLOAT, tests=())

    return make


def _expovariate(state: State, node: ast.AST, found: dict[str, Scalar]) -> Scalar:
    """Exponential noise by its rate."""
    one = numbers.constant(state, Fraction(1))
    return draw(state, node, "exponential", numbers.arithmetic(state, node, ast.Div(), one, found["lambd"]))


def _standard(state: State, node: ast.AST, _: dict[str, Scalar]) -> Scalar:
    """Standard normal noise."""
    return draw(state, node, "gaussian", numbers.constant(state, 1))


def _between(*, closed: bool, low: str = "low", high: str = "high") -> Callable[[State, ast.AST, dict[str, Scalar]], Scalar]:
    """A uniform whole number."""

    def make(state: State, node: ast.AST, found: dict[str, Scalar]) -> Scalar:
        ends = [numbers.whole(state, node, found[name], "as an end") for name in (low, high) if name in found]
        if len(ends) == 1:
            ends = [numbers.constant(state, 0), *ends]
        count = numbers.arithmetic(state, node, ast.Sub(), ends[1], ends[0])
        if closed:
            count = numbers.arithmetic(state, node, ast.Add(), count, numbers.constant(state, 1))
        made = draw(state, node, "uniform_int", count)
        if ends[0].known != 0:
            made = numbers.arithmetic(state, node, ast.Add(), ends[0], made)
        # numpy's own whole numbers, which arithmetic then keeps to 64 bits; random gives Python's.
        return replace(made, types=numbers.INT if closed else frozenset({"np.int"}), tests=(), bits=numbers.DATA_BITS)

    return make


def _below(state: State, node: ast.AST, found: dict[str, Scalar]) -> Scalar:
    """A whole number of Python's below an end."""
    return replace(_between(closed=False)(state, node, found), types=numbers.INT)


def _bits(state: State, node: ast.AST, found: dict[str, Scalar]) -> Scalar:
    """A whole number of so many random bits."""
    size = found["k"].known
    if type(size) is not int or not 0 < size <= _MOST_BITS:
        raise refuse(node, f"`{ast.unparse(node)}`", "draw a few bits", "DPA706")
    return replace(draw(state, node, "uniform_int", numbers.constant(state, 2**size)), bits=size)


def _one_of_two(state: State, node: ast.AST, found: dict[str, Scalar]) -> Scalar:
    """A binomial number of one trial: 1 with a chance."""
    if found["n"].known != 1:
        raise teach(node, "noise by hand", "a draw by `binomial` of several trials")
    coin = draw(state, node, "bernoulli", found["p"])
    return replace(numbers.number(state, node, coin), types=frozenset({"np.int"}), noisy=True)


_MOST_BITS: Final = 16
_LEFT_OUT: Final = -1
"""The default of a parameter that may be left out, and then has no value."""
_PLACED: Final = (("loc", 0), ("scale", 1))
_GAUSS: Final = (("mu", 0), ("sigma", 1))
_NUMPY: Final[Mapping[str, _Drawn]] = {
    "laplace": _Drawn(_PLACED, _shifted("laplace")),
    "normal": _Drawn(_PLACED, _shifted("gaussian")),
    "standard_normal": _Drawn((), _standard),
    "exponential": _Drawn((("scale", 1),), _shifted("exponential")),
    "integers": _Drawn((("low", None), ("high", _LEFT_OUT)), _between(closed=False)),
    "randint": _Drawn((("low", None), ("high", _LEFT_OUT)), _between(closed=False)),
    "binomial": _Drawn((("n", None), ("p", None)), _one_of_two),
}
_RANDOM: Final[Mapping[str, _Drawn]] = {
    "gauss": _Drawn(_GAUSS, _shifted("gaussian", "mu", "sigma"), sized=False),
    "normalvariate": _Drawn(_GAUSS, _shifted("gaussian", "mu", "sigma"), sized=False),
    "expovariate": _Drawn((("lambd", None),), _expovariate, sized=False),
    "randint": _Drawn((("a", None), ("b", None)), _between(closed=True, low="a", high="b"), sized=False),
    "randrange": _Drawn((("low", None), ("high", _LEFT_OUT)), _below, sized=False),
    "randbelow": _Drawn((("low", None),), _below, sized=False),
    "getrandbits": _Drawn((("k", None),), _bits, sized=False),
}
_UNIFORM: Final = ("random", "rand")
METHODS: Final = frozenset(
    {*_NUMPY, *_RANDOM, "random", "uniform", "choice", "choices", "geometric", "gumbel", "shuffle", "poisson"}
)
SCIPY: Final = {"laplace": "laplace", "norm": "gaussian", "expon": "exponential"}


def generated(state: State, node: ast.AST, family: str, name: str, args: Args, named: Named) -> Value:
    """A draw from a generator."""
    if name in _UNIFORM and not args and not named:
        return _uniform(state, "numpy" if family == "legacy" else family)
    if name == "uniform" and not named and [one.known for one in args if isinstance(one, Scalar)] == [0, 1]:
        return _uniform(state, "numpy" if family == "legacy" else family)
    if name == "uniform":
        found = given(node, args, named, *(("a", "b") if family == "random" else ("low", "high")))
        drawn = _uniform(state, "numpy" if family == "legacy" else family)
        assert isinstance(drawn, Ref)  # noqa: S101 - as it is made
        ends = [numbers.number(state, node, one) for one in found.values()]
        return quantiles.uniform_between(state, node, drawn, *ends)
    if name == "choices" and family == "random":
        found = given(node, args, named, "population", "weights", "k?")
        return _chosen(state, node, family, found["population"], found["weights"], shared=False, count=found.get("k"))
    if name == "choice" and family != "random" and "p" in named and not _are_numbers(state, named["p"]):
        found = given(node, args, named, "a", "size?", "replace?", "p")
        if isinstance(found.get("size", Nothing()), Nothing) and "replace" not in found:
            return _chosen(state, node, "numpy", found["a"], found["p"], shared=True)
    known = (_RANDOM if family == "random" else _NUMPY).get(name)
    if name == "choice":
        return _any_of(state, node, family, given(node, args, named, "a" if family != "random" else "seq", "p?"))
    if family == "legacy":
        known, family = (None if name == "integers" else known), "numpy"
    if known is None:
        raise teach(node, "noise by hand", f"a draw by `{name}`")
    parts = [*(f"{part}?" if default is not None else part for part, default in known.parts), *(["size?"] if known.sized else [])]
    found = given(node, args, named, *parts)
    size = found.pop("size", None)
    values = {
        part: numbers.constant(state, default) if part not in found else numbers.number(state, node, found[part])
        for part, default in known.parts
        if part in found or default not in (None, _LEFT_OUT)
    }
    if family == "random" and any(not one.types <= {"int", "float", "bool", "Fraction"} for one in values.values()):
        # Python computes with them, and the noise has numpy's type then.
        raise refuse(node, f"`{ast.unparse(node)}` of numbers of numpy", "convert them with float() first", "DPA703")
    return _many(state, node, size, family, lambda: known.make(state, node, values))


def _chosen(
    state: State, node: ast.AST, family: str, among: Value, weights: Value, *, shared: bool, count: Value | None = None
) -> Value:
    """One of several, or a list of some: each with the chance of its weight, or with a chance that is given."""
    scores, epsilon = exponentials.scores(state, node, weights, shared=shared)
    held = state.object(among) if isinstance(among, Ref) else among
    items: tuple[Value, ...] = held.items if isinstance(held, (Items, Tuple)) and getattr(held, "form", "list") != "set" else ()
    if shared and isinstance(among, Scalar) and among.known == len(scores):
        items = tuple(numbers.constant(state, place, frozenset({"np.int"})) for place in range(len(scores)))
    elif shared:
        # numpy makes an array of them: numbers of one type of its own, or texts.
        known = [one.known for one in items if isinstance(one, Scalar)]
        items = items if all(isinstance(one, str) for one in known) else arrays.alike(state, node, items)
    times = count.known if isinstance(count, Scalar) else 1
    if len(items) != len(scores) or type(times) is not int or not 1 <= times <= MOST_UNROLLED or state.record_loops:
        raise refuse(node, f"`{ast.unparse(node)}`", "choose from a list of as many candidates as weights", "DPA706")
    state.real(FLOATS.format(family))
    state.noises.setdefault(family, state.line)
    chosen: list[Value] = []
    for _ in range(times):
        name = state.fresh("noise")
        state.emit(f"{name} = exponential_choice([{', '.join(scores)}], {epsilon}, 1)")
        place = Scalar(name, "int", numbers.INT, noisy=True)
        chosen.append(subscripts.element(state, node, Tuple(items), place))
    return chosen[0] if shared else state.new(Items(tuple(chosen)))


def _any_of(state: State, node: ast.AST, family: str, found: Named) -> Value:
    """One of several that are written out, each with the same chance; one of two also with a chance that is given."""
    among = next(iter(found.values()))
    held = state.object(among) if isinstance(among, Ref) else among
    items: tuple[Value, ...] = held.items if isinstance(held, (Items, Tuple)) and getattr(held, "form", "list") != "set" else ()
    if not 0 < len(items) <= MOST_UNROLLED:
        raise refuse(node, f"`{ast.unparse(node)}`", "choose from a list of candidates that is written out", "DPA706")
    if family != "random" and not all(isinstance(one, Scalar) and isinstance(one.known, str) for one in items):
        # numpy makes an array of them.
        items = arrays.alike(state, node, items)
    family = "numpy" if family == "legacy" else family
    state.real(FLOATS.format(family))
    state.noises.setdefault(family, state.line)
    if "p" in found:
        coin = draw(state, node, "bernoulli", _first_of_two(state, node, found["p"], len(items)))
        first, second = (numbers.scalar(state, node, one) for one in items)
        if first.known is not second.known and first.kind == second.kind == "bool" and first.is_known and second.is_known:
            return replace(coin if first.known else numbers.negated(coin), types=first.types)
        return numbers.chosen(state, node, coin, first, second)
    place = draw(state, node, "uniform_int", numbers.constant(state, len(items)))
    return subscripts.picked(state, node, Tuple(items), place)


def _are_numbers(state: State, chances: Value) -> bool:
    """True for two chances that are numbers."""
    held = state.object(chances) if isinstance(chances, Ref) else chances
    items = getattr(held, "items", ())
    return len(items) == 2 and all(isinstance(one, Scalar) for one in items)


def _first_of_two(state: State, node: ast.AST, chances: Value, size: int) -> Scalar:
    """The chance of the first of two, where the other's is what is left of 1."""
    held = state.object(chances) if isinstance(chances, Ref) else chances
    both = [one for one in getattr(held, "items", ()) if isinstance(one, Scalar) and one.kind in ("int", "real")]
    if size == len(both) == 2:
        one, other = both
        if one.is_known and other.is_known and one.known + other.known == 1:
            return one
        for kept, rest in ((one, other), (other, one)):
            if rest.code in (f"(1 - {kept.code})", f"(Fraction(1, 1) - {kept.code})"):
                return one
    raise refuse(node, f"`{ast.unparse(node)}`", "choose one of two with p=[p, 1 - p]", "DPA706")


def _many(state: State, node: ast.AST, size: Value | None, family: str, make: Callable[[], Scalar]) -> Value:
    """One draw, or an array of them."""
    state.real(FLOATS.format(family))
    state.noises.setdefault(family, state.line)
    if isinstance(size, Tuple) and len(size.items) == 1:
        size = size.items[0]
    if size is None or isinstance(size, Nothing):
        return make()
    count = numbers.whole(state, node, size, "as a size")
    if count.counts and not (state.lenient and count.code in state.sizes):
        raise teach(node, "draw per record", "noise for each record")

    def element() -> Scalar:
        one = make()
        return replace(one, types=frozenset({"np.int" if one.kind == "int" else "np.float"}))

    if count.counts:
        source = state.sizes[count.code][1]
        made = iterating.over(state, node, source, lambda _: (None, element()))
        return state.new(replace(made, form="array", once=True))
    if count.is_known:
        if not 0 < count.known <= MOST_UNROLLED:
            raise refuse(node, f"{count.known} draws at once", "draw in a loop", "DPA706")
        return state.new(Items(tuple(element() for _ in range(count.known)), "array"))
    if not count.public:
        raise teach(node, "draw per record", "noise of a private number")
    if state.private_tests and not (count.positive or count.code.startswith("len(")):
        # numpy refuses a size below 0, which would show that this was reached.
        raise refuse(node, "noise of a size that may be below 0, drawn where data decide that,", "draw it before", "DPA706")
    name, outer, depth = state.fresh("i"), state.lines, state.depth
    state.lines, state.depth = [(0, f"for {name} in range(0, {count.code}):", state.line)], 1
    value = element()
    lines, state.lines, state.depth = state.lines, outer, depth
    return state.new(replace(template(lines, 1, value, private=False, public=True), form="array", once=True))


def _scipy(law: str) -> Any:
    """The reader of `scipy.stats.*.rvs`."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        found = given(node, args, named, "loc?", "scale?", "size?", "random_state?")
        if not isinstance(found.pop("random_state", Nothing()), (Generator, Nothing)):
            raise teach(node, "seed", "a constant random_state")
        size = found.pop("size", None)
        values = {name: numbers.number(state, node, one) for name, one in found.items()}
        values.setdefault("scale", numbers.constant(state, 1))

        def make() -> Scalar:
            return replace(_shifted(law)(state, node, values), types=frozenset({"np.float"}))

        return _many(state, node, size, "scipy", make)

    return read


def _generator(family: str) -> Any:
    """The reader of a new generator, which takes no seed."""

    def read(_: State, node: ast.AST, args: Args, named: Named) -> Value:
        if any(not isinstance(one, Nothing) for one in (*args, *named.values())):
            raise teach(node, "seed", "a generator with a seed")
        return Generator(family)

    return read


def _seeded(_: State, node: ast.AST, __: Args, ___: Named) -> Value:
    """A seed for all."""
    raise teach(node, "seed", "a seed")


def _uniform(state: State, family: str) -> Value:
    """A uniform number between 0 and 1, which is compared once."""
    if state.record_loops and not state.lenient:
        raise teach(ast.Pass(), "draw per record", "a draw for each record", line=state.line)
    state.noises.setdefault(family, state.line)
    return state.new(Iterator("uniform"))


def coin(state: State, node: ast.AST, chance: Scalar, *, less: bool) -> Scalar:
    """Whether a uniform number is less than a probability, or more."""
    state.real(FLOATS.format("random"))
    of_numpy = {one.startswith("np.") for one in chance.types}
    if len(of_numpy) > 1:
        raise refuse(node, f"`{ast.unparse(node)}`, whose type is not sure", "compare with float(...)", "DPA703")
    if not less:
        chance = numbers.arithmetic(state, node, ast.Sub(), numbers.constant(state, 1), chance)
    return replace(draw(state, node, "bernoulli", chance), types=frozenset({"np.bool"}) if of_numpy == {True} else numbers.BOOL)


def _mechanism(name: str) -> Any:
    """The reader of a mechanism of the library."""

    def read(state: State, node: ast.AST, args: Args, named: Named) -> Value:
        if state.private_tests:
            # It may refuse its parameters, which shows that it was made.
            raise refuse(node, f"{name} that data decide to make", "make it before the test", "DPA706")
        if args or any(not isinstance(one, (Scalar, Nothing)) for one in named.values()):
            raise refuse(node, f"{name} with arguments by position", "pass numbers by name", "DPA706")
        return Mechanism(name, tuple(named.items()))

    return read


def _exact(state: State, node: ast.AST, found: Value | None, what: str) -> Scalar:
    """A parameter of a mechanism: an exact number, or the text of one."""
    if isinstance(found, Scalar) and isinstance(found.known, str):
        try:
            return numbers.constant(state, Fraction(found.known), numbers.EXACT)
        except (ValueError, ZeroDivisionError):
            pass
    if not isinstance(found, Scalar) or found.kind in ("str", "bool"):
        raise refuse(node, f"a mechanism without {what}", f"pass {what}= as an exact number", "DPA706")
    return found


def _released(state: State, node: ast.AST, owner: Value, name: str, args: Args, named: Named) -> Value | None:
    """A release by a mechanism of the library; its sensitivity is not believed, the noise counts."""
    if not isinstance(owner, Mechanism):
        return None
    if name != "release" or len(args) != 1 or named:
        raise refuse(node, f"`.{name}` of a mechanism", "write `.release(value)`", "DPA706")
    parts = dict(owner.parameters)
    lattice = parts.pop("lattice", None)
    if lattice is not None and not (isinstance(lattice, Scalar) and lattice.is_known and lattice.known == 1):
        raise refuse(node, "a lattice other than 1", "release whole numbers", "DPA706")
    value = numbers.whole(state, node, args[0], "released on the lattice of whole numbers")
    parts.pop("adjacency", None)
    sensitivity = _exact(state, node, parts.pop("sensitivity", None), "sensitivity")
    if not sensitivity.is_known or sensitivity.known < 1 or Fraction(sensitivity.known).denominator != 1:
        raise refuse(node, "a sensitivity that is no constant whole number", "write it out; it is checked by the proof", "DPA706")
    if owner.name == "LaplaceMechanism":
        parts.pop("fixed_work", None)
        scale = _exact(state, node, parts.pop("scale"), "scale") if "scale" in parts else None
        if scale is None:
            epsilon = _exact(state, node, parts.pop("epsilon", None), "epsilon")
            top = numbers.constant(state, Fraction(sensitivity.known), numbers.EXACT)
            scale = numbers.arithmetic(state, node, ast.Div(), top, epsilon)
        law, size = "discrete_laplace", scale
    else:
        size = _exact(state, node, parts.pop("sigma", None), "sigma")
        law = "discrete_gaussian" if owner.name == "DiscreteGaussianMechanism" else "gaussian"
    if parts:
        raise refuse(node, f"{owner.name} with {', '.join(parts)}", "leave it out", "DPA706")
    noisy = numbers.arithmetic(state, node, ast.Add(), value, draw(state, node, law, size, types=numbers.EXACT))
    if law == "gaussian":
        # What is released is rounded: a function of the value and continuous noise.
        return texts.opaque(state, node, noisy)
    return noisy


def _of_generator(state: State, node: ast.AST, owner: Value, name: str, args: Args, named: Named) -> Value | None:
    """A draw by a method of a generator."""
    if not isinstance(owner, Generator):
        return None
    if (owner.family == "numpy" and name in ("randint", "rand")) or (owner.family == "random" and not hasattr(random, name)):
        raise refuse(node, f"`.{name}` of this generator, which it does not have,", "use one of its methods", "DPA706")
    return generated(state, node, owner.family, name, args, named)


def _of_module(name: str, family: str) -> Any:
    """The reader of a draw by a function of a module."""
    return lambda state, node, args, named: generated(state, node, family, name, args, named)


_MECHANISMS: Final = {
    "LaplaceMechanism": "laplace",
    "GaussianMechanism": "gaussian",
    "DiscreteGaussianMechanism": "discrete_gaussian",
}


def fill() -> None:
    """Enter what draws, or makes something that does."""
    modules: dict[str, Any] = {f"law.{name}": _law(name) for name in LAW_NAMES}
    for family, module, table in (("numpy", "numpy.random", _NUMPY), ("random", "random", _RANDOM)):
        names = (
            *table,
            "random",
            "uniform",
            "choice",
            "choices",
            "geometric",
            "gumbel",
            "poisson",
            "shuffle",
            "sample",
            "rand",
            "randn",
        )
        there = (name for name in names if (family != "random" and name != "choices") or hasattr(random, name))
        modules |= {f"{module}.{name}": _of_module(name, family) for name in there}
    modules |= {f"secrets.{name}": _of_module(name, "random") for name in ("randbelow", "choice")}
    modules["secrets.randbits"] = _of_module("getrandbits", "random")
    modules |= {f"scipy.stats.{name}.rvs": _scipy(law) for name, law in SCIPY.items()}
    del modules["numpy.random.integers"]
    modules |= {"numpy.random.default_rng": _generator("numpy"), "numpy.random.RandomState": _generator("legacy")}
    modules |= dict.fromkeys(("random.Random", "random.SystemRandom", "secrets.SystemRandom"), _generator("random"))
    modules |= dict.fromkeys(("numpy.random.seed", "random.seed"), _seeded)
    modules |= {f"mechanisms{place}.{name}": _mechanism(name) for name, home in _MECHANISMS.items() for place in ("", f".{home}")}
    Sources.MODULES.update(modules)
    Sources.METHODS.update(mechanism=_released, generator=_of_generator)
