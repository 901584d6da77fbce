"""Measurements of OpenDP 0.16.0, and its resize of unordered datasets, in which nothing was found."""

# requires: opendp==0.16.0 numpy

import opendp.prelude as dp
from _entry import show_table

from dpaudit.interop import from_opendp

dp.enable_features("contrib")
NUMBER = (dp.atom_domain(T=int), dp.absolute_distance(T=int))
REAL = (dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float))
ROWS = (dp.vector_domain(dp.atom_domain(T=int, bounds=(0, 10))), dp.symmetric_distance())
WHOLE = (dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())

PARTS = {
    "make_laplace, integers": (dp.m.make_laplace(*NUMBER, scale=1.0), 1, (3, 4)),
    "make_laplace, floats": (dp.m.make_laplace(*REAL, scale=1.0), 1.0, (0.0, 1.0)),
    "make_gaussian, integers": (dp.m.make_gaussian(*NUMBER, scale=1.0), 1, (3, 4)),
    "make_geometric": (dp.m.make_geometric(*NUMBER, scale=1.0), 1, (3, 4)),
    "make_randomized_response_bool": (dp.m.make_randomized_response_bool(prob=0.75), 1, (False, True)),
    "make_sum, then Laplace": (dp.t.make_sum(*ROWS) >> dp.m.then_laplace(scale=10.0), 1, ([1, 2], [1, 2, 10])),
    "make_count, then Laplace": (dp.t.make_count(*WHOLE) >> dp.m.then_laplace(scale=1.0), 1, ([1, 2], [1, 2, 10])),
    "make_resize, unordered": (dp.t.make_resize(*WHOLE, size=3, constant=0), 1, ([1, 2, 3, 4], [1, 2, 3])),
}

TARGETS = [
    from_opendp(part, d_in=distance, neighbours=[pair], name=name, public_data=True)
    for name, (part, distance, pair) in PARTS.items()
]

if __name__ == "__main__":
    show_table(TARGETS)
