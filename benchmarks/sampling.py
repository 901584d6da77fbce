"""How fast exact noise is: draws per second beside OpenDP, diffprivlib, Tumult Core and numpy's float normal, in one run.

    PYTHONPATH=. python benchmarks/sampling.py [--draws 1000000] [--output benchmarks/results]
    PYTHONPATH=. python benchmarks/sampling.py --chi-square 10000000

The peers are optional; a column of one that is not installed is empty. Ours draw from operating-system entropy, one call of
`--draws` values; peers make fewer draws, and rates are compared. What is compared runs in turn and the best of several repeats
counts, so ratios of one run are what can be compared between machines.

Needs: OpenDP, diffprivlib and Tumult Core, each optional. Size: 10^6 draws, the best of 9 repeats.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from measuring import Bar, bars_table, best_of, each, have, module_at, table, versions, write

from mechanisms import DiscreteGaussianMechanism, GaussianMechanism, LaplaceMechanism, RandomizedResponse
from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from mechanisms.sampling.envelope import SHIPPED, envelope_table
from mechanisms.sampling.kernel import draw
from mechanisms.sampling.random import default_source, source_from

ROOT: Final = Path(__file__).resolve().parent.parent
WIDEST: Final = str(2**40)
SCALES: Final = ("1/2", "1", "10", "100/3", "63", "1000/7", "1000", "1000000", WIDEST)
LAWS: Final[dict[str, Callable[[str], Any]]] = {
    "discrete Gaussian": lambda scale: DiscreteGaussian(sigma=scale),
    "discrete Laplace": DiscreteLaplace,
    "rounded Gaussian": RoundedGaussian,
}
AWKWARD: Final = (
    "1/1000",
    "355/113",
    "31.999",
    "63.999",
    "64.001",
    "127.999",
    "128.001",
    "1e9/7",
    "99999/1000",
    str(2**100),
    "1e100",
)
"""Scales at both sides of the places where tables change their form, and beyond int64."""

PEER_BARS: Final = {
    ("opendp", "discrete Gaussian"): 800,
    ("opendp", "discrete Laplace"): 500,
    ("diffprivlib", "discrete Laplace"): 500,
    ("tmlt.core", "discrete Gaussian"): 5000,
    ("tmlt.core", "discrete Laplace"): 5000,
}
"""How many times a peer's rate ours has to be, at every scale."""

GAUSSIAN_DISCRETE_SCALE: Final = "1724"


def peers(scale: str) -> dict[tuple[str, str], tuple[int, Callable[[], Any]]]:
    """Samplers of installed peers at a scale by (package, law): how many values a call draws, and the call."""
    found: dict[tuple[str, str], tuple[int, Callable[[], Any]]] = {}
    exact, rough = Fraction(scale), float(Fraction(scale))
    if have("opendp") and scale != WIDEST:
        gaussian, laplace = opendp_vector(rough)
        zeros = np.zeros(20_000, dtype=np.int64)
        found["opendp", "discrete Gaussian"] = (len(zeros), lambda: gaussian(zeros))
        found["opendp", "discrete Laplace"] = (len(zeros), lambda: laplace(zeros))
    if have("diffprivlib") and scale != WIDEST:
        from diffprivlib.mechanisms import Geometric

        geometric = Geometric(epsilon=1 / rough)
        found["diffprivlib", "discrete Laplace"] = (2_000, each(lambda: geometric.randomise(0), 2_000))
    if have("tmlt.core"):
        from tmlt.core.random import discrete_gaussian as tumult

        found["tmlt.core", "discrete Gaussian"] = (300, each(lambda: tumult.sample_dgauss(exact**2), 300))
        found["tmlt.core", "discrete Laplace"] = (300, each(lambda: tumult._sample_dlaplace(exact), 300))  # noqa: SLF001
    return found


