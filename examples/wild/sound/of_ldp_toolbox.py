"""Protocols of ldp-toolbox 0.1.3 in which nothing was found."""

# requires: ldp-toolbox==0.1.3 --no-deps numba xxhash scipy joblib

import numpy as np
from _entry import show_table
from ldp_toolbox.protocols.frequency.grr import GeneralizedRandomizedResponse
from ldp_toolbox.protocols.frequency.he import HistogramEncoding
from ldp_toolbox.protocols.frequency.ss import SubsetSelection
from ldp_toolbox.protocols.frequency.ue import UnaryEncoding

from dpaudit.interop import from_client

K, EPSILON = 6, 1.0
PROTOCOLS = {
    "GeneralizedRandomizedResponse": GeneralizedRandomizedResponse(K, EPSILON),
    "UnaryEncoding, symmetric": UnaryEncoding(K, EPSILON, optimal=False),
    "UnaryEncoding, optimised": UnaryEncoding(K, EPSILON, optimal=True),
    "SubsetSelection": SubsetSelection(K, EPSILON),
    "HistogramEncoding": HistogramEncoding(K, EPSILON, thresholding=False),
    "HistogramEncoding, threshold": HistogramEncoding(K, EPSILON, thresholding=True),
}

TARGETS = [
    from_client(
        lambda value, protocol=protocol: tuple(float(one) for one in np.atleast_1d(protocol.obfuscate(value))),
        epsilon=1,
        values=[0, 1],
        name=name,
        public_data=True,
    )
    for name, protocol in PROTOCOLS.items()
]

if __name__ == "__main__":
    show_table(TARGETS)
