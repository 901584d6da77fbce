"""Checks of the verifier: what must not follow does not, forged certificates are rejected, probabilities are those of the laws."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from flint import arb, fmpq

from dpaudit import clauses
from dpaudit.auditor.verdict.proof_lookup import ProofFinding
from dpaudit.auditor.verdict.proof_status import Call, asks_of_data, find_uncovered
from dpaudit.errors import Unsupported
from dpaudit.exact import Enclosure, working_precision
from dpaudit.spec import All, Change, Spec
from dpaudit.verifier.alignment.search import user_alignment
from dpaudit.verifier.certify import certificate
from dpaudit.verifier.evaluation import value_of
from dpaudit.verifier.frontend import expression, parse
from dpaudit.verifier.frontend.clauses import state_clause
from dpaudit.verifier.fuel import clock
from dpaudit.verifier.ir import Check
from dpaudit.verifier.kernel import KernelRejects, check
from dpaudit.verifier.product.adjacency import directions
from dpaudit.verifier.product.costs import SPENT, Meter
from dpaudit.verifier.product.ledger import tail
from dpaudit.verifier.product.walk import draws, statements
from dpaudit.verifier.product.witness import Empty, Witnesses, first_unreachable_output, witnesses
from dpaudit.verifier.proving import Failed, obligations, prove
from dpaudit.verifier.refuter.events import BITS, Box, Event, probability
from dpaudit.verifier.refuter.neighbours import InputPair, is_admissible
from dpaudit.verifier.refuter.paths import Undecided
from dpaudit.verifier.refuter.pieces import Function, Piece, _key
from dpaudit.verifier.refuter.reproducing import is_reproduced
from dpaudit.verifier.refuter.witness import log_ratio, measure_event, measure_space, runs_needed
from dpaudit.verifier.solving import Answer, satisfiable
from dpaudit.verifier.solving.back_ends import read_answer
from dpaudit.verifier.solving.models import Model
from dpaudit.verifier.terms import (
    ONE,
    TRUE,
    ZERO,
    Sort,
    add,
    apply,
    conjunction,
    constant,
    divide,
    equal,
    implies,
    less,
    less_equal,
    multiply,
    negation,
    quotient,
    remainder,
    substitute,
    variable,
)

X, Y = (variable(name, Sort.REAL) for name in "xy")
N, M = (variable(name, Sort.INT) for name in "nm")
HEAD = "def f(q: list[Fraction], eps: Fraction):\n    "
TWO = "x = laplace(1 / eps)\n    y = laplace(1 / eps)\n    "


def program(body, head=HEAD, *, claim="eps", adjacency="one", requires=("eps > 0", "len(q) >= 3"), helpers=None, **rest):
    return parse(head + body, Spec(claim=claim, adjacency=adjacency, requires=requires, **rest), helpers=helpers)


def doubts(body, *, pointwise=False, **promise):
    """The kinds of obligations that do not follow with the alignment that is given."""
    read, found = program(body, **promise), set()
    for pairs in directions(read):
        alignment = user_alignment(read, pairs, pointwise=pointwise)
        for one in obligations(read, pairs, alignment, {}, pointwise=pointwise):
            if one.formula is not TRUE and satisfiable([negation(one.formula)]).answer is not Answer.UNSAT:
                found.add(one.kind)
    return found


def owed(body, head, **values):
    """Whether what an expression needs holds at some values of the names."""
    checks = [one.condition for one in statements(program(body, head).body) if isinstance(one, Check)]
    return [bool(value_of(condition, values)) for condition in checks]


def is_refused(body, head=HEAD, **promise):
    try:
        program(body, head, **promise)
    except Unsupported:
        return True
    return False


def what_an_expression_needs_is_owed_just_where_python_evaluates_it():
    head = "def f(q: list[Fraction], eps: Fraction, x: Fraction, n: int):\n    return "
    given = {"q": [Fraction(0)] * 2, "eps": Fraction(1)}
    assert [True] == owed("1 / x if x > 1 else x", head, x=Fraction(0), n=0, **given)
    assert [False] == owed("1 / x if x < 1 else x", head, x=Fraction(0), n=0, **given)
    for place, holds in ((-1, False), (0, True), (1, True), (2, False)):
        assert [holds] == owed("q[n]", head, x=Fraction(0), n=place, **given)
    for divisor, holds in ((-1, False), (0, False), (1, True)):
        assert [holds] == owed("Fraction(7 % n)", head, x=Fraction(0), n=divisor, **given)[:1]


def what_python_would_not_do_exactly_is_refused():
    whole = "def f(q: list[Fraction], eps: Fraction, n: int):\n    "
    assert is_refused("return q[0] + laplace(1 / n)", whole)
    assert is_refused("return q[0] + (q[1] > 0)")
    assert is_refused("return q[0] * 0.5")
    ends = "if q[0] > 0:\n            c = q[1]\n            break\n        if q[1] > 0:\n            break"
    assert is_refused(f"while True:\n        {ends}\n    return c")


def arguments_are_those_of_the_law_and_clauses_lean_on_those_before():
    read = program(
        "return randomized_response(probability=odds / (1 + odds), bit=q[0] > 0)",
        "def f(q: list[Fraction], odds: Fraction):\n    ",
        claim="log(odds)",
        requires=("odds >= 1", "1 / odds <= 1"),
    )
    (draw,) = draws(read.body)
    assert [Sort.BOOL, Sort.REAL] == [one.sort for one in draw.args]
    owed_by_itself = [one for _, one in read.contract.obligations]
    assert all(satisfiable([negation(one)]).answer is Answer.UNSAT for one in owed_by_itself)


def nothing_follows_from_what_is_not_defined():
    for formula in (
        negation(equal(multiply(Y, divide(X, Y)), X)),
        less(remainder(N, M), ZERO),
        less_equal(M, remainder(N, M)),
        negation(equal(quotient(N, M), remainder(N, M))),
        conjunction(equal(M, ZERO), equal(N, ONE), equal(divide(add(X, N), add(Y, M)), X)),
    ):
        assert satisfiable([formula]).answer is Answer.SAT
    for formula in (less_equal(ONE, M), less(ZERO, remainder(N, constant(3)))):
        assert satisfiable([formula, less(remainder(N, M), ZERO)]).answer is (Answer.UNSAT if M in formula.args else Answer.SAT)


def numbers_are_printed_as_they_are():
    for number in (Fraction(-3, 7), Fraction(5), Fraction(2, 9)):
        model = satisfiable([equal(X, constant(number))]).model
        assert model is not None
        assert number == model.value(X)
        assert satisfiable([equal(multiply(constant(number), X), constant(number)), negation(equal(X, ONE))]).answer is Answer.UNSAT
    assert satisfiable([equal(add(X, N), constant(Fraction(1, 2))), equal(X, ZERO)]).answer is Answer.UNSAT


def what_is_no_answer_proves_nothing():
    assert Answer.UNKNOWN is read_answer("timeout")
    assert Answer.UNKNOWN is satisfiable([less(N, M), "no term"]).answer


def forged_certificates_are_rejected(forgeries):
    for forgery in forgeries.FORGERIES.values():
        parts = [*range(len(forgery.formulas))]
        forged = {"keep": parts, "atoms": [], "lemmas": forgery.lemmas, "tree": [*forgery.tree]}
        try:
            check(negation(conjunction(*forgery.formulas)), forged)
        except KernelRejects:
            continue
        raise AssertionError("a forged certificate is accepted")


def certificates_are_found_and_accepted():
    squares = less_equal(multiply(constant(2), X, Y), add(multiply(X, X), multiply(Y, Y)))
    known = implies(conjunction(less_equal(ONE, X), less_equal(ONE, Y)), less_equal(ONE, multiply(X, Y)))
    parts = implies(conjunction(less(ZERO, X), less(X, ONE)), negation(equal(X, multiply(constant(2), X))))
    whole = implies(conjunction(less(ZERO, N), less(N, constant(2))), equal(N, ONE))
    for obligation in (squares, known, parts, whole):
        found = certificate(obligation, seconds=5.0)
        assert found is not None
        check(obligation, found)


def noise_moves_in_ways_that_keep_its_law():
    assert {"support"} == doubts("return q[0] + exponential(1 / eps)", align={"exponential.1": "q[0] - other.q[0]"})
    assert set() == doubts("return q[0] + laplace(1 / eps)", align={"laplace.1": "q[0] - other.q[0]"})
    falling = {"adjacency": "dec", "align": {"exponential.1": "q[0] - other.q[0]"}}
    assert {"support"} == doubts("return q[0] + exponential(1 / eps)", **falling)
    assert {"support"} == doubts(
        "return exponential(1 / eps) - q[0]", adjacency="all", align={"exponential.1": "other.q[0] - q[0]"}
    )
    lattice = "x = discrete_laplace(1 / eps, 2)\n    return 0"
    assert {"lattice"} == doubts(lattice, align={"x": "1"})
    assert {"lattice"} == doubts("x = discrete_laplace(1 / eps)\n    return 0", align={"x": "Fraction(1, 2)"})
    assert set() == doubts("x = discrete_laplace(2 / eps, 2)\n    return 0", align={"x": "2"})


def shifts_are_injective_steps_of_earlier_noise():
    assert {"injective"} == doubts(TWO + "return 0", align={"x": "-1 if x > 0 else 0"})
    assert {"triangular"} == doubts(TWO + "return 0", align={"x": "1 if y > 0 else 0"})
    assert set() == doubts(TWO + "return 0", align={"y": "1 if x > 0 else 0"})
    assert {"piecewise", "cost"} == doubts(TWO + "return 0", align={"x": "x"})
    own = {"claim": "1", "cost": "zcdp", "align": {"x": "1 if x > 0 else 0"}}
    assert {"piecewise"} == doubts("x = gaussian(1 / Fraction(1))\n    return 0", **own)


def parameters_of_laws_are_valid_and_equal_in_both_runs():
    assert {"sync"} == doubts("return laplace((1 + abs(q[0])) / eps)")
    assert {"valid"} == doubts("x = laplace(1 - eps)\n    return 0")
    assert {"valid"} == doubts("x = laplace(0 / eps)\n    return 0")
    assert {"divisor"} == doubts("x = laplace(1 / (eps - eps))\n    return 0")
    chosen = "return exponential_choice([Fraction(0), Fraction(4)], {}, 1)"
    assert {"sync", "valid"} == doubts(chosen.format("1 + q[0]"))
    assert {"valid"} <= doubts(chosen.format("-eps"))
    assert set() == doubts(chosen.format("eps"))


def costs_are_those_of_the_laws_and_add_up():
    assert set() == doubts("return exponential_choice([q[0], q[1], q[2]], eps, 1)", adjacency="all")
    for scores in ("[q[0], q[1], q[2]]", "q"):
        assert {"cost"} == doubts(f"return exponential_choice({scores}, 2 * eps, 1)", adjacency="all")
    moved = {"align": {"laplace.1": "q[0] - other.q[0]", "laplace.2": "q[0] - other.q[0]"}}
    twice = "x = q[0] + laplace(1 / eps)\n    return x, q[0] + laplace(1 / eps)"
    assert {"cost"} == doubts(twice, **moved)
    assert set() == doubts(twice, claim="2 * eps", **moved)
    local = "c = 1 / eps\n    " + twice.replace("1 / eps", "c")
    assert {"cost"} == doubts(local, **moved)
    assert set() == doubts(local, claim="2 * eps", **moved)
    answer = "randomized_response(q[0] > 0, odds / (1 + odds))"
    head = "def f(q: list[Fraction], odds: Fraction):\n    "
    asked = {"head": head, "claim": "log(odds)", "requires": ("odds >= 1", "len(q) >= 1")}
    assert set() == doubts(f"return {answer}", **asked)
    assert {"cost"} == doubts(f"x = {answer}\n    return x, {answer}", **asked)
    assert {"cost"} == doubts("x = gaussian(1 / Fraction(1))\n    return 0", claim="Fraction(1, 3)", cost="zcdp", align={"x": "1"})


def a_rate_that_may_change_has_no_counter_of_its_own():
    loop = "out = []\n    for i in range(len(q)):\n        out.append(q[i] + laplace((i + 1) / eps))\n    return out"
    for body, own in ((loop, False), (loop.replace("(i + 1)", "1"), True)):
        read = program(body)
        (pairs,) = directions(read)
        (draw,) = draws(read.body)
        assert own is (Meter(read, pairs).name(draw) != SPENT)


def failures_add_up_to_no_more_than_delta():
    both = {"x.within": "5", "y.within": "5"}
    assert {"ledger"} == doubts(TWO + "return 0", claim=("eps", "0.0068"), align=both)
    assert set() == doubts(TWO + "return 0", claim=("eps", "0.0136"), align=both)
    read = program("return q[0] + laplace(1 / eps)")
    (draw,) = draws(read.body)
    assert math.exp(-5) <= tail(draw.law, Fraction(5)) <= math.exp(-5) * (1 + 1e-9)


def both_runs_take_the_same_way():
    assert "trip" in doubts("c = 0\n    while q[0] > c:\n        c = c + 1\n    return 0")
    assert {"sync", "out"} & doubts("if q[0] > 0:\n        return laplace(1 / eps)\n    return laplace(1 / eps)")
    assert doubts("return 1 if q[0] > 0 else 0", claim="0")


def helpers_are_called_with_neighbours():
    inner = HEAD.replace(" f(", " h(") + "return q[0] + laplace(1 / eps)"

    def called(adjacency, of_helper, epsilon="eps"):
        promised = Spec(claim="eps", adjacency=of_helper, requires=["eps > 0", "len(q) >= 3"])
        return doubts(f"return h(q, {epsilon})", adjacency=adjacency, helpers={"h": (inner, promised)})

    assert set() == called("one", "all")
    assert {"contract"} == called("all", "one")
    assert {"contract"} == called(All(2), "all")
    assert "contract" in called("one", "all", "eps + abs(q[0])")


def holds(found, value):
    """Whether an enclosure is about this number."""
    return found.lower * Fraction(1 - 1e-9) <= value <= found.upper * Fraction(1 + 1e-9)


def chance(body, event, first=0, **promise):
    inputs = {"q": (Fraction(first), Fraction(0), Fraction(0)), "eps": Fraction(1)}
    return probability(program(body, **promise), inputs, event)


def probabilities_of_continuous_noise_are_exact():
    third = Box(Fraction(1), Fraction(3, 2))
    assert holds(chance("return q[0] + laplace(1 / eps)", Event((third,))), (math.exp(-1) - math.exp(-1.5)) / 2)
    assert holds(chance("return q[0] + exponential(1 / eps)", Event((third,))), math.exp(-1) - math.exp(-1.5))
    around = Box(Fraction(-1, 2), Fraction(1, 2))
    assert holds(chance("return q[0] + exponential(1 / eps)", Event((around,))), 1 - math.exp(-0.5))
    assert holds(chance(TWO + "return x > y + 1", Event((True,))), 0.75 * math.exp(-1))
    assert holds(chance(TWO + "return x > y and x < 1", Event((True,))), (1 - math.exp(-1) / 2) ** 2 / 2)
    with working_precision(BITS):
        curved = Piece(fmpq(0), None, {_key(2, fmpq(-1)): arb(1)})
        assert 2 in Function(whole=False, pieces=(curved,)).total()
    assert holds(chance(TWO + "return x > y + 1 and x < y + 2", Event((True,))), 0.75 * math.exp(-1) - math.exp(-2))
    assert holds(chance("x = laplace(1 / eps)\n    return x == 0", Event((True,))), 0.0)
    sized = "x = laplace(1 / eps)\n    return x * (-2) < q[0]"
    assert holds(chance(sized, Event((True,)), first=2), 1 - math.exp(-1) / 2)


def probabilities_of_lattice_noise_are_exact():
    rate, most = math.exp(-1), 60
    one = {k: (1 - rate) / (1 + rate) * rate ** abs(k) for k in range(-most, most + 1)}
    x, y = "x = discrete_laplace(1 / eps)\n    ", "y = discrete_laplace(1 / eps)\n    "
    assert holds(chance(x + "return x", Event((2,))), one[2])
    assert holds(chance(x + "return x * 2 > 3", Event((True,))), sum(one[k] for k in one if 2 * k > 3))
    assert holds(chance(x + "return x * 2 >= 4", Event((True,))), sum(one[k] for k in one if 2 * k >= 4))
    assert holds(chance(x + "return x == 0", Event((True,))), one[0])
    less_than = sum(one[k] * one[j] for k in one for j in one if k < j + 1)
    assert holds(chance(x + y + "return x < y + 1", Event((True,))), less_than)
    together = sum(one[k] * one[j] for k in one for j in one if k + j < 1)
    assert holds(chance(x + y + "return x + y < 1", Event((True,))), together)
    crossing = sum(one[k] * one[j] for k in one for j in one if j < k < 2 - j)
    assert holds(chance(x + y + "return y < x and x + y < 2", Event((True,))), crossing)
    meeting = sum(one[k] * one[k] for k in one)
    assert holds(chance(x + y + "return x == y", Event((True,))), meeting)
    geometric = "return geometric(1 / eps)"
    assert holds(chance(geometric, Event((2,))), (1 - rate) * rate**2)
    wide = "return discrete_laplace(2 / eps, 2)"
    assert holds(chance(wide, Event((4,))), one[2])
    assert holds(chance(wide, Event((3,))), 0.0)


def outputs_of_other_types_are_other_outputs():
    flag = "if q[0] > 0:\n        return True\n    return False"
    assert chance(flag, Event((True,)), first=1).lower == 1
    assert chance(flag, Event((1,)), first=1).upper == 0
    number = "if q[0] > 0:\n        return 1\n    return 0"
    assert chance(number, Event((Box(Fraction(0), Fraction(2)),)), first=1).upper == 0
    assert chance(number, Event((1,)), first=1).lower == 1


def pairs_are_neighbours_as_the_specification_has_it():
    def pair(*moves):
        first = {"q": (Fraction(0),) * 3, "eps": Fraction(1)}
        return InputPair(first, {**first, "q": tuple(map(Fraction, moves))})

    body = "return q[0] + laplace(1 / eps)"
    allowed = {
        "one": {(1, 0, 0), (-1, 0, 0)},
        "all": {(1, 0, 0), (-1, 0, 0), (1, 1, 1), (1, -1, 0)},
        "inc": {(1, 0, 0), (1, 1, 1)},
        "dec": {(-1, 0, 0)},
        "l1": {(1, 0, 0), (-1, 0, 0)},
        "l2": {(1, 0, 0), (-1, 0, 0)},
    }
    for relation, right in allowed.items():
        read = program(body, adjacency=Change(relation, 1))
        for moves in ((1, 0, 0), (-1, 0, 0), (1, 1, 1), (1, -1, 0), (2, 0, 0)):
            assert (moves in right) is is_admissible(read, pair(*moves)), (relation, moves)
    read = program(body)
    near = pair(1, 0, 0)
    assert not is_admissible(read, InputPair(near.first, {**near.second, "q": (1, Fraction(0), Fraction(0))}))
    assert not is_admissible(read, InputPair(near.first, {**near.second, "eps": Fraction(2)}))
    bare = {"eps": Fraction(-1)}
    assert not is_admissible(read, InputPair({**near.first, **bare}, {**near.second, **bare}))


def exactly(number):
    """An enclosure of one number."""
    return Enclosure(Fraction(number), Fraction(number))


def counterexamples_break_the_whole_promise():
    first = {"q": (Fraction(0),) * 3, "eps": Fraction(1)}
    pair = InputPair(first, {**first, "q": (Fraction(1), Fraction(0), Fraction(0))})
    low = Event((Box(Fraction(-1), Fraction(0)),))
    body = "return q[0] + laplace(1 / eps)"
    assert measure_event(program(body), pair, low).witness is None
    assert measure_event(program(body, claim="eps / 2"), pair, low).witness is not None
    for delta, seen in (("0.2", False), ("0.1", True)):
        assert seen is (measure_event(program(body, claim=("eps / 2", delta)), pair, low).witness is not None)
    with working_precision(BITS):
        ratio = log_ratio(exactly("0.5"), exactly("0.125"), Fraction(1, 4))
    assert math.isclose(math.log(2), ratio)
    assert 400 <= runs_needed(exactly("0.02"), exactly("0.001"), math.e) <= 4000
    answer = program("return randomized_response(q[0] > 0, Fraction(3, 4))", claim="log(3)", requires=())
    assert measure_event(answer, pair, Event((False,))).witness is None


def outputs_on_the_same_line_are_no_counterexample():
    first = {"q": (Fraction(0),) * 3, "eps": Fraction(1)}
    pair = InputPair(first, {**first, "q": (Fraction(1), Fraction(0), Fraction(0))})
    shared = "x = laplace(1 / eps)\n    return {} + x, {} + x"
    assert measure_space(program(shared.format("q[1]", "q[2]")), pair) is None
    assert measure_space(program(shared.format("q[0]", "q[1]")), pair) is not None
    lattice = shared.replace("laplace(1 / eps)", "discrete_laplace(1 / eps)")
    try:
        assert measure_space(program(lattice.format("q[0]", "q[1]")), pair) is None
    except Undecided:
        return
    raise AssertionError("lattice noise is judged by spaces")


def counterexamples_are_run_by_python():
    promise = Spec(claim="eps", adjacency="one", requires=("eps > 0", "len(q) >= 1"))
    read = parse(HEAD + "return q[0] + laplace(1 / (2 * eps))", promise)
    inputs = ({"q": (Fraction(0),), "eps": Fraction(1)}, {"q": (Fraction(1),), "eps": Fraction(1)})
    found = measure_event(read, InputPair(*inputs), Event((Box(Fraction(-1), Fraction(0)),))).witness
    assert is_reproduced(read, found)
    assert not is_reproduced(read, replace(found, event=Event((Box(Fraction(1), Fraction(1)),))))
    others = ["q[0]", "1 + q[0] + laplace(1 / (2 * eps))", "q[0] + laplace(1 / (3 * eps))", "q[0] + exponential(1 / (2 * eps))"]
    for done in (*others, "q[0] + laplace(1 / (2 * eps)) + laplace(1)", "0 * laplace(1 / (2 * eps)) - Fraction(1, 2)"):
        assert not is_reproduced(replace(read, source=HEAD + "return " + done), found)
    assert first_unreachable_output(witnesses(read)) is None
    assert isinstance(witnesses(replace(read, source=read.source.replace("q[0]", "1 + q[0]"))), Empty)


def neighbours_that_differ_are_found_or_shown_not_to_be():
    parts = {"claim": "eps", "requires": ("eps > 0", "len(q) >= 6")}
    text = HEAD.replace("list[Fraction]", "list[int]") + "return q[0] + laplace(1 / eps)"
    found = witnesses(parse(text, Spec(adjacency="one", **parts)))
    assert isinstance(found, Witnesses)
    assert 6 == len(found.pairs[0].first["q"])
    assert found.pairs[0].first["q"] != found.pairs[0].second["q"]
    none = witnesses(parse(text, Spec(adjacency=Change("one", "1/2"), **parts)))
    assert isinstance(none, Empty)
    assert none.certain
    assert prove(parse(text, Spec(adjacency=Change("one", "1/2"), **parts)), seconds=20).vacuous
    long = Spec(claim="eps", adjacency="one", requires=("eps > 0", "len(q) >= 65"))
    assert isinstance(prove(parse(text, long), seconds=20), Failed)


def a_clause_speaks_only_where_everything_that_its_text_names_is_there():
    cases = (
        ("0 * q[each + 1] + q[each] >= 0", [-1], True),
        ("0 * q[each + 1] + q[each] >= 0", [-1, 0], False),
        ("q[each] >= 0 or (False and q[each + 1] > 0)", [-1], True),
        ("1 / q[each] > 0", [0], False),
    )
    for text, data, expected in cases:
        clause = clauses.read_clause(text, clauses.Scope({}, {"q": "int"}, has_places=True))
        assert expected is clauses.holds(clause, {"q": data, clauses.EACH: 0})
        put = {variable("len(q)", Sort.INT): constant(len(data)), variable(clauses.EACH, Sort.INT): ZERO}
        elements = {apply("q", (constant(place),), Sort.INT): constant(item) for place, item in enumerate(data)}
        assert expected is Model({}, {}).value(substitute(substitute(state_clause(clause), put), elements))


def a_search_ends_in_its_time():
    chosen = " + ".join(f"(x{place} if b{place} else 0)" for place in range(3))
    sizes = " + ".join(f"abs(x{place})" for place in range(3))
    symbols = {f"x{place}": Sort.REAL for place in range(3)} | {f"b{place}": Sort.BOOL for place in range(3)}
    before = clock()
    assert certificate(expression(f"abs({chosen}) <= {sizes}", symbols, {}).term, seconds=0.2) is None
    assert clock() - before <= 0.74


def a_proof_covers_only_the_data_that_it_speaks_of():
    contract = parse(HEAD + "return q[0]", Spec("eps", "one", ["eps > 0", "len(q) >= 2"], ["q[each] <= 1"])).contract
    finding, one = ProofFinding("proven", contract=contract, values={"eps": Fraction(1)}), Fraction(1)
    assert asks_of_data(finding)
    for data, eps, said in (
        ([one, one], one, ""),
        ([one, 2 * one], one, "place 1"),
        ([one], one, "len(q)"),
        ([one, one], 2 * one, "eps"),
    ):
        reason = find_uncovered(finding, [Call({"q": data, "eps": eps}, None)], "dataset 1 of pair 1")
        assert bool(said) is bool(reason)
        assert said in reason


CHECKS = (
    a_proof_covers_only_the_data_that_it_speaks_of,
    neighbours_that_differ_are_found_or_shown_not_to_be,
    a_search_ends_in_its_time,
    a_clause_speaks_only_where_everything_that_its_text_names_is_there,
    counterexamples_are_run_by_python,
    what_an_expression_needs_is_owed_just_where_python_evaluates_it,
    what_python_would_not_do_exactly_is_refused,
    arguments_are_those_of_the_law_and_clauses_lean_on_those_before,
    nothing_follows_from_what_is_not_defined,
    numbers_are_printed_as_they_are,
    what_is_no_answer_proves_nothing,
    forged_certificates_are_rejected,
    certificates_are_found_and_accepted,
    noise_moves_in_ways_that_keep_its_law,
    shifts_are_injective_steps_of_earlier_noise,
    parameters_of_laws_are_valid_and_equal_in_both_runs,
    costs_are_those_of_the_laws_and_add_up,
    a_rate_that_may_change_has_no_counter_of_its_own,
    failures_add_up_to_no_more_than_delta,
    both_runs_take_the_same_way,
    helpers_are_called_with_neighbours,
    probabilities_of_continuous_noise_are_exact,
    probabilities_of_lattice_noise_are_exact,
    outputs_of_other_types_are_other_outputs,
    pairs_are_neighbours_as_the_specification_has_it,
    counterexamples_break_the_whole_promise,
    outputs_on_the_same_line_are_no_counterexample,
)
