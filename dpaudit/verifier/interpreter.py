"""The interpreter: runs a program on concrete data, with numbers for its draws or with anything that behaves like a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

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


@dataclass(slots=True)
class _Frame:
    """A block that is being run, from `place` on, and the loop whose rounds or head it is."""

    block: ir.Block
    loop: ir.For | ir.While | None = None
    place: int = 0
    in_round: bool = True  # not so before the test of a `while`
    rounds: range = range(0)  # those that are left of a `for`


@dataclass
class Machine:
    """One run: what its names stand for, where it is, and who supplies draws, truth values and an ear for outputs.

    A step computes whatever it needs before it changes anything here, so a step that was left by an exception may be done again.
    """

    names: dict[str, Value]  # parameters by name: numbers and lists; later all names
    # Gives the value of a draw from the statement and its arguments, a list of scores as its elements first.
    draw: Callable[[ir.Draw | ir.Invoke, tuple[Value, ...]], Value]
    decide: Callable[[Value], bool]  # gives the truth of a value that a test needs
    emit: Callable[[ir.Append, Value], None] | None = None  # hears each value before it is appended to an output list
    limit: int = _LIMIT  # most statements that may run
    real: Callable[[Fraction], Value] = Fraction  # makes the values of the REAL constants
    frames: list[_Frame] = field(default_factory=list)  # the innermost last
    steps: int = field(default=0, init=False)

    def copied(self) -> Machine:
        """A machine at the same place, that goes its own way from here on."""
        found = replace(self, names=dict(self.names), frames=[copy(frame) for frame in self.frames])
        found.steps = self.steps
        return found

    def step(self) -> Halt | None:
        """Run one statement, or go to the next round of a loop; gives how the function ended."""
        frame = self.frames[-1]
        if frame.place == len(frame.block):
            self._next_round(frame)
            return None
        ended = self._statement(frame, frame.block[frame.place])
        self._count()
        return ended

    def value(self, term: Term) -> Value:
        """The value of an expression; what Python would not evaluate is not looked at."""
        return code_of(term, self.real)(self.names, self.decide)

    def _count(self) -> None:
        """Count a statement, or a round of a loop, which may have no statements."""
        self.steps += 1
        if self.steps > self.limit:
            raise TooLong(f"more than {self.limit} statements ran")

    def _statement(self, frame: _Frame, statement: ir.Statement) -> Halt | None:
        """Run one statement."""
        match statement:
            case ir.Assign(name=name, value=value):
                self.names[name] = self.value(value)
            case ir.Check(condition=condition):
                if not self.decide(self.value(condition)):
                    raise Undefined(statement)
            case ir.Draw(name=name, args=args, scores=scores):
                candidates = () if scores is None else self.names[scores]
                self.names[name] = self.draw(statement, (*candidates, *map(self.value, args)))
            case ir.Invoke(name=name, args=given):
                passed = (self.names[one] if isinstance(one, str) else self.value(one) for one in given)
                self.names[name] = self.draw(statement, tuple(passed))
            case ir.Append(name=name):
                value = self.value(statement.value)
                if self.emit is not None:
                    self.emit(statement, value)
                self.names[name] = (*self.names.get(name, ()), value)
            case ir.If() | ir.For() | ir.While():
                self.frames.append(self._entered(statement))
            case _:
                return self._jump(statement)
        frame.place += 1
        return None

    def _entered(self, statement: ir.If | ir.For | ir.While) -> _Frame:
        """The block that a statement leads to."""
        match statement:
            case ir.If(test=test, then=then, otherwise=otherwise):
                return _Frame(then if self.decide(self.value(test)) else otherwise)
            case ir.For(start=start, stop=stop, body=body):
                return _Frame(body, statement, len(body), rounds=range(self.value(start), self.value(stop)))
        return _Frame(statement.before, statement, in_round=False)

    def _next_round(self, frame: _Frame) -> None:
        """Go on at the end of a block: to a test or round of its loop, or behind it."""
        loop = frame.loop
        if isinstance(loop, ir.While):
            if frame.in_round:
                frame.block, frame.place, frame.in_round = loop.before, 0, False
            elif self.decide(self.value(loop.test)):
                self._count()
                frame.block, frame.place, frame.in_round = loop.body, 0, True
            else:
                self.frames.pop()
        elif loop is not None and frame.rounds:
            self._count()
            self.names[loop.name], frame.rounds, frame.place = frame.rounds[0], frame.rounds[1:], 0
        elif len(self.frames) > 1:
            self.frames.pop()
        else:
            raise TypeError("the program fell off its end, which the front end refuses")

    def _jump(self, statement: ir.Statement) -> Halt | None:
        """Run a statement that leaves its block."""
        match statement:
            case ir.Return(values=values, place=place):
                return Halt(tuple(map(self._returned, values)), line=place.line)
            case ir.Raise(exception=exception, place=place):
                return Halt((), exception, place.line)
            case ir.Break() | ir.Continue():
                while self.frames[-1].loop is None:
                    self.frames.pop()
                self.frames[-1].place = len(self.frames[-1].block)
                if isinstance(statement, ir.Break):
                    self.frames.pop()
                return None
        raise TypeError(f"a {type(statement).__name__} is not a statement")

    def _returned(self, value: Term | str) -> Value:
        """A returned value; output lists are there even if nothing was appended."""
        return self.names.get(value, ()) if isinstance(value, str) else self.value(value)


def machine_of(
    program: ir.Program,
    inputs: Mapping[str, Value],
    *,
    draw: Callable[[ir.Draw | ir.Invoke, tuple[Value, ...]], Value],
    decide: Callable[[Value], bool] = bool,
    emit: Callable[[ir.Append, Value], None] | None = None,
    limit: int = _LIMIT,
    real: Callable[[Fraction], Value] = Fraction,
) -> Machine:
    """A machine at the beginning of a program."""
    return Machine(dict(inputs), draw, decide, emit, limit, real, [_Frame(program.body)])


def run(program: ir.Program, inputs: Mapping[str, Value], **rest: Any) -> Halt:
    """Run a program to its end; the arguments are those of `machine_of`."""
    machine = machine_of(program, inputs, **rest)
    while (ended := machine.step()) is None:
        pass
    return ended
