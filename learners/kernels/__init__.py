"""Kernel learners: one regularised minimiser in the space of a kernel, and four ways of releasing parts of it privately."""
