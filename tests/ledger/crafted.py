"""Ledger files that somebody changed, cut, made or locked: each function damages one good file of its own."""

import json
import os
import random
import sqlite3
from contextlib import closing

from dpaudit.ledger import LedgerEntry
from dpaudit.ledger.entries import canonical
from tests.support.postgres import psycopg

TIME = "2026-01-01T00:00:00Z"
PURE = {"epsilon": "1/4"}


def sql(path, *statements, pragmas=()):
    """Run statements on the file with its triggers away, which are put back as they were; on a server with triggers off."""
    if isinstance(path, str):
        _on_server(path, statements)
        return
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in ("ignore_check_constraints = ON", "foreign_keys = OFF", *pragmas):
            connection.execute(f"PRAGMA {pragma}")
        triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(*statement) if isinstance(statement, tuple) else connection.execute(statement)
        for _, text in triggers:
            connection.execute(text)


def _on_server(url, statements):
    """Run statements on the tables of a server as one who may do everything."""
    with closing(psycopg.connect(url, autocommit=True)) as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute("SET search_path = dpaudit")
        for statement in statements:
            text, values = statement if isinstance(statement, tuple) else (statement, None)
            connection.execute(text.replace("?", "%s"), values)


def _entries(path):
    """Kind, time and body of every entry."""
    if isinstance(path, str):
        with closing(psycopg.connect(path)) as connection:
            rows = connection.execute("SELECT kind, time, body FROM dpaudit.entry ORDER BY number").fetchall()
    else:
        with closing(sqlite3.connect(path)) as connection:
            rows = connection.execute("SELECT kind, time, body FROM entry ORDER BY number").fetchall()
    return [(kind, time, json.loads(body)) for kind, time, body in rows]


