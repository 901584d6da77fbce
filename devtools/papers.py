"""`python -m devtools.papers [--run]`: write the report on the papers and its drawings from the committed run, or a new one."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Final

from devtools.survey import ROOT
from dpaudit.cli.dossiers import decided_dossier
from dpaudit.dossier import KINDS, MEANINGS, Decided, Dossier, Standing
from dpaudit.report.dossier import from_json, headline, second_line, to_json, to_markdown
from dpaudit.report.dossier_plots import plots_of
from dpaudit.report.svg import alone

RESULTS: Final = ROOT / "benchmarks" / "results"
RUN: Final = RESULTS / "papers.json"

TITLES: Final = {
    "Margin guarantees": "Differentially Private Learning with Margin Guarantees (Bassily, Mohri, Suresh 2022), with its appendix",
    "Large-margin halfspaces": "Efficient Private Algorithms for Learning Large-Margin Halfspaces (Nguyen and others 2020)",
    "Public data": "Public-data Assisted Private Stochastic Optimization (Ullah, Menart, Bassily, Guzman, Arora 2024)",
    "Kernels": "Differentially Private Learning with Kernels (Jain, Thakurta 2013)",
}
"""The papers by the names that items give them."""

PLOTS: Final = {"A10": "noise", "claimed": "claimed", "sandwich": "sandwich"}
"""Files of the plots, papers_NAME.svg, by their names in the dossier."""

_START: Final = """# Audited papers: the committed run

**{headline}.** {second}: no verdict on the papers.

Written from [papers.json](papers.json) by `python -m devtools.papers`: {runs:,} runs for each attack, {seconds:.0f} seconds of
processor time. `dpaudit audit papers` makes such a run. [The papers](../../docs/papers.md) explains verdicts and
witnesses. An attack refutes a claim that holds with probability at most 1e-6.

| verdict | meaning |
|---|---|
{meanings}

| witness | what it is |
|---|---|
{kinds}

## All claims

"""


def report(dossier: Dossier) -> str:
    """Return the report on a run as Markdown."""
    present = {item.standing for item in dossier.items}
    text = _START.format(
        headline=headline(dossier),
        second=second_line(dossier),
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
    """Return everything about one item."""
    lines = [f"### {item.key}\n", f"{item.place}: **{item.standing}**.\n"]
    lines.append(f"- *Quoted* ({item.kind}). \u201c{item.quote}\u201d")
    lines.append(f"- *In plain words.* {item.promised}")
    lines.append(f"- *Found.* {item.says}")
    if item.correction:
        lines.append(f"- *To add.* {item.correction}")
    if item.repair:
        lines.append(f"- *Smallest repair.* {item.repair.change} *Price.* {item.repair.price} *Theorem.* {item.repair.theorem}")
    places = [place.partition(":") for place in item.code]
    lines.append("- *In the code.* " + ", ".join(f"[`{name}`](../../{path})" for path, _, name in places))
    counts = Counter(witness.kind for witness in item.witnesses)
    lines.append(
        "- *Witnesses.* " + ", ".join(f"{count} {kind if count == 1 else _plural(kind)}" for kind, count in counts.items()) + ":"
    )
    for witness in item.witnesses:
        name = f" `{witness.name}`" if witness.name else ""
        answer, where = "confirms" if witness.holds else "refutes", f" ({witness.where})" if witness.where else ""
        lines.append(f"  - {witness.kind}{name} {answer} the {witness.about}: {witness.says.rstrip('.')}{where}.")
    return "\n".join(lines) + "\n"


def _plural(kind: str) -> str:
    """Return a kind of witness in the plural."""
    return "price intervals" if kind == "price" else f"{kind}s"


def write(dossier: Dossier, folder: Path) -> None:
    """Write the report and its drawings into a folder; refuse a run in which an item is undecided."""
    undecided = [item.key for item in dossier.items if item.standing is Standing.UNDECIDED]
    if undecided:
        raise ValueError(f"{', '.join(undecided)} undecided; nothing was written")
    (folder / "papers.md").write_text(report(dossier), encoding="utf-8")
    (folder / "papers_table.md").write_text(to_markdown(dossier), encoding="utf-8")
    for name, plot in plots_of(dossier).items():
        (folder / f"papers_{PLOTS[name]}.svg").write_text(alone(plot.svg), encoding="utf-8")


if __name__ == "__main__":
    if "--run" in sys.argv[1:]:
        RUN.write_text(to_json(decided_dossier("papers")), encoding="ascii")
    write(from_json(RUN.read_bytes()), RESULTS)
