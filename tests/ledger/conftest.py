"""Places for ledgers: a file, and a database on a server of the tests' own."""

import pytest

from tests.support import postgres


@pytest.fixture(scope="session")
def server():
    """A PostgreSQL server, or the reason why its tests are skipped."""
    if reason := postgres.why_there_is_none():
        pytest.skip(reason)
    running = postgres.Server()
    yield running
    running.stop()


@pytest.fixture(params=["file", "server"])
def place(request, tmp_path):
    """Where no ledger is yet."""
    return tmp_path / "budget.ledger" if request.param == "file" else request.getfixturevalue("server").database()
