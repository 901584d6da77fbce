"""The data of the learners' benchmark: each record becomes features by a fixed recipe that looks at no other record."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

TOPICS: Final = ("comp.", "sci.")
"""The newsgroups that count as technical."""

TEXT_COLUMNS: Final = 2**17

_FORM: Final = {"age": (17.0, 90.0), "education_num": (1.0, 16.0), "hours_per_week": (1.0, 99.0)}
"""Numeric answers of the census form and their public ranges."""

_AMOUNTS: Final = {"capital_gain": 1e5, "capital_loss": 1e5}
"""Amounts of money, which enter by their logarithm, and a public limit of each."""

_TERRAIN: Final = ((1800, 0, 0, 0, -200, 0, 0, 0, 0, 0), (4000, 360, 70, 1400, 600, 7200, 255, 255, 255, 7200))
"""Public ranges of elevation, aspect, slope, distances to water (two), to a road, hill shades (three), distance to fire points."""

_CELLS: Final = (
    *(30, 40, 200, 2500, 0.2, 0.5, 0.5, 0.25, 0.4, 0.1),
    *(3, 5, 25, 500, 0.03, 0.15, 0.4, 0.05, 0.08, 0.03),
    *(40, 50, 260, 4500, 0.25, 1.2, 1.3, 0.3, 0.7, 0.2),
)
"""Round upper ends of the measures of cell nuclei (mean, standard error, worst); all begin at 0."""


@dataclass(frozen=True)
class Problem:
    """Records as features (dense or CSR) with the positions of their labels; `train` is the size of a fixed train part."""

    name: str
    features: Any
    labels: NDArray[np.int64]
    classes: int
    train: int | None = None

    def split(self, seed: int) -> tuple[Any, NDArray[np.int64], Any, NDArray[np.int64]]:
        """Train features and labels, test features and labels: the official parts, or four fifths of a permutation by the seed."""
        if self.train is not None:
            order, cut = np.arange(len(self.labels)), self.train
        else:
            order, cut = np.random.default_rng(1000 + seed).permutation(len(self.labels)), len(self.labels) * 4 // 5
        first, rest = order[:cut], order[cut:]
        return self.features[first], self.labels[first], self.features[rest], self.labels[rest]


def unit_rows(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows divided by their own norm; rows of zeros stay."""
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows / np.where(norms > 0, norms, 1.0)[:, np.newaxis]


def digits() -> Problem:
    """8 by 8 images of digits that come with scikit-learn: even or odd."""
    from sklearn.datasets import load_digits

    images, values = load_digits(return_X_y=True)
    return Problem("digits even/odd", unit_rows(images / 16), (values % 2).astype(np.int64), 2)


def breast_cancer() -> Problem:
    """Measures of cell nuclei that come with scikit-learn, on public ranges from -1 to 1: malignant or benign."""
    from sklearn.datasets import load_breast_cancer

    measures, values = load_breast_cancer(return_X_y=True)
    return Problem("breast cancer", unit_rows(2 * np.clip(measures / np.array(_CELLS), 0, 1) - 1), values.astype(np.int64), 2)


def adult(folder: Path) -> Problem:
    """Answers to a census form: income above 50K; numbers in [0, 1], choices one-hot."""
    with gzip.open(folder / "adult.csv.gz", "rt", encoding="utf-8") as file:
        answers = list(csv.DictReader(file))
    columns = [
        np.clip((np.array([float(row[name]) for row in answers]) - low) / (high - low), 0, 1) for name, (low, high) in _FORM.items()
    ]
    columns += [np.log1p([float(row[name]) for row in answers]) / np.log1p(limit) for name, limit in _AMOUNTS.items()]
    for name in answers[0]:
        if name not in {*_FORM, *_AMOUNTS, "fnlwgt", "income"}:
            given = np.array([row[name] for row in answers])  # the choices are printed on the form
            columns += [(given == choice).astype(np.float64) for choice in sorted(set(given.tolist()))]
    rich = np.array([row["income"].startswith(">") for row in answers])
    return Problem("adult", unit_rows(np.column_stack(columns)), rich.astype(np.int64), 2)


