"""The chapter of the documentation on the papers, written from one run and nothing else."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Final

from dpaudit.dossier import KINDS, MEANINGS, Decided, Dossier, Standing
from dpaudit.report.dossier import headline
from dpaudit.report.dossier_plots import plots_of
from dpaudit.report.svg import alone

TITLES: Final = {
    "Margin guarantees": "Differentially Private Learning with Margin Guarantees (Bassily, Mohri, Suresh 2022), with its appendix",
    "Large-margin halfspaces": "Efficient Private Algorithms for Learning Large-Margin Halfspaces (Nguyen and others 2020)",
    "Public data": "Public-data Assisted Private Stochastic Optimization (Ullah, Menart, Bassily, Guzman, Arora 2024)",
    "Kernels": "Differentially Private Learning with Kernels (Jain, Thakurta 2013)",
}
"""The papers by the names that items give them."""

PLOTS: Final = {"A10": "noise", "claimed": "claimed", "sandwich": "sandwich"}
"""Files of the plots, papers_NAME.svg, by their names in the dossier."""

_START: Final = """# The papers, audited

The learners of this project are from four papers. They make {count} claims about privacy, some in theorems, some in the step of a
proof, some in what an algorithm takes for granted. One command decides all of them, by witnesses that it computes while it runs:

```console
$ dpaudit audit papers                           # a table of all claims, and what was found about those that do not simply hold
$ dpaudit audit papers --report out --jobs 2     # also out/index.html and out/papers.json
```

**{headline}.**

This page was written from such a run ([papers.json](../benchmarks/results/papers.json), {runs:,} runs for each attack,
{seconds:.0f} seconds of processor time) by `python -m proofs.papers`, and holds no figure that is not from it.

A paper that is wrong in a step can be right in its theorem, and none of what follows takes away from the ideas that these papers
brought. Most findings are what a change from mathematics to programs brings to light: constants, ranges, floats, what is public.
The exit code of the command is 1 as long as a claim fails as it was written, as it is for the broken mechanisms of
[the zoo](catalogue.md#the-zoo); 3 if one is undecided; else 0.

## How an item is decided

Each witness is about the claim as written, about a step of the argument that is printed for it, or about the correction, and it
confirms or refutes what it is about. The verdict follows from that alone:

| verdict | meaning |
|---|---|
{meanings}

What is written here in words is taken for granted until the witnesses say otherwise: an item whose verdict is not the expected one,
whose correction is refuted, or whose proof is stale becomes undecided, and says so in the place of its sentence. Attacks refute a
claim that holds with probability at most 1e-6 each.

| witness | what it is |
|---|---|
{kinds}

## All claims

"""


def chapter(dossier: Dossier) -> str:
    """The chapter."""
    present = {item.standing for item in dossier.items}
    text = _START.format(
        count=len(dossier.items),
        headline=headline(dossier),
        runs=dossier.runs,
        seconds=sum(seconds for _, seconds in dossier.seconds),
        meanings="\n".join(f"| {value} | {meaning} |" for value, meaning in MEANINGS.items() if value in present),
        kinds="\n".join(f"| {kind} | {meaning} |" for kind, meaning in KINDS.items()),
    )
    rows = ["| item | place | promised | verdict | the number that decides |", "|---|---|---|---|---|"]
    rows += [
        f"| [{item.key}](#{item.key.lower()}) | {item.place} | {item.promised} | {item.standing} | {item.number} |"
        for item in dossier.items
    ]
    drawn = plots_of(dossier)
    plots = [
        f"![{drawn[name].title}](papers_{file}.svg)\n\n{drawn[name].caption}\n" for name, file in PLOTS.items() if name in drawn
    ]
    parts = [text + "\n".join(rows) + "\n", "## In pictures\n", *plots]
    for paper, items in groupby(dossier.items, key=lambda item: item.paper):
        parts += [f"## {paper}\n", f"{TITLES[paper]}.\n", *map(_section, items)]
    return "\n".join(parts)


def _section(item: Decided) -> str:
    """Everything about one item."""
    lines = [f"### {item.key}\n", f"{item.place}: **{item.standing}**.\n"]
    lines.append(f"- *Promised.* {item.promised}")
    lines.append(f"- *Found.* {item.says}")
    if item.correction:
        lines.append(f"- *What is true.* {item.correction}")
    places = [place.partition(":") for place in item.code]
    lines.append("- *In the code.* " + ", ".join(f"[`{name}`](../{path})" for path, _, name in places))
    counts = Counter(witness.kind for witness in item.witnesses)
    lines.append(
        "- *Witnesses.* " + ", ".join(f"{count} {kind if count == 1 else _many(kind)}" for kind, count in counts.items()) + ":"
    )
    for witness in item.witnesses:
        name = f" `{witness.name}`" if witness.name else ""
        answer = "confirms" if witness.holds else "refutes"
        lines.append(f"  - {witness.kind}{name} {answer} the {witness.about}: {witness.says.rstrip('.')}.")
    return "\n".join(lines) + "\n"


def _many(kind: str) -> str:
    """A kind of witness in the plural."""
    return "price intervals" if kind == "price" else f"{kind}s"


def write(dossier: Dossier, folder: Path) -> None:
    """Write the chapter and its drawings."""
    undecided = [item.key for item in dossier.items if item.standing is Standing.UNDECIDED]
    if undecided:
        raise ValueError(f"{', '.join(undecided)} undecided; nothing was written")
    (folder / "papers.md").write_text(chapter(dossier), encoding="utf-8")
    for name, plot in plots_of(dossier).items():
        (folder / f"papers_{PLOTS[name]}.svg").write_text(alone(plot.svg), encoding="utf-8")
