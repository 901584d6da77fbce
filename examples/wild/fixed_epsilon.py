"""GeoPrivacy 0.0.4, `DataProcessor.build_model`: the matrix is computed with epsilon 0.5, whatever epsilon is asked for."""

# requires: GeoPrivacy==0.0.4

import contextlib
import io
import math

import numpy as np
from _entry import expect, show
from GeoPrivacy.processor import DataProcessor

from dpaudit.interop import from_client

EPSILON = 0.1
PLACES = [(0.0, 0.0), (2.0, 0.0), (0.0, 3.0)]


def model() -> DataProcessor:
    """Return the library's mechanism of best utility for three places, asked for with epsilon 0.1 a unit of distance."""
    processor = DataProcessor(PLACES, [1, 1, 1])
    processor.choose_metric("euclidean")
    with contextlib.redirect_stdout(io.StringIO()):
        processor.build_model(EPSILON, 1.1, "optql")
    return processor


MODEL = model()

target = from_client(
    lambda place: int(MODEL.generate_point(place)), epsilon="0.2", values=[0, 1], name="generate_point", public_data=True
)


def confirm() -> None:
    """Read the cost of every pair of places from the matrix of probabilities that the library draws from."""
    matrix = MODEL.p_matrix
    for one, other in ((0, 1), (0, 2), (1, 2)):
        distance = math.dist(PLACES[one], PLACES[other])
        cost = float(np.max(np.abs(np.log(matrix[one] / matrix[other]))))
        print(f"places {one} and {other}, {distance:.2f} apart: the cost is {cost:.4f}, {cost / distance:.4f} a unit of {EPSILON}")
    cost = float(np.max(np.abs(np.log(matrix[0] / matrix[1]))))
    expect(cost > 4 * EPSILON * math.dist(PLACES[0], PLACES[1]), "more than four times the epsilon")


if __name__ == "__main__":
    confirm()
    show(target, runs=40_000)
