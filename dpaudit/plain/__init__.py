"""Functions without a Target: how they are called, in which form they take the data, and where their randomness comes from."""
