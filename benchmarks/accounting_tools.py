r"""One job answered by one accountant in a process of its own, whichever Python that accountant lives in: JSON in, JSON out.

    PYTHON accounting_tools.py TOOL \
        '{"parts": [["gaussian", {"sigma": "1"}, 1000]], "questions": [["epsilon", "1e-6"]], "setting": {}}'

Imports come before the clock starts. The first question therefore carries everything that a new process has to compute, and the
later ones find what the accountant kept. Only the standard library is imported at the top: the peers' interpreters have no dpaudit.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

Question = tuple[str, str]
"""What is asked ("epsilon" or "delta"), and at which delta or epsilon."""

Part = tuple[str, dict[str, str], int]
"""Kind of release, its parameters as text, and how often it is made."""

Ends = tuple[float, float]
"""An interval; both ends are the same number where an accountant gives one."""


def ours(parts: list[Part], setting: dict[str, Any]) -> Callable[[Question], Ends]:
    """Certified intervals; with `lattice`, those of the tilted lattice whatever other engine applies."""
    from dpaudit.accounting import Poisson, compose, gaussian, laplace
    from dpaudit.accounting.engines.tilted import tilted_lattice
    from dpaudit.accounting.model.composition import DeltaAt, EpsilonAt

    laws: dict[str, Callable[..., Any]] = {
        "gaussian": lambda sigma: gaussian(sigma=sigma),
        "laplace": lambda scale: laplace(scale=scale),
        "sampled": lambda sigma, rate: gaussian(sigma=sigma).sampled(Poisson(rate)),
    }
    loss = compose(*(count * laws[kind](**values) for kind, values, count in parts))

    def answer(question: Question) -> Ends:
        """Both ends, rounded outward to doubles."""
        asked, at = question
        if setting.get("lattice"):
            exactly = EpsilonAt(Fraction(at)) if asked == "epsilon" else DeltaAt(Fraction(at))
            found = [tilted_lattice(one.composition, exactly) for one in {loss, loss.reversed()}]
        else:
            found = [loss.epsilon(delta=at) if asked == "epsilon" else loss.delta(epsilon=at)]
        ends = [direction.floats() for direction in found if direction is not None]
        return max(low for low, _ in ends), max(high for _, high in ends)

    return answer


def dp_accounting_distribution(parts: list[Part], setting: dict[str, Any]) -> Callable[[Question], Ends]:
    """The privacy loss distribution of dp-accounting: `grid` is its discretisation, `pessimistic` its direction of rounding."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    how = {"value_discretization_interval": setting["grid"], "pessimistic_estimate": setting.get("pessimistic", True)}
    laws: dict[str, Callable[..., Any]] = {
        "gaussian": lambda sigma: pld.from_gaussian_mechanism(float(sigma), **how),
        "laplace": lambda scale: pld.from_laplace_mechanism(float(scale), **how),
        "sampled": lambda sigma, rate: pld.from_gaussian_mechanism(float(sigma), sampling_prob=float(rate), **how),
    }
    whole: Any = None
    for kind, values, count in parts:
        one = laws[kind](**values)
        many = one.self_compose(count) if count > 1 else one
        whole = many if whole is None else whole.compose(many)
    return _single(whole.get_epsilon_for_delta, whole.get_delta_for_epsilon)


def dp_accounting_accountant(parts: list[Part], setting: dict[str, Any]) -> Callable[[Question], Ends]:
    """An accountant of dp-accounting with its defaults: `PLDAccountant`, or `RdpAccountant` where the setting says moments."""
    import dp_accounting
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    events: dict[str, Callable[..., Any]] = {
        "gaussian": lambda sigma: dp_accounting.GaussianDpEvent(float(sigma)),
        "laplace": lambda scale: dp_accounting.LaplaceDpEvent(float(scale)),
        "sampled": lambda sigma, rate: dp_accounting.PoissonSampledDpEvent(
            float(rate), dp_accounting.GaussianDpEvent(float(sigma))
        ),
    }
    accountant = RdpAccountant() if setting.get("moments") else PLDAccountant()
    for kind, values, count in parts:
        accountant.compose(dp_accounting.SelfComposedDpEvent(events[kind](**values), count))
    return _single(accountant.get_epsilon, accountant.get_delta)


def prv_accountant(parts: list[Part], setting: dict[str, Any]) -> Callable[[Question], Ends]:
    """The intervals of prv-accountant at `eps_error`; delta_error is a thousandth of the delta in question, as its text advises."""
    from prv_accountant import PRVAccountant
    from prv_accountant import privacy_random_variables as prv

    laws: dict[str, Callable[..., Any]] = {
        "gaussian": lambda sigma: prv.GaussianMechanism(float(sigma)),
        "laplace": lambda scale: prv.LaplaceMechanism(1 / float(scale)),
        "sampled": lambda sigma, rate: prv.PoissonSubsampledGaussianMechanism(float(rate), float(sigma)),
    }
    variables, counts = [laws[kind](**values) for kind, values, _ in parts], [count for _, _, count in parts]

    def answer(question: Question) -> Ends:
        """Its own interval; every delta needs an accountant of its own."""
        asked, at = question
        error = float(at if asked == "epsilon" else setting["expected"]) / 1000
        accountant = PRVAccountant(variables, eps_error=setting["eps_error"], delta_error=error, max_self_compositions=counts)
        compute = accountant.compute_epsilon if asked == "epsilon" else accountant.compute_delta
        low, _, high = compute(float(at), counts)
        return float(low), float(high)

    return answer


def _single(epsilon_at: Callable[[float], float], delta_at: Callable[[float], float]) -> Callable[[Question], Ends]:
    """Answers that are one number."""

    def answer(question: Question) -> Ends:
        """The number as both ends."""
        asked, at = question
        found = float((epsilon_at if asked == "epsilon" else delta_at)(float(at)))
        return found, found

    return answer


TOOLS = {
    "dpaudit": (ours, "dpaudit", ("dpaudit.accounting.engines.evaluate", "dpaudit.accounting.schemes")),
    "distribution": (dp_accounting_distribution, "dp-accounting", ("dp_accounting.pld.privacy_loss_distribution",)),
    "accountant": (dp_accounting_accountant, "dp-accounting", ("dp_accounting.pld", "dp_accounting.rdp")),
    "prv": (prv_accountant, "prv-accountant", ("prv_accountant",)),
}
"""Each tool with its distribution and the modules that load all of it."""


def main() -> int:
    """Answer the questions in turn, a line each after one with the version; an error of the accountant is its answer."""
    build, distribution, modules = TOOLS[sys.argv[1]]
    job = json.loads(sys.argv[2])
    warnings.simplefilter("ignore")
    if sys.argv[1] == "dpaudit":
        sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    for module in modules:
        import_module(module)
    print(json.dumps(version(distribution)), flush=True)
    start = time.perf_counter()
    answer: Callable[[Question], Ends] | None = None
    for question in job["questions"]:
        try:
            answer = answer or build(job["parts"], job["setting"])
            ends: Ends | str = answer(question)
        except Exception as problem:  # noqa: BLE001 - whatever a peer raises is what it answers
            ends = f"{type(problem).__name__}: {problem}"
        print(json.dumps({"ends": ends, "seconds": time.perf_counter() - start}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
