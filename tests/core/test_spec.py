"""`@spec`: the same function comes back, parts that do not fit are refused, and a promise is a value."""

from __future__ import annotations

import pickle
import subprocess
import sys
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.errors import InvalidArgument
from dpaudit.spec import L1, L2, LAWS, RELATIONS, AddRemove, All, Change, Dec, Inc, One, ReplaceOne, Spec, spec, spec_of
from dpaudit.verifier.ir import Law, Relation

GOOD = {"claim": "eps", "adjacency": "one"}


def promised(q, eps, *, laplace, jitter):
    """A function to decorate."""
    return q, eps, laplace, jitter


def fresh():
    """A function like `promised` that no decorator has seen."""
    return type(promised)(promised.__code__, promised.__globals__)


def test_the_very_same_function_comes_back():
    function = fresh()
    before = dict(vars(function))
    assert function is spec(**GOOD)(function)
    assert {"__dpaudit_spec__"} == set(vars(function)) - set(before)
    assert Spec(**GOOD) == spec_of(function)
    assert promised.__code__ is function.__code__


def test_what_is_not_decorated_has_no_promise():
    assert spec_of(promised) is None
    assert spec_of(3) is None
    fake = fresh()
    fake.__dpaudit_spec__ = "anything"
    assert spec_of(fake) is None


def test_laws_and_relations_are_those_of_the_verifier():
    assert [law.value for law in Law] == list(LAWS)
    assert [*(relation.value for relation in Relation), "add_remove", "replace_one"] == list(RELATIONS)


_MAKERS = (One, All, Inc, Dec, L1, L2, AddRemove, ReplaceOne)


@pytest.mark.parametrize(("make", "relation"), list(zip(_MAKERS, RELATIONS, strict=True)))
def test_a_relation_is_written_with_its_bound(make, relation):
    assert Change(relation, "2 * width") == make("2 * width")
    assert Change(relation, 1) == make()
    assert "1/2" == make(Fraction(1, 2)).bound


@pytest.mark.parametrize("word", ["one", "all", "inc", "dec"])
def test_a_word_is_shorthand_for_a_change_of_one(word):
    assert ((None, Change(word, "1")),) == Spec(claim="eps", adjacency=word).changes
    assert (("q", Change(word, "1")), ("r", L1(2))) == Spec(claim="eps", adjacency={"q": word, "r": L1(2)}).changes


@given(number=st.fractions() | st.integers())
def test_numbers_are_kept_as_exact_text(number):
    assert number == Fraction(Spec(claim=number, adjacency="one").claim[0])


def test_a_promise_is_a_value():
    one = Spec(claim=("eps", "1e-6"), adjacency={"q": All(2)}, requires=["eps > 0"], laws={"jitter": "laplace"}, align={"x": 1})
    other = Spec(
        claim=("eps", "1e-6"), adjacency={"q": All(2)}, requires=("eps > 0",), laws={"jitter": "laplace"}, align={"x": "1"}
    )
    assert one == other
    assert hash(one) == hash(other)
    assert one == pickle.loads(pickle.dumps(one))
    assert one != Spec(
        claim=("eps", "1e-6"), adjacency={"q": All(1)}, requires=["eps > 0"], laws={"jitter": "laplace"}, align={"x": 1}
    )


@pytest.mark.parametrize(
    ("claim", "cost", "expected"),
    [("eps", None, "pure"), (("eps",), None, "pure"), (("eps", "delta"), None, "approx"), ("rho", "zcdp", "zcdp")],
)
def test_the_cost_follows_from_the_claim_unless_it_is_said(claim, cost, expected):
    assert expected == Spec(claim=claim, adjacency="one", cost=cost).cost


@pytest.mark.parametrize(
    ("code", "parts"),
    [
        ("DPA720", {"claim": ("eps", "delta", "rho")}),
        ("DPA720", {"claim": ()}),
        ("DPA720", {"claim": "eps", "cost": "approx"}),
        ("DPA720", {"claim": ("eps", "delta"), "cost": "pure"}),
        ("DPA720", {"claim": ("eps", "delta"), "cost": "zcdp"}),
        ("DPA720", {"cost": "free"}),
        ("DPA721", {"claim": 0.5}),
        ("DPA721", {"claim": True}),
        ("DPA721", {"claim": None}),
        ("DPA721", {"claim": "eps +"}),
        ("DPA721", {"claim": "x = 1"}),
        ("DPA721", {"claim": ""}),
        ("DPA721", {"claim": "\0"}),
        ("DPA721", {"claim": "(" * 999}),
        ("DPA720", {"adjacency": "swap"}),
        ("DPA720", {"adjacency": "l1"}),
        ("DPA720", {"adjacency": None}),
        ("DPA720", {"adjacency": {"q": 1}}),
        ("DPA720", {"adjacency": {1: "one"}}),
        ("DPA720", {"adjacency": {"a b": "one"}}),
        ("DPA720", {"requires": "eps > 0"}),
        ("DPA721", {"requires": [1.0]}),
        ("DPA721", {"requires": ["eps >"]}),
        ("DPA720", {"domain": "q[0] > 0"}),
        ("DPA720", {"public": "q"}),
        ("DPA720", {"public": [1]}),
        ("DPA720", {"laws": {"jitter": "uniform"}}),
        ("DPA720", {"laws": {"laplace": "gaussian"}}),
        ("DPA720", {"laws": ["jitter"]}),
        ("DPA720", {"align": [("x",)]}),
        ("DPA721", {"align": {"x": "1 +"}}),
    ],
)
def test_parts_that_do_not_fit_are_refused(code, parts):
    with pytest.raises(InvalidArgument, match=code):
        Spec(**{**GOOD, **parts})
    with pytest.raises(InvalidArgument, match=code):
        spec(**{**GOOD, **parts})


@pytest.mark.parametrize(("relation", "bound", "code"), [("none", 1, "DPA720"), ("one", 1.0, "DPA721"), ("one", "<", "DPA721")])
def test_a_change_of_no_known_relation_or_bound_is_refused(relation, bound, code):
    with pytest.raises(InvalidArgument, match=code):
        Change(relation, bound)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"adjacency": {"r": "one"}}, "names 'r', which is not a parameter"),
        ({"adjacency": {"laplace": "one"}}, "names 'laplace', which is not a parameter"),
        ({"public": ["r"]}, "names 'r', which is not a parameter"),
        ({"laws": {"eps": "laplace"}}, "names 'eps', which is not a keyword-only parameter"),
        ({"laws": {"other": "laplace"}}, "names 'other', which is not a keyword-only parameter"),
    ],
)
def test_names_that_the_function_does_not_have_are_refused(parts, message):
    with pytest.raises(InvalidArgument, match=f"DPA720.*{message}"):
        spec(**{**GOOD, **parts})(fresh())


@pytest.mark.parametrize("thing", [partial(promised), len, Spec, 3, promised.__get__(3)])
def test_only_plain_functions_are_decorated(thing):
    with pytest.raises(InvalidArgument, match="DPA720 @spec takes a plain function"):
        spec(**GOOD)(thing)


def test_a_function_promises_once():
    function = spec(**GOOD)(fresh())
    with pytest.raises(InvalidArgument, match="DPA720 promised has a spec already"):
        spec(**GOOD)(function)


def test_neither_a_promise_nor_the_front_end_loads_a_solver():
    code = (
        "import sys, dpaudit.spec; assert not any(n.startswith('dpaudit.verifier') for n in sys.modules)\n"
        "import dpaudit.verifier.frontend, dpaudit.catalogue.programs\n"
        "assert not {'z3', 'cvc5', 'numpy', 'scipy', 'flint'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
