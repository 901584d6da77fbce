"""Each condition of the theorem is needed: with its check taken out, the trap that it stops is called proven."""

from __future__ import annotations

import inspect
import textwrap

import pytest

from dpaudit.verifier import confirming, proving
from dpaudit.verifier.alignment.search import user_alignment
from dpaudit.verifier.confirming import Confirmations
from dpaudit.verifier.invariants.houdini import Houdini
from dpaudit.verifier.product import adjacency, execution, laws, ledger, loops, rational, requests, statements
from dpaudit.verifier.product.adjacency import Neighbours, directions
from dpaudit.verifier.product.costs import Meter
from dpaudit.verifier.product.execution import Execution
from dpaudit.verifier.proving import Failed, Proof, obligations, prove
from dpaudit.verifier.solving import totals
from dpaudit.verifier.terms import ONE, ZERO, Sort, add, conjunction, equal, implies, less_equal, substitute, variable
from tests.verifier.conftest import traps

ONE_DIRECTION = (adjacency.directions, "if directed", "if False")
NO_CHECKS = (statements.run_statement, "execution.book.prove(kind, place.line, implies(run.path, holds))", "pass")
NO_WITNESS = (proving._prove_directions, "if empty is not None:", "if False:")
EVEN_IF_SHOWN = (proving._prove_directions, "if isinstance(real, Empty) and real.certain:", "if False:")
NO_TRIP = (loops.cut_at_head, 'book.prove("trip", line, equal(heads[0].path, heads[1].path))', "pass")
NO_SIGNS = (rational.at_most, "conjunction(*signs, ", "conjunction(")
UNGUARDED = (totals._named, "facts.append(implies(less_equal(ONE, second), meaning))", "facts.append(meaning)")
LATER = "(1 if x < 1 else -1) if 0 <= x and x < 2 and 1 <= y and y < 2 and q[0] <= 0 and other.q[0] > 0 else 0"
AFTER = "(1 if y < 1 else -1) if 0 <= y and y < 2 and 1 <= x and x < 2 and q[0] <= 0 and other.q[0] > 0 else 0"
INSIDE = """for name, change in self.contract.changes:
        yield conjunction(less_equal(ZERO, self.position(name)), less(self.position(name), variable(f"len({name})", Sort.INT)))"""
ROWS = {
    "T01": {"adjacency": "inc", "align": {"x": LATER, "y": AFTER}},
    "T02": {"adjacency": "inc", "align": {"x": "-x / 2 if abs(x) <= 1/10 and other.q[0] > q[0] else 0"}},
    "T03": {"adjacency": "inc", "align": {"x": "-ghost.o / 2 if other.q[0] > q[0] else 0"}},
    "T21": {"claim": ["0", "0.0068"], "align": {"laplace.1": "0", "laplace.1.within": "5"}},
    "T42": {"claim": ["0", "0.0068"], "align": {"laplace.1": "0", "laplace.1.within": "5"}},
    "T27": {"align": {"laplace.1": "q[0] - other.q[0]"}},
    "T18": {"align": {"x": "q[0] - other.q[0]"}},
    "T20": {
        "adjacency": "inc",
        "claim": ["0", "1/10"],
        "requires": ["n == 10", "len(q) >= 1"],
        "align": {"r": "0", "r.within": "1/10"},
    },
    "T39": {"requires": ["eps > 0", "n >= 1", "n == len(q)"], "align": {"laplace.1": "q[0] - other.q[0]"}},
}
"""What is different in a trap for one direction of it, which is enough of a trap, or with the alignment that would do."""
NOT_OUTPUT = """for one in execution.output():
            if one is not None:
                book.know(implies(here, implies(equal(noise, one), constant(value=False))))"""
EACH_OUTPUT = [(proving.modes, 'pairs.contract.cost != "pure" or ', "")]
IS_OUTPUT = [
    (ledger.cuts, "named[0].law not in _TAILS or ", ""),
    (ledger.tail, "with working_precision", "return cut\n    with working_precision"),
    (
        requests.run_draw,
        "book.know(implies(here, less_equal(absolute(noise), multiply(constant(cut), args[0][0]))))",
        NOT_OUTPUT,
    ),
]
"""A failure event for each output, and the event that the noise is the output."""
TWICE = [
    (adjacency.substitute_run_terms, "return substitute(term, mapping)", "return substitute(substitute(term, mapping), names)")
]
"""What was put in place of a name or an element is read again."""
NOW = """substitute_run_terms(
        self.meter.within(self.counters), {variable("n", Sort.INT): self.entry[0].names["n"]}, self.reader(1)
    )"""
