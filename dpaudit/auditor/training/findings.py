"""What a check of a training loop found: holds, violated, or not judged and why, with what to write instead."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FALSE_ALARM: Final = 1e-9
"""Largest probability with which a check names a loop that does what was claimed; many checks need no probability at all."""


@dataclass(frozen=True)
class LoopCheck:
    """One check of a loop.

    Args:
      name: what was checked.
      status: "holds", "violated" or "not judged".
      cases: on how many steps, examples or numbers it rests.
      detail: what was seen, without a record or a gradient.
      remedy: what to write, for a violation.
      step: the first step that shows it, from 0; None where all steps together do.
      where: for a violation, the line of the loop or the module that made what is wrong.
    Example:
      >>> LoopCheck("divisor", "holds", 10).status
      'holds'
    """

    name: str
    status: str
    cases: int
    detail: str = ""
    remedy: str = ""
    step: int | None = None
    where: str = ""


def holds(name: str, cases: int, detail: str = "") -> LoopCheck:
    """A check that found nothing."""
    return LoopCheck(name, "holds", cases, detail)


def not_judged(name: str, why: str) -> LoopCheck:
    """A check that could not be made."""
    return LoopCheck(name, "not judged", 0, why)
