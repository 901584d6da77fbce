"""Checks of what noise is added to: values lie on the lattice, contributions are rounded exactly, every copy has its own noise."""

from __future__ import annotations

import contextlib
import math
from fractions import Fraction

import numpy as np

from dpaudit.errors import DpauditError
from mechanisms.laplace import LaplaceMechanism
from mechanisms.lattice import clamp_to_lattice
from mechanisms.sampling.random import source_from


def copies_have_noise_of_their_own():
    noise = LaplaceMechanism(sensitivity=1, epsilon="1/50").releases(
        np.array([7, 7, -7]), 40, source_from(np.random.default_rng(3))
    )
    assert 30 < len(set((noise[:, 0] - 7).tolist()))
    assert (noise[:, 0] != noise[:, 1]).any()
    assert all(abs(float(column.mean())) < 60 for column in (noise - np.array([7, 7, -7])).T)


def off_lattice_values_are_refused():
    mechanism = LaplaceMechanism(sensitivity=1, epsilon=1, lattice="1/4")
    assert np.array_equal(mechanism.release(np.array([0.25, -7.75])) * 4 % 1, [0.0, 0.0])
    for bad in (0.3, np.array([0.25, 0.1]), np.array([0.25, 2.0**52]), np.array([np.nan]), Fraction(1, 8)):
        with contextlib.suppress(DpauditError):
            mechanism.release(bad)
            raise AssertionError("a value off the lattice was released")


def contributions_are_rounded_exactly():
    """Values at and beside every border of rounding, against fractions."""
    for lattice in (Fraction(1), Fraction(1, 3), Fraction(7, 10), Fraction(1, 4)):
        for rule in ("nearest", "toward_zero"):
            near = [float(step * lattice / 2) for step in range(-21, 22)]
            values = [*near, *(math.nextafter(x, math.inf) for x in near), *(math.nextafter(x, -math.inf) for x in near)]
            values += [math.inf, -math.inf, 1e300, 5e-324]
            steps = clamp_to_lattice(
                np.array(values), lower=-9 * lattice, upper=9 * lattice, lattice=lattice, rounding=rule
            ).tolist()
            for x, step in zip(values, steps, strict=True):
                exact = Fraction(min(max(x, -1e300), 1e300)) / lattice
                clamped = min(max(exact, Fraction(-9)), Fraction(9))
                assert step == (round(clamped) if rule == "nearest" else math.trunc(clamped)), (x, lattice, rule)


CHECKS = [copies_have_noise_of_their_own, off_lattice_values_are_refused, contributions_are_rounded_exactly]
