"""Two runs of one program side by side: the second on the neighbouring data, with noise moved by an alignment."""
