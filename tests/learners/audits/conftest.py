"""A lower bound on how far two samples are apart, for audits from inside."""

from __future__ import annotations

import pytest
from scipy.stats import beta, norm

LEVEL = 1e-9


@pytest.fixture(scope="session")
def certified():
    """A lower bound on mu from the shares of two samples above a threshold between them, wrong with probability `LEVEL`.

    Clopper and Pearson for each share.
    """

    def upper(hits, runs):
        return beta.ppf(1 - LEVEL / 2, hits + 1, runs - hits)

    def bound(first, second):
        threshold = (first.mean() + second.mean()) / 2
        false, missed = int((first > threshold).sum()), int((second <= threshold).sum())
        return float(-norm.ppf(upper(false, len(first))) - norm.ppf(upper(missed, len(second))))

    return bound
