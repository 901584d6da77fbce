"""What a ledger on a PostgreSQL server stands: many clients, and clients, servers and connections that die at any moment.

    python benchmarks/ledger_server.py --output benchmarks/results
    python benchmarks/ledger_server.py --only-speed --seconds 5          charges a second, and after many entries
    python benchmarks/ledger_server.py --kills 50 --crashes 5 --restarts 2 --cuts 20 --only-killed          in about a minute

64 clients charge one budget after the other, each until it refuses, and write down each charge that they were allowed before its
block ends. Meanwhile clients are killed, the server is crashed (SIGQUIT to all its processes, which forget what is not on the
disk) and restarted, and a proxy between them cuts connections or lets them fall silent, all at random moments. Afterwards no
budget may be passed, no charge may have been used that is not in the ledger, and the chain must be whole. As a control, the same
without the step that makes charges durable must lose some.

Charges a second are measured on a disk, with 16 clients, beside what the disk syncs alone; and in a ledger of a million entries.

Needs: PostgreSQL 14 or newer and psycopg. Size: 1,000 kills, 50 crashes, 20 restarts, 200 cuts, 10^6 entries.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from measuring import Bar, bars_table, table, versions, write

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from dpaudit import PureDP
from dpaudit.errors import DpauditError, InvalidArgument, LedgerRefusal
from dpaudit.ledger import Ledger, LedgerEntry
from dpaudit.ledger.charges import describe_spending
from dpaudit.ledger.entries import now
from dpaudit.ledger.losses import write_loss
from dpaudit.ledger.places import fill_store
from mechanisms import LaplaceMechanism
from tests.support.postgres import Server, why_there_is_none
from tests.support.proxy import Proxy

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

CLIENTS: Final = 64
CHARGE: Final = Fraction(1, 1_000_000)
CHARGES: Final = 500
"""That one budget covers."""

EVENTS_A_SECOND: Final = 8
PAUSE: Final = 0.3
"""Seconds between the charges of a client, in the mean: clients that only wait for a processor are killed nowhere else."""

SPEED_CLIENTS: Final = 16
SPENDS_A_SECOND: Final = 500
SLOWER: Final = 1.5
"""Times longer that a charge may take after many."""

SCOPE: Final = "survey/person/report"
SMALL: Final = PureDP("1/1000000007")


def survey(number: int) -> str:
    """The scope of one of the budgets."""
    return f"survey-{number}/person"


def client(url: str, used: Path, *, durable: bool) -> None:
    """Charge one budget after the other until killed; what is released is written down before its noise is drawn."""
    from dpaudit.ledger import postgres, server

    server.SILENCE = 3.0  # type: ignore[misc]  # so that a silent connection does not fill the time of the campaign
    if not durable:
        postgres._make_durable = lambda *_: None  # noqa: SLF001 - the control
    errors = (DpauditError,) if durable else (Exception,)  # what a ledger that forgets entries makes of it
    chance = random.Random(str(used))  # noqa: S311 - pauses
    number, noise, failures = 0, LaplaceMechanism(scale=1 / CHARGE, sensitivity=1), Counter[str]()
    with used.open("ab", buffering=0) as file:
        while True:
            try:
                ledger = Ledger(url)
                while True:
                    try:
                        with ledger.charge(PureDP(CHARGE), scope=f"{survey(number)}/report") as charge:
                            file.write(f"{charge.receipt.entry}:{charge.receipt.head.digest}\n".encode("ascii"))
                            noise.release(1)
                        time.sleep(chance.expovariate(1 / PAUSE))
                    except LedgerRefusal:
                        number += 1
                        with suppress(InvalidArgument):  # another client opened it
                            ledger.open_budget(survey(number), PureDP(CHARGES * CHARGE))
            except errors as error:
                failures[getattr(error, "code", "")] += 1
                used.with_name(f"failed-{used.name}").write_text(" ".join(failures.elements()), encoding="ascii")


def proxy(port: int, pipe: Any) -> None:
    """A proxy in a process of its own, which does to the next bytes what it is told."""
    fates: list[str] = []
    between = Proxy(port)
    between.fate = lambda *_: fates.pop() if fates else "pass"
    pipe.send(between.port)
    while True:
        fates.append(pipe.recv())


def killed(events: dict[str, int], seed: int, *, durable: bool = True, clients: int = CLIENTS) -> dict[str, Any]:
    """Kill clients, servers and connections at random moments; what the ledger says afterwards."""
    context, chance = get_context("fork"), random.Random(seed)  # noqa: S311 - moments of kills
    server, folder = Server(autovacuum="on", track_counts="on"), Path(tempfile.mkdtemp())
    here, there = context.Pipe()
    between = context.Process(target=proxy, args=(server.port, there), daemon=True)
    between.start()
    direct = server.database()
    Ledger.create(direct).open_budget(survey(0), PureDP(CHARGES * CHARGE))
    behind = server.url("d1", host=f"127.0.0.1:{here.recv()}")

    def started(number: int) -> BaseProcess:
        process = context.Process(target=client, args=(behind, folder / f"used-{number}"), kwargs={"durable": durable})
        process.start()
        return process

    running, start = [started(number) for number in range(clients)], time.monotonic()
    plan = [name for name, count in events.items() for _ in range(count)]
    chance.shuffle(plan)
    for number, name in enumerate(plan):
        time.sleep(chance.expovariate(EVENTS_A_SECOND))
        if name == "clients killed":
            place = chance.randrange(clients)
            running[place].kill()
            running[place].join()
            running[place] = started(clients + number)
        elif name == "connections cut or silent":
            here.send(chance.choice(["cut", "cut after", "drop"]))
        else:
            (server.crash if name == "server crashed" else server.halt)()
            server.start()
    time.sleep(5)
    seconds = time.monotonic() - start
    for process in (*running, between):
        process.kill()
        process.join()
    ledger = Ledger(direct)
    found, entries, accounts = ledger.verify(), ledger.entries(), ledger.accounts()
    reserved = {f"{entry.number}:{entry.digest.hex()}" for entry in entries if entry.kind == "reserve"}
    lines = [line for file in folder.glob("used-*") for line in file.read_text(encoding="ascii").split("\n")[:-1]]
    failures = Counter(code for file in folder.glob("failed-*") for code in file.read_text(encoding="ascii").split())
    server.stop()
    return {
        **events,
        "seconds": round(seconds, 1),
        "charges": len(reserved),
        "used": len(lines),
        "used twice": len(lines) - len(set(lines)),
        "used without a charge": len(set(lines) - reserved),
        "budgets": len(accounts),
        "budgets passed": sum(account.spent[0] > account.cap.limits[0] for account in accounts),
        "open charges": len(found.open_charges),
        "errors that clients met": dict(failures),
        "problems": list(found.problems),
    }


def spends(url: str, seconds: float, pipe: Any) -> None:
    """Charge for some seconds, and send how long each charge took."""
    ledger, times = Ledger(url), []
    ledger.spend(SMALL, scope=SCOPE)
    pipe.send(None)
    pipe.recv()
    end = time.perf_counter() + seconds
    while (begun := time.perf_counter()) < end:
        ledger.spend(SMALL, scope=SCOPE)
        times.append(time.perf_counter() - begun)
    pipe.send(times)


def timed(url: str, clients: int, seconds: float) -> dict[str, float]:
    """Charges a second of some clients at once, and how long the slowest took."""
    context, pipes = get_context("fork"), []
    for _ in range(clients):
        here, there = context.Pipe()
        context.Process(target=spends, args=(url, seconds, there), daemon=True).start()
        pipes.append(here)
    for go in (lambda pipe: pipe.recv(), lambda pipe: pipe.send(None)):
        for pipe in pipes:
            go(pipe)
    times = sorted(one for pipe in pipes for one in pipe.recv())
    return {
        "per second": len(times) / seconds,
        "p50 ms": 1e3 * times[len(times) // 2],
        "p99 ms": 1e3 * times[int(0.99 * len(times))],
    }


def many_entries(count: int) -> Any:
    """A chain of a budget and very many charges."""
    last = LedgerEntry.after(None, "ledger", now(), {"name": "00", "format": 3})
    yield last
    limits = {
        "guarantee": {"name": "PureDP", "epsilon": "1000"},
        "adjacency": {"kind": "add_remove"},
        "limits": {"epsilon": "1000"},
    }
    last = LedgerEntry.after(last, "budget", now(), {"scope": "survey/person", **limits})
    yield last
    body = {
        "scope": SCOPE,
        "spending": describe_spending(SMALL, 1),
        "loss": write_loss(SMALL),
        "times": 1,
        "note": "",
        "by": "owner",
    }
    body["amounts"] = {"2": {"epsilon": str(SMALL.epsilon)}}
    for _ in range(count - 2):
        last = LedgerEntry.after(last, "spend", now(), body)
        yield last


def syncs(folder: Path) -> float:
    """Writes of one block that the disk takes durably in a second."""
    with closing(os.fdopen(os.open(folder / "sync", os.O_CREAT | os.O_WRONLY, 0o600), "wb", buffering=0)) as file:
        start = time.perf_counter()
        for _ in range(300):
            file.seek(0)
            file.write(bytes(8192))
            os.fdatasync(file.fileno())
    return 300 / (time.perf_counter() - start)


def speed(folder: Path, seconds: float, entries: int) -> dict[str, Any]:
    """Charges a second on a disk, alone and together, and in a ledger of many entries."""
    server = Server(folder, shared_buffers="64MB", max_wal_size="1GB")
    url = server.database()
    Ledger.create(url).open_budget("survey/person", PureDP(1000))
    found: dict[str, Any] = {"syncs": syncs(folder), "one": timed(url, 1, seconds), "full": [], "new": []}
    full = server.database()
    fill_store(full, many_entries(entries))
    for _ in range(4):  # in turn, since the machine may be busy with something else meanwhile
        found["full"].append(timed(full, SPEED_CLIENTS, seconds))
        found["new"].append(timed(url, SPEED_CLIENTS, seconds))
    with server.connection(full) as connection:
        found["entries"] = connection.execute("SELECT count(*) FROM dpaudit.entry").fetchone()[0]
    server.stop()
    return found


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--crashes", type=int, default=50)
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--cuts", type=int, default=200)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="on the disk that is measured")
    parser.add_argument("--only-killed", action="store_true", help="no times, which a busy machine makes worthless")
    parser.add_argument("--only-speed", action="store_true")
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    if reason := why_there_is_none():
        raise SystemExit(reason)
    if not options.only_speed:
        report_killed(options)
    if not options.only_killed:
        report_speed(options)


def report_killed(options: argparse.Namespace) -> None:
    """Write what was found after the deaths; it holds no times, so that a busy machine may make it."""
    names = ("clients killed", "server crashed", "server restarted", "connections cut or silent")
    events = dict(zip(names, (options.kills, options.crashes, options.restarts, options.cuts), strict=True))
    deaths = killed(events, options.seed)
    control = killed({"server crashed": 5}, options.seed, durable=False, clients=8)
    bars = [Bar(name, deaths[name], 0, most=True) for name in ("used twice", "used without a charge", "budgets passed")]
    bars += [
        Bar("problems that `verify` finds", len(deaths["problems"]), 0, most=True),
        Bar("control: charges lost where none is made durable", control["used without a charge"], 1),
    ]
    rows = [[name, str(count)] for name, count in deaths.items() if name not in {"problems", "seconds"}]
    found = table(["what", "how many"], rows)
    page = f"{CLIENTS} clients on one budget after the other, through a proxy.\n\n{found}\n{bars_table(bars)}"
    record = {"killed": deaths, "control": control, "versions": versions(["dpaudit", "psycopg"])}
    write(options.output, "ledger_server_killed", "A ledger whose clients, servers and connections die", page, record)


def report_speed(options: argparse.Namespace) -> None:
    """Write charges a second."""
    found = speed(options.folder, options.seconds, options.entries)
    new, full = (max(one["per second"] for one in found[name]) for name in ("new", "full"))
    many = f"after {found['entries']:,} entries"
    bars = [
        Bar(f"durable charges a second, {SPEED_CLIENTS} clients", new, SPENDS_A_SECOND),
        Bar(f"a charge {many}, times that in a new ledger", new / full, SLOWER, most=True),
    ]
    shown = {"one client": found["one"]}
    shown |= {f"{SPEED_CLIENTS} clients, new ledger, part {n}": one for n, one in enumerate(found["new"], 1)}
    shown |= {f"{SPEED_CLIENTS} clients, {many}, part {n}": one for n, one in enumerate(found["full"], 1)}
    rows = [[name, *(f"{value:.1f}" for value in one.values())] for name, one in shown.items()]
    rates = table(["charges", "a second", "p50 ms", "p99 ms"], rows)
    page = f"The disk alone syncs {found['syncs']:.0f} blocks a second.\n\n{rates}\n"
    record = {"speed": found, "versions": versions(["dpaudit", "psycopg"])}
    write(options.output, "ledger_server", "A ledger on a PostgreSQL server", f"{page}\n{bars_table(bars)}", record)


if __name__ == "__main__":
    main()
