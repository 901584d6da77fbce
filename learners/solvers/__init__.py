"""Weights from records as whole numbers: noisy sums, passes in secret orders, and certified minimisers for noise to hide."""
