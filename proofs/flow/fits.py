"""Fits of learners: none whose plan costs more than epsilon is carried out, and what is released is what was planned."""

from __future__ import annotations

from functools import partial
from inspect import unwrap
from itertools import islice
from types import SimpleNamespace
from typing import Any, Final

import learners
from learners import record
from learners.estimator import PrivateModel
from learners.record import Charge, PrivacyRecord
from proofs.flow.following import Refusal, Subject, follow
from proofs.flow.releasing import if_same, noting, or_refusal, require, require_same
from proofs.flow.terms import Term, alike, mentions, same, unknown, walk_through

FITTED: Final = (
    *("GaussianProcessRelease", "HalfspaceClassifier", "KernelMarginClassifier", "KernelRidgeRegressor", "LabelPrivateClassifier"),
    *("NeuralMarginClassifier", "NonInteractiveKernelClassifier", "ObjectivePerturbation", "OutputPerturbation"),
    *("PolynomialMarginClassifier", "PrivateBoostingClassifier", "PrivateBoostingRegressor", "PrivateClassifier", "PrivateKMeans"),
    *("PrivateLinearRegression", "PrivatePCA", "PrivateRanges", "PrivateSVM", "PublicCoverClassifier", "PublicSubspaceClassifier"),
    *("PublicSubspaceRegressor", "PureHalfspaceClassifier", "PureMarginClassifier", "SemiInteractiveKernelClassifier"),
    "SemiInteractiveKernelRegressor",
)
"""The learners that are fitted by the common fit, and by it alone."""

_RELATION, _DELTA = unknown("adjacency"), unknown("delta")


def inherited() -> None:
    """Prove that these learners have the common fit, its plan's price and its run, and no others."""
    for name in FITTED:
        kind = getattr(learners, name)
        for part in ("_fit", "_planned", "_run"):
            require(getattr(kind, part) is getattr(PrivateModel, part), f"{name} has a {part} of its own")
        if kind.fit is not PrivateModel.fit:
            _prove_fit(kind.fit)
    _prove_fit(PrivateModel.fit)


def _prove_fit(function: Any) -> None:
    """Prove that a fit is the common one, of the same records."""
    given, fitted = unknown("records"), unknown("fitted")
    calls: list[Any] = []
    model: Any = SimpleNamespace(
        _fit=lambda *values, **named: noting(calls, (values, named), fitted), sample_weight_bound=unknown("bound")
    )
    names: dict[str, Any] = {name: partial(unknown, name) for name in ("len", "positive", "getattr", "isinstance")}
    names["np"] = unknown("np")
    count = unwrap(function).__code__.co_argcount - 1
    for _, found in walk_through(lambda: or_refusal(lambda: follow(function, names)(model, *[given] * min(count, 3)))):
        require(isinstance(found, Refusal) or found is fitted, "another fit")
    require(bool(calls) and all(values[0] is given for values, _ in calls), "a fit of other records")


def priced() -> None:
    """Prove that the record of a plan states the price of the composition of all that is planned."""
    loss, charges = unknown("loss"), [unknown("charge")]
    names = {
        "Adjacency": SimpleNamespace(of=lambda relation: relation),
        "in_range": lambda number, *_, **__: number,
        "_composed": lambda *given: if_same(given, (charges, _RELATION), "what is composed", loss),
        "MappingProxyType": lambda held: held,
        "dict": lambda held: held,
        "Fraction": lambda number: number,
        "all": lambda _: unknown("secure"),
    }
    program = follow(vars(PrivacyRecord)["of"].__func__, names)
    seen = set()
    for walk, found in walk_through(
        lambda: program(lambda *parts: parts, charges, adjacency=_RELATION, delta=_DELTA, public={}, notes=())
    ):
        ((question, is_nothing),) = walk.decided
        require(question.op == "is" and question.parts[0] is loss, "whether anything is released")
        require_same(found[:3], (tuple(charges), _RELATION, _DELTA), "what a record is of")
        require_same(found[3], 0 if is_nothing else loss.dominating().epsilon(delta=_DELTA).upper, "the price of a plan")
        seen.add(is_nothing)
    require(seen == {True, False}, f"only {seen} are seen")
    both = [SimpleNamespace(loss=unknown("one loss")), SimpleNamespace(loss=unknown("another loss"))]
    together = unknown("together")
    composed = {"compose": lambda *losses: if_same(losses, tuple(one.loss for one in both), "the losses", together)}
    require(follow(record._composed, composed)(both, _RELATION) is together, "another composition")  # noqa: SLF001
    require(follow(record._composed, composed)([], _RELATION) is None, "the loss of nothing")  # noqa: SLF001
    _prove_charge()


