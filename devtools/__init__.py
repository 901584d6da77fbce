"""What `python3 dev` does: make `.venv` from the lock file and run the project's commands in it; standard library only."""
