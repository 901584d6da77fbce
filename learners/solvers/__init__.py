"""Weights of a linear classifier from records as whole numbers, by sums with exact Gaussian noise and nothing else."""
