"""What shipped code does with values, followed through its own bytecode on all paths: the log says what was drawn."""
