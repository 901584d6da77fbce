"""The exact law of every specimen's pair, from defining integrals and sums; of the specimens it uses only the float transforms.

`python tests/catalogue/zoo_oracle.py` recomputes `dpaudit/catalogue/truths.json`.
"""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy.stats import binom
from zoo_laws import Finite, Line, Normal, Scaled, Shifts, Union, integral, laplace_below, laplace_density, panels
from zoo_sparse import sparse

from dpaudit.catalogue import float_noise, specimens

TABLE = Path(__file__).resolve().parents[2] / "dpaudit" / "catalogue" / "truths.json"
EPSILONS = ("1/10", "1/2", "1")


def laplace_loss(pair, scale):
    """Log-ratio of outputs that are answers with Laplace noise, summed over the answers."""
    first, second = (np.atleast_1d(np.asarray(data, dtype=float)) for data in pair)

    def loss(outputs):
        rows = outputs.reshape(len(outputs), -1)
        return ((np.abs(rows - second) - np.abs(rows - first)) / scale).sum(axis=1)

    return loss


def of_sums(loss):
    return lambda outputs: loss(np.diff(outputs, axis=1, prepend=0.0))


def smart_sum_loss(scale):
    """The second output above the first, and the third, each carry the second answer with noise of their own."""

    def loss(outputs):
        running, block = outputs[:, 1] - outputs[:, 0], outputs[:, 2]
        return sum((np.abs(value - 1) - np.abs(value)) / scale for value in (running, block))

    return loss


def snapped(scale):
    """Cells of the grid; the outermost ones hold what is beyond, since that is clamped."""
    scale *= 1 + 100 * 2.0**-49
    step = 2.0 ** math.ceil(math.log2(scale))
    cells = np.arange(-int(100 // step), int(100 // step) + 1)
    starts, ends = np.append(-np.inf, cells[:-1] + 0.5) * step, np.append(cells[:-1] + 0.5, np.inf) * step
    laws = []
    for value in (0, 1):
        left, right = starts - value, ends - value
        mirrored = left > 0  # upper tails, whose differences do not cancel
        left, right = np.where(mirrored, -right, left), np.where(mirrored, -left, right)
        laws.append(laplace_below(right, scale) - laplace_below(left, scale))
    return Finite(cells, *laws, key=lambda outputs: np.clip(np.round(outputs / step), cells[0], cells[-1]).astype(int))


def additive(name, e, pair):
    scale = 1 / e
    shifts = {
        "laplace": (1, e, scale), "laplace_half": (1, 2 * e, scale / 2), "laplace_parallel": (20, e / 20, 20 * scale),
        "noisy_histogram": (1, e, scale), "noisy_histogram_inverted": (1, 1 / e, e),
    }  # fmt: skip
    if name in shifts:
        count, step, width = shifts[name]
        return Shifts(count, step, laplace_loss(pair, width))
    if name == "laplace_snapped":
        return snapped(scale)
    if name == "rare_leak":
        plain = laplace_loss(pair, scale)
        raw = Finite(np.array([0.0, 1.0]), np.array([1e-3, 0.0]), np.array([0.0, 1e-3]))

        def look(outputs):
            leaked = np.isin(outputs, (0.0, 1.0))
            return np.where(leaked, np.where(outputs == 0, np.inf, -np.inf), plain(outputs))

        return Union([raw, Scaled(Shifts(1, e, plain), 0.999, 0.999)], look, "closed form and two atoms")

    def second(x):
        return (laplace_density(x, scale) + laplace_density(x - 1, scale)) / 2

    return Line(lambda x: laplace_density(x, scale), second, panels([0.0, 1.0], scale))


def sums(name, e, pair):
    if name == "smart_sum":
        return Shifts(2, e, smart_sum_loss(1 / e))
    if name == "smart_sum_bare":
        return Finite(np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]), key=lambda outputs: outputs[:, 2])
    return Shifts(10 if name == "prefix_sum_all" else 1, e, of_sums(laplace_loss(pair, 1 / e)))


