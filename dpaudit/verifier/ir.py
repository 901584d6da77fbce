"""Programs as the verifier sees them: typed statements in the order in which Python evaluates, each with its place in the source.

Expressions are terms over the program's own names: a variable for each scalar, `apply(list, (index,))` for an element of a list and
the variable `len(list)` for its length. What an expression needs in order to be defined stands as `Check` statements before it, and
each draw is a statement of its own, so that terms neither fail nor draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Final, TypeAlias

from dpaudit.promise import Promise
from dpaudit.verifier.terms import Sort, Term


@dataclass(frozen=True)
class Place:
    """Line and column in the source text that was given, both from 1 on."""

    line: int
    column: int


class Law(Enum):
    """The laws that a program may draw from, by the names that sampler parameters have."""

    LAPLACE = "laplace"
    DISCRETE_LAPLACE = "discrete_laplace"
    EXPONENTIAL = "exponential"
    GEOMETRIC = "geometric"
    GAUSSIAN = "gaussian"
    DISCRETE_GAUSSIAN = "discrete_gaussian"
    EXPONENTIAL_CHOICE = "exponential_choice"
    BERNOULLI = "bernoulli"
    RANDOMIZED_RESPONSE = "randomized_response"
    UNIFORM_INT = "uniform_int"


ARGUMENTS: Final[Mapping[Law, tuple[str, ...]]] = {
    Law.LAPLACE: ("scale",),
    Law.DISCRETE_LAPLACE: ("scale", "lattice"),
    Law.EXPONENTIAL: ("scale",),
    Law.GEOMETRIC: ("scale", "lattice"),
    Law.GAUSSIAN: ("sigma",),
    Law.DISCRETE_GAUSSIAN: ("sigma", "lattice"),
    Law.EXPONENTIAL_CHOICE: ("scores", "epsilon", "sensitivity"),
    Law.BERNOULLI: ("probability",),
    Law.RANDOMIZED_RESPONSE: ("bit", "probability"),
    Law.UNIFORM_INT: ("size",),
}
"""The arguments of each law, in this order; `lattice` is 1 where it is left out."""

ON_LATTICE: Final = tuple(law for law, arguments in ARGUMENTS.items() if "lattice" in arguments)
TWO_VALUED: Final = (Law.BERNOULLI, Law.RANDOMIZED_RESPONSE)


@dataclass(frozen=True)
class Assign:
    """`name` gets the value of a term; a name has one sort for life."""

    place: Place
    name: str
    value: Term


@dataclass(frozen=True)
class Check:
    """`condition` must hold here in every run, or Python raises: a divisor, an index, the parameter of `Fraction`.

    The condition is guarded where Python evaluates the expression in some cases only.
    """

    place: Place
    kind: str
    condition: Term


@dataclass(frozen=True)
class Draw:
    """`name` gets fresh noise; `site` is the number of this call in the source, `args` are those of the law.

    A name that the program does not give is "law.site". Laws on a lattice have its constant, always, as their last argument.
    For `EXPONENTIAL_CHOICE` the scores come first, as many as there are candidates, then epsilon and sensitivity; where a whole
    list is passed, `scores` names it and `args` are epsilon and sensitivity alone.
    """

    place: Place
    name: str
    site: int
    law: Law
    args: tuple[Term, ...]
    scores: str | None = None


@dataclass(frozen=True)
class Invoke:
    """`name` gets the result of a helper with a privacy contract of its own; lists are passed by name, scalars as terms."""

    place: Place
    name: str
    site: int
    helper: str
    args: tuple[Term | str, ...]


@dataclass(frozen=True)
class Append:
    """The output list `name` grows by one value; `site` numbers the appends."""

    place: Place
    name: str
    site: int
    value: Term


@dataclass(frozen=True)
class If:
    """A branch."""

    place: Place
    test: Term
    then: Block
    otherwise: Block


@dataclass(frozen=True)
class For:
    """`name` runs through the integers from `start` below `stop`, evaluated once; it is dead after the loop."""

    place: Place
    name: str
    start: Term
    stop: Term
    body: Block


@dataclass(frozen=True)
class While:
    """The body runs as long as the test holds; `before` is evaluated ahead of each test, with the checks and draws it needs."""

    place: Place
    before: Block
    test: Term
    body: Block


@dataclass(frozen=True)
class Break:
    """The innermost loop ends."""

    place: Place


@dataclass(frozen=True)
class Continue:
    """The innermost loop goes on with its next round."""

    place: Place


@dataclass(frozen=True)
class Return:
    """The function ends with these values: terms, and names of output lists; `flat` where it is a tuple."""

    place: Place
    values: tuple[Term | str, ...]
    flat: bool


@dataclass(frozen=True)
class Raise:
    """The function ends with a builtin exception."""

    place: Place
    exception: str


Statement: TypeAlias = Assign | Check | Draw | Invoke | Append | If | For | While | Break | Continue | Return | Raise
Block: TypeAlias = tuple[Statement, ...]


@dataclass(frozen=True)
class ListOf:
    """The sort of a list parameter by that of its elements."""

    element: Sort


@dataclass(frozen=True)
class Parameter:
    """A parameter of the function; samplers are none, they are known by their draws."""

    name: str
    sort: Sort | ListOf


class Relation(Enum):
    """The relation of a private list between neighbours, by the names that specifications use."""

    ONE = "one"
    ALL = "all"
    INC = "inc"
    DEC = "dec"
    L1 = "l1"
    L2 = "l2"


@dataclass(frozen=True)
class Change:
    """A relation with its bound, a term over public entry values."""

    relation: Relation
    bound: Term


@dataclass(frozen=True)
class Contract:
    """The promise of a program as terms over entry values: a variable for each scalar parameter and for `len(list)`.

    The privacy loss is at most `claim + ln(odds)`; `odds` is 1 unless the specification says `log(...)`. For `cost` "approx" there
    is `delta` besides, for "zcdp" `claim` is rho. `requires` holds in both runs, since it speaks of what is public. `domain` holds
    in each run by itself; `EACH` in it stands for every integer, and the range where lists are defined is a premise already.
    `obligations` are formulas with their kind that must be valid as they stand: what `requires` must imply for the specification
    to have a meaning. `align` is text, by the name of a draw or by "law.site". `promise` is the same as trees, whose values
    decide what arguments, data and counterexamples meet it.
    """

    claim: Term
    odds: Term
    delta: Term
    cost: str
    changes: tuple[tuple[str, Change], ...]
    public: tuple[str, ...]
    requires: tuple[Term, ...]
    domain: tuple[Term, ...]
    obligations: tuple[tuple[str, Term], ...]
    align: tuple[tuple[str, str], ...]
    promise: Promise = field(repr=False)


@dataclass(frozen=True)
class Program:
    """One function: parameters in their order, statements, and the sorts of all names that statements assign.

    `outputs` names the output lists in the order of their first line. `returned` is what every return gives: sorts of scalars,
    names of output lists. `source` is the text that places speak of. `contract` is what it promises; a helper that is inlined has
    none. `constants` are the global numbers that it reads, `inlined` the source texts of the helpers that were put in place of
    their calls, `helpers` the programs that `Invoke` names, all by name.
    """

    name: str
    parameters: tuple[Parameter, ...]
    body: Block
    sorts: tuple[tuple[str, Sort], ...]
    outputs: tuple[str, ...]
    source: str = field(repr=False, default="")
    returned: tuple[Sort | str, ...] = ()
    contract: Contract | None = None
    constants: tuple[tuple[str, int | Fraction | bool], ...] = ()
    inlined: tuple[tuple[str, str], ...] = field(repr=False, default=())
    helpers: tuple[tuple[str, Program], ...] = field(repr=False, default=())


def contract_of(program: Program) -> Contract:
    """The contract of a program; only helpers that are inlined have none."""
    if program.contract is None:
        raise ValueError(f"{program.name} has no specification")
    return program.contract
