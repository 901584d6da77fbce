"""What a report says in words: the sentences that terminal and page share, each a function of the results alone."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpaudit.claims import KINDS
from dpaudit.codec import nearest
from dpaudit.exact import Endpoint, instance_of, outward, shown
from dpaudit.results import (
    PROPERTY_STATUSES,
    Attack,
    Bound,
    Minimal,
    Power,
    Price,
    Proof,
    Property,
    Report,
    TargetResult,
    Verdict,
)

ORDER: Final = (Verdict.REFUTED, Verdict.FAILED, Verdict.INCONCLUSIVE, Verdict.CONSISTENT, Verdict.PROVEN)
"""Verdicts in the order in which they want attention."""

MEANINGS: Final = {
    Verdict.REFUTED: "The claim is false. A test whose chance of a false alarm is stated with it, a certified price above the "
    "claim, or an exact counterexample shows it.",
    Verdict.FAILED: "The target could not be loaded or run, so nothing is known about its claim.",
    Verdict.INCONCLUSIVE: "The claim is neither refuted nor supported: the audit could have missed a violation, or a check speaks "
    "against the claim or was not run. What was found stands with each target.",
    Verdict.CONSISTENT: "The attack did not refute the claim, and would probably have found the violation that is stated with it. "
    "That is not a proof of privacy.",
    Verdict.PROVEN: "A machine has checked a proof of the claim from the source code that the proof names.",
}
"""What each verdict means, whatever else was found."""

_UNOPPOSED: Final = {
    Verdict.INCONCLUSIVE: "Nothing speaks against the claim, but the audit could have missed a violation; more runs or other "
    "neighbours may tell.",
    Verdict.CONSISTENT: "Nothing speaks against the claim, and the audit would probably have found the violation that is stated "
    "with it. That is not a proof of privacy.",
    Verdict.PROVEN: "The claim follows from the source code, by a proof that a machine has checked.",
}
"""What a verdict means where every check was run and nothing of what is shown beside it speaks against a claim."""

CONSISTENT: Final = "No violation was found. That is no proof; the epsilon it would find is one that 9 of 10 such audits refute."
"""What a consistent verdict says of a claim, and how to read what is given beside it."""

NOT_COVERED: Final = "any dataset or output not tried, time (--timing), printed text (--streams), memory, files, network."
"""What no audit looks at, in a sentence."""

EXIT_MEANINGS: Final = {
    "survived": "no claim was refuted",
    "refuted": "at least one claim is refuted",
    "inconclusive": "a claim is undecided",
    "failed": "a target could not be audited",
}
"""What an exit code of an audit means."""

LIMITS: Final = (
    "An attack can refute a claim but never establish it: only the datasets, events and numbers of runs named here were tried.",
    "Sampling sees no probability far below one in the number of runs. For a very small delta the price speaks, not the attack.",
    "The price is about the releases that the function logged. It does not see what the function does beside them.",
    "Running time, memory, files and network traffic of the function are not part of its audited output.",
    "A proof is about the source code that it names; that the audited function gives out nothing beside is what its author says.",
    "Theorems, checkers, samplers and axioms that every proof rests on are listed in docs/proofs.md.",
)

PROOFS: Final = {
    "refuted": "The verifier found neighbours and an event, with certified probabilities, that break the claim.",
    "stale": "The source or the specification changed after the proof was made, so it proves nothing now.",
    "unknown": "The proof does not hold, could not be checked, or shows something else than what was audited.",
    "in part": "The chain from source code to claim stands, but some of its steps are certified, enumerated or tested, not proven.",
    "proven": "Every step is proven or an axiom that is named; proofs were checked again in this audit.",
    "not attempted": "The target names no proof.",
}
"""What the proof witness may say, in the order in which it wants attention."""

WORDS: Final = {
    "proven": "checked again in this audit by a program",
    "certified": "computed with guaranteed error limits",
    "enumerated": "tried on all cases of a small size, by tests that this audit does not run",
    "tested": "shown by tests that this audit does not run",
    "recorded": "shown by tests that are not installed here, on record as passed",
    "open": "not settled: the code may depend on something that was not checked",
    "axiom": "assumed",
}
"""What stands behind a step of a proof."""

JARGON: Final = (
    "Event: a set of outputs that was chosen on other runs. Bets: a stake is bet on which dataset an output came from, at odds "
    "that are fair or worse if the claim holds; multiplying it by 1/p then has probability at most p. P-value: the probability of "
    "such evidence if the claim holds."
)
"""What the words of an attack's numbers mean."""

