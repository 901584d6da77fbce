"""Mutants of the proven programs of the suite: one part of the source or of the promise changed, as a careless author would."""

from __future__ import annotations

import ast
import copy
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from dpaudit.catalogue import PROGRAMS, Specimen
from dpaudit.errors import DpauditError
from dpaudit.spec import RELATIONS, Change, Spec, spec_of
from dpaudit.verifier.frontend import parse
from dpaudit.verifier.ir import Program

SAMPLERS = ("laplace", "exponential_choice", "randomized_response")
FACTORS = ("1, 2", "2, 3", "9, 10", "2, 1")
CLAIMS = ("1/2", "3/4", "99/100", "2")
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.Mod: ast.FloorDiv}
COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)


@dataclass(frozen=True)
class Mutant:
    """A changed program: of which one, what kind of change, what exactly, and the text with its promise."""

    base: str
    kind: str
    what: str
    source: str
    promise: Spec

    @property
    def name(self) -> str:
        """The name by which a table knows it."""
        return f"{self.base}: {self.kind}: {self.what}"

    def program(self) -> Program:
        """The program that the front end reads."""
        return parse(self.source, self.promise)


def mutants() -> list[Mutant]:
    """Every mutant of every proven program of the suite, each text and promise once and none that is the program itself."""
    found: dict[tuple[str, Spec], Mutant] = {}
    for case in PROGRAMS:
        if case.verdict == "proven":
            tree, promise = plain(case)
            seen = {(ast.unparse(tree), promise)}
            for one in (*_sources(case, tree, promise), *_promises(case, tree, promise)):
                if (one.source, one.promise) not in seen:
                    found.setdefault((one.source, one.promise), one)
    return list(found.values())


def readable() -> dict[str, Mutant]:
    """The mutants that the front end reads, by their names, in an order of no meaning so that the first ones are a fair sample."""
    found: dict[str, Mutant] = {}
    for one in sorted(mutants(), key=lambda one: hashlib.sha256(f"{one.source}{one.promise}".encode()).hexdigest()):
        try:
            one.program()
        except DpauditError:
            continue
        name, number = one.name, 1
        while name in found:
            number += 1
            name = f"{one.name} ({number})"
        found[name] = one
    return found


def plain(case: Specimen) -> tuple[ast.FunctionDef, Spec]:
    """The function of a case without decorator and docstring, and its promise."""
    node = ast.parse(textwrap.dedent(inspect.getsource(case.program))).body[0]
    promise = spec_of(case.program)
    assert isinstance(node, ast.FunctionDef)
    assert promise is not None
    node.decorator_list = []
    node.body = node.body[1:]
    return node, promise


def _sources(case: Specimen, tree: ast.FunctionDef, promise: Spec) -> Iterator[Mutant]:
    """Mutants of the text."""
    for rule in EXPRESSIONS:
        for place, node in enumerate(ast.walk(tree)):
            if isinstance(node, ast.expr):
                for new in rule(copy.deepcopy(node)):
                    yield _made(case, promise, rule, f"{ast.unparse(node)} -> {ast.unparse(new)}", _with(tree, place, new))
    for rule in BLOCKS:
        for what, changed in rule(tree):
            yield _made(case, promise, rule, what, changed)
    for what, changed, added in other_list(tree, promise):
        yield _made(case, added, other_list, what, changed)


def _made(case: Specimen, promise: Spec, rule: Callable[..., object], what: str, tree: ast.FunctionDef) -> Mutant:
    """A mutant from its tree."""
    source = ast.unparse(ast.fix_missing_locations(tree))
    return Mutant(case.program.__name__, rule.__name__.replace("_", " "), what.replace("\n", " "), source, promise)


def _with(tree: ast.FunctionDef, place: int, new: ast.expr) -> ast.FunctionDef:
    """The tree with another expression at one place of the walk."""
    changed = copy.deepcopy(tree)
    old = list(ast.walk(changed))[place]

    class Put(ast.NodeTransformer):
        """Puts the new expression there."""

        def visit(self, node: ast.AST) -> ast.AST:
            return new if node is old else self.generic_visit(node)

    return Put().visit(changed)


def _read(text: str) -> ast.expr:
    """An expression from its text."""
    return ast.parse(text, mode="eval").body


