"""Two reports side by side: what changed, as a page, as Markdown for a summary, and as annotations of a workflow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from dpaudit.report import wording
from dpaudit.report.changes import Change, Compared, compared, disclosures, of_the_audits
from dpaudit.report.difference_plot import interval_plot
from dpaudit.report.github import row, workflow_command
from dpaudit.report.reading import TERMS
from dpaudit.results import Report

_COUNTED: Final = {
    "worse": ("verdict worse", "verdicts worse"),
    "gone": ("target gone", "targets gone"),
    "better": ("verdict better", "verdicts better"),
    "new": ("new target", "new targets"),
    "changed": ("more target changed", "more targets changed"),
}
"""Ways in which a target changes, in the order in which they want attention, with the words for one and for several."""


def headline(before: Report, after: Report) -> str:
    """How many targets changed in which way: "1 verdict worse, 2 new targets"."""
    counts = Counter(map(_way, _ordered(compared(before, after))))
    parts = [f"{counts[way]} {words[counts[way] > 1]}" for way, words in _COUNTED.items() if counts[way]]
    return ", ".join(parts) or "No target changed"


def to_html(before: Report, after: Report) -> str:
    """What changed, as a page (WCAG 2.2)."""
    from dpaudit.report.page import template

    found = compared(before, after)
    verdicts = {result.verdict for one in found for result in (one.before, one.after) if result is not None}
    targets = []
    for place, one in enumerate(_ordered(found), start=1):
        key = f"t{place}"
        plot = None if one.before is None or one.after is None else interval_plot(one.before, one.after, key)
        targets.append((key, one, plot))
    return template("difference.html.j2").render(
        version=after.version,
        headline=headline(before, after),
        audits=list(of_the_audits(before, after)),
        targets=targets,
        disclosures=disclosures(before, after),
        unchanged=[one.name for one in found if not one.changes],
        verdicts=[verdict for verdict in wording.ORDER if verdict in verdicts],
        before=before,
        after=after,
        words=wording,
        terms=TERMS,
    )


def to_summary(before: Report, after: Report) -> str:
    r"""What changed, as Markdown for the summary of a job or for a comment."""
    told = [change for one in _ordered(compared(before, after)) for change in one.changes] + list(of_the_audits(before, after))
    lines = [f"## {headline(before, after)}"]
    if told:
        lines += ["", "| target | what | before | after |", "|---|---|---|---|", *map(_row, told)]
    if shown := disclosures(before, after):
        lines += ["", *shown]
    return "\n".join(lines) + "\n"


def to_annotations(before: Report, after: Report) -> str:
    """What is worse, as workflow commands (GitHub, "Workflow commands for GitHub Actions")."""
    told = [(one.after, change) for one in compared(before, after) for change in one.changes]
    told += [(None, change) for change in of_the_audits(before, after)]
    lines = []
    for result, change in told:
        if change.worse:
            first, second = change.sides
            path, line = (None if result is None else result.source) or (None, None)
            said = f"{change.what}: {first} -> {second}"
            lines.append(workflow_command("error", said, title=f"{change.target or 'audit'} is worse", path=path, line=line))
    return "".join(lines)


def _way(one: Compared) -> str:
    """In which way a target changed."""
    if one.before is None or one.after is None:
        return "new" if one.before is None else "gone"
    if one.before.verdict is one.after.verdict:
        return "changed"
    return "worse" if any(change.worse for change in one.changes) else "better"


def _ordered(found: Iterable[Compared]) -> list[Compared]:
    """The targets that changed: changes of the verdict first, those for the worse before all others."""
    return sorted((one for one in found if one.changes), key=lambda one: list(_COUNTED).index(_way(one)))


def _row(change: Change) -> str:
    """One change in the table."""
    return row(change.target or "all", f"**{change.what}, worse**" if change.worse else change.what, *change.sides)
