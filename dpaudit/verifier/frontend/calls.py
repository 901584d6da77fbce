"""Calls of samplers and of helpers: draws, contracts, and pure functions put in place of their calls."""

from __future__ import annotations

import ast
from typing import Final

from dpaudit.verifier.frontend.expressions import number, term, truth, whole
from dpaudit.verifier.frontend.readers import Reader
from dpaudit.verifier.frontend.refusals import place_of, refusal, take
from dpaudit.verifier.frontend.scopes import Source
from dpaudit.verifier.ir import ARGUMENTS, ON_LATTICE, TWO_VALUED, Draw, Invoke, Law, ListOf, Program
from dpaudit.verifier.terms import ONE, Sort, Term, number_of, variable

_INTEGERS: Final = (Law.EXPONENTIAL_CHOICE, Law.UNIFORM_INT)


def sampled_law(reader: Reader, node: ast.expr) -> Law | None:
    """The law that an expression draws from, where it is the call of a sampler and nothing else."""
    meaning = reader.meaning(node.func.id) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
    return meaning if isinstance(meaning, Law) else None


def emit_draw(reader: Reader, node: ast.Call, law: Law, name: str | None) -> Term:
    """Emit a draw, into a name of the program or one that only the verifier knows; gives the noise."""
    take(node, "func", "args", "keywords")
    _unguarded(reader, node, f"a draw from {law.value}")
    # Arguments are evaluated in the order in which they are written, and stand in the order of the law.
    scores: str | None = None
    read: dict[str, tuple[Term, ...]] = {"lattice": (ONE,)} if law in ON_LATTICE else {}
    for what, value in _arguments(node, law).items():
        if what == "scores":
            scores, read[what] = _scores(reader, value)
        else:
            read[what] = (_argument(reader, what, value),)
    args = tuple(part for what in ARGUMENTS[law] for part in read[what])
    sort = Sort.BOOL if law in TWO_VALUED else Sort.INT if law in _INTEGERS else Sort.REAL
    if law in ON_LATTICE and number_of(args[-1]) == 1:
        sort = Sort.INT
    site = next(reader.shared.sites)
    target = name or f"{law.value}.{site}"
    noise = declare_name(reader, node, target, sort)
    reader.emitted.append(Draw(place_of(node), target, site, law, args, scores))
    return noise


def _unguarded(reader: Reader, node: ast.AST, what: str) -> None:
    """Refuse a draw that Python would make in some cases only, inside one expression."""
    if reader.guards:
        inside = "inside `and`, `or`, a conditional expression or a chained comparison"
        raise refusal(node, f"{what} {inside}", "draw on a line before", "DPA706")
    if reader.prefix:
        raise refusal(node, f"{what} in a helper without a contract", "draw in the function, or give the helper @spec", "DPA706")


def declare_name(reader: Reader, node: ast.AST, target: str, sort: Sort) -> Term:
    """The variable of a name that is assigned to, which keeps one sort."""
    known = reader.shared.sorts.setdefault(target, sort)
    if known is not sort:
        raise refusal(node, f"{target} is {known.value} and {sort.value}", "a name keeps one type; start at Fraction(0)", "DPA703")
    return variable(target, sort)


def _arguments(node: ast.Call, law: Law) -> dict[str, ast.expr]:
    """The arguments of a sampler by name, in the order in which they are evaluated; exactly those that its law has."""
    wanted = ARGUMENTS[law]
    given = dict(zip(wanted, node.args, strict=False))
    for keyword in node.keywords:
        take(keyword, "arg", "value")
        if keyword.arg not in wanted or keyword.arg in given:
            raise refusal(keyword.value, f"the argument {keyword.arg} of {law.value}", _usage(law), "DPA706")
        given[keyword.arg] = keyword.value
    if len(node.args) > len(wanted) or set(wanted) - set(given) - {"lattice"}:
        raise refusal(node, f"{len(node.args)} arguments of {law.value}", _usage(law), "DPA706")
    return given


def _usage(law: Law) -> str:
    """The hint that shows how a sampler is called."""
    return f"write {law.value}({', '.join(ARGUMENTS[law])})"


