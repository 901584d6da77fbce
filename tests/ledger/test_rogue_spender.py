"""What a spender with valid credentials tries beside charging: refused by the server, or found by `verify`."""

import json
from contextlib import closing, nullcontext

import pytest

from dpaudit import PureDP
from dpaudit.errors import LedgerFailure
from dpaudit.ledger import Ledger, LedgerEntry, verify_ledger
from dpaudit.ledger import server as the_server
from dpaudit.ledger.entries import canonical
from tests.support.postgres import psycopg

CALL = "0" * 32
BODY = {
    "scope": "survey/person/report",
    "spending": "epsilon = 1/4",
    "loss": {"guarantee": {"name": "PureDP", "epsilon": "1/4"}},
    "times": 1,
    "note": "",
    "amounts": {"2": {"epsilon": "1/4"}, "3": {"epsilon": "1/4"}},
}


def append(*drafts, call=CALL):
    """A statement that calls the one function that a spender may write with."""
    kinds = [kind for kind, _ in drafts]
    return ("SELECT * FROM dpaudit.append(%s, %s::jsonb[], %s)", (kinds, [json.dumps(body) for _, body in drafts], call))


def charge(**changes):
    """A charge by hand, changed."""
    return append(("spend", {**BODY, **changes}))


REFUSED = {
    "edit: an entry": "UPDATE dpaudit.entry SET body = '{}' WHERE number = 4",
    "edit: the total of a budget": 'UPDATE dpaudit.budget SET spent = \'{"epsilon": "0"}\'',
    "edit: the head": "UPDATE dpaudit.head SET number = 1",
    "edit: an entry of another spender ended": append(("cancel", {"charge": 6})),
    "edit: another's open charge taken away": "DELETE FROM dpaudit.open_charge",
    "edit: through a lock": "SELECT * FROM dpaudit.entry FOR UPDATE",
    "delete: an entry": "DELETE FROM dpaudit.entry WHERE number = 4",
    "delete: everything": "TRUNCATE dpaudit.entry, dpaudit.budget CASCADE",
    "delete: a table": "DROP TABLE dpaudit.entry",
    "delete: the schema": "DROP SCHEMA dpaudit CASCADE",
    "delete: a key, to use it again": "DELETE FROM dpaudit.keyed",
    "replay: a key for another charge": charge(key="nightly"),
    "replay: a key that is no text": charge(key=["x"]),
    "replay: an empty key": charge(key=""),
    "replay: a charge that was given back, again": append(("cancel", {"charge": 5})),
    "replay: a commit twice": append(("commit", {"charge": 7, "ran": []}), ("commit", {"charge": 7, "ran": []})),
    "replay: the end of a plain spend": append(("cancel", {"charge": 4})),
    "replay: a refund of a charge with a key": append(("cancel", {"charge": 9})),
    "replay: the call of somebody else": append(("spend", BODY), call="f" * 32),
    "replay: a refund below nothing": append(("overrun", {"charge": 7, "amounts": {"2": {"epsilon": "-1"}}})),
    "fork: an entry with a number of its own": "INSERT INTO dpaudit.entry VALUES (5, 'spend', '', '{}', sha256(''))",
    "fork: a second head": "INSERT INTO dpaudit.head (number, hash, format) VALUES (3, sha256(''), 3)",
    "fork: the ledger begun again": append(("ledger", {"name": "x", "format": 3})),
    "fork: the ledger moved away": append(("moved", {"to": "here"})),
    "fork: the ledger arrived": append(("arrived", {"closed": True})),
    "fork: a change of others given up": "INSERT INTO dpaudit.change VALUES (repeat('a', 32), NULL, 0, 'alice')",
    "clock: an earlier time": "SELECT dpaudit.append(ARRAY['spend'], ARRAY['{}'::jsonb], '', '2020-01-01T00:00:00Z')",
    "clock: the entry's time": "UPDATE dpaudit.entry SET time = '2020-01-01T00:00:00Z'",
    "giant: a body of 20 MB": charge(note="", more=["x" * 1000] * 20000),
    "giant: a number of a million digits": charge(times=10**100, more=json.loads("1" + "0" * 4200)),
    "giant: an amount of 100,000 digits": charge(amounts={"2": {"epsilon": "1/" + "9" * 100000}, "3": {"epsilon": "1"}}),
    "giant: nested deeply": (
        "SELECT dpaudit.append(ARRAY['spend'], ARRAY[(repeat('[', 100000) || repeat(']', 100000))::jsonb], %s)",
        (CALL,),
    ),
    "giant: many entries at once": append(*[("spend", BODY)] * 1000),
    "giant: a note": charge(note="x" * 1000),
    "other scope: a charge": charge(scope="census/person/report", amounts={"4": {"epsilon": "1/4"}}),
    "other scope: a purpose": charge(scope="survey/person/other", amounts={"2": {"epsilon": "1/4"}}),
    "other scope: paid by another budget": charge(amounts={"4": {"epsilon": "1/4"}}),
    "other scope: one of two budgets pays": charge(amounts={"2": {"epsilon": "1/4"}}),
    "other scope: a budget that is not there": charge(amounts={**BODY["amounts"], "99": {"epsilon": "0"}}),
    "other scope: no scope": charge(scope=None),
    "other scope: a right for itself": "INSERT INTO dpaudit.access VALUES ('bob', 'audit', '', '', '')",
    "other scope: the role of another": "SET ROLE alice",
    "other scope: the owner": "SET SESSION AUTHORIZATION owner",
    "budget raise: a larger one": append(("budget", {"scope": "survey/person/report", "limits": {"epsilon": "100"}})),
    "budget raise: its limits": 'UPDATE dpaudit.budget SET limits = \'{"epsilon": "100"}\'',
    "budget raise: a charge beyond it": charge(amounts={"2": {"epsilon": "1/4"}, "3": {"epsilon": "3/4"}}),
    "budget raise: an amount below nothing": charge(amounts={"2": {"epsilon": "-1/4"}, "3": {"epsilon": "-1/4"}}),
    "budget raise: an amount that is none": charge(amounts={"2": {"epsilon": "NaN"}, "3": {"epsilon": "1e-9"}}),
    "budget raise: by nothing": charge(amounts={"2": {"epsilon": "1/0"}, "3": {"epsilon": "1/4"}}),
    "budget raise: another currency": charge(amounts={"2": {"rho": "1/4"}, "3": {"epsilon": "1/4"}}),
    "budget raise: no currency": charge(amounts={"2": {}, "3": {}}),
    "budget raise: an old format": append(("format", {"format": 1})),
    "schema: a function of the same name": "CREATE FUNCTION dpaudit.plus(text, text) RETURNS text LANGUAGE sql AS 'SELECT $1'",
    "schema: another body": "CREATE OR REPLACE FUNCTION dpaudit.at_most(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    "schema: a trigger": "CREATE TRIGGER t BEFORE INSERT ON dpaudit.entry EXECUTE FUNCTION dpaudit.no_change()",
    "schema: no trigger": "ALTER TABLE dpaudit.entry DISABLE TRIGGER ALL",
    "schema: no row security": "ALTER TABLE dpaudit.entry DISABLE ROW LEVEL SECURITY",
    "schema: no triggers in this session": "SET session_replication_role = replica",
    "schema: the owner of a table": "ALTER TABLE dpaudit.entry OWNER TO bob",
    "schema: a right for everybody": "GRANT ALL ON dpaudit.entry TO PUBLIC",
    "schema: the inner functions": 'SELECT dpaudit.move(\'{"2": {"epsilon": "1"}}\', -1, true)',
    "schema: the inner step": "SELECT dpaudit.follow('spend', '{}', 1, NULL)",
}
"""Statements, by kind of attack and how."""


