"""Clients of multi-freq-ldpy 0.2.5 in which nothing was found; those for many collections by what one report may cost."""

# requires: multi-freq-ldpy==0.2.5

from collections.abc import Callable

import numpy as np
from _entry import show_table
from multi_freq_ldpy.long_freq_est.dBitFlipPM import dBitFlipPM_Client
from multi_freq_ldpy.long_freq_est.L_ADP import L_ADP_Client
from multi_freq_ldpy.long_freq_est.L_GRR import L_GRR_Client
from multi_freq_ldpy.long_freq_est.L_OSUE import L_OSUE_Client
from multi_freq_ldpy.long_freq_est.L_OUE import L_OUE_Client
from multi_freq_ldpy.long_freq_est.L_SOUE import L_SOUE_Client
from multi_freq_ldpy.long_freq_est.L_SUE import L_SUE_Client
from multi_freq_ldpy.mdim_freq_est.SMP_solution import SMP_GRR_Client, SMP_UE_Client
from multi_freq_ldpy.mdim_freq_est.SPL_solution import SPL_GRR_Client, SPL_UE_Client
from multi_freq_ldpy.pure_frequency_oracles.ADP import ADP_Client
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

from dpaudit.interop import from_client

K, D = 4, 2
ONE: dict[str, Callable[[int], object]] = {
    "GRR_Client": lambda value: GRR_Client(value, K, 1.0),
    "UE_Client, symmetric": lambda value: UE_Client(value, K, 1.0, optimal=False),
    "UE_Client, optimised": lambda value: UE_Client(value, K, 1.0, optimal=True),
    "HE_Client": lambda value: HE_Client(value, K, 1.0),
    "ADP_Client": lambda value: ADP_Client(value, K, 1.0),
    "dBitFlipPM_Client": lambda value: dBitFlipPM_Client(value, K, 4, 2, 1.0),
    "L_GRR_Client": lambda value: L_GRR_Client(value, 2, 2.0, 1.0),
    "L_SUE_Client": lambda value: L_SUE_Client(value, K, 2.0, 1.0),
    "L_OUE_Client": lambda value: L_OUE_Client(value, K, 2.0, 1.0),
    "L_SOUE_Client": lambda value: L_SOUE_Client(value, K, 2.0, 1.0),
    "L_OSUE_Client": lambda value: L_OSUE_Client(value, K, 2.0, 1.0),
    "L_ADP_Client": lambda value: L_ADP_Client(value, K, 2.0, 1.0),
}
MANY: dict[str, Callable[[tuple[int, ...]], object]] = {
    "SPL_GRR_Client": lambda values: SPL_GRR_Client(values, [K] * D, D, 1.0),
    "SPL_UE_Client": lambda values: SPL_UE_Client(values, [K] * D, D, 1.0),
    "SMP_GRR_Client": lambda values: SMP_GRR_Client(values, [K] * D, D, 1.0),
    "SMP_UE_Client": lambda values: SMP_UE_Client(values, [K] * D, D, 1.0),
}


def plain(told: object) -> object:
    """Return a report as tuples of numbers."""
    return tuple(plain(one) for one in told) if isinstance(told, (list, tuple, np.ndarray)) else float(told)


TARGETS = [
    from_client(lambda value, client=client: plain(client(value)), epsilon=1, values=values, name=name, public_data=True)
    for clients, values in ((ONE, [0, 1]), (MANY, [(0, 0), (1, 1)]))
    for name, client in clients.items()
]

if __name__ == "__main__":
    show_table(TARGETS)
