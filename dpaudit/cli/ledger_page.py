"""`dpaudit ledger page` and `dpaudit ledger watch`: a ledger to look at."""

from __future__ import annotations

import itertools
import time
from typing import Any, Final

import click

from dpaudit.cli.console import emit, emit_json, json_option, say
from dpaudit.errors import DpauditError
from dpaudit.exact import outward

_BAR: Final = 30
"""Letters of a bar."""


@click.command("page", short_help="Write a page about a ledger.")
@click.argument("place", metavar="LEDGER")
@click.option("--output", metavar="FILE.html", help="Where to write the page.")
@click.option("--plan", nargs=2, multiple=True, metavar="SCOPE EXPRESSION", help="A planned release to price; may be repeated.")
@click.option("--against", metavar="ANCHORS", help="A file or server that `dpaudit ledger anchor` wrote to.")
@json_option
def page(*, place: str, output: str | None, plan: tuple[tuple[str, str], ...], against: str | None, as_json: bool) -> None:
    """Write one offline page about the LEDGER: what is left, who spent on what, planned releases, and the state of the chain.

    Code 5 if the ledger is not intact; the page says why.
    """
    from dpaudit.cli.expressions import loss_of
    from dpaudit.ledger import anchors_of, overview
    from dpaudit.report import write_text
    from dpaudit.report.ledger_page import ledger_html

    if output is None and not as_json:
        raise click.UsageError("give --output FILE.html, or --json.")
    planned = [(scope, loss_of(expression)) for scope, expression in plan]
    document = overview(place, planned=planned, anchors=[] if against is None else anchors_of(against))
    if output is not None:
        write_text(ledger_html(document), output)
        say(f"written: {output}")
    if as_json:
        emit_json({"overview": document})
    if document["chain"]["problems"] or document["chain"]["against"]:
        from dpaudit.results import EXIT_CODES

        raise click.exceptions.Exit(EXIT_CODES["ledger"])


@click.command("watch", short_help="Show a ledger again and again.")
@click.argument("place", metavar="LEDGER")
@click.option("--every", type=click.FloatRange(min=0.2), default=2.0, show_default=True, metavar="SECONDS", help="How often.")
@click.option("--looks", type=click.IntRange(min=1), metavar="N", help="Stop after so many; until interrupted unless given.")
@json_option
def watch(*, place: str, every: float, looks: int | None, as_json: bool) -> None:
    """Show what is left of each budget, open charges and the newest entries of the LEDGER, whenever that has changed."""
    from dpaudit.ledger import Ledger

    ledger, before = Ledger(place), ""
    for look in itertools.count(1):
        try:
            shown = _frame(ledger)
        except DpauditError as error:  # a server that is away may come back
            shown = f"{error}\n"
        if shown != before and not as_json:
            emit(f"\n{time.strftime('%H:%M:%S')}\n{shown}")
        elif shown != before:
            emit_json({"shown": shown.splitlines()})
        if look == looks:
            return
        before = shown
        time.sleep(every)


def _frame(ledger: Any) -> str:
    """One state of a ledger as text."""
    from dpaudit.ledger.entries import printable

    lines = []
    for account in ledger.accounts():
        for name, spent, limit in zip(account.cap.names, account.spent, account.cap.limits, strict=True):
            share = min(float(spent / limit), 1.0) if limit else 1.0
            bar = "#" * round(_BAR * share)
            left = outward(limit - spent, digits=6, up=False)
            lines.append(f"{account.scope!s:<32} [{bar:<{_BAR}}] {100 * share:5.1f} % spent, {name} {left} left")
    pending = ledger.open_charges
    lines += [f"open charges, spent: {', '.join(map(str, pending[:10]))}"] if pending else []
    for entry in ledger.recent(5):
        words = (entry.body.get("by", ""), entry.body.get("scope", ""), entry.body.get("spending", ""), entry.body.get("note", ""))
        lines.append(
            printable(f"{entry.number:>8}  {entry.time}  {entry.kind:<8} " + "  ".join(str(word) for word in words if word))
        )
    return "".join(f"{line}\n" for line in lines)
