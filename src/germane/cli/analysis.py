"""The analyser that --stemmer and --stopwords describe."""

from pathlib import Path
from typing import TYPE_CHECKING

from germane.errors import InputError, ParameterError

if TYPE_CHECKING:
    from germane import Analyzer


def analyzer_named(stemmer: str, stopwords: str) -> "Analyzer":
    """`stopwords` is the name of a list, or a file with one word a line."""
    from germane.text import Analyzer
    from germane.text.stopwords import STOP_LISTS

    if stopwords in STOP_LISTS:
        return Analyzer(stemmer, stopwords)
    path = Path(stopwords)
    if not path.is_file():
        raise ParameterError(
            f"there is no stop list '{stopwords}', nor a file of that name; the lists are {', '.join(STOP_LISTS)}"
        )
    try:
        return Analyzer(stemmer, tuple(path.read_text(encoding="utf-8").split()))
    except UnicodeDecodeError:
        raise InputError("a stop list must be UTF-8 text", source=stopwords) from None
