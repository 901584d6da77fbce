"""Witnesses: lemmas and proofs checked again, laws compared exactly, targets attacked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from dpaudit.accounting import gdp
from dpaudit.dossier import Found, Item, Kind, Span, Table, Witness
from dpaudit.errors import Unsupported
from dpaudit.exact import Endpoint, ball, ball_endpoints, outward, working_precision
from dpaudit.results import TargetResult, Verdict
from proofs.papers.points import DATA, SETTINGS

if TYPE_CHECKING:
    from flint import arb

    from dpaudit.accounting import PrivacyLoss
    from dpaudit.targets import Target

ALPHA: Final = "1e-6"
"""Probability with which an attack refutes a claim that holds."""

_BITS: Final = 256
_NEARLY: Final = Fraction(1, 2**100)
"""Declared laws are rounded to 200 bits."""


def claims(paper: str) -> Callable[..., Callable[[Callable[[int], Found]], Item]]:
    """A decorator that makes an item of a paper out of a function that decides it."""

    def at(key: str, place: str, kind: Kind = Kind.STATED, *, correction: str = "", **given: Any) -> Callable[..., Item]:
        """The item that the function below decides."""
        return lambda decide: Item(key, paper, place, kind=kind, correction=correction, decide=decide, **given)

    return at


def decision(says: str, number: str, *witnesses: Witness, table: Table | None = None) -> Found:
    """Return what a decision came to: a sentence with its figures, the number that decides, and everything looked at."""
    return Found(says, number, witnesses, table)


def computed(holds: object, says: str, *, about: str = "claim", kind: str = "computation", **given: Any) -> Witness:
    """A witness from a condition that was just computed."""
    return Witness(kind, about, holds=bool(holds), says=says, **given)


def closed_form(holds: object, says: str, where: str, *, about: str = "claim") -> Witness:
    """A witness for a whole range: an argument in words, from a condition on the figures that it names."""
    return Witness("closed form", about, holds=bool(holds), says=says, where=where)


def lemma(says: str, *names: str, about: str = "claim", where: str = "") -> Witness:
    """Check lemmas of the proofs again, with both solvers and the kernel; together they give what is said."""
    return Witness("lemma", about, holds=all(map(_is_shown, names)), says=says, name=", ".join(names), where=where)


@cache
def _is_shown(name: str) -> bool:
    """Check a lemma of the proof graph or of the papers."""
    from dpaudit.verifier.lemmas import checked
    from proofs.chain import ALL_LEMMAS
    from proofs.papers.lemmas import LEMMAS

    return checked((LEMMAS if name in LEMMAS else ALL_LEMMAS)[name]).holds


def model(name: str, goal: str, says: str, *, about: str = "shortcut") -> Witness:
    """A solver's numbers for which the hypotheses of a lemma hold and another goal does not; expected to be found."""
    from dpaudit.verifier.solving import Answer, satisfiable
    from dpaudit.verifier.terms import negation
    from proofs.chain import ALL_LEMMAS

    wrong = replace(ALL_LEMMAS[name], goal=goal)
    formulas = (*wrong.premises(), negation(wrong.obligations()[-1]))
    found = satisfiable(formulas)
    refuted = found.answer is Answer.SAT and found.model is not None and found.model.satisfies(*formulas)
    return Witness("model", about, holds=not refuted, says=says, name=name, expects=False)


@cache
def _proofs() -> Mapping[str, Any]:
    """Check the claims of all mechanisms and learners in the proof graph again."""
    from dpaudit.auditor.verdict.proof_lookup import find_proofs
    from proofs.chain import LOGGED

    return find_proofs(f"proofs.chain#{name}.claim" for name in LOGGED)


def proof(name: str) -> Witness:
    """The claim of a mechanism or learner in the proof graph."""
    found = _proofs()[f"proofs.chain#{name}.claim"]
    stands = found.status in ("proven", "in part")
    says = f"{found.claim}: {len(found.steps)} steps, proof {found.status}{'; ' + found.reason if found.reason else ''}"
    return Witness("proof", "repair", holds=stands, says=says, name=f"{name}.claim")


@cache
def find_target(name: str) -> Target:
    """A target or specimen of the learners, or the correct twin of a specimen."""
    from learners.targets import TARGETS
    from proofs.papers.specimens.catalogue import SPECIMENS, TWINS

    return next(target for target in (*TARGETS, *SPECIMENS, *TWINS.values()) if target.name == name)


@cache
def audit_target(name: str, runs: int) -> TargetResult:
    """The audit of a target; what it claims of the proof graph is for `proof`, which looks at each piece of evidence once."""
    import dpaudit

    return dpaudit.audit(replace(find_target(name), proof=""), alpha=ALPHA, runs=runs, seed=0).results[0]


def refuted(name: str, runs: int, *, about: str = "shortcut", where: str = "") -> Witness:
    """An attack that must refute a specimen."""
    result = audit_target(name, runs)
    says = f"{result.description}: {result.verdict}. {result.summary}"
    holds = result.verdict is not Verdict.REFUTED
    return Witness("attack", about, holds=holds, says=says, name=name, span=_span(result), expects=False, where=where)


