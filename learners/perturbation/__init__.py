"""Regularised minimisers made private by noise in the weights or in the objective: one estimator a module."""