"""The parameter `n` in a price means what it is now, not what it was at entry."""
REMOVALS = {
    "T01": [ONE_DIRECTION, (requests.is_earlier, "return all(", "return True or all(")],
    "T02": [ONE_DIRECTION, (laws._piecewise, "not is_stretched(shift, noise)", "True")],
    "T03": [
        ONE_DIRECTION,
        (Execution.output, "sort is not Sort.REAL and ", ""),
        (proving.modes, "endless or ", ""),
    ],
    "T04": [
        (laws.draw_conditions, "support = less_equal(ZERO, noise), less_equal(ZERO, add(noise, shift))", "support = TRUE, TRUE")
    ],
    "T05": [ONE_DIRECTION],
    "T06": [(laws._on_lattice, "draw.law not in ON_LATTICE", "True")],
    "T07": [(Meter.name, "not names <= self.fixed", "False")],
    "T08": [
        (
            laws.draw_conditions,
            "same = conjunction(*(equal(one, other) for one, other in args))\n    still",
            "same = TRUE\n    still",
        )
    ],
    "T09": [(requests.run_draw, 'book.prove("valid", line, ', "book.know(")],
    "T15": [(loops.flags_of, "if can_leave(body, Return) or can_leave(body, Raise):", "if False:")],
    "T17": [NO_CHECKS, NO_WITNESS],
    "T18": [(Meter.charge, "add(counters[name], choose(here, units, ZERO))", "choose(here, units, counters[name])")],
    "T19": [ONE_DIRECTION, (laws._piecewise, "return noise not in variables(shift)", "return True")],
    "T21": [(Meter.charge, "add(counters[FAILED], choose(here, failing, ZERO))", "choose(here, failing, counters[FAILED])")],
    "T22": [(laws.draw_conditions, "multiply(constant(2), sensitivity)", "multiply(constant(4), sensitivity)")],
    "T25": [NO_CHECKS, NO_WITNESS, UNGUARDED],
    "T26": [
        (Confirmations.by_solvers, "all(outcome.answer is Answer.UNSAT", "all(outcome.answer is not Answer.SAT"),
        (Houdini.needed, "elif outcome.answer is not Answer.UNSAT", "elif outcome.answer is Answer.SAT"),
    ],
    "T27": [(Execution.price, "self.meter.within(self.counters)", NOW)],
    "T28": [NO_TRIP, NO_WITNESS],
    "T31": [NO_WITNESS, EVEN_IF_SHOWN],
    "T33": [NO_TRIP],
    "T34": [(Execution.price, "self.book.must(kind,", 'kind == "prefix" or self.book.must(kind,')],
    "T36": [NO_CHECKS, NO_WITNESS, UNGUARDED],
    "T37": [UNGUARDED],
    "T38": [(Neighbours.at_entry, "for name, change in self.contract.changes:", INSIDE)],
    "T39": [
        (
            Neighbours._sum_at,
            "self.spent(name, index), self.spent(name, add(index, ONE))",
            "self.spent(name, variable('i@1', Sort.INT)), self.spent(name, add(variable('i@1', Sort.INT), ONE))",
        )
    ],
    "T40": [(laws.draw_conditions, "same = conjunction(*(equal(one, other) for one, other in args[-2:]))", "same = TRUE")],
    "T41": [
        (laws.draw_conditions, "at_most(ZERO, epsilon)", "TRUE"),
        (laws._spread, "return subtract(high, low)", "return constant(2)"),
    ],
    "T42": [
        (
            requests.run_draw,
            'book.must("ledger", line, less_equal(execution.counters[FAILED], execution.pairs.contract.delta))',
            "pass",
        )
    ],
    "T47": [NO_SIGNS, (statements.execute, "in contract.obligations", "in ()")],
    "T49": [(requests._neighbours, "if fits else FALSE", "if False else less_equal(ONE, ONE)")],
    "T49-scalar": [(requests.call_conditions, "goals.append(equal(*argument))", "pass")],
    "T50": [(statements.finish, 'execution.price("cost", line)', "pass")],
}


def changed(function, edits):
    """The code of a function with parts of its source replaced."""
    source = textwrap.dedent(inspect.getsource(function))
    for old, new in edits:
        assert 1 == source.count(old), (function, old)
        source = source.replace(old, new)
    made = {}
    exec(compile("from __future__ import annotations\n" + source, "<changed>", "exec"), function.__globals__, made)  # noqa: S102
    return made[function.__name__].__code__


