"""A connection that is lost at any moment: the change is made once or not at all, and nothing is released without it."""

import time
from contextlib import closing
from fractions import Fraction

import pytest

from dpaudit import PureDP
from dpaudit.errors import DpauditError, InvalidArgument, LedgerFailure, LedgerRefusal
from dpaudit.ledger import Ledger, places, postgres
from dpaudit.ledger import server as the_server
from mechanisms import LaplaceMechanism
from tests.support.proxy import Proxy

WHERE = "survey/person/report"
NOISE = LaplaceMechanism(scale=16, sensitivity=1)


@pytest.fixture
def proxy(server):
    with closing(Proxy(server.port)) as between:
        yield between


@pytest.fixture
def direct(server):
    url = server.database()
    Ledger.create(url).open_budget("survey/person", PureDP(100))
    return Ledger(url)


@pytest.fixture
def behind(server, direct, proxy, monkeypatch):
    """The same ledger through the proxy."""
    monkeypatch.setattr(the_server, "PATIENCE", 5.0)
    monkeypatch.setattr(the_server, "SILENCE", 0.4)
    name = direct._store._server.url.partition("/d")[2].partition("?")[0]
    return Ledger(server.url(f"d{name}", host=f"127.0.0.1:{proxy.port}"))


def spent(ledger):
    return 100 - Fraction(ledger.remaining(WHERE)["survey/person"]["epsilon"])


def spends(ledger):
    return [ledger.spend(PureDP("1/16"), scope=WHERE).entry]


def charges(ledger):
    with ledger.charge(NOISE, scope=WHERE) as charge:
        NOISE.release(1)
    return [charge.receipt.entry]


def cancels(ledger):
    with ledger.charge(NOISE, scope=WHERE) as charge:
        charge.cancel()
    return []


def releases_more(ledger):
    with pytest.raises(LedgerFailure, match="DPA807"), ledger.charge(NOISE, scope=WHERE) as charge:
        NOISE.releases(1, 3)
    return [charge.receipt.entry] * 3


@pytest.mark.parametrize("fate", ["cut", "cut after", "drop"])
@pytest.mark.parametrize("work", [spends, charges, cancels, releases_more])
def test_a_connection_that_is_lost_at_any_packet_costs_nothing_and_charges_once(direct, behind, proxy, work, fate):
    paid, steps = 0, 0
    for packet in range(1, 60, 1 if fate != "drop" else 4):
        seen = []

        def at(direction, data, seen=seen, packet=packet):
            seen.append(direction)
            return fate if len(seen) == packet else "pass"

        proxy.fate = at
        paid += len(work(behind))
        proxy.fate = lambda *_: "pass"
        assert Fraction(paid, 16) == spent(direct), packet
        steps = packet
        if len(seen) < packet:
            break
    found = direct.verify()
    assert ((), ()) == (found.problems, found.open_charges)
    assert 3 < steps < 50


def test_a_server_that_forgets_an_entry_before_it_is_durable_gets_it_again(direct, monkeypatch):
    whole, forgot = postgres._make_durable, []

    def forgets(connection, entry):
        if not forgot:
            forgot.append(entry)
            connection.execute("SET session_replication_role = replica")
            connection.execute("DELETE FROM dpaudit.entry WHERE number = %s", (entry.number,))
            connection.execute("DELETE FROM dpaudit.change WHERE number = %s", (entry.number,))
            before = connection.execute("SELECT dpaudit.hash_of(%s)", (entry.number - 1,)).fetchone()
            connection.execute("UPDATE dpaudit.head SET number = %s, hash = %s", (entry.number - 1, *before))
            connection.execute('UPDATE dpaudit.budget SET spent = \'{"epsilon": "0"}\'')
        return whole(connection, entry)

    monkeypatch.setattr(postgres, "_make_durable", forgets)
    receipt = direct.spend(PureDP("1/16"), scope=WHERE)
    assert (1, 3, Fraction(1, 16)) == (len(forgot), receipt.entry, spent(direct))
    assert () == direct.verify(head=receipt.head).problems


def test_a_server_that_stays_away_leaves_a_doubt_and_runs_no_block(direct, behind, proxy, monkeypatch):
    monkeypatch.setattr(the_server, "PATIENCE", 1.0)
    ran, away = [], []

    def fate(direction, data):
        if away or b"dpaudit.append" in data:
            away.append(True)
            return "cut after" if direction == "to" and len(away) == 1 else "cut"
        return "pass"

    behind.accounts()
    proxy.fate = fate
    with pytest.raises(LedgerFailure, match=r"DPA813 .* may have been made"), behind.charge(NOISE, scope=WHERE):
        ran.append(True)
    assert [] == ran
    assert spent(direct) in {0, Fraction(1, 16)}
    assert () == direct.verify().problems


