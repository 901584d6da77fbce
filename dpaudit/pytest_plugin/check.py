"""The fixture `dpaudit_check`: an audit under the test's share of the budget, and the message of a failure."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from dpaudit.errors import BudgetExceeded
from dpaudit.pytest_plugin.session import Share, limits_of_run, session_seed

if TYPE_CHECKING:
    from dpaudit.auditor.request import Given
    from dpaudit.results import Report, TargetResult

_SPENT: Final = pytest.StashKey[bool]()


@dataclass(frozen=True)
class Check:
    """A function that audits, with the `alpha` and the `seed` of this test's share."""

    item: pytest.Item = field(repr=False)
    share: Share

    @property
    def alpha(self) -> Fraction:
        """The test's part of the run's false-alarm budget."""
        return self.share.alpha

    @property
    def seed(self) -> int:
        """The root of the test's random streams."""
        return self.share.seed

    def __call__(
        self, target: Given | Sequence[Given], *, runs: int | None = None, allow_inconclusive: bool = False, **options: Any
    ) -> Report:
        """Audit a target, or several together, and fail the test unless every claim survives.

        Every target runs in a forked process of its own: one that exits, crashes or hangs fails this test, and the session goes on.
        """
        from dpaudit import audit
        from dpaudit.pytest_plugin.evidence import keep, with_references

        self.spend()
        chosen = limits_of_run(self.item.config) | ({} if runs is None else {"runs": runs}) | options
        found = audit(target, alpha=self.alpha, seed=self.seed, supervised=True, stop_early=True, **chosen)
        report = with_references(found, target, self.item)
        evidence = keep(report, self.item)
        self._note(report, evidence)
        failing = [result for result in report.results if not _passes(result, allow_inconclusive=allow_inconclusive)]
        if failing:
            told = [*(describe(result) for result in failing), *self._how_to_repeat(report, evidence)]
            pytest.fail("\n".join(told), pytrace=False)
        return report

    def spend(self) -> Share:
        """Take the share for a statistical test of one's own, once: it may raise a false alarm with probability `alpha` at most."""
        if self.item.stash.get(_SPENT, False):
            raise BudgetExceeded(
                "DPA204",
                f"{self.item.nodeid} has spent its false-alarm share. Check once per test; give several targets as one list.",
            )
        self.item.stash[_SPENT] = True
        self.item.user_properties += [("dp_alpha", str(self.alpha)), ("dp_seed", self.seed)]
        return self.share

    def _note(self, report: Report, evidence: Path | None) -> None:
        """Add properties of the test, for its JUnit file: verdicts, the least power, checks not run, the evidence."""
        verdicts = "; ".join(f"{result.name}: {result.verdict}" for result in report.results)
        self.item.user_properties.append(("dp_verdict", verdicts))
        powers = [result.power for result in report.results if result.power is not None]
        factors = [math.inf if power.epsilon is None else power.factor for power in powers]
        if known := [factor for factor in factors if factor is not None]:
            self.item.user_properties.append(("dp_power", f"{max(known):.3g} with probability {powers[0].probability:g}"))
        unseen = [
            f"{result.name}: {check.name}" for result in report.results for check in result.properties if check.status == "not run"
        ]
        if unseen:
            self.item.user_properties.append(("dp_not_run", "; ".join(unseen)))
        if evidence is not None:
            self.item.user_properties.append(("dp_evidence", evidence.name))

    def _how_to_repeat(self, report: Report, evidence: Path | None) -> list[str]:
        """Return the command that repeats this test with its share and seed, the place of its evidence, and how to replay it."""
        options = f"--dp-seed {session_seed(self.item.config)} --dp-budget {self.alpha}"
        lines = [f"  seed:     {self.seed}", f"  repeat:   pytest {shlex.quote(self.item.nodeid)} {options}"]
        if evidence is not None:
            lines.append(f"  evidence: {evidence}")
            if any(result.reference is not None and result.attack is not None for result in report.results):
                lines.append(f"  replay:   dpaudit replay {shlex.quote(str(evidence))}")
        return lines


def _passes(result: TargetResult, *, allow_inconclusive: bool) -> bool:
    """True if a result lets the test pass: no check is violated, and the audit has power unless the test allows none."""
    from dpaudit.results import Verdict

    if any(check.status == "violated" for check in result.properties):
        return False
    return result.verdict in {Verdict.PROVEN, Verdict.CONSISTENT} or (allow_inconclusive and result.verdict is Verdict.INCONCLUSIVE)


def describe(result: TargetResult) -> str:
    """Return verdict, claim and evidence of one target, as lines for the test's failure."""
    from dpaudit.report import answers, wording

    lines = [f"dpaudit: {result.name} is {result.verdict}. {answers.found(result)}"]
    repair = answers.repair(result)
    why = answers.why(result)
    told = (answers.seen(result), f"Why: {why}" if why else "", f"Repair: {repair}" if repair else "")
    lines += [f"  {text}" for text in told if text]
    lines.append(f"  claim:    {answers.claimed(result)}")
    lines.append(f"  values:   {result.values}")
    if result.source is not None:
        lines.append("  source:   {}:{}".format(*result.source))
    lines += [f"  {status + ':':9} {text}" for status, text in wording.remarks(result)]
    attack = result.attack
    if attack is not None:
        lines += [f"  pair:     {wording.pair(attack)}", f"  event:    {attack.event}"]
        lines += [f"  dataset:  {dataset}" for dataset in attack.pair.witness or ()]
        if attack.bound is not None:
            lines.append(f"  counts:   {wording.counted(attack.bound)}")
            lines.append(f"  bound:    {wording.attacked(attack)}, {wording.confidence(attack.bound)}")
        lines.append(f"  bets:     {wording.evidence(attack)}")
        if attack.minimal is not None:
            lines.append(f"  minimal:  {wording.minimal(attack.minimal)}")
            lines += [f"  dataset:  {dataset}" for dataset in attack.minimal.pair.witness or ()]
    if result.verdict == "inconclusive":
        if power := wording.power(result.power):
            lines.append(f"  power:    {power}")
        lines.append("  remedy:   more runs=, or allow_inconclusive=True if the test is not meant to have this power")
    return "\n".join(lines)