def _argument(reader: Reader, what: str, node: ast.expr) -> Term:
    """A scalar argument of a sampler."""
    if what == "bit":
        return truth(reader, node, "as a bit")
    if what == "lattice":
        return _lattice(reader, node)
    return whole(reader, node, "as a size") if what == "size" else number(reader, node, f"as {what}")


def _lattice(reader: Reader, node: ast.expr) -> Term:
    """The spacing of a lattice: a positive constant, since the type of the noise depends on it."""
    spacing = number(reader, node, "as a lattice")
    value = number_of(spacing)
    if value is None or value <= 0:
        raise refusal(node, "a lattice that is not a positive constant", "write 1 or `Fraction(1, 1024)`", "DPA706")
    return spacing


def _scores(reader: Reader, node: ast.expr) -> tuple[str | None, tuple[Term, ...]]:
    """The scores of a choice: a list parameter, or a list written out."""
    if isinstance(node, ast.Name) and node.id in reader.lists:
        take(node, "id")
        return reader.lists[node.id][0], ()
    if not isinstance(node, ast.List) or not node.elts:
        raise refusal(node, "scores that are not a list", "pass a list parameter, or write the scores out: [q[0], q[1]]", "DPA706")
    take(node, "elts")
    return None, tuple(number(reader, score, "as a score") for score in node.elts)


def emit_call(reader: Reader, node: ast.Call, program: Program, source: Source) -> Term:
    """Emit the call of a helper, understood already, that has a contract of its own; samplers are handed on under their names."""
    _unguarded(reader, node, f"a call of {program.name}, which draws,")
    if len(node.args) != len(program.parameters):
        raise refusal(node, f"{len(node.args)} arguments of {program.name}", f"it takes {len(program.parameters)}", "DPA706")
    pairs = zip(program.parameters, node.args, strict=True)
    args = tuple(read_argument(reader, value, parameter.sort, program.name) for parameter, value in pairs)
    _samplers(reader, node, source)
    returned = _result(node, program)
    site = next(reader.shared.sites)
    target = f"{program.name}.{site}"
    result = declare_name(reader, node, target, returned)
    if reader.shared.helpers.setdefault(program.name, program) != program:
        raise refusal(node, f"two helpers named {program.name}", "give them different names", "DPA706")
    reader.emitted.append(Invoke(place_of(node), target, site, program.name, args))
    return result


def read_argument(reader: Reader, node: ast.expr, sort: Sort | ListOf, name: str) -> Term | str:
    """An argument of a helper, of exactly the type that it says."""
    if isinstance(sort, ListOf):
        if isinstance(node, ast.Name) and reader.lists.get(node.id, ("", None))[1] is sort.element:
            return reader.lists[node.id][0]
        raise refusal(node, f"an argument of {name} that is not such a list", "pass a list parameter of the same type", "DPA706")
    value = term(reader, node)
    if value.sort is not sort:
        raise refusal(node, f"{value.sort.value} for a parameter of {name}", f"it takes {sort.value}", "DPA703")
    return value


def _samplers(reader: Reader, node: ast.Call, source: Source) -> None:
    """Each sampler of a helper gets the caller's sampler of the same law; a text without samplers takes none."""
    wanted = {argument.arg for argument in source.tree.args.kwonlyargs}
    laws = dict(source.promise.laws) if source.promise else {}
    for keyword in node.keywords:
        take(keyword, "arg", "value")
        name = keyword.value.id if isinstance(keyword.value, ast.Name) else ""
        if keyword.arg not in wanted or reader.meaning(name) is not Law(laws.get(keyword.arg, keyword.arg)):
            raise refusal(keyword.value, f"the argument {keyword.arg}", "hand on the sampler of the same law", "DPA706")
        wanted.discard(keyword.arg)
    if wanted:
        raise refusal(node, f"a call without the samplers {', '.join(sorted(wanted))}", "hand them on by keyword", "DPA706")


def _result(node: ast.Call, program: Program) -> Sort:
    """The sort of a helper's result, which is one scalar."""
    if len(program.returned) != 1 or isinstance(program.returned[0], str):
        raise refusal(node, f"{program.name} does not return a single number", "call helpers that return one scalar", "DPA706")
    return program.returned[0]
