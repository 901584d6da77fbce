"""Runs of the source by Python itself, with samplers that hand out recorded values: a second opinion on our interpreter."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpaudit.binding import STANDARD
from dpaudit.verifier.interpreter import Halt
from dpaudit.verifier.ir import ARGUMENTS, Draw, Invoke, Law, Program

_EXCEPTIONS: Final[Mapping[str, object]] = {
    name: value for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, Exception)
}


class Differs(RuntimeError):
    """Python does not do with the source what the program was said to do."""


@dataclass(frozen=True)
class Drawn:
    """One draw of a run."""

    statement: Draw | Invoke
    args: tuple[Any, ...] | None  # what the law was given, scores one by one; None where that is not compared
    value: Any


def python_run(program: Program, inputs: Mapping[str, Any], drawn: Iterable[Drawn]) -> Halt:
    """Run the function of a program by Python on given data, with samplers that return the recorded values in turn."""
    tape = _Tape(iter(drawn))
    function, samplers = _function(program, tape)
    arguments = {name: list(value) if isinstance(value, (tuple, list)) else value for name, value in inputs.items()}
    try:
        returned = function(**arguments, **{name: tape.sampler(name) for name in samplers})
    except Differs:
        raise
    except Exception as error:  # noqa: BLE001 - whatever the program raises is how it ends.
        return Halt((), type(error).__name__)
    if next(tape.rest, None) is not None:
        raise Differs(f"{program.name} ends before all recorded draws are made")
    values = returned if type(returned) is tuple else (returned,)
    return Halt(tuple(tuple(value) if type(value) is list else value for value in values))


def is_same_end(one: Halt, other: Halt) -> bool:
    """True if two runs ended alike, types included."""
    return one.exception == other.exception and _typed(one.values) == _typed(other.values)


def _typed(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values with their types."""
    return tuple(_typed(value) if isinstance(value, tuple) else (type(value), value) for value in values)


@dataclass
class _Tape:
    """The draws that are left."""

    rest: Any

    def sampler(self, name: str) -> Callable[..., Any]:
        """The function behind the name of a sampler, or of a helper with a contract of its own."""

        def sample(*args: Any, **named: Any) -> Any:
            drawn = next(self.rest, None)
            if drawn is None:
                raise Differs(f"{name} is called once more than was recorded")
            self._compare(name, drawn, args, named)
            return drawn.value

        return sample

    @staticmethod
    def _compare(name: str, drawn: Drawn, args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """The call must be the recorded one: the same law, as far as the name says, with the same arguments."""
        statement = drawn.statement
        if isinstance(statement, Invoke) or name not in Law._value2member_map_:
            expected = statement.helper if isinstance(statement, Invoke) else name
        else:
            expected = statement.law.value
        if name != expected:
            raise Differs(f"{name} is called where {expected} was recorded")
        if drawn.args is None or isinstance(statement, Invoke):
            return
        given = {"lattice": 1, **dict(zip(ARGUMENTS[statement.law], args, strict=False)), **named}
        values = [given[one] for one in ARGUMENTS[statement.law]]
        if statement.law is Law.EXPONENTIAL_CHOICE:
            values = [*values[0], *values[1:]]
        if list(drawn.args) != values:
            raise Differs(f"{name} is called with other arguments than were recorded")


def _function(program: Program, tape: _Tape) -> tuple[Callable[..., Any], list[str]]:
    """The function, with nothing around it but what the program was read to mean, and the names of its sampler parameters."""
    # In a text the names of laws mean the laws; a function has samplers as parameters, which come before these.
    scope: dict[str, Any] = {law.value: tape.sampler(law.value) for law in Law}
    scope |= {name: tape.sampler(name) for name, _ in program.helpers}
    scope |= {**STANDARD, **dict(program.constants), "__builtins__": dict(_EXCEPTIONS)}
    for _, text in program.inlined:
        _define(text, scope)
    tree = _define(program.source, scope)
    return scope[tree.name], [one.arg for one in tree.args.kwonlyargs]


def _define(text: str, scope: dict[str, Any]) -> ast.FunctionDef:
    """Define the function of a text, without what stands around its statements."""
    tree = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    tree.decorator_list, tree.returns = [], None
    for argument in (*tree.args.args, *tree.args.kwonlyargs):
        argument.annotation = None
    code = compile(ast.Module(body=[tree], type_ignores=[]), "<source>", "exec", dont_inherit=True)
    exec(code, scope)  # noqa: S102 - of the subset, which the front end has read; it reaches nothing but this scope.
    return tree


def fraction(value: Any) -> Any:
    """A number as Python has it where it is one of flint's."""
    return Fraction(int(value.p), int(value.q)) if hasattr(value, "p") else value
