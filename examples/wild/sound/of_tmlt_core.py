"""Noise of tmlt-core 0.20.0 (Tumult) in which nothing was found; its measurements on Spark tables were not audited."""

# requires: tmlt-core==0.20.0 --no-deps pandas<3 pyspark<5 pyarrow<24 sympy<1.13 randomgen<2.4 typeguard<5 setuptools

import numpy as np
import pandas as pd
from _entry import show_table
from tmlt.core.domains.numpy_domains import NumpyFloatDomain, NumpyIntegerDomain
from tmlt.core.domains.pandas_domains import PandasSeriesDomain
from tmlt.core.measurements import noise_mechanisms
from tmlt.core.measurements.pandas_measurements.series import NoisyQuantile
from tmlt.core.measures import PureDP as TumultPureDP

from dpaudit import ZCDP, Claim, PureDP
from dpaudit.interop import from_function

FEWER, MORE = [0, 9, 3], [0, 9, 3, 9]
INTEGERS, FLOATS = NumpyIntegerDomain(), NumpyFloatDomain()
QUANTILE = NoisyQuantile(PandasSeriesDomain(INTEGERS), output_measure=TumultPureDP(), quantile=0.5, lower=0, upper=10, epsilon=1)
CASES = {
    "AddGeometricNoise": (PureDP(epsilon=1), noise_mechanisms.AddGeometricNoise(alpha=1), np.int64),
    "AddLaplaceNoise": (PureDP(epsilon=1), noise_mechanisms.AddLaplaceNoise(input_domain=FLOATS, scale=1), np.float64),
    "AddDiscreteGaussianNoise": (ZCDP("1/2"), noise_mechanisms.AddDiscreteGaussianNoise(sigma_squared=1), np.int64),
    "AddGaussianNoise": (ZCDP("1/2"), noise_mechanisms.AddGaussianNoise(input_domain=FLOATS, sigma_squared=1), np.float64),
}
TARGETS = [
    from_function(
        lambda records, measure=measure, kind=kind: measure(kind(len(records))),
        claim=Claim(guarantee, adjacency="add_remove"),
        neighbours=[(FEWER, MORE)],
        name=name,
        public_data=True,
        most_runs=20_000,
    )
    for name, (guarantee, measure, kind) in CASES.items()
] + [
    from_function(
        lambda records: QUANTILE(pd.Series(records, dtype="int64")),
        claim=Claim(PureDP(epsilon=1), adjacency="add_remove"),
        neighbours=[(FEWER, MORE)],
        name="NoisyQuantile",
        public_data=True,
        most_runs=10_000,
    )
]

if __name__ == "__main__":
    show_table(TARGETS)
