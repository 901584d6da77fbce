"""Audit a Keras model that jax_privacy made private: `fit` as usual, every step of it watched.

Run `pip install dpaudit jax_privacy==2.0.0 keras`, then `python examples/keras_training.py TABLE.csv`: half a minute. The table
has a header, numbers, and a class 0 or 1 in its last column; without one, invented records are used.
"""

import os
import sys

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np
from jax_privacy import keras_api

from dpaudit.auditor.training import from_keras

BATCH, EPOCHS = 50, 5


def table() -> tuple[np.ndarray, np.ndarray]:
    """Features on a scale that looks at no record, and classes; each record once, since a watch tells records by their features."""
    if len(sys.argv) < 2:
        features = np.random.default_rng(0).normal(size=(1000, 20))
        return features.astype(np.float32), (features[:, :1] > 0).astype(np.float32)
    rows = np.unique(np.genfromtxt(sys.argv[1], delimiter=",", skip_header=1), axis=0)
    features = np.sign(rows[:, :-1]) * np.log1p(np.abs(rows[:, :-1])) / 3
    return features.astype(np.float32), rows[:, -1:].astype(np.float32)


def main() -> None:
    """Train with batches that are drawn at random, then with those of a shuffled epoch, and print the checks of both."""
    features, classes = table()
    for poisson in (True, False):
        records = len(features) // BATCH * BATCH  # without Poisson sampling the library wants full batches
        model = keras.Sequential([keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
        model.build((None, features.shape[1]))
        model.compile(optimizer=keras.optimizers.SGD(0.5), loss=keras.losses.BinaryCrossentropy(from_logits=True))
        told = keras_api.DPKerasConfig(
            epsilon=8, delta=1e-5, clipping_norm=1.0, batch_size=BATCH, gradient_accumulation_steps=1,
            train_steps=EPOCHS * (records // BATCH), train_size=records, noise_multiplier=1.0, poisson_sampling_in_fit=poisson,
        )  # fmt: skip
        model = keras_api.make_private(model, told)
        watch = from_keras(model, features[:records])
        model.fit(
            features[:records], classes[:records], batch_size=BATCH, steps_per_epoch=records // BATCH,
            epochs=EPOCHS, verbose=0,
        )  # fmt: skip
        print(f"poisson_sampling_in_fit={poisson}")
        for check in watch.checks:
            print(f"  {check.name:18} {check.status:11} {check.detail} {check.where}")


if __name__ == "__main__":
    main()
