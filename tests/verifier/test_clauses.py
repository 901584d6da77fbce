"""One meaning for a clause: what the guard accepts, the proof may count on, and neither reads what the other does not."""

from __future__ import annotations

import os
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpaudit.clauses import EACH, OPERATIONS, Clause, Scope, Unread, holds, read_clause, reads, value
from dpaudit.errors import InvalidArgument, Unsupported
from dpaudit.guard import Guard
from dpaudit.promise import first_violation, has_places, read_conditions, read_promise
from dpaudit.spec import Spec
from dpaudit.verifier import verify
from dpaudit.verifier.evaluation import value_of
from dpaudit.verifier.frontend import clauses as terms_of_clauses
from dpaudit.verifier.frontend.clauses import CONSTRUCTORS, express_clause, state_clause
from dpaudit.verifier.solving.models import Model
from dpaudit.verifier.terms import Sort, Term, apply, constant, substitute, variable
from tests.verifier.product.test_removals import changed

PARAMETERS = (("n", "int"), ("x", "Fraction"), ("b", "bool"), ("q", "list[int]"), ("r", "list[Fraction]"))
SCOPE = Scope({"n": "int", "x": "Fraction", "b": "bool"}, {"q": "int", "r": "Fraction"}, has_places=True)

# Every operation, in numbers and in terms.

OPERANDS = {"int": (-2, 0, 1, 3), "Fraction": (Fraction(-1, 2), Fraction(0), Fraction(3)), "bool": (False, True)}
TYPES = {
    "neg": [("int",), ("Fraction",)],
    "real": [("int",)],
    "abs": [("int",), ("Fraction",)],
    "not": [("bool",)],
    "//": [("int", "int")],
    "%": [("int", "int")],
    **{name: [("int", "int"), ("int", "Fraction"), ("Fraction", "Fraction")] for name in ("+", "-", "*", "/", "min", "max")},
    **{name: [("int", "int"), ("int", "Fraction")] for name in ("<", "<=", ">", ">=")},
    **{name: [("int", "Fraction"), ("bool", "bool")] for name in ("==", "!=")},
}


def test_numbers_and_terms_have_the_same_operations():
    assert set(OPERATIONS) == set(CONSTRUCTORS) == set(TYPES)


def number(term: Term):
    """The value that a constant term is, sums of one part included."""
    return value_of(term, {})


@pytest.mark.parametrize("name", sorted(TYPES))
def test_an_operation_gives_in_numbers_what_it_gives_in_terms(name):
    for kinds in TYPES[name]:
        for first in OPERANDS[kinds[0]]:
            for rest in [(second,) for second in OPERANDS[kinds[1]]] if len(kinds) == 2 else [()]:
                given_values = (first, *rest)
                try:
                    expected = OPERATIONS[name](*given_values)
                except ZeroDivisionError:
                    continue
                made = CONSTRUCTORS[name](*map(constant, given_values))
                assert expected == number(made), given_values


# Random clauses.

EXAMPLES = int(os.environ.get("DPAUDIT_CLAUSES", "400"))

LEAVES = (
    "n",
    "x",
    "each",
    "len(q)",
    "len(r)",
    "0",
    "1",
    "2",
    "-1",
    "1/2",
    "0.5",
    "q[each]",
    "r[each]",
    "q[0]",
    "r[n]",
    "q[each + 1]",
)
INTS = ("n", "each", "len(q)", "0", "1", "2", "q[each]", "q[each + 1]", "q[each - 1]", "q[n]", "q[q[each]]", "q[each // n]")
NUMBERS = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(("+", "-", "*", "/")), inner)
        | st.builds("(0 * {})".format, inner)
        | inner.map(lambda text: f"({text} - {text})")
        | inner.map(lambda text: f"min({text}, {text})")
        | inner.map(lambda text: f"({text} if True else {text})")
        | st.builds("max({}, {})".format, inner, inner)
        | st.builds("abs({})".format, inner)
        | st.builds("({}) ** {}".format, inner, st.integers(0, 3))
        | st.builds("({} if {} > 0 else {})".format, inner, inner, inner)
        | st.builds("({} {} {})".format, st.sampled_from(INTS), st.sampled_from(("//", "%")), st.sampled_from(INTS))
    ),
    max_leaves=4,
)
COMPARISONS = (
    st.builds("({} {} {})".format, NUMBERS, st.sampled_from(("<", "<=", ">", ">=", "==", "!=")), NUMBERS)
    | st.builds("({} <= {} < {})".format, NUMBERS, NUMBERS, NUMBERS)
    | NUMBERS.map(lambda text: f"({text} == {text})")
    | st.just("b")
)
CONDITIONS = st.recursive(
    COMPARISONS,
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from(("and", "or")), inner)
        | st.builds("({} {} {})".format, st.sampled_from(("True", "False")), st.sampled_from(("and", "or")), inner)
        | st.builds("({} {} {})".format, inner, st.sampled_from(("and", "or")), st.sampled_from(("True", "False")))
        | st.builds("(not {})".format, inner)
        | inner.map(lambda text: f"({text} == {text})")
        | st.builds("({} if {} else {})".format, inner, inner, inner)
    ),
    max_leaves=4,
)
LISTS = st.lists(st.integers(-2, 3), max_size=4)
REALS = st.lists(st.fractions(-2, 2, max_denominator=3), max_size=4)


