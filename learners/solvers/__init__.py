"""Weights from records as integers: noisy sums, passes in secret orders, and certified minimisers for noise to hide."""