def schema(path, *statements):
    """Change the file's tables and what is beside them."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def rewritten(path, change):
    """Change bodies, then give every entry the hash that it has to have: what somebody does who knows the chain."""
    said = change(_entries(path))
    statements, last = ["DELETE FROM entry"], None
    for kind, time, body in said:
        last = LedgerEntry.after(last, kind, time, body)
        statements.append(
            (
                "INSERT INTO entry (number, kind, time, body, hash) VALUES (?, ?, ?, ?, ?)",
                (last.number, kind, time, canonical(body), last.digest),
            )
        )
    if isinstance(path, str):  # the head that a server keeps is made to fit too
        statements.append(("UPDATE head SET number = ?, hash = ?", (last.number, last.digest)))
    sql(path, *statements)


def body_of(path, number, change):
    """Change the body of one entry, the chain made to fit."""

    def changed(said):
        kind, time, body = said[number - 1]
        said[number - 1] = (kind, time, {**body, **change})
        return said

    rewritten(path, changed)


def table_without_types(path):
    """Put a table that takes anything where the strict one was, which the schema does not show."""
    schema(path, "CREATE TABLE other (number INTEGER PRIMARY KEY, kind, time, body, hash)", "INSERT INTO other SELECT * FROM entry")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        (root,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'other'").fetchone()
        (old,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'entry'").fetchone()
        connection.execute("UPDATE sqlite_schema SET rootpage = ? WHERE name = 'entry'", (root,))
        connection.execute("UPDATE sqlite_schema SET rootpage = ? WHERE name = 'other'", (old,))


def typed(path, column, value):
    """A value of a wrong type in a column of the third entry."""
    table_without_types(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        texts = dict(connection.execute("SELECT name, sql FROM sqlite_schema").fetchall())
        loose = texts["other"].replace("other", "entry")
        connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'entry'", (loose,))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER no_change")
        connection.execute(f"UPDATE entry SET {column} = ? WHERE number = 3", (value,))  # noqa: S608 - a name of this file
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = ? WHERE name = 'entry'", (texts["entry"],))
        connection.execute("PRAGMA writable_schema = OFF")
    schema(path, "DROP TABLE other", texts["no_change"])


def bytes_of(path, change):
    """Change the bytes of the file."""
    path.write_bytes(change(path.read_bytes()))


def replaced(path, make):
    """Put something else where the file was."""
    path.unlink()
    make(path)


def noisy(data):
    """Some bytes of every page but the first at random."""
    chance, changed = random.Random(3), bytearray(data)  # noqa: S311 - a fault that repeats
    for place in range(4096, len(changed), 97):
        changed[place] = chance.randrange(256)
    return bytes(changed)


def overspent_text(said):
    """An entry that says epsilon = 100 and pays nothing."""
    kind, time, body = said[2]
    loss = {"guarantee": {"name": "PureDP", "epsilon": "100"}}
    said[2] = (kind, time, {**body, "loss": loss, "spending": "epsilon = 100", "amounts": {"2": {"epsilon": "0"}}})
    return said


LOSS = {"adjacency": {"kind": "add_remove"}, "parts": []}
NESTED = "[" * 100_000 + "]" * 100_000
ENDLESS = (
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n AS number, '' kind, '' time, '' body, x'' hash FROM c"
)

FILES = {
    "empty": lambda path: path.write_bytes(b""),
    "one byte": lambda path: path.write_bytes(b"S"),
    "prose": lambda path: path.write_text("not a ledger"),
    "a header and nothing": lambda path: path.write_bytes(b"SQLite format 3\x00"),
    "a header and zeros": lambda path: path.write_bytes(b"SQLite format 3\x00" + bytes(8000)),
    "half": lambda path: bytes_of(path, lambda data: data[: len(data) // 2]),
    "one page less": lambda path: bytes_of(path, lambda data: data[:-4096]),
    "one byte less": lambda path: bytes_of(path, lambda data: data[:-1]),
    "pages at random": lambda path: bytes_of(path, noisy),
    "the second page blank": lambda path: bytes_of(path, lambda data: data[:4096] + bytes(4096) + data[8192:]),
    "schema page at random": lambda path: bytes_of(path, lambda data: data[:100] + os.urandom(3996) + data[4096:]),
    "a page size of 3": lambda path: bytes_of(path, lambda data: data[:16] + b"\x00\x03" + data[18:]),
    "another program's file": lambda path: sql(path, pragmas=["application_id = 0"]),
    "version 99": lambda path: sql(path, pragmas=["user_version = 99"]),
    "version -1": lambda path: sql(path, pragmas=["user_version = -1"]),
    "no entries table": lambda path: schema(path, "DROP TABLE entry"),
    "no budgets table": lambda path: schema(path, "DROP TABLE budget"),
    "no table of open charges": lambda path: schema(path, "DROP TABLE open_charge"),
    "no tables": lambda path: schema(path, "DROP TABLE open_charge", "DROP TABLE budget", "DROP TABLE entry"),
    "a trigger dropped": lambda path: schema(path, "DROP TRIGGER no_change"),
    "both triggers dropped": lambda path: schema(path, "DROP TRIGGER no_change", "DROP TRIGGER no_removal"),
    "a trigger that does nothing": lambda path: schema(
        path, "DROP TRIGGER no_removal", "CREATE TRIGGER no_removal BEFORE DELETE ON entry BEGIN SELECT 1; END"
    ),
    "a trigger that refunds": lambda path: schema(
        path, 'CREATE TRIGGER gift AFTER INSERT ON entry BEGIN UPDATE budget SET spent = \'{"epsilon": "0"}\'; END'
    ),
    "a view beside": lambda path: schema(path, "CREATE VIEW others AS SELECT * FROM entry"),
    "a table beside": lambda path: schema(path, "CREATE TABLE others (x)"),
    "an index beside": lambda path: schema(path, "CREATE INDEX quick ON entry (kind)"),
    "an endless view for entries": lambda path: schema(path, "DROP TABLE entry", f"CREATE VIEW entry AS {ENDLESS}"),
    "an endless view for open charges": lambda path: schema(
        path, "DROP TABLE open_charge", f"CREATE VIEW open_charge AS {ENDLESS}"
    ),
    "entries without types": lambda path: schema(
        path, "ALTER TABLE entry RENAME TO old", "CREATE TABLE entry (number, kind, time, body, hash)"
    ),
    "a column more": lambda path: schema(path, "ALTER TABLE entry ADD COLUMN more TEXT"),
    "a kind that is a number": lambda path: typed(path, "kind", 7),
    "a time that is bytes": lambda path: typed(path, "time", b"\x00"),
    "a time that is nothing": lambda path: typed(path, "time", None),
    "a body that is a number": lambda path: typed(path, "body", 1.5),
    "a body that is bytes": lambda path: typed(path, "body", b"\xff\xfe"),
    "a hash that is text": lambda path: typed(path, "hash", "0" * 32),
    "a short hash": lambda path: sql(path, "UPDATE entry SET hash = x'00' WHERE number = 3"),
    "a body that is no JSON": lambda path: sql(path, "UPDATE entry SET body = '{' WHERE number = 3"),
    "a body that is a list": lambda path: sql(path, "UPDATE entry SET body = '[]' WHERE number = 3"),
    "a body nested deeply": lambda path: sql(path, ("UPDATE entry SET body = ? WHERE number = 3", (NESTED,))),
    "a budget nested deeply": lambda path: sql(path, ("UPDATE entry SET body = ? WHERE number = 2", ('{"scope":' + NESTED + "}",))),
    "the first body nested deeply": lambda path: sql(path, ("UPDATE entry SET body = ? WHERE number = 1", (NESTED,))),
    "a body with NaN": lambda path: sql(path, "UPDATE entry SET body = '{\"times\": NaN}' WHERE number = 3"),
    "a number of 5000 digits": lambda path: sql(
        path, ("UPDATE entry SET body = ? WHERE number = 3", ('{"times":' + "9" * 5000 + "}",))
    ),
    "bytes that are no text": lambda path: sql(path, "UPDATE entry SET body = CAST(x'7bff7d' AS TEXT) WHERE number = 3"),
    "a kind that is no text": lambda path: sql(path, "UPDATE entry SET kind = CAST(x'1b5bff' AS TEXT) WHERE number = 3"),
    "a kind with escapes": lambda path: rewritten(path, lambda said: [*said, ("\x1b[2J\u202e", TIME, {})]),
    "a time with escapes": lambda path: rewritten(path, lambda said: [*said[:2], (said[2][0], "\x1b[2J", said[2][2]), *said[3:]]),
    "a note with escapes": lambda path: body_of(path, 3, {"note": "\x1b]0;x\x07\u202e\nhead 1:00"}),
    "a note of half a letter": lambda path: body_of(path, 3, {"note": "\ud800"}),
    "a spending with escapes": lambda path: body_of(path, 3, {"spending": "\x1b[31m"}),
    "a scope with escapes": lambda path: body_of(path, 2, {"scope": "a\x1b[31m/b"}),
    "an amount below 0": lambda path: body_of(path, 3, {"amounts": {"2": {"epsilon": "-1/4"}}}),
    "an amount with a vast exponent": lambda path: body_of(path, 3, {"amounts": {"2": {"epsilon": "1e999999999999"}}}),
    "an amount that is NaN": lambda path: body_of(path, 3, {"amounts": {"2": {"epsilon": "nan"}}}),
    "an amount that is a list": lambda path: body_of(path, 3, {"amounts": {"2": {"epsilon": [1]}}}),
    "amounts that are a number": lambda path: body_of(path, 3, {"amounts": 0}),
    "an amount of a budget that is not there": lambda path: body_of(path, 3, {"amounts": {"2": PURE, "77": PURE}}),
    "epsilon 100 for nothing": lambda path: (
        rewritten(path, overspent_text),
        sql(path, 'UPDATE budget SET spent = \'{"epsilon": "1/4"}\''),
    ),
    "a loss that costs more": lambda path: body_of(
        path, 3, {"loss": {"guarantee": {"name": "PureDP", "epsilon": "1/2"}}, "spending": "epsilon = 1/2"}
    ),
    "a loss that is another than said": lambda path: body_of(path, 3, {"spending": "epsilon = 1/1000"}),
    "more times than paid": lambda path: body_of(path, 3, {"times": 2, "spending": "2 * epsilon = 1/4"}),
    "times that are a truth value": lambda path: body_of(path, 3, {"times": True}),
    "times of a size that nobody prints": lambda path: sql(
        path, ("UPDATE entry SET body = ? WHERE number = 3", ('{"times": 1' + "0" * 4200 + "}",))
    ),
    "no loss": lambda path: rewritten(
        path,
        lambda said: [
            *said[:2],
            (*said[2][:2], {"scope": "survey/person/x", "spending": "", "note": "", "amounts": {"2": PURE}}),
            *said[3:],
        ],
    ),
    "a loss of a law that is none": lambda path: body_of(path, 3, {"loss": {**LOSS, "parts": [[{"is": "Popen", "args": "x"}, 1]]}}),
    "a loss of a law with a sign": lambda path: body_of(
        path, 3, {"loss": {**LOSS, "parts": [[{"is": "Laplace", "scale": {"exact": "-1"}, "sensitivity": {"exact": "1"}}, 1]]}}
    ),
    "a loss of a law without numbers": lambda path: body_of(
        path, 3, {"loss": {**LOSS, "parts": [[{"is": "Laplace", "scale": "x", "sensitivity": None}, 1]]}}
    ),
    "a loss nested deeply": lambda path: body_of(path, 3, {"loss": json.loads('{"curve":' * 500 + "{}" + "}" * 500)}),
    "a charge that is not to be compared": lambda path: body_of(path, 4, {"compared": False}),
    "a budget enlarged": lambda path: sql(path, "UPDATE entry SET body = replace(body, '\"1\"', '\"9\"') WHERE number = 2"),
    "limits enlarged and hashed": lambda path: body_of(path, 2, {"limits": {"epsilon": "9"}}),
    "a guarantee that is none": lambda path: body_of(path, 2, {"guarantee": {"name": "os.system", "epsilon": "1"}}),
    "a guarantee with an unknown part": lambda path: body_of(path, 2, {"guarantee": {"name": "PureDP", "epsilon": "1", "x": "1"}}),
    "a guarantee of vast orders": lambda path: body_of(
        path, 2, {"guarantee": {"name": "RDP", "orders": {"1e4000": "1e4000"}}, "limits": {"x": "1"}}
    ),
    "an adjacency that is none": lambda path: body_of(path, 2, {"adjacency": {"kind": "\x1b[31m"}}),
    "a total that is no JSON": lambda path: sql(path, "UPDATE budget SET spent = 'x'"),
    "a total nested deeply": lambda path: sql(path, ("UPDATE budget SET spent = ?", (NESTED,))),
    "a total set back": lambda path: sql(path, 'UPDATE budget SET spent = \'{"epsilon": "0"}\''),
    "a total that is no text": lambda path: sql(path, "UPDATE budget SET spent = CAST(x'ff' AS TEXT)"),
    "a budget for another scope": lambda path: sql(path, "UPDATE budget SET unit = 'household'"),
    "a budget for a scope with escapes": lambda path: sql(path, "UPDATE budget SET unit = char(27) || '[2J'"),
    "a budget without an entry": lambda path: sql(path, "INSERT INTO budget VALUES (77, 'a', 'b', '', '{\"epsilon\": \"0\"}')"),
    "no budgets": lambda path: sql(path, "DELETE FROM budget"),
    "an open charge more": lambda path: sql(path, "INSERT INTO open_charge VALUES (3)"),
    "an open charge of no entry": lambda path: sql(path, "INSERT INTO open_charge VALUES (9223372036854775807)"),
    "entries before the first": lambda path: sql(
        path, "INSERT INTO entry SELECT -5, kind, time, body, hash FROM entry WHERE number = 1"
    ),
    "a gap of numbers": lambda path: sql(path, "UPDATE entry SET number = 9223372036854775807 WHERE number = 5"),
    "no entries": lambda path: sql(path, "DELETE FROM entry"),
    "no first entry": lambda path: sql(path, "DELETE FROM entry WHERE number = 1"),
    "an entry twice": lambda path: rewritten(path, lambda said: [*said, said[1]]),
    "a commit twice": lambda path: rewritten(path, lambda said: [*said, said[4]]),
    "a commit of nothing known": lambda path: body_of(path, 5, {"ran": [{"kind": "witchcraft"}]}),
    "a commit that released more": lambda path: rewritten(
        path, lambda said: [*said[:4], (*said[4][:2], {**said[4][2], "ran": said[4][2]["ran"] * 3})]
    ),
    "a commit of insecure noise": lambda path: rewritten(
        path, lambda said: [*said[:4], (*said[4][:2], {**said[4][2], "ran": [{**said[4][2]["ran"][0], "secure": False}]})]
    ),
    "an overrun of nothing": lambda path: rewritten(
        path,
        lambda said: [
            *said[:4],
            (*said[4][:2], {**said[4][2], "ran": said[4][2]["ran"] * 3}),
            ("overrun", TIME, {"charge": 4, "amounts": {"2": {"epsilon": "0"}}}),
        ],
    ),
    "an overrun out of nowhere": lambda path: rewritten(
        path, lambda said: [*said, ("overrun", TIME, {"charge": 3, "amounts": {"2": {"epsilon": "0"}}})]
    ),
    "a charge number that is a list": lambda path: rewritten(path, lambda said: [*said, ("cancel", TIME, {"charge": [4]})]),
    "an older format": lambda path: rewritten(path, lambda said: [*said, ("format", TIME, {"format": 1})]),
    "a format that is a text": lambda path: rewritten(
        path, lambda said: [("ledger", TIME, {"name": "x", "format": "2"}), *said[1:]]
    ),
    "a folder": lambda path: replaced(path, lambda place: place.mkdir()),
    "a pipe": lambda path: replaced(path, os.mkfifo),
    "a link to a device": lambda path: replaced(path, lambda place: place.symlink_to("/dev/zero")),
    "a link to itself": lambda path: replaced(path, lambda place: place.symlink_to(place.name)),
    "a write-ahead log": lambda path: bytes_of(path, lambda data: data[:18] + b"\x07\x07" + data[20:]),
    "a journal of rubbish": lambda path: (
        path.with_name(path.name + "-journal").write_bytes(
            bytes.fromhex("d9d505f920a163d7")
            + b"\x00\x00\x00\x01"
            + bytes(4)
            + b"\x00\x00\x00\x01"
            + b"\x00\x00\x02\x00\x00\x00\x10\x00"
            + bytes(484)
            + b"\x00\x00\x00\x02"
            + bytes(4096 + 4)
        ),
        bytes_of(path, lambda data: data[:4096] + bytes(4096) + data[8192:]),
    ),
}
"""What becomes of a good ledger of five entries: its making, a budget, a spend, a charge and its commit."""


SERVERS = [
    *(
        name
        for name, craft in FILES.items()
        if set(craft.__code__.co_names) & {"rewritten", "body_of"} and "sql" not in craft.__code__.co_names
    ),
    *("epsilon 100 for nothing", "a body that is no JSON", "a body that is a list", "a body nested deeply", "a body with NaN"),
    *(
        "a number of 5000 digits",
        "times of a size that nobody prints",
        "a budget enlarged",
        "a total that is no JSON",
        "a total set back",
    ),
    *("a budget for another scope", "no budgets", "an open charge more", "a gap of numbers", "no entries", "no first entry"),
]
"""Those that somebody with all rights can do to a ledger on a server by the same statements."""


def exported(lines):
    """The lines of an export as text, each after a change."""
    return "\n".join(lines)


EXPORTS = {
    "cut in a line": lambda lines: exported(lines)[:-20],
    "without the first": lambda lines: exported(lines[1:]),
    "in another order": lambda lines: exported(reversed(lines)),
    "with a line of prose": lambda lines: exported([*lines, "\x1b[2J hello"]),
    "with a line nested deeply": lambda lines: exported([*lines, NESTED]),
    "with NaN": lambda lines: exported([*lines[:2], lines[2].replace('"times": 1', '"times": NaN'), *lines[3:]]),
    "with a vast number": lambda lines: exported([*lines, '{"number": ' + "9" * 6000 + "}"]),
    "with a hash that is none": lambda lines: exported([*lines[:4], lines[4].replace('"hash": "', '"hash": "zz')]),
    "with half letters": lambda lines: exported([*lines[:2], lines[2].replace("weekly", "\\ud800"), *lines[3:]]),
    "with one kind changed": lambda lines: exported([*lines[:2], lines[2].replace("spend", "\\u001b[2J", 1), *lines[3:]]),
    "with a body that is a list": lambda lines: exported(
        [*lines, json.dumps({"number": 6, "kind": "spend", "time": TIME, "body": [], "hash": ""})]
    ),
    "with a number that is a truth value": lambda lines: exported([lines[0].replace('"number": 1', '"number": true'), *lines[1:]]),
}
"""What becomes of the lines of a good export."""
