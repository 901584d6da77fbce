"""Charts drawn without another library: round ticks, gaps where there is no number, marks inside, legible and well-formed."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree as ET

import pytest

from dpaudit.report.drawing import Axis, Band, Frame, Line, draw, labels_that_fit, linear_ticks, log_ticks
from dpaudit.report.plots import tick

UNIT = Axis("across", 0, 1, linear_ticks(0, 1))
WORDS = {"title": "A < B", "description": "How & why", "key": "k"}
SVG = "{http://www.w3.org/2000/svg}"


def drawn(*shapes, across=UNIT, up=UNIT):
    return ET.fromstring(draw(shapes, across, up, **WORDS))  # noqa: S314 - our own drawing


@pytest.mark.parametrize(
    ("ends", "texts"),
    [
        ((0, 1.03), ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
        ((0, 0.7), ["0", "0.2", "0.4", "0.6"]),
        ((0, 2), ["0", "0.5", "1", "1.5", "2"]),
        ((-1, 1), ["-1", "-0.5", "0", "0.5", "1"]),
        ((0, 27), ["0", "5", "10", "15", "20", "25"]),
        ((0, 3e6), ["0", "500000", "1e+06", "1.5e+06", "2e+06", "2.5e+06", "3e+06"]),
        ((1, 1.001), ["1", "1.0002", "1.0004", "1.0006", "1.0008", "1.001"]),
    ],
)
def test_ticks_are_round_values_inside_the_axis(ends, texts):
    found = linear_ticks(*ends)
    assert texts == [text for _, text in found]
    assert all(ends[0] - 1e-9 <= value <= ends[1] + 1e-9 for value, _ in found)


def test_ticks_of_exponents_are_integers():
    assert [0.0, 1.0] == [value for value, _ in linear_ticks(-0.1, 1.2, most=8, whole=True)]
    assert all(value == int(value) for value, _ in linear_ticks(-3, 17, most=8, whole=True))


def test_a_logarithmic_axis_names_powers_of_ten_from_its_lowest_on():
    assert ["0.01", "0.1", "1"] == [text for _, text in log_ticks(0.008, 1.5, tick)]
    many = log_ticks(1e-30, 1.5, tick)
    assert "10\u207b\u00b3\u2070" == many[0][1]
    assert len(many) <= 8


def test_a_short_logarithmic_axis_names_multiples_of_powers():
    assert ["0.002", "0.005"] == [text for _, text in log_ticks(0.0015, 0.006, tick)]


def test_labels_below_an_axis_do_not_touch():
    assert 2 <= labels_that_fit(Frame(), "1,000,000,000,000") < labels_that_fit(Frame(), "10")


def test_a_number_that_is_not_finite_leaves_a_gap():
    line = Line([(0, 0), (0.2, 0.2), (0.4, math.nan), (0.6, 0.6), (0.8, math.inf), (0.9, 0.9), (1, 1)], "claim")
    (path,) = [one for one in drawn(line).iter(f"{SVG}path") if one.get("stroke") == "var(--claim)"]
    assert 3 == path.get("d").count("M")
    area = drawn(Band([(0, 0, 1), (0.5, 0, math.nan), (0.7, 0, 1), (1, 0, 1)], "price", 0.5))
    (path,) = [one for one in area.iter(f"{SVG}path") if one.get("fill") == "var(--price)"]
    assert 2 == path.get("d").count("Z")


def test_marks_off_the_chart_are_left_out():
    assert 2 == len(list(drawn(Line([(0, 0), (1, 1), (0.5, 2), (-1, 0.5)], "attack", 0, marker="dot")).iter(f"{SVG}circle")))


def test_numbers_far_off_the_chart_stay_small_in_the_file():
    (path,) = [one for one in drawn(Line([(0, 0), (1, 1e300)], "claim")).iter(f"{SVG}path") if "claim" in one.get("stroke", "")]
    assert all(abs(float(number)) < 2000 for number in re.findall(r"-?\d+\.?\d*", path.get("d")))


def test_the_legend_names_each_line_with_a_label_once():
    texts = [one.text for one in drawn(Line([(0, 0)], "claim", label="claim"), Line([], "price", label="price"))[-4:]]
    assert ["claim", "price"] == [text for text in texts if text]


def test_a_drawing_says_what_it_shows_to_those_who_cannot_see_it():
    found = drawn()
    assert ("img", "k-title k-description") == (found.get("role"), found.get("aria-labelledby"))
    assert ["A < B", "How & why"] == [found.find(f"{SVG}{name}").text for name in ("title", "desc")]


def test_zero_is_below_every_logarithmic_axis():
    assert Axis("", 1e-9, 1, (), log=True).share(0) < 0 == Axis("", 1e-9, 1, (), log=True).share(1e-9)
