"""The sample collection that comes with the package."""

from importlib.resources import files
from pathlib import Path

NAME = "curiosities.jsonl"


def sample_path() -> Path:
    """The file of the sample: short texts on science, technology, health and history."""
    return Path(str(files("germane") / "samples" / NAME))
