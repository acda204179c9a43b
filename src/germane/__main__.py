"""`python -m germane`."""

from germane.cli.app import main

if __name__ == "__main__":  # processes of `serve --workers` import it under another name
    main()
