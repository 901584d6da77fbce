"""What changed from one report to the next: verdicts, claims, prices, bounds, power, proofs and findings, target by target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from dpaudit.exact import instance_of
from dpaudit.report import wording
from dpaudit.report.findings import numbered, told
from dpaudit.results import Report, TargetResult, Values, Verdict

_RANK: Final = {Verdict.REFUTED: 0, Verdict.FAILED: 1, Verdict.INCONCLUSIVE: 2, Verdict.CONSISTENT: 3, Verdict.PROVEN: 4}


@dataclass(frozen=True)
class Change:
    """One difference between two reports.

    `target` is its name, empty for what is about the whole audit; `what` is "verdict", "values", "claim", "price", "attack",
    "power", "proof", "finding", "target", a setting or a library; `before` and `after` are words of the reports, empty where there
    was nothing; `worse` says that a verdict fell, that a target is gone, or that the later audit was interrupted.
    """

    target: str
    what: str
    before: str
    after: str
    worse: bool = False

    @property
    def about(self) -> str:
        """What it is about: "count: verdict", "runs"."""
        return f"{self.target}: {self.what}" if self.target else self.what

    @property
    def sides(self) -> tuple[str, str]:
        """Both sides in words, those with nothing too."""
        return self.before or "nothing", self.after or "gone"


@dataclass(frozen=True)
class Compared:
    """One target in two reports: what was found about it, None in a report that has no such target, and what differs."""

    name: str
    before: TargetResult | None
    after: TargetResult | None
    changes: tuple[Change, ...]


def changes(before: Report, after: Report) -> list[Change]:
    """Every difference between two reports that a reader may want to know; times and seeds of equal verdicts are none."""
    return [*of_the_audits(before, after), *(change for one in compared(before, after) for change in one.changes)]


def compared(before: Report, after: Report) -> list[Compared]:
    """Every target of two reports, those that did not change too, in the order of `changes`."""
    found, left = [], list(before.results)
    for result in after.results:
        earlier = next((one for one in left if one.name == result.name), None)
        if earlier is None:
            found.append(Compared(result.name, None, result, (Change(result.name, "target", "", f"new, {result.verdict}"),)))
            continue
        left.remove(earlier)
        found.append(Compared(result.name, earlier, result, tuple(_target(earlier, result))))
    gone = [Change(one.name, "target", str(one.verdict), "", worse=True) for one in left]
    return found + [Compared(one.name, one, None, (change,)) for one, change in zip(left, gone, strict=True)]


def of_the_audits(before: Report, after: Report) -> Iterator[Change]:
    """What differs in how the audits were made."""
    for name in ("alpha", "runs", "seconds", "power_target", "family", "data", "show_values", "stop_early"):
        first, second = (getattr(instance_of(report, Report, "report").settings, name) for report in (before, after))
        if first != second:
            yield Change("", name.replace("_", " "), _setting(first), _setting(second))
    for name in sorted({*dict(before.env), *dict(after.env)}):
        first, second = (dict(report.env).get(name, "") for report in (before, after))
        if first != second:
            yield Change("", name, first, second)
    if before.complete != after.complete:
        yield Change("", "complete", str(before.complete).lower(), str(after.complete).lower(), worse=not after.complete)


def disclosures(before: Report, after: Report) -> list[str]:
    """Where values of the data stand in a report of two, a sentence each; none where they are not shown."""
    found = [(which, result.values) for which, one in (("earlier", before), ("later", after)) for result in one.results]
    return [f"In the {which} report {said}." for which, said in dict.fromkeys(found) if said is not Values.HIDDEN]


def _setting(value: Fraction | str | int | None) -> str:
    """A setting in words; nothing where it was not given."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return wording.decimal(value) if isinstance(value, Fraction) else "" if value is None else str(value)


def _target(before: TargetResult, after: TargetResult) -> Iterator[Change]:
    """What differs in one target."""
    worse = _RANK[after.verdict] < _RANK[before.verdict]
    later = _words(after)
    for what, first in _words(before).items():
        # An attack that won early says nothing of its power, which is then no loss.
        if first != later[what] and (what != "power" or (first and later[what])):
            yield Change(after.name, what, first, later[what], worse=worse and what == "verdict")
    was, now = _findings(before), _findings(after)
    for name in {**was, **now}:
        if (name in was) != (name in now):
            yield Change(after.name, "finding", was.get(name, ""), now.get(name, ""))


def _findings(result: TargetResult) -> dict[str, str]:
    """The findings about a target, with their rules, by what stays of them when figures change."""
    found = [(rule, f"{rule} {text}") for rule, _, text in told(result)]
    return dict(zip(numbered(rule for rule, _ in found), (text for _, text in found), strict=True))


def _words(result: TargetResult) -> dict[str, str]:
    """What is compared of a target, in words of the report."""
    return {
        "verdict": str(result.verdict),
        "values": str(result.values),
        "claim": result.claim.text,
        "price": wording.priced(result.price),
        "attack": wording.attacked(result.attack),
        "power": wording.detectable(result.attack),
        "proof": wording.proof_status(result.proof),
    }
