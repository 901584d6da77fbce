"""Additive models by boosting: one shape function a column, learned from noisy histograms of slopes under one budget."""
