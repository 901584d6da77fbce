"""What a report has to say in a CI: one finding a witness that speaks against a claim, with the line of source it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from dpaudit.exact import instance_of
from dpaudit.report import answers, wording
from dpaudit.results import Report, TargetResult, Verdict

RULES: Final = {
    "DPA-E01": "The attack refuted a privacy claim.",
    "DPA-C01": "The releases that a function logs cost more than its claim.",
    "DPA-S01": "A sensitivity or another law that a claim rests on is violated.",
    "DPA-P01": "A proof is refuted, stale or does not stand.",
    "DPA-T01": "A target could not be loaded or run, so nothing is known about its claim.",
    "DPA-I01": "An audit could have missed a violation.",
    "DPA-N01": "A check was not run, so nothing is known of what it looks at.",
    "DPA-N02": "A check noted something that does not speak against the claim.",
}
"""What a finding may be about; names stay what they are, since CI systems recognise findings by them."""


@dataclass(frozen=True)
class Finding:
    """Something that a report has to say about one target.

    `rule` is one of `RULES`, `level` "error", "warning" or "note", `text` one or two sentences; `path` and `line` are where the
    target's function stands, as the report has it: from the folder of the audit, or from where it is imported; None where that is
    not known.
    """

    target: str
    kind: str
    rule: str
    level: str
    text: str
    path: str | None
    line: int | None


def findings(report: Report) -> list[Finding]:
    """Every finding of a report, in the order of its targets."""
    results = instance_of(report, Report, "report").results
    return [
        Finding(result.name, result.claim.kind, rule, level, text, *(result.source or (None, None)))
        for result in results
        for rule, level, text in told(result)
    ]


def numbered(names: Iterable[str]) -> Iterator[str]:
    """Each name of a finding as what it is recognised by from one run to the next: a second one of its name by its number."""
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name}\n{seen[name]}"


def told(result: TargetResult) -> Iterator[tuple[str, str, str]]:
    """Rule, level and text of each finding about one target."""
    if result.verdict is Verdict.FAILED:
        yield "DPA-T01", "error", wording.sentence(result.failure or result.summary)
        yield from _witnesses(result)
        yield from _remarks(result)
        return
    witnesses = list(_witnesses(result))
    yield from witnesses
    if result.verdict is Verdict.REFUTED and not any(level == "error" for _, level, _ in witnesses):
        yield "DPA-E01", "error", " ".join(filter(None, (answers.found(result), _repair(result))))
    if result.verdict is Verdict.INCONCLUSIVE:
        yield "DPA-I01", "warning", " ".join(filter(None, (answers.found(result), _repair(result))))
    yield from _remarks(result)


def _remarks(result: TargetResult) -> Iterator[tuple[str, str, str]]:
    """What checks say that is nothing against the claim: those that were not run, and notes."""
    for status, text in wording.remarks(result):
        if status == "not run":
            yield "DPA-N01", "warning", f"{result.name}: a check was not run. {wording.sentence(text)}"
        if status == "note":
            yield "DPA-N02", "note", f"{result.name}: {wording.sentence(text)}"


def _witnesses(result: TargetResult) -> Iterator[tuple[str, str, str]]:
    """What each witness has against the claim."""
    claim = f"{wording.promised(result)} under {result.claim.adjacency}"
    if result.rejected_in_family:
        told = (f"{result.name} claims {claim}.", answers.found(result), answers.seen(result), _repair(result))
        yield "DPA-E01", "error", " ".join(filter(None, told))
    if result.price is not None and result.price.status == "above" and result.price.value is not None:
        least = wording.lower(result.price.value.lower)
        yield "DPA-C01", "error", f"{result.name} claims {claim}; the {result.price.quantity} of its releases is at least {least}."
    for check in result.properties:
        if check.status == "violated":
            yield "DPA-S01", "error", f"{result.name} claims {claim}. {wording.sentence(f'violated is {wording.checked(check)}')}"
    if result.proof is not None and result.proof.status in {"refuted", "stale", "unknown"}:
        level = "error" if result.proof.status == "refuted" else "warning"
        reason = wording.sentence(result.proof.reason) or wording.PROOFS[result.proof.status]
        yield "DPA-P01", level, f"The proof {result.proof.name} of {result.name} is {result.proof.status}. {reason}"


def _repair(result: TargetResult) -> str:
    """Why a claim fails and what to do, where the evidence says it."""
    told = (("Why", answers.why(result)), ("Repair", answers.repair(result)))
    return " ".join(f"{word}: {text}" for word, text in told if text)
