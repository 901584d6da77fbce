"""`dpaudit ledger page`, `watch`, `anchor`, `migrate`, and `init` on a server."""

import json
import re
import time

import pytest

from dpaudit.ledger import Ledger, overview
from dpaudit.report.ledger_page import ledger_html
from tests.support import postgres

FILE = "budget.ledger"
WHERE = "survey/person/report"


@pytest.fixture
def opened(dpaudit):
    assert 0 == dpaudit("ledger", "init", FILE, "survey/person", "--epsilon", "1").exit_code
    assert 0 == dpaudit("ledger", "spend", FILE, WHERE, "laplace(scale=4)", "--note", "<script>x", "--key", "a").exit_code
    return dpaudit


def test_the_page_has_no_script_loads_nothing_and_says_what_is_left(opened, folder):
    words = ["--plan", WHERE, "laplace(scale=2)", "--plan", WHERE, "laplace(scale=1/9)"]
    assert 0 == opened("ledger", "page", FILE, "--output", "page.html", *words).exit_code
    text = (folder / "page.html").read_text()
    assert not re.search(r"<script|https?://(?!www\.w3\.org)|<link|<img|@import|onload=", text)
    for said in ("survey/person", "0.75", "0.25", "refused", "not known", "No anchors were given", "intact"):
        assert said in text, said
    assert text == ledger_html(overview(FILE, planned=[(WHERE, loss) for loss in losses()]))


def losses():
    from dpaudit.accounting import laplace

    return laplace(scale=2), laplace(scale="1/9")


def test_its_json_has_exact_amounts_and_prices_plans_one_after_the_other(opened):
    plans = [word for _ in range(4) for word in ("--plan", WHERE, "laplace(scale=4)")]
    document = json.loads(opened("ledger", "page", FILE, *plans, "--json").stdout)["overview"]
    assert [True, True, True, False] == [line["covered"] for line in document["planned"]]
    assert {"survey/person": {"epsilon": "0"}} == document["planned"][2]["remaining"]
    assert [{"survey/person": {"epsilon": "1/4"}}] == [line["amounts"] for line in document["spent"]]
    assert ([[2, 0.0], [3, 0.25]], "3/4") == (document["budgets"][0]["history"], document["budgets"][0]["remaining"]["epsilon"])


def test_the_page_of_a_ledger_that_was_rolled_back_says_so_and_ends_with_5(opened, folder):
    before = (folder / FILE).read_bytes()
    opened("ledger", "spend", FILE, WHERE, "laplace(scale=4)")
    assert 0 == opened("ledger", "anchor", FILE, "anchors").exit_code
    assert 0 == opened("ledger", "verify", FILE, "--against", "anchors").exit_code
    (folder / FILE).write_bytes(before)
    assert 0 == opened("ledger", "verify", FILE).exit_code
    told = opened("ledger", "verify", FILE, "--against", "anchors")
    assert (5, True) == (told.exit_code, "rolled back: entry 4" in told.stdout)
    assert 5 == opened("ledger", "page", FILE, "--output", "page.html", "--against", "anchors").exit_code
    assert "NOT INTACT" in (folder / "page.html").read_text()


def test_a_page_goes_somewhere(opened):
    assert 2 == opened("ledger", "page", FILE).exit_code


def test_watch_shows_what_changed_and_an_anchor_is_written_again_and_again(opened, folder, monkeypatch):
    looks = []

    def sleep(seconds):
        looks.append(seconds)
        if len(looks) == 2 and seconds == 3:
            Ledger(FILE).spend(losses()[0], scope=WHERE)
        if len(looks) > 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", sleep)
    shown = opened("ledger", "watch", FILE, "--every", "3", "--looks", "4").stdout
    assert (2, [3.0] * 3) == (shown.count("survey/person "), looks)
    assert "25.0 % spent, epsilon 0.75 left" in shown
    assert "75.0 % spent, epsilon 0.25 left" in shown
    looks.clear()
    opened("ledger", "anchor", FILE, "anchors", "--every", "60")
    assert ([60.0] * 6, 6) == (looks, len((folder / "anchors").read_text().splitlines()))


def test_a_file_has_no_roles(opened):
    assert 5 == opened("ledger", "init", FILE, "--auditor", "carol").exit_code


def test_a_ledger_is_made_on_a_server_given_to_roles_and_moved_to_a_file(dpaudit):
    if reason := postgres.why_there_is_none():
        pytest.skip(reason)
    server = postgres.Server()
    try:
        url = server.database()
        server.run("CREATE ROLE bob LOGIN", "CREATE ROLE carol LOGIN")
        assert 0 == dpaudit("ledger", "init", url, "survey/person", "--epsilon", "1").exit_code
        made = dpaudit("ledger", "init", url, "--auditor", "carol", "--spender", "bob", WHERE)
        assert (0, 2) == (made.exit_code, made.stdout.count("GRANT USAGE ON SCHEMA dpaudit"))
        bob, carol = (url.replace("owner@", f"{role}@") for role in ("bob", "carol"))
        receipt = json.loads(dpaudit("ledger", "spend", bob, WHERE, "laplace(scale=4)", "--json").stdout)["receipt"]
        assert 5 == dpaudit("ledger", "spend", carol, WHERE, "laplace(scale=4)").exit_code
        assert 0 == dpaudit("ledger", "verify", carol, "--head", receipt["head"]).exit_code
        assert 5 == dpaudit("ledger", "verify", bob).exit_code
        assert 5 == dpaudit("ledger", "init", bob, "survey/person/x", "--epsilon", "1").exit_code
        assert "bob" in dpaudit("ledger", "page", carol, "--json").stdout
        assert 0 == dpaudit("ledger", "migrate", url, "moved.ledger").exit_code
        assert 5 == dpaudit("ledger", "spend", bob, WHERE, "laplace(scale=4)").exit_code
        assert 0 == dpaudit("ledger", "spend", "moved.ledger", WHERE, "laplace(scale=4)").exit_code
    finally:
        server.stop()
