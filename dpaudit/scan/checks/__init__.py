"""The checks behind the rules: each yields the lines of a file that break one."""
