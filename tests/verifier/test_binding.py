"""What is bound is what was read: patched objects are refused, later changes do not reach it, and the guard comes first."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys
import textwrap
from fractions import Fraction

import numpy as np
import pytest

from dpaudit import binding
from dpaudit.binding import Bound, bind, examine
from dpaudit.errors import InvalidArgument
from dpaudit.guard import Guard
from tests.verifier import bound_programs
from tests.verifier.bound_programs import eager, noisy, ranged, twice

ONE = Fraction(1)


class Exact:
    """The registered sampler of these tests."""

    law = "laplace"

    def __call__(self, scale):
        return Fraction(1, 2) * scale


class Forged:
    """A class that says it follows the law and gives no noise."""

    law = "laplace"

    def __call__(self, scale):
        return Fraction(0)


class Quiet(Exact):
    """A subclass that gives no noise."""

    def __call__(self, scale):
        return Fraction(0)


class Whole(int):
    """An int that computes otherwise."""

    def __add__(self, other):
        return 0


class Lists(list):
    """A list that may give different elements to whoever asks."""


def never(_):
    """A sampler that must not be asked."""
    pytest.fail("noise was drawn before the arguments were checked")


@pytest.fixture
def fresh():
    """A copy of `noisy` that a test may spoil."""
    found = dict(vars(bound_programs))
    source = inspect.getsource(bound_programs)
    exec(compile(source, bound_programs.__file__, "exec", dont_inherit=True), found)  # noqa: S102
    return found["noisy"]


def unhidden(function, *edits):
    """The code of a function of the library with checks taken out."""
    source = textwrap.dedent(inspect.getsource(function))
    for old, new in edits:
        assert 1 == source.count(old), old
        source = source.replace(old, new)
    made = {}
    exec(compile("from __future__ import annotations\n" + source, "<changed>", "exec"), function.__globals__, made)  # noqa: S102
    return made[function.__name__].__code__


def test_a_bound_function_gives_what_the_function_gives():
    release = bind(noisy, production={"laplace": Exact})
    assert noisy([Fraction(3)], ONE, laplace=Exact()) == release([Fraction(3)], ONE, laplace=Exact())
    assert Fraction(4) == release.with_test_samplers([Fraction(3)], eps=ONE, times=2, laplace=Exact())


# B1: objects that are not what their source says.


def renamed(function):
    function.__code__ = twice.__code__
    function.__defaults__ = None
    return function


def rebound(function):
    text = inspect.getsource(function).split("\n", 1)[1].replace("q[0] + laplace", "2 * q[0] + laplace")
    made = {}
    exec(compile("from __future__ import annotations\n" + text, "<other>", "exec"), function.__globals__, made)  # noqa: S102
    old = function.__code__
    function.__code__ = made["noisy"].__code__.replace(co_filename=old.co_filename, co_firstlineno=old.co_firstlineno)
    return function


def with_other_constants(function):
    code = function.__code__
    constants = tuple(True if type(one) is int and one == 1 else one for one in code.co_consts)
    assert constants == code.co_consts
    function.__code__ = code.replace(co_consts=constants)
    return function


def with_other_defaults(function):
    function.__defaults__ = (True,)
    return function


def wrapped(function):
    @functools.wraps(function)
    def wrapper(*arguments, **named):
        return function(*arguments, **named)

    return wrapper


class Callable:
    """An object that can be called."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *arguments, **named):
        return self.function(*arguments, **named)


SPOILS = (
    renamed,
    rebound,
    with_other_constants,
    with_other_defaults,
    wrapped,
    Callable,
    functools.partial,
    functools.lru_cache,
    staticmethod,
)


@pytest.mark.parametrize("spoil", SPOILS)
def test_an_object_that_is_not_its_source_is_refused(fresh, spoil):
    with pytest.raises(InvalidArgument, match="DPA725"):
        examine(spoil(fresh))


@pytest.mark.parametrize(
    ("spoil", "function", "old", "new"),
    [
        (renamed, binding._examine, "function.__name__ != tree.name", "False"),
        (rebound, binding._examine, "not is_same_code(function.__code__, code)", "False"),
        (with_other_constants, binding.is_same_code, "if type(one) is not type(other):", "if False:"),
        (with_other_defaults, binding._examine, "(type(one), one) for one in defaults", "one for one in defaults"),
    ],
)
def test_without_its_check_a_spoiled_object_is_bound(fresh, spoil, function, old, new, monkeypatch):
    edits = [(old, new)]
    if spoil is with_other_defaults:
        edits.append(("[(type(one), one) for one in given]", "list(given)"))
    if spoil is with_other_constants:
        edits.append(("one == other and repr(one) == repr(other)", "one == other"))
    monkeypatch.setattr(function, "__code__", unhidden(function, *edits))
    examine(spoil(fresh))