def _sampler(node: ast.AST) -> bool:
    """Whether this is a draw."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SAMPLERS


def scale(node: ast.expr) -> Iterator[ast.expr]:
    """Noise of another size; for a choice the parameter that is next to the scores."""
    if isinstance(node, ast.Call) and _sampler(node):
        place = min(1, len(node.args) - 1)
        for factor in FACTORS:
            args = [*node.args]
            args[place] = ast.BinOp(_read(f"Fraction({factor})"), ast.Mult(), args[place])
            yield ast.Call(node.func, args, [])


def no_noise(node: ast.expr) -> Iterator[ast.expr]:
    """Nothing is drawn."""
    if isinstance(node, ast.Call) and _sampler(node):
        yield {"laplace": _read("Fraction(0)"), "exponential_choice": _read("0")}.get(ast.unparse(node.func), node.args[0])


def noise_turned(node: ast.expr) -> Iterator[ast.expr]:
    """The noise with the other sign, or of twice the weight."""
    if _sampler(node) and ast.unparse(node).startswith("laplace"):
        yield ast.UnaryOp(ast.USub(), node)
        yield ast.BinOp(_read("2"), ast.Mult(), node)


def comparison(node: ast.expr) -> Iterator[ast.expr]:
    """Another comparison, or the other answer."""
    if isinstance(node, ast.Compare):
        for operator in COMPARISONS:
            yield ast.Compare(node.left, [operator()], node.comparators)


def arithmetic(node: ast.expr) -> Iterator[ast.expr]:
    """Another operation."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)


def off_by_one(node: ast.expr) -> Iterator[ast.expr]:
    """One more or one less."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        for step in (1, -1):
            if node.value + step >= 0:
                yield ast.Constant(node.value + step)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "len":
        yield ast.BinOp(node, ast.Sub(), _read("1"))
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "range":
        yield ast.Call(node.func, [_read("1"), *node.args], [])


def element(node: ast.expr) -> Iterator[ast.expr]:
    """Another element, or more of it than one reads."""
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "q":
        index = ast.unparse(node.slice)
        for text in ("q[0]", f"q[len(q) - 1 - {index}]", f"(q[{index}] + q[0])", f"2 * q[{index}]", f"abs(q[{index}])"):
            yield _read(text)
        yield _read(f"min(max(q[{index}], 0 * q[{index}]), 1 + 0 * q[{index}])")


def leak(node: ast.expr) -> Iterator[ast.expr]:
    """An output that holds private data besides."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "out.append":
        value = ast.unparse(node.args[0])
        for text in ("q[i]", f"{value} if q[i] > 0 else {value} + 1", f"{value} + q[i]", "q[i] > 0"):
            yield _read(f"out.append({text})")


def truth(node: ast.expr) -> Iterator[ast.expr]:
    """The other truth value."""
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        yield ast.Constant(not node.value)


def _blocks(tree: ast.FunctionDef) -> Iterator[tuple[ast.FunctionDef, list[ast.stmt]]]:
    """Copies of a tree, each with one of its blocks of statements to be changed."""
    count = sum(1 for _ in _bodies(tree))
    for place in range(count):
        changed = copy.deepcopy(tree)
        yield changed, list(_bodies(changed))[place]


