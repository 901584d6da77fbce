"""Mechanisms of trasgodp 2.1.0 in which nothing was found, with every category held by a person who stays."""

# requires: trasgodp==2.1.0 --no-deps folium pandas scipy

from collections.abc import Callable

from _entry import show_table
from trasgodp.categorical import (
    dp_exponential_array,
    dp_randomized_response_binary_array,
    dp_randomized_response_kary_array,
)
from trasgodp.numerical import dp_clip_gaussian_array, dp_clip_laplace_array

from dpaudit import ApproxDP, Claim, PureDP
from dpaudit.interop import from_function

NUMBERS = ([0.0, 5.0], [0.0, 10.0])
LETTERS = (["a", "b", "c", "a"], ["a", "b", "c", "b"])
BITS = (["a", "b", "a"], ["a", "b", "b"])
PURE = PureDP(epsilon=1)

PARTS: dict[str, tuple[Callable[[list], object], tuple[list, list], object]] = {
    "dp_clip_laplace_array": (lambda values: dp_clip_laplace_array(values, 1.0, 0.0, 10.0), NUMBERS, PURE),
    "dp_clip_gaussian_array": (lambda values: dp_clip_gaussian_array(values, 1.0, 0.0, 10.0, 0.01), NUMBERS, ApproxDP(1, "0.01")),
    "dp_exponential_array": (lambda values: dp_exponential_array(values, 1.0), LETTERS, PURE),
    "dp_randomized_response_kary_array": (lambda values: dp_randomized_response_kary_array(values, 1.0), LETTERS, PURE),
    "dp_randomized_response_binary_array": (lambda values: dp_randomized_response_binary_array(values, 1.0), BITS, PURE),
}

TARGETS = [
    from_function(
        lambda values, release=release: tuple(release(values).tolist()),
        claim=Claim(guarantee, adjacency="replace_one"),
        neighbours=[pair],
        name=name,
        public_data=True,
    )
    for name, (release, pair, guarantee) in PARTS.items()
]

if __name__ == "__main__":
    show_table(TARGETS)
