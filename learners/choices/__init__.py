"""Choices among candidates: whole-number scores, the candidate sets that need no data, and exact exponential mechanisms on them."""
