"""Which faults of the samplers a chi-square test misses: each seeded fault is planted, drawn from, and tested.

    python benchmarks/sampler_mutants.py [--draws 10000000] [--output benchmarks/results]

The faults are those of tests/mutants/faults.toml, all of which enumeration or a property check notices there. Here each is planted
in the samplers as they ship, with their shipping sizes, and many draws are compared with the law that they should have. What is
public is drawn from, in batches, and one at a time for a hundredth or less of the draws. A fault counts as missed when the smallest
p-value of its probes, times their number, is 1e-6 or more.

Needs: nothing. Size: 10^7 draws from each fault; a long campaign.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(Path(__file__).resolve().parent)]

from measuring import module_at, table, versions, write  # noqa: E402

from mechanisms import (  # noqa: E402
    ExponentialMechanism,
    NoisyMax,
    PermuteAndFlip,
    RandomizedResponse,
    RealGaussianMechanism,
    RealLaplaceMechanism,
    TopK,
)
from mechanisms.euclidean import drawn_reals  # noqa: E402
from mechanisms.laws import DiscreteGaussian, DiscreteLaplace, Geometric, RoundedGaussian  # noqa: E402
from mechanisms.partition_selection import Rule, select_keys  # noqa: E402
from mechanisms.sampling.euclidean_noise import draw_vectors  # noqa: E402
from mechanisms.sampling.random import OsBitSource, source_from  # noqa: E402

LEVEL = 1e-6
SCORES = [0.0, -0.5, 1.0, -3.0, 0.25, 0.9]


@dataclass(frozen=True)
class Probe:
    """Draws whose bins have known probabilities: `counts` draws as many as asked, in a bin each."""

    name: str
    share: int
    probabilities: np.ndarray
    counts: Callable[[int, Any], np.ndarray]

    def p_value(self, draws: int, source: Any) -> float:
        """Chi-square p-value; 0 where something impossible was drawn."""
        from scipy.stats import chi2

        counts = self.counts(max(draws // self.share, 1000), source)
        expected = np.zeros(len(counts))
        expected[: len(self.probabilities)] = self.probabilities * counts.sum()
        possible = expected > 0
        if counts[~possible].any():
            return 0.0
        merged, wanted = merge(counts[possible], expected[possible])
        return float(chi2.sf(float(((merged - wanted) ** 2 / wanted).sum()), max(len(wanted) - 1, 1)))


def merge(counts: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bins put together from the rarest on until each expects 10 draws."""
    order = np.argsort(expected)
    group = np.minimum(np.floor(np.cumsum(expected[order]) / 10), 10**9).astype(np.int64)
    starts = np.flatnonzero(np.diff(group, prepend=-1) > 0)
    starts[0] = 0
    return np.add.reduceat(counts[order], starts).astype(float), np.add.reduceat(expected[order], starts)


def law_probe(make: Callable[[], Any], name: str, share: int, **options: Any) -> Probe:
    """Draws of a law in bins of a sixteenth of its scale; `share` above 1 draws one at a time.

    The law is made anew for every use: one that was drawn from before keeps its tables.
    """
    law = make()
    width = max(1, round(float(law.variance().upper) ** 0.5 / 16))
    reach = 1
    while law.tail((reach + 1) * width).lower > 1e-7:
        reach += 1
    lowest = 0 if isinstance(law, Geometric) else -reach
    edges = np.array([place * width for place in range(lowest, reach + 1)], dtype=np.int64)
    beyond = [1.0, *(float(law.tail(int(edge)).lower) for edge in edges), 0.0]

    def counts(draws: int, source: Any) -> np.ndarray:
        fresh = make()
        if share == 1:
            drawn = fresh.sample(draws, source=source, **options)
        else:
            drawn = np.array([fresh.sample(source=source, **options) for _ in range(draws)])
        return np.bincount(np.searchsorted(edges, drawn, side="right"), minlength=len(edges) + 1)

    return Probe(name, share, np.array([first - second for first, second in pairwise(beyond)]), counts)


def softmax() -> np.ndarray:
    """The exponential mechanism's law on the scores, at temperature 1."""
    weights = np.exp(np.array(SCORES))
    return weights / weights.sum()


def permute_and_flip() -> np.ndarray:
    """The law of permute-and-flip on the scores, at temperature 1: a head among independent coins."""
    heads = np.exp(np.array(SCORES) - max(SCORES))
    law = np.zeros(len(SCORES))
    for coins in range(1, 2 ** len(SCORES)):
        up = np.array([coins >> index & 1 for index in range(len(SCORES))], dtype=bool)
        law[up] += np.prod(np.where(up, heads, 1 - heads)) / up.sum()
    return law


def index_probe(name: str, share: int, law: np.ndarray, many: Callable[[int, Any], Any]) -> Probe:
    """Draws of indices."""
    return Probe(name, share, law, lambda draws, source: np.bincount(np.asarray(many(draws, source)), minlength=law.size))


