"""What changed from one report to the next: verdicts, claims, prices, bounds and proofs, target by target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from dpaudit.report import wording
from dpaudit.results import Report, TargetResult, Verdict

_RANK: Final = {Verdict.REFUTED: 0, Verdict.FAILED: 1, Verdict.INCONCLUSIVE: 2, Verdict.CONSISTENT: 3, Verdict.PROVEN: 4}


@dataclass(frozen=True)
class Change:
    """One difference between two reports.

    `target` is its name, empty for what is about the whole audit; `what` is "verdict", "claim", "price", "attack", "proof",
    "target", a setting or a library; `before` and `after` are words of the reports, empty where there was nothing; `worse` says
    that a verdict fell, that a target is gone, or that the later audit was interrupted.
    """

    target: str
    what: str
    before: str
    after: str
    worse: bool = False


def changes(before: Report, after: Report) -> list[Change]:
    """Every difference between two reports that a reader may want to know; times and seeds of equal verdicts are none.

    Args:
      before: the earlier report.
      after: the later one.
    Returns:
      Settings and versions first, then targets in the order of the later report, then those that are gone. Targets are matched by
      name; of several with one name, the first with the first.
    Source: docs/ci.md, "What changed".
    Example:
      >>> from fractions import Fraction
      >>> from dpaudit.results import Settings
      >>> report = Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), results=())
      >>> changes(report, report)
      []
    """
    found = list(_whole(before, after))
    left = list(before.results)
    for result in after.results:
        earlier = next((one for one in left if one.name == result.name), None)
        if earlier is None:
            found.append(Change(result.name, "target", "", f"new, {result.verdict}"))
            continue
        left.remove(earlier)
        found += _target(earlier, result)
    return found + [Change(gone.name, "target", str(gone.verdict), "", worse=True) for gone in left]


def _whole(before: Report, after: Report) -> Iterator[Change]:
    """What differs in how the audits were made."""
    for name in ("alpha", "runs", "seconds", "power_target", "family", "data"):
        first, second = (getattr(report.settings, name) for report in (before, after))
        if first != second:
            yield Change("", name.replace("_", " "), str(first), str(second))
    for name in sorted({*dict(before.env), *dict(after.env)}):
        first, second = (dict(report.env).get(name, "") for report in (before, after))
        if first != second:
            yield Change("", name, first, second)
    if before.complete != after.complete:
        yield Change("", "complete", str(before.complete).lower(), str(after.complete).lower(), worse=not after.complete)


def _target(before: TargetResult, after: TargetResult) -> Iterator[Change]:
    """What differs in one target."""
    worse = _RANK[after.verdict] < _RANK[before.verdict]
    words = {
        "verdict": tuple(str(one.verdict) for one in (before, after)),
        "claim": (before.claim.text, after.claim.text),
        "price": (wording.priced(before.price), wording.priced(after.price)),
        "attack": (wording.attacked(before.attack), wording.attacked(after.attack)),
        "proof": (wording.proof_status(before.proof), wording.proof_status(after.proof)),
    }
    for what, (first, second) in words.items():
        if first != second:
            yield Change(after.name, what, first, second, worse=worse and what == "verdict")
