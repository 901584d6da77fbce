"""Privacy specifications of functions: `@spec` sets an attribute and returns the same function object."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import FunctionType
from typing import Final, Literal, TypeAlias, TypeVar, get_args

from dpaudit.errors import InvalidArgument

RELATIONS: Final = {
    "one": "one element changes, by at most the bound",
    "all": "every element changes, each by at most the bound",
    "inc": "every element stays or grows, each by at most the bound",
    "dec": "every element stays or falls, each by at most the bound",
    "l1": "the sum of the changes' sizes is at most the bound",
    "l2": "the sum of the changes' squares is at most the bound's square",
    "add_remove": "one record is there in one list only, at any place",
    "replace_one": "one record is exchanged for any other",
}
"""Ways in which two neighbouring lists of equal length may differ; "inc" and "dec" are directed, so each is proven both ways."""

LAWS: Final = (
    "laplace", "discrete_laplace", "exponential", "geometric", "gaussian", "discrete_gaussian",
    "exponential_choice", "bernoulli", "randomized_response", "uniform_int",
)  # fmt: skip
"""The laws that a sampler may follow; a keyword-only parameter of one of these names follows that law."""

Cost: TypeAlias = Literal["pure", "approx", "zcdp"]
Expression: TypeAlias = str | int | Fraction
Specified = TypeVar("Specified", bound=Callable[..., object])

_ATTRIBUTE: Final = "__dpaudit_spec__"


@dataclass(frozen=True)
class Change:
    """The difference of one private list between neighbours.

    Args:
      relation: one of `RELATIONS`.
      bound: largest change, a number or an expression in public parameters such as "2 * width"; 1 unless given.
    """

    relation: str
    bound: Expression = 1

    def __post_init__(self) -> None:
        """Check the relation and store the bound as text."""
        if not isinstance(self.relation, str) or self.relation not in RELATIONS:
            raise InvalidArgument("DPA720", f"adjacency must be one of {', '.join(RELATIONS)}, got {self.relation!r}.")
        object.__setattr__(self, "bound", _text(self.bound, "bound"))


One: Final = partial(Change, "one")
All: Final = partial(Change, "all")
Inc: Final = partial(Change, "inc")
Dec: Final = partial(Change, "dec")
L1: Final = partial(Change, "l1")
L2: Final = partial(Change, "l2")
AddRemove: Final = partial(Change, "add_remove")
ReplaceOne: Final = partial(Change, "replace_one")

Adjacent: TypeAlias = Change | str


@dataclass(frozen=True)
class Spec:
    """The promise of a function, as text over its parameters' values at entry; hashable, compared by value.

    Expressions are Python expressions in parameters, `len(q)`, numbers, `+ - * / // % **`, comparisons, `and`, `or`, `not`,
    `abs`, `min`, `max` and conditional expressions, read exactly: `1/3` is a third and `1e-6` a millionth. A pure claim may also be
    `log(...)` of an expression, or the sum of an expression and one such logarithm.

    Args:
      claim: epsilon, or (epsilon, delta), or rho with `cost="zcdp"`, in public parameters.
      adjacency: how the private list differs between neighbours ("one", "all", "inc", "dec" for changes of at most 1, or a
        `Change`); with several lists a mapping from their names. Lists in neither `adjacency` nor `public` are refused.
      requires: what callers must ensure of public parameters and lengths.
      domain: what is assumed of private elements; `q[each]` speaks of every element.
      public: names of lists that are the same in both runs.
      cost: "pure", "approx" or "zcdp"; by default what the claim's length says, pure for one number and approx for two.
      laws: law of each sampler parameter that is not named like one.
      align: shift of a draw in the second run, by the name it is assigned to or by "law.site"; found by search where left out.
    """

    claim: Expression | tuple[Expression, ...]
    adjacency: Adjacent | Mapping[str, Adjacent] | tuple[tuple[str | None, Change], ...]
    requires: Iterable[str] = ()
    domain: Iterable[str] = ()
    public: Iterable[str] = ()
    cost: Cost | None = None
    laws: Mapping[str, str] | tuple[tuple[str, str], ...] = ()
    align: Mapping[str, Expression] | tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Check every part and store it as tuples of text."""
        claim = self.claim if isinstance(self.claim, tuple) else (self.claim,)
        cost = self.cost or ("approx" if len(claim) == 2 else "pure")
        if cost not in get_args(Cost) or len(claim) != (2 if cost == "approx" else 1):
            raise InvalidArgument(
                "DPA720",
                f"a claim is epsilon (pure), (epsilon, delta) (approx) or rho (zcdp), got {len(claim)} parts with cost {cost!r}.",
            )
        stored = {
            "claim": tuple(_text(part, "claim") for part in claim),
            "adjacency": _changes(self.adjacency),
            "requires": tuple(_text(clause, "requires") for clause in _several(self.requires, "requires")),
            "domain": tuple(_text(clause, "domain") for clause in _several(self.domain, "domain")),
            "public": tuple(_name(name, "public") for name in _several(self.public, "public")),
            "cost": cost,
            "laws": tuple((_name(name, "laws"), _law(name, law)) for name, law in _pairs(self.laws, "laws")),
            "align": tuple((str(name), _text(shift, "align")) for name, shift in _pairs(self.align, "align")),
        }
        for name, value in stored.items():
            object.__setattr__(self, name, value)

    @property
    def changes(self) -> tuple[tuple[str | None, Change], ...]:
        """The change of each private list; the name is None where there is only one list."""
        return self.adjacency  # type: ignore[return-value]


