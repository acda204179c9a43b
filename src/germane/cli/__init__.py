"""The command line, a thin door to `germane.engine`: `app` lists the commands, `commands/` holds one module each."""

from germane.cli.app import main, program

__all__ = ["main", "program"]
