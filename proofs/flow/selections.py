"""Keys that are selected: the rule by how many people have one, its coins, and what a release logs and costs."""

from __future__ import annotations

from functools import partial
from inspect import unwrap
from types import SimpleNamespace
from typing import Any, Final

from dpaudit.accounting import pricing
from dpaudit.releases import Release
from mechanisms import partition_selection
from mechanisms.partition_selection import PartitionSelection, Rule
from proofs.flow.following import Refusal, Subject, follow
from proofs.flow.keys import Found
from proofs.flow.reading import NAMES, own, require_claim, require_logged
from proofs.flow.releasing import Door, if_same, noting, or_refusal, releases, require, require_same
from proofs.flow.repeating import Cells
from proofs.flow.terms import Term, same, unknown, walk_through

_NUMPY, _VALUES, _PEOPLE, _SOURCE, _COUNT = unknown("np"), unknown("values"), unknown("people"), unknown("source"), unknown("count")
_BALL: Final = partial(unknown, "ball")
_ENDS: Final = (unknown("lower"), unknown("upper"))
_EPSILON, _DELTA, _NUMBER = unknown("epsilon"), unknown("delta"), unknown("number of people")


def _names(asked: list[Any]) -> dict[str, Any]:
    """What the rule reaches; which balls have their ends taken is noted."""
    return {
        "ball": _BALL,
        "ball_endpoints": lambda value: noting(asked, value, _ENDS),
        "working_precision": unknown("working_precision"),
        "sum": lambda _: unknown("digits"),
        **{name: partial(unknown, name) for name in ("floor", "ceil", "min", "max", "abs")},
    }


def rule() -> None:
    """Prove the probability of a key by lemmas `selection.*`: it grows by the least of three bounds, and from `sure` on it is 1."""
    asked: list[Any] = []
    turn, rise = unknown("turn"), _BALL(_EPSILON).expm1()
    names = _names(asked)
    held: Any = Subject(Rule, names, epsilon=_EPSILON, delta=_DELTA, turn=turn)
    first = unknown("min", _NUMBER, turn)
    grown = _BALL(_DELTA) * _BALL(_EPSILON * first).expm1() / rise
    shrunk = 0 - _BALL(_EPSILON * (first - _NUMBER)).expm1()
    seen = []
    for walk, found in walk_through(lambda: held.probability(_NUMBER)):
        tests = (_NUMBER == 1, 2 * _DELTA >= 1)
        for (question, _), wanted in zip(walk.decided, tests, strict=False):
            require(question.op == wanted.op and same(question.parts, wanted.parts), "which numbers are apart")
        answers = [answer for _, answer in walk.decided]
        closed = grown + shrunk * (1 - grown + _BALL(_DELTA) / rise)
        require_same(found, _BALL(_DELTA) if answers[0] else _BALL(1) if answers[1] else closed, "the probability of a key")
        seen.append(answers)
    require(seen == [[True], [False, True], [False, False]], "the cases of the probability")
    _prove_turn(names, asked, rise)
    program = follow(vars(Rule)["sure"].func, names)
    given: Any = SimpleNamespace(epsilon=_EPSILON, delta=_DELTA, turn=turn, probability=partial(unknown, "probability"))
    rest = 1 - unknown("probability", turn)
    require_same(program(given), turn + unknown("max", 1, unknown("ceil", _ENDS[1])), "the number from which a key is sure")
    require_same(asked.pop(), (rest * rise / _BALL(_DELTA)).log1p() / _BALL(_EPSILON), "the steps until a key is sure")
    _prove_border(names, asked)


def _prove_turn(names: dict[str, Any], asked: list[Any], rise: Any) -> None:
    """Prove that the turn is the least whole number above a real one, where a ball is narrow enough to say which that is."""
    held: Any = Subject(Rule, names, epsilon=_EPSILON, delta=_DELTA)
    ends = [unknown("floor", end) + 1 for end in _ENDS]
    seen = 0
    for walk, found in walk_through(lambda: or_refusal(lambda: held.turn)):
        for question, _ in walk.decided:
            require(question.op == "==" and same(question.parts, (ends[0], ends[1])), "whether the turn is known")
        for value in asked:
            ratio = (1 - _DELTA) / _DELTA
            require_same(value, (_BALL(ratio) * rise / (2 + rise)).log1p() / _BALL(_EPSILON), "where the rule turns")
        asked.clear()
        if not isinstance(found, Refusal):
            require(walk.decided[-1][1] and same(found, ends[0]), "a turn that is not known")
            seen += 1
    require(seen > 0, "no turn is found")


