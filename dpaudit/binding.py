"""From a function with `@spec` to the callable that ships: the code that was read, pinned, behind a guard of its arguments."""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import CodeType, FunctionType
from typing import Any, Final

from dpaudit.errors import InvalidArgument
from dpaudit.guard import KINDS, Guard
from dpaudit.spec import LAWS, Spec, spec_of

STANDARD: Final[Mapping[str, object]] = {"Fraction": Fraction, "abs": abs, "len": len, "max": max, "min": min, "range": range}
"""The functions of Python that the subset has, by identity; no local name may hide them."""

_FUTURE: Final = 0x1FF0000
"""The flags of a code object that say which features of `__future__` it was compiled with."""
_NAMELESS: Final = {"LOAD_NAME", "STORE_NAME", "DELETE_NAME", "STORE_GLOBAL", "DELETE_GLOBAL", "IMPORT_NAME", "IMPORT_FROM"}
"""Instructions that reach names in ways that cannot be pinned."""


@dataclass(frozen=True)
class Examined:
    """A function whose code object is what its source says, with all that it reaches pinned."""

    name: str
    text: str
    promise: Spec | None  # what `@spec` says of it; None for a helper without a promise
    parameters: tuple[tuple[str, str], ...]  # name and kind of each argument, in their order
    laws: tuple[tuple[str, str], ...]  # name and law of each sampler
    # The same code object with globals of its own: frozen numbers, pinned helpers and Python's functions.
    entry: FunctionType = field(repr=False)


@dataclass(frozen=True)
class Bound:
    """A pinned function behind its guard; calling it checks every argument and copies it before anything is drawn."""

    examined: Examined
    guard: Guard  # what checks arguments
    production: Mapping[str, type] = field(repr=False)  # for each law the class that samples from it when it counts

    def __call__(self, *arguments: object, **named: object) -> object:
        """Run on checked copies of the arguments, with samplers of the registered classes only."""
        laws = dict(self.examined.laws)
        for name, law in laws.items():
            if name in named and (law not in self.production or type(named[name]) is not self.production[law]):
                registered = self.production[law].__name__ if law in self.production else "none is registered"
                raise InvalidArgument(
                    "DPA726",
                    f"{self.examined.name}: the sampler {name} must be of the class registered for {law} ({registered}), "
                    f"got a {type(named[name]).__name__}. Other samplers run through `with_test_samplers` only.",
                )
        return self.with_test_samplers(*arguments, **named)

    def with_test_samplers(self, *arguments: object, **named: object) -> object:
        """Run on checked copies of the arguments with any samplers: for tests and audits, never for a release."""
        laws = dict(self.examined.laws)
        samplers = {name: value for name, value in named.items() if name in laws}
        if missing := [name for name in laws if name not in samplers]:
            raise InvalidArgument("DPA724", f"{self.examined.name}: the sampler {missing[0]} is missing. Pass it by name.")
        values = self.guard.checked(arguments, {name: value for name, value in named.items() if name not in laws})
        return self.examined.entry(*values, **samplers)


def bind(function: Callable[..., Any], *, production: Mapping[str, type]) -> Bound:
    """Pin a function and put the guard of its specification before it."""
    examined = examine(function)
    if examined.promise is None:
        raise InvalidArgument("DPA720", f"{examined.name} has no specification. Decorate it with @spec(claim=..., adjacency=...).")
    for law in production:
        if law not in LAWS:
            raise InvalidArgument("DPA720", f"production names the law {law!r}. Laws are {', '.join(LAWS)}.")
    defaults = examined.entry.__defaults__ or ()
    guard = Guard(examined.name, examined.parameters, defaults, examined.promise)
    return Bound(examined, guard, dict(production))


def examine(function: object) -> Examined:
    """Check that a function object is what its source says, and pin what it reaches."""
    return _examine(function, ())


def _examine(function: object, path: tuple[object, ...]) -> Examined:
    """A function or helper; `path` are the functions that are being examined."""
    name = getattr(function, "__qualname__", type(function).__name__)
    if type(function) is not FunctionType or function.__closure__ is not None or hasattr(function, "__wrapped__"):
        raise _not_bindable(name, "it is not a plain function without closure or wrapper", "Define it with `def` at module level.")
    if function in path:
        raise _not_bindable(name, "it calls itself", "Write a loop.")
    try:
        text = inspect.getsource(function)
        tree, code = _compile(text, function.__code__)
    except (OSError, TypeError, SyntaxError, ValueError) as error:
        raise _not_bindable(name, f"its source cannot be read ({type(error).__name__})", "Define it in a file.") from error
    if not is_same_code(function.__code__, code) or function.__name__ != tree.name:
        raise _not_bindable(name, "its code is not what its source compiles to", "Reload its module; do not patch functions.")
    defaults = tuple(_literal(name, default) for default in tree.args.defaults)
    given = function.__defaults__ or ()
    if [(type(one), one) for one in defaults] != [(type(one), one) for one in given] or function.__kwdefaults__:
        raise _not_bindable(name, "its defaults are not those of its source", "Do not change __defaults__.")
    reached = {wanted: _pin(name, wanted, function, (*path, function)) for wanted in _global_names(name, function.__code__)}
    own = {wanted: value for wanted, value in reached.items() if wanted in STANDARD or isinstance(value, type)}
    scope = {"__name__": function.__module__, "__builtins__": own} | {key: reached[key] for key in reached if key not in own}
    promise = spec_of(function)
    return Examined(
        name=function.__name__,
        text=textwrap.dedent(text),
        promise=promise,
        parameters=tuple((one.arg, _kind(name, one)) for one in tree.args.args),
        laws=tuple((one.arg, _law(name, one.arg, promise)) for one in tree.args.kwonlyargs),
        entry=FunctionType(function.__code__, scope, function.__name__, defaults or None),
    )