@pytest.fixture(scope="module")
def ledger(server):
    """A ledger of two spenders and an auditor, with some charges; roles belong to the whole server."""
    url = server.database()
    made = Ledger.create(url)
    made.open_budget("survey/person", PureDP(2))
    made.open_budget("survey/person/report", PureDP(1))
    for role, may, scope in (
        ("bob", "spend", "survey/person/report"),
        ("alice", "spend", "survey/person"),
        ("carol", "audit", None),
    ):
        server.run(f"CREATE ROLE {role} LOGIN")
        made.grant(role, may, scope)
    bob, alice = (Ledger(as_role(url, role)) for role in ("bob", "alice"))
    bob.spend(PureDP("1/8"), scope="survey/person/report")  # 4
    with pytest.raises(ZeroDivisionError), alice.charge(PureDP("1/8"), scope="survey/person/report"):  # 5
        _ = 1 / 0
    with pytest.raises(ZeroDivisionError), alice.charge(PureDP("1/8"), scope="survey/person/other"):  # 6
        _ = 1 / 0
    with pytest.raises(ZeroDivisionError), bob.charge(PureDP("1/8"), scope="survey/person/report"):  # 7
        _ = 1 / 0
    made.open_budget("census/person", PureDP(1))  # 8
    with pytest.raises(ZeroDivisionError), bob.charge(PureDP("1/8"), scope="survey/person/report", key="nightly"):  # 9
        _ = 1 / 0
    server.run(append(("spend", BODY), call="f" * 32), url=url)  # 10
    return url


def as_role(url, role):
    """The address for another role."""
    return url.replace("owner@", f"{role}@")


@pytest.fixture
def bob(ledger):
    """The connection of a spender."""
    with closing(psycopg.connect(as_role(ledger, "bob"), autocommit=True)) as connection:
        yield connection


def test_the_statement_that_is_changed_here_is_a_charge(ledger, bob):
    with bob.transaction(force_rollback=True):
        assert [11] == [row[0] for row in bob.execute(*charge())]


@pytest.mark.parametrize("name", REFUSED)
def test_a_spender_is_refused_and_changes_nothing(ledger, bob, name):
    owner = Ledger(ledger)
    before = owner.head, [account.spent for account in owner.accounts()]
    statement = REFUSED[name]
    # PostgreSQL answers a grant of what is not one's own with a warning, and grants nothing.
    with nullcontext() if "GRANT" in statement else pytest.raises(psycopg.Error):
        bob.execute(*statement) if isinstance(statement, tuple) else bob.execute(statement)
    assert before == (owner.head, [account.spent for account in owner.accounts()])
    assert () == Ledger(as_role(ledger, "carol")).verify().problems