def spec(
    *,
    claim: Expression | tuple[Expression, ...],
    adjacency: Adjacent | Mapping[str, Adjacent],
    requires: Iterable[str] = (),
    domain: Iterable[str] = (),
    public: Iterable[str] = (),
    cost: Cost | None = None,
    laws: Mapping[str, str] | None = None,
    align: Mapping[str, Expression] | None = None,
) -> Callable[[Specified], Specified]:
    """Decorator that says what a plain function promises; what it decorates stays the same object."""
    promise = Spec(claim, adjacency, requires, domain, public, cost, {} if laws is None else laws, {} if align is None else align)

    def mark(function: Specified) -> Specified:
        if type(function) is not FunctionType:
            raise InvalidArgument("DPA720", f"@spec takes a plain function, got a {type(function).__name__}. Use `def`.")
        if spec_of(function) is not None:
            raise InvalidArgument("DPA720", f"{function.__name__} has a spec already. Give one that says everything.")
        code = function.__code__
        plain = code.co_varnames[: code.co_argcount]
        samplers = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
        named = [name for name, _ in promise.changes if name is not None] + [str(name) for name in promise.public]
        for names, allowed, what in ((named, plain, "a parameter"), (dict(promise.laws), samplers, "a keyword-only parameter")):
            for name in names:
                if name not in allowed:
                    wrong = f"the spec of {function.__name__} names {name!r}, which is not {what}"
                    raise InvalidArgument("DPA720", f"{wrong}. Use the names of the `def`.")
        setattr(function, _ATTRIBUTE, promise)
        return function

    return mark


def spec_of(function: object) -> Spec | None:
    """The promise that `@spec` set on a function."""
    found = getattr(function, _ATTRIBUTE, None)
    return found if type(found) is Spec else None


def _text(value: object, what: str) -> str:
    """An expression as text that parses; numbers are written out."""
    if type(value) in (int, Fraction):
        return str(value)
    if not isinstance(value, str):
        raise InvalidArgument("DPA721", f"{what} must be an expression as text or an exact number, got a {type(value).__name__}.")
    try:
        ast.parse(value.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InvalidArgument("DPA721", f"{what} is not a Python expression: {value!r}. Write for instance 'eps / 2'.") from error
    return value.strip()


def _name(value: object, what: str) -> str:
    """A parameter's name."""
    if not isinstance(value, str) or not value.isidentifier():
        raise InvalidArgument("DPA720", f"{what} holds names of parameters, got {value!r}.")
    return value


def _several(values: object, what: str) -> Iterable[object]:
    """A list or tuple; a lone string is a slip, since its letters would be read one by one."""
    if not isinstance(values, (list, tuple)):
        raise InvalidArgument("DPA720", f"{what} must be a list, got a {type(values).__name__}. Write {what}=[...].")
    return values


def _pairs(values: object, what: str) -> Iterable[tuple[object, object]]:
    """The items of a mapping, or pairs as they are stored."""
    if isinstance(values, Mapping):
        return tuple(values.items())
    if isinstance(values, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in values):
        return values
    raise InvalidArgument("DPA720", f"{what} must be a mapping from name to text, got a {type(values).__name__}.")


def _law(name: object, law: object) -> str:
    """The law of a sampler; one that is named like a law follows that law."""
    if law not in LAWS or (name in LAWS and name != law):
        raise InvalidArgument(
            "DPA720", f"sampler {name!r} must follow one of {', '.join(LAWS)}, its own name's if it has one, got {law!r}."
        )
    return str(law)


def _changes(adjacency: object) -> tuple[tuple[str | None, Change], ...]:
    """Every private list with its change; the name None stands for the one list there is."""
    if isinstance(adjacency, (str, Change)):
        return ((None, _change(adjacency)),)
    pairs = _pairs(adjacency, "adjacency")
    return tuple((name if name is None else _name(name, "adjacency"), _change(change)) for name, change in pairs)


def _change(value: object) -> Change:
    """A change, or the one that a string such as "one" is shorthand for."""
    if isinstance(value, Change):
        return value
    if value in ("one", "all", "inc", "dec", "add_remove", "replace_one"):
        return Change(str(value))
    allowed = '"add_remove", "replace_one", "one", "all", "inc", "dec" or a Change such as L1(2)'
    raise InvalidArgument("DPA720", f"adjacency must be {allowed}, got {value!r}.")