def _compile(text: str, code: CodeType) -> tuple[ast.FunctionDef, CodeType]:
    """The tree of a source and the code that it compiles to, under the flags of the code that runs."""
    # Text that is indented keeps its indentation, so that strings over several lines stay what they are.
    inside = text[:1].isspace()
    module = ast.parse(f"if 1:\n{text}" if inside else text)
    body = module.body[0].body if inside and isinstance(module.body[0], ast.If) else module.body
    if len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
        raise ValueError("not one def")
    compiled = compile(module, code.co_filename, "exec", flags=code.co_flags & _FUTURE, dont_inherit=True)
    found = [one for one in compiled.co_consts if isinstance(one, CodeType) and one.co_name == code.co_name]
    if len(found) != 1:
        raise ValueError("not one code object")
    return body[0], found[0]


def is_same_code(one: object, other: object) -> bool:
    """True if two code objects, or constants of theirs, are the same but for places in the file."""
    if type(one) is not type(other):
        return False
    if isinstance(one, CodeType) and isinstance(other, CodeType):
        return all(is_same_code(getattr(one, part), getattr(other, part)) for part in _PARTS)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(is_same_code, one, other))
    # A frozen set of constants, and 0.0 against -0.0, are told apart by their text.
    return one == other and repr(one) == repr(other)


_PARTS: Final = (
    "co_code", "co_consts", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount", "co_posonlyargcount",
    "co_kwonlyargcount", "co_flags", "co_exceptiontable", "co_name",
)  # fmt: skip


def _global_names(name: str, code: CodeType) -> Iterator[str]:
    """The global names that a code object reads."""
    if any(isinstance(one, CodeType) for one in code.co_consts):
        raise _not_bindable(name, "it defines functions or comprehensions inside", "Write explicit loops.")
    for instruction in dis.get_instructions(code):
        if instruction.opname in _NAMELESS:
            raise _not_bindable(name, f"it imports or rebinds the name {instruction.argval}", "Read parameters and constants only.")
    yield from {one.argval: None for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL"}


def _pin(name: str, wanted: str, function: FunctionType, path: tuple[object, ...]) -> object:
    """The value that a global name has now: a frozen number, one of Python's functions by identity, or a helper, pinned itself."""
    known = {**function.__builtins__, **function.__globals__}
    value = known.get(wanted)
    if wanted in STANDARD:
        if value is STANDARD[wanted]:
            return value
    elif is_frozen(value):
        return value
    elif type(value) is FunctionType:
        return _examine(value, path).entry
    elif isinstance(value, type) and issubclass(value, Exception) and getattr(builtins, wanted, None) is value:
        return value
    what = f"the global name {wanted} is not a number, helper or function of the subset"
    raise _not_bindable(name, what, "Pass it as a parameter.")


def is_frozen(value: object) -> bool:
    """True if a value is a number that computes as Python's own and never changes."""
    exact = type(value) is Fraction and type(value.numerator) is type(value.denominator) is int
    return exact or type(value) in (int, bool)


def _kind(name: str, argument: ast.arg) -> str:
    """The type of a parameter, by its annotation."""
    kind = ast.unparse(argument.annotation) if argument.annotation else "without a type"
    if kind not in KINDS:
        raise _not_bindable(name, f"the parameter {argument.arg} is {kind}", f"Types are {', '.join(KINDS)}.")
    return kind


def _law(name: str, sampler: str, promise: Spec | None) -> str:
    """The law of a sampler."""
    law = dict(promise.laws).get(sampler, sampler) if promise else sampler
    if law not in LAWS:
        raise _not_bindable(name, f"the sampler {sampler} follows no law", f"Name it like one of {', '.join(LAWS)}, or give laws=.")
    return law


def _literal(name: str, default: ast.expr) -> int | bool:
    """A default as the source has it."""
    value = default.value if isinstance(default, ast.Constant) else None
    if type(value) not in (int, bool):
        raise _not_bindable(name, "a default is not a literal int or bool", "Leave it out.")
    return value  # type: ignore[return-value]


def _not_bindable(name: str, what: str, remedy: str) -> InvalidArgument:
    """The error for a function that cannot be bound."""
    return InvalidArgument("DPA725", f"{name} cannot be bound: {what}. {remedy}")
