"""Public maps: a record's image depends on that record and on public numbers alone, and exact arithmetic bounds its norm."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from dpaudit.errors import InvalidArgument
from learners.rows import images
from learners.rows.fourier import GaussianKernel, LaplacianKernel, fastfood_map, fourier_map
from learners.rows.hadamard import hadamard_map
from learners.rows.ingest import to_rows
from learners.rows.polynomial import polynomial_map
from learners.rows.projected import ProjectedMap
from learners.rows.rows import Rows
from learners.rows.seeds import PublicBits
from learners.rows.signs import sign_map
from learners.rows.sketch import sketch_map
from mechanisms.roots import root_above

WIDTH = 11
_FOURIER = fourier_map(dimension_in=WIDTH, frequencies=20, kernel=GaussianKernel("1/2"), seed=4)

# With what each makes of the rows below: the map of a seed never changes, from one machine or version to the next.
MAPS = {
    "signs": (sign_map(dimension_in=WIDTH, dimension_out=7, seed=4), "e8f1e46f85af"),
    "hadamard": (hadamard_map(dimension_in=WIDTH, dimension_out=7, seed=4), "0e9c355e99ef"),
    "gaussian": (_FOURIER, "8ba9a3c447a3"),
    "laplacian": (fourier_map(dimension_in=WIDTH, frequencies=20, kernel=LaplacianKernel(2), seed=4), "b30c2ef01b88"),
    "fastfood": (fastfood_map(dimension_in=WIDTH, frequencies=20, width="1/2", seed=4), "230b5b5c82b0"),
    "projected": (ProjectedMap(_FOURIER, hadamard_map(dimension_in=40, dimension_out=9, seed=4)), "44e65001fa28"),
    "monomials": (polynomial_map(dimension_in=WIDTH, degree=3), "991ff526af84"),
    "sketch": (sketch_map(dimension_in=WIDTH, dimension_out=16, degree=3, seed=4), "ad621c6a13f2"),
}
every_map = pytest.mark.parametrize("name", MAPS)


@pytest.fixture(scope="module")
def rows():
    """Rows of every kind: dense, sparse, zero, longer than the bound, with a single entry, repeated."""
    rng = np.random.default_rng(5)
    features = rng.standard_normal((40, WIDTH)) / 4
    features[:10] *= rng.random((10, WIDTH)) < 0.3
    features[10:14] *= 100
    features[14], features[15], features[16] = 0, np.eye(WIDTH)[3], np.eye(WIDTH)[3]
    return to_rows(features, np.arange(40) % 3, feature_norm=1, lattice_bits=16)


def part(rows, chosen):
    return replace(rows, steps=rows.steps[chosen], labels=rows.labels[chosen])


def squares(steps):
    return [sum(int(step) ** 2 for step in row) for row in steps]


@every_map
def test_what_a_record_becomes_does_not_depend_on_the_others(name, rows):
    made = MAPS[name][0]
    whole = made.apply(rows, lattice_bits=14).steps
    order = np.random.default_rng(6).permutation(40)
    assert whole[order].tolist() == made.apply(part(rows, order), lattice_bits=14).steps.tolist()
    for chosen in (slice(0, 1), slice(13, 17), slice(1, 40), np.array([39, 3, 3])):
        assert whole[chosen].tolist() == made.apply(part(rows, chosen), lattice_bits=14).steps.tolist()


@every_map
def test_neither_storage_nor_the_size_of_blocks_changes_an_image(name, rows, monkeypatch):
    made = MAPS[name][0]
    whole = made.apply(rows, lattice_bits=14).steps.tolist()
    assert whole == made.apply(replace(rows, steps=sparse.csr_array(rows.steps)), lattice_bits=14).steps.tolist()
    assert whole == made.apply(replace(rows, steps=np.asfortranarray(rows.steps)), lattice_bits=14).steps.tolist()
    for entries in (1, 200):
        monkeypatch.setattr(images, "_ENTRIES", entries)
        assert whole == made.apply(rows, lattice_bits=14).steps.tolist()


@every_map
@pytest.mark.parametrize("bits", [1, 5, 12, 20, 26])
@pytest.mark.parametrize("intercept", [0, 9])
def test_no_image_is_longer_than_the_bound(name, bits, intercept, rows):
    made = MAPS[name][0]
    got = made.apply(rows, lattice_bits=bits, intercept=intercept)
    assert (40, made.dimension_out + (intercept > 0)) == got.steps.shape
    assert max(squares(got.steps[:, : made.dimension_out])) <= 4**bits
    assert got.bound**2 >= 4**bits + intercept**2 > (got.bound - 1) ** 2
    assert {intercept} == set(got.steps[:, made.dimension_out :].ravel().tolist() or [0])
    assert rows.labels.tolist() == got.labels.tolist()


@every_map
def test_images_come_in_units_of_the_kernel(name, rows):
    """A unit of the image is `image_norm` over 2**bits steps, whatever the lattice."""
    made = MAPS[name][0]
    coarse, fine = (made.apply(rows, lattice_bits=bits) for bits in (10, 20))
    assert made.image_norm(rows.bound * rows.step) == fine.step * 2**20 == coarse.step * 2**10
    far = np.abs(coarse.steps * float(coarse.step) - fine.steps * float(fine.step)).max()
    assert far <= 1.001 * float(coarse.step)


@every_map
def test_a_seed_gives_the_same_map_everywhere(name, rows):
    made, digest = MAPS[name]
    steps = made.apply(rows, lattice_bits=12).steps
    assert np.int32 == steps.dtype
    assert digest == hashlib.sha256(steps.astype("<i4").tobytes()).hexdigest()[:12]


@every_map
def test_the_map_is_fixed_before_any_record_is_read(name, rows):
    """A map is a value: it is equal to one that is made anew, and reading records does not change it."""
    made = MAPS[name][0]
    before = repr(made)
    made.apply(rows, lattice_bits=12)
    assert before == repr(made)
    assert [] == [key for key in vars(made) if key not in made.__dataclass_fields__]


@every_map
def test_rows_of_another_width_and_lattices_that_are_none_are_refused(name, rows):
    made = MAPS[name][0]
    for refused in (part(replace(rows, steps=rows.steps[:, 1:]), slice(0, 2)), part(replace(rows, steps=rows.steps[:, :0]), [0])):
        with pytest.raises(InvalidArgument, match="DPA105"):
            made.apply(refused, lattice_bits=12)
    for bits in (0, 27):
        with pytest.raises(InvalidArgument, match="DPA103"):
            made.apply(rows, lattice_bits=bits)


@pytest.mark.parametrize("name", ["signs", "hadamard", "sketch"])
def test_a_clip_is_what_bounds_an_image(name, rows):
    """Ten times too long for the clip: without it one record would move a sum ten times as far."""
    made = MAPS[name][0]
    natural, got = made.apply(rows, lattice_bits=20), made.apply(rows, clip="1/10", lattice_bits=16)
    assert Fraction(1, 10) == got.step * got.bound
    assert max(squares(natural.steps)) * natural.step**2 > 1
    assert 0.999 * 4**16 < max(squares(got.steps)) <= 4**16
    cosine = got.steps[12].astype(float) @ natural.steps[12] / np.sqrt(float(squares(got.steps)[12] * squares(natural.steps)[12]))
    assert 1 - 1e-6 < cosine


@pytest.mark.parametrize("name", ["signs", "hadamard", "gaussian"])
def test_rows_whose_sums_floats_might_not_hold_are_refused(name):
    long = Rows(np.zeros((1, WIDTH), dtype=np.int32), 2**52, Fraction(1), np.zeros(1, dtype=np.int64))
    with pytest.raises(InvalidArgument, match="DPA108"):
        MAPS[name][0].apply(long, lattice_bits=12)


@pytest.mark.parametrize("square", [Fraction(0), Fraction(2), Fraction(4), Fraction(1, 3**200), Fraction(10**30 + 1, 7)])
def test_roots_are_rounded_up_and_only_a_little(square):
    root = root_above(square)
    assert root**2 >= square >= root**2 * (1 - Fraction(1, 2**59))


def test_streams_of_other_uses_and_seeds_are_others():
    drawn = {PublicBits(seed, *use).bits(64) for seed in (0, 1) for use in (("a",), ("b",), ("a", 1), ("a", 11), ("a1", 1))}
    assert 10 == len(drawn)
    with pytest.raises(InvalidArgument, match="DPA103"):
        PublicBits(-1)


def test_public_choices_lie_where_they_should():
    stream = PublicBits(3, "test")
    assert {-1, 1} == set(stream.signs(1001).tolist())
    assert list(range(7)) == sorted(set(stream.below(7, 1000).tolist()))
    assert list(range(100)) == sorted(stream.order(100).tolist())
    normals = stream.normals(10**5)
    assert abs(normals.mean()) < 0.025  # 8 standard deviations, as below
    assert abs(np.square(normals).mean() - 1) < 0.036
