"""The proof of a claim as evidence: a proof that holds counts only where what it shows is what was audited."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from types import CodeType, FrameType, MethodType
from typing import TYPE_CHECKING, Any, Final

from dpaudit.auditor.checks.prices import Logs
from dpaudit.auditor.data.records import same
from dpaudit.auditor.verdict.proof_lookup import ProofFinding
from dpaudit.claims import ZCDP, Adjacency, ApproxDP, Claim, PureDP
from dpaudit.clauses import holds, value
from dpaudit.errors import InvalidArgument
from dpaudit.exact import ball, ball_endpoints, rational, working_precision
from dpaudit.guard import Guard
from dpaudit.promise import Promise, has_lengths, violation
from dpaudit.results import Price, Proof, ProofStep, Property, Verdict

if TYPE_CHECKING:
    from dpaudit.verifier.ir import Change, Contract

STANDS: Final = ("proven", "in part")
"""What a proof that holds is called."""

_BITS: Final = 128
_NORMS: Final = ("l1", "l2", "linf")
"""In this order each ball lies in the next one of the same radius."""
_BALLS: Final[Mapping[str, str]] = {"l1": "l1", "l2": "l2", "all": "linf"}
"""Relations that are balls, with the norm."""
_INSIDE: Final[Mapping[str, str]] = {**_BALLS, "inc": "linf", "dec": "linf", "one": "l1"}
"""Relations that lie in a ball of that norm, whose radius is their bound."""
_LINK: Final = "audited function"
_AROUND: Final = (
    "The proof is about the mechanism. What the audited function does around it was run, not read: that it gives out the release "
    "and nothing else is what its author says."
)


@dataclass(frozen=True)
class Observed:
    """What the audit saw of a target: claim, logs, price and checks, and whether runs gave out what the program returned.

    `outside` says why the data of some run are not among those that the proof is about; "" where all are. `alone` where what was
    audited is the release of a mechanism as it ships, with no function around it.
    """

    claim: Claim
    logs: Logs
    price: Price
    properties: Sequence[Property]
    returned: bool
    outside: str = ""
    alone: bool = False


def is_alone(function: object) -> bool:
    """True if a target's function is a method of a mechanism that ships, or an object that ships and holds only such mechanisms."""
    if isinstance(function, MethodType):
        # A method of somebody else may be bound to a mechanism that ships, and the other way round.
        return _ships(function.__func__) and _ships(type(function.__self__))
    return _ships(type(function)) and all(_ships(type(held)) for held in getattr(function, "__dict__", {}).values())


def _ships(what: Callable[..., Any]) -> bool:
    """True if a function or class is one of the package of mechanisms."""
    return what.__module__.partition(".")[0] == "mechanisms"


def proof_of(name: str, finding: ProofFinding | None, seen: Observed | None) -> Proof | None:
    """Return the proof of one target as evidence."""
    if not name or finding is None:
        return None
    if finding.status not in (*STANDS, "refuted"):
        return Proof(finding.status, name, finding.claim, finding.reason, finding.steps)
    reason = "the target did not run" if seen is None else _mismatch(finding, seen)
    if reason:
        return Proof("unknown", name, finding.claim, reason, finding.steps)
    if finding.status == "proven" and finding.contract is None and seen is not None and not seen.alone:
        return Proof("in part", name, finding.claim, "", (*finding.steps, ProofStep(_LINK, _AROUND, "open")))
    return Proof(finding.status, name, finding.claim, "", (*finding.steps, ProofStep(_LINK, _link(finding), "axiom")))


def doubt_proof(proof: Proof | None, verdict: Verdict) -> Proof | None:
    """Withdraw the proof of a refuted claim: it holds by itself, but does not cover what the function does."""
    if proof is None or verdict is not Verdict.REFUTED or proof.status not in STANDS:
        return proof
    reason = "the claim is refuted, so the audited function does something that the proof does not cover"
    return Proof("unknown", proof.name, proof.claim, reason, proof.steps)


@dataclass(frozen=True)
class Call:
    """One call of the program: its arguments as they were given, lists copied, and what it returned."""

    arguments: Mapping[str, Any]
    value: Any


@contextmanager
def calls_of(code: CodeType | None) -> Iterator[list[Call]]:
    """Collect the calls of a code object that end in this thread while the context is open."""
    ended: list[Call] = []
    begun: dict[FrameType, Mapping[str, Any]] = {}

    def listen(frame: FrameType, event: str, value: Any) -> None:
        if frame.f_code is not code:
            return
        if event == "call":
            given = ((name, frame.f_locals[name]) for name in code.co_varnames[: code.co_argcount])
            begun[frame] = {name: list(one) if type(one) is list else one for name, one in given}
        elif event == "return":
            ended.append(Call(begun.pop(frame, {}), value))

    before = sys.getprofile()
    if code is not None:
        sys.setprofile(listen)
    try:
        yield ended
    finally:
        if code is not None:
            sys.setprofile(before)


def is_given_data(calls: Sequence[Call], data: Any) -> bool:
    """True if one of the arguments of the one call is the list of the data themselves."""
    if len(calls) != 1 or not isinstance(data, (list, tuple)):
        return False
    return any(type(one) is list and len(one) == len(data) and same(one, list(data)) for one in calls[0].arguments.values())


def is_output_of_program(calls: Sequence[Call], output: Any) -> bool:
    """True if the output of a run is what its one call of the program returned."""
    return len(calls) == 1 and same(calls[0].value, output)


def asks_of_data(finding: ProofFinding | None) -> bool:
    """True if every dataset must be checked for what the proof assumes of data and their lengths."""
    promise = None if finding is None or finding.contract is None or finding.status not in STANDS else finding.contract.promise
    return promise is not None and bool(promise.domain or any(has_lengths(one.clause) for one in promise.requires))