def _bodies(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """All blocks of statements."""
    for node in ast.walk(tree):
        for part in ("body", "orelse"):
            if isinstance(body := getattr(node, part, None), list) and body:
                yield body


def statement_lost(tree: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    """A reset, a count, an output, a stop or a branch is missing."""
    for block, (_, body) in enumerate(_blocks(tree)):
        for place, lost in enumerate(body):
            changed = copy.deepcopy(tree)
            there = list(_bodies(changed))[block]
            if not isinstance(lost, ast.Return):
                there[place : place + 1] = [] if len(there) > 1 else [ast.Expr(_read("0"))]
                yield ast.unparse(lost).split("\n", maxsplit=1)[0], changed
                if isinstance(lost, ast.If):
                    for part in (lost.body, lost.orelse):
                        only = copy.deepcopy(tree)
                        list(_bodies(only))[block][place : place + 1] = copy.deepcopy(part)
                        yield f"{ast.unparse(lost.test)} is not asked", only


def statement_twice(tree: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    """A statement is executed twice: an output with noise of its own costs again."""
    for block, (_, body) in enumerate(_blocks(tree)):
        for place, line in enumerate(body):
            if isinstance(line, (ast.Assign, ast.Expr)) and ast.unparse(line) != "out = []":
                changed = copy.deepcopy(tree)
                list(_bodies(changed))[block].insert(place, copy.deepcopy(line))
                yield ast.unparse(line), changed


def statements_exchanged(tree: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Two neighbouring statements change places."""
    for block, (_, body) in enumerate(_blocks(tree)):
        for place in range(len(body) - 1):
            changed = copy.deepcopy(tree)
            there = list(_bodies(changed))[block]
            there[place], there[place + 1] = there[place + 1], there[place]
            yield f"{ast.unparse(body[place])} after {ast.unparse(body[place + 1])}"[:100], changed


def outputs_exchanged(tree: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Two outputs change places, or the first is given in both."""

    def appended(node: ast.AST) -> list[ast.Call]:
        return [one for one in ast.walk(node) if isinstance(one, ast.Call) and ast.unparse(one.func) == "out.append"]

    for first, second in combinations(range(len(appended(tree))), 2):
        for both in (True, False):
            changed = copy.deepcopy(tree)
            one, two = appended(changed)[first], appended(changed)[second]
            one.args, two.args = (two.args, one.args) if both else (two.args, copy.deepcopy(two.args))
            yield f"{ast.unparse(two)}, {ast.unparse(one)}", changed


def private_branch(tree: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    """A loop, or what it does, depends on private data."""
    for block, (_, body) in enumerate(_blocks(tree)):
        for place, line in enumerate(body):
            if isinstance(line, ast.For):
                for text in ("if q[i] > 100: break", "if q[i] < 0: continue"):
                    changed = copy.deepcopy(tree)
                    loop = list(_bodies(changed))[block][place]
                    assert isinstance(loop, ast.For)
                    loop.body.insert(0, ast.parse(text).body[0])
                    yield text, changed


def noise_used_again(tree: ast.FunctionDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    """One noise, drawn at the top, in the place of one draw or of two."""

    def drawn(node: ast.AST) -> list[ast.expr]:
        return [one for one in ast.walk(node) if isinstance(one, ast.expr) and _sampler(one)]

    count = len(drawn(tree))
    for chosen in (*((one,) for one in range(count)), *combinations(range(count), 2)):
        calls = drawn(tree)
        if ast.unparse(calls[chosen[0]]).startswith("laplace"):
            changed = copy.deepcopy(tree)
            places = [drawn(changed)[one] for one in chosen]

            class Put(ast.NodeTransformer):
                """Puts the name there."""

                def visit(self, node: ast.AST) -> ast.AST:
                    return _read("shared") if any(node is place for place in places) else self.generic_visit(node)  # noqa: B023

            changed = Put().visit(changed)
            changed.body.insert(0, ast.parse(f"shared = {ast.unparse(calls[chosen[0]])}").body[0])
            yield " and ".join(ast.unparse(calls[one]) for one in chosen), changed


def other_list(tree: ast.FunctionDef, promise: Spec) -> Iterator[tuple[str, ast.FunctionDef, Spec]]:
    """Elements come from a second list, which is private or public."""
    nodes = enumerate(ast.walk(tree))
    reads = [place for place, node in nodes if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "q"]
    change = promise.changes[0][1]
    for place in reads:
        for private in (True, False):
            node = list(ast.walk(tree))[place]
            changed = _with(tree, place, _read(ast.unparse(node).replace("q[", "r[")))
            first = copy.deepcopy(changed.args.args[0])
            first.arg = "r"
            changed.args.args.insert(1, first)
            lists = {"q": change, "r": change} if private else {"q": change}
            public = () if private else ("r",)
            requires = (*promise.requires, "len(r) == len(q)")
            yield (
                f"{ast.unparse(node)} of a {'private' if private else 'public'} list",
                changed,
                replace(promise, adjacency=lists, public=public, requires=requires),
            )


def claim(case: Specimen, promise: Spec) -> Iterator[tuple[str, Spec]]:
    """Another claim."""
    for factor in CLAIMS:
        if "log" not in promise.claim[0]:
            yield f"times {factor}", replace(promise, claim=f"({factor}) * ({promise.claim[0]})")
        else:
            yield f"times {factor} inside", replace(promise, claim=f"log(({factor}) * odds)")


def adjacency(case: Specimen, promise: Spec) -> Iterator[tuple[str, Spec]]:
    """Other neighbours."""
    own = promise.changes[0][1].relation
    for relation, bound in (*((one, "1") for one in RELATIONS), (own, "2"), (own, "1/2")):
        yield f"{relation} by {bound}", replace(promise, adjacency=Change(relation, bound))


def requirement(case: Specimen, promise: Spec) -> Iterator[tuple[str, Spec]]:
    """A requirement is missing."""
    for lost in promise.requires:
        yield f"no {lost}", replace(promise, requires=tuple(one for one in promise.requires if one != lost))


def _promises(case: Specimen, tree: ast.FunctionDef, promise: Spec) -> Iterator[Mutant]:
    """Mutants of the promise."""
    for rule in (claim, adjacency, requirement):
        for what, changed in rule(case, promise):
            yield _made(case, changed, rule, what, copy.deepcopy(tree))


EXPRESSIONS = (scale, no_noise, noise_turned, comparison, arithmetic, off_by_one, element, leak, truth)
BLOCKS = (
    statement_lost,
    statement_twice,
    statements_exchanged,
    outputs_exchanged,
    private_branch,
    noise_used_again,
)