def _prove_charge() -> None:
    """Prove that a charge costs the price of its releases, on the records that its scheme chooses."""
    first, price = unknown("release"), unknown("price_releases")
    names = {"price_releases": price, "replace": lambda given, **named: ("alone", given, named), "RandomOrder": "order"}
    for scheme in (None, SimpleNamespace()):
        for is_order in (False, True):
            held: Any = Subject(Charge, names | {"isinstance": lambda *_: is_order}, releases=(first,), scheme=scheme)  # noqa: B023
            found = held.loss
            if scheme is None:
                require_same(found, price((first,)), "the price of releases")
            else:
                wanted = price([("alone", first, {"count": 1})] if is_order else (first,))
                require(
                    found.parts[0].op == "attribute" and found.parts[0].parts[1] == "sampled" and found.parts[1] == (scheme,),
                    "another scheme",
                )
                require(alike(found.parts[0].parts[0], wanted), "the price of releases")


def planned() -> None:
    """Prove that a plan is refused where its price is above epsilon."""
    public = SimpleNamespace(**{name: unknown(name) for name in ("records", "features", "feature_norm", "epsilon", "delta")})
    public.adjacency = SimpleNamespace(kind=unknown("kind"))
    made, asked = SimpleNamespace(epsilon=unknown("price")), list[Any]()
    plan = SimpleNamespace(charges=unknown("charges"), intercept=unknown("intercept"), lattice_bits=unknown("bits"))
    model: Any = SimpleNamespace(random_state=unknown("seed"), _about_labels=lambda _: ({}, []), _plan_facts=lambda *_: {})
    names = {
        "PrivacyRecord": SimpleNamespace(of=lambda *given, **named: noting(asked, (given, named), made)),
        "type": lambda _: SimpleNamespace(__name__="type"),
        "version": partial(unknown, "version"),
        "SEEDED": "seeded",
    }
    for one in (plan, None):
        seen = set()
        program = follow(PrivateModel._planned, names)  # noqa: SLF001 - a proof looks inside
        for walk, found in walk_through(lambda: or_refusal(lambda: program(model, public, unknown("classes"), one))):  # noqa: B023
            if not asked:
                require(isinstance(found, Refusal), "a plan without a price")
                continue
            (((charges,), named),) = asked
            asked.clear()
            require(charges is plan.charges if one else charges == (), "other charges")
            require(named["adjacency"] is public.adjacency and named["delta"] is public.delta, "another relation, or delta")
            question, is_dear = walk.decided[-1]
            require(question.op == ">" and same(question.parts, (made.epsilon, public.epsilon)), "whether the price is too high")
            require(isinstance(found, Refusal) if is_dear else found is made, "a plan that costs too much")
            seen.add(is_dear)
        require(seen == {True, False}, f"only {seen} are seen")


def carried_out() -> None:
    """Prove that a run releases exactly what was planned, or raises, and that its record has the price of the plan."""
    log, rows, plan, source = unknown("log"), unknown("rows"), unknown("plan"), unknown("source")
    learned, kept = unknown("learned"), unknown("released")
    named: Any = SimpleNamespace(ran=lambda given: if_same(id(given), id(log), "another log", unknown("ran")))
    model: Any = SimpleNamespace(released=kept, _learn=lambda *given: if_same(given, (rows, plan, source), "another run", learned))
    names = {"recording": lambda: log, "np": unknown("np"), "set": partial(unknown, "set"), "dict": lambda held: held}
    names["type"] = lambda _: SimpleNamespace(__name__="type")
    seen = set()
    program = follow(PrivateModel._run, names)  # noqa: SLF001 - a proof looks inside
    for walk, found in walk_through(lambda: or_refusal(lambda: program(model, rows, plan, named, source))):
        ((question, is_other),) = walk.decided
        require(question.op == "!=" and same(question.parts, (unknown("set", learned), unknown("set", kept))), "what is kept")
        require(isinstance(found, Refusal) is is_other, "something else is kept")
        require(is_other or (found[0] is learned and found[1].op == "ran"), "another record")
        seen.add(is_other)
    require(seen == {True, False}, f"only {seen} are seen")
    _prove_ran()
    _prove_common_fit()