def trap_of(name, **parts):
    """A trap by its id, with other parts."""
    found = next(one for one in traps() if one.id == name)
    return type(found)(name, {**found.row, **parts})


def take_out(monkeypatch, edits):
    """Replace the code of the functions for this test."""
    for function in {edit[0] for edit in edits}:
        monkeypatch.setattr(function, "__code__", changed(function, [edit[1:] for edit in edits if edit[0] is function]))


def test_no_trap_is_proven(readable_trap):
    assert isinstance(prove(readable_trap.parse(), seconds=20), Failed)


def test_without_its_check_a_trap_is_proven(readable_trap, monkeypatch):
    edits = REMOVALS.get(readable_trap.id)
    if edits is None:
        assert readable_trap.id in {"T20", "T30", "T35", "T48"}
        return
    take_out(monkeypatch, edits)
    monkeypatch.setattr(confirming, "SECONDS", 0.5)
    assert isinstance(prove(trap_of(readable_trap.id, **ROWS.get(readable_trap.id, {})).parse(), seconds=20), Proof)


@pytest.mark.parametrize(
    ("edits", "outcome"),
    [([], Failed), (EACH_OUTPUT, Failed), (IS_OUTPUT, Failed), (EACH_OUTPUT + IS_OUTPUT, Proof)],
)
def test_either_of_two_checks_stops_a_failure_event_for_each_output(edits, outcome, monkeypatch):
    take_out(monkeypatch, [ONE_DIRECTION, *edits])
    assert isinstance(prove(trap_of("T20", **ROWS["T20"]).parse(), seconds=20), outcome)


@pytest.mark.parametrize("line", [4, 5])
def test_each_of_two_outputs_of_one_draw_has_an_alignment_of_its_own(line, monkeypatch):
    old = 'execution.book.prove("out", statement.place.line, implies(paths[0], equal(one, other)))'
    take_out(monkeypatch, [(statements.run_append, old, f"if statement.place.line == {line}:\n        {old}")])
    assert isinstance(prove(trap_of("T30").parse(), seconds=20), Proof)


@pytest.mark.parametrize(
    ("prefix", "edits", "outcome"),
    [("ghost.", [], Failed), ("ghost.", TWICE, Failed), ("ghost_", [], Failed), ("ghost_", TWICE, Proof)],
)
def test_either_of_two_checks_keeps_a_program_from_naming_a_ghost(prefix, edits, outcome, monkeypatch):
    text = trap_of("T48").row["source"].replace("list[Fraction]", "list[int]")
    for letter in "dok":
        text = text.replace(f" {letter} ", f" ghost_{letter} ")
    assert 4 == text.count("ghost_")
    take_out(monkeypatch, edits)
    for module in (adjacency, execution):
        monkeypatch.setattr(module, "GHOST", prefix)
    assert isinstance(prove(trap_of("T48", source=text).parse(), seconds=20), outcome)


def test_a_shift_that_speaks_of_a_later_loop_is_stopped_by_its_form_alone(monkeypatch):
    text = trap_of("T35").row["source"].replace("    x = laplace", "    a = q[0]\n    x = laplace").replace("(q[0] <=", "(a <=")
    shifts = {"x": LATER, "y": AFTER}
    shifts = {name: shift.replace("other.q[0]", "other.a").replace("q[0]", "a") for name, shift in shifts.items()}
    program = trap_of("T35", adjacency="inc", align=shifts, source=text).parse()
    pairs = directions(program)[0]
    first, second = user_alignment(program, pairs, pointwise=False).values()
    # The head of the loop is before its draw and after it; there `y@1` is a state, not a noise.
    y, moved, spent = (variable(name, Sort.REAL) for name in ("y", "other.y", "$spent.2"))
    before, after = (less_equal(variable("i", Sort.INT), ZERO), less_equal(ONE, variable("i", Sort.INT)))
    nothing = conjunction(equal(y, ZERO), equal(moved, ZERO), less_equal(spent, ZERO))
    invariants = {1: (implies(before, nothing), implies(after, equal(moved, add(y, second))), less_equal(spent, ONE))}
    alignment = {1: substitute(first, {y: variable("y@1", Sort.REAL)}), 2: second}

    def unproven():
        made = obligations(program, pairs, alignment, invariants)
        return [one.kind for one in made if Confirmations().first_unproven([one])]

    assert ["triangular"] == unproven()
    take_out(monkeypatch, [(requests.is_earlier, "one in execution.born", "one in execution.born or str(one.value) == 'y@1'")])
    assert [] == unproven()
