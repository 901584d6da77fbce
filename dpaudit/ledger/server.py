"""Connections to a PostgreSQL server: checked when they are made, kept between changes, given up when the server falls silent."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any, Final
from urllib.parse import quote

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.conninfo import conninfo_to_dict

from dpaudit.errors import DpauditError, InvalidArgument, LedgerFailure
from dpaudit.ledger.entries import MOVED, printable
from dpaudit.ledger.tables import VERSION

PATIENCE: Final = 60.0
"""Seconds for which a program tries to reach the server, or waits for other programs."""

SILENCE: Final = 20.0
"""Seconds without an answer after which a connection counts as lost; longer than the server waits for a lock."""

LOCK_WAIT: Final = 10.0
"""Seconds that the server waits for a lock before the client asks again."""

_OLDEST: Final = 140000
_HOLDERS: Final = """
    SELECT a.usename, a.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.relation = 'dpaudit.head'::regclass AND l.mode = 'RowShareLock' AND l.granted
        AND NOT EXISTS (SELECT FROM pg_locks w WHERE w.pid = l.pid AND NOT w.granted)"""

_AGAIN: Final = frozenset({"40001", "40P01", "55P03", "53300", "57P01", "57P02", "57P03", "57014"})
"""Codes of failures that pass: conflicts, waits that were too long, too many connections, a server that stops or starts."""

_left_to_parents: list[psycopg.Connection[Any]] = []
"""Connections that were open when this process was forked: closing them would end them for the parent."""


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that is lost when the server does not answer in time: TCP alone waits for ever behind some proxies."""

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Wait as psycopg does, and no longer than it may take."""
        try:
            return super().wait(gen, interval, SILENCE if timeout is None else timeout)
        except psycopg.errors._WaitTimeout:  # noqa: SLF001 - the error that the method documents
            self.close()
            raise psycopg.OperationalError(f"no answer for {SILENCE:.0f} seconds") from None


class Server:
    """The connections of this process to one database; a thread takes one for each change or question, and gives it back."""

    def __init__(self, url: str) -> None:
        """Read the address; nothing is opened."""
        self.url = url
        try:
            self._options = {name: value for name, value in conninfo_to_dict(url).items() if value is not None}
        except psycopg.Error:  # whose text quotes the address, password included
            raise InvalidArgument(
                "DPA801", "the address of the server cannot be read. Write postgresql://USER@HOST:PORT/DATABASE."
            ) from None
        where = "/".join(str(self._options.get(name, "")) for name in ("host", "dbname"))
        self.place = printable(f"the ledger at {where}")
        self._idle: list[tuple[int, Connection]] = []
        weakref.finalize(self, _close, self._idle)

    def connect(self) -> Connection:
        """Open a connection to a server that keeps what it is told; DPA804 for any other."""
        options = {"connect_timeout": f"{max(LOCK_WAIT, 2):.0f}", "application_name": "dpaudit", **self._options}
        connection = Connection.connect(**{**options, "client_encoding": "utf8"}, autocommit=True)  # type: ignore[arg-type]
        settings = {
            "search_path": "dpaudit",
            "lock_timeout": f"{1000 * LOCK_WAIT:.0f}ms",
            "idle_in_transaction_session_timeout": f"{PATIENCE:.0f}s",  # a program that hangs holds the lock no longer
            "default_transaction_isolation": "read committed",
            "default_transaction_read_only": "off",
        }
        for name, value in settings.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        version, encoding, flush, pages = connection.execute(
            "SELECT current_setting('server_version_num')::int, current_setting('server_encoding'), current_setting('fsync'), "
            "current_setting('full_page_writes')"
        ).fetchall()[0]
        wrong = {
            f"PostgreSQL 14 or newer is needed, this is {version // 10000}": version < _OLDEST,
            f"the database must be encoded in UTF8, this is in {encoding}": encoding != "UTF8",
            "fsync or full_page_writes is off, so that a charge could be lost with the power": "off" in {flush, pages},
        }
        for reason, holds in wrong.items():
            if holds:
                connection.close()
                raise LedgerFailure("DPA804", f"{self.place} cannot be used: {reason}. Use another server, or change its settings.")
        return connection

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection; after any error that it may be part of, it is closed."""
        connection = self._taken()
        try:
            yield connection
        except BaseException as error:
            if not isinstance(error, DpauditError) or connection.info.transaction_status:
                connection.close()
            else:
                self._idle.append((os.getpid(), connection))
            raise
        self._idle.append((os.getpid(), connection))

    def _taken(self) -> Connection:
        """A connection that nobody uses, or a new one."""
        with suppress(IndexError):  # there is none left
            while True:
                process, connection = self._idle.pop()
                if process != os.getpid():
                    _left_to_parents.append(connection)
                elif not connection.closed:
                    return connection
        connection = self.connect()
        try:
            self._require_ledger(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _require_ledger(self, connection: Connection) -> None:
        """Refuse a database without a ledger of this version (DPA801), and a role without a right to it (DPA812)."""
        try:
            found = connection.execute("SELECT format FROM dpaudit.head").fetchall()
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
            raise InvalidArgument("DPA801", f"there is no {self.place[4:]}. Make one with `dpaudit ledger init`.") from None
        if found != [(VERSION,)]:
            raise InvalidArgument("DPA801", f"{self.place} is of another version, this program knows {VERSION}.")

    def failure(self, error: Exception, *, doubt: bool) -> DpauditError:
        """Return an error of the server as one of the ledger; `doubt` where a change was sent and not answered."""
        said, code = self._said(error), getattr(error, "sqlstate", None) or ""
        if code == "42501":
            return LedgerFailure("DPA812", f"{self.place}: this role has no right to that ({said}). Nothing was changed.")
        if code == "25006":
            said = "it is a copy that is only read"
        if code == "55P03":
            said = f"others kept it too long: {', '.join(self._holders()) or 'who is not known'}"
        if doubt:
            return LedgerFailure(
                "DPA813",
                f"{self.place} did not answer ({said}), so that a change which was under way may have been made. Nothing was "
                "released for it; with a key, the same call is not charged twice.",
            )
        if code == "DP814":
            return LedgerFailure("DPA814", MOVED)
        if code.startswith("DP"):
            return LedgerFailure(f"DPA{code[2:]}", f"{self.place} refused an entry: {said}.")
        return LedgerFailure("DPA804", f"{self.place} cannot be used: {said}. Nothing was changed.")

    def _holders(self) -> list[str]:
        """Name those who hold the lock that all changes take."""
        try:
            with self.connection() as connection:
                return [printable(f"{role} (process {process})") for role, process in connection.execute(_HOLDERS).fetchall()]
        except (psycopg.Error, DpauditError):
            return []

    def _said(self, error: Exception) -> str:
        """The first line of what the server says, without the password."""
        said = error.diag.message_primary if isinstance(error, psycopg.Error) else None
        said = (said or str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        secret = str(self._options.get("password", ""))
        for form in {secret, quote(secret), quote(secret, safe="")} - {""}:
            said = said.replace(form, "***")
        return printable(said)


def _close(idle: list[tuple[int, Connection]]) -> None:
    """Close the connections of a server that nobody uses any more, unless they are a parent's."""
    while idle:
        process, connection = idle.pop()
        if process == os.getpid():
            connection.close()
        else:
            _left_to_parents.append(connection)


def passes(error: psycopg.Error) -> bool:
    """True for a failure after which the same may be tried again."""
    lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and error.sqlstate is None
    return error.sqlstate in _AGAIN or (error.sqlstate or "").startswith("08") or (lost and not _is_final(error))


def _is_final(error: psycopg.Error) -> bool:
    """True for a refusal to connect that does not pass: libpq gives it no code."""
    said = str(error)
    return any(text in said for text in ("authentication failed", "does not exist", "no pg_hba.conf entry", "no password supplied"))


def run(url: str, statements: Iterable[tuple[str, tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
    """Run statements in a database that needs no ledger, as one durable transaction; return the rows of the last."""
    to, rows = Server(url), list[tuple[Any, ...]]()
    try:
        with closing(to.connect()) as connection, connection.transaction():
            connection.execute("SET LOCAL search_path = public")
            connection.execute("SET LOCAL synchronous_commit = on")
            for statement, values in statements:
                cursor = connection.execute(statement.encode(), values)
                rows = cursor.fetchall() if cursor.description else []
    except psycopg.Error as error:
        raise to.failure(error, doubt=False) from None
    return rows
