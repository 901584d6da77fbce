"""How fast exact noise is: samples per second beside numpy's float normal and OpenDP's exact samplers, in one run.

    python benchmarks/sampling.py [--draws 1000000] [--output benchmarks/results]
    python benchmarks/sampling.py --chi-square 10000000

OpenDP is optional (`pip install opendp`); without it its columns say so. Rates are the best of several interleaved repeats, since
other programs only ever slow a run down; ratios of one run are what can be compared between machines.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian  # noqa: E402
from mechanisms.sampling.envelope import SHIPPED, envelope_table  # noqa: E402
from mechanisms.sampling.kernel import draw  # noqa: E402
from mechanisms.sampling.random import OsBitSource, default_source, source_from  # noqa: E402

SCALES = ("1/2", "1", "10", "100/3", "1000", "1000000", str(2**40))
LAWS = {
    "discrete Gaussian": lambda scale: DiscreteGaussian(sigma=scale),
    "discrete Laplace": DiscreteLaplace,
    "rounded Gaussian": RoundedGaussian,
}
OPENDP_SCALES = ("1", "10", "1000", "1000000")
OPENDP_DRAWS = 20_000


def seconds(work: Callable[[], Any]) -> float:
    """Wall time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def opendp_samplers(scale: str) -> dict[str, Callable[[], Any]]:
    """OpenDP's vector mechanisms at a scale, each drawing `OPENDP_DRAWS` values; empty without OpenDP."""
    if importlib.util.find_spec("opendp") is None or scale not in OPENDP_SCALES:
        return {}
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain, zeros = dp.vector_domain(dp.atom_domain(T="i64")), np.zeros(OPENDP_DRAWS, dtype=np.int64)
    gaussian = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=float(scale))
    laplace = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=float(scale))
    return {"discrete Gaussian": lambda: gaussian(zeros), "discrete Laplace": lambda: laplace(zeros)}


def measured(name: str, scale: str, draws: int, repeats: int) -> dict[str, Any]:
    """One row: our rate, numpy's and OpenDP's, interleaved; and what a table and a single draw cost."""
    law = LAWS[name](scale)
    build = min(seconds(lambda: envelope_table.__wrapped__(law, SHIPPED)) for _ in range(3))
    normal, source, peer = np.random.default_rng(), OsBitSource(), opendp_samplers(scale).get(name)
    ours, numpys, peers = [], [], []
    for _ in range(repeats):
        ours.append(seconds(lambda: law.sample(draws, source=source)))
        numpys.append(seconds(lambda: normal.standard_normal(draws)))
        if peer is not None and len(peers) < 2:
            peers.append(seconds(peer))
    rate, numpy_rate = draws / min(ours), draws / min(numpys)
    single = min(seconds(lambda: [law.sample() for _ in range(2000)]) for _ in range(3)) / 2000
    return {
        "law": name,
        "scale": scale,
        "per_second": rate,
        "numpy_per_second": numpy_rate,
        "ratio_numpy": rate / numpy_rate,
        "opendp_per_second": OPENDP_DRAWS / min(peers) if peers else None,
        "ratio_opendp": rate * min(peers) / OPENDP_DRAWS if peers else None,
        "single_microseconds": single * 1e6,
        "build_milliseconds": build * 1e3,
    }


def versions() -> dict[str, str]:
    """What was compared, on what."""
    packages = ("numpy", "python-flint", "cryptography", *(("opendp",) if importlib.util.find_spec("opendp") else ()))
    return {"python": platform.python_version(), "machine": platform.machine(), **{name: version(name) for name in packages}}


def table(rows: list[dict[str, Any]], draws: int) -> str:
    """The rows as a Markdown table."""
    head = ["law", "scale", "samples/s", "x numpy normal", "x OpenDP vector", "single draw, us", "table, ms"]
    lines = [f"| {' | '.join(head)} |", "|" + " --- |" * len(head)]
    for row in rows:
        scale = "2^40" if row["scale"] == str(2**40) else row["scale"]
        peer = "-" if row["ratio_opendp"] is None else f"{row['ratio_opendp']:.0f}"
        cells = [row["law"], scale, f"{row['per_second']:.2e}", f"{row['ratio_numpy']:.2f}", peer]
        lines.append(f"| {' | '.join(cells)} | {row['single_microseconds']:.1f} | {row['build_milliseconds']:.1f} |")
    stack = ", ".join(f"{name} {number}" for name, number in versions().items())
    peer = "" if importlib.util.find_spec("opendp") else " OpenDP is not installed, so its column is empty."
    source = np.random.default_rng(1)
    audit = min(seconds(lambda: [source_from(source) for _ in range(2000)]) for _ in range(3)) / 2000 * 1e6
    note = f"{draws:,} draws a call from operating-system entropy; OpenDP {OPENDP_DRAWS:,} draws a call.{peer}"
    return "\n".join([*lines, "", f"{note} An audit's source costs {audit:.1f} us. {stack}.", ""])


def chi_square(draws: int) -> bool:
    """Print the chi-square p-value of each shipping law at `draws` draws, and of the forced rare paths at a hundredth of them."""
    specification = importlib.util.spec_from_file_location("statistical_laws", ROOT / "tests" / "statistical" / "test_laws.py")
    tests = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(tests)
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
    """Measure, print, and write the results if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=1_000_000, help="draws of one call")
    parser.add_argument("--repeats", type=int, default=7, help="interleaved repeats, of which the best counts")
    parser.add_argument("--output", type=Path, help="folder for sampling.md and sampling.json")
    parser.add_argument("--chi-square", type=int, metavar="DRAWS", help="test the distributions instead of the speed")
    arguments = parser.parse_args()
    if arguments.chi_square:
        return 0 if chi_square(arguments.chi_square) else 1
    rows = [measured(name, scale, arguments.draws, arguments.repeats) for name in LAWS for scale in SCALES]
    text = table(rows, arguments.draws)
    print(text)
    if arguments.output:
        arguments.output.mkdir(parents=True, exist_ok=True)
        (arguments.output / "sampling.md").write_text(f"# Exact sampling: speed\n\n{text}", encoding="utf-8")
        record = {"draws": arguments.draws, "versions": versions(), "rows": rows}
        (arguments.output / "sampling.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
