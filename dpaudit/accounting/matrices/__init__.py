"""Strategy matrices of correlated noise, when records take part in them, and their sensitivity."""