def _prove_ran() -> None:
    """Prove that a log which is not the plan is refused, and that charges hold what ran in the parts of the plan."""
    wanted = [unknown(f"planned {place}") for place in range(3)]
    logged = [SimpleNamespace(secure=unknown(f"secure {place}")) for place in range(3)]
    schemes = unknown("scheme"), unknown("another scheme")
    charges = (
        SimpleNamespace(releases=(*wanted[:2],), scheme=schemes[0]),
        SimpleNamespace(releases=(wanted[2],), scheme=schemes[1]),
    )
    names: dict[str, Any] = {"iter": iter, "islice": islice, "tuple": tuple, "len": len, "all": lambda _: unknown("secure")}
    names["Charge"] = lambda *parts: parts

    def replaced(given: Any, **changed: Any) -> Any:
        """In place of `replace`: a release as if its noise were secure, or the record with other parts."""
        return unknown("as secure", id(given)) if changed == {"secure": True} else (given, changed)

    held: Any = Subject(PrivacyRecord, names | {"replace": replaced}, charges=charges)
    for size in (3, 2):
        seen = 0
        for walk, found in walk_through(lambda: or_refusal(lambda: held.ran(logged[:size]))):  # noqa: B023 - called at once
            compared = [
                question.op == "==" and same(question.parts, (unknown("as secure", id(one)), two))
                for (question, _), one, two in zip(walk.decided, logged, wanted, strict=False)
            ]
            if isinstance(found, Refusal):
                continue
            require(len(compared) == len(walk.decided) == 3 and all(compared), "a log is not compared")
            require(all(answer for _, answer in walk.decided), "a log that is not the plan")
            given, changed = found
            parts = ((tuple(logged[:2]), schemes[0]), ((logged[2],), schemes[1]))
            require(given is held and sorted(changed) == ["charges", "secure"], "more is changed")
            require(changed["charges"] == parts, "other charges")
            seen += 1
        require(seen == (size == 3), "a log of another length")


def _prove_common_fit() -> None:
    """Prove that a fit plans before it runs, runs once at most, with the noise of its own source, and keeps that record."""
    source, plan_made = unknown("source"), SimpleNamespace()
    program = follow(PrivateModel._fit, _fit_names(source))  # noqa: SLF001 - a proof looks inside
    seen = set()

    def fitted() -> tuple[Any, dict[str, Any], list[str]]:
        order: list[str] = []
        planned_ = SimpleNamespace(stating=lambda *_: SimpleNamespace(loss=unknown("loss"), name="planned"))
        model: Any = SimpleNamespace(
            random_state=unknown("seed"), budget=unknown("budget"),
            _relation=lambda: unknown("relation"), _kinds=partial(unknown, "kinds"), _public=partial(unknown, "public"),
            _read_features=lambda *_, **__: unknown("features"), _positions=partial(unknown, "positions"),
            _label_notes=lambda _: [], _keep=lambda _: None, _rows=partial(unknown, "rows"),
            _plan=lambda _: noting(order, "plan", plan_made),
            _planned=lambda *given: noting(order, "priced", _priced(given[2], plan_made if "plan" in order else None, planned_)),
            _run=lambda *given: noting(order, "run", _ran(given, plan_made, source)),
        )  # fmt: skip
        result = or_refusal(lambda: program(model, unknown("X"), unknown("y")))
        return result, model.__dict__, order

    for walk, (found, state, order) in walk_through(fitted):
        if isinstance(found, Refusal):
            require("run" not in order, "a refusal after a run")
            continue
        given = [call.parts[0] for call in walk.calls if any(mentions(part, source) for part in call.parts[1:])]
        require(all(isinstance(one, Term) and one.op == "reserve_price" for one in given), "noise goes elsewhere")
        require(order in (["priced"], ["plan", "priced", "run"]), "a run before its price, or more than one")
        ran = "run" in order
        require(
            state["privacy_"].name == ("ran" if ran else "planned") and state["plan_"] is (plan_made if ran else None), "a record"
        )
        seen.add(ran)
    require(seen == {True, False}, f"only {seen} are seen")


def _priced(plan: Any, made: Any, planned_: Any) -> Any:
    """In place of the record of a plan, which is the one that was made, or none."""
    require(plan is made, "another plan is priced")
    return planned_


def _ran(given: tuple[Any, ...], plan: Any, source: Any) -> Any:
    """In place of a run: what was learned, and its record."""
    require(given[1] is plan and given[2].name == "planned" and given[3] is source, "a run of another plan, or other noise")
    return {}, SimpleNamespace(name="ran")


def _fit_names(source: Any) -> dict[str, Any]:
    """What a fit reaches."""
    names = ("checked_labels", "is_uncounted", "require_one_label_each", "read_weights", "feature_notes", "reserve_price", "np")
    held: dict[str, Any] = {name: unknown(name) for name in names}
    held |= {"noise_source": lambda _: source, "isinstance": lambda *_: True, "replace": lambda given, **_: given}
    return held | {"len": partial(unknown, "len"), "_columns": lambda _: {}}