def places(name, e, pair):
    """The law of the place of a maximum."""
    scale, laws = 2 / e, []
    for scores in (np.array(data, dtype=float) for data in pair):
        edges = panels(sorted(set(scores)), scale)
        if name in ("exponential", "exponential_doubled"):
            weights = np.exp(scores / scale * (2 if name == "exponential_doubled" else 1))
            laws.append(weights / weights.sum())
            continue
        if name == "permute_and_flip":  # the times at which candidates come are uniform on [0, 1]
            accepted = np.exp((scores - scores.max()) / scale)
            others = [np.delete(accepted, k) for k in range(len(scores))]
            times = [integral(lambda u, o=o: np.prod([1 - a * u for a in o], axis=0), [0.0, 1.0]) for o in others]
            laws.append(accepted * np.array(times))
            continue
        one_sided = name == "noisy_max2"

        def below(x, one_sided=one_sided):
            return np.where(x > 0, -np.expm1(-np.maximum(x, 0) / scale), 0.0) if one_sided else laplace_below(x, scale)

        def density(x, one_sided=one_sided):
            return np.where(x > 0, np.exp(-np.maximum(x, 0) / scale) / scale, 0.0) if one_sided else laplace_density(x, scale)

        def chance(k, scores=scores, below=below, density=density, edges=edges):
            return integral(
                lambda v: density(v - scores[k]) * np.prod([below(v - score) for score in np.delete(scores, k)], axis=0), edges
            )

        laws.append(np.array([chance(k) for k in range(len(scores))]))
    return Finite(np.arange(len(pair[0])), *laws, how="quadrature over the winning score" if "noisy" in name else Finite.how)


def values(name, e, pair):
    """The law of the greatest noisy score."""
    scale, one_sided = 2 / e, name == "noisy_max4"

    def density(top):
        def at(v):
            x = np.asarray(v) - top
            if one_sided:
                inside = np.maximum(x, 0)
                return np.where(x > 0, 5 * np.exp(-inside / scale) / scale * (-np.expm1(-inside / scale)) ** 4, 0.0)
            return 5 * laplace_density(x, scale) * laplace_below(x, scale) ** 4

        return at

    supremum = (math.inf, e / 2) if one_sided else (5 * e / 2, e / 2)
    return Line(density(1.0), density(2.0), panels([1.0, 2.0], scale), supremum)


def on_integers(weight, reach):
    support = np.arange(-reach, reach + 2)
    total = weight(np.arange(-reach, reach + 1)).sum()
    return Finite(support, weight(support) / total, weight(support - 1) / total)


def responses(name, e, pair):
    if name == "randomized_response":
        truth, lie = math.exp(e) / (math.exp(e) + 3), 1 / (math.exp(e) + 3)
        return Finite(np.arange(4), *(np.where(np.arange(4) == data[0], truth, lie) for data in pair))
    if name == "geometric":
        return on_integers(lambda x: np.exp(-e * np.abs(x)), math.ceil(700 / e))
    if name == "discrete_gaussian":
        return on_integers(lambda x: np.exp(-(x**2.0) * e**2 / 2), math.ceil(37 / e))
    if name.startswith("truncated"):
        steps = 2 ** math.ceil(math.log(2 / e))
        whole = (2 * steps + 1) * (steps + 1) ** 4
        laws = []
        for data in pair:  # cumulative counts among `whole` equally likely integers
            below = [steps ** (data - z) * (steps + 1) ** (5 - (data - z)) for z in range(data)]
            below += [whole - steps ** (z - data + 1) * (steps + 1) ** (4 - z + data) for z in range(data, 5)]
            laws.append(np.diff(np.array(below, dtype=float), prepend=0.0, append=float(whole)) / whole)
        return Finite(np.arange(6), *laws)
    set_, clear = (0.525, 0.475) if name.startswith("one_time") else (0.5125, 0.4875)
    only = [sorted(set(pair[0][0]) - set(pair[1][0])), sorted(set(pair[1][0]) - set(pair[0][0]))]
    size = len(only[0])
    counts = np.array(list(itertools.product(range(size + 1), repeat=2)))
    laws = [binom.pmf(counts, size, [set_, clear]).prod(axis=1), binom.pmf(counts, size, [clear, set_]).prod(axis=1)]
    return Finite(
        np.arange(len(counts)), *laws, key=lambda rows: (size + 1) * rows[:, only[0]].sum(axis=1) + rows[:, only[1]].sum(axis=1)
    )