def in_terms(term: Term, values):
    """The truth of a term, by the model of an evaluator that knows nothing of trees: partial operations are 0 where undefined."""
    symbols = {
        variable(name, sort): values[name] for name, sort in (("n", Sort.INT), ("x", Sort.REAL), ("b", Sort.BOOL)) if name in values
    }
    symbols |= {variable(f"len({name})", Sort.INT): len(values[name]) for name in "qr"}
    symbols[variable(EACH, Sort.INT)] = values[EACH]
    put = substitute(term, {symbol: constant(found, symbol.sort) for symbol, found in symbols.items()})
    elements = {
        apply(name, (constant(place),), sort): constant(item, sort)
        for name, sort in (("q", Sort.INT), ("r", Sort.REAL))
        for place, item in enumerate(values[name])
    }
    # Elements may be indices of others.
    for _ in range(3):
        put = substitute(put, elements)
    return Model({}, {}).value(put)


@given(text=CONDITIONS, n=st.integers(-2, 4), x=st.fractions(-2, 2, max_denominator=3), b=st.booleans(), q=LISTS, r=REALS)
@settings(max_examples=EXAMPLES)
def test_a_clause_holds_of_data_just_where_its_term_does(text, n, x, b, q, r):
    clause = read_clause(text, SCOPE)
    term = state_clause(clause)
    for place in range(-1, max(len(q), len(r)) + 1):
        values = {"n": n, "x": x, "b": b, "q": q, "r": r, EACH: place}
        assert holds(clause, values) is in_terms(term, values), (text, values)


@given(text=CONDITIONS | NUMBERS, n=st.integers(-2, 4), x=st.fractions(-2, 2, max_denominator=3), b=st.booleans(), q=LISTS, r=REALS)
@settings(max_examples=EXAMPLES)
def test_a_text_has_a_value_just_where_its_checks_hold_and_then_that_of_its_term(text, n, x, b, q, r):
    """Requirements, bounds and claims: numbers and conditions, definedness included."""
    clause = read_clause(text, SCOPE)
    found = express_clause(clause)
    values = {"n": n, "x": x, "b": b, "q": q, "r": r, EACH: 0}
    defined = all(in_terms(check.condition, values) for check in found.checks)
    try:
        expected = value(clause, values)
    except (ZeroDivisionError, LookupError):
        assert not defined
        return
    assert defined
    assert expected == in_terms(found.term, values)