_SYMBOLS: Final = {"pure_dp": "", "approx_dp": "", "zcdp": " (zCDP)", "gdp": " (GDP)"}
"""What stands behind the parameters of a claim, by its kind."""

_NARROW: Final = 1e-3
_SHORT: Final = 7
_LONGEST_CLAIM: Final = 48
_STATUS: Final = {
    "within": "The certified price is within the claim.",
    "above": "The certified price exceeds the claim.",
    "undecided": "The claim lies inside the certified interval, so the price decides nothing.",
    "unpriced": "There is no certified price.",
}


@dataclass(frozen=True)
class FamilyRow:
    """One claim among all: its p-value, what that is compared with, and whether the attack refuted it."""

    name: str
    p_value: float
    level: float
    refuted: bool


def is_unopposed(result: TargetResult) -> bool:
    """True if every check that can be stated was run and neither a check nor the price nor the proof speaks against the claim."""
    checked_all = all(check.status not in ("violated", "not run") for check in result.properties)
    above = result.price is not None and result.price.status == "above"
    doubted = result.proof is not None and result.proof.status in ("refuted", "stale", "unknown")
    survived = result.verdict in (Verdict.INCONCLUSIVE, Verdict.CONSISTENT, Verdict.PROVEN)
    return checked_all and survived and not (above or doubted or result.failure or result.rejected_in_family)


def meaning(verdict: Verdict, beside: Iterable[TargetResult]) -> str:
    """What a verdict means, in words that fit everything that is shown beside it."""
    return _UNOPPOSED.get(verdict, MEANINGS[verdict]) if all(map(is_unopposed, beside)) else MEANINGS[verdict]


def by_urgency(results: Iterable[TargetResult]) -> tuple[TargetResult, ...]:
    """The results in the order in which they want attention, otherwise in the order of the targets."""
    return tuple(sorted(results, key=lambda result: ORDER.index(result.verdict)))


def headline(report: Report) -> str:
    """How many claims got which verdict: "2 of 10 claims refuted, 8 consistent"; and of how many others a check is violated."""
    counts = Counter(result.verdict for result in instance_of(report, Report, "report").results)
    total = len(report.results)
    if not total:
        return "No claim was audited"
    first, *rest = [verdict for verdict in ORDER if counts[verdict]]
    claims = "claim" if total == 1 else "claims"
    start = f"{counts[first]} of {total} {claims} {first}"
    told = ", ".join([start, *(f"{counts[verdict]} {verdict}" for verdict in rest)])
    violated = sum(
        any(check.status == "violated" for check in result.properties)
        for result in report.results
        if result.verdict not in (Verdict.REFUTED, Verdict.FAILED)
    )
    return f"{told}; a check is violated of {violated} not refuted" if violated else told


def false_alarm(report: Report) -> str:
    """What may be wrong with the refutations, and how likely that is."""
    alpha, count = decimal(report.settings.alpha), len(report.results)
    if count == 1:
        return f"The attack refutes a claim that holds with probability at most {alpha}."
    family = report.settings.family.capitalize()
    return f"The chance that the attack refutes any of these {count} claims wrongly is at most {alpha} ({family})."


