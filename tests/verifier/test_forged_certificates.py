"""Forged certificates that only their checks tell from proofs: each is refused, and passes where the checks are taken out."""

from __future__ import annotations

import copy
import inspect
import textwrap

import pytest

from dpaudit.catalogue.programs.basic import histogram
from dpaudit.spec import Spec
from dpaudit.verifier import recheck as rechecking
from dpaudit.verifier import verify
from dpaudit.verifier.certificates import claim_hash, digest, source_hash, text_of
from dpaudit.verifier.certify import certificate
from dpaudit.verifier.confirming import text_hash
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.notation import read_terms
from dpaudit.verifier.product.adjacency import directions
from dpaudit.verifier.proving import obligations
from dpaudit.verifier.recheck import parse_certificate, recheck
from dpaudit.verifier.terms import TRUE

COUNTS = textwrap.dedent(inspect.getsource(histogram)).split("\n", 1)[1]
NUMBER = "def noisy(q: list[Fraction], eps: Fraction) -> Fraction:\n    return q[0] + laplace(1 / eps)\n"
CLAIM = ("_bound", 'certificate["claim_hash"] != claim_hash(program)', "False")
TEXTS = ("_formula", 'formulas[number]["text"] != text_hash(obligation.formula)', "False")
KERNEL = ("_confirmed", "is_accepted(formula, row", "True or (row")
LISTED = ("_regenerated", "type(listed) is not list or [_pair(row)[0] for row in listed] != [each.id for each in made]", "False")
AS_MANY = ("_regenerated", "zip(made, listed, strict=True)", "zip(made, listed, strict=False)")


def program(text, **parts):
    """A text with a specification."""
    return parse(text, Spec(**{"claim": "eps", "adjacency": "one", "requires": ["eps > 0"], **parts}))


def take_out(monkeypatch, edits):
    """Replace parts of functions that check certificates."""
    for name in {edit[0] for edit in edits}:
        function = getattr(rechecking, name)
        source = textwrap.dedent(inspect.getsource(function))
        for _, old, new in (edit for edit in edits if edit[0] == name):
            assert 1 == source.count(old), old
            source = source.replace(old, new)
        made = {}
        exec(compile(f"from __future__ import annotations\n{source}", "<x>", "exec"), function.__globals__, made)  # noqa: S102
        monkeypatch.setattr(function, "__code__", made[name].__code__)


@pytest.fixture(scope="module")
def without_cost():
    """A certificate of half the true cost that lists every obligation but the one that fails, each with a kernel certificate."""
    document = copy.deepcopy(
        parse_certificate(text_of(verify(COUNTS, claim="eps", adjacency="one", requires=["eps > 0"]).certificate))
    )
    false = program(COUNTS, claim="eps / 2")
    entry, terms = document["proofs"][0], read_terms(document["terms"])
    alignment = {site: terms[number] for site, number in entry["alignment"]}
    invariants = {loop: tuple(terms[number] for number in stated) for loop, stated in entry["invariants"]}
    *made, cost = obligations(false, directions(false)[0], alignment, invariants)
    assert "cost" == cost.kind
    assert certificate(cost.formula) is None
    said = {"z3": "unsat", "cvc5": "unsat"}
    formulas = dict.fromkeys(one.formula for one in made if one.formula is not TRUE)
    document["formulas"] = [{"text": text_hash(one), **said, "kernel": certificate(one)} for one in formulas]
    places = {formula: place for place, formula in enumerate(formulas)}
    entry["obligations"] = [[one.id, places.get(one.formula)] for one in made]
    document |= {"claim_hash": claim_hash(false), "source_hash": source_hash(false)}
    rest = {key: value for key, value in document.items() if key != "evidence_hash"}
    return false, {**rest, "evidence_hash": digest(rest)}


def test_an_obligation_that_is_left_out_is_missed(without_cost, monkeypatch):
    false, document = without_cost
    assert "obligations that the source gives are not those" in recheck(false, document, quick=True).reason
    take_out(monkeypatch, [LISTED, AS_MANY])
    assert "proven" == recheck(false, document, quick=True).status


@pytest.fixture(scope="module")
def growing():
    """The certificate of a program whose data may only grow."""
    return parse_certificate(text_of(verify(NUMBER, claim="eps", adjacency="inc", requires=["eps > 0", "len(q) >= 1"]).certificate))


@pytest.mark.parametrize("kept", [(CLAIM,), (TEXTS,), (KERNEL,), ()], ids=["claim", "texts", "kernel", "none"])
def test_each_of_three_checks_tells_growing_from_falling_data(growing, kept, monkeypatch):
    falling = program(NUMBER, adjacency="dec", requires=["eps > 0", "len(q) >= 1"])
    take_out(monkeypatch, [edit for edit in (CLAIM, TEXTS, KERNEL) if edit not in kept])
    assert ("unknown" if kept else "proven") == recheck(falling, growing, quick=True).status


@pytest.mark.parametrize(
    ("edits", "said"),
    [([], ("stale: the source", "stale: the source")), ([CLAIM], ("obligation lattice", "obligation support"))],
    ids=["kept", "taken out"],
)
def test_a_proof_with_one_law_says_nothing_about_another(edits, said, monkeypatch):
    text = NUMBER.replace("laplace", "noise").replace("eps: Fraction)", "eps: Fraction, *, noise)")
    promise = {"claim": "eps", "adjacency": "one", "requires": ["eps > 0", "len(q) >= 1"]}
    document = parse_certificate(text_of(verify(text, **promise, laws={"noise": "laplace"}).certificate))
    take_out(monkeypatch, edits)
    for law, reason in zip(("laplace", "discrete_laplace", "exponential"), ("", *said), strict=True):
        assert reason in recheck(program(text, **promise, laws={"noise": law}), document, quick=True).reason
