"""Certified methods that answer questions about compositions of laws."""