def family(report: Report) -> list[FamilyRow]:
    """The comparisons that decided which of several claims are refuted, the smallest p-value first; empty for one claim."""
    found = sorted(
        ((1.0 if result.attack is None else result.attack.p_value, place, result) for place, result in enumerate(report.results)),
        key=lambda entry: entry[:2],
    )
    first = [len(found) - (rank if report.settings.family == "holm" else 0) for rank in range(len(found))]
    return [
        FamilyRow(result.name, p_value, nearest(report.settings.alpha / share), result.rejected_in_family)
        for (p_value, _, result), share in zip(found, first, strict=True)
    ][: len(found) if len(found) > 1 else 0]


def family_rule(report: Report) -> str:
    """How the p-values of several claims are compared."""
    alpha = decimal(report.settings.alpha)
    if report.settings.family == "holm":
        return (
            f"Holm's method: the smallest p-value is compared with {alpha} over the number of claims, the next with {alpha} over "
            "one less, and so on; the first that is larger ends it."
        )
    return f"Every p-value is compared with {alpha} over the number of claims."


def disclosures(report: Report) -> list[str]:
    """Whether values of the data stand in the report, and why, a sentence for each answer."""
    found: dict[str, list[str]] = {}
    for result in report.results:
        found.setdefault(str(result.values), []).append(result.name)
    if len(found) == 1:
        each, all_of_them = "the target declares its data", f"all {len(report.results)} targets declare their data"
        several = len(report.results) > 1
        return [f"In this report {said.replace(each, all_of_them) if several else said}." for said in found]
    return [f"{', '.join(names)}: {said}." for said, names in found.items()]


def warnings(report: Report) -> list[str]:
    """What the report does not cover: targets after an interruption, new runs where it is reused, targets that lack an extra."""
    interrupted = [] if report.complete else ["The audit was interrupted; only the targets that were finished are listed."]
    reused = dict(report.env).get("reused", "")
    return [*interrupted, *([f"This report is reused: {reused}."] if reused else []), *left_out(report)]


def left_out(report: Report) -> list[str]:
    """Which bundled targets were not audited for lack of an extra, a sentence for each package of them."""
    return [f"Left out are {one}." for one in report.left_out]


def decimal(value: Fraction) -> str:
    """An exact number, as a decimal where that is exact: "0.05", but "1/3"."""
    near = repr(float(value)) if abs(value) < 10**15 else ""
    return near.removesuffix(".0") if near and Fraction(near) == value else shown(value)


def lower(value: Endpoint) -> str:
    """A lower bound with four digits, rounded down."""
    return outward(value, digits=4, up=False).replace("E", "e")


def upper(value: Endpoint) -> str:
    """An upper bound with four digits, rounded up."""
    return outward(value, digits=4, up=True).replace("E", "e")


def thousands(count: int) -> str:
    """A count with commas."""
    return f"{count:,}"


def probability(value: float) -> str:
    """A probability with three digits; one below the range of floats is said to be so."""
    return f"{value:.3g}" if value >= 1e-300 else "below 1e-300"


