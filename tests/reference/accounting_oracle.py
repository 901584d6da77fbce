"""Second implementation of privacy profiles for the reference table: mpmath at 60 digits, from the defining sums and integrals.

It shares no code and no formula with `dpaudit.accounting`: Gaussian and Laplace profiles are integrals of the positive part
of P - e^epsilon Q, discrete ones are sums of it, compositions are sums over all outcomes.

`python tests/reference/accounting_oracle.py` recomputes `accounting_profiles.json`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mpmath import mp, mpf

DIGITS = 60
TABLE = Path(__file__).with_name("accounting_profiles.json")


def gaussian(epsilon, *, mu_squared):
    """Mean of (1 - e^(epsilon - L))_+ over the normal loss L of mean mu^2/2 and variance mu^2."""
    mu_squared, epsilon = mpf(mu_squared), mpf(epsilon)
    mu = mp.sqrt(mu_squared)
    start = max(epsilon, mu_squared / 2 - 30 * mu)
    scale = mu / max(mpf(1), (start - mu_squared / 2) / mu)  # the integrand falls by a factor over such a step
    marks = [start + step * scale for step in (0, 0.25, 0.5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128)]
    height = mp.npdf(start, mu_squared / 2, mu)  # taken out, since mpmath measures its quadrature error absolutely
    body = mp.quad(lambda loss: (1 - mp.exp(epsilon - loss)) * mp.npdf(loss, mu_squared / 2, mu) / height, marks)
    return height * body + (mp.ncdf(start, mu_squared / 2, mu) - mp.ncdf(epsilon, mu_squared / 2, mu))


def laplace(epsilon, *, scale, sensitivity=1):
    """Integral of (p - e^epsilon q)_+ for two Laplace densities."""
    scale, sensitivity, epsilon = mpf(scale), mpf(sensitivity), mpf(epsilon)
    edge = (sensitivity + epsilon * scale) / 2
    if epsilon >= sensitivity / scale:
        return mpf(0)

    def gain(x):
        return (mp.exp(-abs(x - sensitivity) / scale) - mp.exp(epsilon - abs(x) / scale)) / (2 * scale)

    return mp.quad(gain, [edge, sensitivity, sensitivity + 5 * scale, sensitivity + 30 * scale, mp.inf])


def on_integers(epsilon, *, weight, sensitivity, reach):
    """Sum of (p - e^epsilon q)_+ over the integers, where p and q are `weight` around `sensitivity` and 0, normalised."""
    whole = sum(weight(x) for x in range(-reach, reach + 1))
    growth = mp.exp(mpf(epsilon))
    gains = (weight(x - sensitivity) - growth * weight(x) for x in range(-reach, reach + sensitivity + 1))
    return sum(max(gain, mpf(0)) for gain in gains) / whole


def discrete_gaussian(epsilon, *, sigma_squared, sensitivity):
    """Direct sum far beyond what 60 digits can see."""
    reach = int(mp.sqrt(2 * mpf(sigma_squared) * 1200)) + 10
    return on_integers(
        epsilon, weight=lambda x: mp.exp(-mpf(x * x) / (2 * mpf(sigma_squared))), sensitivity=sensitivity, reach=reach
    )


def discrete_laplace(epsilon, *, scale, sensitivity):
    """Direct sum far beyond what 60 digits can see."""
    reach = int(mpf(scale) * 180) + 10
    return on_integers(epsilon, weight=lambda x: mp.exp(-abs(mpf(x)) / mpf(scale)), sensitivity=sensitivity, reach=reach)


def responses(epsilon, *, step, categories, count, delta=0, mu_squared=0):
    """Multinomial sum over k-ary randomized response, `count` times, perhaps next to a Gaussian; KOV pair for k = 2 and delta."""
    step, epsilon, delta = mpf(step), mpf(epsilon), mpf(delta)
    whole = mp.exp(step) + categories - 1
    up, down, null = mp.exp(step) / whole, 1 / whole, mpf(categories - 2) / whole
    ways = {}
    for ups in range(count + 1):
        for downs in range(count + 1 - ups):
            if downs < count - ups and not null:
                continue
            nulls = count - ups - downs
            mass = mp.binomial(count, ups) * mp.binomial(count - ups, downs) * up**ups * down**downs * (null**nulls if nulls else 1)
            ways[ups - downs] = ways.get(ups - downs, mpf(0)) + mass
    if mu_squared:
        finite = sum(mass * gaussian(epsilon - excess * step, mu_squared=mu_squared) for excess, mass in ways.items())
    else:
        finite = sum(mass * max(mpf(0), 1 - mp.exp(epsilon - excess * step)) for excess, mass in ways.items())
    safe = (1 - delta) ** count
    return 1 - safe + safe * finite


def bounded_range(epsilon, *, width):
    """The largest of the two-point profiles with losses t and t - width, t on a grid refined around the best."""
    width, epsilon = mpf(width), mpf(epsilon)

    def two_points(top):
        p_top = (mp.exp(width) - mp.exp(top)) / (mp.exp(width) - 1)
        q_top = p_top * mp.exp(-top)
        growth = mp.exp(epsilon)
        return max(mpf(0), p_top - growth * q_top) + max(mpf(0), 1 - p_top - growth * (1 - q_top))

    low, high = max(epsilon, mpf(0)), width
    for _ in range(150):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if two_points(left) < two_points(right):
            low = left
        else:
            high = right
    return two_points((low + high) / 2)


def pair(epsilon, *, p, q, count):
    """Sum over all products of outcomes of `count` independent draws, the worse direction."""
    growth = mp.exp(mpf(epsilon))
    p, q = ([mpf(text.split("/")[0]) / mpf((text + "/1").split("/")[1]) for text in side] for side in (p, q))
    outcomes = [(mpf(1), mpf(1))]
    for _ in range(count):
        outcomes = [(a * left, b * right) for a, b in outcomes for left, right in zip(p, q, strict=True)]
    return max(sum(max(mpf(0), a - growth * b) for a, b in outcomes), sum(max(mpf(0), b - growth * a) for a, b in outcomes))


PROFILES = {
    function.__name__: function
    for function in (gaussian, laplace, discrete_gaussian, discrete_laplace, responses, bounded_range, pair)
}


def recompute(row):
    """The number of a row: delta at an epsilon, or the root of the profile at a delta."""
    with mp.workdps(DIGITS):
        profile, arguments = PROFILES[row["oracle"]], row["arguments"]
        if "epsilon" in row["ask"]:
            return profile(row["ask"]["epsilon"], **arguments)
        target = mp.log(mpf(row["ask"]["delta"]))
        near = mpf(row["near"])
        with mp.workdps(30):  # the root is only as exact as its start is good; 25 digits are kept
            return mp.findroot(
                lambda epsilon: mp.log(profile(epsilon, **arguments)) - target, (near, near * mpf("1.0001")), tol=1e-40
            )


def main():
    """Write the table anew."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    for row in table["rows"]:
        digits = 30 if "epsilon" in row["ask"] else 20
        with mp.workdps(DIGITS):
            row["value"] = mp.nstr(recompute(row), digits, min_fixed=0, max_fixed=0)
        sys.stdout.write(f"{row['loss']} {row['ask']} {row['value']}\n")
    TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
