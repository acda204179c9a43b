"""The commands of the command line, one module each; `germane.cli.app` lists them."""
