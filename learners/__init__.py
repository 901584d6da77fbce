"""Differentially private learners built on `mechanisms`; none has shipped yet."""