@given(text=CONDITIONS, q=LISTS, r=REALS)
@settings(max_examples=EXAMPLES // 2)
def test_the_guard_asks_at_every_place_where_a_clause_says_something(text, q, r):
    clause = read_clause(text, SCOPE)
    here = Clause("each", "int")
    spec = Spec(claim=1, adjacency={"q": "one", "r": "one"}, domain=[text])
    if has_places(clause) and not any(read.args == (here,) for read in reads(clause)):
        with pytest.raises(Unsupported, match="speaks of each without a list"):
            read_conditions(spec, PARAMETERS)
        return
    values = {"n": 1, "x": Fraction(1), "b": True, "q": q, "r": r}
    accepted = first_violation((), read_conditions(spec, PARAMETERS)[1], values) is None
    assert accepted == all(holds(clause, {**values, EACH: place}) for place in range(-3, 9))


# False proofs that a second meaning would give: `min(q[0], 0)` changes with every record below 0.

LEAST = "def f(q: list[int]) -> int: return min(q[0], 0)"
TRAPS = (
    "0 * q[each + 1] + q[each] >= 0",
    "q[each + 1] - q[each + 1] + q[each] >= 0",
    "q[each] >= 0 * q[each + 2]",
    "q[each] >= 0 and q[each + 1] == q[each + 1]",
    "q[each] >= 0 or (False and q[each + 1] > 0)",
    "q[each] >= 0 if True else q[each + 1] >= 0",
    "min(q[each + 1], q[each + 1]) - q[each + 1] <= q[each]",
    "q[each] >= 0 and (True or q[each + 3] > 0)",
    "(q[each + 1] ** 0) * q[each] >= 0",
    "q[each] >= (q[each + 1] if False else 0)",
    "q[each] >= 0 or q[len(q) + each] != q[len(q) + each]",
    "0 <= q[each] + 0 * q[q[each] + 5]",
)
SOUND = (
    "q[each] >= 0",
    "0 * q[0] + q[each] >= 0",
    "q[each] - q[each] + q[each] >= 0",
    "q[each] >= 0 and q[each] == q[each]",
    "q[each] >= 0 or (False and q[each] > 0)",
    "q[each] >= 0 if True else q[each] < 0",
    "min(q[each], q[each]) >= 0",
    "q[each] >= 0 and (True or q[0] > 0)",
    "(q[each] ** 0) * q[each] >= 0",
    "q[0] >= 0",
    "len(q) >= 1 and q[each] >= 0",
    "2 * q[each] >= q[each] // 1",
)


def claimed(clause):
    """What the verifier says of a program that is private just where no record is below 0."""
    return verify(LEAST, claim=0, adjacency="one", requires=["len(q) >= 1"], domain=[clause], seconds=10)


@pytest.mark.parametrize("clause", TRAPS)
def test_a_clause_that_says_nothing_of_the_last_record_proves_nothing(clause):
    assert "proven" != claimed(clause).status


@pytest.mark.parametrize("clause", SOUND)
def test_its_sound_twin_is_proven(clause):
    assert ("proven", "") == (claimed(clause).status, claimed(clause).reason)


def test_reads_that_vanish_count_and_without_them_the_false_claim_is_proven(monkeypatch):
    vanishing = "for read in reads(clause):"
    kept = "for read in (one for one in reads(clause) if str(express_clause(one).term) in str(express_clause(clause).term)):"
    monkeypatch.setattr(terms_of_clauses.state_clause, "__code__", changed(state_clause, [(vanishing, kept)]))
    assert "proven" == claimed(TRAPS[0]).status


def test_the_guard_accepts_what_the_clause_does_not_speak_of():
    guard = Guard("f", (("q", "list[int]"),), (), Spec(claim=0, adjacency="one", domain=[TRAPS[0]]))
    assert ([-1],) == guard.checked(([-1],), {})
    with pytest.raises(InvalidArgument, match="at position 0"):
        guard.checked(([-1, 0],), {})


# What texts may not say.


@pytest.mark.parametrize(
    ("text", "construct"),
    [
        ("n < b", "a comparison of a truth value"),
        ("b + 1 > 0", "a truth value in arithmetic"),
        ("q > 0", "the list q as a value"),
        ("q[-1] > 0", "a negative index"),
        ("q[x] > 0", "a Fraction as an index"),
        ("x // 2 > 0", "a Fraction before // or %"),
        ("n % x > 0", "a Fraction after // or %"),
        ("n ** n > 0", "this exponent"),
        ("n is 1", "the comparison Is"),
        ("abs(n, n) > 0", "abs with 2 arguments"),
        ("min(n) > 0", "min with 1 arguments"),
        ("max(n, default=1) > 0", "max with 1 arguments"),
        ("n and b", "a number with `and` or `or`"),
        ("n if b else b", "the branches of a conditional expression are int and bool"),
        ("[n for n in q]", "the construct ListComp"),
        ("'a' == 'a'", "a literal of type str"),
        ("+n > 0", "the operator UAdd"),
        ("m > 0", "the name m"),
        ("len(n) > 0", "len of something other than a list parameter"),
    ],
)
def test_a_text_without_a_meaning_is_refused_by_guard_and_proof_alike(text, construct):
    with pytest.raises(Unread) as caught:
        read_clause(text, SCOPE)
    assert construct in caught.value.construct + (" with 1 arguments" if "default" in text else "")
    with pytest.raises(Unsupported, match="DPA722 requires"):
        read_promise(Spec(claim=1, adjacency={"q": "one", "r": "one"}, requires=[text]), PARAMETERS)


def test_a_parameter_named_each_is_a_parameter_where_no_places_are_meant():
    spec = Spec(claim="each", adjacency="one", requires=["each >= 1"], domain=["q[each] >= 0"])
    guard = Guard("f", (("q", "list[int]"), ("each", "int")), (), spec)
    assert ([3, 4], 1) == guard.checked(([3, 4], 1), {})
    text = "def f(q: list[Fraction], each: Fraction) -> Fraction: return q[0] + laplace(1 / each)"
    found = verify(text, claim="each", adjacency="one", requires=["each > 0", "len(q) >= 1"], domain=["q[each] >= 0"])
    assert "proven" == found.status


def test_a_clause_that_has_no_value_does_not_hold_where_it_speaks():
    guard = Guard("f", (("q", "list[int]"),), (), Spec(claim=1, adjacency="one", domain=["6 / q[each] >= 1"]))
    assert ([1, 6],) == guard.checked(([1, 6],), {})
    with pytest.raises(InvalidArgument, match="at position 1"):
        guard.checked(([1, 0],), {})