def sentence(text: str) -> str:
    """The text with a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}." if text else ""


def promised(result: TargetResult) -> str:
    """The claim without its adjacency, with four digits: "epsilon = 1", "mu = 0.2681 (GDP)"; longer texts are cut."""
    claim = result.claim
    if claim.kind in _SYMBOLS and claim.parameters:
        numbers = ", ".join(f"{name} = {_rounded(value)}" for name, value in claim.parameters)
        return f"{numbers}{_SYMBOLS[claim.kind]}"
    text = claim.text.removesuffix(f" under {claim.adjacency}")
    return text if len(text) <= _LONGEST_CLAIM else f"{text[: _LONGEST_CLAIM - 4]} ..."


def _rounded(value: Fraction) -> str:
    """A parameter of a claim: as a decimal where that is short, else with four digits, rounded up."""
    exact = decimal(value)
    return exact if "/" not in exact and len(exact) <= _SHORT else upper(value)


def neighbours(adjacency: str) -> str:
    """What the neighbouring relation of a claim lets change, in words."""
    kind = re.match(r"[a-z_]*", adjacency)
    return KINDS.get(kind.group() if kind else "", "")


def priced(price: Price | None) -> str:
    """The certified price: "epsilon = 1", "epsilon <= 0.8132" where the interval is narrow, or "epsilon in [0.98, 1]"."""
    if price is None or price.value is None:
        return "unpriced"
    if price.value.is_point and isinstance(price.value.lower, Fraction):
        return f"{price.quantity} = {decimal(price.value.lower)}"
    if math.isclose(*price.value.floats(), rel_tol=_NARROW) or (price.value.lower == 0 and math.isfinite(price.value.floats()[1])):
        return f"{price.quantity} <= {upper(price.value.upper)}"
    return f"{price.quantity} in [{lower(price.value.lower)}, {upper(price.value.upper)}]"


def price_status(price: Price | None) -> str:
    """Whether the price fits the claim, as a sentence."""
    return _STATUS.get("unpriced" if price is None else price.status, "")


def inversion(result: TargetResult) -> str:
    """What it means that a claim is refuted although the price of what was logged is within it; nothing elsewhere."""
    if not result.rejected_in_family or result.price is None or result.price.status != "within":
        return ""
    return (
        "The attack found more than the logged noise pays for: a declared sensitivity is false, or something was released "
        "beside what was logged."
    )


def attacked(attack: Attack | None) -> str:
    """The attack's lower bound: "epsilon >= 1.62", of a claim of Gaussian privacy also as mu."""
    if attack is None:
        return "none"
    bound = attack.bound
    if bound is None or bound.epsilon is None or bound.epsilon <= 0:
        return "no bound above 0"
    mu = f", mu >= {lower(bound.mu)}" if bound.mu else ""
    return f"epsilon >= {lower(bound.epsilon)}{_at(bound)}{mu}"


def _at(bound: Bound) -> str:
    """At which delta a bound holds, where that is not 0."""
    return f" at delta = {upper(bound.delta)}" if bound.delta else ""


def confidence(bound: Bound) -> str:
    """How likely a bound is wrong."""
    return f"wrong with probability at most {upper(1 - bound.confidence)}"


def counted(bound: Bound) -> str:
    """The counts behind a bound, in a sentence."""
    first, second = ("second", "first") if bound.direction == "forward" else ("first", "second")
    counts = bound.counts
    return (
        f"in {thousands(counts.runs)} runs, each on one of the two datasets at random: {thousands(counts.ones)} times on the "
        f"{first} dataset, {thousands(counts.zeros)} times on the {second}"
    )


def evidence(attack: Attack) -> str:
    """How far the bets against the claim got."""
    bets = attack.sequential
    level = f"{bets.log10_threshold:.2f}"
    if bets.stopped_at is not None:
        return f"wealth passed the refuting level of 10^{level} at run {thousands(bets.stopped_at)}"
    return f"wealth peaked at 10^{bets.log10_peak:.2f} in {thousands(bets.runs)} runs, 10^{level} would have refuted the claim"


def power(found: Power | None) -> str:
    """What the audit would have found, or that it would have found nothing; empty where the question has no sense."""
    if found is None:
        return ""
    if found.epsilon is None:
        return "not even the largest violation would have been found on the tested pair and event"
    factor = "" if found.factor is None else f", {found.factor:.3g} times the claimed one,"
    return (
        f"a true epsilon of {found.epsilon:.4g}{factor} on the tested pair and event would have been refuted with probability "
        f"{found.probability:g}"
    )


def detectable(attack: Attack | None) -> str:
    """The true epsilons that an attack would have refuted: "finds epsilon >= 1.07"; empty for an early refutation, and for none."""
    if attack is None or attack.sequential.stopped_at is not None:
        return ""
    return "finds nothing" if attack.power.epsilon is None else f"finds epsilon >= {attack.power.epsilon:.4g}"


