"""Real noise added to floats: the law of its cells, the rounding test with its margins, and exact arithmetic where it is open."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from inspect import unwrap
from types import SimpleNamespace
from typing import Any, Final

from mechanisms import float_noise
from mechanisms.sampling import real_noise
from mechanisms.sampling.cells import GaussianCells, LaplaceCells
from mechanisms.sampling.float_format import FLOAT64, MOST_PRECISION, SMALLEST_EXPONENT, FloatFormat
from mechanisms.sampling.real_noise import CHUNK, LARGEST_EXPONENT, SHIPPED_REAL, RealNoise
from proofs.flow.floats import strictly
from proofs.flow.following import Followed, Refusal, Subject, follow
from proofs.flow.loops import cut, require_part, require_separate_rounds
from proofs.flow.releasing import if_same, noting, or_refusal, require, require_same
from proofs.flow.repeating import Cells as Array
from proofs.flow.terms import Term, alike, positive, same, unknown, walk_through

_SOURCE, _NUMPY, _VALUE, _STEP, _HALF = unknown("source"), unknown("np"), unknown("value"), unknown("step"), Fraction(1, 2)
_BALL: Final = partial(unknown, "ball")
_TUNING: Final[Any] = SimpleNamespace(**{name: unknown(name) for name in ("fineness", "prefix", "step", "envelope")})


def cells() -> None:
    """Prove the weights of cells, how they fall, and the share of a cell that lies before a place: lemmas `cells.*` say why."""
    scale, k, place = positive("scale"), unknown("k"), unknown("place")
    laplace = partial(unknown, "laplace_weight")
    rounded = SimpleNamespace(**{name: partial(unknown, name) for name in ("laplace_weight", "rounded_weight")})
    floats = SimpleNamespace(laplace_estimate=partial(unknown, "formula"), rounded_estimate=partial(unknown, "rounded_estimate"))
    arb = partial(unknown, "exactly")
    names: dict[str, Any] = {"weights": rounded, "estimates": floats, "ball": _BALL, "arb": arb, "inf": unknown("infinity")}
    names["replace"] = lambda formula, *, slack: ("replaced", formula, slack)
    names["float_outward"] = lambda number, *, up: unknown("above", number) if up else unknown("beneath", number)
    law: Any = Subject(LaplaceCells, names, scale=scale)
    half = 1 / (2 * scale)
    for walk, weight in walk_through(lambda: law.weight(k)):
        ((question, is_first),) = walk.decided
        require(question.op == "==" and same(question.parts, (k, 0)), "which cell is the first")
        require_same(weight, arb(1) if is_first else laplace(scale, k) * (1 + _BALL(half).exp()) / 2, "the weight of a cell")
    require_same((law.decay(unknown("start")), law.width_squared), (1 / scale, scale**2), "how the weights fall")
    require_same(law.steepness(unknown("reach")), 1 / scale, "how steep the density is")
    shift = unknown("shift")
    for walk, (kind, formula, slack) in walk_through(lambda: law.estimate(shift, unknown("reach"))):
        ((question, is_flat),) = walk.decided
        require(question.op == ">=" and same(question.parts, (2 * scale, 1)), "where the formula is near enough")
        require(kind == "replaced" and same(formula, unknown("formula", scale, shift)), "another formula")
        require_same(slack, unknown("above", half) if is_flat else names["inf"], "the distance of the formula")
    _prove_laplace_below(law, names, k, place)
    _prove_gaussian(names, k, place)


def _prove_laplace_below(law: Any, names: dict[str, Any], k: Any, place: Any) -> None:
    """Prove the share of a Laplace cell before a place, on the right of the middle; on the left it is the mirror image."""
    first, half, seen = _BALL((place + _HALF) / law.scale), _BALL(1 / (2 * law.scale)), set()
    held: Any = SimpleNamespace(scale=law.scale, below=partial(unknown, "below"))
    for walk, found in walk_through(lambda: follow(LaplaceCells.below, names)(held, k, place)):
        wanted = {"is left": k < 0, "is first": k == 0, "is right of the middle": place > 0}
        answers = {name: _answer(walk, question) for name, question in wanted.items()}
        require(len(walk.decided) == sum(answer is not None for answer in answers.values()), "another test")
        if answers["is left"] or (answers["is first"] and answers["is right of the middle"]):
            require_same(found, 1 - unknown("below", -k, -place), "the mirror image")
            seen.add("mirrored")
        elif answers["is first"]:
            require_same(found, (0 - half).exp() * first.expm1() / (-2 * (0 - half).expm1()), "the first cell")
            seen.add("first")
        else:
            require_same(found, (0 - first).expm1() / (-2 * half).expm1(), "another cell")
            seen.add("another")
    require(seen == {"mirrored", "first", "another"}, f"only {seen} are seen")


def _answer(walk: Any, wanted: Any) -> bool | None:
    """The answer of a path to a question, None where it is not asked."""
    answers = [answer for question, answer in walk.decided if question.op == wanted.op and same(question.parts, wanted.parts)]
    return answers[0] if answers else None


def _prove_gaussian(names: dict[str, Any], k: Any, place: Any) -> None:
    """Prove the law of Gaussian cells: that of the rounded Gaussian, and within a cell quotients of error functions."""
    scale = positive("scale")
    law: Any = Subject(GaussianCells, names, scale=scale)
    shift, reach, start = unknown("shift"), unknown("reach"), unknown("start")
    require_same(law.weight(k), unknown("rounded_weight", scale**2, k), "the weight of a cell")
    require_same(law.decay(start), (start - _HALF) / scale**2, "how the weights fall")
    require_same(law.width_squared, scale**2, "the width")
    require_same(law.estimate(shift, reach), unknown("rounded_estimate", scale**2, shift, reach), "the formula")
    require_same(law.steepness(reach), reach / scale**2, "how steep the density is")
    held: Any = SimpleNamespace(scale=scale, below=partial(unknown, "below"))
    settings = {"ctx": unknown("ctx"), "working_precision": unknown("working_precision"), "max": partial(unknown, "max")}
    seen = set()
    for walk, found in walk_through(lambda: follow(GaussianCells.below, names | settings)(held, k, place)):
        ((question, is_left),) = walk.decided
        require(question.op == "<" and same(question.parts, (k, 0)), "which side it is")
        root = _BALL(2 * scale**2).sqrt()
        begin, here, end = ((_BALL(k + distance) / root).erfc() for distance in (-_HALF, place, _HALF))
        require_same(found, 1 - unknown("below", -k, -place) if is_left else (begin - here) / (begin - end), "the share of a cell")
        seen.add(is_left)
    require(seen == {True, False}, f"only {seen} are seen")


def sums() -> None:
    """Prove the rounding test, alone and in arrays: its operations are those of lemmas `cells.above` and `cells.beneath`."""
    noise, form = _noise()
    seen = set()
    digits = unknown("digits")
    source = SimpleNamespace(bits=lambda count: if_same(count, _TUNING.prefix, "the first digits", digits))
    exactly = partial(unknown, "round_exactly")
    names = {"LazyUniform": SimpleNamespace(begun=partial(_begun, source)), "round_exactly": exactly}
    names |= {"abs": partial(unknown, "abs"), "int": lambda number: number, "float": lambda number: number}
    uniform = unknown("begun", digits, _TUNING.prefix, _TUNING.step)
    for walk, found in walk_through(lambda: follow(real_noise.sum_at, names)(noise, _VALUE, _STEP, source)):
        inside, *tested = walk.decided
        require(inside[0].op == "<" and same(inside[0].parts, (unknown("abs", _STEP), noise.table.start)), "which cells are near")
        if inside[1]:
            high, low = _ends(_VALUE, _STEP, digits, noise, partial(unknown, "abs"))
            question = tested[0][0]
            require(question.op == "==", "the rounding test")
            require(strictly(question.parts, (form.sum_one(*high), form.sum_one(*low))), "the ends of the test")
        if inside[1] and tested[0][1]:
            require(strictly(found, form.sum_one(*high)), "the rounded sum")
            seen.add("at once")
        else:
            require_same(found, exactly(noise, _VALUE, _STEP, uniform), "exact arithmetic")
            seen.add("exactly")
    require(seen == {"at once", "exactly"}, f"only {seen} are seen")
    _prove_many(noise, form, names)
    _prove_batches()
    _prove_constants()


def _begun(source: Any, given: Any, *digits: Any) -> Any:
    """In place of `LazyUniform.begun`: a number whose further digits come from the source that its first ones came from."""
    require(given is source, "digits from elsewhere")
    return unknown("begun", *digits)


def _noise() -> tuple[Any, Any]:
    """Noise of which nothing is known, and the format of its sums."""
    form = SimpleNamespace(sum_one=partial(unknown, "sum"), sum_many=partial(unknown, "sum"))
    fields = {name: unknown(name) for name in ("doubt", "unit", "digit", "offset", "exponent")}
    return SimpleNamespace(
        tuning=_TUNING, table=SimpleNamespace(start=unknown("start")), form=form, cells=unknown("cells"), **fields
    ), form


def _ends(value: Any, step: Any, digits: Any, noise: Any, size: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The two sums of the rounding test: Knuth's sum with what it leaves over, and the margin on either side."""
    large = step * noise.unit
    total = value + large
    back = total - value
    rest = ((value - (total - back)) + (large - back)) + (digits * noise.digit + noise.offset)
    margin = size(rest) * 2.0**-51 + noise.doubt
    return (total, rest + margin), (total, rest - margin)


