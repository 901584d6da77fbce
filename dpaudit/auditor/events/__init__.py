"""Events: sets of outputs that may distinguish two datasets, ranked, worded, and the points of a claim they test."""
