"""The progress of an audit while it runs, and what is left of one that was interrupted."""

from __future__ import annotations

from dataclasses import dataclass

from dpaudit.results import Report


@dataclass(frozen=True)
class Progress:
    """How far an audit is, reported after every chunk of runs.

    Args:
      target: name of the target under audit.
      position: its place among the targets, from 0.
      count: how many targets there are.
      stage: "checks", "pilot", "betting", "bound" or "done".
      done: runs of this target so far.
      planned: runs of this target in all; None while a time budget has not been turned into runs yet.
      log10_wealth: wealth of the bets against the claim, as a base-10 logarithm.
      log10_threshold: where it refutes the claim.
      before: how many other targets are done, parts of them included; None where targets take turns, and all before this one are.
    Source: docs/auditing.md, "Stages".
    Example:
      >>> Progress("count", 0, 2, "pilot", 500, 1000, 0.1, 1.6).fraction
      0.25
    """

    target: str
    position: int
    count: int
    stage: str
    done: int
    planned: int | None
    log10_wealth: float
    log10_threshold: float
    before: float | None = None

    @property
    def share(self) -> float:
        """Share of this target that is done."""
        return 1.0 if self.stage == "done" else min(1.0, self.done / self.planned) if self.planned else 0.0

    @property
    def fraction(self) -> float:
        """Share of the whole audit that is done, each target counted alike."""
        return ((self.position if self.before is None else self.before) + self.share) / self.count


class AuditInterrupted(KeyboardInterrupt):
    """An audit was interrupted; a KeyboardInterrupt that carries what was finished.

    Args:
      report: the finished results, `complete` False; claims that were not finished count as not refuted.
    Source: docs/auditing.md, "Seeds, chunks and workers".
    Example:
      >>> from fractions import Fraction
      >>> from dpaudit.results import Report, Settings
      >>> AuditInterrupted(Report(Settings(alpha=Fraction(1, 20), runs=1000, seed=0), (), complete=False)).report.exit_code
      3
    """

    def __init__(self, report: Report) -> None:
        super().__init__("the audit was interrupted")
        self.report = report
