"""Datasets: their records, distances between them, and what a report may show of them."""
