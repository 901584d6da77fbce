"""Function objects: their own source, their own globals, helpers, and what is no plain function."""

from __future__ import annotations

import functools
import itertools
from fractions import Fraction

import pytest

from dpaudit.errors import Unsupported
from dpaudit.spec import Spec, spec, spec_of
from dpaudit.verifier.frontend import OutsideSubset, parse
from dpaudit.verifier.ir import Assign, Check, Draw, For, Invoke, Law, Return
from dpaudit.verifier.terms import Sort

PROMISE = Spec(claim="1", adjacency="one", requires=["len(q) >= 1"])
COUNT = 3
SHARE = Fraction(1, 3)
SWITCH = True
FLOAT = 0.5
smallest = min
round = abs  # noqa: A001 - a builtin's name for another builtin


class Fractional(Fraction):
    """Not exactly a Fraction."""


ODD = Fractional(1, 2)


def constants(q: list[Fraction], n: int) -> Fraction:
    return q[0] * SHARE + COUNT if SWITCH else q[0]


def reads_a_float(q: list[Fraction]) -> Fraction:
    return q[0] * FLOAT


def reads_a_subclass(q: list[Fraction]) -> Fraction:
    return q[0] * ODD


def renamed_builtin(q: list[Fraction]) -> Fraction:
    return smallest(q[0], q[0])


def shadowed_builtin(q: list[Fraction]) -> Fraction:
    return round(q[0])


def law_without_sampler(q: list[Fraction]) -> Fraction:
    return q[0] + laplace(1)  # noqa: F821


def reads_debug(q: list[Fraction]) -> bool:
    return __debug__


def hides_a_helper(q: list[Fraction]) -> Fraction:
    double = q[0]
    return double(q[0])


def other_name(q: list[Fraction], *, jitter) -> Fraction:
    return q[0] + jitter(1)


def double(x: Fraction) -> Fraction:
    """Twice."""
    return 2 * x


def total(q: list[Fraction], n: int) -> Fraction:
    result = Fraction(0)
    n = n + 1
    for i in range(n):
        result += double(q[i])
    return result


def endless(x: Fraction) -> Fraction:
    return endless(x)


def early(x: Fraction) -> Fraction:
    if x > 0:
        return x
    return -x


def no_end(x: Fraction) -> Fraction:
    y = x  # noqa: F841


def lists_out(x: Fraction) -> Fraction:
    out = []  # noqa: F841
    return x


def noisy(x: Fraction, *, laplace) -> Fraction:
    return x + laplace(1)


@spec(claim="eps", adjacency="one", requires=["eps > 0", "len(r) >= 1"])
def first(r: list[Fraction], eps: Fraction, *, laplace) -> Fraction:
    return r[0] + laplace(1 / eps)


def uses_double(q: list[Fraction]) -> Fraction:
    return double(q[0]) + double(q[1])


def uses_total(q: list[Fraction], n: int) -> Fraction:
    return total(q, n)


def uses_total_in_part(q: list[Fraction], n: int) -> bool:
    return n > 0 and total(q, n) > 0


def uses_double_in_part(q: list[Fraction], n: int) -> bool:
    return n > 0 and double(q[n]) > 0


def uses_endless(q: list[Fraction]) -> Fraction:
    return endless(q[0])


def uses_early(q: list[Fraction]) -> Fraction:
    return early(q[0])


def uses_no_end(q: list[Fraction]) -> Fraction:
    return no_end(q[0])


def uses_lists_out(q: list[Fraction]) -> Fraction:
    return lists_out(q[0])


def uses_noisy(q: list[Fraction], *, laplace) -> Fraction:
    return noisy(q[0], laplace=laplace)


def wrong_type(q: list[Fraction]) -> Fraction:
    return double(1)


def wrong_count(q: list[Fraction]) -> Fraction:
    return double(q[0], q[0])


def uses_first(q: list[Fraction], eps: Fraction, *, laplace) -> Fraction:
    return first(q, eps / 2, laplace=laplace)


def forgets_sampler(q: list[Fraction], eps: Fraction, *, laplace) -> Fraction:
    return first(q, eps / 2)


