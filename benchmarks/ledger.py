"""What a ledger stands: charges a second, charges after many, and writers that are killed at any moment.

    python benchmarks/ledger.py --output benchmarks/results
    python benchmarks/ledger.py --kills 50 --entries 5000          in about a minute

Writers charge a budget that covers a known number of charges, and write down each charge that they were allowed before they end it.
They are killed without warning again and again. Afterwards no budget may be passed, no charge may have been used that is not in the
ledger, and the chain must be whole.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import statistics
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from measuring import Bar, bars_table, table, versions, write

from dpaudit import PureDP
from dpaudit.errors import LedgerRefusal
from dpaudit.ledger import Ledger
from dpaudit.ledger.store import SETTINGS

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

SCOPE: Final = "survey/person/report"
WRITERS: Final = 8
KILLS_A_SECOND: Final = 10
SOME: Final = 500
"""Charges that are timed together."""

SPENDS_A_SECOND: Final = 500
SHARE: Final = 0.7
SLOWER: Final = 1.5
"""Times longer that a charge may take after many."""


def writer(path: Path, used: Path) -> None:
    """Charges until it is refused or killed."""
    ledger = Ledger(path)
    with used.open("a", encoding="ascii") as file:
        while True:
            try:
                with ledger.charge(PureDP("1/1000000"), scope=SCOPE) as charge:
                    file.write(f"{charge.receipt.entry}\n")
                    file.flush()
            except LedgerRefusal:
                return


def killed(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kills writers at random moments; what the ledger says afterwards."""
    path, context, chance = folder / "killed.ledger", get_context("fork"), random.Random(seed)  # noqa: S311 - moments of kills
    ledger = Ledger.create(path)
    charges = 20 * kills
    ledger.open_budget("survey/person", PureDP(f"{charges}/1000000"))

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
    found, entries = ledger.verify(), ledger.entries()
    reserved = {entry.number for entry in entries if entry.kind == "reserve"}
    lines = [line for file in folder.glob("used-*") for line in file.read_text(encoding="ascii").split("\n")[:-1]]
    spent = ledger.accounts()[0].spent[0]
    return {
        "kills": kills,
        "seconds": round(seconds, 1),
        "charges": len(reserved),
        "used": len(lines),
        "used twice": len(lines) - len(set(lines)),
        "used without a charge": len({int(line) for line in lines} - reserved),
        "spent beyond the budget": int(spent > ledger.accounts()[0].cap.limits[0]),
        "open charges": len(found.open_charges),
        "problems": list(found.problems),
    }


def timed(ledger: Ledger, count: int) -> float:
    """Charges a second, the median of parts."""
    rates = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(count // 5):
            ledger.spend(PureDP("1/1000000007"), scope=SCOPE)
        rates.append(count // 5 / (time.perf_counter() - start))
    return statistics.median(rates)


def filled(folder: Path, entries: int) -> dict[str, Any]:
    """Charges a second in a new ledger and in one that has many entries, and how long the check of these takes."""
    ledger = Ledger.create(folder / "filled.ledger")
    ledger.open_budget("survey/person", PureDP(1000))
    new = timed(ledger, SOME)
    ledger.spend(PureDP("1/3"), scope=SCOPE)
    while ledger.head.number < entries:
        for _ in range(1000):
            ledger.spend(PureDP("1/1000000007"), scope=SCOPE)
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
    parser.add_argument("--folder", type=Path, help="where the ledgers are made, a temporary folder unless given")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name)
        speed = {**filled(folder, options.entries), "plain": plain(folder)}
        deaths = killed(folder, options.kills, options.seed)
    bars = [
        Bar("durable charges a second", speed["new"], SPENDS_A_SECOND),
        Bar("of what SQLite alone does with these settings on this disk, share", speed["new"] / speed["plain"], SHARE),
        Bar(
            f"a charge after {options.entries:,} entries, times that in a new ledger",
            speed["new"] / speed["full"],
            SLOWER,
            most=True,
        ),
        *(
            Bar(name, float(deaths[name]), 0, most=True)
            for name in ("used twice", "used without a charge", "spent beyond the budget")
        ),
        Bar("problems that the checks find", len(deaths["problems"]) + len(speed["problems"]), 0, most=True),
    ]
    rows = [[name, str(value)] for name, value in deaths.items() if name != "problems"]
    rows += [
        ["transactions a second of SQLite alone", f"{speed['plain']:.0f}"],
        ["charges a second, new ledger", f"{speed['new']:.0f}"],
        [f"charges a second after {options.entries:,} entries", f"{speed['full']:.0f}"],
        [f"seconds to verify {options.entries:,} entries", f"{speed['verify']:.1f}"],
    ]
    page = f"{WRITERS} writers, killed at random moments.\n\n{table(['what', 'measured'], rows)}\n{bars_table(bars)}"
    record = {"killed": deaths, "speed": speed, "versions": versions(["dpaudit"]), "sqlite": sqlite3.sqlite_version}
    write(options.output, "ledger", "A ledger under load", page, record)


if __name__ == "__main__":
    main()