def _prove_many(noise: Any, form: Any, names: dict[str, Any]) -> None:
    """Prove the rounding test of an array, and that exactly the entries that it leaves open are decided by exact arithmetic."""
    values, steps, words = unknown("values"), unknown("steps"), unknown("words")
    result: Any = Array("result")
    other = unknown("other end")
    asked: list[Any] = []
    form.sum_many = lambda *given: noting(asked, given, other if asked else result)
    source = SimpleNamespace(uniform=lambda bits, count: if_same((bits, count), (_TUNING.prefix, unknown("len", steps)), "", words))
    names = {**names, "np": _NUMPY, "len": partial(unknown, "len"), "_two_sum": Followed(real_noise._two_sum)}  # noqa: SLF001
    names["LazyUniform"] = SimpleNamespace(begun=partial(_begun, source))
    for walk, found in walk_through(lambda: _fresh(asked, result, names, noise, (values, steps), source)):
        high, low = _ends(values, steps.astype(_NUMPY.float64), words, noise, _NUMPY.abs)
        require(strictly(asked, (high, low)), "the ends of the test")
        far = any(answer for question, answer in walk.decided if question.op in (">=", "<="))
        _require_far(walk, steps, noise.table.start)
        open_ = result != other
        if far:
            open_ = open_ | (_NUMPY.abs(steps) >= noise.table.start)
        position = unknown("each", _NUMPY.flatnonzero(open_).tolist())
        uniform = unknown("begun", words[position], _TUNING.prefix, _TUNING.step)
        wanted = unknown("round_exactly", noise, values[position], steps[position], uniform)
        ((place, written),) = result.written
        require(alike(place, position) and found is result, "other entries are decided")
        require(alike(written, wanted), "exact arithmetic")


