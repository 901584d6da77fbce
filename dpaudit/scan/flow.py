"""Dataflow within a function: what is data, what is noise, and what is released, read from the syntax tree alone."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace

from dpaudit.dotted_names import dotted
from dpaudit.scan import calls, names
from dpaudit.scan import values as v
from dpaudit.scan.algebra import expand, names_in
from dpaudit.scan.meanings import meaning, of_parts
from dpaudit.scan.values import Addition, Assigned, Called, Clip, Division, Draw, Helper, Loop, Scope, Value


class Flow:
    """Follows the statements of one scope in order; branches are followed one after the other."""

    def __init__(
        self, scope: Scope, imports: Mapping[str, str], outside: Mapping[str, Value], helpers: Mapping[str, Helper]
    ) -> None:
        self.scope = scope
        self.imports = imports
        self.known: dict[str, Value] = dict(outside)
        self.helpers = helpers
        self.written: dict[str, ast.expr | None] = {}
        self.loops: tuple[Loop, ...] = ()
        self.tests: tuple[frozenset[str], ...] = ()
        for name in scope.parameters:
            self.known[name] = _parameter(name)

    def run(self, body: list[ast.stmt]) -> None:
        """Follow statements."""
        for statement in body:
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:  # noqa: C901, PLR0912 - one case a kind of statement
        """Follow one statement."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)):
            return
        if isinstance(node, ast.Assign):
            value = self.defined(node.value)
            for target in node.targets:
                self.assign(target, value, node.value, node.lineno)
        elif isinstance(node, ast.AnnAssign):
            if node.value is not None:
                self.assign(node.target, self.defined(node.value), node.value, node.lineno)
        elif isinstance(node, ast.AugAssign):
            left = ast.copy_location(_as_load(node.target), node)
            combined = ast.copy_location(ast.BinOp(left, node.op, node.value), node)
            self.assign(node.target, self.value(combined), None, node.lineno)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self.loop(node, node.target, node.iter, [*node.body, *node.orelse])
        elif isinstance(node, ast.While):
            self.value(node.test)
            self.tests = (
                *self.tests,
                frozenset(names.last_name(one) for one in ast.walk(node.test) if isinstance(one, (ast.Name, ast.Attribute))),
            )
            self.inside(Loop(node, frozenset(), Value()), node.body)
            self.tests = self.tests[:-1]
        elif isinstance(node, ast.If):
            self.value(node.test)
            self.run(node.body)
            self.run(node.orelse)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                made = self.value(item.context_expr)
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, made, None, node.lineno)
            self.run(node.body)
        elif isinstance(node, (ast.Try, ast.TryStar)):
            for part in (node.body, *(one.body for one in node.handlers), node.orelse, node.finalbody):
                self.run(part)
        elif isinstance(node, ast.Return):
            if node.value is not None:
                self.scope.returned.append(self.value(node.value))
        elif isinstance(node, ast.Match):
            self.value(node.subject)
            for case in node.cases:
                self.run(case.body)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.value(child)

    def loop(self, node: ast.AST, target: ast.expr, over: ast.expr, body: list[ast.stmt]) -> None:
        """Follow a for loop, with its target as an element of what it runs over."""
        value = self.value(over)
        self.assign(target, _element(value), None, getattr(node, "lineno", 0))
        found = frozenset(one.id for one in ast.walk(target) if isinstance(one, ast.Name))
        self.inside(Loop(node, found, value), body)

    def inside(self, loop: Loop, body: list[ast.stmt]) -> None:
        """Follow the body of a loop."""
        self.loops = (*self.loops, loop)
        self.run(body)
        self.loops = self.loops[:-1]

    def assign(self, target: ast.expr, value: Value, node: ast.expr | None, line: int) -> None:
        """Bind names; a tuple gets its parts where they are written as one."""
        if isinstance(target, (ast.Tuple, ast.List)):
            parts = node.elts if isinstance(node, (ast.Tuple, ast.List)) and len(node.elts) == len(target.elts) else None
            for number, one in enumerate(target.elts):
                if parts is not None:
                    self.assign(one, self._define(self.quiet(parts[number]), parts[number]), parts[number], line)
                else:
                    self.assign(one, replace(value, expr=None), None, line)
            return
        if isinstance(target, ast.Starred):
            self.assign(target.value, value, None, line)
            return
        if isinstance(target, ast.Subscript):
            self.assigned_part(target, value, line)
            return
        name = dotted(target)
        if not name:
            return
        value = _as_named(name.rsplit(".", 1)[-1], value, node, line)
        self.known[name] = value
        self.written[name] = node
        self.scope.assigned.append(Assigned(name, line, value, self.loops, self.tests[-1] if self.tests else frozenset()))

    def assigned_part(self, target: ast.Subscript, value: Value, line: int) -> None:
        """Add to a container what is put into it."""
        name = dotted(target.value)
        index = self.value(target.slice)
        before = self.known.get(name, Value())
        if name:
            keyed = {v.DATA, v.KEYS, v.MANY} if index.has(v.ELEMENT) and not value.has(v.NOISY) else set()
            tags = (before.tags | value.tags | keyed) - ({v.DATA} if value.has(v.NOISY) else set())
            self.known[name] = replace(before, tags=tags, draws=before.draws | value.draws, expr=None)
            self.scope.assigned.append(
                Assigned(f"{name}[]", line, value, self.loops, self.tests[-1] if self.tests else frozenset())
            )

    def quiet(self, node: ast.expr) -> Value:
        """Return what is known of an expression that was followed before, without its events again."""
        scope, self.scope = self.scope, Scope("", node, {})
        try:
            value = self.value(node)
        finally:
            quiet, self.scope = self.scope, scope
        self.scope.draws.update({key: one for key, one in quiet.draws.items() if key not in self.scope.draws})
        return value

    def value(self, node: ast.expr | None) -> Value:
        """Return what is known of an expression, and note what happens in it."""
        if node is None:
            return Value()
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        value: Value = method(node) if method is not None else self._parts(node)
        return value

    def defined(self, node: ast.expr) -> Value:
        """Return what is known of an expression, with its definition, for a name that stands for it."""
        return self._define(self.value(node), node)

    def _define(self, value: Value, node: ast.expr) -> Value:
        """Return a value with its definition, unless it is noise."""
        return value if value.expr is not None or value.has(v.NOISE, v.NOISY) else replace(value, expr=self.expanded(node))

    def expanded(self, node: ast.expr) -> ast.expr:
        """Return an expression with definitions put in."""
        return expand(node, {name: value.expr for name, value in self.known.items() if value.expr is not None})

    def _parts(self, node: ast.expr) -> Value:
        """An expression without a meaning of its own: what its parts have."""
        found = [self.value(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        return of_parts(found)

    def _constant(self, node: ast.Constant) -> Value:
        return Value(expr=node)

    def _lambda(self, node: ast.Lambda) -> Value:  # noqa: ARG002 - what a lambda does is done where it is called
        return Value()

    def _name(self, node: ast.Name) -> Value:
        known = self.known.get(node.id)
        if known is not None:
            return known if known.expr is not None or known.has(v.NOISE, v.NOISY) else replace(known, expr=node)
        return Value(frozenset({v.DATA}) if names.is_data(node.id) and node.id not in self.imports else frozenset(), node)

    def _attribute(self, node: ast.Attribute) -> Value:
        name = dotted(node)
        if name in self.known:
            known = self.known[name]
            return known if known.expr is not None else replace(known, expr=node)
        base = self.value(node.value)
        if node.attr in {"shape", "size"} and base.has(v.DATA) and not base.has(v.NOISY):
            return Value(frozenset({"shape"} if node.attr == "shape" else {v.COUNT, *(base.tags & {v.SELECTED})}), node)
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return Value(frozenset({v.DATA}) if names.is_data(node.attr) else frozenset(), node)
        return replace(base, expr=None) if base.tags else Value(expr=self.expanded(node))

    def _subscript(self, node: ast.Subscript) -> Value:
        base, index = self.value(node.value), self.value(node.slice)
        if base.has("shape"):
            return Value(frozenset({v.COUNT}), node)
        tags = base.tags - {v.KEYS} if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int) else base.tags
        if base.has(v.DATA) and (index.has("mask") or isinstance(node.slice, (ast.Compare, ast.BoolOp))):
            tags = tags | {v.SELECTED}
        if base.has(v.KEYS) or index.has(v.KEYS):
            tags = tags | {v.KEYS}
        return Value(tags - {v.MANY}, None, base.draws, base.line)

    def _compare(self, node: ast.Compare) -> Value:
        found = [self.value(node.left), *(self.value(one) for one in node.comparators)]
        for one in found:
            self.scope.compared |= one.draws
        data = any(one.has(v.DATA) and not one.has(v.NOISY) for one in found)
        return Value(frozenset({v.DATA, "mask"}) if data else frozenset(), node)

    def _ifexp(self, node: ast.IfExp) -> Value:
        self.value(node.test)
        return of_parts([self.value(node.body), self.value(node.orelse)])

    def _listcomp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        before = dict(self.known)
        loops = self.loops
        filtered = False
        over = Value()
        for one in node.generators:
            over = self.value(one.iter)
            self.assign(one.target, _element(over), None, node.lineno)
            found = frozenset(name.id for name in ast.walk(one.target) if isinstance(name, ast.Name))
            self.loops = (*self.loops, Loop(node, found, over))
            for test in one.ifs:
                filtered = True
                self.value(test)
        if isinstance(node, ast.DictComp):
            self.value(node.key)
            value = self.value(node.value)
        else:
            value = self.value(node.elt)
        self.known, self.loops = before, loops
        tags = set(value.tags - {v.ELEMENT}) | {v.MANY} | ({v.SELECTED} if filtered and value.has(v.DATA) else set())
        if over.has(v.DATA) and isinstance(node, ast.SetComp):
            tags.add(v.KEYS)
        if over.has(v.KEYS):
            tags.add(v.KEYS)
        return Value(frozenset(tags), None, value.draws, value.line)

    _setcomp = _generatorexp = _dictcomp = _listcomp

    def _binop(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return self._sum(node, left, right)
        if isinstance(node.op, ast.RShift) and calls.library_of(right.origin):
            return right  # what OpenDP chains is what its last step is
        if (clipped := self._clipped_by_factor(node, left, right)) is not None:
            return clipped
        if isinstance(node.op, ast.Div):
            self.scope.divisions.append(Division(node.lineno, left, right))
        for noise, other, factor in ((left, right, node.right), (right, left, node.left)):
            if noise.has(v.NOISE) and not other.has(v.NOISE, v.NOISY):
                self._rescale(noise, node, factor, other, is_left=noise is left)
                return Value(noise.tags | (other.tags & {v.MANY}), None, noise.draws)
        return of_parts([left, right])

    def _clipped_by_factor(self, node: ast.BinOp, left: Value, right: Value) -> Value | None:
        """A value times min(1, bound / norm), or divided by max(1, norm / bound); None for any other product."""
        if not isinstance(node.op, (ast.Mult, ast.Div)):
            return None
        for factor, value in ((node.right, left), (node.left, right)):
            plain = calls.without_shape(factor)
            made = self.written.get(plain.id) if isinstance(plain, ast.Name) else plain
            bound = None if made is None else calls.bound_of_factor(made, grows=isinstance(node.op, ast.Div))
            if bound is None:
                continue
            self.scope.clips.append(Clip(node.lineno, value, (self._define(self.quiet(bound), bound),)))
            return replace(value, tags=value.tags | {v.CLIPPED}, expr=None)
        return None

    def _sum(self, node: ast.BinOp, left: Value, right: Value) -> Value:
        """A sum: noise on a value is a release."""
        for noise, base, text in ((left, right, node.right), (right, left, node.left)):
            if noise.has(v.NOISE) and not base.has(v.NOISE):
                if isinstance(text, ast.Constant):
                    return replace(noise, expr=None)
                self.scope.additions.append(Addition(node, node.lineno, base, noise, self.loops, ast.dump(text)))
                local = {v.LOCAL} if base.has(v.ELEMENT) else set()
                kept = base.tags & {v.MANY, v.KEYS, v.CLIPPED, v.SUM, v.LOCAL}
                return Value(frozenset({v.NOISY}) | kept | local, None, base.draws | noise.draws)
        if isinstance(node.op, ast.Sub) and left.has(v.NOISY) != right.has(v.NOISY) and (left.has(v.DATA) or right.has(v.DATA)):
            return Value(frozenset({"error"}))
        return of_parts([left, right])

    def _rescale(self, noise: Value, node: ast.BinOp, factor: ast.expr, other: Value, *, is_left: bool) -> None:
        """Multiply the scale of draws by a factor."""
        if not isinstance(node.op, (ast.Mult, ast.Div)) or (isinstance(node.op, ast.Div) and not is_left):
            return
        grown = self.expanded(factor)
        for key in noise.draws:
            if (draw := self.scope.draws.get(key)) is not None:
                scale = grown if draw.scale is None else ast.copy_location(ast.BinOp(draw.scale, node.op, grown), node)
                if draw.scale is None and isinstance(node.op, ast.Div):
                    scale = ast.copy_location(ast.BinOp(ast.Constant(1), ast.Div(), grown), node)
                self.scope.draws[key] = replace(
                    draw, scale=scale, scale_line=draw.scale_line or other.line, scale_tags=draw.scale_tags | other.tags
                )

    def _call(self, node: ast.Call) -> Value:
        name = self.full_name(node.func)
        last = name.rsplit(".", 1)[-1] if name else names.last_name(node.func)
        owner = self.value(node.func.value) if isinstance(node.func, ast.Attribute) else Value()
        arguments = [self.value(one) for one in node.args]
        named = {one.arg or "**": self.value(one.value) for one in node.keywords}
        if last in calls.CLIPS or last in calls.NORM_CLIPS or last in self.helpers:
            arguments = [self._define(one, part) for one, part in zip(arguments, node.args, strict=True)]
            named = {part.arg or "**": self._define(named[part.arg or "**"], part.value) for part in node.keywords}
        private = calls.library_of(name) is not None or calls.library_of(owner.origin) is not None
        self.scope.calls.append(Called(node, node.lineno, name or f".{last}", tuple(arguments), named, private, self.loops))
        if made := calls.generator_of(node, name):
            kind, seed = made
            return Value(generator=(kind, node.lineno if self.is_constant(seed) else None))
        generator = owner.generator
        if generator is None and isinstance(node.func, ast.Attribute) and _is_generator(names.last_name(node.func.value)):
            generator = ("given", None) if self.full_name(node.func.value) not in {"numpy.random", "random", "torch"} else None
        if private and arguments and calls.is_release(name or f"{owner.origin}.{last}"):
            draw = Draw(node, node.lineno, "unknown", None, "library", several=True, loops=self.loops)
            self.scope.draws[id(node)] = draw
            return self._released(node, arguments[0])
        if private:
            return Value(frozenset({v.NOISY}), origin=name or owner.origin)
        if found := calls.drawn(node, name, generator[0] if generator else None):
            return self._draw(node, found, generator[1] if generator else None)
        if calls.is_uniform(name or last, generator[0] if generator else None):
            source = calls.uniform_source(name, generator[0] if generator else None)
            return self._draw_uniform(node, source, generator[1] if generator else None)
        everything = [owner, *arguments, *named.values()]
        if last in {"log", "log1p"} and any(one.has(v.UNIFORM) for one in everything):
            return self._inverse(node, everything)
        if last in self.helpers and (isinstance(node.func, ast.Name) or dotted(node.func).count(".") == 1):
            return self._help(node, self.helpers[last], arguments, named)
        return meaning(node, last, owner, arguments, named, self.scope.clips)

    def _draw(self, node: ast.Call, found: calls.Drawn, seed: int | None) -> Value:
        scale = None if found.scale is None else self.expanded(found.scale)
        told = Value() if found.scale is None else self.quiet(found.scale)
        if found.scale is None and found.law in {"laplace", "gumbel", "exponential"} and found.source != "jax":
            scale = ast.copy_location(ast.Constant(1.0), node)
        draw = Draw(
            node,
            node.lineno,
            found.law,
            scale,
            found.source,
            found.several or told.has(v.MANY),
            self.loops,
            seed,
            told.line,
            told.tags,
        )
        self.scope.draws[id(node)] = draw
        tags = {v.NOISE} | ({v.MANY} if draw.several else set())
        noise = Value(frozenset(tags), None, frozenset({id(node)}))
        centre = calls.centre(node, found)
        if centre is None:
            return noise
        base = self.quiet(centre)
        self.scope.additions.append(
            Addition(node, node.lineno, base, replace(noise, tags=noise.tags | {v.MANY}), self.loops, ast.dump(centre))
        )
        return Value(frozenset({v.NOISY}) | (base.tags & {v.MANY, v.KEYS, v.SUM, v.CLIPPED, v.LOCAL}), None, noise.draws)

    def _draw_uniform(self, node: ast.Call, source: str, seed: int | None) -> Value:
        several = bool(node.args) and source != "random"
        self.scope.draws[id(node)] = Draw(node, node.lineno, "uniform", None, source, several, self.loops, seed)
        return Value(frozenset({v.UNIFORM}), None, frozenset({id(node)}))

    def _inverse(self, node: ast.Call, parts: list[Value]) -> Value:
        """The logarithm of a uniform draw: exponential or Laplace noise by its inverse distribution function."""
        draws = frozenset().union(*(one.draws for one in parts))
        for key in draws:
            if (draw := self.scope.draws.get(key)) is not None:
                self.scope.draws[key] = replace(draw, law="inverse", line=node.lineno, node=node)
        return Value(frozenset({v.NOISE}), None, draws)

    def _help(self, node: ast.Call, helper: Helper, arguments: list[Value], named: dict[str, Value]) -> Value:
        """A call of a function of this file that draws: its scale, with the arguments put in."""
        given = dict(zip(helper.parameters, arguments, strict=False)) | {
            key: one for key, one in named.items() if key in helper.parameters
        }
        put = {key: one.expr for key, one in given.items() if one.expr is not None}
        put = {key: one for key, one in helper.defaults.items() if key not in given} | put
        scale = None if helper.scale is None else expand(helper.scale, put)
        used = set() if helper.scale is None else set(names_in(helper.scale))
        for_scale = [one for key, one in given.items() if key in used]
        draw = Draw(
            node, node.lineno, helper.law if scale is not None else "unknown", scale, "helper", helper.several, self.loops, None,
            next((one.line for one in for_scale if one.has(v.EXTREME)), None),
            frozenset().union(*(one.tags for one in for_scale)) if for_scale else frozenset(),
        )  # fmt: skip
        self.scope.draws[id(node)] = draw
        if not helper.noisy:
            return Value(frozenset({v.NOISE}) | ({v.MANY} if helper.several else frozenset()), None, frozenset({id(node)}))
        based = [one for key, one in given.items() if key not in used]
        return self._released(node, based[0] if based else Value())

    def _released(self, node: ast.Call, base: Value) -> Value:
        """A call that gives out a value with noise, of this file or of a library."""
        draws = frozenset({id(node)})
        text = ast.dump(node.args[0]) if node.args else ""
        self.scope.additions.append(
            Addition(node, node.lineno, base, Value(frozenset({v.NOISE, v.MANY}), None, draws), self.loops, text)
        )
        local = {v.LOCAL} if base.has(v.ELEMENT) else set()
        return Value(frozenset({v.NOISY}) | (base.tags & {v.MANY, v.KEYS, v.SUM, v.CLIPPED}) | local, None, draws)

    def full_name(self, node: ast.expr) -> str:
        """Return the full name of what an expression names, imports resolved."""
        name = dotted(node)
        head, _, rest = name.partition(".")
        known = self.known.get(head)
        if known is not None and known.origin:
            return f"{known.origin}.{rest}"
        if head not in self.imports:
            return name
        return f"{self.imports[head]}.{rest}" if rest else self.imports[head]

    def is_constant(self, node: ast.expr | None) -> bool:
        """True if an expression is a constant number, by itself or by its definition."""
        if node is None:
            return False
        expanded = self.expanded(node)
        if isinstance(expanded, ast.Name) and expanded.id in self.scope.parameters:
            default = self.scope.parameters[expanded.id]
            return isinstance(default, ast.Constant) and isinstance(default.value, int)
        return isinstance(expanded, ast.Constant) and isinstance(expanded.value, int) and not isinstance(expanded.value, bool)


def _as_named(last: str, value: Value, node: ast.expr | None, line: int) -> Value:
    """Return what is known of a value with what the name says that it is given."""
    if value.has(v.EXTREME) and value.line is None and (names.SENSITIVITY.search(last) or names.SCALE.search(last)):
        value = replace(value, line=line)
    if not value.tags and value.generator is None and names.is_data(last) and _is_unknown(node):
        value = replace(value, tags=frozenset({v.DATA}))
    if value.has(v.COUNT) and names.PRIVATE.search(last):
        value = Value(frozenset({v.NOISY}))  # a count that is called noisy is one, but for a fallback
    if value.expr is not None and _speaks_for_itself(last, set(names_in(value.expr))):
        value = replace(value, expr=None)
    return value


def _speaks_for_itself(name: str, inside: set[str]) -> bool:
    """True if a name says more in a scale than its definition: a parameter, a sigma not made of one, what grows in a loop."""
    if names.SPREAD.match(name):
        return not any(map(names.is_parameter, inside))
    return names.is_parameter(name) or name in inside


def _element(value: Value) -> Value:
    """Return what is known of one of many."""
    tags = value.tags - {v.MANY, v.COUNT, v.SUM}
    if value.has(v.DATA) and not value.has(v.KEYS):
        tags = tags | {v.ELEMENT}
    return Value(tags, None, value.draws)


def _parameter(name: str) -> Value:
    """Return what the name of a parameter says of it."""
    if _is_generator(name):
        return Value(generator=("given", None))
    return Value(frozenset({v.DATA}) if names.is_data(name) else frozenset())


def _is_generator(name: str) -> bool:
    """True if a name is one for a generator of random numbers."""
    return name in {"rng", "generator", "gen", "random_state", "prng", "_rng", "rand", "rnd"}


def _is_unknown(node: ast.expr | None) -> bool:
    """True if nothing is written of a value but that it is what some call or part gives."""
    return isinstance(node, (ast.Call, ast.Subscript, ast.Attribute, ast.Await))


def _as_load(node: ast.expr) -> ast.expr:
    """Return the target of an assignment as it is read."""
    if isinstance(node, ast.Name):
        return ast.Name(node.id, ast.Load())
    if isinstance(node, ast.Attribute):
        return ast.Attribute(node.value, node.attr, ast.Load())
    if isinstance(node, ast.Subscript):
        return ast.Subscript(node.value, node.slice, ast.Load())
    return node
