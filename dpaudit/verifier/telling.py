"""Results of the verifier in words for people and as plain data for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any, Final

from dpaudit.verifier.ir import Program
from dpaudit.verifier.outcomes import ProofResult
from dpaudit.verifier.recheck import Rechecked
from dpaudit.verifier.refuter.events import Event
from dpaudit.verifier.refuter.neighbours import claim_values
from dpaudit.verifier.refuter.witness import Witness

_INDENT = "  "
_WIDTH = 12


def witness_words(program: Program, witness: Witness) -> tuple[str, ...]:
    """A counterexample in sentences."""
    first, second = witness.pair.first, witness.pair.second
    same = [f"{name} = {_data(value)}" for name, value in first.items() if second[name] == value]
    differs = [name for name in first if second[name] != first[name]]
    one, other = (", ".join(f"{name} = {_data(inputs[name])}" for name in differs) for inputs in (first, second))
    claim, odds, delta = claim_values(program, first)
    event = str(witness.event) if isinstance(witness.event, Event) else "returns what only dataset 1 can give"
    low, high = _down(Fraction(witness.first.lower)), _up(Fraction(witness.second.upper))
    allowed = " + ".join([str(claim)] * bool(claim or odds == 1) + [f"log({odds})"] * (odds != 1))
    loss = "infinite" if witness.lower is None else f"at least {_down(witness.lower)} nats"
    return (
        f"with {', '.join(same)}" if same else "for all parameters",
        f"dataset 1: {one}",
        f"dataset 2: {other}",
        f"the program {event}",
        f"with probability at least {low} on dataset 1 and at most {high} on dataset 2",
        f"so the loss is {loss}, and the claim allows {allowed}" + (f" beyond probability {delta}" if delta else ""),
    )


def lines(found: ProofResult) -> Iterator[str]:
    """The lines printed about one function."""
    yield f"{found.name}: {found.status}"
    yield from _row("claim", found.claim)
    if found.understood:
        yield from _row("read as", *found.understood)
    if found.status.startswith("proven"):
        yield from _row("holds for", found.scope)
        yield from _row("alignment", *(found.alignment or ("no draw is moved",)))
        total = len(found.obligations)
        solvers, kernel = (sum(getattr(one, who) for one in found.obligations) for who in ("solvers", "kernel"))
        yield from _row("checked", f"{total} obligations; z3 and cvc5 confirm {solvers}, the kernel {kernel}")
    elif found.status == "refuted":
        yield from _row("because", *found.words)
    else:
        place = f" (line {found.line})" if found.line else ""
        yield from _row("because", f"{found.reason}{place}; this says nothing about the claim")
    yield from _row("assumed", *found.assumptions)
    yield from _row("seconds", f"{found.seconds:.1f}")


LEGEND = (
    "An alignment says how each draw differs in the second run so that both runs give the same output. laplace.2 is the second",
    "draw, other.x is x in the second run; the data differ at index ghost.k by ghost.d, and ghost.o is the output looked at.",
)


def rechecked_lines(found: Rechecked) -> Iterator[str]:
    """The lines printed about one certificate."""
    yield f"{found.name}: {found.status}"
    if found.reason:
        yield from _row("because", found.reason)
    by = "the kernel alone; no solver was asked" if found.quick else "z3, cvc5 and the kernel"
    yield from _row("rechecked", f"{found.obligations} obligations, {found.kernel} by the kernel; with {by}")


def as_data(found: ProofResult) -> dict[str, Any]:
    """A result of the verifier as plain data."""
    data = {one.name: getattr(found, one.name) for one in fields(found) if one.name != "certificate"}
    data |= {name: list(value) for name, value in data.items() if isinstance(value, tuple)}
    shown = ("id", "line", "solvers", "kernel", "linear")
    data["obligations"] = [{name: getattr(one, name) for name in shown} for one in found.obligations]
    data["witness"] = None if found.witness is None else _witness(found.witness)
    return {**data, "seconds": round(found.seconds, 3)}


def _witness(witness: Witness) -> dict[str, Any]:
    """A counterexample as plain data; exact numbers as text."""
    return {
        "first": {name: _data(value) for name, value in witness.pair.first.items()},
        "second": {name: _data(value) for name, value in witness.pair.second.items()},
        "event": str(witness.event),
        "first_lower": str(_down(Fraction(witness.first.lower))),
        "second_upper": str(_up(Fraction(witness.second.upper))),
        "loss_lower": None if witness.lower is None else str(_down(witness.lower)),
        "runs": witness.runs,
    }


def _row(name: str, *texts: str) -> Iterator[str]:
    """A named line, and further ones below it."""
    for text in texts:
        yield f"{_INDENT}{name:<{_WIDTH}}{text}"
        name = ""


def _data(value: Any) -> str:
    """A value as people write it."""
    return f"[{', '.join(map(_data, value))}]" if isinstance(value, tuple) else str(value)


def _down(value: Fraction) -> Decimal:
    """Four digits that are not too large."""
    return Context(prec=4, rounding=ROUND_FLOOR).divide(Decimal(value.numerator), Decimal(value.denominator))


def _up(value: Fraction) -> Decimal:
    """Four digits that are not too small."""
    return Context(prec=4, rounding=ROUND_CEILING).divide(Decimal(value.numerator), Decimal(value.denominator))


_KINDS: Final = {
    "out": "both runs put out the same",
    "sync": "both runs take the same way and draw alike",
    "trip": "a loop makes as many rounds in both runs",
    "valid": "what is divided by, read by index or drawn from exists in both runs",
    "lattice": "noise on a lattice moves by its steps",
    "support": "noise that is moved stays where it can fall",
    "injective": "different noise is moved to different noise",
    "triangular": "noise is moved by what was drawn before it",
    "piecewise": "noise is moved by one amount on each piece",
    "ledger": "what fails with small probability is counted",
    "contract": "what is required gives the claim a meaning",
    "cost": "the shifts cost no more than is claimed",
}
"""What each kind of obligation says."""


def obligation_words(name: str) -> str:
    """What an obligation says, with its name: the kind, the line of the program that is proven, and a number."""
    words = _KINDS.get(name.partition(".")[0])
    return name if words is None else f"{words} ({name})"
