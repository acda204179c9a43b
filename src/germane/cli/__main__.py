"""`python -m germane.cli`."""

from germane.cli.app import main

main()
