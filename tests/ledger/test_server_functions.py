"""Functions of the server beside their Python twins: canonical JSON, exact fractions, hashes, and load."""

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit import RDP, ZCDP, ApproxDP, PureDP
from dpaudit.accounting import gaussian, laplace
from dpaudit.errors import LedgerRefusal
from dpaudit.ledger import Ledger
from dpaudit.ledger.entries import canonical

TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
FRACTIONS = st.fractions() | st.fractions(max_denominator=10**40) | st.integers(0, 10**60).map(Fraction)


@pytest.fixture(scope="module")
def connection(server):
    url = server.database()
    Ledger.create(url)
    with server.connection(url) as opened:
        yield opened


@settings(max_examples=25)
@given(value=VALUES)
def test_canonical_json_is_that_of_python(connection, value):
    text = json.dumps(value, ensure_ascii=False)
    assert canonical(value) == connection.execute("SELECT dpaudit.canonical(%s::jsonb)", (text,)).fetchone()[0]


@given(one=FRACTIONS, other=FRACTIONS, sign=st.sampled_from([1, -1]))
def test_sums_and_comparisons_of_fractions_are_those_of_python(connection, one, other, sign):
    statement = "SELECT dpaudit.plus(%s, %s, %s), dpaudit.at_most(%s, %s)"
    given_texts = (str(one), str(other), sign, str(one), str(other))
    assert (str(one + sign * other), one <= other) == connection.execute(statement, given_texts).fetchone()


@pytest.mark.parametrize("text", ["1.5", "1e3", "", "1/0", "1/-2", "+1", " 1", "1/2/3", "NaN", "--1", "1 / 2", "٣"])
def test_what_is_no_fraction_is_refused(connection, text):
    with pytest.raises(Exception, match="fraction"):
        connection.execute("SELECT dpaudit.fraction(%s)", (text,))


@pytest.mark.parametrize(
    ("guarantee", "spending"),
    [
        (ApproxDP(1, "1e-6"), gaussian(sigma=40)),
        (ZCDP("1/3"), gaussian(sigma="17/3")),
        (RDP({2: 1, "5/2": 2, 64: 3}), gaussian(sigma=11)),
        (PureDP(3), laplace(scale="7/3")),
    ],
)
def test_a_server_and_a_file_admit_and_count_the_same(server, tmp_path, guarantee, spending):
    ledgers = [Ledger.create(tmp_path / "budget.ledger"), Ledger.create(server.database())]
    counts = []
    for ledger in ledgers:
        ledger.open_budget("a/b", guarantee)
        count = 0
        while count < 12:
            try:
                ledger.spend(spending, scope="a/b/c", times=count + 1, note="größe 𝄞")
            except LedgerRefusal:
                break
            count += 1
        counts.append((count, ledger.remaining("a/b"), [dict(one.body) | {"by": 0} for one in ledger.entries()[1:]]))
        assert () == ledger.verify().problems
    assert counts[0] == counts[1]
