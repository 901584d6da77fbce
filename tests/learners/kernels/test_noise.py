"""Scales of noise: found in a few prices, however steeply the price falls."""

from fractions import Fraction
from types import SimpleNamespace

import pytest

from dpaudit.errors import Unsupported
from learners.kernels.noise import find_noise_scale

EPSILON, DELTA = Fraction(1, 4), Fraction(1, 10)


def steep(power, away, asked):
    """A loss whose epsilon is (away / scale)^power - 1, or 0 where that is below."""

    def loss(scale):
        asked.append(scale)
        upper = max(Fraction(0), Fraction(away, scale) ** power - 1)
        return SimpleNamespace(epsilon=lambda delta: SimpleNamespace(upper=upper))

    return loss


@pytest.mark.parametrize("power", [1, 2, 5, 20])
@pytest.mark.parametrize("start", [1, 700, 5_000, 20_000])
def test_few_prices_are_asked_for(power, start):
    asked = []
    scale = find_noise_scale(steep(power, 5_000, asked), start, epsilon=EPSILON, delta=DELTA)
    loss = steep(power, 5_000, [])
    assert loss(scale).epsilon(DELTA).upper <= EPSILON
    assert loss(scale - 1 - scale // 64).epsilon(DELTA).upper > Fraction(97, 100) * EPSILON
    assert len(asked) <= 40


def test_a_loss_that_never_falls_is_refused():
    constant = SimpleNamespace(epsilon=lambda delta: SimpleNamespace(upper=Fraction(1)))
    with pytest.raises(Unsupported, match="DPA202"):
        find_noise_scale(lambda scale: constant, 3, epsilon=EPSILON, delta=DELTA)