def other_sampler(q: list[Fraction], eps: Fraction, *, laplace, gaussian) -> Fraction:
    return first(q, eps / 2, laplace=gaussian)


def first_in_part(q: list[Fraction], eps: Fraction, *, laplace) -> bool:
    return eps > 1 and first(q, eps / 2, laplace=laplace) > 0


def first_of_number(q: list[Fraction], eps: Fraction, *, laplace) -> Fraction:
    return first(eps, eps, laplace=laplace)


def test_a_decorated_function_stays_itself_and_brings_its_promise():
    assert spec_of(first).claim == ("eps",)
    assert (("q", Sort.REAL),) == tuple((one.name, one.sort.element) for one in parse(uses_double, PROMISE).parameters)
    assert "first" == parse(first).name
    with pytest.raises(Unsupported, match="DPA722 uses_double has no specification"):
        parse(uses_double)


def test_global_numbers_are_frozen_into_the_program():
    program = parse(constants, PROMISE)
    assert {"SHARE": SHARE, "COUNT": 3, "SWITCH": True} == dict(program.constants)
    assert {"COUNT": int, "SHARE": Fraction, "SWITCH": bool} == {name: type(value) for name, value in program.constants}


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (reads_a_float, "DPA702 line 2, column 19: the name FLOAT"),
        (reads_a_subclass, "DPA702 line 2, column 19: the name ODD"),
        (renamed_builtin, "DPA706 line 2, column 12: a call of smallest"),
        (shadowed_builtin, "DPA706 line 2, column 12: a call of round"),
        (law_without_sampler, "DPA706 line 2, column 19: a call of laplace"),
        (reads_debug, "DPA702 line 2, column 12: the name __debug__"),
        (hides_a_helper, "DPA706 line 3, column 12: a call of double"),
        (other_name, "DPA702 line 1, column 38: the keyword-only parameter jitter without a law"),
        (uses_endless, "DPA706 line 2, column 12: the recursive call of endless"),
        (uses_early, "DPA705 line 3, column 9: a return in the middle of a helper"),
        (uses_no_end, "DPA705 line 2, column 5: the end of the helper no_end"),
        (uses_lists_out, "DPA705 line 2, column 5: an output list that starts in a block"),
        (uses_noisy, "DPA706 line 2, column 12: this call of noisy"),
        (uses_total_in_part, "DPA706 line 2, column 22: a call of total, which has several lines"),
        (wrong_type, "DPA703 line 2, column 19: Int for a parameter of double"),
        (wrong_count, "DPA706 line 2, column 12: this call of double"),
        (forgets_sampler, "DPA706 line 2, column 12: a call without the samplers laplace"),
        (other_sampler, "DPA706 line 2, column 38: the argument laplace"),
        (first_in_part, "DPA706 line 2, column 24: a call of first, which draws, inside"),
        (first_of_number, "DPA706 line 2, column 18: an argument of first that is not such a list"),
    ],
)
def test_what_a_function_may_not_use_is_refused(function, message):
    with pytest.raises(OutsideSubset) as caught:
        parse(function, PROMISE)
    assert str(caught.value).startswith(message), caught.value


def test_abs_means_the_builtin_only_where_it_is_bound_to_it(monkeypatch):
    def replaced(value):
        return value

    parse(uses_double, PROMISE)
    monkeypatch.setitem(constants.__globals__, "Fraction", Fractional)
    with pytest.raises(OutsideSubset, match="a call of Fraction"):
        parse(total, Spec(claim="1", adjacency="one"))
    monkeypatch.undo()
    monkeypatch.setitem(constants.__globals__, "range", replaced)
    with pytest.raises(OutsideSubset, match="a loop over something other than range"):
        parse(total, Spec(claim="1", adjacency="one"))


def test_pure_helpers_stand_in_place_of_their_calls_under_names_of_their_own():
    assert {"double"} == set(dict(parse(uses_double, PROMISE).inlined))
    assert "((2 * q[0]) + (2 * q[1]))" == str(parse(uses_double, PROMISE).body[-1].values[0])
    program = parse(uses_total, PROMISE)
    assert [Assign, Assign, Assign, For, Return] == [type(part) for part in program.body]
    assert {"total.1.n", "total.1.result", "total.1.i"} == {name for name, _ in program.sorts}