def _fresh(asked: list[Any], result: Any, names: dict[str, Any], noise: Any, given: tuple[Any, Any], source: Any) -> Any:
    """Follow an array of sums, with nothing asked or written before."""
    asked.clear()
    result.erased()
    return follow(real_noise.sums_at, names)(noise, *given, source)


def _require_far(walk: Any, steps: Any, start: Any) -> None:
    """Prove that cells beyond the blocks are looked for wherever there are any."""
    asked = [(question, answer) for question, answer in walk.decided]
    require_same(asked[0][0], unknown("len", steps), "whether there are any")
    wanted = [steps.max() >= start, steps.min() <= 0 - start]
    for (question, answer), test in zip(asked[1:], wanted, strict=False):
        require(question.op == test.op and same(question.parts, test.parts), "what lies beyond")
        if answer:
            break
    require(not asked[0][1] or len(asked) == 3 or asked[1][1], "one side is left out")


def _prove_batches() -> None:
    """Prove that every value gets a cell of its own from the table, in batches that follow each other, or alone."""
    require_separate_rounds(real_noise.noisy_sums)
    noise, values, result = SimpleNamespace(table=unknown("table")), unknown("values"), Array("result")
    drawn, made = partial(unknown, "draw"), partial(unknown, "sums_at")
    numpy = SimpleNamespace(empty=lambda *given, **named: (given, named) and result.erased(), float64=_NUMPY.float64)
    names = {"np": numpy, "len": partial(unknown, "len"), "range": partial(unknown, "range"), "draw": drawn, "sums_at": made}
    found = follow(real_noise.noisy_sums, names)(noise, values, _SOURCE)
    require(found is result, "another array is given")
    ((place, written),) = result.written
    start = unknown("each", unknown("range", 0, unknown("len", values), CHUNK))
    require_same((place.start, place.stop, place.step), (start, start + CHUNK, None), "a batch")
    given, piece, steps, source = written.parts
    require(given is noise and source is _SOURCE, "other noise")
    require_part(piece, values, unknown("len", values), CHUNK)
    require(alike(steps, drawn(noise.table, _SOURCE, unknown("len", piece))), "cells of the table")
    one = {"sum_at": partial(unknown, "sum_at"), "draw_one": partial(unknown, "draw_one")}
    alone = follow(real_noise.noisy_sum, one)(noise, _VALUE, _SOURCE)
    require(alike(alone, unknown("sum_at", noise, _VALUE, unknown("draw_one", noise.table, _SOURCE), _SOURCE)), "a single sum")


