"""Selection among private fits: the best of a random number of them, at a price that does not grow with the candidates."""
