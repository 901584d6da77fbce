"""The graph from a shipped mechanism's source to its claim, as data, and the check that nothing in it is missing or stale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from dpaudit.verifier.lemmas import Lemma, checked
from dpaudit.verifier.solving import Answer, satisfiable
from dpaudit.verifier.solving.back_ends import Solver
from dpaudit.verifier.terms import negation

Kind: TypeAlias = Literal["proven", "certified", "enumerated", "tested", "axiom"]
Check: TypeAlias = Callable[[str], str]
"""Looks at one piece of evidence; gives why it does not hold, or nothing."""

EVIDENCE: Final[Mapping[Kind, tuple[str, ...]]] = {
    "proven": ("certificate", "lemma", "run"),
    "certified": ("run", "test"),
    "enumerated": ("test",),
    "tested": ("test",),
    "axiom": ("citation",),
}
"""The schemes of evidence that each word allows."""

SECONDS: Final = 20.0
"""The time that a solver has for a lemma; it needs a fiftieth of a second, on a machine that does nothing else."""

STAGES: Final = ("source", "sensitivity", "mechanism", "composition", "claim")
"""The stages that the chain of every mechanism must contain."""


@dataclass(frozen=True)
class Node:
    """One statement that claims rest on."""

    id: str  # its name; `Mechanism.claim` for what a mechanism promises
    stage: str  # one of `STAGES`, or "sampler" or "argument"
    statement: str  # what holds, in words
    kind: Kind  # who says so: a proof, certified arithmetic, all tapes of small words, tests, or a citation
    evidence: tuple[str, ...]  # references "scheme:what", of the schemes that `EVIDENCE` allows
    needs: tuple[str, ...] = ()  # ids of the nodes that it rests on
    binds: tuple[str, ...] = ()  # shipped source that it is about, "path:qualified.name"


def form_faults(nodes: Sequence[Node], claims: Sequence[str]) -> list[str]:
    """List the faults in the form of a graph, before any evidence is checked."""
    known = {node.id: node for node in nodes}
    found = [f"{name} stands twice" for name in sorted({node.id for node in nodes if known[node.id] is not node})]
    for node in nodes:
        found += [f"{node.id} rests on {name}, which is unknown" for name in node.needs if name not in known]
        schemes = [one.partition(":")[0] for one in node.evidence]
        if not schemes or not set(schemes) <= set(EVIDENCE[node.kind]) or not all(one.partition(":")[2] for one in node.evidence):
            found.append(f"{node.id} is called {node.kind}, and its evidence is not of that kind")
        if node.id in _below(known, node.id):
            found.append(f"{node.id} rests on itself")
    used: set[str] = set()
    for claim in (f"{name}.claim" for name in claims):
        if claim not in known or known[claim].stage != "claim":
            found.append(f"{claim} is missing")
            continue
        below = _below(known, claim) | {claim}
        used |= below
        passed = {known[name].stage for name in below if name in known}
        found += [f"{claim} has nothing about its {stage}" for stage in STAGES if stage not in passed]
    return found + [f"no claim rests on {node.id}" for node in nodes if node.id not in used]


def _below(known: Mapping[str, Node], name: str) -> set[str]:
    """The ids of all that a node rests on."""
    found: set[str] = set()
    waiting = [*known[name].needs] if name in known else []
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += known[one].needs if one in known else ()
    return found


def rests_on(nodes: Sequence[Node], name: str) -> dict[Kind, list[str]]:
    """All nodes that a node rests on, itself included, by kind."""
    below = _below({node.id: node for node in nodes}, name) | {name}
    return {kind: ids for kind in EVIDENCE if (ids := [node.id for node in nodes if node.id in below and node.kind == kind])}


def check_graph(nodes: Sequence[Node], checks: Mapping[str, Check], changed: Check) -> dict[str, str]:
    """Check all evidence again, and the source that each node is about; give the reason for each node that fails."""
    reasons: dict[str, str] = {}
    answers: dict[str, str] = {}
    for node in nodes:
        for one in node.evidence:
            if one not in answers:
                scheme, _, what = one.partition(":")
                answers[one] = checks[scheme](what) if scheme in checks else f"nobody looks at {scheme}"
        wrong = [f"stale: {reason}" for reason in dict.fromkeys(map(changed, node.binds)) if reason]
        wrong += [f"{one}: {answers[one]}" for one in node.evidence if answers[one]]
        reasons[node.id] = "; ".join(wrong)
    known = {node.id: node for node in nodes}
    below = {name: _below(known, name) for name in known}
    fallen = {name for name, reason in reasons.items() if reason}
    return {
        name: reason or ("rests on " + ", ".join(sorted(below[name] & fallen)) if below[name] & fallen else "")
        for name, reason in reasons.items()
    }


def evidence_checks(certificates: Path, lemmas: Mapping[str, Lemma], tests: Check, *, quick: bool = False) -> dict[str, Check]:
    """The check of each kind of evidence."""
    return {
        "certificate": partial(_certificate, certificates, quick),
        "lemma": partial(_lemma, lemmas),
        "run": _run,
        "test": tests,
        "citation": lambda what: "" if what else "nothing is cited",
    }


def _certificate(folder: Path, quick: bool, what: str) -> str:  # noqa: FBT001 - bound by name above
    """Say why the certificate of "module:function" does not prove the function as it is now; empty if it does."""
    from dpaudit.binding import examine
    from dpaudit.errors import DpauditError
    from dpaudit.importing import module_at
    from dpaudit.verifier.frontend import parse
    from dpaudit.verifier.recheck import parse_certificate, recheck

    place, _, name = what.rpartition(":")
    try:
        function = getattr(module_at(place), name)
        examine(function)
        stem = Path(place).stem if place.endswith(".py") else place
        text = (folder / f"{stem}.{name}.json").read_text(encoding="utf-8")
        return recheck(parse(function), parse_certificate(text), quick=quick).reason
    except (DpauditError, AttributeError, OSError) as error:
        return str(error)


def _lemma(lemmas: Mapping[str, Lemma], what: str) -> str:
    """Say why a lemma is not confirmed, neither by both solvers nor by one of them and the kernel; empty if it is."""
    if what not in lemmas:
        return "there is no such lemma"
    lemma = lemmas[what]
    asked = ((one, solver) for one in lemma.obligations() for solver in get_args(Solver))
    if all(satisfiable([negation(one)], solver=solver, seconds=SECONDS).answer is Answer.UNSAT for one, solver in asked):
        met = satisfiable(lemma.premises(), seconds=SECONDS).answer is Answer.SAT
        return "" if met else "no values are known to meet its hypotheses"
    return "" if checked(lemma, seconds=SECONDS).holds else "the checkers do not confirm it"


def _run(what: str) -> str:
    """Run a function that proves something by ending without an exception; say why it did not, or nothing."""
    place, _, name = what.partition(":")
    try:
        getattr(import_module(place), name)()
    except Exception as error:  # noqa: BLE001 - whatever stops a proof stops it
        return f"{type(error).__name__}: {error}"
    return ""
