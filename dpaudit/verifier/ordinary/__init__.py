"""Functions as people write them: read into programs of the verified subset, with a contract about the same data."""