def test_code_inside_and_names_that_cannot_be_pinned_are_refused(tmp_path):
    bad = {
        "inside": "def f(q: list[int]) -> int:\n    return sum([one for one in q])\n",
        "rebinds": "def f(q: list[int]) -> int:\n    global step\n    step = 1\n    return step\n",
        "imports": "def f(q: list[int]) -> int:\n    import os\n    return 1\n",
        "object": "thing = [1]\ndef f(q: list[int]) -> int:\n    return thing[0]\n",
        "itself": "def f(q: list[int]) -> int:\n    return f(q)\n",
        "untyped": "def f(q) -> int:\n    return 1\n",
        "lawless": "def f(q: list[int], *, noise) -> int:\n    return noise(1)\n",
    }
    for name, text in bad.items():
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        found = {"__builtins__": __builtins__, "__name__": name}
        exec(compile(text, str(path), "exec", dont_inherit=True), found)  # noqa: S102
        with pytest.raises(InvalidArgument, match="DPA725"):
            examine(found["f"])


# B2 and B6: later changes do not reach what is bound.


def test_what_is_rebound_later_has_no_effect(fresh):
    release = bind(fresh, production={})
    before = release.with_test_samplers([ONE], ONE, laplace=Exact())
    for name, value in {"STEP": 7, "HALF": ONE, "size": lambda _: Fraction(5), "abs": lambda _: 9, "Fraction": int}.items():
        fresh.__globals__[name] = value
    rebound(fresh)
    fresh.__defaults__ = (0,)
    assert before == release.with_test_samplers([ONE], ONE, laplace=Exact())


def with_other_constant(function):
    function.__globals__["STEP"] = 7


@pytest.mark.parametrize("change", [with_other_constant, rebound])
def test_without_pinning_a_later_change_gets_through(fresh, change, monkeypatch):
    edit = ("FunctionType(function.__code__, scope, function.__name__, defaults or None)", "function")
    monkeypatch.setattr(binding._examine, "__code__", unhidden(binding._examine, edit))
    release = bind(fresh, production={})
    before = release.with_test_samplers([ONE], ONE, laplace=Exact())
    change(fresh)
    assert before != release.with_test_samplers([ONE], ONE, laplace=Exact())


def test_a_default_is_checked_like_any_value():
    with pytest.raises(InvalidArgument, match="times >= 1"):
        bind(noisy, production={}).with_test_samplers([ONE], ONE, 0, laplace=never)


# B3: arguments that only look like numbers.

WRONG_NUMBERS = (
    np.int64(3),
    np.bool_(1),
    True,
    Whole(3),
    3.0,
    np.float64(3),
    Fraction(3),
    "3",
    None,
)
WRONG_FRACTIONS = (
    np.int64(3),
    3,
    3.0,
    True,
    Fraction(np.int64(2**62)),
    Fraction(np.int64(2**62), 3),
    Fraction(np.int64(3), np.int64(5)),
    "1/2",
    None,
)
WRONG_LISTS = ((3,), Lists([3]), np.array([3]), np.array([2**63, -1]), np.array([2**63], dtype=object), range(3), {3}, "3", None)


@pytest.mark.parametrize("wrong", WRONG_NUMBERS, ids=repr)
def test_whole_numbers_are_pythons_own(wrong):
    for values in ([wrong], [1, wrong]):
        with pytest.raises(InvalidArgument, match=r"DPA724.*got a"):
            bind(twice, production={}).with_test_samplers(values, ONE, laplace=never)
    with pytest.raises(InvalidArgument, match=r"DPA724.*times"):
        bind(noisy, production={}).with_test_samplers([ONE], ONE, wrong, laplace=never)


@pytest.mark.parametrize("wrong", WRONG_FRACTIONS, ids=repr)
def test_fractions_are_of_pythons_own_ints(wrong):
    for values, eps in (([ONE], wrong), ([wrong], ONE)):
        with pytest.raises(InvalidArgument, match="DPA724"):
            bind(noisy, production={}).with_test_samplers(values, eps, laplace=never)


@pytest.mark.parametrize("wrong", WRONG_LISTS, ids=repr)
def test_lists_are_pythons_own(wrong):
    with pytest.raises(InvalidArgument, match=r"DPA724.*q must be of type list"):
        bind(twice, production={}).with_test_samplers(wrong, ONE, laplace=never)


@pytest.mark.parametrize("wrong", [0, 1, None, np.bool_(1)], ids=repr)
def test_truth_values_are_pythons_own(wrong):
    with pytest.raises(InvalidArgument, match=r"DPA724.*flag"):
        bind(ranged, production={}).with_test_samplers([1], ONE, wrong, laplace=never)


@pytest.mark.parametrize(
    ("old", "new", "values"),
    [
        ("if type(value) is not wanted:", "if not isinstance(value, wanted):", [Whole(3)]),
        ("if type(value) is not wanted:", "if not isinstance(value, wanted):", [True]),
    ],
)
def test_without_the_exact_type_a_subclass_runs(old, new, values, monkeypatch):
    monkeypatch.setattr(Guard._number, "__code__", unhidden(Guard._number, (old, new)))
    bind(twice, production={}).with_test_samplers(values, ONE, laplace=Exact())


