"""The source run by Python itself beside its core program: the same data, the same noise, and the same end.

Only what was read runs: functions, frozen classes and constants of the file, with modules in which every generator of noise hands
out recorded values.
"""

from __future__ import annotations

import ast
import builtins
import copy
import dataclasses
import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from dpaudit.spec import LAWS
from dpaudit.verifier.interpreter import Halt, TooLong, Undefined, run
from dpaudit.verifier.ir import Program
from dpaudit.verifier.ordinary import kinds
from dpaudit.verifier.ordinary.reading import Reading
from dpaudit.verifier.ordinary.records import column
from dpaudit.verifier.ordinary.tapes import WAYS, Differs, Stub, Tape, TooFar, resolved
from dpaudit.verifier.ordinary.tapes import close as _close
from dpaudit.verifier.ordinary.wording import NoText, random_values

_ALIKE: Final = {"KeyError": "LookupError", "IndexError": "LookupError", "AssertionError": "RuntimeError"}
_HUGE: Final = 10**6


def run_source(reading: Reading, arguments: Mapping[str, Any], drawn: list[tuple[str, tuple[Any, ...], Any]]) -> tuple[Any, str]:
    """What the source returns on these arguments and draws, or the name of the exception that it raises."""
    tape = Tape(drawn, exact=not reading.reals)
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


def _namespace(reading: Reading, tape: Tape) -> dict[str, Any]:
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

    def __init__(self, name: str, tape: Tape) -> None:
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


def _argument(reading: Reading, scope: dict[str, Any], name: str, form: str, given: Mapping[str, Any], tape: Tape) -> Any:
    """An argument as the source takes it."""
    if form == "generator":
        return Stub("random" if "random" in reading.state.noises else "numpy.random", tape)
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
        drawn.append((f"{law}__{way}" if way in WAYS else law, args, value))
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
                columns = {
                    one: column(name, one) + suffix for one in (base, *(key for key, m in kind.made.items() if m.field == base))
                }
                if columns[base] not in found:
                    continue
                rows = [random_values(kind.made, base, numbers, source) for _ in found[columns[base]]]
                found |= {core: tuple(row[one] for row in rows) for one, core in columns.items()}
    known = set(reading.state.texts.values())
    reading.state.words |= {number: text for text, number in numbers.items() if number not in known}
