"""Lemmas and certificates that bind proofs to the code of `mechanisms` and `learners`; none has shipped yet."""
