"""The interpreter: runs a program on concrete data, with numbers for its draws or with anything that behaves like a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from dpaudit.verifier import ir
from dpaudit.verifier.evaluation import Value, code_of
from dpaudit.verifier.terms import Term

_LIMIT: Final = 10_000


class Undefined(ArithmeticError):
    """A `Check` failed: Python would raise, or do what the subset leaves out, such as reading q[-1]."""

    def __init__(self, check: ir.Check) -> None:
        super().__init__(f"line {check.place.line}: {check.kind}")
        self.check = check


class TooLong(RuntimeError):
    """More statements ran than were allowed."""


@dataclass(frozen=True)
class Halt:
    """The end of a run: the values returned, output lists as tuples, or the name of an exception that it raised, and the line."""

    values: tuple[Value, ...]
    exception: str = ""
    line: int = field(default=0, compare=False)


@dataclass
class Machine:
    """One run: what its names stand for, and who supplies draws, truth values and an ear for outputs."""

    names: dict[str, Value]  # parameters by name: numbers and lists; later all names
    # Gives the value of a draw from the statement and its arguments, a list of scores as its elements first.
    draw: Callable[[ir.Draw | ir.Invoke, tuple[Value, ...]], Value]
    decide: Callable[[Value], bool]  # gives the truth of a value that a test needs
    emit: Callable[[ir.Append, Value], None] | None = None  # hears each value as it is appended to an output list
    limit: int = _LIMIT  # most statements that may run
    real: Callable[[Fraction], Value] = Fraction  # makes the values of the REAL constants
    steps: int = field(default=0, init=False)

    def value(self, term: Term) -> Value:
        """The value of an expression; what Python would not evaluate is not looked at."""
        return code_of(term, self.real)(self.names, self.decide)

    def truth(self, term: Term) -> bool:
        """The truth value of a test."""
        return self.decide(self.value(term))

    def block(self, statements: ir.Block) -> Halt | str | None:
        """Run statements; gives how the function ended, "break" or "continue", or None at their end."""
        for statement in statements:
            self._step()
            ended = self._statement(statement)
            if ended is not None:
                return ended
        return None

    def _step(self) -> None:
        """Count a statement, or a round of a loop, which may have no statements."""
        self.steps += 1
        if self.steps > self.limit:
            raise TooLong(f"more than {self.limit} statements ran")

    def _statement(self, statement: ir.Statement) -> Halt | str | None:
        """Run one statement."""
        match statement:
            case ir.Assign(name=name, value=value):
                self.names[name] = self.value(value)
            case ir.Check(condition=condition):
                if not self.truth(condition):
                    raise Undefined(statement)
            case ir.Draw(name=name, args=args, scores=scores):
                candidates = () if scores is None else self.names[scores]
                self.names[name] = self.draw(statement, (*candidates, *map(self.value, args)))
            case ir.Invoke(name=name, args=given):
                passed = (self.names[one] if isinstance(one, str) else self.value(one) for one in given)
                self.names[name] = self.draw(statement, tuple(passed))
            case ir.Append():
                self._append(statement)
            case ir.If(test=test, then=then, otherwise=otherwise):
                return self.block(then if self.truth(test) else otherwise)
            case ir.For() | ir.While():
                return self._loop(statement)
            case _:
                return self._end(statement)
        return None

    def _loop(self, loop: ir.For | ir.While) -> Halt | str | None:
        """Run a loop."""
        rounds = iter(range(self.value(loop.start), self.value(loop.stop)) if isinstance(loop, ir.For) else ())
        while True:
            if isinstance(loop, ir.For):
                position = next(rounds, None)
                if position is None:
                    return None
                self.names[loop.name] = position
            else:
                self.block(loop.before)
                if not self.truth(loop.test):
                    return None
            ended = self.block(loop.body)
            if ended == "break":
                return None
            if isinstance(ended, Halt):
                return ended
            self._step()

    def _end(self, statement: ir.Statement) -> Halt | str:
        """Run a statement that jumps."""
        match statement:
            case ir.Return(values=values, place=place):
                return Halt(tuple(map(self._returned, values)), line=place.line)
            case ir.Raise(exception=exception, place=place):
                return Halt((), exception, place.line)
            case ir.Break():
                return "break"
            case ir.Continue():
                return "continue"
        raise TypeError(f"a {type(statement).__name__} is not a statement")

    def _append(self, statement: ir.Append) -> None:
        """Let an output list grow."""
        value = self.value(statement.value)
        self.names.setdefault(statement.name, []).append(value)
        if self.emit is not None:
            self.emit(statement, value)

    def _returned(self, value: Term | str) -> Value:
        """A returned value; output lists are there even if nothing was appended."""
        return tuple(self.names.get(value, ())) if isinstance(value, str) else self.value(value)


def run(
    program: ir.Program,
    inputs: Mapping[str, Value],
    *,
    draw: Callable[[ir.Draw | ir.Invoke, tuple[Value, ...]], Value],
    decide: Callable[[Value], bool] = bool,
    emit: Callable[[ir.Append, Value], None] | None = None,
    limit: int = _LIMIT,
    real: Callable[[Fraction], Value] = Fraction,
) -> Halt:
    """Run a program to its end."""
    names = {name: list(value) if isinstance(value, Sequence) else value for name, value in inputs.items()}
    ended = Machine(names, draw, decide, emit, limit, real).block(program.body)
    if not isinstance(ended, Halt):
        raise TypeError("the program fell off its end, which the front end refuses")
    return ended
