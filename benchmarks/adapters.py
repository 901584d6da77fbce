"""The adapters on the libraries themselves: defects that were published are to be found, correct twins to be left alone.

    PYTHONPATH=. python benchmarks/adapters.py --peer PYTHON [--peer PYTHON ...] [--output benchmarks/results]

Libraries that cannot live in one environment get several interpreters; each has what this project needs and some of them. Every
example is audited by the first interpreter that has its library, one process each; the time is that of the audit, without imports.
Opacus is asked through its accountants alone, which need no PyTorch: `opacus` without its dependencies is enough.

Needs: OpenDP, diffprivlib with scikit-learn below 1.8, dp-accounting, Opacus, each optional. Size: 12 audits, 20,000 runs each.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from measuring import Bar, bars_table, table, versions, write

from dpaudit import audit
from dpaudit.errors import DpauditError
from dpaudit.interop import from_dp_accounting, from_opacus
from dpaudit.loading import load_targets

ROOT: Final = Path(__file__).resolve().parent.parent
PACKAGES: Final = {"dp_accounting": "dp-accounting", "sklearn": "scikit-learn"}
RUNS: Final = 20_000
MOST_SECONDS: Final = 60
DELTA: Final = 1e-5

EXAMPLES: Final = {
    "opendp_resize.py:target": ("opendp", "refuted"),
    "opendp_resize.py:corrected": ("opendp", "not refuted"),
    "opendp_resize.py:noisy_sum": ("opendp", "not refuted"),
    "diffprivlib_regression.py:target": ("diffprivlib", "refuted"),
    "diffprivlib_regression.py:corrected": ("diffprivlib", "not refuted"),
    "diffprivlib_regression.py:mean": ("diffprivlib", "not refuted"),
    "dp_accounting_events.py:target": ("dp_accounting", "refuted"),
    "dp_accounting_events.py:corrected": ("dp_accounting", "not refuted"),
    "opacus_history.py:target": ("", "refuted"),
    "opacus_history.py:corrected": ("", "not refuted"),
    "sklearn_centroid.py:target": ("sklearn", "refuted"),
    "sklearn_centroid.py:corrected": ("sklearn", "not refuted"),
}


def audited(example: str) -> dict[str, Any]:
    """The verdict of an example, what was found, and how long that took."""
    (target,) = load_targets(f"examples/{example}")
    start, spent = time.perf_counter(), time.process_time()
    found = audit(target, runs=RUNS, seed=1).results[0]
    bound = found.lower_bound
    return {
        "verdict": str(found.verdict),
        "claim": str(target.claim),
        "epsilon_at_least": None if bound is None or bound.epsilon is None else float(bound.epsilon),
        "violated": [law.detail for law in found.properties if law.status == "violated" and "sensitivit" in law.name],
        "seconds": time.perf_counter() - start,
        "cpu_seconds": time.process_time() - spent,
    }


def counted(library: str) -> list[dict[str, Any]]:
    """What our accountant and those of a library say of the same releases."""
    return list({"dp_accounting": _of_dp_accounting, "opacus": _of_opacus}[library]())


def _row(what: str, adjacency: str, ours: Callable[[], Any], theirs: dict[str, Callable[[], float]]) -> dict[str, Any]:
    """One line of the comparison; a refusal of either side is shown as such."""
    found: dict[str, Any] = {"what": what, "adjacency": adjacency, "theirs": {}}
    try:
        enclosure = ours().epsilon(delta=DELTA)
        found["ours"] = [float(enclosure.lower), float(enclosure.upper)]
    except DpauditError as error:
        found["ours"] = error.message
    for name, ask in theirs.items():
        try:
            found["theirs"][name] = ask()
        except Exception as error:  # noqa: BLE001 - what the library does not count is part of the comparison
            found["theirs"][name] = f"refused ({type(error).__name__})"
    return found


def _of_dp_accounting() -> Iterator[dict[str, Any]]:
    """One event of every kind that is read, and one of every kind that is refused."""
    from dp_accounting import dp_event as events
    from dp_accounting import pld, privacy_accountant, rdp

    relations = privacy_accountant.NeighboringRelation
    related = {
        "add_remove": relations.ADD_OR_REMOVE_ONE,
        "replace_one": relations.REPLACE_ONE,
        "zero_out": relations.REPLACE_SPECIAL,
    }
    noise = events.GaussianDpEvent(2.0)
    sampled = events.PoissonSampledDpEvent(0.01, events.GaussianDpEvent(1.0))
    listed = [
        (events.NoOpDpEvent(), "add_remove"),
        (noise, "add_remove"),
        (events.LaplaceDpEvent(2.5), "add_remove"),
        (events.DiscreteLaplaceDpEvent(0.25, 3), "add_remove"),
        (events.RandomizedResponseDpEvent(0.5, 4), "replace_one"),
        (events.ZCDpEvent(0.125), "add_remove"),
        (events.SelfComposedDpEvent(sampled, 1000), "add_remove"),
        (events.ComposedDpEvent([noise, events.SelfComposedDpEvent(events.LaplaceDpEvent(10.0), 5)]), "add_remove"),
        (events.SampledWithoutReplacementDpEvent(1000, 10, noise), "replace_one"),
        (events.SingleEpochTreeAggregationDpEvent(4.0, [3, 9]), "zero_out"),
        (events.PoissonSampledDpEvent(0.01, events.SelfComposedDpEvent(noise, 2)), "add_remove"),
        (events.SampledWithReplacementDpEvent(1000, 10, noise), "replace_one"),
        (events.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0], [0.5, 0.5]), "add_remove"),
        (events.RepeatAndSelectDpEvent(noise, 2.0, 1.0), "add_remove"),
        (events.TruncatedSubsampledGaussianDpEvent(1000, 0.01, 20, 1.0), "add_remove"),
        (events.NonPrivateDpEvent(), "add_remove"),
        (events.UnsupportedDpEvent(), "add_remove"),
    ]

    def asked(make: Callable[..., Any], event: Any, adjacency: str) -> float:
        return float(make(neighboring_relation=related[adjacency]).compose(event).get_epsilon(DELTA))

    for event, adjacency in listed:
        theirs = {
            name: (lambda make=make, event=event, adjacency=adjacency: asked(make, event, adjacency))
            for name, make in (("RDP", rdp.RdpAccountant), ("PLD", pld.PLDAccountant))
        }
        yield _row(str(event), adjacency, lambda: from_dp_accounting(event, adjacency=adjacency), theirs)  # noqa: B023 - asked at once


def _of_opacus() -> Iterator[dict[str, Any]]:
    """Two phases of training; the optimisers are replaced, since they alone need PyTorch."""
    found = find_spec("opacus")
    assert found is not None, "asked only where it is installed"  # noqa: S101
    package = ModuleType("opacus")
    package.__path__ = list(found.submodule_search_locations or ())
    sys.modules["opacus"] = package
    sys.modules["opacus.optimizers"] = SimpleNamespace(DPOptimizer=object)  # type: ignore[assignment]
    from opacus import accountants

    for name in ("RDPAccountant", "PRVAccountant"):
        accountant = getattr(accountants, name)()
        for noise, rate, steps in ((1.125, 0.02, 300), (0.875, 0.01, 200)):
            for _ in range(steps):
                accountant.step(noise_multiplier=noise, sample_rate=rate)
        ask = accountant.get_epsilon
        yield _row(
            str(accountant.history),
            "add_remove",
            lambda: from_opacus(accountant, poisson_sampling=True),  # noqa: B023 - asked at once
            {name: lambda: float(ask(delta=DELTA))},  # noqa: B023
        )


def work(what: str, argument: str) -> None:
    """One job, as a process of its own; its result is the last line printed."""
    found = audited(argument) if what == "audit" else counted(argument) if what == "count" else find_spec(argument) is not None
    shown = versions(["opendp", "diffprivlib", "dp-accounting", "opacus", "scikit-learn", "numpy"])
    print(json.dumps({"found": found, "versions": shown}))


def asked_of(python: str, what: str, argument: str) -> dict[str, Any]:
    """A job done by an interpreter."""
    path = os.pathsep.join([str(ROOT), str(ROOT / "benchmarks"), os.environ.get("PYTHONPATH", "")])
    command = [python, "-W", "ignore", str(ROOT / "benchmarks" / "adapters.py"), "--job", what, argument]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": path})
    return dict(json.loads(done.stdout.splitlines()[-1]))


def holding(peers: list[str], library: str) -> str | None:
    """The first interpreter that has a library."""
    return next((python for python in peers if not library or asked_of(python, "have", library)["found"]), None)


def main() -> None:
    """Audit all examples, compare the accountants, and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", action="append", default=[])
    parser.add_argument("--output", type=Path)
    parser.add_argument("--job", nargs=2)
    options = parser.parse_args()
    if options.job:
        work(*options.job)
        return
    peers = options.peer or [sys.executable]
    homes = {library: holding(peers, library) for library in {library for library, _ in EXAMPLES.values()} | {"opacus"}}
    rows, events, seen = [], [], {}
    for example, (library, expected) in EXAMPLES.items():
        if (python := homes[library]) is not None:
            done = asked_of(python, "audit", example)
            package = PACKAGES.get(library, library)
            seen[package] = done["versions"].get(package, "")
            rows.append({"example": example, "version": seen[package], "expected": expected, **done["found"]})
    for library in ("dp_accounting", "opacus"):
        if (python := homes[library]) is not None:
            done = asked_of(python, "count", library)
            package = PACKAGES.get(library, library)
            seen[package] = done["versions"].get(package, "")
            events += [{"library": library, "version": seen[package], **row} for row in done["found"]]
    missing = [example for example, (library, _) in EXAMPLES.items() if homes[library] is None]
    wrong = [row["example"] for row in rows if (row["verdict"] == "refuted") != (row["expected"] == "refuted")]
    bars = [
        Bar("verdicts other than expected", len(wrong), 0, most=True),
        Bar("processor seconds of the longest audit", max(row["cpu_seconds"] for row in rows), MOST_SECONDS, most=True),
        Bar("examples without their library", len(missing), 0, most=True),
    ]
    parts = [
        f"Audits of {RUNS:,} runs at most (alpha 1/20, seed 1), in processor seconds; the machine was shared.\n\n",
        table(["example", "version", "claim", "verdict", "epsilon at least", "sensitivities", "seconds"], map(_shown, rows)),
        f"\nEpsilon at delta = {DELTA:g}: our enclosure, and what the library's accountants give.\n\n",
        table(["library", "releases", "adjacency", "ours", "theirs", ""], map(_compared, events)),
        f"\n{bars_table(bars)}",
    ]
    record = {
        "rows": rows,
        "events": events,
        "bars": [bar.record() for bar in bars],
        "versions": {**versions(["numpy"]), **{name: seen[name] for name in seen if name}},
    }
    write(options.output, "adapters", "Adapters, on the libraries themselves", "".join(parts), record)


