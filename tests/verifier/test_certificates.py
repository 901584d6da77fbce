"""A certificate proves nothing by itself: everything that counts is made anew from the source, and each part of it is compared."""

from __future__ import annotations

import copy
import inspect
import json
import textwrap
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpaudit.catalogue.programs.basic import histogram
from dpaudit.catalogue.programs.sparse_vector import sparse_vector, sparse_vector_decreasing, sparse_vector_increasing
from dpaudit.errors import InvalidArgument
from dpaudit.spec import Spec
from dpaudit.verifier import recheck as rechecking
from dpaudit.verifier import verify
from dpaudit.verifier.certificates import claim_hash, digest, source_hash, text_of
from dpaudit.verifier.confirming import text_hash
from dpaudit.verifier.frontend import expression, parse
from dpaudit.verifier.notation import Table, Unreadable, format_term, read_terms
from dpaudit.verifier.product.adjacency import directions
from dpaudit.verifier.proving import obligations
from dpaudit.verifier.recheck import parse_certificate, recheck
from dpaudit.verifier.terms import ONE, Sort, constant, less, variable

TEXT = textwrap.dedent(inspect.getsource(histogram)).split("\n", 1)[1]


@pytest.fixture(scope="module")
def original():
    """A certificate as its file holds it."""
    return text_of(verify(TEXT, **promise()).certificate)


@pytest.fixture(scope="module")
def two_ways():
    """The certificate of a program with two directions and a loop with invariants."""
    return text_of(verify(sparse_vector_increasing).certificate)


@pytest.fixture
def document(original):
    """A certificate that a test may spoil."""
    return parse_certificate(original)


def promise(**changed):
    """The specification of the text."""
    return {"claim": "eps", "adjacency": "one", "requires": ["eps > 0"], **changed}


def program(text=TEXT, **changed):
    """The text with a specification."""
    return parse(text, Spec(**promise(**changed)))


def stamped(document):
    """The certificate with a hash that fits what it says now."""
    rest = {key: value for key, value in document.items() if key != "evidence_hash"}
    return {**rest, "evidence_hash": digest(rest)}


@pytest.mark.parametrize("quick", [True, False])
def test_a_certificate_is_rechecked_with_and_without_solvers(original, quick):
    found = recheck(program(), parse_certificate(original), quick=quick)
    assert ("proven", "") == (found.status, found.reason)
    assert found.obligations == found.kernel > 10


def test_writing_and_reading_change_nothing(original):
    assert json.loads(original) == parse_certificate(original)
    assert original == text_of(parse_certificate(original))


# Stale: another source, another specification.

