"""Audits of two samples of outputs that were collected elsewhere, in any language."""
