"""Learning with a margin: the algorithms of Bassily, Mohri and Suresh 2022, one estimator a module."""