def properties(checks: tuple[Property, ...]) -> str:
    """How many checks came to what: "5 hold", "1 violated, 2 not run, 4 hold"; those that cannot be stated are left out."""
    counts = Counter(check.status for check in checks)
    parts = [f"{counts[status]} {_counted(status, counts[status])}" for status in PROPERTY_STATUSES[:-1] if counts[status]]
    return ", ".join(parts) or "none"


def _counted(status: str, number: int) -> str:
    """The status of several checks in a word."""
    return {"holds": "hold", "note": "note" if number == 1 else "notes"}.get(status, status)


def remarks(result: TargetResult) -> Iterator[tuple[str, str]]:
    """Status and text of every check that is violated, was not run, or notes something, in this order."""
    for status in PROPERTY_STATUSES[:3]:
        for check in result.properties:
            if check.status == status:
                yield status, checked(check)


def checked(check: Property) -> str:
    """A check with what it found: "declared sensitivity: moves by more than 1"."""
    return f"{check.name}: {check.detail}" if check.detail else check.name


def proof_status(proof: Proof | None) -> str:
    """The proof witness in a word or two."""
    return "not attempted" if proof is None else proof.status


def proof_steps(proof: Proof | None) -> str:
    """On how many steps of which kind a proof that stands rests: "10 proven, 4 enumerated, 6 axioms"; empty for others."""
    if proof is None or proof.status not in ("proven", "in part"):
        return ""
    counts = Counter(step.word for step in proof.steps)
    return ", ".join(f"{counts[word]} {word}{'s' * (word == 'axiom' and counts[word] > 1)}" for word in WORDS if counts[word])


def proof_by_tests(proof: Proof | None) -> str:
    """How many steps of a proof that stands in part are shown by tests; empty for others."""
    if proof is None or proof.status != "in part":
        return ""
    tests = sum(step.word in ("enumerated", "tested") for step in proof.steps)
    return f"{tests} of {len(proof.steps)} by tests"


def proofs(report: Report) -> str:
    """How many claims got which word from the proof witness: "2 refuted, 19 in part, 3 not attempted"."""
    counts = Counter(proof_status(result.proof) for result in report.results)
    return ", ".join(f"{counts[status]} {status}" for status in PROOFS if counts[status])


def pair(attack: Attack) -> str:
    """Which of the candidate pairs the decisive runs were made on."""
    difference = attack.pair.difference or "no description"
    return difference if attack.pairs_tried == 1 else f"{difference} (the most telling of {attack.pairs_tried} pairs)"


def minimal(found: Minimal | None) -> str:
    """The smallest pair found on which the claim still fails, and what is certain of it; empty where there is none."""
    if found is None:
        return ""
    runs = f"{thousands(found.bound.counts.runs)} fresh runs" if found.bound is not None else "fresh runs"
    chance = f"at error probability {decimal(found.alpha)} of its own"
    if not found.refuted:
        return f"{found.pair.difference}; not refuted again on {runs} {chance}, so only the pair above is certain"
    least = found.bound.epsilon if found.bound is not None else None
    so = f": epsilon >= {lower(least)}" if least is not None and least > 0 else ""
    return f"{found.pair.difference}; refuted again on {runs} {chance}{so}"


def stream(report: Report, attack: Attack) -> str:
    """The seed, and the place of the runs in the tree of random streams."""
    return f"{report.settings.seed}, stream {'/'.join(map(str, attack.seed_path)) or '-'}"


def shares(result: TargetResult) -> tuple[float | None, tuple[float, float] | None]:
    """The attack's bound and the certified price, each as a share of what the claim allows of it; None where there is none."""
    attack, price, allowed = result.attack, result.price, result.claim.tested_epsilon
    found = attack.bound.epsilon if attack is not None and attack.bound is not None else None
    attack_share = nearest(found / allowed) if found is not None and allowed else None
    if price is None or price.value is None or not price.limit:
        return attack_share, None
    low, high = (end if isinstance(end, float) else nearest(end / price.limit) for end in (price.value.lower, price.value.upper))
    return attack_share, (low, high)
