"""Proofs about what ships: programs with certificates, lemmas, bounds of float paths, and the graph that joins them to claims."""