def noise_probes() -> list[Probe]:
    """Draws of the noise laws at three scales, in batches and one at a time."""
    laws: dict[str, Callable[[], Any]] = {
        "Gaussian 1": lambda: DiscreteGaussian(sigma=1),
        "Laplace 10^6": lambda: DiscreteLaplace(10**6),
        "rounded 100": lambda: RoundedGaussian(100),
    }
    batches = [law_probe(make, f"{name}, batches", 1) for name, make in laws.items()]
    return [*batches, *(law_probe(make, f"{name}, single", 100) for name, make in laws.items())]


def digit_probes() -> list[Probe]:
    """Draws of the laws that are sampled by digits."""
    return [
        law_probe(lambda: DiscreteLaplace(10), "Laplace 10, digits", 1, fixed_work=True),
        law_probe(lambda: DiscreteLaplace(10**6), "Laplace 10^6, digits", 1, fixed_work=True),
        law_probe(lambda: DiscreteLaplace(1000), "Laplace 1000, digits, single", 200, fixed_work=True),
        law_probe(lambda: Geometric(10), "geometric 10", 1),
    ]


def selection_probes() -> list[Probe]:
    """Choices among a few candidates."""
    one, epsilon = 1, 2

    def single(draws: int, source: Any) -> list[int]:
        mechanism = ExponentialMechanism(sensitivity=one, epsilon=epsilon)
        return [mechanism.release(SCORES, source) for _ in range(draws)]

    def single_flips(draws: int, source: Any) -> list[int]:
        mechanism = PermuteAndFlip(sensitivity=one, epsilon=epsilon)
        return [mechanism.release(SCORES, source) for _ in range(draws)]

    def even(draws: int, source: Any) -> np.ndarray:
        return NoisyMax(sensitivity=one, epsilon=epsilon).releases([0] * len(SCORES), draws, source)

    def batch(mechanism: Any, **options: Any) -> Callable[[int, Any], Any]:
        made = lambda: mechanism(sensitivity=one, epsilon=epsilon, **options)  # noqa: E731
        return lambda draws, source: np.asarray(made().releases(SCORES, draws, source)).reshape(-1)

    return [
        index_probe("choices, batches", 1, softmax(), batch(ExponentialMechanism)),
        index_probe("choices, single", 200, softmax(), single),
        index_probe("flips, batches", 1, permute_and_flip(), batch(PermuteAndFlip)),
        index_probe("top 1", 1, softmax(), batch(TopK, k=1)),
        index_probe("flips, single", 200, permute_and_flip(), single_flips),
        index_probe("ties", 10, np.full(len(SCORES), 1 / len(SCORES)), even),
    ]


def response_probes() -> list[Probe]:
    """Answers of randomized response."""
    law, make = np.array([math.e, 1, 1, 1]) / (math.e + 3), lambda: RandomizedResponse(epsilon=1, categories=4)
    return [
        index_probe("answers", 1, law, lambda draws, source: make().release(np.zeros(draws, dtype=np.int64), source)),
        index_probe("answers, single", 100, law, lambda draws, source: [make().release(0, source) for _ in range(draws)]),
    ]


def bit_probes() -> list[Probe]:
    """Words and numbers of a source."""
    return [
        index_probe("bytes", 1, np.full(256, 1 / 256), lambda draws, source: source.uniform(8, draws)),
        index_probe("words of 5 bits", 1, np.full(32, 1 / 32), lambda draws, source: source.uniform(5, draws)),
        index_probe("numbers", 100, np.full(128, 1 / 128), lambda draws, source: [source.bits(7) for _ in range(draws)]),
    ]


def binned_probe(name: str, share: int, edges: np.ndarray, many: Callable[[int, Any], np.ndarray]) -> Probe:
    """Draws of a continuous number, in bins of equal probability between the edges."""
    bins = len(edges) + 1
    law = np.full(bins, 1 / bins)
    return Probe(name, share, law, lambda draws, source: np.bincount(np.searchsorted(edges, many(draws, source)), minlength=bins))


def real_probes() -> list[Probe]:
    """Real noise added to a float, and lengths of vectors of three coordinates."""
    from scipy.stats import gamma, laplace, norm

    parts, scale = np.arange(1, 64) / 64, Fraction(2**30)

    def lengths(draws: int, source: Any) -> np.ndarray:
        vectors = draw_vectors(scale, 3, draws, drawn_reals(source)).astype(np.float64)
        return np.sqrt((vectors**2).sum(axis=1)) / float(scale)

    def sums(mechanism: Any, **scale_of_noise: Any) -> Callable[[int, Any], np.ndarray]:
        return lambda draws, source: mechanism(sensitivity=1, **scale_of_noise).releases(0.7, draws, source).reshape(-1) - 0.7

    return [
        binned_probe("real Laplace", 10, laplace.ppf(parts), sums(RealLaplaceMechanism, epsilon=1)),
        binned_probe("real Gaussian", 10, norm.ppf(parts), sums(RealGaussianMechanism, sigma=1)),
        binned_probe("lengths of vectors", 100, gamma.ppf(parts, 3), lengths),
    ]


