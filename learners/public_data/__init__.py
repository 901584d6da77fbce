"""Learners that know unlabelled public records besides the private ones: their span, their directions, covers made from them."""