def opendp_vector(scale: float) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """OpenDP's Gaussian and Laplace mechanisms on vectors of 64-bit integers."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    return (
        dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale),
        dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale),
    )


def against_gaussian_discrete(draws: int, repeats: int) -> tuple[dict[str, Any], Bar]:
    """Our discrete Gaussian beside diffprivlib's, whose work grows with its scale, set directly since to find one takes seconds."""
    from diffprivlib.mechanisms import GaussianDiscrete

    mechanism = GaussianDiscrete(epsilon=1, delta=1e-5)
    mechanism._scale = float(GAUSSIAN_DISCRETE_SCALE)  # noqa: SLF001
    law, count = DiscreteGaussian(sigma=GAUSSIAN_DISCRETE_SCALE), 60
    best = best_of({"ours": lambda: law.sample(draws), "theirs": each(lambda: mechanism.randomise(0), count)}, max(3, repeats // 2))
    ratio = best["theirs"] / count * draws / best["ours"]
    row = {"law": "discrete Gaussian", "scale": GAUSSIAN_DISCRETE_SCALE, "per_second": draws / best["ours"], "x diffprivlib": ratio}
    return row, Bar(f"discrete Gaussian {GAUSSIAN_DISCRETE_SCALE} x diffprivlib's GaussianDiscrete", ratio, 500_000)


def rates(draws: int, repeats: int) -> tuple[list[dict[str, Any]], list[Bar]]:
    """Draws per second of every law at every scale, ours and theirs; and what the ratios have to be."""
    rows, bars, normal = [], [], np.random.default_rng()
    for scale in SCALES:
        laws = {name: make(scale) for name, make in LAWS.items()}
        ours = {name: lambda law=law: law.sample(draws) for name, law in laws.items()}
        theirs = peers(scale)
        best = best_of({**ours, "numpy": lambda: normal.standard_normal(draws)}, repeats)
        # The slow peers run fewer times, each in turn with ours.
        for key, (_, call) in theirs.items():
            for name, took in best_of({key: call, key[1]: ours[key[1]]}, 3).items():
                best[name] = min(best.get(name, took), took)
        for name in LAWS:
            row = {"law": name, "scale": scale, "per_second": draws / best[name], "x numpy normal": best["numpy"] / best[name]}
            bars.append(Bar(f"{name} {shown(scale)} x numpy normal", row["x numpy normal"], 0.45))
            for (package, law), (count, _) in theirs.items():
                if law == name:
                    row[f"x {package}"] = ratio = best[package, law] / count * draws / best[name]
                    limit = PEER_BARS.get((package, law))
                    if limit is not None:
                        bars.append(Bar(f"{name} {shown(scale)} x {package}", ratio, limit))
            rows.append(row)
    if have("diffprivlib"):
        row, bar = against_gaussian_discrete(draws, repeats)
        rows.append(row)
        bars.append(bar)
    return rows, bars


def vectors(repeats: int) -> tuple[list[dict[str, Any]], list[Bar]]:
    """Rounded Gaussian noise on a vector through the mechanism, beside numpy's float normal of the same length."""
    rows, bars, normal = [], [], np.random.default_rng()
    mechanism = GaussianMechanism(sensitivity=2**21, noise_multiplier=1)
    for size in (10**4, 10**5, 10**6):
        value = np.arange(size)
        works = {"ours": lambda value=value: mechanism.release(value), "numpy": lambda size=size: normal.standard_normal(size)}
        best = best_of(works, repeats * 10**6 // size // 4 + 3)
        rows.append({"size": size, "milliseconds": best["ours"] * 1e3, "numpy": best["numpy"] * 1e3})
        rows[-1]["ratio"] = best["ours"] / best["numpy"]
        if size == 10**6:
            bars.append(
                Bar(
                    "rounded Gaussian vector of 10^6 through GaussianMechanism, time / numpy normal",
                    rows[-1]["ratio"],
                    1.6,
                    most=True,
                )
            )
    return rows, bars


def singles(repeats: int) -> tuple[list[dict[str, Any]], list[Bar]]:
    """Microseconds of one call, of laws and of mechanisms."""
    works: dict[str, Callable[[], Any]] = {}
    for scale in ("1", "10", "1000/7", "1000000", WIDEST):
        works |= {f"{name}({shown(scale)}).sample()": make(scale).sample for name, make in LAWS.items()}
    mechanisms = {
        "LaplaceMechanism(scale=10)": LaplaceMechanism(sensitivity=1, scale=10),
        "LaplaceMechanism(scale=1000)": LaplaceMechanism(sensitivity=1, scale=1000),
        "GaussianMechanism(sigma=10)": GaussianMechanism(sensitivity=1, sigma=10),
        "GaussianMechanism(sigma=1000/7)": GaussianMechanism(sensitivity=1, sigma="1000/7"),
        "DiscreteGaussianMechanism(sigma=1000)": DiscreteGaussianMechanism(sensitivity=1, sigma=1000),
        "RandomizedResponse(categories=2)": RandomizedResponse(epsilon=1),
    }
    works |= {f"{name}.release(1)": lambda mechanism=mechanism: mechanism.release(1) for name, mechanism in mechanisms.items()}
    for work in works.values():
        work()
    best = best_of({name: each(work, 500) for name, work in works.items()}, 8 * repeats)
    microseconds = {name: took / 500 * 1e6 for name, took in best.items()}
    rows = [{"call": name, "microseconds": took} for name, took in microseconds.items()]
    fixed = LaplaceMechanism(sensitivity=1, scale=1000, fixed_work=True)
    rng = np.random.default_rng(1)
    others = {
        "LaplaceMechanism(scale=1000, fixed_work=True).release(1)": lambda: fixed.release(1),
        "source_from(rng)": lambda: source_from(rng),
    }
    if have("opendp"):
        import opendp.prelude as dp

        scalar = dp.m.make_laplace(dp.atom_domain(T="i64"), dp.absolute_distance(T="i64"), scale=1000.0)
        others["OpenDP Laplace(scale=1000)"] = lambda: scalar(1)
    for name, took in best_of({name: each(work, 300) for name, work in others.items()}, repeats).items():
        rows.append({"call": name, "microseconds": took / 300 * 1e6})
    return rows, [Bar(f"{name}, microseconds", took, 5, most=True) for name, took in microseconds.items()]


def builds(repeats: int) -> tuple[list[dict[str, Any]], list[Bar]]:
    """Milliseconds that the table of a law takes, at the scales above and at awkward ones."""
    rows = []
    for scale in (*SCALES, *AWKWARD):
        exact = str(Fraction(scale.split("/")[0]) / Fraction(scale.split("/")[1])) if "/" in scale else scale
        works = {name: partial(envelope_table.__wrapped__, make(exact), SHIPPED) for name, make in LAWS.items()}
        rows.append({"scale": scale, **{name: took * 1e3 for name, took in best_of(works, repeats).items()}})
    worst = {name: max(row[name] for row in rows) for name in LAWS}
    return rows, [Bar(f"slowest table of the {name}, milliseconds", took, 30, most=True) for name, took in worst.items()]


def shown(scale: str) -> str:
    """A scale as it is printed."""
    for power in (40, 100):
        scale = f"2^{power}" if scale == str(2**power) else scale
    return scale


def figure(value: float | None, digits: int = 1) -> str:
    """A number of a table, or a dash."""
    return "-" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.{digits}f}"


def page(record: dict[str, Any]) -> str:
    """The measurements as Markdown."""
    packages = ("opendp", "diffprivlib", "tmlt.core")
    rate_rows = [
        [row["law"], shown(row["scale"]), f"{row['per_second']:.2e}", figure(row.get("x numpy normal"), 2)]
        + [figure(row.get(f"x {package}")) for package in packages]
        for row in record["rates"]
    ]
    vector_rows = [
        [f"{row['size']:,}", f"{row['milliseconds']:.3f}", f"{row['numpy']:.3f}", f"{row['ratio']:.2f}"]
        for row in record["vectors"]
    ]
    build_rows = [[shown(row["scale"]), *(f"{row[name]:.1f}" for name in LAWS)] for row in record["builds"]]
    stack = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    missed = [bar for bar in record["bars"] if not bar["met"]]
    return "\n".join(
        [
            f"{record['draws']:,} draws a call from operating-system entropy, int64 results. {stack}.",
            f"{len(record['bars'])} bars, {len(missed)} not met.",
            "",
            "## Draws per second",
            "",
            "A ratio is ours over the other's rate in the same run. Geometric and GaussianDiscrete of diffprivlib are not exact.",
            "",
            table(["law", "scale", "draws/s", "x numpy normal", *(f"x {package}" for package in packages)], rate_rows),
            "## Vectors through `GaussianMechanism.release`",
            "",
            table(["length", "ms", "numpy standard_normal, ms", "ratio"], vector_rows),
            "## One call",
            "",
            table(["call", "microseconds"], [[row["call"], f"{row['microseconds']:.2f}"] for row in record["singles"]]),
            "## Tables, milliseconds",
            "",
            table(["scale", *LAWS], build_rows),
            "## Bars",
            "",
            bars_table(Bar(bar["what"], bar["figure"], bar["limit"], bar["most"]) for bar in record["bars"]),
        ]
    )


def chi_square(draws: int) -> bool:
    """Print the chi-square p-value of each shipping law at `draws` draws, and of the forced rare paths at a hundredth of them."""
    tests = module_at(ROOT / "tests" / "statistical" / "test_laws.py")
    cases = [(law, SHIPPED, draws) for law in tests.LAWS] + [(law, tuning, max(draws // 100, 1000)) for law, tuning in tests.FORCED]
    smallest = 1.0
    for law, tuning, count in cases:
        start = time.perf_counter()
        p_value = tests.p_value(law, draw(envelope_table(law, tuning), default_source(), count))
        smallest = min(smallest, p_value)
        kind = "" if tuning == SHIPPED else f" {tuning}"
        print(f"p = {p_value:.4f}  {count:>11,} draws  {time.perf_counter() - start:6.1f} s  {law}{kind}", flush=True)
    print(f"smallest p of {len(cases)}: {smallest:.4f}; below {0.001 / len(cases):.1e} would be alarming")
    return smallest >= 0.001 / len(cases)


def main() -> int:
    """Measure, print, and write the results if asked to; 1 when a bar is not met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1_000_000, help="draws of one call")
    parser.add_argument("--repeats", type=int, default=9, help="interleaved repeats, of which the best counts")
    parser.add_argument("--output", type=Path, help="folder for sampling.md and sampling.json")
    parser.add_argument("--chi-square", type=int, metavar="DRAWS", help="test the distributions instead of the speed")
    options = parser.parse_args()
    if options.chi_square:
        return 0 if chi_square(options.chi_square) else 1
    record: dict[str, Any] = {
        "draws": options.draws,
        "versions": versions(("numpy", "python-flint", "cryptography", "opendp", "diffprivlib", "tmlt.core")),
    }
    bars: list[Bar] = []
    parts = {
        "rates": lambda: rates(options.draws, options.repeats),
        "vectors": lambda: vectors(options.repeats),
        "singles": lambda: singles(options.repeats),
        "builds": lambda: builds(9),
    }
    for name, measure in parts.items():
        record[name], found = measure()
        bars += found
    record["bars"] = [bar.record() for bar in bars]
    write(options.output, "sampling", "Exact sampling: speed", page(record), record)
    return 0 if all(bar.met for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