def _prove_constants() -> None:
    """Prove the floats of the test: powers of two and sums of few digits, which are exact, and a margin that is rounded up."""
    law, table, form, exponent = unknown("cells"), unknown("table"), unknown("form"), unknown("exponent")
    numbers = {"float": partial(unknown, "float"), "min": partial(unknown, "min"), "Fraction": _fraction}
    numbers["float_outward"] = lambda number, *, up: unknown("above", number) if up else unknown("beneath", number)
    held: Any = Subject(RealNoise, numbers, cells=law, table=table, form=form, exponent=exponent, tuning=_TUNING)
    require_same(held.unit, unknown("float", _power(exponent)), "the width of a cell")
    require_same(held.digit, unknown("float", _power(exponent - _TUNING.prefix)), "the width of a part")
    require_same(held.offset, held.digit / 2 - held.unit / 2, "the middle of the first part")
    bend = unknown("min", law.steepness(table.start + 1), _fraction(1))
    half = _fraction(1, 2 << _TUNING.prefix)
    require_same(held.doubt, unknown("above", (half + bend) * (1 + _fraction(1, 2**50)) * _power(exponent)), "the margin")
    scale, logarithm, family = unknown("scale"), partial(unknown, "floor_log2"), partial(unknown, "family")
    built = partial(unknown, "envelope_table")
    names = {"Fraction": _fraction, "floor_log2": logarithm, "envelope_table": built, "RealNoise": lambda *parts: parts}
    program = follow(unwrap(real_noise.real_noise), names)
    for walk, found in walk_through(lambda: or_refusal(lambda: program(family, scale, _TUNING, form))):
        if isinstance(found, Refusal):
            continue
        width = logarithm(scale) + 1 - _TUNING.fineness
        wanted = family(scale / _power(width))
        require_same(found[0], wanted, "the law in cells")
        require_same(found[1:3], (built(wanted, _TUNING.envelope), width), "the table of cells")
        require(found[3] is form and found[4] is _TUNING, "another format, or other sizes")
        asked = [(question, answer) for question, answer in walk.decided]
        require(asked[-1][0].op == ">" and not asked[-1][1], "cells whose places are no floats")
        require_same(asked[-1][0].parts, (found[1].start, 2**53), "cells whose places are no floats")
    require(unwrap(real_noise.real_noise).__defaults__ == (SHIPPED_REAL, FLOAT64), "other sizes, or another format, by default")
    sizes = SHIPPED_REAL
    least = -LARGEST_EXPONENT + 1 - sizes.fineness - sizes.prefix - 1
    require(least >= -979 and sizes.prefix <= 51, "the margin may be too small for its digits")
    require(LARGEST_EXPONENT + 1 - sizes.fineness + 62 < 969, "noise may take a float beyond the largest")