CHANGES = {
    "noise": (TEXT.replace("1 / eps", "2 / eps"), {}),
    "operator": (TEXT.replace("q[i] +", "q[i] -"), {}),
    "claim": (TEXT, {"claim": "2 * eps"}),
    "adjacency": (TEXT, {"adjacency": "all"}),
    "requires": (TEXT, {"requires": ["eps >= 1"]}),
    "no requires": (TEXT, {"requires": ["eps > 0", "len(q) >= 1"]}),
    "domain": (TEXT, {"domain": ["q[each] >= 0"]}),
    "cost": (TEXT, {"claim": ("eps", "0")}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_source_or_specification_makes_it_stale(document, change):
    text, parts = CHANGES[change]
    found = recheck(program(text, **parts), document, quick=True)
    assert "unknown" == found.status
    assert "stale: the source or the specification" in found.reason


def test_a_comment_makes_it_stale_but_not_another_claim(document):
    commented = program(TEXT.replace("    out = []", "    # a comment\n    out = []"))
    assert claim_hash(commented) == document["claim_hash"]
    assert source_hash(commented) != document["source_hash"]
    assert "stale: comments" in recheck(commented, document, quick=True).reason


def test_line_ends_do_not_count():
    assert source_hash(program()) == source_hash(replace(program(), source=TEXT.replace("\n", "\r\n")))


def test_numbers_count_with_their_type():
    numbers = [replace(program(), constants=(("step", value),)) for value in (1, True, Fraction(1), 2)]
    assert 4 == len(set(map(claim_hash, numbers)))


def test_growing_and_falling_are_told_apart_though_the_code_is_the_same(two_ways):
    assert "stale" in recheck(parse(sparse_vector_decreasing), parse_certificate(two_ways), quick=True).reason
    same = [parse(TEXT.replace("list[int]", "list[Fraction]"), Spec(**promise(adjacency=way))) for way in ("inc", "dec")]
    assert claim_hash(same[0]) != claim_hash(same[1])


# K5 and the rest: forged certificates whose hash fits.


def forged(document, forge):
    """What becomes of a certificate that was changed and stamped again."""
    spoiled = copy.deepcopy(document)
    forge(spoiled)
    return stamped(spoiled)


def without_hash(document):
    document["formulas"][0]["text"] = "0" * 64


def without_obligation(document):
    del document["proofs"][0]["obligations"][3]


def without_kernel(document):
    document["formulas"][2]["kernel"] = None


def with_other_kernel(document):
    for row in document["formulas"]:
        row["kernel"] = {"keep": [], "atoms": [], "lemmas": [], "tree": [0]}


def with_swapped_rows(document):
    rows = document["proofs"][0]["obligations"]
    used = [row for row in rows if row[1] is not None]
    used[0][1], used[-1][1] = used[-1][1], used[0][1]


def without_direction(document):
    del document["proofs"][-1]


def with_direction_twice(document):
    document["proofs"].append(copy.deepcopy(document["proofs"][0]))


def reversed_direction(document):
    document["proofs"][0]["reverse"] = True


def pointwise(document):
    document["proofs"][0]["pointwise"] = True


def with_number_as_truth(document):
    document["proofs"][0]["pointwise"] = 0


def with_unknown_site(document):
    document["proofs"][0]["alignment"].append([77, 0])


def with_site_twice(document):
    document["proofs"][0]["alignment"] *= 2


def with_unknown_loop(document):
    document["proofs"][0]["invariants"].append([9, []])


def with_term_out_of_range(document):
    document["proofs"][0]["alignment"][0][1] = 10**6


def with_negative_term(document):
    document["proofs"][0]["alignment"][0][1] = -1


def with_other_shift(document):
    document["terms"].append(["constant", [], "5", "Int"])
    document["proofs"][0]["alignment"][0][1] = len(document["terms"]) - 1


def with_truth_as_shift(document):
    document["terms"].append(["constant", [], "True", "Bool"])
    document["proofs"][0]["alignment"][0][1] = len(document["terms"]) - 1


def with_invariant(document, term):
    table = Table(document["terms"], {one: place for place, one in enumerate(read_terms(document["terms"]))})
    entry = document["proofs"][0]["invariants"]
    entry[:] = [[1, [table.number(term)]]]


def with_false_invariant(document):
    with_invariant(document, less(ONE, constant(0)))


def with_noise_invariant(document):
    with_invariant(document, less(variable("$noise.1", Sort.REAL), ONE))


def with_number_invariant(document):
    with_invariant(document, variable("eps", Sort.REAL))


def with_other_sort(document):
    with_invariant(document, less(variable("eps", Sort.INT), ONE))


FORGERIES = (
    without_hash,
    without_obligation,
    without_kernel,
    with_other_kernel,
    with_swapped_rows,
    without_direction,
    with_direction_twice,
    reversed_direction,
    pointwise,
    with_number_as_truth,
    with_unknown_site,
    with_site_twice,
    with_unknown_loop,
    with_term_out_of_range,
    with_negative_term,
    with_other_shift,
    with_truth_as_shift,
    with_false_invariant,
    with_noise_invariant,
    with_number_invariant,
    with_other_sort,
)


@pytest.mark.parametrize("forge", FORGERIES)
def test_a_forged_certificate_is_not_confirmed(document, forge):
    found = recheck(program(), forged(document, forge), quick=True)
    assert "unknown" == found.status
    assert found.reason


def test_a_name_with_another_sort_is_refused_as_such(document):
    assert (
        "eps is named with a sort that it does not have" == recheck(program(), forged(document, with_other_sort), quick=True).reason
    )


@pytest.mark.parametrize("forge", [without_direction, reversed_direction, with_direction_twice, without_obligation])
def test_both_directions_and_every_obligation_must_be_there(two_ways, forge):
    found = recheck(parse(sparse_vector_increasing), forged(parse_certificate(two_ways), forge), quick=True)
    assert "unknown" == found.status


def test_solvers_do_not_stand_in_for_the_kernel_where_it_is_linear(document):
    assert "kernel" in recheck(program(), forged(document, without_kernel)).reason


def test_what_solvers_said_is_not_believed(document):
    def shift(one):
        with_other_shift(one)
        one["proofs"][0]["obligations"] = parsed_obligations(one)

    found = recheck(program(), forged(document, shift))
    assert "unknown" == found.status


def parsed_obligations(document):
    """The obligations of a wrong alignment, listed with texts that fit and answers that are claimed."""
    made = obligations(program(), directions(program())[0], {1: constant(5)}, {})
    document["formulas"] = [
        {"text": text_hash(one.formula), "z3": "unsat", "cvc5": "unsat", "kernel": document["formulas"][0]["kernel"]}
        for one in made
    ]
    document["proofs"][0]["invariants"] = []
    return [[one.id, place] for place, one in enumerate(made)]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("_bound", 'certificate["claim_hash"] != claim_hash(program)', "False"),
        ("_formula", 'formulas[number]["text"] != text_hash(obligation.formula)', "False"),
        ("_made", "pointwise not in modes(program, pairs)", "False"),
    ],
)
def test_each_comparison_is_needed(document, name, old, new, monkeypatch):
    function = getattr(rechecking, name)
    source = textwrap.dedent(inspect.getsource(function))
    assert 1 == source.count(old)
    made = {}
    exec(compile(f"from __future__ import annotations\n{source.replace(old, new)}", "<x>", "exec"), function.__globals__, made)  # noqa: S102
    monkeypatch.setattr(function, "__code__", made[name].__code__)
    if name == "_bound":
        stale = parse(sparse_vector)
        assert "stale: the source" not in recheck(stale, document, quick=True).reason
    elif name == "_formula":
        assert "proven" == recheck(program(), forged(document, without_hash), quick=True).status
    else:
        assert "the mode" not in recheck(program(), forged(document, pointwise), quick=True).reason


