"""All paths of a program on given data, each with its conditions on the noise and its output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from typing import Any, Final, TypeAlias

from flint import arb, fmpq

from dpaudit.exact import fmpq_of
from dpaudit.verifier.fuel import spend
from dpaudit.verifier.interpreter import TooLong, Undefined, run
from dpaudit.verifier.ir import Append, Draw, Invoke, Law, Program
from dpaudit.verifier.refuter.forms import Blur, Condition, Form, NotLinear
from dpaudit.verifier.refuter.pieces import Bell, Density, decay

Inputs: TypeAlias = Mapping[str, Any]
Listener: TypeAlias = Callable[[Append, Any], None]
"""Hears the outputs of one run, and may end it by `Elsewhere`."""

MOST_DECISIONS: Final = 5_000
"""Most decisions on noise over all paths together; programs whose loops end by chance have no end of paths."""

_LONGEST_RUN: Final = 2_000

_TWO_SIDED: Final = (Law.LAPLACE, Law.DISCRETE_LAPLACE)
_ONE_SIDED: Final = (Law.EXPONENTIAL, Law.GEOMETRIC)
_WHOLE: Final = (Law.DISCRETE_LAPLACE, Law.GEOMETRIC)


class Undecided(ArithmeticError):
    """The evaluator cannot give a certified number here; the text says why."""


class Elsewhere(Exception):
    """The run has left the event that is looked at."""


@dataclass(frozen=True)
class Noise:
    """One draw of a continuous or lattice law: its mass or density by the real or integer that stands for it."""

    density: Density
    lattice: fmpq
    one_sided: bool = False

    @property
    def whole(self) -> bool:
        """True if it takes values on a lattice."""
        return self.density.whole


@dataclass(frozen=True)
class Path:
    """One way through the program.

    `noises` are its draws by number, `conditions` what they have to fulfil, `weight` the probability of its finite choices,
    `values` what is returned (numbers, truth values, forms of noise, tuples of these), or `exception`. `draws` are all draws in
    their order, each with the arguments of its law and its value or form.
    """

    noises: Mapping[int, Noise]
    conditions: tuple[Condition, ...]
    weight: arb
    values: tuple[Any, ...]
    exception: str
    draws: tuple[tuple[Draw, tuple[Any, ...], Any], ...]


@dataclass
class _Course:
    """The decisions of one run: those that are given first, then the first possibility each, with the others left to be tried."""

    given: tuple[int, ...]
    noises: dict[int, Noise] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)
    weight: arb = field(default_factory=lambda: arb(1))
    taken: list[int] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    draws: list[tuple[Draw, tuple[Any, ...], Any]] = field(default_factory=list)

    def is_null(self) -> bool:
        """True if a linear form of continuous noise has to have one value, which has probability 0."""
        equalities = (one.form.factors for one in self.conditions if one.relation == "==")
        return any(not any(self.noises[place].whole for place in factors) for factors in equalities)

    def pick(self, count: int) -> int:
        """Choose one of `count` possibilities for this run."""
        place = len(self.taken)
        chosen = self.given[place] if place < len(self.given) else 0
        self.taken.append(chosen)
        self.counts.append(count)
        return chosen

    def decide(self, value: Any) -> bool:
        """The truth of a test; one that depends on noise becomes a condition."""
        if not isinstance(value, Condition):
            return bool(value)
        if value.relation != "==":
            holds = self.pick(2) == 0
            opposite = value.negated()
            self.conditions.append(value if holds or opposite is None else opposite)
            return holds
        chosen = self.pick(3)
        sides = (value, Condition(value.form, "<"), Condition(-value.form, "<"))  # type: ignore[arg-type]
        self.conditions.append(sides[chosen])
        return chosen == 0

    def settle(self, value: Any) -> Any:
        """An output with its truth values decided."""
        if isinstance(value, tuple):
            return tuple(map(self.settle, value))
        return self.decide(value) if isinstance(value, Condition) else value

    def draw(self, statement: Draw | Invoke, args: tuple[Any, ...]) -> Any:
        """Fresh noise as a form, or one outcome of a finite law."""
        if isinstance(statement, Invoke):
            raise Undecided("a helper with a contract of its own is called")
        if any(isinstance(argument, (Form, Blur, Condition)) for argument in args):
            raise Undecided("the parameters of a law depend on noise")
        if statement.law in (*_TWO_SIDED, *_ONE_SIDED, Law.GAUSSIAN):
            noise = noise_of(statement.law, args)
            place = len(self.draws) + 1
            self.noises[place] = noise
            self.draws.append((statement, args, Form({place: noise.lattice}, fmpq())))
            return self.draws[-1][2]
        outcomes = outcomes_of(statement.law, args)
        value, weight = outcomes[self.pick(len(outcomes))]
        self.weight *= weight
        self.draws.append((statement, args, value))
        return value


def noise_of(law: Law, args: tuple[Any, ...]) -> Noise:
    """The density of a law of noise."""
    scale, lattice = fmpq(args[0]), fmpq(args[1]) if len(args) > 1 else fmpq(1)
    if scale <= 0 or lattice <= 0:
        raise Undecided("a law has a scale that is not positive")
    if law is Law.GAUSSIAN:
        return Noise(Bell(scale), fmpq(1))
    whole, one_sided = law in _WHOLE, law in _ONE_SIDED
    rate = (lattice if whole else 1) / scale
    continuous, lattice_mass = rate if one_sided else rate / 2, -arb(-rate).expm1() if one_sided else (arb(rate) / 2).tanh()
    factor = lattice_mass if whole else arb(continuous)
    return Noise(decay(rate, factor, whole=whole, one_sided=one_sided), lattice if whole else fmpq(1), one_sided)


def outcomes_of(law: Law, args: tuple[Any, ...]) -> list[tuple[Any, arb]]:
    """Values of a finite law with their probabilities."""
    match law:
        case Law.BERNOULLI if 0 <= args[0] <= 1:
            return [(True, arb(fmpq(args[0]))), (False, arb(1 - fmpq(args[0])))]
        case Law.RANDOMIZED_RESPONSE if 0 <= args[1] <= 1:
            return [(bool(args[0]), arb(fmpq(args[1]))), (not args[0], arb(1 - fmpq(args[1])))]
        case Law.UNIFORM_INT if args[0] >= 1:
            return [(place, arb(fmpq(1, args[0]))) for place in range(args[0])]
        case Law.EXPONENTIAL_CHOICE if len(args) > 2 and args[-1] > 0:
            weights = [arb(fmpq(args[-2]) * score / (2 * args[-1])).exp() for score in args[:-2]]
            total = reduce(arb.__add__, weights)
            return [(place, weight / total) for place, weight in enumerate(weights)]
    raise Undecided(f"the law {law.value} has no finite list of outcomes with these parameters")


def paths_of(program: Program, inputs: Inputs, listener: Callable[[], Listener] | None = None) -> Iterator[Path]:
    """Every path of a program on given data; `listener` makes the listener of each run."""
    data = {name: _exact(value) for name, value in inputs.items()}
    waiting: list[tuple[int, ...]] = [()]
    decisions = 0
    while waiting:
        spend()
        course = _Course(waiting.pop())
        if decisions > MOST_DECISIONS:
            raise Undecided(f"the paths on these data take more than {MOST_DECISIONS} decisions")
        values: tuple[Any, ...] | None = None
        try:
            emit = listener and listener()
            ended = run(program, data, draw=course.draw, decide=course.decide, emit=emit, limit=_LONGEST_RUN, real=fmpq_of)
            values = course.settle(ended.values)
        except Elsewhere:
            pass
        except Undefined:
            if not course.is_null():
                raise
        except (NotLinear, TooLong, TypeError) as refusal:
            raise Undecided(str(refusal)) from refusal
        decisions += len(course.taken) + 1
        first = len(course.given)
        waiting += [
            (*course.taken[:place], other) for place in range(first, len(course.taken)) for other in range(1, course.counts[place])
        ]
        if values is not None:
            yield Path(course.noises, tuple(course.conditions), course.weight, values, ended.exception, tuple(course.draws))


def _exact(value: Any) -> Any:
    """An input with flint's fractions in place of Python's, which are several times slower."""
    if isinstance(value, tuple):
        return tuple(map(_exact, value))
    return fmpq_of(value) if isinstance(value, Fraction) else value