def find_uncovered(finding: ProofFinding, calls: Sequence[Call], where: str) -> str:
    """Say why a proof does not cover the calls that a run made of the program; "" where it does."""
    contract = finding.contract
    if contract is None:
        return ""
    promise = contract.promise
    for call in calls:
        try:
            arguments = [call.arguments[name] for name, _ in promise.parameters]
            values = dict(
                zip(call.arguments, Guard("the program", promise.parameters, (), promise.spec).copied(arguments), strict=True)
            )
        except (InvalidArgument, KeyError) as error:
            return f"{where} is given to the program as something that the proof is not about: {error}"
        if others := [name for name, value in finding.values.items() if values[name] != value]:
            return f"{where} is run with another {others[0]} than the one that the proof is named with"
        found = violation(promise, values)
        if found is not None and found.what == "domain":
            place = "" if found.place is None else f", place {found.place}"
            return f"{where} is outside the domain ({found.text}{place})"
        if found is not None:
            return f"{where} does not meet what the program requires ({found.text})"
    return ""


def _link(finding: ProofFinding) -> str:
    """Say what connects a proof with the audited function, and remains to be taken on trust."""
    if finding.status == "refuted":
        return "That the program does what the audited function does is what its author says."
    if finding.contract is not None:
        return "It gave out what the program returned in every run that was watched; that it always does is what its author says."
    return (
        "Every run that was looked at logged such a release and nothing else, and its certified price is within the claim; that "
        "nothing else is given out is what its author says."
    )


def _mismatch(finding: ProofFinding, seen: Observed) -> str:
    """Say why what was shown is not what was audited; "" where it is."""
    violated = [check for check in seen.properties if check.status == "violated"]
    if violated and finding.status in STANDS:
        return f"a check is violated that the proof takes no account of ({violated[0].name})"
    if finding.contract is not None:
        reason = _other_claim(finding.contract, finding.values, seen.claim, refuted=finding.status == "refuted")
        if not reason and finding.status in STANDS and not seen.returned:
            reason = "no run gave out what one call of the program returned"
        return reason or seen.outside
    kinds = {release.kind for side in seen.logs for log in side for release in log}
    others = sorted(kinds - set(finding.logged))
    if others or not kinds:
        found = ", ".join(others) or "nothing"
        return f"the function logged {found}, and the proof is about {', '.join(finding.logged) or 'no release'}"
    return "" if seen.price.status == "within" else "what was logged has no certified price within the claim"


def _other_claim(contract: Contract, values: Mapping[str, Fraction], claim: Claim, *, refuted: bool) -> str:
    """Say why the claim of a program, at these values of its parameters, does not decide the audited one; "" where it does."""
    promise, changed = contract.promise, dict(contract.changes)
    if len(changed) != 1:
        return "the program has several private lists, and the audited claim speaks of one dataset"
    (change,) = changed.values()
    try:
        # Clauses about lengths are asked of the data of every run instead.
        plain = [one.clause for one in promise.requires if not has_lengths(one.clause)]
        if not all(holds(clause, values) for clause in plain):
            return "the values given do not meet what the program requires"
        low, high = _bound(promise, values)
        radius, delta = Fraction(value(promise.changes[0][2].clause, values)), Fraction(value(promise.delta, values))
    except KeyError as error:
        return f"no value is given for the parameter {error.args[0]}"
    except ZeroDivisionError:
        return "the claim of the program has no value at the values given"
    if not (_inside(change, radius, claim.relation) if refuted else _contains(change, radius, claim.relation)):
        return f"the program is about another adjacency ({change.relation.value}, {radius}) than the audit ({claim.relation})"
    match claim.guarantee, contract.cost:
        case (PureDP(epsilon=epsilon), "pure") | (ZCDP(rho=epsilon), "zcdp"):
            fits = rational(epsilon) <= low if refuted else high <= rational(epsilon)
        case (ApproxDP(epsilon=epsilon, delta=allowed), "approx" | "pure"):
            if refuted:
                fits = contract.cost == "approx" and rational(epsilon) <= low and rational(allowed) <= delta
            else:
                fits = high <= rational(epsilon) and delta <= rational(allowed)
        case _:
            return "the program and the audit are about different kinds of guarantee"
    return "" if fits else "at the values given, the claim of the program does not decide the audited one"


def _bound(promise: Promise, values: Mapping[str, Fraction]) -> tuple[Fraction, Fraction]:
    """Enclose the bound that a program claims: a number and perhaps a logarithm."""
    claim, odds = Fraction(value(promise.claim, values)), Fraction(value(promise.odds, values))
    if odds == 1:
        return claim, claim
    with working_precision(_BITS):
        low, high = ball_endpoints(ball(claim) + ball(odds).log())
    return Fraction(low), Fraction(high)


def _contains(change: Change, radius: Fraction, relation: Adjacency) -> bool:
    """True if the neighbours of the audit are neighbours of the program."""
    norm = _BALLS.get(change.relation.value)
    if norm is None or relation.kind != "norm_ball" or relation.norm is None or relation.radius is None:
        return False
    return _NORMS.index(relation.norm) <= _NORMS.index(norm) and rational(relation.radius) <= radius


def _inside(change: Change, radius: Fraction, relation: Adjacency) -> bool:
    """True if the neighbours of the program are neighbours of the audit."""
    if relation.kind == "replace_one":
        return change.relation.value == "one"
    if relation.kind != "norm_ball" or relation.norm is None or relation.radius is None:
        return False
    norm = _INSIDE[change.relation.value]
    return _NORMS.index(norm) <= _NORMS.index(relation.norm) and radius <= rational(relation.radius)
