"""The schema of a ledger on PostgreSQL: made, filled, granted to roles, and compared with what it should be."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

from dpaudit.errors import InvalidArgument
from dpaudit.ledger.entries import LedgerEntry, Scope, canonical
from dpaudit.ledger.replay import Replay
from dpaudit.ledger.tables import VERSION

_READ: Final = ("entry", "budget", "open_charge", "keyed", "head")
_TABLES: Final = frozenset({*_READ, "change", "access"})
_FOR_READERS: Final = (
    "is_auditor()",
    "may_read(text, text, text, boolean)",
    "hash_of(bigint)",
    "pending()",
    "make_durable(bigint, bytea)",
)
_FOR_SPENDERS: Final = ("append(text[], jsonb[], text)", "change_made(text)", "give_up(text)", "hold()")

_COLUMNS: Final = """
    SELECT c.relname, string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = 'dpaudit'::regnamespace AND c.relkind = 'r' GROUP BY c.relname"""
_FUNCTIONS: Final = """
    SELECT proname, prosrc, prosecdef, coalesce(array_to_string(proconfig, ';'), '')
    FROM pg_proc WHERE pronamespace = 'dpaudit'::regnamespace"""
_GUARDS: Final = """
    SELECT 'row security of ' || relname FROM pg_class WHERE relnamespace = 'dpaudit'::regnamespace AND relrowsecurity
    UNION ALL SELECT 'policy ' || p.polname || ' of ' || c.relname || ': ' || pg_get_expr(p.polqual, p.polrelid)
    FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid WHERE c.relnamespace = 'dpaudit'::regnamespace
    UNION ALL SELECT 'trigger ' || tgname || ' of ' || c.relname || ' ' || tgtype || ' ' || tgenabled::text
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = 'dpaudit'::regnamespace AND NOT tgisinternal"""
_OBJECTS: Final = """
    SELECT relkind::text || ' ' || relname FROM pg_class
    WHERE relnamespace = 'dpaudit'::regnamespace AND relkind NOT IN ('i', 't', 'c')
    UNION ALL SELECT 'constraint of ' || contype::text || ' on ' || conrelid::regclass || ' ' || array_length(conkey, 1)
    FROM pg_constraint WHERE connamespace = 'dpaudit'::regnamespace AND contype <> 'n'
    UNION ALL SELECT 'rule ' || rulename FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
    WHERE c.relnamespace = 'dpaudit'::regnamespace"""
_WRITERS: Final = """
    SELECT x.grantee FROM pg_class c, aclexplode(c.relacl) x
    WHERE c.relnamespace = 'dpaudit'::regnamespace AND x.grantee <> c.relowner AND x.privilege_type <> 'SELECT'
    UNION SELECT x.grantee FROM pg_namespace n, aclexplode(n.nspacl) x
    WHERE n.nspname = 'dpaudit' AND x.grantee <> n.nspowner AND x.privilege_type <> 'USAGE'"""


def make_tables(connection: psycopg.Connection[Any]) -> None:
    """Make schema, tables and functions, inside a transaction."""
    connection.execute(_script().encode())


def fill_tables(connection: psycopg.Connection[Any], entries: Iterable[LedgerEntry]) -> None:
    """Write a whole chain and what follows from it into new tables; the caller has verified it."""
    replay, last = Replay(), None
    scopes: dict[int, tuple[str | None, str | None, str | None]] = {}
    with connection.cursor().copy("COPY dpaudit.entry FROM STDIN") as copy:
        for entry in entries:
            scope = scopes.get(entry.body.get("charge", 0), (None, None, None))
            if "scope" in entry.body:
                scope = Scope.of(entry.body["scope"]).key
            if entry.kind in {"spend", "reserve"}:
                scopes[entry.number] = scope
            copy.write_row((entry.number, entry.kind, entry.time, canonical(dict(entry.body)), entry.digest, *scope))
            replay.read(entry)
            last = entry
    for number, cap in replay.caps.items():
        limits, spent = Jsonb(cap.written(cap.limits)), canonical(cap.written(replay.spent[number]))
        row = (number, *replay.scopes[number].key, limits, spent)
        connection.execute("INSERT INTO dpaudit.budget VALUES (%s, %s, %s, %s, %s, %s)", row)
    for number in replay.open:
        connection.execute("INSERT INTO dpaudit.open_charge VALUES (%s)", (number,))
    for key, number in replay.keys.items():
        connection.execute("INSERT INTO dpaudit.keyed VALUES (%s, %s)", (key, number))
    if last is not None:
        newest = (last.number, last.digest, VERSION)
        connection.execute("INSERT INTO dpaudit.head (number, hash, format) VALUES (%s, %s, %s)", newest)


def grant(connection: psycopg.Connection[Any], role: str, may: str, scope: tuple[str, str, str]) -> list[str]:
    """Give a role its rights in one transaction, and return the statements."""
    functions = (*_FOR_READERS, *(_FOR_SPENDERS if may == "spend" else ()))
    name = sql.Identifier(role)
    granted = [
        sql.SQL("GRANT USAGE ON SCHEMA dpaudit TO {}").format(name),
        sql.SQL("GRANT SELECT ON {} TO {}").format(sql.SQL(", ").join(sql.Identifier("dpaudit", table) for table in _READ), name),
        sql.SQL("GRANT EXECUTE ON FUNCTION {} TO {}").format(
            sql.SQL(", ").join(sql.SQL("dpaudit." + function) for function in functions), name
        ),
        sql.SQL("INSERT INTO dpaudit.access VALUES ({}) ON CONFLICT DO NOTHING").format(
            sql.SQL(", ").join(sql.Literal(value) for value in (role, may, *scope))
        ),
    ]
    with connection.transaction():
        try:
            for statement in granted:
                connection.execute(statement)
        except psycopg.errors.UndefinedObject:
            raise InvalidArgument("DPA105", "there is no such role on the server. Create it first, with CREATE ROLE.") from None
    return [statement.as_string(connection) for statement in granted]


def differences(connection: psycopg.Connection[Any]) -> tuple[list[str], list[str]]:
    """Return why a schema cannot be read as a ledger, and its other differences, without quoting names from it."""
    columns = dict(connection.execute(_COLUMNS).fetchall())
    expected = _columns()
    tables = [f"the table {name} is missing or another" for name, text in expected.items() if columns.get(name) != text]
    rows = connection.execute(_FUNCTIONS).fetchall()
    found = {name: tuple(rest) for name, *rest in rows}
    functions = {name: tuple(facts) for name, *facts in _functions()}
    others = [f"the function {name} is missing or another" for name, facts in functions.items() if found.get(name) != facts]
    guards = {" ".join(guard.split()).replace("( ", "(") for (guard,) in connection.execute(_GUARDS).fetchall()}
    others += [f"missing or another: {guard.partition(':')[0]}" for guard in _guards() if guard not in guards]
    foreign = len(rows) - len(functions) + len(columns.keys() - expected.keys()) + len(guards - _guards())
    objects = [text for (text,) in connection.execute(_OBJECTS).fetchall()]
    kinds = [text for text in objects if not (text.startswith("constraint") or text[2:] in expected)]
    if foreign or kinds or sum(text.startswith("constraint") for text in objects) != _CONSTRAINTS:
        others.append("the schema holds objects that no ledger has, or lacks constraints")
    writers = connection.execute(_WRITERS).fetchall()
    if writers:
        others.append(f"{len(writers)} roles beside the owner may change tables or the schema directly")
    return tables, others


_CONSTRAINTS: Final = 12
"""Primary keys, unique columns and checks of the script."""


@lru_cache
def _script() -> str:
    """Return the script that makes a ledger."""
    return (files("dpaudit.ledger") / "schema.sql").read_text(encoding="utf-8")


def _functions() -> Iterator[tuple[str, str, bool, str]]:
    """Yield name, body, security and settings of each function of the script."""
    for name, head, body in re.findall(r"CREATE FUNCTION dpaudit\.(\w+)(.*?)AS \$body\$(.*?)\$body\$", _script(), re.DOTALL):
        yield name, body, "SECURITY DEFINER" in head, "search_path=pg_catalog, pg_temp" if "SET search_path" in head else ""


def _columns() -> dict[str, str]:
    """Return the columns of each table of the script."""
    return {
        "entry": "number bigint, kind text, time text, body text, hash bytea, dataset text, unit text, purpose text",
        "budget": "number bigint, dataset text, unit text, purpose text, limits jsonb, spent text",
        "open_charge": "number bigint",
        "keyed": "key text, number bigint",
        "head": "one boolean, number bigint, hash bytea, format integer",
        "change": "call text, number bigint, entries integer, role name",
        "access": "role name, may text, dataset text, unit text, purpose text",
    }


def _guards() -> frozenset[str]:
    """Return row security, policies and triggers as the catalogue writes them."""
    return frozenset(
        {
            *(f"row security of {table}" for table in ("entry", "budget", "open_charge", "keyed")),
            "policy reading of entry: may_read(dataset, unit, purpose, (kind = 'budget'::text))",
            "policy reading of budget: may_read(dataset, unit, purpose, true)",
            "policy reading of open_charge: (EXISTS (SELECT FROM entry e WHERE (e.number = open_charge.number)))",
            "policy reading of keyed: (EXISTS (SELECT FROM entry e WHERE (e.number = keyed.number)))",
            "trigger no_change of entry 58 O",
        }
    )
