"""The search for telling neighbours: which pairs an adjacency allows, drawing them, making them from data, and shrinking them."""
