"""Second implementation for compositions: inversion of the moment function along a line, in doubles, no lattice of losses.

delta(e) = (1/pi) * integral over t > 0 of Re[M(z) exp(-z e)/(z (1 + z))], z = theta + i t, where M(z) is the product of the
moment functions E_P[exp(z L)] of all releases. The trapezoidal rule converges geometrically in its step; the integrand is
followed until what is left is negligible. Doubles lose about k * 1e-15 relative for k releases, which bounds the digits kept.

Run `python tests/reference/composition_oracle.py` to write the table anew.
"""

import json
import sys
from pathlib import Path

import numpy as np

TABLE = Path(__file__).with_name("accounting_compositions.json")
DIGITS = 8


def log_gaussian(z, *, mu):
    """log E_P[e^(zL)] for N(mu, 1) against N(0, 1)."""
    return z * (z + 1) * mu * mu / 2


def log_laplace(z, *, pure):
    """The same for Laplace noise with greatest loss `pure`."""
    return z * pure + np.log(((z + 1) + z * np.exp(-(2 * z + 1) * pure)) / (2 * z + 1))


def log_sampled(z, *, mu, rate, adding=False):
    """The same for a Poisson-sampled Gaussian, by the trapezoidal rule over the output."""
    theta = np.real(z).max()
    step = 1 / 256 if np.abs(np.imag(z)).max() * mu > 30 else 1 / 48
    x = np.arange(-14 - mu, mu * (2 + theta) + 14, step)
    mixture = np.log1p(rate * np.expm1(mu * x - mu * mu / 2))
    power = -z if adding else z + 1
    exponent = power[..., None] * mixture - x * x / 2 + np.log(step / np.sqrt(2 * np.pi))
    return np.log1p(np.exp(exponent).sum(axis=-1) - 1)


LAWS = {"gaussian": log_gaussian, "laplace": log_laplace, "sampled": log_sampled}


def log_moment(z, parts):
    """Sum over all releases; `parts` lists (name of the law, arguments, count)."""
    z = np.atleast_1d(np.asarray(z, dtype=complex))
    return sum(count * LAWS[name](z, **arguments) for name, arguments, count in parts)


def delta(epsilon, parts):
    """Logarithm of delta at an epsilon."""
    low, high = -12.0, 8.0
    with np.errstate(all="ignore"):
        return _delta(epsilon, parts, low, high)


def _delta(epsilon, parts, low, high):
    """Delta at an epsilon, the logarithm to base 2 of the best tilt between two bounds."""
    for _ in range(60):  # the tilt at which the logarithm of the integrand is flat
        middle = (low + high) / 2
        theta, h = 2.0**middle, 2.0 ** (middle - 12)
        ends = log_moment(np.array([theta + h, theta - h]), parts).real
        slope = (ends[0] - ends[1]) / (2 * h) - epsilon - 1 / theta - 1 / (1 + theta)
        low, high = (middle, high) if slope <= 0 else (low, middle)  # overflow counts as too steep
    theta, h = 2.0**low, 2.0 ** (low - 8)
    values = log_moment(np.array([theta + h, theta, theta - h]), parts).real
    deviation = np.sqrt(max((values[0] - 2 * values[1] + values[2]) / h**2, 0) + 1 / theta**2)
    dt = min(0.1 / deviation, theta / 12, 2 * np.pi / (60 / theta))
    base, total, start, chunk = values[1] - theta * epsilon, 0.0, 0, 400
    while True:
        z = theta + 1j * dt * np.arange(start, start + chunk)
        terms = np.exp(log_moment(z, parts) - z * epsilon - base) / (z * (1 + z))
        total += terms.real.sum() - (terms[0].real / 2 if start == 0 else 0)
        if np.abs(terms[-40:]).max() < 1e-13 * np.abs(total) / 40 or start * dt > 4000:
            return base + np.log(total * dt / np.pi)
        start += chunk


def rounded(log_value):
    """A number with this natural logarithm, in decimal, however small."""
    exponent = int(np.floor(log_value / np.log(10)))
    return f"{np.exp(log_value - exponent * np.log(10)):.{DIGITS - 1}f}e{exponent}"


def main():
    """Write the table anew."""
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    for row in table["rows"]:
        row["value"] = rounded(delta(float(row["epsilon"]), row["parts"]))
        sys.stdout.write(f"{row['loss']} {row['epsilon']} {row['value']}\n")
    TABLE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
