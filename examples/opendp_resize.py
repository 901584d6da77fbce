"""OpenDP's `make_resize` for ordered datasets, by the stability that its map promises, and a measurement that is what it claims.

Needs OpenDP (`pip install opendp`). Try `dpaudit audit examples/opendp_resize.py:target` (refuted for version 0.16.0: lists that
have the right length already come out shuffled) and `dpaudit audit examples/opendp_resize.py:noisy_sum` (consistent).
"""

import opendp.prelude as dp

from dpaudit.interop import from_opendp

dp.enable_features("contrib")

# Ordered datasets: neighbours differ by one insertion or deletion. The map says that resized ones differ by at most two.
ordered = (dp.vector_domain(dp.atom_domain(T=int)), dp.insert_delete_distance())
resize = dp.t.make_resize(*ordered, size=3, constant=0, MO="InsertDeleteDistance")
target = from_opendp(resize, name="resize_ordered", description="is one record added or removed at most two after resizing?")

# The same for multisets, where the order does not count: the map is right.
unordered = (dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance())
corrected = from_opendp(dp.t.make_resize(*unordered, size=3, constant=0), name="resize_unordered")

# A measurement is audited by what it gives out. Data are made from the domain: numbers from 0 to 10 here.
people = (dp.vector_domain(dp.atom_domain(T=float, bounds=(0.0, 10.0))), dp.symmetric_distance())
noisy_sum = from_opendp(dp.t.make_sum(*people) >> dp.m.then_laplace(scale=10.0), name="noisy_sum")
