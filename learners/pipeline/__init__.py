"""Preprocessing by public rules before a private learner, so that one budget covers the whole."""
