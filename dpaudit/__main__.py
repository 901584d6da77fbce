"""`python -m dpaudit` is the command `dpaudit`."""

from dpaudit.cli import main

if __name__ == "__main__":
    main(prog_name="dpaudit")
