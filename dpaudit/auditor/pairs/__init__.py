"""Pairs of neighbouring datasets: given, drawn or made from data, checked, and shrunk to minimal ones."""
