"""Draws that sink keep their law; coins that keep or turn an answer are randomized response; live functions are not patched."""

from __future__ import annotations

import importlib
import sys

import pytest

from dpaudit.errors import Unsupported
from dpaudit.spec import Spec
from dpaudit.verifier.ordinary.entering import read_function
from dpaudit.verifier.ordinary.ordering import flipped, paired, sunk
from dpaudit.verifier.telling import obligation_words


def lines(*texts):
    """Lines of a core program, by their indentation."""
    return [((len(text) - len(text.lstrip())) // 2, text.lstrip(), 1) for text in texts]


def texts(found):
    """The lines again."""
    return ["  " * depth + text for depth, text, _ in found]


def test_a_draw_sinks_to_where_it_is_used():
    found = sunk(lines("noise__1 = laplace(1)", "n = 0", "for i in range(0, k):", "  n = n + 1", "x = n + noise__1"))
    assert texts(found)[-2:] == ["noise__1 = laplace(1)", "x = n + noise__1"]


@pytest.mark.parametrize("stop", ["return 0", "out.append(0)", "noise__2 = laplace(n)", "b = b + 1", "x = noise__1"])
def test_a_draw_stays_before_what_it_may_not_pass(stop):
    found = sunk(lines("noise__1 = laplace(b)", stop, "y = noise__1"))
    assert texts(found) == ["noise__1 = laplace(b)", stop, "y = noise__1"]


def test_a_draw_does_not_pass_a_loop_that_may_end_the_function():
    program = lines("noise__1 = laplace(1)", "for i in range(0, k):", "  if q[i] > 0:", "    return i", "x = noise__1")
    assert sunk(program) == program


TWO = ("noise__1 = exponential(s)", "noise__2 = exponential(s)")


def test_the_difference_of_two_exponential_draws_is_one_laplace_draw():
    found = paired(lines(*TWO, "x = n + (noise__1 - noise__2)", "y = (noise__1 - noise__2)"))
    assert texts(found) == ["noise__1 = laplace(s)", "x = n + noise__1", "y = noise__1"]


def test_two_exponential_draws_may_be_added_and_subtracted_one_after_the_other():
    found = paired(lines(*TWO, "x = ((n + noise__1) - noise__2)"))
    assert texts(found) == ["noise__1 = laplace(s)", "x = ((n + noise__1))"]
    found = paired(lines(TWO[0], "x__3 = (n + noise__1)", TWO[1], "if ((x__3 - noise__2) < 3):", "  return 0"))
    assert texts(found)[:3] == ["noise__1 = laplace(s)", "x__3 = (n + noise__1)", "if (x__3 < 3):"]


@pytest.mark.parametrize(
    "program",
    [
        (TWO[0], "x__3 = (n + noise__1)", TWO[1], "y = (x__3 - noise__2)", "z = x__3"),
        (*TWO, "x = (noise__1 - noise__2)", "y = noise__1"),
        (*TWO, "x = (noise__2 - noise__1)", "y = (noise__1 - noise__2)"),
        (*TWO, "x = noise__1 - noise__2"),
        (TWO[0], "s = 2", TWO[1], "x = (noise__1 - noise__2)"),
        (TWO[0], "noise__2 = exponential(t)", "x = (noise__1 - noise__2)"),
        (TWO[0], "for i in range(0, k):", f"  {TWO[1]}", "  x = (noise__1 - noise__2)"),
        ("if t:", f"  {TWO[0]}", "else:", f"  {TWO[1]}", "x = (noise__1 - noise__2)"),
        (TWO[0], "out.append(0)", TWO[1], "x = (noise__1 - noise__2)"),
    ],
)
def test_other_exponential_draws_stay(program):
    assert paired(lines(*program)) == lines(*program)


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [("x = a", "x = (not a)", "a"), ("o.append(F(1 if (not a) else 0))", "o.append(F(1 if a else 0))", "(not a)")],
)
def test_a_coin_that_keeps_or_turns_is_randomized_response(first, second, kept):
    found = flipped(lines("noise__1 = bernoulli(p)", "if noise__1:", f"  {first}", "else:", f"  {second}"))
    assert texts(found)[0] == f"noise__1 = randomized_response({kept}, p)"
    assert len(found) == 2


@pytest.mark.parametrize(
    "program",
    [
        ("noise__1 = bernoulli(p)", "for i in range(0, k):", "  if noise__1:", "    x = a", "  else:", "    x = (not a)"),
        ("noise__1 = bernoulli(p)", "if noise__1:", "  x = a", "else:", "  x = (not b)"),
        ("noise__1 = bernoulli(p)", "if noise__1:", "  x = a", "else:", "  x = (not a)", "y = noise__1"),
    ],
)
def test_a_coin_that_does_more_stays_a_coin(program):
    assert flipped(lines(*program)) == lines(*program)


MODULE = """
from dataclasses import dataclass

TOP = 3
KEYS = ("a", "b")


@dataclass(frozen=True)
class Bounds:
    high: int = 2

    def cut(self, x):
        return min(max(x, 0), self.high)


def f(data: list[int], eps: float):
    return sum(Bounds().cut(x) for x in data) + TOP
"""


@pytest.mark.parametrize("patch", ["TOP = 4", "KEYS = ('a',)", "Bounds.cut = lambda self, x: x", "Bounds.high = 9", "sum = len"])
def test_a_live_function_whose_names_were_patched_is_refused(tmp_path, monkeypatch, patch):
    (tmp_path / "written_module.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("written_module")
    try:
        assert read_function(module.f, Spec("eps", "add_remove")).source.name == "f"
        name, _, value = patch.partition(" = ")
        owner, _, attribute = name.rpartition(".")
        setattr(getattr(module, owner) if owner else module, attribute, eval(value))  # noqa: S307 - a patch of this table
        with pytest.raises(Unsupported, match="does not mean what its file says"):
            read_function(module.f, Spec("eps", "add_remove"))
    finally:
        del sys.modules["written_module"]


def test_an_obligation_says_what_it_means():
    assert obligation_words("out.14.2") == "both runs put out the same (out.14.2)"
    assert obligation_words("new.1.1") == "new.1.1"