def gaussians(name, e, pair):
    sigma = {"gaussian": 1 / e, "gaussian_narrow": 1 / e / math.sqrt(2),
             "gaussian_classical": math.sqrt(2 * math.log(1.25e5)) / e,
             "gaussian_classical_beyond": math.sqrt(2 * math.log(12.5)) / 8}[name]  # fmt: skip
    return Normal(1 / sigma)


def floats(name, e, pair):
    """Every value that the noise can take, by the same floating-point steps; two numbers become one complex one."""
    bits = {"coarse_laplace": 10, "porous_laplace": 20}.get(name, 5)
    if "laplace" in name:
        words = np.stack(np.meshgrid(np.arange(2**bits), [0, 1]), axis=-1).reshape(-1, 2)
        noise = float_noise.inversion(words, bits)
    else:
        words = np.stack(np.meshgrid(*[np.arange(2**bits)] * 2), axis=-1).reshape(-1, 2)
        noise = getattr(float_noise, name)(words, bits)
        noise = noise[~np.isnan(noise).any(axis=1)]

    def key(outputs):
        return outputs if outputs.ndim == 1 else outputs[:, 0] + 1j * outputs[:, 1]

    found = [key(value + 1 / e * noise) for value in pair]
    outcomes, places = np.unique(np.concatenate(found), return_inverse=True)
    shares = [np.bincount(half, minlength=len(outcomes)) / len(half) for half in np.split(places, 2)]
    return Finite(outcomes, *shares, key=key, how="all values of the words")


def law_of(specimen, epsilon):
    """The exact law of a specimen at the family's epsilon."""
    module = specimen.name
    e, pair = float(epsilon), specimen.target.neighbours[0]
    for names, oracle in (
        (("noisy_max3", "noisy_max4"), values),
        (("noisy_max", "exponential", "permute"), places),
        (("svt", "numerical"), sparse),
        (("prefix", "smart"), sums),
        (("laplace", "noisy_histogram", "sampled", "rare"), additive),
        (("gaussian",), gaussians),
        (("coarse", "porous", "box", "polar"), floats),
        (("",), responses),
    ):
        if module.startswith(names):
            return oracle(specimen.name, e, pair)
    raise AssertionError(module)


def point_of(specimen):
    """The claimed epsilon and delta; for the claim of a curve, the point at an epsilon of 1.5 times its mu."""
    guarantee = specimen.target.claim.guarantee
    if hasattr(guarantee, "epsilon"):
        return float(guarantee.epsilon), float(getattr(guarantee, "delta", 0))
    if hasattr(guarantee, "mu"):
        return 1.5 * float(guarantee.mu), Normal(float(guarantee.mu)).delta(1.5 * float(guarantee.mu))
    rho = float(guarantee.rho)  # Canonne, Kamath, Steinke 2020, Proposition 12
    epsilon, orders = 1.5 * math.sqrt(2 * rho), 1 + np.geomspace(1e-3, 1e3, 20001)
    logs = (orders - 1) * (orders * rho - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
    return epsilon, float(np.exp(logs.min()))


def recompute(epsilon):
    """Rows of the table for one epsilon."""
    rows = []
    for specimen in specimens(epsilon):
        law = law_of(specimen, Fraction(epsilon))
        at_epsilon, at_delta = point_of(specimen)
        truth = {
            "at_epsilon": at_epsilon,
            "at_delta": at_delta,
            "epsilon": law.least_epsilon(at_delta),
            "delta": law.either(at_epsilon),
        }
        truth["delta"] = 0.0 if truth["delta"] < 1e-13 else truth["delta"]
        rows.append(
            {"name": specimen.name, "claim": str(specimen.target.claim.guarantee)}
            | {name: f"{value:.10g}" for name, value in truth.items()}
            | {"how": law.how}
        )
    return rows


def main():
    rows = {(row["name"], row["claim"]): row for epsilon in EPSILONS for row in recompute(epsilon)}
    provenance = (
        "tests/catalogue/zoo_oracle.py: double precision, Gauss-Legendre panels cut at every corner, or sums over all outcomes; "
        "ten digits are shown, deltas are good to 1e-10. The laws at epsilon 1/2 are checked against simulation."
    )
    TABLE.write_text(json.dumps({"provenance": provenance, "rows": list(rows.values())}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
