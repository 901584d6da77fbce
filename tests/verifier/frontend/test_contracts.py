"""Specifications as terms over entry values: what they say, what must follow from `requires`, and what has no meaning."""

from __future__ import annotations

import pytest

from dpaudit.clauses import EACH
from dpaudit.errors import Unsupported
from dpaudit.spec import L1, Change, Dec, One, Spec
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.ir import Relation
from dpaudit.verifier.terms import ONE, ZERO

TEXT = "def f(q: list[Fraction], r: list[int], n: int, eps: Fraction, b: bool) -> int:\n    n = n + 1\n    return 0\n"


def contract(**parts):
    """The contract of a function with two lists, of which the second is public unless said otherwise."""
    return parse(TEXT, Spec(**{"claim": "eps", "adjacency": {"q": "one"}, "public": ["r"], **parts})).contract


def test_a_claim_speaks_of_entry_values():
    found = contract(claim="2 * n * eps / 3 + len(q)")
    assert "((2/3 * n * eps) + len(q))" == str(found.claim)
    assert ("pure", ONE, ZERO) == (found.cost, found.odds, found.delta)


def test_a_claim_of_two_parts_has_a_delta():
    found = contract(claim=("eps", "1e-6"))
    assert ("approx", "eps", "1/1000000") == (found.cost, str(found.claim), str(found.delta))


def test_a_concentrated_claim_is_rho():
    assert ("zcdp", "(1/2 * eps)") == (
        contract(claim="eps / 2", cost="zcdp").cost,
        str(contract(claim="eps / 2", cost="zcdp").claim),
    )


@pytest.mark.parametrize(
    ("claim", "amount", "odds"),
    [("log(eps)", "0", "eps"), ("n + log(2 * eps)", "n", "(2 * eps)"), ("log(eps) + n", "n", "eps"), ("n + eps", "(n + eps)", "1")],
)
def test_a_claim_may_be_a_logarithm(claim, amount, odds):
    assert (amount, odds) == (str(contract(claim=claim).claim), str(contract(claim=claim).odds))


@pytest.mark.parametrize("claim", ["log(eps) + log(eps)", "2 * log(eps)", "log(eps, 2)", "log(log(eps))"])
def test_other_logarithms_are_refused(claim):
    with pytest.raises(Unsupported, match=r"DPA722 claim .* a call of log"):
        contract(claim=claim)


def test_a_logarithm_has_no_meaning_in_other_claims():
    with pytest.raises(Unsupported, match="DPA722 claim 'log"):
        contract(claim="log(eps)", cost="zcdp")


def test_each_private_list_has_its_change():
    found = contract(adjacency={"q": L1("2 * n"), "r": Dec(3)}, public=[])
    assert [("q", Relation.L1, "(2 * n)"), ("r", Relation.DEC, "3")] == [
        (name, change.relation, str(change.bound)) for name, change in found.changes
    ]
    assert (("q", Relation.ONE),) == tuple((name, change.relation) for name, change in contract(adjacency="one").changes)


@pytest.mark.parametrize(
    "parts",
    [
        {"adjacency": "one", "public": []},
        {"adjacency": {"q": "one"}, "public": []},
        {"adjacency": {"q": "one", "r": "one"}},
        {"adjacency": {}},
        {"adjacency": {"q": "one", "s": "one"}},
        {"adjacency": {"q": "one", "n": "one"}},
        {"adjacency": {"q": "one"}, "public": ["r", "r"]},
        {"adjacency": {"q": "one"}, "public": ["r", "n"]},
    ],
)
def test_every_list_is_named_once(parts):
    with pytest.raises(Unsupported, match="DPA723"):
        contract(**parts)


def obligations(**parts):
    """Kinds and formulas that the contract owes."""
    return [(kind, str(formula)) for kind, formula in contract(**parts).obligations]


FACTS = "(0 <= len(q)) and (0 <= len(r))"


def test_what_the_specification_needs_must_follow_from_what_it_requires():
    assert [("claim", f"((not ({FACTS})) or (0 <= eps))")] == obligations()
    assert [("claim", f"((not ({FACTS} and (0 < eps))) or (0 <= eps))")] == obligations(requires=["eps > 0"])
    assert [("defined", f"((not ({FACTS})) or (not (n == 0)))"), ("claim", f"((not ({FACTS})) or (0 <= (1 / n)))")] == obligations(
        claim="1 / n"
    )


