"""A ledger on a PostgreSQL server: one lock, one order of entries, and an answer only after what was written is durable.

Whatever fails, a change falls to one side. Before the server has it, it is not made. While it is under way, the same change is sent
again under the same number of its call, which the server makes once. An answer that is followed by a loss of the server's memory
is noticed when the entry is made durable, and the change is sent again. If the server stays away, the error says that the change
may have been made (DPA813), and no block runs: charged perhaps, released never.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import psycopg
from psycopg.types.json import Jsonb

from dpaudit.errors import DpauditError, LedgerFailure
from dpaudit.ledger import postgres_tables, server
from dpaudit.ledger.entries import LedgerEntry, canonical
from dpaudit.ledger.server import Connection, Server
from dpaudit.ledger.state import Draft, Found, State, Written

_BEFORE: Final = "hash_of(b.number - 1)"
_PENDING: Final = "SELECT number, body FROM pending()"

_MOVED_ON: Final = frozenset({"DP802", "DP806", "DP810", "DP811", "DP815"})
"""Refusals of a plan that others overtook: made again, it says what is wrong now, or is right again."""

_PLANS: Final = 50
"""Times that a plan is made again for this."""

_LONGEST_PAUSE: Final = 1.0


class _LostError(Exception):
    """The server forgot an entry before it was durable."""


class PostgresStore:
    """A ledger in the schema `dpaudit` of a database."""

    def __init__(self, url: str) -> None:
        """Remember the address; the server is asked when it is needed."""
        self._server = Server(url)

    @property
    def place(self) -> str:
        """The host and the database, for messages."""
        return self._server.place

    @classmethod
    def fill(cls, url: str, entries: Iterable[LedgerEntry]) -> PostgresStore:
        """Make the schema with these entries, which are a whole chain; DPA803 where there is one already."""
        store = cls(url)
        with store._connected() as connection, connection.transaction():
            try:
                postgres_tables.make_tables(connection)
            except psycopg.errors.DuplicateSchema:
                raise LedgerFailure(
                    "DPA803", f"{store.place} is there already, and a ledger is never overwritten. Choose another database."
                ) from None
            postgres_tables.fill_tables(connection, entries)
        return store

    def write(self, plan: Callable[[State], Sequence[Draft]], *, exact: bool = False) -> Written:
        """Make one change, once, whatever becomes of connections meanwhile; it is durable when this returns."""
        change = _Change(self._server, plan, exact=exact)
        return self._patiently(change.attempt, lambda: change.sent)

    def read(self, question: Callable[[State], Found]) -> Found:
        """Read one state of the ledger, whatever others write meanwhile."""

        def attempt(connection: Connection) -> Found:
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                return question(_state(connection))

        return self._patiently(attempt, lambda: False)

    def examine(self, question: Callable[[State, Sequence[str], Sequence[str]], Found]) -> Found:
        """Read one state with what is wrong with the tables; only roles that may read everything can."""

        def attempt(connection: Connection) -> Found:
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                tables, others = postgres_tables.differences(connection)
                if not tables and connection.execute("SELECT dpaudit.is_auditor()").fetchall() != [(True,)]:
                    raise LedgerFailure("DPA812", f"{self.place}: this role reads a part of the ledger only. Verify as an auditor.")
                return question(_state(connection), tables, others)

        return self._patiently(attempt, lambda: False)

    def settle(self, head: LedgerEntry) -> None:
        """Make an entry that was read durable, so that its hash may be kept elsewhere; a copy that is only read has it so."""

        def attempt(connection: Connection) -> None:
            if connection.execute("SELECT pg_is_in_recovery()").fetchall() == [(False,)]:
                _make_durable(connection, head)

        self._patiently(attempt, lambda: False)

    def backup(self, path: str | os.PathLike[str]) -> None:  # noqa: ARG002 - the file of another kind of ledger
        """Refuse: a server has its own tools."""
        raise LedgerFailure("DPA804", f"{self.place} is no file. Use pg_dump, or `dpaudit ledger export`.")

    def grant(self, role: str, may: str, scope: tuple[str, str, str]) -> list[str]:
        """Give a role the right to "audit" everything or to "spend" on a scope; return the statements that were run."""
        return self._patiently(lambda connection: postgres_tables.grant(connection, role, may, scope), lambda: False)

    def _patiently(self, attempt: Callable[[Connection], Found], is_sent: Callable[[], bool]) -> Found:
        """Repeat an attempt while what fails may pass, in longer and longer pauses, until the patience is at an end."""
        end, pause = time.monotonic() + server.PATIENCE, 0.002
        while True:
            try:
                with self._server.connection() as connection:
                    return attempt(connection)
            except (psycopg.Error, _LostError) as error:
                if not (isinstance(error, _LostError) or server.passes(error)) or time.monotonic() + pause > end:
                    raise self._server.failure(error, doubt=is_sent()) from None  # its text may quote the address
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    def _connected(self) -> Connection:
        """A new connection, to a database that may have no ledger."""
        try:
            return self._server.connect()
        except psycopg.Error as error:
            raise self._server.failure(error, doubt=False) from None

    def __getstate__(self) -> dict[str, Any]:
        """Return the address; connections cannot cross processes."""
        return {"url": self._server.url}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Connect to the same server when it is needed."""
        self.__init__(state["url"])  # type: ignore[misc]


