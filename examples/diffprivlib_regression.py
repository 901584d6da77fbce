"""diffprivlib's linear regression with bounds from 0 to 100, its twin with symmetric bounds, and its mean.

Needs diffprivlib (`pip install diffprivlib "scikit-learn<1.8"`). Try `dpaudit audit examples/diffprivlib_regression.py:target`
(refuted by version 0.6.6: squares of a feature get noise for a sensitivity of 0, since its lower bound is taken for both), and
`:corrected` and `:mean` (consistent).
"""

from functools import partial

import numpy as np
from diffprivlib import models, tools

from dpaudit.interop import from_diffprivlib

# Rows are (feature, label). One person's feature is replaced; nothing else is.
PAIR = (np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([[1.0, 1.0], [100.0, 1.0]]))


def regression(lower: float) -> models.LinearRegression:
    """A regression without intercept on a feature from `lower` to 100."""
    return models.LinearRegression(epsilon=1.0, bounds_X=(lower, 100), bounds_y=(0, 1), fit_intercept=False)


# A fit takes over a millisecond, so few are made.
given = {"neighbours": [PAIR], "released": ["coef_"], "most_runs": 4000}
target = from_diffprivlib(regression(0), **given, name="regression_from_0", description="how does y grow with x?")
corrected = from_diffprivlib(regression(-100), **given, name="regression_symmetric")
mean = from_diffprivlib(partial(tools.mean, epsilon=1.0, bounds=(0, 10)), data=[0.0, 10.0, 5.0, 5.0], name="mean")