def _shown(row: dict[str, Any]) -> list[str]:
    """An audit as cells."""
    bound = "" if row["epsilon_at_least"] is None else f"{row['epsilon_at_least']:.3g}"
    laws = "; ".join(row["violated"]) or "hold"
    return [f"`{row['example']}`", row["version"], row["claim"], row["verdict"], bound, laws, f"{row['cpu_seconds']:.1f}"]


def _compared(row: dict[str, Any]) -> list[str]:
    """Accountants side by side, and where theirs stand to our enclosure."""
    ours = row["ours"] if isinstance(row["ours"], str) else "[{:.6g}, {:.6g}]".format(*row["ours"])
    theirs = ", ".join(
        f"{name} {value if isinstance(value, str) else format(value, '.6g')}" for name, value in row["theirs"].items()
    )
    places = [] if isinstance(row["ours"], str) else [_place(value, *row["ours"]) for value in row["theirs"].values()]
    return [
        f"{row['library']} {row['version']}",
        f"`{row['what']}`",
        row["adjacency"],
        ours,
        theirs,
        ", ".join(filter(None, places)),
    ]


def _place(value: float | str, lower: float, upper: float) -> str:
    """Where a number stands to an enclosure."""
    if isinstance(value, str):
        return ""
    return f"{value - upper:.2g} above" if value > upper else f"{lower - value:.2g} below" if value < lower else "inside"


if __name__ == "__main__":
    main()
