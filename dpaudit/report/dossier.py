"""A dossier in its forms: JSON, the source of truth; text for a terminal and a page are functions of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from dpaudit.codec import check_names, decode, encode
from dpaudit.dossier import KINDS, MEANINGS, Decided, Dossier, Kind, Standing, Witness
from dpaudit.errors import InvalidArgument

if TYPE_CHECKING:
    from rich.console import RenderableType

SCHEMA: Final = "dossier-2"

SHADES: Final = {
    Standing.HOLDS: "proven",
    Standing.POINTS: "consistent",
    Standing.OTHERWISE: "consistent",
    Standing.CONDITION: "inconclusive",
    Standing.UNSHOWN: "inconclusive",
    Standing.FAILS: "refuted",
    Standing.UNDECIDED: "failed",
}
"""The verdict of an audit whose colour a standing has."""

_COLOURS: Final = {
    "proven": "bold green",
    "consistent": "green",
    "inconclusive": "yellow",
    "refuted": "bold red",
    "failed": "bold magenta",
}


def to_json(dossier: Dossier) -> str:
    """The dossier as a JSON document; `evidence` depends on code and runs alone."""
    items = [encode(item, Decided) for item in dossier.items]
    document = {
        "schema": SCHEMA,
        "version": dossier.version,
        "seconds": {key: round(value, 2) for key, value in dossier.seconds},
        "evidence": {"name": dossier.name, "runs": dossier.runs, "items": items},
    }
    return json.dumps(document, sort_keys=True, indent=1, allow_nan=False) + "\n"


def from_json(text: str | bytes) -> Dossier:
    """The dossier that a JSON document holds."""
    try:
        document: Any = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgument("DPA501", "this is not a dossier: it is not JSON.") from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise InvalidArgument("DPA501", "this is not a dossier.")
    check_names(document, {"schema", "version", "seconds", "evidence"}, "the dossier")
    evidence = document["evidence"]
    check_names(evidence, {"name", "runs", "items"}, "evidence")
    items = decode(evidence["items"], tuple[Decided, ...], "evidence.items")
    seconds = tuple(sorted((str(key), float(value)) for key, value in document["seconds"].items()))
    return Dossier(str(evidence["name"]), int(evidence["runs"]), items, seconds, str(document["version"]))


def headline(dossier: Dossier) -> str:
    """How many of the claims that the texts state have which standing, in one sentence."""
    stated = [item for item in dossier.items if item.kind is Kind.STATED]
    return f"Of {_counted(stated, 'stated claim')}" if stated else "No claim was decided"


def second_line(dossier: Dossier) -> str:
    """The same for readings and implementations, "" where there are none."""
    others = [item for item in dossier.items if item.kind is not Kind.STATED]
    return f"Of {_counted(others, 'reading or implementation')}" if others else ""


def _counted(items: Sequence[Decided], noun: str) -> str:
    """A number of items, and how many of them have which standing."""
    noun = noun if len(items) == 1 else {"stated claim": "stated claims"}.get(noun, "readings and implementations")
    counts = {value: sum(item.standing is value for item in items) for value in Standing}
    told = [f"{count} {_plural(value) if count != 1 else value}" for value, count in counts.items() if count]
    return f"{len(items)} {noun} {', '.join(told)}"


def _plural(value: Standing) -> str:
    """A standing of several claims."""
    first, _, rest = value.partition(" ")
    plural = {"holds": "hold", "fails": "fail", "does": "do", "needs": "need", "undecided": "are undecided"}[first]
    return f"{plural} {rest}".strip()


_HEADER: Final = ("item", "quotation", "kind", "witnesses of the claim and its steps", "range or points", "verdict")


def to_markdown(dossier: Dossier) -> str:
    """The dossier as one table: item, quotation, kind, witness, range, verdict."""
    rows = [_HEADER, ("---",) * len(_HEADER)]
    for item in dossier.items:
        deciding = [one for one in item.witnesses if one.about in ("claim", "step")]
        ranges = list(dict.fromkeys(one.where for one in deciding if one.where))
        quoted = f"{item.place}: \u201c{item.quote}\u201d"
        witnesses = "; ".join(map(_told, deciding))
        rows.append((item.key, quoted, item.kind, witnesses, "; ".join(ranges), f"{item.standing}: {item.number}"))
    lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join((f"# {headline(dossier)}", "", f"{second_line(dossier)}.", "", *lines)) + "\n"


def _told(witness: Witness) -> str:
    """A deciding witness in a cell: its kind and name, and what it does to the claim or step."""
    name = f" ({witness.name})" if witness.name else ""
    return f"{witness.kind}{name} {'confirms' if witness.holds else 'refutes'} the {witness.about}"


def to_text(dossier: Dossier, *, width: int = 100, colour: bool = False, ascii_only: bool = False) -> str:
    """The dossier as text: a table of all claims, then what was found about each that does not simply hold."""
    from dpaudit.report.terminal import rendered

    width = max(width, 40)
    text = rendered(_parts(dossier, ascii_only=ascii_only), width=width, colour=colour)
    return text.encode("ascii", "backslashreplace").decode("ascii") if ascii_only else text


def _parts(dossier: Dossier, *, ascii_only: bool) -> Iterator[RenderableType]:
    """What is printed, from top to bottom."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    if dossier.items:
        table = Table(box=box.ASCII2 if ascii_only else box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        for name in ("claim", "promised", "found", "verdict"):
            table.add_column(name, overflow="fold")
        for item in sorted(dossier.items, key=lambda item: item.kind is not Kind.STATED):
            style = _COLOURS[SHADES[item.standing]]
            table.add_row(item.key, item.promised, item.number, Text(item.standing, style=style))
        yield table
    for item in dossier.items:
        if item.standing is not Standing.HOLDS or len(dossier.items) == 1:
            yield from _section(item)
    yield f"{headline(dossier)}."
    if told := second_line(dossier):
        yield f"{told}; no verdict on the papers."
    for value, meaning in MEANINGS.items():
        if any(item.standing is value for item in dossier.items):
            yield f"{value}: {meaning}"


def _section(item: Decided) -> Iterator[RenderableType]:
    """What was found about one item."""
    from rich.table import Table
    from rich.text import Text

    yield Text.assemble((item.key, "bold"), f" {item.paper}, {item.place}: ", (item.standing, _COLOURS[SHADES[item.standing]]))
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    repair = item.repair
    lines = (
        ("quoted", f'"{item.quote}" ({item.kind})'),
        ("promised", item.promised),
        ("found", item.says),
        ("to add", item.correction),
        ("repair", repair.change if repair else ""),
        ("price", repair.price if repair else ""),
        ("survives", repair.theorem if repair else ""),
        ("code", ", ".join(item.code)),
    )
    for label, text in lines:
        if text:
            grid.add_row(f"  {label}", text)
    yield grid


def to_html(dossier: Dossier) -> str:
    """The dossier as a page that loads nothing and runs nothing."""
    from dpaudit.report.dossier_plots import plots_of
    from dpaudit.report.page import template

    present = {item.standing for item in dossier.items}
    papers = [
        (f"{paper}: {name}", chosen)
        for paper, items in ((paper, list(items)) for paper, items in groupby(dossier.items, key=lambda item: item.paper))
        for name, chosen in (
            ("stated", [item for item in items if item.kind is Kind.STATED]),
            ("what a programmer must add", [item for item in items if item.kind is not Kind.STATED]),
        )
        if chosen
    ]
    kinds = {witness.kind for item in dossier.items for witness in item.witnesses}
    return template("dossier.html.j2").render(
        dossier=dossier,
        version=dossier.version,
        headline=headline(dossier),
        second=second_line(dossier),
        papers=papers,
        plots=list(plots_of(dossier).values()),
        meanings={value: meaning for value, meaning in MEANINGS.items() if value in present},
        kinds={kind: meaning for kind, meaning in KINDS.items() if kind in kinds},
        shades=SHADES,
        runs=f"{dossier.runs:,}",
    )
