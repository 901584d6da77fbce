"""Programs with random changes do what CPython does where they are read: statements moved, names exchanged, tests turned."""

from __future__ import annotations

import ast
import copy
import random

import pytest

from dpaudit.errors import Unsupported
from dpaudit.promise import violation
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.ir import contract_of
from dpaudit.verifier.ordinary.lines import SHOWN
from dpaudit.verifier.ordinary.reading import read
from dpaudit.verifier.ordinary.replaying import Differs, compare, random_inputs, random_noise
from tests.verifier.ordinary.conftest import claimed, rows

PROGRAMS = [row for name in ("tune", "accept", "people", "written", "attacks_heap") for row in rows(name)]


def _change(tree, source):
    """Change one thing somewhere in a program, if what was drawn is there."""
    nodes = list(ast.walk(tree))
    blocks = [node.body for node in nodes if isinstance(node, (ast.FunctionDef, ast.For, ast.If)) and len(node.body) > 1]
    names = [node for node in nodes if isinstance(node, ast.Name)]
    tests = [node for node in nodes if isinstance(node, (ast.If, ast.IfExp))]
    numbers = [node for node in nodes if isinstance(node, ast.Constant) and type(node.value) in (int, float)]
    sums = [node for node in nodes if isinstance(node, ast.BinOp)]
    loops = [node for node in nodes if isinstance(node, ast.For)]
    match source.randrange(7):
        case 0 if blocks:
            block = source.choice(blocks)
            block.insert(source.randrange(len(block) + 1), copy.deepcopy(source.choice(block)))
        case 1 if blocks:
            block = source.choice(blocks)
            one, other = source.randrange(len(block)), source.randrange(len(block))
            block[one], block[other] = block[other], block[one]
        case 2 if names:
            source.choice(names).id = source.choice(names).id
        case 3 if tests:
            found = source.choice(tests)
            found.test = ast.UnaryOp(ast.Not(), found.test)
        case 4 if numbers:
            number = source.choice(numbers)
            number.value = source.choice([number.value + 1, 0, 1, -number.value])
        case 5 if sums:
            source.choice(sums).op = source.choice([ast.Add(), ast.Sub(), ast.Mult()])
        case 6 if loops:
            jump = source.choice(["continue", "break", "x = 1"])
            source.choice(loops).body.insert(0, ast.parse(f"if x > 2:\n    {jump}").body[0])


def _compared(seed, count):
    """The number of changed programs that were read and compared."""
    source, done = random.Random(seed), 0  # noqa: S311 - changes and data for comparisons
    for _ in range(count):
        row = source.choice(PROGRAMS)
        tree = ast.parse(row["text"])
        for _ in range(source.choice([1, 1, 2])):
            _change(tree, source)
        row = {**row, "text": ast.unparse(ast.fix_missing_locations(tree))}
        try:
            reading = read(
                row["text"], claimed(row if "eps" in row["text"] else {"claim": "1", **row}), function=row.get("function")
            )
            program = parse(reading.text, reading.promise)
        except Unsupported:
            continue
        noise, promise, done = random_noise(source), contract_of(program).promise, done + 1
        data = [random_inputs(reading, program, source) for _ in range(6)]
        try:
            for one in data:
                if violation(promise, one) is None:
                    compare(reading, program, one, noise)
        except Differs:
            # A function that is not computed may fail: what it is computed of was put out before, and a verdict is withdrawn.
            if SHOWN not in reading.state.outputs:
                raise
    return done


def test_changed_programs_do_what_python_does():
    assert _compared(3, 60) > 10


@pytest.mark.campaign
@pytest.mark.parametrize("seed", range(10))
def test_many_changed_programs_do_what_python_does(seed):
    assert _compared(seed, 1000) > 200
