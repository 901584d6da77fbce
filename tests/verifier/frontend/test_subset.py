"""The accept and refuse table, row by row: what is read, what is refused, with which code, where, and with what remedy."""

from __future__ import annotations

import ast
import pickle
from fractions import Fraction

import pytest

from dpaudit.errors import Unsupported
from dpaudit.spec import Spec
from dpaudit.verifier.frontend import OutsideSubset, expression, parse
from dpaudit.verifier.frontend.expressions import _READERS as EXPRESSIONS
from dpaudit.verifier.frontend.refusals import take
from dpaudit.verifier.frontend.statements import _READERS as STATEMENTS
from dpaudit.verifier.ir import Append, Assign, Check, Draw, For, If, Law, Place, Raise, Return, While
from dpaudit.verifier.terms import Sort

HEAD = "def f(q: list[Fraction], c: list[int], n: int, m: int, x: Fraction, b: bool) -> Fraction:\n"
PROMISE = Spec(claim="1", adjacency="one", public=["c"], requires=["len(q) >= 1"])
END = "    return x\n"


def read(body: str, promise: Spec = PROMISE):
    """The program with this body; its last line is `return x` unless it returns itself."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return parse(HEAD + lines + ("" if "return" in body.splitlines()[-1] else END), promise)


ACCEPTED = [
    "y = n + 2 * m - 3",
    "y = -x ** 2 + x ** 0",
    "y = x / n + n / x",
    "y = n // 2 + n % m",
    "y = Fraction(n, m) + Fraction(n)",
    "y = abs(n) + min(n, m) + max(1, 2) + len(q) + len(c)",
    "y = min(x, Fraction(1, 2))",
    "y = 0 <= n < m and not b or x == 1 or b == (x != 2)",
    "y = x if b else -x",
    "y = n\ny += 1\ny *= y\ny -= n\ny //= 3\ny %= 4\ny **= 2",
    "y: Fraction = x\nz: bool = True\nw: int = 1\nout: list[int] = []",
    "n = n + 1\nx = x - n",
    "out = []\nfor i in range(n):\n    for j in range(i, m):\n        out.append(j)\nreturn out",
    "for i in range(n):\n    y = i\nfor i in range(m):\n    y = i",
    "while b:\n    b = False\n    if n > 1:\n        break\n    continue",
    "while True:\n    y = laplace(x)\n    if y > 1:\n        break\nreturn y",
    "if b:\n    y = 1\nelse:\n    return x\nz = y",
    "if b:\n    y = 1\nelif n > 1:\n    y = 2\nelse:\n    y = 3\nz = y",
    "if b:\n    raise ValueError\nif n > 1:\n    raise ArithmeticError()",
    "pass",
    "'''what it does'''\ny = 1",
    "y = laplace(1 / x) + exponential_choice([x, q[0]], x, 1)\nz = bernoulli(Fraction(1, 2))",
    "y = geometric(x)\ny = y + 1",
    "y = geometric(x, Fraction(1, 4))\ny = y + x",
    "out = []\nout.append(1)\nout.append(x)\nreturn out, n, b",
    "return n",
    "return (x,)",
]

REFUSED = [
    # body, code, construct, line, column, hint
    ("y = [i for i in range(n)]", "DPA701", "a list comprehension", 2, 9, "explicit for loop"),
    ("y = (i for i in range(n))", "DPA701", "a generator expression", 2, 9, "for loop"),
    ("y = {1: 2}", "DPA701", "a dictionary", 2, 9, "scalar names"),
    ("y = {1}", "DPA701", "a set", 2, 9, "subset"),
    ("y = lambda: 1", "DPA701", "lambda", 2, 9, "where it is needed"),
    ("y = f'{n}'", "DPA701", "an f-string", 2, 9, "numbers only"),
    ("y = (z := 1)", "DPA701", "an assignment inside an expression", 2, 10, "line of its own"),
    ("y = n if b else (yield)", "DPA701", "yield", 2, 22, "subset"),
    ("import os", "DPA701", "import", 2, 5, "subset"),
    ("from fractions import Fraction", "DPA701", "import", 2, 5, "subset"),
    ("global g", "DPA701", "global", 2, 5, "parameter"),
    ("def g():\n    return 1", "DPA701", "a function inside a function", 2, 5, "subset"),
    ("class G:\n    pass", "DPA701", "a class", 2, 5, "subset"),
    ("try:\n    pass\nexcept ValueError:\n    pass", "DPA701", "try", 2, 5, "requires"),
    ("with b:\n    pass", "DPA701", "with", 2, 5, "subset"),
    ("del n", "DPA701", "del", 2, 5, "subset"),
    ("assert n > 0", "DPA701", "assert", 2, 5, "requires"),
    ("match n:\n    case 1:\n        pass", "DPA701", "match", 2, 5, "if and elif"),
    ("print(n)", "DPA705", "an expression whose value is not used", 2, 5, "append"),
    ("laplace(x)", "DPA705", "an expression whose value is not used", 2, 5, "append"),
    ("y = n & 1", "DPA701", "the operator BitAnd", 2, 9, "+ - *"),
    ("y = n @ n", "DPA701", "the operator MatMult", 2, 9, "+ - *"),
    ("y = ~n", "DPA701", "the operator Invert", 2, 9, "`-` and `not`"),
    ("y = +n", "DPA701", "the operator UAdd", 2, 9, "`-` and `not`"),
    ("y = n is m", "DPA701", "the comparison Is", 2, 14, "== and !="),
    ("y = n in c", "DPA705", "the list c as a value", 2, 14, "by index"),
    ("y = x ** 5", "DPA701", "this exponent", 2, 14, "0 to 4"),
    ("y = x ** n", "DPA701", "this exponent", 2, 14, "0 to 4"),
    ("y = x ** -1", "DPA701", "this exponent", 2, 14, "0 to 4"),
    ("y = x ** True", "DPA701", "this exponent", 2, 14, "0 to 4"),
    ("y = 0.5 * n", "DPA703", "a literal of type float", 2, 9, "Fraction(1, 2)"),
    ("y = 'a'", "DPA703", "a literal of type str", 2, 9, "int, Fraction and bool"),
    ("y = b'a'", "DPA703", "a literal of type bytes", 2, 9, "int, Fraction and bool"),
    ("y = None", "DPA703", "a literal of type NoneType", 2, 9, "int, Fraction and bool"),
    ("y = 2j", "DPA703", "a literal of type complex", 2, 9, "int, Fraction and bool"),
    ("y = ...", "DPA703", "a literal of type ellipsis", 2, 9, "int, Fraction and bool"),
    ("y = n + b", "DPA703", "a truth value in arithmetic", 2, 13, "1 if"),
    ("y = n\ny += x > 0", "DPA703", "a truth value in arithmetic", 3, 10, "1 if"),
    ("y = -b", "DPA703", "a truth value after minus", 2, 10, "1 if"),
    ("y = abs(b)", "DPA703", "a truth value in abs", 2, 13, "1 if"),
    ("y = n / m", "DPA703", "int / int", 2, 9, "Fraction(a, b)"),
    ("y = x // 2", "DPA703", "// or % of a Fraction", 2, 9, "whole numbers"),
    ("y = 7 % x", "DPA703", "a Fraction after // or %", 2, 13, "whole numbers"),
    ("y = Fraction(x, 2)", "DPA703", "a Fraction in Fraction", 2, 18, "whole numbers"),
    ("y = b == 1", "DPA703", "a comparison of a truth value", 2, 14, "truth values"),
    ("y = b < b", "DPA703", "a comparison of a truth value", 2, 13, "truth values"),
    ("y = min(n, x)", "DPA703", "the arguments of min are an int and a Fraction", 2, 9, "Fraction(1, 1)"),
    ("y = n if b else x", "DPA703", "the branches", 2, 9, "Fraction(1, 1)"),
    ("y = n if b else b", "DPA703", "the branches", 2, 9, "one type"),
    ("y = n and b", "DPA703", "an int with", 2, 9, "compare it"),
    ("y = b or x", "DPA703", "a Fraction with", 2, 14, "compare it"),
    ("y = not n", "DPA703", "an int after `not`", 2, 13, "compare it"),
    ("y = 1 if n else 2", "DPA703", "an int as a condition", 2, 14, "compare it"),
    ("if n:\n    pass", "DPA703", "an int as a condition", 2, 8, "compare it"),
    ("while x:\n    pass", "DPA703", "a Fraction as a condition", 2, 11, "compare it"),
    ("y = n\ny = x", "DPA703", "y is Int and Real", 3, 5, "Fraction(0)"),
    ("n = x", "DPA703", "n is Int and Real", 2, 5, "one type"),
    ("y: int = x", "DPA703", "the annotation int", 2, 8, "leave it out"),
    ("out: int = []", "DPA703", "the annotation int", 2, 10, "leave it out"),
    ("y: int", "DPA701", "an annotation without a value", 2, 5, "type = value"),
    ("(y): int = 1", "DPA701", "an annotation without a value", 2, 5, "type = value"),
    ("y = z = 1", "DPA701", "an assignment to several names", 2, 5, "one name a line"),
    ("y, z = 1, 2", "DPA705", "an assignment to something other than a name", 2, 5, "one name a line"),
    ("q[0] = x", "DPA705", "an assignment to something other than a name", 2, 5, "one name a line"),
    ("q = []", "DPA705", "an assignment to the list q", 2, 5, "another name"),
    ("y = 1, 2", "DPA701", "a tuple", 2, 9, "flat tuple"),
    ("y = q", "DPA705", "the list q as a value", 2, 9, "by index"),
    ("out = []\nh = out", "DPA705", "the list out as a value", 3, 9, "by index"),
    ("out = []\ny = out[0]", "DPA705", "an index into something other than a list parameter", 3, 9, "list parameters"),
    ("out = []\ny = len(out)", "DPA705", "len of something", 3, 9, "count"),
    ("out = []\nout += [1]", "DPA705", "an assignment to the list out", 3, 5, "another name"),
    ("out = []\nout = []", "DPA705", "an assignment to the list out", 3, 5, "another name"),
    ("y = 1\ny = []", "DPA705", "an output list that starts in a block", 3, 5, "at the top"),
    ("for i in range(n):\n    out = []", "DPA705", "an output list that starts in a block", 3, 9, "at the top"),
    ("out.append(1)", "DPA705", "an append to something", 2, 5, "out = []"),
    ("q.append(x)", "DPA705", "an append to something", 2, 5, "out = []"),
    ("out = []\nout.append(1, 2)", "DPA705", "an append to something", 3, 5, "out = []"),
    ("out = []\nout.append(object=1)", "DPA701", "`keywords` of Call", 3, 16, "leave it out"),
    ("out = []\nout.extend(q)", "DPA705", "an expression whose value", 3, 5, "append"),
    ("y = [1]", "DPA701", "a list", 2, 9, "out = []"),
    ("y = q[:1]", "DPA701", "a slice", 2, 11, "one element"),
    ("y = q[x]", "DPA703", "a Fraction as an index", 2, 11, "whole numbers"),
    ("y = q[b]", "DPA703", "a bool as an index", 2, 11, "whole numbers"),
    ("y = q[-1]", "DPA701", "a negative index", 2, 11, "q[len(q) - 1]"),
    ("y = q[0][0]", "DPA705", "an index into something", 2, 9, "list parameters"),
    ("y = q.count(1)", "DPA706", "a call of something other than a name", 2, 9, "call samplers"),
    ("y = x.numerator", "DPA701", "the construct Attribute", 2, 9, "append"),
    ("y = sum(q)", "DPA706", "a call of sum", 2, 9, "call samplers"),
    ("y = round(x)", "DPA706", "a call of round", 2, 9, "call samplers"),
    ("y = int(x)", "DPA706", "a call of int", 2, 9, "call samplers"),
    ("y = range(3)", "DPA706", "range with 1 arguments", 2, 9, "for ... in"),
    ("y = max(n, m, 1)", "DPA706", "max with 3 arguments", 2, 9, "max takes 2"),
    ("y = abs(n, m)", "DPA706", "abs with 2 arguments", 2, 9, "abs takes 1"),
    ("y = max(*c)", "DPA706", "max with 1 arguments", 2, 9, "max takes 2"),
    ("y = abs(x=n)", "DPA706", "a keyword argument of abs", 2, 15, "position"),
    ("y = min(n, m, key=b)", "DPA706", "a keyword argument of min", 2, 23, "position"),
    ("y = len(n)", "DPA705", "len of something", 2, 9, "count"),
    ("y = z", "DPA702", "the name z", 2, 9, "parameters"),
    ("y = __debug__", "DPA702", "the name __debug__", 2, 9, "parameters"),
    ("y = laplace", "DPA702", "the name laplace", 2, 9, "parameters"),
    ("laplace = 1", "DPA702", "an assignment to laplace", 2, 5, "another name"),
    ("max = 1", "DPA702", "an assignment to max", 2, 5, "another name"),
    ("Fraction = 1", "DPA702", "an assignment to Fraction", 2, 5, "another name"),
    ("if b:\n    y = 1\nz = y", "DPA704", "y may have no value here", 4, 9, "every path"),
    ("for i in range(n):\n    y = 1\nz = y", "DPA704", "y may have no value here", 4, 9, "every path"),
    ("while b:\n    y = 1\nz = y", "DPA704", "y may have no value here", 4, 9, "every path"),
    (
        "while True:\n    if b:\n        break\n    y = 1\n    if n > 1:\n        break\nz = y",
        "DPA704",
        "y may have no value",
        8,
        9,
        "every path",
    ),
    ("y = y + 1", "DPA704", "y may have no value here", 2, 9, "every path"),
    ("y += 1", "DPA704", "y may have no value here", 2, 5, "every path"),
    ("for i in range(n):\n    pass\ny = i", "DPA704", "i may have no value here", 4, 9, "no loop variable later"),
    ("for i in range(n):\n    i = 0", "DPA704", "an assignment to the loop variable i", 3, 9, "another name"),
    ("i = 0\nfor i in range(n):\n    pass", "DPA704", "an assignment to the loop variable i", 2, 5, "another name"),
    ("for i in range(n):\n    for i in range(n):\n        pass", "DPA704", "the loop variable i", 3, 13, "name of its own"),
    ("for n in range(3):\n    pass", "DPA704", "the loop variable n", 2, 9, "name of its own"),
    ("for laplace in range(3):\n    pass", "DPA704", "the loop variable laplace", 2, 9, "name of its own"),
    ("out = []\nfor out in range(3):\n    pass", "DPA704", "an assignment to the loop variable out", 2, 5, "another name"),
    ("for i in q:\n    pass", "DPA706", "a loop over something other than range", 2, 14, "range(len(q))"),
    ("for i in range(0, n, 2):\n    pass", "DPA706", "range with a step", 2, 14, "range(start, stop)"),
    ("for i in range(stop=n):\n    pass", "DPA706", "range with a step or keywords", 2, 14, "range(start, stop)"),
    ("for i in range(x):\n    pass", "DPA703", "a Fraction in range", 2, 20, "whole numbers"),
    ("for i, j in range(3):\n    pass", "DPA701", "a loop target that is not a name", 2, 9, "for i in range"),
    ("for i in range(n):\n    pass\nelse:\n    pass", "DPA701", "`else` of For", 5, 9, "without it"),
    ("while b:\n    pass\nelse:\n    pass", "DPA701", "`else` of While", 5, 9, "without it"),
    ("return x\ny = 1\nreturn x", "DPA704", "a statement that is never reached", 3, 5, "delete it"),
    ("while True:\n    pass\ny = 1", "DPA704", "a statement that is never reached", 4, 5, "delete it"),
    ("for i in range(n):\n    break\n    y = 1", "DPA704", "a statement that is never reached", 4, 9, "delete it"),
    ("if b:\n    return x\nreturn n", "DPA705", "a return of another shape", 4, 5, "same types"),
    ("if b:\n    return x, n\nreturn x", "DPA705", "a return of another shape", 4, 5, "same types"),
    ("if b:\n    return x\nreturn (x,)", "DPA705", "a return of another shape", 4, 5, "same types"),
    ("out = []\nmore = []\nif b:\n    return out\nreturn more", "DPA705", "a return of another shape", 6, 5, "same types"),
    ("out = []\nreturn out, out", "DPA705", "an empty tuple, or a list that is returned twice", 3, 5, "once"),
    ("return ()", "DPA705", "an empty tuple", 2, 5, "once"),
    ("return", "DPA705", "a return without a value", 2, 5, "a number"),
    ("return q", "DPA705", "the list q as a value", 2, 12, "by index"),
    ("return (x, (n, b))", "DPA701", "a tuple", 2, 16, "flat tuple"),
    ("return (*q,)", "DPA701", "a starred expression", 2, 13, "subset"),
    ("raise ValueError('x')", "DPA701", "`args` of Call", 2, 22, "leave it out"),
    ("raise ValueError from None", "DPA701", "`cause` of Raise", 2, 27, "leave it out"),
    ("raise", "DPA706", "this raise", 2, 5, "ValueError"),
    ("raise UnicodeDecodeError", "DPA706", "this raise", 2, 5, "ValueError"),
    ("raise SystemExit", "DPA706", "this raise", 2, 5, "ValueError"),
    ("y = b and laplace(x) > 0", "DPA706", "a draw from laplace inside", 2, 15, "line before"),
    ("y = laplace(x) if b else x", "DPA706", "a draw from laplace inside", 2, 9, "line before"),
    ("y = 0 < laplace(x) < 1", "DPA706", "a draw from laplace inside", 2, 13, "line before"),
    ("y = laplace(x) < 0 < 1", "DPA706", "a draw from laplace inside", 2, 9, "line before"),
    ("y = laplace()", "DPA706", "0 arguments of laplace", 2, 9, "laplace(scale)"),
    ("y = laplace(x, 1)", "DPA706", "2 arguments of laplace", 2, 9, "laplace(scale)"),
    ("y = laplace(x, size=3)", "DPA706", "the argument size of laplace", 2, 25, "laplace(scale)"),
    ("y = laplace(x, scale=3)", "DPA706", "the argument scale of laplace", 2, 26, "laplace(scale)"),
    ("y = laplace(**c)", "DPA706", "the argument None of laplace", 2, 19, "laplace(scale)"),
    ("y = laplace(*c)", "DPA701", "a starred expression", 2, 17, "subset"),
    ("y = laplace(b)", "DPA703", "a truth value as scale", 2, 17, "1 if"),
    ("y = uniform_int(x)", "DPA703", "a Fraction as a size", 2, 21, "whole numbers"),
    ("y = randomized_response(n, x)", "DPA703", "an int as a bit", 2, 29, "compare it"),
    ("y = geometric(x, n)", "DPA706", "a lattice that is not a positive constant", 2, 22, "write 1"),
    ("y = geometric(x, 0)", "DPA706", "a lattice that is not a positive constant", 2, 22, "write 1"),
    ("y = exponential_choice([], x, 1)", "DPA706", "scores that are not a list", 2, 28, "list parameter"),
    ("y = exponential_choice(x, x, 1)", "DPA706", "scores that are not a list", 2, 28, "list parameter"),
    ("out = []\ny = exponential_choice(out, x, 1)", "DPA706", "scores that are not a list", 3, 28, "list parameter"),
]


@pytest.mark.parametrize("body", ACCEPTED)
def test_what_the_subset_has_is_read(body):
    assert "f" == read(body).name


@pytest.mark.parametrize(("body", "code", "construct", "line", "column", "hint"), REFUSED)
def test_what_the_subset_lacks_is_refused_with_place_and_remedy(body, code, construct, line, column, hint):
    with pytest.raises(OutsideSubset) as caught:
        read(body)
    error = caught.value
    assert (code, line, column) == (error.code, error.line, error.column), error
    assert construct in error.construct
    assert hint in error.hint, error.hint
    assert str(error) == f"{code} line {line}, column {column}: {error.construct}; {error.hint}."
    assert str(error) == str(pickle.loads(pickle.dumps(error)))


HEADS = [
    ("def f(q, x: Fraction): return x", "the parameter q without a type"),
    ("def f(q: Sequence[int]): return 1", "the type Sequence[int]"),
    ("def f(q: list[float]): return 1", "the type list[float]"),
    ("def f(q: list[bool]): return 1", "the type list[bool]"),
    ("def f(q: list): return 1", "the type list"),
    ("def f(q: 'list[int]'): return 1", "the type 'list[int]'"),
    ("def f(q: list[int], *r: int): return 1", "`*` of arguments"),
    ("def f(q: list[int], **r: int): return 1", "`**` of arguments"),
    ("def f(q: list[int], /, n: int): return 1", "`posonlyargs` of arguments"),
    ("def f(q: list[int], n: int = None): return 1", "this default of n"),
    ("def f(q: list[int], n: int = 1.0): return 1", "this default of n"),
    ("def f(q: list[int], n: int = True): return 1", "this default of n"),
    ("def f(q: list[int], n: int = -1): return 1", "this default of n"),
    ("def f(q: list[int] = []): return 1", "this default of q"),
    ("def f(q: list[int], max: int): return 1", "the parameter name max"),
    ("def f(q: list[int], *, n: int): return 1", "the keyword-only parameter n without a law"),
    ("def f(q: list[int], *, laplace=None): return 1", "a default of the sampler laplace"),
    ("def f(q: list[int]) -> (lambda: 1): return 1", "this annotation"),
    ("def f(q: list[int], *, laplace: print()): return 1", "this annotation"),
    ("@spec\ndef f(q: list[int]): return 1", "a decorator"),
    ("async def f(q: list[int]): return 1", "something other than one function"),
    ("f = lambda q: 1", "something other than one function"),
    ("x = 1\ndef f(q: list[int]): return 1", "something other than one function"),
    ("from fractions import Decimal as Fraction\ndef f(q: list[int]): return 1", "something other than one function"),
    ("def f(q: list[int]): return 1\ndef g(q: list[int]): return 1", "something other than one function"),
    ("", "something other than one function"),
]


@pytest.mark.parametrize(("text", "construct"), HEADS)
def test_a_head_that_the_subset_lacks_is_refused(text, construct):
    with pytest.raises(OutsideSubset, match=r"DPA70[12] line") as caught:
        parse(text, Spec(claim="1", adjacency="one"))
    assert construct in caught.value.construct


@pytest.mark.parametrize(
    "text", ["def f(:", "def f(q: list[int], q: int): return 1", "def f(q: list[int]): break", "\0", "x" + "+x" * 9999]
)
def test_what_is_no_python_is_refused(text):
    with pytest.raises(Unsupported, match=r"DPA70[12]"):
        parse(text, Spec(claim="1", adjacency="one"))


def test_headers_that_python_needs_are_read():
    imports = "from __future__ import annotations\nfrom fractions import Fraction\n"
    text = imports + "def f(q: list[int], n: int = 3, b: bool = False): return n"
    assert "f" == parse(text, Spec(claim="1", adjacency="one")).name


def test_no_kind_of_node_is_read_by_chance():
    for kinds, readers in ((ast.expr.__subclasses__(), EXPRESSIONS), (ast.stmt.__subclasses__(), STATEMENTS)):
        assert set(readers) <= set(kinds)
    assert 9 == len(EXPRESSIONS)
    assert 12 == len(STATEMENTS)


@pytest.mark.parametrize("node", [ast.parse("for i in x:\n  pass\nelse:\n  y").body[0], ast.parse("f(a=1)", mode="eval").body])
def test_a_field_that_is_not_read_must_be_empty(node):
    take(node, *node._fields)
    for field in node._fields:
        if getattr(node, field):
            with pytest.raises(OutsideSubset):
                take(node, *(other for other in node._fields if other != field))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y = 1 / x", [("divisor", "(not (x == 0))")]),
        ("y = 1 / Fraction(2)", []),
        ("y = x / 2", []),
        ("y = n % m", [("modulus", "(1 <= m)")]),
        ("y = n // 2", []),
        ("y = n // 0", [("modulus", "False")]),
        ("y = q[n]", [("index", "((0 <= n) and (n < len(q)))")]),
        ("y = b and q[n] > 0", [("index", "((not b) or ((0 <= n) and (n < len(q))))")]),
        ("y = b or q[0] > 0", [("index", "(b or (0 < len(q)))")]),
        ("y = 1 / x if b else x", [("divisor", "((not b) or (not (x == 0)))")]),
        ("y = x if b else 1 / x", [("divisor", "(b or (not (x == 0)))")]),
        ("y = 0 < n < 1 / x", [("divisor", "((not (0 < n)) or (not (x == 0)))")]),
        ("y = 1 / x < n < m", [("divisor", "(not (x == 0))")]),
        ("y = b and n > 0 and 1 / x > 0", [("divisor", "((not (b and (0 < n))) or (not (x == 0)))")]),
    ],
)
def test_what_an_expression_needs_stands_as_a_check_under_its_conditions(body, expected):
    assert expected == [(part.kind, str(part.condition)) for part in read(body).body if isinstance(part, Check)]


def test_draws_are_numbered_in_the_order_in_which_python_makes_them():
    body = read("y = laplace(abs(laplace(x))) - exponential(gaussian(1) / q[n])\nz = laplace(x)").body
    drawn = [(part.site, part.law, part.name) for part in body if isinstance(part, Draw)]
    assert [
        (1, Law.LAPLACE, "laplace.1"),
        (2, Law.LAPLACE, "laplace.2"),
        (3, Law.GAUSSIAN, "gaussian.3"),
        (4, Law.EXPONENTIAL, "exponential.4"),
        (5, Law.LAPLACE, "z"),
    ] == drawn
    assert [Draw, Draw, Draw, Check, Check, Draw, Assign, Draw, Return] == [type(part) for part in body]


def test_arguments_of_a_law_stand_in_its_order_however_they_are_written():
    draw = read("y = exponential_choice(sensitivity=2, epsilon=x, scores=[n, m])").body[0]
    assert ["n", "m", "x", "2"] == [str(part) for part in draw.args]
    assert "q" == read("y = exponential_choice(q, x, 1)").body[0].scores


@pytest.mark.parametrize(
    ("call", "sort"),
    [
        ("laplace(x)", Sort.REAL),
        ("exponential(x)", Sort.REAL),
        ("gaussian(1)", Sort.REAL),
        ("discrete_laplace(x)", Sort.INT),
        ("discrete_laplace(x, 1)", Sort.INT),
        ("discrete_laplace(x, Fraction(1))", Sort.INT),
        ("discrete_laplace(x, 2)", Sort.REAL),
        ("geometric(x, Fraction(1, 2))", Sort.REAL),
        ("discrete_gaussian(x)", Sort.INT),
        ("uniform_int(3)", Sort.INT),
        ("exponential_choice(q, x, 1)", Sort.INT),
        ("bernoulli(x)", Sort.BOOL),
        ("randomized_response(b, x)", Sort.BOOL),
    ],
)
def test_noise_has_the_type_of_its_law(call, sort):
    assert sort is dict(read(f"y = {call}").sorts)["y"]


def test_powers_have_the_type_of_their_base():
    assert [Sort.REAL, Sort.INT] == [dict(read(f"y = {base} ** 0").sorts)["y"] for base in ("x", "n")]


def test_bounds_of_a_loop_that_changes_them_are_kept_under_a_name_of_their_own():
    first, loop = read("for i in range(n):\n    n = n - 1").body[:2]
    assert isinstance(first, Assign)
    assert isinstance(loop, For)
    assert first.name == str(loop.stop) == "range.1"
    assert "n" == str(read("for i in range(n):\n    m = m - 1").body[0].stop)


def test_what_a_test_needs_stands_before_it_in_every_round():
    loop = read("while 1 / x > laplace(1):\n    x = x - 1").body[0]
    assert isinstance(loop, While)
    assert [Check, Draw] == [type(part) for part in loop.before]


def test_statements_keep_their_places():
    program = read("out = []\nif b:\n    out.append(x)\nelse:\n    raise ValueError\nreturn out, n")
    branch, end = program.body
    assert isinstance(branch, If)
    assert (Append, Place(4, 9)) == (type(branch.then[0]), branch.then[0].place)
    assert (Raise, Place(6, 9)) == (type(branch.otherwise[0]), branch.otherwise[0].place)
    assert ("out", "n") == tuple(str(part) for part in end.values)
    assert (("out", Sort.INT), ("out",)) == (program.returned, program.outputs)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1/3", Fraction(1, 3)),
        ("1e-6", Fraction(1, 10**6)),
        ("0.1", Fraction(1, 10)),
        ("2 / 4", Fraction(1, 2)),
        ("1_0.5", Fraction(21, 2)),
    ],
)
def test_numbers_of_a_specification_are_read_exactly(text, expected):
    assert expected == expression(text, {}, {}).term.value


def test_texts_may_speak_of_ghosts_where_they_are_symbols():
    found = expression(
        "2 if q[i] + eta >= ghost.o else 0", {"i": Sort.INT, "eta": Sort.REAL, "ghost.o": Sort.REAL}, {"q": Sort.REAL}
    )
    assert "(2 if (ghost.o <= (q[i] + eta)) else 0)" == str(found.term)
    assert ["index"] == [check.kind for check in found.checks]
    with pytest.raises(OutsideSubset, match="DPA701"):
        expression("ghost.k", {}, {})
