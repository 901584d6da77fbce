"""What a ledger stands: charges a second, charges after many, and writers that are killed at any moment.

    python benchmarks/ledger.py --output benchmarks/results
    python benchmarks/ledger.py --kills 50 --entries 5000          in about a minute

Writers charge budgets that cover a known number of charges, each until it refuses, and write down each charge that they were
allowed before they end it. They are killed without warning again and again. Afterwards no budget may be passed, no charge may have
been used that is not in the ledger, and the chain must be whole.

How many charges a second are durable is what the disk allows: beside it stands what SQLite alone does there. What the ledger itself
takes is measured on a file in memory, where a sync costs nothing, and so is a ledger of many entries.

Needs: nothing. Size: 1,000 kills, 10^5 entries.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import statistics
import tempfile
import time
from contextlib import suppress
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from measuring import Bar, bars_table, table, versions, write

from dpaudit import PureDP
from dpaudit.errors import InvalidArgument, LedgerRefusal
from dpaudit.ledger import Ledger
from dpaudit.ledger.store import SETTINGS

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

SCOPE: Final = "survey/person/report"
SMALL: Final = PureDP("1/1000000007")
WRITERS: Final = 8
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


def writer(path: Path, used: Path) -> None:
    """Charges one budget after the other, each until it refuses, until this process is killed."""
    ledger, number = Ledger(path), 0
    with used.open("a", encoding="ascii") as file:
        while True:
            try:
                with ledger.charge(PureDP(CHARGE), scope=f"{survey(number)}/report") as charge:
                    file.write(f"{charge.receipt.entry}\n")
                    file.flush()
            except LedgerRefusal:
                number += 1
                with suppress(InvalidArgument):  # another writer opened it
                    ledger.open_budget(survey(number), PureDP(CHARGES * CHARGE))


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
        process.start()
        return process

    running: list[BaseProcess] = [started(number) for number in range(WRITERS)]
    start = time.monotonic()
    for number in range(kills):
        time.sleep(chance.expovariate(KILLS_A_SECOND))
        place = chance.randrange(WRITERS)
        running[place].kill()
        running[place].join()
        running[place] = started(WRITERS + number)
    seconds = time.monotonic() - start
    for process in running:
        process.kill()
        process.join()
    found, entries, accounts = ledger.verify(), ledger.entries(), ledger.accounts()
    reserved = {entry.number for entry in entries if entry.kind == "reserve"}
    lines = [line for file in folder.glob("used-*") for line in file.read_text(encoding="ascii").split("\n")[:-1]]
    return {
        "kills": kills,
        "seconds": round(seconds, 1),
        "charges": len(reserved),
        "used": len(lines),
        "used twice": len(lines) - len(set(lines)),
        "used without a charge": len({int(line) for line in lines} - reserved),
        "budgets": len(accounts),
        "budgets used up": sum(account.spent == account.cap.limits for account in accounts),
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


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills")
    parser.add_argument("--folder", type=Path, help="on the disk that is measured, a temporary folder unless given")
    parser.add_argument("--memory", type=Path, default=Path("/dev/shm"), help="a folder in memory (/dev/shm)")  # noqa: S108
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as disk, tempfile.TemporaryDirectory(dir=options.memory) as memory:
        durable, alone = timed(opened(Path(disk)), SOME), plain(Path(disk))
        speed = filled(Path(memory), options.entries)
        deaths = {name: killed(Path(place), options.kills, options.seed) for name, place in (("disk", disk), ("memory", memory))}
    many = f"after {options.entries:,} entries"
    bars = [
        Bar("durable charges a second on this disk", durable, SPENDS_A_SECOND),
        Bar("of what SQLite alone does with these settings on this disk, share", durable / alone, SHARE),
        Bar("charges a second in memory", speed["new"], SPENDS_A_SECOND),
        Bar(f"a charge {many}, times that in a new ledger, in memory", speed["new"] / speed["full"], SLOWER, most=True),
        *(
            Bar(name, sum(found[name] for found in deaths.values()), 0, most=True)
            for name in ("used twice", "used without a charge", "budgets passed")
        ),
        Bar("problems that the checks find", sum(len(found["problems"]) for found in (*deaths.values(), speed)), 0, most=True),
    ]
    killings = [[name, *(str(found[name]) for found in deaths.values())] for name in deaths["disk"] if name != "problems"]
    rows = [
        ["transactions a second of SQLite alone, on disk", f"{alone:.0f}"],
        ["charges a second, on disk", f"{durable:.0f}"],
        ["charges a second, in memory", f"{speed['new']:.0f}"],
        [f"charges a second {many}, in memory", f"{speed['full']:.0f}"],
        [f"seconds to verify, {many}", f"{speed['verify']:.1f}"],
    ]
    page = (
        f"{WRITERS} writers, killed at random moments.\n\n{table(['what', 'on disk', 'in memory'], killings)}\n"
        f"{table(['what', 'measured'], rows)}\n{bars_table(bars)}"
    )
    record = {"killed": deaths, "durable": durable, "alone": alone, "speed": speed, "sqlite": sqlite3.sqlite_version}
    write(options.output, "ledger", "A ledger under load", page, record | {"versions": versions(["dpaudit"])})


if __name__ == "__main__":
    main()