class _Change:
    """One change over all attempts to make it."""

    def __init__(self, to: Server, plan: Callable[[State], Sequence[Draft]], *, exact: bool) -> None:
        self._server, self._plan, self._exact = to, plan, exact
        self._call, self._plans = secrets.token_hex(16), 0
        self.sent = False
        """True from the first request on that may still be under way."""

    def attempt(self, connection: Connection) -> Written:
        """Make the change unless it was made, and make it durable."""
        rows = self._made(connection) if self.sent else []
        while not rows:
            try:
                rows = self._appended(connection)
            except DpauditError:
                # An earlier request may have made the change that is now refused; what still is on its way is forbidden.
                if not (self.sent and connection.execute("SELECT dpaudit.give_up(%s)", (self._call,)).fetchall() == [(True,)]):
                    raise
                rows = self._made(connection)
        written = _written(rows)
        _make_durable(connection, written.entries[-1])
        return written

    def _made(self, connection: Connection) -> list[tuple[Any, ...]]:
        """Return the entries of this change as the server has them, none if it was not made yet."""
        statement = "SELECT e.kind, m.* FROM dpaudit.change_made(%s) m JOIN dpaudit.entry e ON e.number = m.new_number ORDER BY 2"
        return connection.execute(statement, (self._call,)).fetchall()

    def _appended(self, connection: Connection) -> list[tuple[Any, ...]]:
        """Plan the change and send it; none where others overtook the plan."""
        try:
            if not self._exact:
                return self._send(connection, self._plan(_state(connection)))
            with connection.transaction():
                connection.execute("SELECT dpaudit.hold()")
                return self._send(connection, self._plan(_state(connection)))
        except psycopg.Error as error:
            self._plans += 1
            if error.sqlstate in _MOVED_ON and self._plans <= _PLANS:
                return []
            raise

    def _send(self, connection: Connection, drafts: Sequence[Draft]) -> list[tuple[Any, ...]]:
        """Append the entries of a plan."""
        kinds = [draft.kind for draft in drafts]
        bodies = [Jsonb(dict(draft.body), dumps=canonical) for draft in drafts]
        before, self.sent = self.sent, True
        try:
            rows = connection.execute("SELECT * FROM dpaudit.append(%s, %s, %s)", (kinds, bodies, self._call)).fetchall()
        except psycopg.Error as error:
            if error.sqlstate is not None and not connection.closed:
                self.sent = before  # an answer: this request changed nothing
            raise
        return [(kind, *row) for kind, row in zip(kinds, rows, strict=True)]


def _written(rows: Sequence[tuple[Any, ...]]) -> Written:
    """Return what the server wrote; DPA805 where the hashes are not those of the entries."""
    entries, spent = [], dict[int, Mapping[str, str]]()
    for kind, number, moment, body, digest, before, totals in rows:
        entry = LedgerEntry(number, kind, moment, MappingProxyType(json.loads(body)), digest)
        if not entry.continues(before):
            raise LedgerFailure("DPA805", f"the server wrote entry {number} with another hash than it has. Verify the ledger.")
        entries.append(entry)
        spent.update({int(budget): total for budget, total in totals.items()})
    return Written(tuple(entries), spent)


def _make_durable(connection: Connection, entry: LedgerEntry) -> None:
    """Wait until an entry survives a loss of power; an error where the server has forgotten it since."""
    found = connection.execute("SELECT dpaudit.make_durable(%s, %s)", (entry.number, entry.digest)).fetchall()
    if found != [(True,)]:
        raise _LostError("an entry was lost with the server's memory")


def _state(connection: Connection) -> State:
    """The state that a connection sees."""

    def rows(statement: str, values: Sequence[object]) -> Iterator[tuple[Any, ...]]:
        return iter(connection.execute(statement.replace("?", "%s").encode(), values))

    def stream(statement: str, values: Sequence[object]) -> Iterator[tuple[Any, ...]]:
        with connection.cursor("entries") as cursor:
            cursor.itersize = 2000
            yield from cursor.execute(statement.replace("?", "%s").encode(), values)

    return State(rows, _BEFORE, _PENDING, stream=stream)
