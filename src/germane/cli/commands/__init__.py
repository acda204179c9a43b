"""One module for each command; `germane.cli.app` lists them."""
