"""Learners that read unlabelled public records beside the private ones: their span, their directions, covers made from them."""