def test_a_certificate_that_was_edited_is_noticed(document):
    document["made_with"]["z3-solver"] = "99"
    assert "changed after it was written" in recheck(program(), document, quick=True).reason


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1.5}', '{"a": 1, "a": 2}', "{" * 10_000, "null", '{"format": NaN}'])
def test_what_is_no_certificate_is_refused(text):
    with pytest.raises(InvalidArgument, match="DPA730"):
        parse_certificate(text)


# Terms as data and as text.

BAD_ROWS = (
    None,
    [["variable"]],
    [["variable", [], "x"]],
    [["variable", [], "x", "Float"]],
    [["variable", [0], "x", "Int"]],
    [["constant", [], "1.5", "Real"]],
    [["constant", [], "1/0", "Real"]],
    [["constant", [], "1/2", "Int"]],
    [["constant", [], 1, "Int"]],
    [["constant", [], "yes", "Bool"]],
    [["apply", [], "q", "Real"]],
    [["+", [0]]],
    [["variable", [], "x", "Int"], ["+", [1]]],
    [["variable", [], "x", "Int"], ["+", [True]]],
    [["variable", [], "x", "Int"], ["+", [-1]]],
    [["variable", [], "x", "Int"], ["and", [0]]],
    [["variable", [], "x", "Int"], ["<", [0]]],
    [["variable", [], "x", "Int"], ["<", [0, 0, 0]]],
    [["variable", [], "x", "Int"], ["<", [0, 0], "x", "Bool"]],
    [["sin", []]],
    [{}],
)


@pytest.mark.parametrize("rows", BAD_ROWS, ids=repr)
def test_rows_that_are_no_terms_are_refused(rows):
    with pytest.raises(Unreadable):
        read_terms(rows)


NAMES = {"x": Sort.REAL, "y": Sort.REAL, "n": Sort.INT, "m": Sort.INT}
TEXTS = st.recursive(
    st.sampled_from([*NAMES, "2", "1/3", "-5"]),
    lambda inner: (
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner)
        | st.builds("(-{})".format, inner)
        | st.builds("({} if {} < {} and not {} == {} or n <= m else {})".format, inner, inner, inner, inner, inner, inner)
    ),
    max_leaves=8,
)


@given(text=TEXTS)
def test_terms_are_read_back_from_rows_and_from_their_text(text):
    term = expression(text, NAMES, {}).term
    table = Table()
    place = table.number(term)
    assert term is read_terms(json.loads(json.dumps(table.rows)))[place]
    again = format_term(expression(format_term(term), NAMES, {}).term)
    assert again == format_term(expression(again, NAMES, {}).term)
