"""The data-flow proofs hold for what ships, and fall with any fault in what is drawn, logged, claimed or priced."""

from __future__ import annotations
import __future__

import hashlib
import importlib
import inspect
import linecache
import pkgutil
import textwrap
import tomllib
from functools import cached_property
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import proofs.flow
from dpaudit.accounting import pricing
from proofs.flow import reading
from proofs.flow.releasing import Unproven
from proofs.flow.terms import Term, Undecided, same, walk_through

FACTS = {
    f"{name}:{fact.__name__}": fact
    for name in sorted(one.name for one in pkgutil.iter_modules(proofs.flow.__path__))
    for fact in vars(importlib.import_module(f"proofs.flow.{name}")).values()
    if inspect.isfunction(fact)
    and fact.__module__ == f"proofs.flow.{name}"
    and not fact.__name__.startswith("_")
    and not inspect.signature(fact).parameters
}

FAULTS = [
    fault
    for name in ("flow_faults.toml", "sampler_faults.toml")
    for fault in tomllib.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))["fault"]
]


@pytest.mark.parametrize("name", FACTS)
def test_what_ships_is_followed_to_its_claim(name):
    FACTS[name]()


def faulty(function, old, new):
    """The function, compiled from its source with one change and without what decorates it, as if that stood in a file."""
    function = inspect.unwrap(function)
    source = textwrap.dedent(inspect.getsource(function))
    assert 1 == source.count(old) or old == new, "the fault fits the source"
    text = "".join(line for line in source.splitlines(keepends=True) if not line.startswith("@")).replace(old, new)
    place = f"<fault {hashlib.sha256(text.encode()).hexdigest()}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    names = {}
    # As in the modules, annotations are not evaluated.
    code = compile(text, place, "exec", flags=__future__.annotations.compiler_flag, dont_inherit=True)
    exec(code, function.__globals__, names)  # noqa: S102
    return names[function.__name__]


@pytest.mark.parametrize("fault", [pytest.param(fault, id=f"{fault['place']}: {fault['new'].strip()}") for fault in FAULTS])
def test_a_fault_takes_the_proof_away(monkeypatch, fault):
    replace(monkeypatch, fault["place"], fault["old"], fault["new"])
    with pytest.raises((Unproven, Undecided, AttributeError, TypeError, ValueError)):
        FACTS[fault["fact"]]()


@pytest.mark.parametrize(("fact", "place"), sorted({(fault["fact"], fault["place"]) for fault in FAULTS}))
def test_a_definition_that_is_compiled_again_without_a_fault_keeps_the_proof(monkeypatch, fact, place):
    replace(monkeypatch, place, "def ", "def ")
    FACTS[fact]()


def replace(monkeypatch, place, old, new):
    """Put a definition with a change in the place of the one that ships."""
    module, _, name = place.partition(":")
    *owners, attribute = name.split(".")
    owner = importlib.import_module(module)
    for one in owners:
        owner = getattr(owner, one)
    found = vars(owner)[attribute]
    match found:
        case property():
            monkeypatch.setattr(owner, attribute, property(faulty(found.fget, old, new)))
        case cached_property():
            monkeypatch.setattr(owner, attribute, cached_property(faulty(found.func, old, new)))
        case _ if owner is pricing:
            made = faulty(found, old, new)
            monkeypatch.setattr(owner, attribute, made)
            for kind, priced in pricing._LAWS.items():
                if priced is found:
                    monkeypatch.setitem(pricing._LAWS, kind, made)
            if attribute in reading.PRICES:
                monkeypatch.setattr(reading.PRICES[attribute], "function", made)
        case _:
            monkeypatch.setattr(owner, attribute, faulty(found, old, new))


X, Y = Term("x"), Term("y")
NUMBERS = st.fractions(-3, 3, max_denominator=4)
EXPRESSIONS = st.recursive(
    st.sampled_from("xy") | NUMBERS, lambda parts: st.tuples(st.sampled_from("+-*/"), parts, parts), max_leaves=6
)


def term_of(expression):
    """An expression over stand-ins."""
    if isinstance(expression, tuple):
        return Term(expression[0], *map(term_of, expression[1:]))
    return {"x": X, "y": Y}[expression] if isinstance(expression, str) else expression


def value_of(expression, x, y):
    """The value of an expression, None where it divides by zero."""
    if not isinstance(expression, tuple):
        return {"x": x, "y": y}[expression] if isinstance(expression, str) else expression
    left, right = (value_of(part, x, y) for part in expression[1:])
    if left is None or right is None or (expression[0] == "/" and not right):
        return None
    return {"+": left.__add__, "-": left.__sub__, "*": left.__mul__, "/": left.__truediv__}[expression[0]](right)


@given(EXPRESSIONS, EXPRESSIONS, NUMBERS, NUMBERS)
def test_expressions_that_are_called_the_same_have_the_same_values(first, second, x, y):
    if same(term_of(first), term_of(second)):
        one, other = value_of(first, x, y), value_of(second, x, y)
        assert one is None or other is None or one == other


@given(EXPRESSIONS, NUMBERS)
def test_an_expression_is_the_same_when_it_is_written_otherwise_and_another_when_it_is_moved(expression, number):
    term = term_of(expression)
    assert same(term, Term("-", Term("+", Term("*", number, X), term), Term("*", X, number)))
    if number and value_of(expression, 7, 11) is not None:
        assert not same(term, Term("+", term, number))


def test_every_path_is_walked_once():
    seen = [(walk.decided, result) for walk, result in walk_through(lambda: (bool(X > 1), bool(Y > 1), bool(X > 1)))]
    assert sorted(result for _, result in seen) == [(a, b, a) for a in (False, True) for b in (False, True)]


@pytest.mark.parametrize("use", [lambda: {X: 1}, lambda: [1][X], lambda: X(lambda: X), lambda: range(X), lambda: bool(X)])
def test_a_use_without_a_record_is_refused(use):
    with pytest.raises(Undecided):
        use()