def test_a_helper_of_one_line_may_be_called_in_part_of_an_expression():
    assert ["index"] == [part.kind for part in parse(uses_double_in_part, PROMISE).body if isinstance(part, Check)]


def test_a_helper_with_a_contract_is_called_by_it():
    program = parse(uses_first, PROMISE)
    (call,) = [part for part in program.body if isinstance(part, Invoke)]
    assert ("first", 1, "first.1", ("q", "(1/2 * eps)")) == (call.helper, call.site, call.name, (call.args[0], str(call.args[1])))
    inner = dict(program.helpers)["first"]
    assert [Law.LAPLACE] == [part.law for part in inner.body if isinstance(part, Draw)]
    assert ("eps",) == tuple(str(inner.contract.claim).split())


def test_samplers_may_have_other_names_if_the_promise_says_their_law():
    program = parse(other_name, Spec(claim="1", adjacency="one", laws={"jitter": "gaussian"}))
    assert [Law.GAUSSIAN] == [part.law for part in program.body if isinstance(part, Draw)]
    with pytest.raises(OutsideSubset, match="laws names other"):
        parse(other_name, Spec(claim="1", adjacency="one", laws={"jitter": "gaussian", "other": "gaussian"}))


def closure(n):
    def inner(q: list[int]) -> int:
        return n

    return inner


class Callable:
    """Called like a function."""

    def __call__(self, q: list[int]) -> int:
        return 1


def made_by_exec():
    found = {}
    exec("def f(q: list[int]) -> int:\n    return 1", {}, found)  # noqa: S102
    return found["f"]


def patched(q: list[int]) -> int:
    return 1


patched.__code__ = double.__code__


@functools.wraps(double)
def wrapper(q: list[int]) -> int:
    return 1


@functools.lru_cache
def cached(q: list[int]) -> int:
    return 1


def passed_through(function):
    return function


@passed_through
def decorated(q: list[int]) -> int:
    return 1


@pytest.mark.parametrize(
    "thing",
    [
        closure(1),
        Callable(),
        Callable,
        functools.partial(double),
        wrapper,
        cached,
        made_by_exec(),
        len,
        itertools.chain,
        3,
        lambda q: 1,
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_is_no_plain_function_with_a_source_is_refused(thing):
    with pytest.raises(Unsupported, match=r"DPA702 (.* is not a plain function|the source of )"):
        parse(thing, Spec(claim="1", adjacency="one"))


def test_other_decorators_than_spec_are_refused(monkeypatch):
    with pytest.raises(OutsideSubset, match="a decorator that is not @spec"):
        parse(decorated, Spec(claim="1", adjacency="one"))
    monkeypatch.setitem(first.__globals__, "spec", passed_through)
    with pytest.raises(OutsideSubset, match="a decorator that is not @spec"):
        parse(first)


def test_a_function_whose_code_is_that_of_another_is_read_by_its_code():
    assert "double" == parse(patched, Spec(claim="1", adjacency={})).name


def test_helpers_of_a_text_are_texts():
    text = "def f(q: list[Fraction], x: Fraction) -> Fraction:\n    return twice(x) + g(q, x)\n"
    pure = "def twice(y: Fraction) -> Fraction:\n    return 2 * y\n"
    drawing = "def g(r: list[Fraction], eps: Fraction) -> Fraction:\n    return r[0] + laplace(1 / eps)\n"
    promise = Spec(claim="eps", adjacency="one", requires=["len(r) >= 1", "eps > 0"])
    program = parse(text, PROMISE, helpers={"twice": (pure, None), "g": (drawing, promise)})
    assert (("twice", pure),) == program.inlined
    assert ["g"] == [name for name, _ in program.helpers]
    with pytest.raises(OutsideSubset, match="a helper named g under the name twice"):
        parse(text, PROMISE, helpers={"twice": (drawing, None)})
    with pytest.raises(OutsideSubset, match="a draw from laplace in a helper without a contract"):
        parse(text, PROMISE, helpers={"twice": (pure, None), "g": (drawing, None)})
