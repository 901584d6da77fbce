"""What a ledger stands: charges a second, charges after many, and writers that are killed at any moment.

    python benchmarks/ledger.py --output benchmarks/results
    python benchmarks/ledger.py --kills 50 --entries 5000          in about a minute
    python benchmarks/ledger.py --only-killed --output benchmarks/results          correctness alone, on a busy machine

Writers charge budgets that cover a known number of charges, each until it refuses, and write down each charge that they were
allowed before they end it. They are killed without warning again and again, or interrupted by SIGINT and SIGTERM, which they catch
and go on after, at random moments of waiting and writing. Each writer has two threads, so that charges of one process wait for each
other as well. Afterwards no budget may be passed, no charge may have been used that is not in the ledger, the chain must be whole,
and between the signals somebody else must be able to charge.

How many charges a second are durable is what the disk allows: beside it stands what SQLite alone does there. What the ledger itself
takes is measured on a file in memory, where a sync costs nothing, and so is a ledger of many entries.

Needs: nothing. Size: 1,000 kills, 10^5 entries.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sqlite3
import statistics
import tempfile
import time
from contextlib import suppress
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

from measuring import Bar, bars_table, table, versions, write

from dpaudit import PureDP
from dpaudit.errors import DpauditError, InvalidArgument, LedgerRefusal
from dpaudit.ledger import Ledger
from dpaudit.ledger.tables import SETTINGS
from mechanisms import LaplaceMechanism

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

SCOPE: Final = "survey/person/report"
SMALL: Final = PureDP("1/1000000007")
WRITERS: Final = 8
SIGNALS: Final = ("SIGKILL", "SIGINT", "SIGTERM")
INTERRUPTS: Final = {signal.SIGINT, signal.SIGTERM}
PROBE_EVERY: Final = 10
"""Signals after one of which somebody else charges."""

KILLS_A_SECOND: Final = 10
CHARGE: Final = Fraction(1, 1_000_000)
CHARGES: Final = 10
"""That one budget covers."""

SOME: Final = 500
"""Charges that are timed together."""

SPENDS_A_SECOND: Final = 500
SHARE: Final = 0.7
SLOWER: Final = 1.5
"""Times longer that a charge may take after many."""


class Stopped(BaseException):
    """What SIGTERM becomes in a writer."""


def stop(_number: int, _frame: object) -> None:
    """Turn SIGTERM into an error, wherever the program is."""
    raise Stopped


def writer(path: Path, used: Path) -> None:
    """Charges in two threads, the first of which is interrupted by signals and goes on, until this process is killed."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, stop)
    beside = Thread(target=lambda: charge_on(Ledger(path), used.with_name(f"{used.name}-thread")), daemon=True)
    beside.start()
    while True:
        with suppress(KeyboardInterrupt, Stopped):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
            charge_on(Ledger(path), used)


def charge_on(ledger: Ledger, used: Path) -> None:
    """Charges one budget after the other, each until it refuses; what is released is written down before its noise is drawn."""
    number, noise = 0, LaplaceMechanism(scale=1 / CHARGE, sensitivity=1)
    with used.open("ab", buffering=0) as file:
        while True:
            try:
                with ledger.charge(PureDP(CHARGE), scope=f"{survey(number)}/report") as charge:
                    file.write(f"{charge.receipt.entry}\n".encode("ascii"))
                    noise.release(1)
            except LedgerRefusal:
                number += 1
                with suppress(InvalidArgument):  # another writer opened it
                    ledger.open_budget(survey(number), PureDP(CHARGES * CHARGE))


def can_charge(ledger: Ledger, number: int) -> bool:
    """Whether somebody else can use the ledger now, whatever a signal left behind."""
    try:
        ledger.open_budget(f"probe-{number}/person", PureDP(CHARGE))
        ledger.spend(PureDP(CHARGE), scope=f"probe-{number}/person")
    except DpauditError:
        return False
    return True


