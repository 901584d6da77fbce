"""How a report is to be read: what its words mean, how sure it is, what it leaves open, and what it says about a release."""

from __future__ import annotations

from collections import Counter
from typing import Final

from dpaudit.report import wording
from dpaudit.results import Report, Verdict

TERMS: Final = {
    "Claim": "One record, changed as stated, alters the probability of any outcome by at most e^epsilon (2.7 times at 1).",
    "Attack": "Runs on two datasets that differ in one record. A claim is refuted if the outputs tell them apart too well.",
    "Price": "The certified privacy loss of the noise that a function reports.",
    "Proof": "A checked argument from source code to claim.",
}
"""What the witnesses beside a verdict are, and what they said."""

SEVERAL: Final = "Claims about one kind of change add up, 1 and 1 to 2; convert others: replaced = removed + added."
"""What several releases cost together: one record added or removed and one with other values are not the same change."""

RELEASE: Final = ("May I release it?", "Several releases:")
"""Labels of the closing lines for someone who wants to release what was audited."""


def terms(report: Report) -> dict[str, str]:
    """What claim, attack, price and proof mean, a sentence or two each, with what prices and proofs said in all."""
    total = len(report.results)
    prices = Counter(one.price.status for one in report.results if one.price is not None and one.price.value is not None)
    found = Counter(one.proof.status for one in report.results if one.proof is not None)
    priced = _said({f"{one} the claim": prices[one] for one in ("within", "above")} | {"undecided": prices["undecided"]}, total)
    claim, attack, price, proof = TERMS.values()
    if any(one.claim.tested_delta for one in report.results):
        claim = f"{claim[:-1]}, delta aside."
    if found["in part"]:
        proof = f'{proof[:-1]}; "in part": some steps rest on tests.'
    told = claim, attack, f"{price} {priced}.", f"{proof} {_said({one: found[one] for one in wording.PROOFS}, total)}."
    return dict(zip(TERMS, told, strict=True))


def closing(report: Report) -> dict[str, str]:
    """What holds for all claims of a report, by what a reader asks; empty where nothing was audited."""
    verdicts = {result.verdict for result in report.results}
    told = {}
    if any(result.attack for result in report.results):
        told["How sure:"] = wording.false_alarm(report)
    if Verdict.CONSISTENT in verdicts:
        told["Consistent:"] = wording.CONSISTENT
    if verdicts & {Verdict.CONSISTENT, Verdict.INCONCLUSIVE}:
        told["Not looked at:"] = wording.NOT_COVERED
    if verdicts - {Verdict.FAILED}:
        told |= dict(zip(RELEASE, (_may_release(verdicts), SEVERAL), strict=True))
    return told


def _said(counts: dict[str, int], total: int) -> str:
    """How many of all have a witness, and what it says: "6 of 12 have one, all in part", "None here"."""
    said = {word: count for word, count in counts.items() if count}
    if not said:
        return "None here"
    count = sum(said.values())
    start = f"{count} of {total} {'has' if count == 1 else 'have'} one"
    if len(said) == 1:
        return f"{start}, {'all ' if count > 1 else ''}{next(iter(said))}"
    return f"{start}: {', '.join(f'{count} {word}' for word, count in said.items())}"


def _may_release(verdicts: set[Verdict]) -> str:
    """What the verdicts say to someone who wants to release what was audited."""
    words = {
        Verdict.REFUTED: "Refuted: no, repair it and audit again.",
        Verdict.FAILED: "Failed: no, nothing is known of it.",
        Verdict.INCONCLUSIVE: "Inconclusive: not yet.",
        Verdict.CONSISTENT: "Consistent: if your policy accepts its epsilon without full proof.",
        Verdict.PROVEN: "Proven: if your policy accepts its epsilon.",
    }
    return " ".join(text for verdict, text in words.items() if verdict in verdicts)
