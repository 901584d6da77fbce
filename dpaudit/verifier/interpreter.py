"""Runs a program on concrete data: with numbers for its draws, or with anything that behaves like a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from dpaudit.verifier.evaluation import Value, code_of
from dpaudit.verifier.ir import (
    Append,
    Assign,
    Block,
    Break,
    Check,
    Continue,
    Draw,
    For,
    If,
    Invoke,
    Program,
    Raise,
    Return,
    Statement,
    While,
)
from dpaudit.verifier.terms import Term

_LIMIT: Final = 10_000


class Undefined(ArithmeticError):
    """A `Check` failed: Python would raise, or do what the subset leaves out, such as reading q[-1]."""

    def __init__(self, check: Check) -> None:
        super().__init__(f"line {check.place.line}: {check.kind}")
        self.check = check


class TooLong(RuntimeError):
    """More statements ran than were allowed."""


@dataclass(frozen=True)
class Halt:
    """How a run ended: the values returned, output lists as tuples, or the name of an exception that it raised, and the line."""

    values: tuple[Value, ...]
    exception: str = ""
    line: int = field(default=0, compare=False)


@dataclass
class Machine:
    """One run: what its names stand for, and who supplies draws, truth values and an ear for outputs.

    Args:
      names: parameters by name: numbers and lists; later all names.
      draw: gives the value of a draw from the statement and its arguments, a list of scores as its elements first.
      decide: gives the truth of a value that a test needs.
      emit: hears each value as it is appended to an output list.
      limit: most statements that may run.
      real: makes the values of the REAL constants.
    """

    names: dict[str, Value]
    draw: Callable[[Draw | Invoke, tuple[Value, ...]], Value]
    decide: Callable[[Value], bool]
    emit: Callable[[Append, Value], None] | None = None
    limit: int = _LIMIT
    real: Callable[[Fraction], Value] = Fraction
    steps: int = field(default=0, init=False)

    def value(self, term: Term) -> Value:
        """The value of an expression; what Python would not evaluate is not looked at."""
        return code_of(term, self.real)(self.names, self.decide)

    def truth(self, term: Term) -> bool:
        """The truth value of a test."""
        return self.decide(self.value(term))

    def block(self, statements: Block) -> Halt | str | None:
        """Run statements; gives how the function ended, "break" or "continue", or None at their end."""
        for statement in statements:
            self._step()
            ended = self._statement(statement)
            if ended is not None:
                return ended
        return None

    def _step(self) -> None:
        """Count a statement or a round of a loop, which may have no statements."""
        self.steps += 1
        if self.steps > self.limit:
            raise TooLong(f"more than {self.limit} statements ran")

    def _statement(self, statement: Statement) -> Halt | str | None:
        """Run one statement."""
        match statement:
            case Assign(name=name, value=value):
                self.names[name] = self.value(value)
            case Check(condition=condition):
                if not self.truth(condition):
                    raise Undefined(statement)
            case Draw(name=name, args=args, scores=scores):
                candidates = () if scores is None else self.names[scores]
                self.names[name] = self.draw(statement, (*candidates, *map(self.value, args)))
            case Invoke(name=name, args=given):
                self.names[name] = self.draw(statement, tuple(map(self._passed, given)))
            case Append():
                self._append(statement)
            case If(test=test, then=then, otherwise=otherwise):
                return self.block(then if self.truth(test) else otherwise)
            case For() | While():
                return self._loop(statement)
            case _:
                return self._end(statement)
        return None

    def _loop(self, loop: For | While) -> Halt | str | None:
        """Run a loop."""
        rounds = iter(range(self.value(loop.start), self.value(loop.stop))) if isinstance(loop, For) else None
        while True:
            if isinstance(loop, For):
                position = next(rounds, None) if rounds is not None else None
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

    def _end(self, statement: Statement) -> Halt | str:
        """What a statement that jumps gives."""
        match statement:
            case Return(values=values, place=place):
                return Halt(tuple(map(self._returned, values)), line=place.line)
            case Raise(exception=exception, place=place):
                return Halt((), exception, place.line)
            case Break():
                return "break"
            case Continue():
                return "continue"
        raise TypeError(f"a {type(statement).__name__} is no statement")

    def _append(self, statement: Append) -> None:
        """Let an output list grow."""
        value = self.value(statement.value)
        self.names.setdefault(statement.name, []).append(value)
        if self.emit is not None:
            self.emit(statement, value)

    def _passed(self, argument: Term | str) -> Value:
        """An argument of a helper."""
        return self.names[argument] if isinstance(argument, str) else self.value(argument)

    def _returned(self, value: Term | str) -> Value:
        """A returned value; output lists are there even if nothing was appended."""
        return tuple(self.names.get(value, ())) if isinstance(value, str) else self.value(value)


def run(
    program: Program,
    inputs: Mapping[str, Value],
    *,
    draw: Callable[[Draw | Invoke, tuple[Value, ...]], Value],
    decide: Callable[[Value], bool] = bool,
    emit: Callable[[Append, Value], None] | None = None,
    limit: int = _LIMIT,
    real: Callable[[Fraction], Value] = Fraction,
) -> Halt:
    """Run a program to its end."""
    names = {name: list(value) if isinstance(value, Sequence) else value for name, value in inputs.items()}
    ended = Machine(names, draw, decide, emit, limit, real).block(program.body)
    if not isinstance(ended, Halt):
        raise TypeError("the program fell off its end, which the front end refuses")
    return ended
