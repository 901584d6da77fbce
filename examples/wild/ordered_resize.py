"""OpenDP 0.16.0, `make_resize` for ordered datasets: longer lists are cut in order, those of the right length are shuffled."""

# requires: opendp==0.16.0 numpy

import itertools
from collections import Counter

import opendp.prelude as dp
from _entry import expect, show

from dpaudit.interop import from_opendp

dp.enable_features("contrib")
SIZE = 3
ORDERED = (dp.vector_domain(dp.atom_domain(T=int)), dp.insert_delete_distance())
RESIZE = dp.t.make_resize(*ORDERED, size=SIZE, constant=0, MO="InsertDeleteDistance")
RIGHT, LONGER = [1, 2, 3], [1, 2, 3, 4]

target = from_opendp(RESIZE, neighbours=[(LONGER, RIGHT)], name="make_resize", public_data=True, most_runs=30_000)


def insertions_and_deletions(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Return the insert-delete distance of two short lists, by their longest common subsequence."""
    common = max(
        len(kept)
        for size in range(len(one) + 1)
        for kept in itertools.combinations(one, size)
        if kept in set(itertools.combinations(other, size))
    )
    return len(one) + len(other) - 2 * common


def confirm() -> None:
    """Compare the outputs on two lists that differ by one insertion: no pairing of them keeps all within the map's distance."""
    stated = RESIZE.map(1)
    longer, right = (Counter(tuple(RESIZE(data)) for _ in range(3_000)) for data in (LONGER, RIGHT))
    print(f"stability of one insertion, as stated: {stated}; outputs on {LONGER}: {dict(longer)}; on {RIGHT}: {dict(right)}")
    expect(set(longer) == {(1, 2, 3)}, "the longer list is cut in order")
    far = max(insertions_and_deletions((1, 2, 3), seen) for seen in right)
    print(f"so the outputs are up to {far} insertions and deletions apart, in every pairing")
    expect(far > stated, "farther than stated")


if __name__ == "__main__":
    confirm()
    show(target, runs=30_000)
