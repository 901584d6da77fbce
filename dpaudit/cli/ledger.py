"""`dpaudit ledger`: budgets that outlive a program, and what was charged to them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from dpaudit.cli import VERBS
from dpaudit.cli.console import emit, emit_json, json_option, say
from dpaudit.errors import InvalidArgument, LedgerFailure

if TYPE_CHECKING:
    from dpaudit.claims import Guarantee
    from dpaudit.ledger import Ledger, LedgerEntry, LedgerVerification, Receipt

_RECENT: Final = 10
_PROBLEMS: Final = 50
"""That the text form lists; JSON lists all."""

_file = click.argument("path", metavar="FILE", type=click.Path(path_type=Path))
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
    """Keep privacy budgets in a file that programs share: charged before noise is drawn, never changed unseen.

    SCOPE is dataset/unit/purpose, as in survey/person/dashboard; a budget for dataset/unit pays for every purpose. EXPRESSION is
    a composition as for `dpaudit account`, such as 'gaussian(sigma=10)'. A refused charge ends with code 5.
    """


@ledger.command("init", short_help="Make a ledger, and open a budget in it.")
@_file
@click.argument("scope", required=False)
@click.option("--epsilon", metavar="E", help="A budget in (epsilon, delta), pure unless --delta is given.")
@click.option("--delta", metavar="D", help="With --epsilon.")
@click.option("--rho", metavar="R", help="A budget in zero-concentrated differential privacy.")
@click.option("--mu", metavar="M", help="A budget in Gaussian differential privacy.")
@click.option("--adjacency", default="add_remove", show_default=True, metavar="NAME", help="Neighbouring relation of the budget.")
@json_option
def init(
    *,
    path: Path,
    scope: str | None,
    epsilon: str | None,
    delta: str | None,
    rho: str | None,
    mu: str | None,
    adjacency: str,
    as_json: bool,
) -> None:
    """Make the ledger FILE unless it is there, and open a budget for SCOPE in it."""
    guarantee = _guarantee(epsilon, delta, rho, mu)
    if (scope is None) != (guarantee is None):
        raise click.UsageError(
            "a budget needs a SCOPE and one of --epsilon, --rho and --mu; without both, an empty ledger is made."
        )
    opened = _opened(path, make=True)
    if scope is not None and guarantee is not None:
        opened.open_budget(scope, guarantee, adjacency=adjacency)
    _show(opened, None, as_json=as_json)


@ledger.command("spend", short_help="Charge a budget and print the receipt.")
@_spending
@click.option("--note", default="", metavar="TEXT", help="Up to 200 letters for those who read the ledger.")
def spend(*, path: Path, scope: str, expression: str, times: int, adjacency: str | None, note: str, as_json: bool) -> None:
    """Charge EXPRESSION to SCOPE and print the receipt; make the release only if this ends with code 0."""
    receipt = _opened(path).spend(_loss(expression, adjacency), scope=scope, times=times, note=note)
    if as_json:
        emit_json({"receipt": receipt.to_dict()})
    else:
        emit(_receipt(receipt))


@ledger.command("check", short_help="Say whether a budget covers a charge.")
@_spending
def check(*, path: Path, scope: str, expression: str, times: int, adjacency: str | None, as_json: bool) -> None:
    """Say whether EXPRESSION could be charged to SCOPE now; nothing is."""
    left = _opened(path).check(_loss(expression, adjacency), scope=scope, times=times)
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
def show(*, path: Path, scope: str | None, count: int, plot: str | None, as_json: bool) -> None:
    """Show budgets, what is left of them, and the newest entries."""
    opened = _opened(path)
    if plot is not None:
        _draw(opened, scope, Path(plot))
    _show(opened, scope, as_json=as_json, count=count)


def _draw(opened: Ledger, scope: str | None, path: Path) -> None:
    """Write the budgets over time as an SVG file."""
    from dpaudit.ledger.accounts import shares_over_time
    from dpaudit.report import write_text
    from dpaudit.report.loss_files import SPENT_AT_ONCE, spending_file

    if path.suffix.lower() != ".svg":
        raise InvalidArgument("DPA503", f"plots are written as SVG, got {path.name}. Choose a name that ends in .svg.")
    entries, accounts = opened.entries(), opened.accounts(scope)
    if not 0 < len(accounts) <= SPENT_AT_ONCE:
        raise InvalidArgument(
            "DPA503", f"one to {SPENT_AT_ONCE} budgets are drawn at once, got {len(accounts)}. Give another SCOPE."
        )
    drawn = [(str(account.scope), shares_over_time(account, entries)) for account in accounts]
    write_text(spending_file(drawn, entries[-1].number), path)


@ledger.command("verify", short_help="Check that nothing was changed.")
@_file
@click.option("--head", metavar="NUMBER:HASH", help="Of an earlier receipt: that entry must still be there.")
@json_option
def verify(*, path: Path, head: str | None, as_json: bool) -> None:
    """Check the chain of hashes, every total and every price of a ledger or of its export; code 5 if it is not intact."""
    from dpaudit.ledger import verify_file

    found = verify_file(path, head=head)
    if not found.is_read:
        raise LedgerFailure("DPA805", f"{path.name} {found.problems[0]}. It may be no ledger, or a damaged one.")
    if as_json:
        emit_json({**asdict(found), "head": None if found.head is None else str(found.head)})
    else:
        emit(_verification(found))
    if found.problems:
        from dpaudit.results import EXIT_CODES

        raise click.exceptions.Exit(EXIT_CODES["ledger"])


@ledger.command("export", short_help="Write every entry as a line of JSON.")
@_file
@click.option("--output", metavar="FILE", type=click.Path(path_type=Path), help="Write there instead of stdout.")
@click.option("--backup", metavar="FILE", type=click.Path(path_type=Path), help="Also copy the ledger itself to a new file.")
@json_option
def export(*, path: Path, output: Path | None, backup: Path | None, as_json: bool) -> None:
    """Write every entry as a line of JSON, which `dpaudit ledger verify` checks as well; with --json, print one document of all."""
    opened = _opened(path)
    entries = [entry.to_dict() for entry in opened.entries()]
    lines = "".join(json.dumps(entry, sort_keys=True) + "\n" for entry in entries)
    if backup is not None:
        opened.backup(backup)
        say(f"written: {backup}")
    if output is not None:
        try:
            with open(output, "x", encoding="utf-8", opener=_for_owner) as file:
                file.write(lines)
        except OSError as error:
            raise InvalidArgument("DPA503", f"{output.name} cannot be written ({error.strerror}).") from error
        say(f"written: {output}")
    if as_json:
        emit_json({"head": str(opened.head), "entries": entries})
    elif output is None:
        emit(lines)


def _opened(path: Path, *, make: bool = False) -> Ledger:
    """The ledger, made now where that was asked for."""
    from dpaudit.ledger import Ledger

    return Ledger.create(path) if make and not path.exists() else Ledger(path)


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


def _show(opened: Ledger, scope: str | None, *, as_json: bool, count: int = _RECENT) -> None:
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


def _for_owner(path: str, flags: int) -> int:
    """Make a file that only its owner may read, whatever the umask."""
    return os.open(path, flags, 0o600)


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
            ("of an old ledger that keeps no losses, so that their amounts were not computed again", found.taken),
        )
        if which
    ]
    return "\n".join([*lines, *([] if found.head is None else [f"head {found.head}"]), ""])