def test_without_the_check_of_its_parts_a_fraction_of_foreign_integers_runs(monkeypatch):
    edit = ("if not (type(above) is type(below) is int and below >= 1):", "if False:")
    monkeypatch.setattr(Guard._number, "__code__", unhidden(Guard._number, edit))
    with pytest.raises(RuntimeWarning, match="overflow"):
        bind(noisy, production={}).with_test_samplers([Fraction(np.int64(2**62))], ONE, laplace=Exact())


def test_values_are_never_shown():
    for values in ([71236123], [1, 71236123], [71236123.5]):
        with pytest.raises(InvalidArgument) as refusal:
            bind(ranged, production={}).with_test_samplers(values, ONE, flag=True, laplace=never)
        assert "71236123" not in str(refusal.value)


# B4: samplers.


def test_only_the_registered_class_samples_when_it_counts():
    release = bind(noisy, production={"laplace": Exact})
    for sampler in (Forged(), Quiet(), Exact, Exact().__call__, lambda _: Fraction(0), None):
        with pytest.raises(InvalidArgument, match="DPA726"):
            release([ONE], ONE, laplace=sampler)
    with pytest.raises(InvalidArgument, match=r"DPA726.*none is registered"):
        bind(noisy, production={})([ONE], ONE, laplace=Exact())


def test_without_identity_a_forged_sampler_runs(monkeypatch):
    edit = ("type(named[name]) is not self.production[law]", "named[name].law != self.production[law].law")
    monkeypatch.setattr(Bound.__call__, "__code__", unhidden(Bound.__call__, edit))
    assert 3 == bind(noisy, production={"laplace": Exact})([Fraction(3)], ONE, laplace=Forged())


def test_a_sampler_has_no_default_and_must_be_given():
    with pytest.raises(InvalidArgument, match="DPA725"):
        bind(eager, production={})
    with pytest.raises(InvalidArgument, match=r"DPA724.*laplace is missing"):
        bind(noisy, production={"laplace": Exact})([ONE], ONE)


def test_a_law_that_does_not_exist_cannot_be_registered():
    with pytest.raises(InvalidArgument, match="DPA720"):
        bind(noisy, production={"laplce": Exact})


# B5: lists that change meanwhile.


def test_a_list_that_a_sampler_changes_was_copied_before():
    values = [1, 2, 3]

    def changing(scale):
        values[:] = [100] * 5
        return Fraction(0)

    assert [1, 2, 3] == bind(twice, production={}).with_test_samplers(values, ONE, laplace=changing)


def test_without_the_copy_the_change_gets_through(monkeypatch):
    edit = ('return [self._number(f"{name}[{place}]", wanted, item) for place, item in enumerate(copy)]', "return value")
    monkeypatch.setattr(Guard._copied, "__code__", unhidden(Guard._copied, edit))
    values = [1, 2, 3]

    def changing(scale):
        values[1] = 100
        return Fraction(0)

    assert [1, 100, 3] == bind(twice, production={}).with_test_samplers(values, ONE, laplace=changing)


# B7: the same without assertions.


def test_optimised_python_gives_the_same_verdict_and_the_same_refusals():
    code = (
        "from fractions import Fraction\n"
        "from dpaudit import verify\n"
        "from dpaudit.binding import bind\n"
        "from dpaudit.verifier.certificates import claim_hash\n"
        "from dpaudit.verifier.frontend import parse\n"
        "from dpaudit.catalogue.programs.basic import laplace_mechanism as f\n"
        "try:\n    bind(f, production={}).with_test_samplers([1], Fraction(1), laplace=Fraction)\n"
        "except Exception as error:\n    print(error)\n"
        "print(verify(f).status, claim_hash(parse(f)))\n"
    )
    runs = [
        subprocess.run([sys.executable, *flags, "-c", code], capture_output=True, text=True, check=True) for flags in ([], ["-O"])
    ]
    assert runs[0].stdout == runs[1].stdout
    assert "proven" in runs[0].stdout
    assert "DPA724" in runs[0].stdout


# The clauses.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (([Fraction(1)], Fraction(0)), "requires eps > 0"),
        (([], Fraction(1)), "requires len"),
        ((), "q is missing"),
        (([Fraction(1)], Fraction(1), 1, 1), "each once"),
    ],
)
def test_a_call_that_breaks_requires_or_the_signature_draws_nothing(arguments, said):
    with pytest.raises(InvalidArgument, match=said):
        bind(noisy, production={}).with_test_samplers(*arguments, laplace=never)


def test_names_are_given_once():
    for named in ({"q": [ONE]}, {"other": 1}):
        with pytest.raises(InvalidArgument, match="each once"):
            bind(noisy, production={}).with_test_samplers([ONE], ONE, laplace=never, **named)


def test_data_outside_the_domain_are_refused_by_position():
    with pytest.raises(InvalidArgument, match="at position 2"):
        bind(ranged, production={}).with_test_samplers([0, 3, 4], ONE, flag=True, laplace=never)
