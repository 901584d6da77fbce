"""Alignments: shifts of the second run's noise that hide the difference of the data, and the search for them."""
