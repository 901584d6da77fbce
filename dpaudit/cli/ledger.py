"""`dpaudit ledger`: budgets that outlive a program, and what was charged to them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dpaudit.cli import VERBS
from dpaudit.cli.console import emit, emit_json, json_option, say
from dpaudit.cli.ledger_page import page, watch
from dpaudit.errors import InvalidArgument, LedgerFailure

if TYPE_CHECKING:
    from dpaudit.claims import Guarantee
    from dpaudit.ledger import Ledger, LedgerEntry, LedgerVerification, Receipt

_RECENT: Final = 10
_PROBLEMS: Final = 50
"""That the text form lists; JSON lists all."""

_file = click.argument("place", metavar="LEDGER")
_scope = click.argument("scope")


def _spending(command: Callable[..., None]) -> Callable[..., None]:
    """What is spent on what, for the verbs that ask for it."""
    for decorate in reversed(
        (
            _file,
            _scope,
            click.argument("expression"),
            click.option("--times", default=1, show_default=True, metavar="N", help="How many such releases."),
            click.option("--adjacency", metavar="NAME", help="Neighbouring relation of every law that states none."),
            json_option,
        )
    ):
        command = decorate(command)
    return command


@click.group("ledger", short_help=VERBS["ledger"])
def ledger() -> None:
    """Keep privacy budgets that programs share: charged before noise is drawn, never changed unseen.

    LEDGER is a file, or postgresql://USER@HOST/DATABASE for a server; a password belongs into ~/.pgpass. SCOPE is
    dataset/unit/purpose, as in survey/person/dashboard; a budget for dataset/unit pays for every purpose. EXPRESSION is a
    composition as for `dpaudit account`, such as 'gaussian(sigma=10)'. A refused charge ends with code 5.
    """


@ledger.command("init", short_help="Make a ledger, and open a budget in it.")
@_file
@click.argument("scope", required=False)
@click.option("--epsilon", metavar="E", help="A budget in (epsilon, delta), pure unless --delta is given.")
@click.option("--delta", metavar="D", help="With --epsilon.")
@click.option("--rho", metavar="R", help="A budget in zero-concentrated differential privacy.")
@click.option("--mu", metavar="M", help="A budget in Gaussian differential privacy.")
@click.option("--adjacency", default="add_remove", show_default=True, metavar="NAME", help="Neighbouring relation of the budget.")
@click.option("--auditor", "auditors", multiple=True, metavar="ROLE", help="A role of the server that may read and verify all.")
@click.option("--spender", "spenders", nargs=2, multiple=True, metavar="ROLE SCOPE", help="A role that may charge this scope.")
@json_option
def init(
    *,
    place: str,
    scope: str | None,
    adjacency: str,
    auditors: tuple[str, ...],
    spenders: tuple[tuple[str, str], ...],
    as_json: bool,
    **numbers: str | None,
) -> None:
    """Make the LEDGER unless it is there, open a budget for SCOPE in it, and give roles of a server their rights.

    The grants that were run are printed.
    """
    guarantee = _guarantee(**numbers)
    if (scope is None) != (guarantee is None):
        raise click.UsageError(
            "a budget needs a SCOPE and one of --epsilon, --rho and --mu; without both, an empty ledger is made."
        )
    opened = _opened_or_made(place)
    if scope is not None and guarantee is not None:
        opened.open_budget(scope, guarantee, adjacency=adjacency)
    statements = [line for role in auditors for line in opened.grant(role, "audit")]
    statements += [line for role, what in spenders for line in opened.grant(role, "spend", what)]
    if statements and not as_json:
        emit("".join(f"{statement};\n" for statement in statements) + "\n")
    _show(opened, None, as_json=as_json, statements=statements)


@ledger.command("spend", short_help="Charge a budget and print the receipt.")
@_spending
@click.option("--note", default="", metavar="TEXT", help="Up to 200 letters for those who read the ledger.")
@click.option("--key", metavar="TEXT", help="Of this release: a call with the same key is charged once.")
def spend(
    *, place: str, scope: str, expression: str, times: int, adjacency: str | None, note: str, key: str | None, as_json: bool
) -> None:
    """Charge EXPRESSION to SCOPE and print the receipt; make the release only if this ends with code 0."""
    receipt = _opened(place).spend(_loss(expression, adjacency), scope=scope, times=times, note=note, key=key)
    if as_json:
        emit_json({"receipt": receipt.to_dict()})
    else:
        emit(_receipt(receipt))


@ledger.command("check", short_help="Say whether a budget covers a charge.")
@_spending
def check(*, place: str, scope: str, expression: str, times: int, adjacency: str | None, as_json: bool) -> None:
    """Say whether EXPRESSION could be charged to SCOPE now; nothing is."""
    left = _opened(place).check(_loss(expression, adjacency), scope=scope, times=times)
    if as_json:
        emit_json({"remaining": left})
    else:
        emit("covered; left would be:\n" + _amounts(left))


@ledger.command("show", short_help="Show budgets, what is left, and entries.")
@_file
@click.argument("scope", required=False)
@click.option("--entries", "count", default=_RECENT, show_default=True, metavar="N", help="How many of the newest entries.")
@click.option("--plot", metavar="FILE.svg", help="Draw what was spent of each budget after each entry.")
@json_option
def show(*, place: str, scope: str | None, count: int, plot: str | None, as_json: bool) -> None:
    """Show budgets, what is left of them, and the newest entries."""
    opened = _opened(place)
    if plot is not None:
        _draw(opened, scope, Path(plot))
    _show(opened, scope, as_json=as_json, count=count)


def _draw(opened: Ledger, scope: str | None, path: Path) -> None:
    """Write the budgets over time as an SVG file."""
    from dpaudit.ledger.accounts import shares_over_time
    from dpaudit.ledger.overviews import adding_up
    from dpaudit.report import write_text
    from dpaudit.report.loss_files import SPENT_AT_ONCE, spending_file

    if path.suffix.lower() != ".svg":
        raise InvalidArgument("DPA503", f"plots are written as SVG, got {path.name}. Choose a name that ends in .svg.")
    entries, accounts = opened.entries(), opened.accounts(scope)
    if not 0 < len(accounts) <= SPENT_AT_ONCE:
        raise InvalidArgument(
            "DPA503", f"one to {SPENT_AT_ONCE} budgets are drawn at once, got {len(accounts)}. Give another SCOPE."
        )
    with adding_up():
        drawn = [(str(account.scope), shares_over_time(account, entries)) for account in accounts]
    write_text(spending_file(drawn, entries[-1].number), path)


@ledger.command("verify", short_help="Check that nothing was changed.")
@_file
@click.option("--head", metavar="NUMBER:HASH", help="Of an earlier receipt: that entry must still be there.")
@click.option("--against", metavar="ANCHORS", help="A file or server that `dpaudit ledger anchor` wrote to.")
@json_option
def verify(*, place: str, head: str | None, against: str | None, as_json: bool) -> None:
    """Check the chain of hashes, every total and every price of a ledger or of its export; code 5 if it is not intact."""
    from dpaudit.ledger import anchors_of, compare_with_anchors, verify_file

    anchors = [] if against is None else anchors_of(against)
    found = verify_file(place, head=head)
    if not found.is_read:
        name = "the ledger" if is_address(place) else Path(place).name
        raise LedgerFailure("DPA805", f"{name} {found.problems[0]}. It may be no ledger, or a damaged one.")
    if against is not None:
        found = replace(found, problems=(*found.problems, *compare_with_anchors(place, anchors)))
    if as_json:
        emit_json({**asdict(found), "head": None if found.head is None else str(found.head)})
    else:
        emit(_verification(found))
    if found.problems:
        from dpaudit.results import EXIT_CODES

        raise click.exceptions.Exit(EXIT_CODES["ledger"])


@ledger.command("anchor", short_help="Keep the newest head elsewhere.")
@_file
@click.argument("to", metavar="ANCHORS")
@click.option("--commit", is_flag=True, help="Commit the file of anchors to its git repository.")
@click.option("--every", type=click.FloatRange(min=1), metavar="SECONDS", help="Go on until interrupted.")
@json_option
def anchor(*, place: str, to: str, commit: bool, every: float | None, as_json: bool) -> None:
    """Add the newest head of the LEDGER to ANCHORS, a file or a second server; `verify --against` tells rollback and fork."""
    from dpaudit.ledger import write_anchor

    while True:
        made = write_anchor(place, to, commit=commit)
        if as_json:
            emit_json({"anchor": asdict(made)})
        else:
            emit(f"{made.time}  {made.head}\n")
        if every is None:
            return
        time.sleep(every)


@ledger.command("migrate", short_help="Move a ledger to a file, a server or an export.")
@click.argument("source")
@click.argument("target")
@click.option("--lost", is_flag=True, help="SOURCE is an export, and its ledger is gone with what it charged since.")
@json_option
def migrate(*, source: str, target: str, lost: bool, as_json: bool) -> None:
    """Move the ledger SOURCE to TARGET, where its chain goes on; SOURCE takes no more charges. A name in .jsonl is an export."""
    from dpaudit.ledger import migrate

    head = migrate(source, target, lost=lost)
    if as_json:
        emit_json({"head": str(head)})
    else:
        emit(f"head {head}\n")


@ledger.command("export", short_help="Write every entry as a line of JSON.")
@_file
@click.option("--output", metavar="FILE", type=click.Path(path_type=Path), help="Write there instead of stdout.")
@click.option("--backup", metavar="FILE", type=click.Path(path_type=Path), help="Also copy the ledger itself to a new file.")
@json_option
def export(*, place: str, output: Path | None, backup: Path | None, as_json: bool) -> None:
    """Write every entry as a line of JSON, which `dpaudit ledger verify` checks as well; with --json, print one document of all."""
    from dpaudit.ledger.moving import write_export

    opened = _opened(place)
    entries = opened.entries()
    if backup is not None:
        opened.backup(backup)
        say(f"written: {backup}")
    if output is not None:
        write_export(output, entries)
        say(f"written: {output}")
    if as_json:
        emit_json({"head": str(entries[-1].head), "entries": [entry.to_dict() for entry in entries]})
    elif output is None:
        emit("".join(json.dumps(entry.to_dict(), sort_keys=True) + "\n" for entry in entries))


def _opened_or_made(place: str) -> Ledger:
    """The ledger, which is made now if it is not there."""
    from dpaudit.ledger import Ledger

    try:
        if is_address(place) or Path(place).exists():
            return Ledger(place)
    except InvalidArgument as error:
        if not (is_address(place) and error.code == "DPA801"):
            raise
    return Ledger.create(place)


def _opened(place: str) -> Ledger:
    """The ledger."""
    from dpaudit.ledger import Ledger

    return Ledger(place)


def is_address(place: str) -> bool:
    """True for the address of a server."""
    return "://" in place


def _loss(expression: str, adjacency: str | None) -> Any:
    """The loss of an expression."""
    from dpaudit.cli.expressions import loss_of

    return loss_of(expression, adjacency=adjacency)


def _guarantee(epsilon: str | None, delta: str | None, rho: str | None, mu: str | None) -> Guarantee | None:
    """The guarantee that was asked for, None for none."""
    from dpaudit.claims import GDP, ZCDP, ApproxDP, PureDP

    if sum(number is not None for number in (epsilon, rho, mu)) > 1 or (delta is not None and epsilon is None):
        raise click.UsageError("give one of --epsilon, --rho and --mu; --delta goes with --epsilon.")
    if rho is not None:
        return ZCDP(rho=rho)
    if mu is not None:
        return GDP(mu=mu)
    if epsilon is None:
        return None
    return PureDP(epsilon=epsilon) if delta is None else ApproxDP(epsilon=epsilon, delta=delta)


def _show(
    opened: Ledger, scope: str | None, *, as_json: bool, count: int = _RECENT, statements: Sequence[str] | None = None
) -> None:
    """Budgets and entries."""
    accounts, newest, pending, head = opened.accounts(scope), opened.recent(count), opened.open_charges, opened.head
    if as_json:
        budgets = [
            {
                "scope": str(account.scope),
                "guarantee": str(account.cap.guarantee),
                "adjacency": str(account.cap.adjacency),
                "limits": account.cap.written(account.cap.limits),
                "spent": account.cap.written(account.spent),
                "remaining": account.remaining,
            }
            for account in accounts
        ]
        entries = [entry.to_dict() for entry in newest]
        emit_json(
            {
                "ledger": opened.name,
                "head": str(head),
                "open_charges": pending,
                "budgets": budgets,
                "entries": entries,
                **({} if statements is None else {"statements": list(statements)}),
            }
        )
        return
    lines = []
    for account in accounts:
        lines.append(f"{account.scope}: {account.cap.guarantee} under {account.cap.adjacency}")
        lines += [
            f"    {name:<10} spent {_number(spent, up=True)} of {_number(limit, up=False)}, left {_number(limit - spent, up=False)}"
            for name, spent, limit in zip(account.cap.names, account.spent, account.cap.limits, strict=True)
        ]
    lines += [] if accounts else ["no budgets" if scope is None else f"no budget covers {scope}"]
    lines += ["", *map(_line, newest)] if newest else []
    lines += ["", f"open charges, spent: {', '.join(map(str, pending))}"] if pending else []
    emit("\n".join([*lines, "", f"head {head}", ""]))


def _line(entry: LedgerEntry) -> str:
    """An entry for a person."""
    body = entry.body
    from dpaudit.ledger.entries import printable

    what = {"ledger": "made", "budget": "opened for "}.get(entry.kind, "")
    told = [what + str(body.get("scope", "")), str(body.get("spending", "")), f"entry {body['charge']}" if "charge" in body else ""]
    note = str(body.get("note", ""))
    line = f"{entry.number:>6}  {entry.time}  {entry.kind:<8}" + "  ".join(text for text in (*told, note and f"({note})") if text)
    return printable(line)  # a file from elsewhere may hold what a terminal would obey


def _receipt(receipt: Receipt) -> str:
    """A receipt for a person."""
    return (
        f"entry {receipt.entry}: {receipt.spending} charged to {receipt.scope}\n{_amounts(receipt.remaining)}head {receipt.head}\n"
    )


def _amounts(left: Any) -> str:
    """What is left of each budget."""
    from fractions import Fraction

    lines = []
    for scope, amounts in left.items():
        lines += [f"    {scope}: {name} {_number(Fraction(amount), up=False)} left" for name, amount in amounts.items()]
    return "".join(f"{line}\n" for line in lines)


def _number(value: Any, *, up: bool) -> str:
    """An exact number in a few digits, rounded to the cautious side."""
    from dpaudit.exact import outward

    return outward(value, digits=6, up=up)


def _numbers(numbers: Sequence[int]) -> str:
    """Some numbers of entries, and how many more there are."""
    shown = ", ".join(map(str, numbers[:_RECENT]))
    return shown if len(numbers) <= _RECENT else f"{shown} and {len(numbers) - _RECENT} more"


def _verification(found: LedgerVerification) -> str:
    """What was found, for a person."""
    lines = [f"{found.entries} entries; " + ("the chain, the totals and the prices agree" if not found.problems else "NOT INTACT")]
    lines += [f"    {problem}" for problem in found.problems[:_PROBLEMS]]
    lines += [f"    and {len(found.problems) - _PROBLEMS} problems more"] if len(found.problems) > _PROBLEMS else []
    if found.open_charges:
        lines.append(f"open charges, counted as spent: {', '.join(map(str, found.open_charges))}")
    if found.overruns:
        lines.append(f"released more than reserved, charged too: entries {', '.join(map(str, found.overruns))}")
    lines += [
        f"{what}: entries {_numbers(which)}"
        for what, which in (
            ("not compared with what ran, which is made elsewhere", found.elsewhere),
            ("not compared with what ran, since they count on sampling or a random order", found.uncompared),
            ("nothing ran under them that the release log saw", found.unseen),
            ("begun again under their key, what a failed attempt showed is not paid for", found.repeated),
            ("restored from a copy there, later charges of the ledger that was lost are not known", found.restored),
            ("of an old ledger that keeps no losses, so that their amounts were not computed again", found.taken),
        )
        if which
    ]
    return "\n".join([*lines, *([] if found.head is None else [f"head {found.head}"]), ""])


ledger.add_command(page)
ledger.add_command(watch)