def survey(number: int) -> str:
    """The scope of one of the budgets."""
    return f"survey-{number}/person"


def killed(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kills writers at random moments; what the ledger says afterwards."""
    path, context, chance = folder / "killed.ledger", get_context("fork"), random.Random(seed)  # noqa: S311 - moments of kills
    ledger = Ledger.create(path)
    ledger.open_budget(survey(0), PureDP(CHARGES * CHARGE))

    def started(number: int) -> BaseProcess:
        process = context.Process(target=writer, args=(path, folder / f"used-{number}"))
        signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)  # until the writer can catch them
        process.start()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, INTERRUPTS)
        return process

    running: list[BaseProcess] = [started(number) for number in range(WRITERS)]
    start = time.monotonic()
    sent, locked_out, ended = dict.fromkeys(SIGNALS, 0), 0, 0
    for number in range(kills):
        time.sleep(chance.expovariate(KILLS_A_SECOND))
        place, name = chance.randrange(WRITERS), chance.choice(SIGNALS)
        sent[name] += 1
        if name == "SIGKILL":
            running[place].kill()
            running[place].join()
            running[place] = started(WRITERS + number)
        else:
            with suppress(ProcessLookupError):
                os.kill(running[place].pid or 0, signal.Signals[name])
            if not running[place].is_alive():  # a second signal arrived while the first was handled
                ended += 1
                running[place] = started(WRITERS + number)
        locked_out += 0 if number % PROBE_EVERY else not can_charge(ledger, number)
    seconds = time.monotonic() - start
    for process in running:
        process.kill()
        process.join()
    found, entries, accounts = ledger.verify(), ledger.entries(), ledger.accounts()
    reserved = {entry.number for entry in entries if entry.kind == "reserve"}
    budgeted = [account for account in accounts if account.scope.dataset.startswith("survey")]
    lines = [line for file in folder.glob("used-*") for line in file.read_text(encoding="ascii").split("\n")[:-1]]
    return {
        **{f"{name} sent": count for name, count in sent.items()},
        "seconds": round(seconds, 1),
        "times that nobody else could charge": locked_out,
        "writers that two signals at once ended": ended,
        "charges": len(reserved),
        "used": len(lines),
        "used twice": len(lines) - len(set(lines)),
        "used without a charge": len({int(line) for line in lines} - reserved),
        "budgets": len(budgeted),
        "budgets used up": sum(account.spent == account.cap.limits for account in budgeted),
        "budgets passed": sum(account.spent[0] > account.cap.limits[0] for account in accounts),
        "open charges": len(found.open_charges),
        "problems": list(found.problems),
    }


def timed(ledger: Ledger, count: int) -> float:
    """Charges a second, the median of parts."""
    rates = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count // 5):
            ledger.spend(SMALL, scope=SCOPE)
        rates.append(count // 5 / (time.perf_counter() - start))
    return statistics.median(rates)


def opened(folder: Path) -> Ledger:
    """A new ledger with a budget that many charges do not use up."""
    ledger = Ledger.create(folder / "timed.ledger")
    ledger.open_budget("survey/person", PureDP(1000))
    return ledger


def filled(folder: Path, entries: int) -> dict[str, Any]:
    """Charges a second in a new ledger and in one that has many entries, and how long the check of these takes."""
    ledger = opened(folder)
    new = timed(ledger, SOME)
    ledger.spend(PureDP("1/3"), scope=SCOPE)
    while ledger.head.number < entries:
        for _ in range(1000):
            ledger.spend(SMALL, scope=SCOPE)
    full = timed(ledger, SOME)
    start = time.perf_counter()
    problems = ledger.verify().problems
    return {"new": new, "entries": entries, "full": full, "verify": time.perf_counter() - start, "problems": list(problems)}


def plain(folder: Path) -> float:
    """Transactions a second of SQLite alone with the settings of a ledger: what the disk allows."""
    connection = sqlite3.connect(folder / "plain.db", isolation_level=None)
    for setting in SETTINGS:
        connection.execute(f"PRAGMA {setting}")
    connection.execute("CREATE TABLE kept (entry TEXT)")
    rates = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(SOME // 5):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO kept VALUES ('a charge')")
            connection.execute("COMMIT")
        rates.append(SOME // 5 / (time.perf_counter() - start))
    return statistics.median(rates)


def bars_of(deaths: dict[str, dict[str, Any]]) -> list[Bar]:
    """What may not happen, however writers end."""
    never = (
        "used twice",
        "used without a charge",
        "budgets passed",
        "times that nobody else could charge",
    )
    bars = [Bar(name, sum(found[name] for found in deaths.values()), 0, most=True) for name in never]
    return [*bars, Bar("problems that the checks find", sum(len(found["problems"]) for found in deaths.values()), 0, most=True)]


def killings_table(deaths: dict[str, dict[str, Any]]) -> str:
    """What was sent and what was found."""
    rows = [[name, *(str(found[name]) for found in deaths.values())] for name in deaths["disk"] if name != "problems"]
    found = table(["what", "on disk", "in memory"], rows)
    return f"{WRITERS} writers of two threads, killed and interrupted at random moments.\n\n{found}"


def report_killed(deaths: dict[str, dict[str, Any]], output: Path | None) -> None:
    """Write the tables of kills alone; they hold no times, so that a busy machine may make them."""
    page, title = f"{killings_table(deaths)}\n{bars_table(bars_of(deaths))}", "A ledger whose writers are killed and interrupted"
    write(output, "ledger_killed", title, page, {"killed": deaths, "versions": versions(["dpaudit"])})


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills")
    parser.add_argument("--folder", type=Path, help="on the disk that is measured, a temporary folder unless given")
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"), help="a folder in memory (/dev/shm)")  # noqa: S108
    parser.add_argument("--only-killed", action="store_true", help="no times, which a busy machine makes worthless")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as disk, tempfile.TemporaryDirectory(dir=options.memory) as memory:
        if options.only_killed:
            places = (("disk", disk), ("memory", memory))
            report_killed({name: killed(Path(place), options.kills, options.seed) for name, place in places}, options.output)
            return
        durable, alone = timed(opened(Path(disk)), SOME), plain(Path(disk))
        speed = filled(Path(memory), options.entries)
        deaths = {name: killed(Path(place), options.kills, options.seed) for name, place in (("disk", disk), ("memory", memory))}
    many = f"after {options.entries:,} entries"
    bars = [
        Bar("durable charges a second on this disk", durable, SPENDS_A_SECOND),
        Bar("of what SQLite alone does with these settings on this disk, share", durable / alone, SHARE),
        Bar("charges a second in memory", speed["new"], SPENDS_A_SECOND),
        Bar(f"a charge {many}, times that in a new ledger, in memory", speed["new"] / speed["full"], SLOWER, most=True),
        *bars_of({**deaths, "speed": {**dict.fromkeys(deaths["disk"], 0), **speed}}),
    ]
    rows = [
        ["transactions a second of SQLite alone, on disk", f"{alone:.0f}"],
        ["charges a second, on disk", f"{durable:.0f}"],
        ["charges a second, in memory", f"{speed['new']:.0f}"],
        [f"charges a second {many}, in memory", f"{speed['full']:.0f}"],
        [f"seconds to verify, {many}", f"{speed['verify']:.1f}"],
    ]
    page = f"{killings_table(deaths)}\n{table(['what', 'measured'], rows)}\n{bars_table(bars)}"
    record = {"killed": deaths, "durable": durable, "alone": alone, "speed": speed, "sqlite": sqlite3.sqlite_version}
    write(options.output, "ledger", "A ledger under load", page, record | {"versions": versions(["dpaudit"])})


if __name__ == "__main__":
    main()
