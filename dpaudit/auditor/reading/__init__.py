"""Reading of outputs: any output as leaves, forms and rows of numbers, and a count of what was not read."""