def key_probes() -> list[Probe]:
    """Keys that few people have."""
    chance = 0.0
    for _ in range(3):
        chance = min(math.e * chance + 0.1, 1 - (1 - chance - 0.1) / math.e, 1.0)
    rule = Rule(Fraction(1), Fraction(1, 10))
    law = np.array([1 - chance, chance])
    return [index_probe("keys of 3", 1, law, lambda draws, source: select_keys(rule, np.full(draws, 3), source).astype(np.int64))]


def probes() -> dict[str, list[Probe]]:
    """What is drawn for the faults of each file, by the start of the file's path."""
    bits, digits, reals = bit_probes(), digit_probes(), real_probes()
    return {
        **dict.fromkeys(("mechanisms/sampling/real_noise", "mechanisms/sampling/cells", "mechanisms/sampling/float_format"), reals),
        **dict.fromkeys(
            ("mechanisms/sampling/euclidean_noise", "mechanisms/sampling/logarithm", "mechanisms/sampling/reals"), reals
        ),
        "mechanisms/partition_selection": key_probes(),
        "mechanisms/contributions": [],
        "mechanisms/comparisons": [],
        **dict.fromkeys(("mechanisms/selection/", "mechanisms/noisy_max", "mechanisms/top_k"), selection_probes()),
        "mechanisms/response": response_probes(),
        "mechanisms/sampling/keystream": bits,
        "mechanisms/sampling/random": bits,
        "mechanisms/sampling/cumulative": digits,
        "mechanisms/sampling/digits": digits,
        "mechanisms/lattice": [],
        "mechanisms/steps": [],
        "mechanisms/": noise_probes(),
    }


def campaign() -> Any:
    """The faults, and how they are planted, from the test suite."""
    return module_at(ROOT / "tests" / "mutants" / "campaign.py")


def outcomes(fault: Any, planted: Any, tests: list[Probe], draws: int) -> Iterator[tuple[str, float | None]]:
    """Each probe's p-value with the fault planted, None where it raised an error."""
    with planted(fault):
        for probe in tests:
            bits = OsBitSource() if "random" in fault.file or "keystream" in fault.file else source_from(np.random.default_rng(17))
            try:
                yield probe.name, probe.p_value(draws, bits)
            except Exception:  # noqa: BLE001 - whatever a fault makes of the code, it was seen
                yield probe.name, None


def verdict(values: list[tuple[str, float | None]]) -> tuple[str, str]:
    """How the table shows a fault's p-values, and whether it was missed."""
    if not values:
        return "-", "not a law"
    if any(value is None for _, value in values):
        return "an error", "seen"
    smallest = min(value for _, value in values) * len(values)
    return f"{min(smallest, 1.0):.2g}", "missed" if smallest >= LEVEL else "seen"


def main() -> int:
    """Plant every fault in turn, print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10**7, help="draws of one probe; single draws are a hundredth of that or less")
    parser.add_argument("--only", default="", help="only faults whose name or file contains this")
    parser.add_argument("--output", type=Path, help="folder for sampler_mutants.md and sampler_mutants.json")
    options = parser.parse_args()
    suite, tests, rows, start = campaign(), probes(), [], time.perf_counter()
    chosen = [fault for fault in suite.faults() if options.only in fault.name + fault.file]
    sound = {probe.name: probe for group in tests.values() for probe in group}
    control = {name: probe.p_value(options.draws, source_from(np.random.default_rng(17))) for name, probe in sound.items()}
    for fault in chosen:
        group = next(group for start_, group in tests.items() if fault.file.startswith(start_))
        values = list(outcomes(fault, suite.planting.planted, group, options.draws))
        shown, seen = verdict(values)
        rows.append({"fault": fault.name, "file": fault.file, "what": fault.what, "killed_by": list(fault.killers), "p": values})
        rows[-1] |= {"shown": shown, "chi_square": seen}
        print(f"{time.perf_counter() - start:6.0f} s  {seen:9}  {shown:>15}  {fault.name}", file=sys.stderr, flush=True)
    missed, tried = (sum(row["chi_square"] in words for row in rows) for words in ({"missed"}, {"missed", "seen"}))
    lines = [[row["fault"], row["what"], "; ".join(row["killed_by"]), row["shown"], row["chi_square"]] for row in rows]
    head = ["fault", "what it does", "killed by", "p of chi-square", "chi-square"]
    note = (
        f"{len(rows)} faults, each killed by the check named in the third column. A chi-square test of {options.draws:,} draws "
        f"at the sizes that ship (slow kinds: a tenth to a two-hundredth of that) misses {missed} of the {tried} that touch a law, "
        f"at level {LEVEL:g}. "
        f"Without a fault the smallest p of the {len(control)} probes is {min(control.values()):.2g}."
    )
    stack = ", ".join(f"{name} {number}" for name, number in versions(["numpy", "scipy", "python-flint"]).items())
    record = {"draws": options.draws, "level": LEVEL, "missed": missed, "control": control, "versions": stack, "rows": rows}
    text = f"{note}\n\n{table(head, lines)}\n{stack}.\n"
    write(options.output, "sampler_mutants", "Seeded faults of the samplers", text, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
