"""The `germane` command line: parses arguments, calls `germane.engine` and formats the answer.

`app` lists the commands; each is a module of `commands/`.
"""

from germane.cli.app import main, program

__all__ = ["main", "program"]