def test_a_clause_may_lean_on_those_before_it_but_not_on_itself():
    found = obligations(claim="1", requires=["n != 0", "1 / n > eps"])
    assert [("defined", f"((not ({FACTS} and (not (n == 0)))) or (not (n == 0)))")] == found
    turned = obligations(claim="1", requires=["1 / n > eps", "n != 0"])
    assert [("defined", f"((not ({FACTS})) or (not (n == 0)))")] == turned


def test_bounds_deltas_and_odds_are_owed_too():
    assert ["bound", "claim"] == [kind for kind, _ in obligations(adjacency={"q": One("n")})]
    assert ["claim", "delta"] == [kind for kind, _ in obligations(claim=("eps", "1 / 2 * eps"))]
    assert ["odds"] == [kind for kind, _ in obligations(claim="log(eps)")]
    assert [] == obligations(claim=("1", "1e-6"))
    assert [("claim", f"(not ({FACTS}))")] == obligations(claim="-1")


def test_definedness_in_a_claim_stands_under_its_own_conditions():
    (kind, formula), *_ = obligations(claim="1 / n if n > 0 else 1")
    assert "defined" == kind
    assert "(not (0 < n)) or (not (n == 0))" in formula


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"claim": "q[0]"}, "claim 'q[0]' speaks of list elements"),
        ({"claim": "r[0]"}, "claim 'r[0]' speaks of list elements"),
        ({"claim": ("eps", "q[0]")}, "claim 'q[0]' speaks of list elements"),
        ({"requires": ["q[0] <= 0"]}, "requires 'q[0] <= 0' speaks of list elements"),
        ({"requires": ["n"]}, "requires 'n' is a number"),
        ({"requires": ["b == 1"]}, "requires 'b == 1', column 6: a comparison of a truth value"),
        ({"adjacency": {"q": One("q[0]")}}, "adjacency 'q[0]' speaks of list elements"),
        ({"adjacency": {"q": One("b")}}, "adjacency is a condition"),
        ({"claim": "b"}, "claim is a condition"),
        ({"claim": "epsilon"}, "claim 'epsilon', column 1: the name epsilon"),
        ({"claim": "exp(eps)"}, "claim 'exp(eps)', column 1: a call of exp"),
        ({"claim": "laplace(eps)"}, "claim 'laplace(eps)', column 1: a call of laplace"),
        ({"claim": "eps.real"}, "claim 'eps.real', column 1: the construct Attribute"),
        ({"domain": ["q[0]"]}, "domain 'q[0]' is a number"),
        ({"domain": ["each >= 0"]}, "domain 'each >= 0' speaks of each without a list"),
        ({"domain": ["q[0] >= each"]}, "domain 'q[0] >= each' speaks of each without a list"),
        ({"domain": ["q[each + 1] >= each"]}, "speaks of each without a list"),
        ({"requires": ["each >= 0"]}, "the name each"),
    ],
)
def test_what_has_no_meaning_is_refused(parts, message):
    with pytest.raises(Unsupported, match="DPA722") as caught:
        contract(**parts)
    assert message in str(caught.value)


def test_a_clause_about_the_domain_holds_where_its_lists_reach():
    (found,) = contract(domain=["0 <= q[each] and q[each] <= n"]).domain
    inside = f"(0 <= {EACH}) and ({EACH} < len(q))"
    assert f"((not ({inside})) or ((0 <= q[{EACH}]) and (q[{EACH}] <= n)))" == str(found)
    (found,) = contract(domain=["q[0] == 0 or q[0] == r[n] / n"]).domain
    assert "((not ((0 < len(q)) and (0 <= n) and (n < len(r))" in str(found)
    assert "(not (n == 0))" in str(found)


def test_alignments_are_kept_as_text():
    assert (("laplace.1", "ghost.d"), ("x", "1")) == contract(align={"laplace.1": "ghost.d", "x": 1}).align


def test_a_change_is_of_a_known_relation():
    assert {relation.value for relation in Relation} == {Change(name).relation for name in ("one", "all", "inc", "dec", "l1", "l2")}
