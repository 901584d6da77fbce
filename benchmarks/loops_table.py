"""The table and the claim of the training loops."""

import numpy as np

from dpaudit.auditor.training import TrainingClaim

RECORDS, FEATURES, BATCH, STEPS, NOISE, CLIP, LEARNING = 400, 12, 40, 60, 1.0, 1.0, 0.5
CLAIM = TrainingClaim(noise_multiplier=1, clip=1, rate="1/10", steps=STEPS, records=RECORDS, divisor=BATCH)


def table() -> tuple[np.ndarray, np.ndarray]:
    """Features and a target for each record."""
    rng = np.random.default_rng(1)
    features = rng.normal(size=(RECORDS, FEATURES)) * np.exp(rng.normal(size=(RECORDS, 1)))
    return features.astype(np.float32), (features @ np.linspace(-1, 1, FEATURES) > 0).astype(np.float32)
