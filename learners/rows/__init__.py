"""Records to whole numbers: every map is per record, exact and independent of the data."""