def covtype(folder: Path, knots: int = 0) -> Problem:
    """Forest cover: type 2 against the rest, from terrain in public ranges and one-hot soils.

    With `knots`, each measure of the terrain becomes that many: how near it is to each of as many evenly spaced public places.
    """
    with np.load(folder / "covtype20k.npz") as stored:
        rows, types = stored["X"].astype(np.float64), stored["y"]
    low, high = (np.array(end, dtype=np.float64) for end in _TERRAIN)
    terrain = np.clip((rows[:, :10] - low) / (high - low), 0, 1)
    if knots:
        near = 1 - (knots - 1) * np.abs(terrain[:, :, np.newaxis] - np.linspace(0, 1, knots))
        terrain = np.maximum(near, 0).reshape(len(rows), -1)
    name = f"covtype20k, {knots} knots" if knots else "covtype20k"
    return Problem(name, unit_rows(np.column_stack([terrain, rows[:, 10:]])), (types == 2).astype(np.int64), 2)


def mnist(folder: Path, classes: int = 2) -> Problem:
    """28 by 28 images of digits: even or odd, or all ten."""
    with np.load(folder / "mnist10k.npz") as stored:
        rows, values = stored["X"].reshape(-1, 784).astype(np.float64), stored["y"].astype(np.int64)
    name = "mnist10k even/odd" if classes == 2 else "mnist10k 10 classes"
    return Problem(name, unit_rows(rows / 255), values % 2 if classes == 2 else values, classes)


def newsgroups(folder: Path, *, columns: int = TEXT_COLUMNS, longest: int = 1) -> Problem:
    """Posts to newsgroups, technical or not: which words (or runs of words) occur, hashed, in CSR; the official split by date."""
    from sklearn.feature_extraction.text import HashingVectorizer

    with gzip.open(folder / "20ng_bydate.tsv.gz", "rt", encoding="utf-8") as file:
        posts = [line.rstrip("\n").split("\t") for line in file]
    posts.sort(key=lambda post: post[0] != "train")
    words = HashingVectorizer(
        n_features=columns, binary=True, alternate_sign=False, stop_words="english", norm="l2", ngram_range=(1, longest)
    )
    technical = np.array([group.startswith(TOPICS) for _, group, _ in posts])
    rows = words.transform(post[2] for post in posts)
    return Problem("20 newsgroups", rows, technical.astype(np.int64), 2, sum(post[0] == "train" for post in posts))


def signal(columns: int = 10**6, rows: int = 10000) -> Problem:
    """A linear signal in 20 of very many columns, in CSR; 5 % of the labels flipped."""
    from scipy.sparse import csr_array

    random = np.random.default_rng(20)
    dense = unit_rows(random.normal(size=(rows, 20)))
    labels = (dense @ random.normal(size=20) > 0) ^ (random.random(rows) < 0.05)
    places = np.sort(random.choice(columns, size=20, replace=False))
    starts = np.arange(0, 20 * rows + 1, 20)
    spread = csr_array((dense.ravel(), np.tile(places, rows), starts), shape=(rows, columns))
    return Problem(f"20-dimensional signal in d = {columns:.0e}", spread, labels.astype(np.int64), 2)


BUNDLED: Final[Mapping[str, Callable[[], Problem]]] = {
    "digits": digits,
    "breast_cancer": breast_cancer,
    "signal": signal,
}
"""Problems that need no files."""

IN_FILES: Final[Mapping[str, Callable[[Path], Problem]]] = {
    "adult": adult,
    "covtype": covtype,
    "covtype_knots": lambda folder: covtype(folder, 12),
    "mnist": mnist,
    "mnist10": lambda folder: mnist(folder, 10),
    "20ng": newsgroups,
}
"""Problems read from a folder of data files."""