FOUND = {
    "a price of nothing": charge(amounts={"2": {"epsilon": "0"}, "3": {"epsilon": "0"}}),
    "half the price": charge(amounts={"2": {"epsilon": "1/8"}, "3": {"epsilon": "1/8"}}),
    "another description": charge(spending="epsilon = 0"),
    "another loss": charge(loss={"guarantee": {"name": "PureDP", "epsilon": "1"}}),
    "no loss": charge(loss=None),
    "a loss that is none": charge(loss={"is": "os.system"}),
    "more times": charge(times=3),
    "times that are no number": charge(times="1"),
    "a note that a terminal obeys": charge(note="\u202e"),
    "a commit of what no ledger prices": append(("commit", {"charge": 7, "ran": [{"kind": "witchcraft"}]})),
    "a commit that says nothing": append(("commit", {"charge": 7})),
}
"""Entries that the server takes, since it cannot price a loss: each is the spender's by name, and a problem of the verdict."""


@pytest.mark.parametrize("name", FOUND)
def test_what_the_server_cannot_judge_is_found_by_verify_and_has_a_name(ledger, name):
    with closing(psycopg.connect(as_role(ledger, "bob"))) as connection:
        taken = connection.execute(*FOUND[name]).fetchall()  # nothing is kept: the connection ends without a commit
    assert "bob" == json.loads(taken[0][2])["by"]
    entries = Ledger(ledger).entries()
    kind = FOUND[name][1][0][0]
    forged = LedgerEntry.after(entries[-1], kind, entries[-1].time, json.loads(taken[0][2]))
    assert forged.body == json.loads(canonical(dict(forged.body)))
    assert any(f"entry {forged.number}" in problem for problem in verify_ledger([*entries, forged]).problems)


def test_a_spender_reads_its_own_scopes_and_an_auditor_all(ledger):
    scopes = {role: {str(one.scope) for one in Ledger(as_role(ledger, role)).accounts()} for role in ("bob", "alice", "carol")}
    mine = {"survey/person", "survey/person/report"}
    assert {"bob": mine, "alice": mine, "carol": {*mine, "census/person"}} == scopes
    read = {entry.body.get("scope") for entry in Ledger(as_role(ledger, "bob")).entries()} - {None}
    assert {"survey/person", "survey/person/report"} == read
    assert "reads a part of the ledger only" in str(Ledger(as_role(ledger, "bob")).verify().problems)
    with pytest.raises(LedgerFailure, match="DPA812"):
        Ledger(as_role(ledger, "carol")).spend(PureDP("1/8"), scope="survey/person/report")
    with pytest.raises(LedgerFailure, match="DPA812"):
        Ledger(as_role(ledger, "bob")).open_budget("survey/person/x", PureDP(1))
    with pytest.raises(LedgerFailure, match="DPA812"):
        Ledger(as_role(ledger, "bob")).grant("bob", "audit")


def test_who_keeps_the_lock_is_named_and_nothing_is_spent(ledger, bob, monkeypatch):
    monkeypatch.setattr(the_server, "PATIENCE", 0.5)
    monkeypatch.setattr(the_server, "LOCK_WAIT", 0.2)
    alice = Ledger(as_role(ledger, "alice"))
    with bob.transaction(force_rollback=True):
        bob.execute("SELECT dpaudit.hold()")
        with pytest.raises(LedgerFailure, match=r"DPA804 .* bob \(process \d+\)"):
            alice.spend(PureDP("1/8"), scope="survey/person/report")
        assert alice.accounts()  # reading waits for nobody
    before = alice.head.number
    alice.spend(PureDP("1/8"), scope="survey/person/report")
    assert before + 1 == alice.head.number


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE dpaudit.entry DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE dpaudit.entry DISABLE TRIGGER ALL",
        "ALTER TABLE dpaudit.entry ADD COLUMN more text",
        "ALTER TABLE dpaudit.keyed DROP CONSTRAINT keyed_pkey",
        "ALTER FUNCTION dpaudit.append(text[], jsonb[], text) RESET ALL",
        "DROP TRIGGER no_change ON dpaudit.entry",
        "DROP POLICY reading ON dpaudit.budget",
        "GRANT UPDATE ON dpaudit.budget TO PUBLIC",
        "GRANT CREATE ON SCHEMA dpaudit TO PUBLIC",
        "CREATE TABLE dpaudit.beside (x int)",
        "CREATE RULE r AS ON INSERT TO dpaudit.entry DO NOTHING",
        "CREATE OR REPLACE FUNCTION dpaudit.at_most(one text, other text) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        "CREATE FUNCTION dpaudit.append(text) RETURNS text LANGUAGE sql AS 'SELECT $1'",
    ],
)
def test_a_schema_that_somebody_with_more_rights_changed_is_not_intact(server, statement):
    url = server.database()
    made = Ledger.create(url)
    assert () == made.verify().problems
    server.run(statement, url=url)
    assert made.verify().problems