def _prove_border(names: dict[str, Any], asked: list[Any]) -> None:
    """Prove that a border is the whole part of a probability in words, where a ball says which that is, cut at all words."""
    bits, given = unknown("bits"), SimpleNamespace(probability=partial(unknown, "probability"))
    program = follow(unwrap(partition_selection.border), names | {"int": lambda number: number})
    ends = [unknown("min", unknown("floor", end * unknown("**", 2, bits)), unknown("**", 2, bits)) for end in _ENDS]
    seen = 0
    for walk, found in walk_through(lambda: or_refusal(lambda: program(given, _NUMBER, bits))):
        for question, _ in walk.decided:
            require(question.op == "==" and same(question.parts, (ends[0], ends[1])), "whether the border is known")
        require(all(same(value, given.probability(_NUMBER)) for value in asked), "the border of another probability")
        asked.clear()
        if not isinstance(found, Refusal):
            require(walk.decided[-1][1] and same(found, ends[0]), "a border that is not known")
            seen += 1
    require(seen > 0, "no border is found")


class Words(Term):
    """An array of words, which is compared with borders."""

    __slots__ = ("less",)

    def __init__(self, op: str, *parts: Any) -> None:
        super().__init__(op, *parts)
        self.less = Cells("selected")

    def __lt__(self, borders: Any) -> Any:
        self.less.erased()
        self.less.parts = (borders,)
        return self.less


def coins() -> None:
    """Prove that a key is selected where its word is below its border, and by further digits where it is the border."""
    bits, step, words, numbers = unknown("bits"), unknown("step"), Words("words"), unknown("numbers")
    different, places = unknown("different"), unknown("places")
    held: Any = SimpleNamespace(sure=unknown("sure"))
    drawn = SimpleNamespace(astype=lambda dtype: if_same(dtype, _NUMPY.int64, "words of another type", words))
    source = SimpleNamespace(uniform=lambda width, size: if_same((width, size), (bits, numbers.size), "the words", drawn))
    most = unknown("min", held.sure, 2**62)
    numpy = SimpleNamespace(minimum=_NUMPY.minimum, array=_NUMPY.array, int64=_NUMPY.int64, flatnonzero=_NUMPY.flatnonzero)
    numpy.unique = lambda given, *, return_inverse: if_same(
        (given, return_inverse), (_NUMPY.minimum(numbers, most), True), "different numbers of people", (different, places)
    )

    def begun(given: Any, *digits: Any) -> Any:
        require(given is source, "digits from elsewhere")
        return SimpleNamespace(less=lambda asked: unknown("below", digits, asked))

    names = {
        "np": numpy,
        "border": lambda given, number, width: if_same(
            (id(given), width), (id(held), bits), "another rule", unknown("border", number)
        ),
        "LazyUniform": SimpleNamespace(begun=begun),
        "_ball_of": lambda given, number: if_same(id(given), id(held), "another rule", unknown("probability", number)),
        "int": lambda number: number,
        "min": partial(unknown, "min"),
    }
    found = follow(partition_selection.select_keys, names)(held, numbers, source, bits=bits, step=step)
    borders = _NUMPY.array([unknown("border", unknown("each", different.tolist()))], dtype=_NUMPY.int64)[places]
    require(found is words.less, "something else than the comparison is given")
    require_same(found.parts[0], borders, "the borders of keys")
    ((position, written),) = found.written
    require(position.op == "each", "other keys are decided by further digits")
    mask = position.parts[0].parts[0].parts[0].parts[1][0]
    require(mask.op == "==" and mask.parts[0] is words and same(mask.parts[1], borders), "which keys are open")
    require(same(position.parts[0].parts[0].parts[0].parts[0], _NUMPY.flatnonzero), "which keys are open")
    digits, asked = written.parts
    require(written.op == "below" and digits[0].parts == (words, position) and digits[1:] == (bits, step), "the digits of a word")
    require(asked.op == "probability" and asked.parts[0].parts == (numbers, position), "the probability of another key")
    require(partition_selection.select_keys.__kwdefaults__ == {"bits": 62, "step": 64}, "the digits that are drawn")
    ball = follow(partition_selection._ball_of, {})(SimpleNamespace(probability=partial(unknown, "p")), _NUMBER)  # noqa: SLF001
    require_same(ball(0), unknown("p", _NUMBER), "the ball of a key")


