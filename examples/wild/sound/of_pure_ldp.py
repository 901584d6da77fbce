"""Clients of pure-ldp 1.2.0 in which nothing was found."""

# requires: pure-ldp==1.2.0 scikit-learn statsmodels xxhash<3.6

from _entry import show_table
from pure_ldp.frequency_oracles.apple_cms import CMSClient
from pure_ldp.frequency_oracles.direct_encoding import DEClient
from pure_ldp.frequency_oracles.hadamard_mechanism import HadamardMechClient
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient
from pure_ldp.frequency_oracles.histogram_encoding import HEClient
from pure_ldp.frequency_oracles.local_hashing import FastLHClient, LHClient
from pure_ldp.frequency_oracles.priv_count_sketch import PCSClient
from pure_ldp.frequency_oracles.unary_encoding import UEClient

from dpaudit.interop import from_client

SIZE, EPSILON = 4, 1.0
HASHES = [lambda text, shift=shift: (int(text) + shift) % SIZE for shift in range(2)]
PAIRS = [(one, lambda text, shift=shift: (int(text) >> shift) % 2) for shift, one in enumerate(HASHES)]

CLIENTS = {
    "DEClient": DEClient(EPSILON, SIZE, index_mapper=int),
    "UEClient, symmetric": UEClient(EPSILON, SIZE, use_oue=False, index_mapper=int),
    "UEClient, optimised": UEClient(EPSILON, SIZE, use_oue=True, index_mapper=int),
    "HEClient": HEClient(EPSILON, SIZE, index_mapper=int),
    "CMSClient": CMSClient(EPSILON, HASHES, SIZE),
    "CMSClient, Hadamard": CMSClient(EPSILON, HASHES, SIZE, is_hadamard=True),
    "PCSClient": PCSClient(EPSILON, 2, SIZE, PAIRS),
    "HadamardResponseClient": HadamardResponseClient(EPSILON, SIZE, [], index_mapper=int),
    "LHClient, optimised": LHClient(EPSILON, SIZE, use_olh=True, index_mapper=int),
    "FastLHClient": FastLHClient(EPSILON, SIZE, 3, g=2, index_mapper=int),
    "HadamardMechClient, values": HadamardMechClient(EPSILON, SIZE, 2, index_mapper=int),
}


def plain(told: object) -> object:
    """Return a report as tuples of numbers, as it would be sent; local hashing's seeds of 63 bits are left out."""
    if isinstance(told, (list, tuple, zip)):
        return tuple(plain(one) for one in told)
    return tuple(float(one) for one in told) if hasattr(told, "__len__") else float(told)


TARGETS = [
    from_client(lambda value, client=client: plain(client.privatise(value)), epsilon=1, values=[0, 1], name=name, public_data=True)
    for name, client in CLIENTS.items()
]

if __name__ == "__main__":
    show_table(TARGETS)