def _fraction(first: Any, second: Any = None) -> Any:
    """In place of `Fraction`: a number that is not known is its own fraction, a whole one stays apart from floats."""
    if second is None:
        return first if isinstance(first, Term) else unknown("exactly", first)
    return first / second if isinstance(second, Term) else Fraction(first, second)


def _power(exponent: Any) -> Any:
    """The record of a power of two."""
    return unknown("**", _fraction(2), exponent)


def exactly() -> None:
    """Prove that a search by comparisons of one number ends at the float nearest to the sum, by the ranks of floats."""
    noise, _ = _noise()
    low, high = unknown("low"), unknown("high")
    ranked = partial(unknown, "rank")
    noise.form = SimpleNamespace(rank=ranked, middle=partial(unknown, "middle"), number=partial(unknown, "number"))
    uniform = SimpleNamespace(less=lambda asked: unknown("under", asked(unknown("precision"))))
    below = partial(unknown, "below")
    names: dict[str, Any] = {
        "Fraction": _fraction,
        "partial": partial,
        "_below": lambda cells_, step, place, _: below(cells_, step, place),
    }
    names["float"] = partial(unknown, "float")
    program = cut(real_noise.round_exactly, names, lambda: {"low": low, "high": high})
    seen = set[Any]()
    unit = _power(noise.exponent)
    for walk, path in walk_through(lambda: program(noise, _VALUE, _STEP, uniform)):
        ((place, begun, _),) = path.entered
        first, last = (ranked(_VALUE + unit * (_STEP + end)) for end in (-_HALF, _HALF))
        require(place == 0, "another loop")
        require_same((begun.low, begun.high), (first, last), "the floats that a cell can give")
        require(walk.decided[0][0].op == "<" and same(walk.decided[0][0].parts, (low, high)), "when the search ends")
        if not walk.decided[0][1]:
            require_same(path.result, unknown("float", unknown("number", low)), "the float that is given")
            seen.add("found")
            continue
        middle = (low + high) // 2
        asked = unknown("under", below(noise.cells, _STEP, (unknown("middle", middle) - _VALUE) / unit - _STEP))
        require(alike(walk.decided[1][0], asked), "what is asked of the number")
        wanted = (low, middle) if walk.decided[1][1] else (middle + 1, high)
        require_same((path.ended[1].low, path.ended[1].high), wanted, "the floats that are left")
        seen.add(walk.decided[1][1])
    require(seen == {"found", True, False}, f"only {seen} are seen")
    law = unknown("law")
    found = follow(real_noise._below, {})(law, _STEP, _VALUE, 0)  # noqa: SLF001 - a proof looks inside
    require_same(found, law.below(_STEP, _VALUE), "the share of the cell")


