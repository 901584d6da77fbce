"""What the bundled targets release and on which neighbours, one family of mechanisms a module; `mechanisms.targets` lists them."""