def survives(name: str, runs: int, *, about: str = "repair") -> Witness:
    """An attack that must not refute a target."""
    result = audit_target(name, runs)
    says = f"{result.description}: {result.verdict}. {result.summary}"
    holds = result.verdict in (Verdict.PROVEN, Verdict.CONSISTENT, Verdict.INCONCLUSIVE)
    return Witness("attack", about, holds=holds, says=says, name=name, span=_span(result))


def refuses(learner: Callable[..., Any], adjacency: str, **given: Any) -> Witness:
    """A learner that must refuse a relation."""
    code = ""
    try:
        learner(**SETTINGS, **given, adjacency=adjacency).fit(*DATA)
    except Unsupported as error:
        code = error.code
    return computed(code == "DPA604", f"{learner.__name__} refuses {adjacency} ({code})", about="repair", kind="test")


def _span(result: TargetResult) -> Span | None:
    """Attack and price of an audit as shares of the claim."""
    from dpaudit.report.wording import shares

    attack, price = shares(result)
    return None if attack is None and price is None else Span(attack, None if price is None else price[1])


def law(name: str, *, about: str = "repair", expects: bool = True, where: str = "") -> tuple[Witness, Endpoint]:
    """The declared laws of a target of pure epsilon on its neighbours against its claim, and the epsilon that they realise."""
    target = find_target(name)
    laws = [tuple(map(target.pmf, pair)) for pair in target.neighbours]  # type: ignore[arg-type,union-attr]
    realised = max(between(first, second) for first, second in laws)
    limit = Fraction(target.claim.guarantee.epsilon)  # type: ignore[union-attr]
    says = f"{target.description}: epsilon {digits(realised)} where {digits(limit)} is claimed"
    share = float(realised / limit) if isinstance(realised, Fraction) else realised
    holds, span = realised <= limit + _NEARLY, Span(share, share)
    return Witness("enumeration", about, holds=holds, says=says, name=name, span=span, expects=expects, where=where), realised


def between(first: Mapping[Any, Any], second: Mapping[Any, Any]) -> Endpoint:
    """The least epsilon of two finite laws, from above; infinite where an outcome has probability 0 in one of them."""
    if any(not first.get(one) or not second.get(one) for one in {*first, *second} if first.get(one) or second.get(one)):
        return float("inf")
    with working_precision(_BITS):
        return max(Fraction(ball_endpoints(abs((ball(first[one]) / ball(second[one])).log()))[1]) for one in first if first[one])


def choice_epsilon(pairs: Iterable[tuple[Sequence[int], Sequence[int]]], rate: Fraction) -> Fraction:
    """The largest epsilon of choices with weights exp(-rate count), over pairs of counts of neighbours, from above."""
    with working_precision(_BITS):
        return max(_one_choice(tuple(first), tuple(second), rate) for first, second in pairs)


def _one_choice(first: tuple[int, ...], second: tuple[int, ...], rate: Fraction) -> Fraction:
    """The same for one pair: ratios of weights, times the ratio of totals."""
    moved = [after - before for before, after in zip(first, second, strict=True)]
    shift = _log_total(tuple(sorted(second)), rate) - _log_total(tuple(sorted(first)), rate)
    ends = [ball(rate * each) + shift for each in {min(moved), max(moved)}]
    return max(Fraction(ball_endpoints(abs(end))[1]) for end in ends)


@cache
def _log_total(counts: tuple[int, ...], rate: Fraction) -> arb:
    """Logarithm of the sum of the weights."""
    weights = [(ball(-rate * count)).exp() for count in counts]
    return sum(weights[1:], start=weights[0]).log()


def gaussian_delta(epsilon: arb | Fraction, mu: arb) -> arb:
    """The delta at epsilon of Gaussian differential privacy at mu."""
    at = epsilon if not isinstance(epsilon, Fraction) else ball(epsilon)
    root = ball(2).sqrt()

    def below(value: arb) -> arb:
        """The normal distribution function."""
        return (-value / root).erfc() / 2

    return below(mu / 2 - at / mu) - at.exp() * below(-at / mu - mu / 2)


def priced(loss: PrivacyLoss, delta: str, claimed: Fraction | int, what: str, *, about: str = "repair", **given: Any) -> Witness:
    """The accountant's epsilon against a claimed one: it must not be above."""
    found = loss.epsilon(delta=delta)
    says = (
        f"{what}: epsilon between {digits(found.lower, up=False)} and {digits(found.upper)} at delta {delta}; {claimed} is claimed"
    )
    span = Span(price=float(found.upper) / float(claimed), attack=float(found.lower) / float(claimed))
    return Witness("price", about, holds=found.upper <= claimed, says=says, span=span, **given)


def price_of(witness: Witness) -> float:
    """The upper end of a price, as a share of what is claimed."""
    return float("inf") if witness.span is None or witness.span.price is None else witness.span.price


def gaussian_loss(mu: Fraction) -> PrivacyLoss:
    """Gaussian differential privacy under replace_one."""
    return gdp(mu=mu, adjacency="replace_one")


def digits(value: Endpoint | arb | float, count: int = 4, *, up: bool = True) -> str:
    """A number in words of a report, rounded up or down; what is beyond its fifteenth digit does not move the last one shown."""
    return f"{value}" if float(value) == float("inf") else outward(Fraction(f"{float(value):.15g}"), digits=count, up=up)