def formats() -> None:
    """Prove the ranks of floats: digits and octave, the number of a rank, and the border between two."""
    precision, least, value, rank = unknown("precision"), unknown("smallest_exponent"), unknown("value"), unknown("rank")
    names: dict[str, Any] = {
        "abs": partial(unknown, "abs"),
        "floor_log2": partial(unknown, "floor_log2"),
        "max": partial(unknown, "max"),
    }
    names |= {"round": partial(unknown, "round"), "Fraction": _fraction, "float": partial(unknown, "float")}
    form: Any = Subject(FloatFormat, names, precision=precision, smallest_exponent=least)
    size = unknown("abs", value)
    for walk, found in walk_through(lambda: form.rank(value)):
        (_, is_not_zero), *rest = walk.decided
        exponent = unknown("max", unknown("floor_log2", size) - precision + 1, least) if is_not_zero else least
        steps = unknown("round", size / _power(exponent)) + ((exponent - least) << (precision - 1))
        ((question, is_above),) = rest
        require(question.op == ">" and same(question.parts, (value, 0)), "the sign of a rank")
        require_same(found, steps if is_above else 0 - steps, "a rank")
    half = 1 << (precision - 1)
    for walk, found in walk_through(lambda: form.number(rank)):
        octave = unknown("max", unknown("abs", rank) // half - 1, 0)
        wanted = (unknown("abs", rank) - octave * half) * _power(least + octave)
        ((question, is_above),) = walk.decided
        require(question.op == ">=" and same(question.parts, (rank, 0)), "the sign of a number")
        require_same(found, wanted if is_above else 0 - wanted, "the number of a rank")
    held: Any = SimpleNamespace(number=partial(unknown, "number"))
    require_same(follow(FloatFormat.middle, {})(held, rank), (held.number(rank) + held.number(rank + 1)) / 2, "a border")
    require((FLOAT64.precision, FLOAT64.smallest_exponent) == (MOST_PRECISION, SMALLEST_EXPONENT), "the format of floats")
    first, second = unknown("first"), unknown("second")
    double: Any = Subject(FloatFormat, names, precision=MOST_PRECISION, smallest_exponent=SMALLEST_EXPONENT)
    for add in (double.sum_one, double.sum_many):
        require(strictly(add(first, second), first + second), "a sum of floats")
    require((MOST_PRECISION, SMALLEST_EXPONENT) == (53, -1074), "float64")


def reading() -> None:
    """Prove that what gets noise is the number that was given, which a float holds exactly, or the array of floats."""
    read, exact, floated = unknown("given"), partial(unknown, "rational"), partial(unknown, "float")
    names: dict[str, Any] = {"isinstance": partial(unknown, "isinstance"), "math": unknown("math"), "float": floated}
    names |= {"rational": lambda value, _: exact(value), "kind_of": lambda _: "kind", "_no_float": Refusal, "np": _NUMPY}
    seen = set()
    for walk, found in walk_through(lambda: or_refusal(lambda: follow(float_noise._number, names)(read))):  # noqa: SLF001
        if isinstance(found, Refusal):
            continue
        if same(found, floated(read)):
            asked = [question for question, answer in walk.decided if answer]
            is_finite = unknown("call", names["math"].isfinite, (read,), ())
            require(
                any(question.op == "isinstance" for question in asked) and any(same(one, is_finite) for one in asked), "a float"
            )
            seen.add("float")
            continue
        require_same(found, floated(exact(read)), "a number")
        question, differs = walk.decided[-1]
        require(question.op == "!=" and not differs and same(question.parts, (found, exact(read))), "a number that no float holds")
        seen.add("number")
    require(seen == {"float", "number"}, f"only {seen} are read")
    names["name_contents"] = lambda _: "numbers"
    arrays = [follow(float_noise._numbers, names)]  # noqa: SLF001 - a proof looks inside
    for walk, found in walk_through(lambda: or_refusal(lambda: arrays[0](read))):
        if not isinstance(found, Refusal):
            require(found is read, "another array")
            kind = walk.decided[0]
            require(kind[0].op == "!=" and not kind[1] and same(kind[0].parts, (read.dtype, _NUMPY.float64)), "an array of others")
    held: Any = Subject(float_noise.FloatNoise, {"real_noise": partial(unknown, "noise")}, family=unknown("family"), scale=_STEP)
    require_same(held._law, unknown("noise", held.family, _STEP), "the noise of the law")  # noqa: SLF001 - a proof looks inside