def selection() -> None:
    """Prove what `PartitionSelection` draws, shows, logs, claims and costs."""
    door, copies, with_, found, chosen = Door(), unknown("count read"), unknown("people with"), Found(), unknown("select_keys")
    names = NAMES | {
        "open_release": door,
        "np": _NUMPY,
        "read_count": lambda _: copies,
        "count_keys": lambda *given: if_same(given, (_VALUES, _PEOPLE, mechanism.contributions), "what is counted", (found, with_)),
        "len": partial(unknown, "len"),
        "dict": lambda *_: unknown("counts that a tape holds"),
        "zip": lambda *_, **__: unknown("pairs"),
        "units": partial(unknown, "units"),
        "Fraction": lambda number: number,
        "Rule": lambda epsilon, delta: SimpleNamespace(epsilon=epsilon, delta=delta),
        "select_keys": chosen,
        "ApproxDP": lambda *, epsilon, delta: ("approximate", (epsilon, delta)),
    }
    mechanism: Any = Subject(PartitionSelection, names, **own("epsilon", "delta", "contributions", "adjacency"))
    moves = unknown("units", mechanism.adjacency) * mechanism.contributions
    record = mechanism._record  # noqa: SLF001 - a proof looks inside
    kind, logged, sensitivity, adjacency, _ = record
    require(kind == "partition_selection" and adjacency is mechanism.adjacency, "another kind of entry")
    require(list(logged) == ["delta", "epsilon"], "other parameters are logged")
    require_same([*logged.values(), sensitivity], [mechanism.delta / moves, mechanism.epsilon / moves, moves], "what is logged")
    wide = unknown("len", found)
    for path in releases(lambda: mechanism.releases(_VALUES, _COUNT, _SOURCE, people=_PEOPLE), door, _SOURCE):
        (draw,) = path.draws
        require_same(path.count, copies, "the number of releases that is logged")
        require_logged(path.record, record)
        rule_, people, bits = draw.parts[1]
        require(draw.parts[0] is chosen and bits is door.bits, "other coins")
        require_same((rule_.epsilon, rule_.delta), (mechanism.epsilon / moves, mechanism.delta / moves), "the rule of a key")
        require_same(people, _NUMPY.tile(with_, copies), "the numbers of people")
        (row,) = (Term("each", one) for one in path.walk.iterated if same(one, draw.reshape(copies, wide)))
        (shown,) = path.output
        require(len(shown) == 1 and shown[0] is found.key, "other keys are shown")
        require_same(found.asked[-1], Term("each", _NUMPY.flatnonzero(row).tolist()), "which keys are shown")
    require_claim(mechanism, "approximate", (mechanism.epsilon, mechanism.delta))
    entry = {"kind": kind, "parameters": (*logged.items(),), "sensitivity": sensitivity, "adjacency": adjacency}
    priced = follow(pricing._partition_selection, {"_approximate": lambda _, *given: given})  # noqa: SLF001
    require_same(priced(Subject(Release, {}, **entry)), (mechanism.epsilon, mechanism.delta), "what a release costs")
    once: Any = Subject(PartitionSelection, names, releases=lambda *given, **named: [(given, named)])
    require_same(once.release(_VALUES, _SOURCE, people=_PEOPLE)[0], (_VALUES, 1, _SOURCE), "one release")
    require(once.release(_VALUES, _SOURCE, people=_PEOPLE)[1] == {"people": _PEOPLE}, "one release of other people")
