"""The float formula of the envelope: the operations that its error bound is about, in their order, alone and in arrays."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

from mechanisms.sampling import exactnum
from mechanisms.sampling.estimates import Estimate
from proofs.certexp import polynomial
from proofs.flow.following import Refusal, Subject, follow
from proofs.flow.releasing import require
from proofs.flow.terms import Term, same, unknown, walk_through

_X: Final = unknown("x")
_NUMPY: Final = SimpleNamespace(int64="int64", float64="float64", full_like=lambda _, number: number)


def exponential() -> None:
    """Prove that `certexp` and `certexp_one` do what `proofs.certexp` bounds the error of, on arguments within its range."""
    constants: Any = SimpleNamespace(**{name: unknown(name) for name in ("inverse", "high", "low", "third", "table", "entries")})
    large, bits = unknown("_TO_INTEGER"), exactnum._TABLE_BITS  # noqa: SLF001 - a proof looks inside
    names = {"exp_constants": lambda: constants, "np": _NUMPY, "_TO_INTEGER": large, "int": lambda number: number}
    whole = (_X * constants.inverse + large) - large
    rest = (_X - whole * constants.high) - whole * constants.low
    series = polynomial(rest, constants.third)
    # The number of steps stands in the lower half of the bits of a sum with the large constant; the exponent in those from 52 on.
    steps = (_X * constants.inverse + large).view("int64") & 0xFFFFFFFF
    shifted = constants.table.view("int64").take(steps & (2**bits - 1)) - ((steps >> bits) << 52)
    for walk, found in walk_through(lambda: _or_refusal(follow(exactnum.certexp, names), _X)):
        if not isinstance(found, Refusal):
            require_exactly(found, series * shifted.view("float64"), "certexp")
            inside = [
                (question.op, question.parts[1].op if isinstance(question.parts[1], Term) else 0)
                for question, _ in walk.decided[1:]
            ]
            require(not walk.decided[0][1] or inside == [(">=", 0), ("<=", "LARGEST_EXPONENT")], "arguments beyond the range")
    entry = constants.entries[whole & (2**bits - 1)]
    one: Any = follow(exactnum.certexp_one, names | {"math": SimpleNamespace(ldexp=lambda *given: unknown("ldexp", *given))})
    require_exactly(one(_X), series * unknown("ldexp", entry, -(whole >> bits)), "certexp_one")


def formula() -> None:
    """Prove that the float formula is that of one number in arrays too: an exponential times a polynomial, by Horner's rule."""
    names = {"np": _NUMPY, "certexp": unknown("exp"), "certexp_one": unknown("exp")}
    names["certexp_one"] = names["certexp"]
    for power in (1, 2):
        for terms in (0, 4):
            correction = tuple(unknown(f"coefficient {place}") for place in range(terms))
            estimate: Any = Subject(Estimate, names, rate=unknown("rate"), power=power, correction=correction)
            square = _X * _X
            wanted = names["certexp"](estimate.rate * (square if power == 2 else _X))
            if correction:
                c0, c1, c2, c3 = correction
                wanted = wanted * (((c3 * square + c2) * square + c1) * square + c0)
            for found in (estimate.of(_X), estimate.of_one(_X)):
                require_exactly(found, wanted, "the float formula")


def _or_refusal(program: Any, value: Any) -> Any:
    """The result of a program, or its refusal."""
    try:
        return program(value)
    except Refusal as refusal:
        return refusal


def require_exactly(found: Any, wanted: Any, what: str) -> None:
    """Fail unless two records are of the same operations in the same order."""
    require(exactly(found, wanted), f"{what}: {found!r} is not {wanted!r}")


def exactly(first: Any, second: Any) -> bool:
    """Whether two records are of the same operations in the same order, as floats need it; whole numbers may differ in form."""
    if isinstance(first, Term) and isinstance(second, Term) and first.op not in ("digits", "abs", "entry"):
        if not (first.parts or second.parts):
            return first is second
        return first.op == second.op and exactly(first.parts, second.parts)
    if isinstance(first, tuple) and isinstance(second, tuple):
        return len(first) == len(second) and all(map(exactly, first, second))
    if isinstance(first, Term) or isinstance(second, Term):
        return same(first, second)
    return bool(first == second)


def strictly(first: Any, second: Any) -> bool:
    """Whether two records are of the same operations on the same numbers, in the same order; nothing is simplified.

    What is left over of a rounded sum would be 0 if it were.
    """
    if isinstance(first, (tuple, list)) and isinstance(second, (tuple, list)):
        return len(first) == len(second) and all(map(strictly, first, second))
    if isinstance(first, Term) and isinstance(second, Term):
        if not (first.parts or second.parts):
            return first is second
        return first.op == second.op and strictly(first.parts, second.parts)
    return not isinstance(first, Term) and not isinstance(second, Term) and bool(first == second)
