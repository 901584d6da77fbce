"""Two methods for compositions, in doubles: moment functions inverted along a line, and products of laws on a fine lattice.

**Along a line.**
delta(e) = (1/pi) * integral over t > 0 of Re[M(z) exp(-z e)/(z (1 + z))], z = theta + i t, where M(z) is the product of the
moment functions E_P[exp(z L)] of all releases. The trapezoidal rule converges geometrically in its step; the integrand is
followed until what is left is negligible. Doubles lose about k * 1e-15 relative for k releases, which bounds the digits kept.
Where atoms of the laws revive the integrand far out, this does not end; the other method, or a formula, is used instead.

**On a lattice.** Each law is cut into many small parts of known loss; each part is spread over the two lattice points next to it
so that both its masses are kept; tilted masses are composed by a Fourier transform. The answer exceeds the truth by a series in
even powers of the step, of which the first is removed by taking two steps (Richardson). No error is bounded here: agreement with
the other method is what speaks for both.
"""

import numpy as np

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


def log_response(z, *, step, categories):
    """The same for k-ary randomised response."""
    whole = np.exp(step) + categories - 1
    return np.log((np.exp(step * (z + 1)) + np.exp(-step * z) + categories - 2) / whole)


LAWS = {"gaussian": log_gaussian, "laplace": log_laplace, "sampled": log_sampled, "response": log_response}


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


def pieces(name, arguments):
    """Losses and P masses of many small parts of a law: trapezoidal rule over the output of a Gaussian, sampled or not."""
    mu, rate, adding = arguments["mu"], arguments.get("rate", 1.0), arguments.get("adding", False)
    x = np.linspace(-16.0, 16.0 + mu, 400_001) if name == "sampled" else np.linspace(mu - 16.0, mu + 16.0, 400_001)
    plain = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * (x[1] - x[0])
    losses = np.log1p(rate * np.expm1(mu * x - mu * mu / 2)) if rate < 1 else mu * x - mu * mu / 2
    if adding:
        return -losses, plain
    return losses, plain * np.exp(losses)


def lattice(name, arguments, tilt, step):
    """Tilted masses on multiples of the step: the first index, the masses, and the logarithm of what they were divided by."""
    losses, masses = pieces(name, arguments)
    keep = (masses > 1e-280) & (losses < 1.2e3)
    losses, masses = losses[keep], masses[keep]
    below = np.floor(losses / step).astype(np.int64)
    right = -np.expm1(below * step - losses) / -np.expm1(-step)
    first = int(below.min())
    top = tilt * losses.max()
    sizes = int(below.max()) - first + 2
    result = np.bincount(below - first, masses * (1 - right) * np.exp(tilt * below * step - top), sizes)
    result += np.bincount(below - first + 1, masses * right * np.exp(tilt * (below + 1) * step - top), sizes)
    return first, result / result.sum(), np.log(result.sum()) + top


def _on_lattice(epsilon, parts, tilt, points):
    """Logarithm of delta with a step such that epsilon is the point of this number."""
    step, logarithm = epsilon / points, -tilt * epsilon
    laws = [(*lattice(name, arguments, tilt, step), count) for name, arguments, count in parts]
    moments = [_mean_and_variance(first, masses, step, count) for first, masses, _, count in laws]
    deviation = np.sqrt(sum(variance for _, variance in moments))
    reach = int((14 * deviation + 40 / tilt + abs(sum(mean for mean, _ in moments) - epsilon)) / step)
    size = 1 << int(np.ceil(np.log2(2 * reach)))
    spectrum, start = np.ones(size, dtype=complex), 0
    for first, masses, scale, count in laws:
        folded = np.bincount(np.arange(len(masses)) % size, masses, size)
        spectrum *= np.fft.fft(folded) ** count
        start, logarithm = start + count * first, logarithm + count * scale
    composed = np.roll(np.fft.ifft(spectrum).real, (start - points + reach) % size)[:size]
    gaps = step * np.arange(1, size - reach)
    weights = np.exp(-tilt * gaps) * -np.expm1(-gaps)
    return logarithm + np.log(np.dot(np.maximum(composed[reach + 1 :], 0), weights))


def _mean_and_variance(first, masses, step, count):
    """Of `count` draws from tilted masses."""
    places = step * (first + np.arange(len(masses)))
    mean = np.dot(places, masses)
    return count * mean, count * np.dot((places - mean) ** 2, masses)


def convolved(epsilon, parts, *, tilt, points):
    """Logarithm of delta at an epsilon from two lattices, the finer one with twice the points below epsilon."""
    coarse, fine = (_on_lattice(epsilon, parts, tilt, number) for number in (points, 2 * points))
    return (4 * fine - coarse) / 3


def sampled_laplace_twice(epsilon, *, scale, rate, cells=1500):
    """Delta of two Poisson samples of Laplace noise, removal, by the product of two laws of finitely many parts."""
    coarse, fine = (_product(epsilon, scale, rate, number) for number in (cells, 2 * cells))
    return (4 * fine - coarse) / 3


def _product(epsilon, scale, rate, cells):
    """All pairs of parts: the two ends, and cells between the centres whose masses are known exactly."""
    x = np.linspace(0.0, 1.0, cells + 1)
    without = np.concatenate([[0.5], -np.diff(np.exp(-x / scale)) / 2, [np.exp(-1 / scale) / 2]])
    whole = rate * without[::-1] + (1 - rate) * without
    gains = whole[:, None] * whole[None, :] - np.exp(epsilon) * without[:, None] * without[None, :]
    return np.maximum(gains, 0).sum()