def test_a_refusal_after_a_lost_answer_is_not_told_of_a_change_that_was_made(direct, behind, proxy):
    """The answer to the last charge that the budget covers is lost; asked again, the budget no longer covers it."""
    lost = []

    def fate(direction, data):
        if direction == "to" and b"dpaudit.append" in data:
            lost.append(True)
        return "cut" if direction == "from" and len(lost) == 1 and not lost.append(True) else "pass"

    proxy.fate = fate
    receipt = behind.spend(PureDP(100), scope=WHERE)
    assert ({"survey/person": {"epsilon": "0"}}, receipt.entry) == (direct.remaining(WHERE), direct.head.number)
    with pytest.raises(LedgerRefusal, match="DPA810"):
        behind.spend(PureDP("1/16"), scope=WHERE)


def test_a_change_that_was_given_up_is_never_made(direct):
    call = "0" * 32
    with direct._store._server.connection() as connection:
        assert [(False,)] == connection.execute("SELECT dpaudit.give_up(%s)", (call,)).fetchall()
        with pytest.raises(postgres.psycopg.Error) as error:
            connection.execute("SELECT dpaudit.append(ARRAY['spend'], ARRAY['{}'::jsonb], %s)", (call,))
    assert "DP813" == error.value.sqlstate


PASSWORD = "hunter2/%40"  # noqa: S105 - not one of anybody


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("postgresql://bob:{}@127.0.0.1:1/none", "DPA804"),
        ("postgresql://bob:{}@127.0.0.1:none/none", "DPA80"),
        ("postgresql://bob:{}@127.0.0.1:1:2/none", "DPA80"),
        ("postgresql://bob:{}@[::1/none", "DPA801"),
        ("postgresql://bob@127.0.0.1:1/none?password={}&what=1", "DPA801"),
        ("mysql://bob:{}@127.0.0.1/none", "DPA801"),
        ("postgresql+psycopg://bob:{}@127.0.0.1/none", "DPA801"),
        ("postgresql://nobody-of-this-name:{}@127.0.0.1:{{port}}/postgres", "DPA804"),
        ("postgresql://owner:{}@127.0.0.1:{{port}}/no-database", "DPA804"),
        ("postgresql://owner:{}@127.0.0.1:{{port}}/postgres", "DPA801"),
    ],
)
def test_a_bad_address_is_refused_before_anything_else_and_no_error_shows_a_password(server, address, code, monkeypatch):
    monkeypatch.setattr(the_server, "PATIENCE", 0.3)
    url = address.format("hunter2%2F%2540").replace("{port}", str(server.port))
    with pytest.raises(DpauditError, match=code) as found:
        Ledger(url)
    shown = "".join(map(str, (found.value, found.value.__cause__, repr(found.value))))
    assert "hunter2" not in shown
    assert found.value.__cause__ is None


def test_no_representation_shows_a_password(server, direct):
    url = direct._store._server.url.replace("owner@", "owner:hunter2@")
    ledger = Ledger(url)
    handle = ledger.budget(WHERE)
    assert "hunter2" not in repr((ledger, ledger._store, ledger._store._server, handle, ledger.__dict__, ledger._store.place))


def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch):
    def missing(extra):
        raise InvalidArgument("DPA206", extra)

    monkeypatch.setattr(places, "require", missing)
    with pytest.raises(InvalidArgument, match="postgres"):
        Ledger("postgresql://owner@/none")


@pytest.mark.parametrize(
    ("statement", "back", "said"),
    [
        ("ALTER SYSTEM SET fsync = off", "ALTER SYSTEM RESET fsync", "fsync"),
        ("ALTER SYSTEM SET full_page_writes = off", "ALTER SYSTEM RESET full_page_writes", "full_page_writes"),
    ],
)
def test_a_server_that_does_not_keep_what_it_is_told_is_refused(server, direct, statement, back, said):
    server.run(statement, "SELECT pg_reload_conf()")
    try:
        time.sleep(0.3)
        with pytest.raises(LedgerFailure, match=f"DPA804 .*{said}"):
            Ledger(direct._store._server.url)
    finally:
        server.run(back, "SELECT pg_reload_conf()")
        time.sleep(0.3)


def test_a_database_in_another_encoding_is_refused(server):
    server.run("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    with pytest.raises(LedgerFailure, match="UTF8"):
        Ledger.create(server.url("latin"))
