"""python -m chaffinch is the chaffinch command."""

from chaffinch.cli import main

main(prog_name="chaffinch")
