"""Traps at the front end: each is refused by the check that is meant, and passes where that check is taken out."""

from __future__ import annotations

import inspect
import textwrap

import pytest

from dpaudit import promise
from dpaudit.errors import Unsupported
from dpaudit.verifier.frontend import expressions, parsing, refusals, scopes, statements
from dpaudit.verifier.ir import Program

REMOVALS = {
    "T10": [(expressions._element, "value is not None and value < 0", "False")],
    "T11": [(statements._counted, "reader.defined = before\n", "reader.defined = {*before, name}\n")],
    "T12": [
        (statements._component, "node.id in reader.outputs", "node.id in (*reader.outputs, *reader.lists)"),
        (statements._component, "node.id not in (reader.defined or ())", "False"),
    ],
    "T13": [(refusals.take, 'field == "ctx"', 'field in ("ctx", "orelse")')],
    "T14": [(statements._range, "1 <= len(node.args) <= 2", "True")],
    "T14-iterator": [(statements._range, 'reader.meaning(node.func.id) != Standard("range")', "False")],
    "T16": [(statements._branch, "after & reader.defined", "after | reader.defined")],
    "T23": [(expressions.arithmetic, "left.sort is Sort.INT and right.sort is Sort.INT", "False")],
    "T29": [
        (scopes.of_text, "len(nodes) != 1 or", "False and"),
        (scopes.of_text, "tree = nodes[0]", "tree = nodes[-1]"),
    ],
    "T32": [(promise._lists, "sorted(named) != sorted(scope.lists)", "False")],
    "T43": [
        (expressions.literal, "if isinstance(value, int):", "if isinstance(value, (int, float)):"),
    ],
    "T44": [(expressions._same, "first.sort is not second.sort", "False")],
    "T45": [(statements._returned, "reader.shape not in (None, shape)", "False")],
    "T45-none": [(parsing._program, "reader.defined is not None", "False")],
    "T46": [(promise._public, "if reads(found):", "if False:")],
    "T51": [
        (statements._target, "name in reader.lists or name in reader.outputs", "name in reader.lists"),
        (statements._output, "reader.level or reader.prefix or name in reader.symbols", "False"),
    ],
}
"""For each trap of the front end the checks that stop it: function, what the check says, what it says when it is taken out."""


def changed(function, edits):
    """The code of a function with parts of its source replaced."""
    source = textwrap.dedent(inspect.getsource(function))
    for old, new in edits:
        assert 1 == source.count(old), (function, old)
        source = source.replace(old, new)
    made = {}
    exec(compile("from __future__ import annotations\n" + source, "<changed>", "exec"), function.__globals__, made)  # noqa: S102
    return made[function.__name__].__code__


def test_the_front_end_refuses_what_it_must_and_reads_the_rest(trap):
    if trap.refused is None:
        assert isinstance(trap.parse(), Program)
        return
    with pytest.raises(Unsupported) as caught:
        trap.parse()
    assert trap.refused == caught.value.code


def test_without_its_check_a_trap_passes_the_front_end(trap, monkeypatch):
    if trap.refused is None:
        assert trap.id not in REMOVALS
        return
    for function in {function for function, _, _ in REMOVALS[trap.id]}:
        edits = [(old, new) for one, old, new in REMOVALS[trap.id] if one is function]
        monkeypatch.setattr(function, "__code__", changed(function, edits))
    assert isinstance(trap.parse(), Program)


def test_every_trap_says_what_stops_it(trap):
    assert {"id", "careless", "stopped_by", "claim", "adjacency", "source"} <= set(trap.row)
    assert (
        "front end" in trap.row["stopped_by"] or "every list" in trap.row["stopped_by"] or "is public" in trap.row["stopped_by"]
    ) == (trap.refused is not None)
