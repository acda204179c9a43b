"""The analyser that --stemmer, --stopwords and --synonyms describe."""

from pathlib import Path
from typing import TYPE_CHECKING

from germane.errors import InputError, ParameterError

if TYPE_CHECKING:
    from germane import Analyzer
    from germane.text import Synonyms


def analyzer_named(stemmer: str, stopwords: str, synonyms: Path | None = None) -> "Analyzer":
    """`stopwords` is the name of a list, or a file with one word a line; `synonyms` a file of pairs, or one of MeSH."""
    from germane.text import Analyzer
    from germane.text.stopwords import STOP_LISTS

    vocabulary = None if synonyms is None else _vocabulary(synonyms)
    if stopwords in STOP_LISTS:
        return Analyzer(stemmer, stopwords, vocabulary)
    path = Path(stopwords)
    if not path.is_file():
        raise ParameterError(
            f"there is no stop list '{stopwords}', nor a file of that name; the lists are {', '.join(STOP_LISTS)}"
        )
    try:
        return Analyzer(stemmer, tuple(path.read_text(encoding="utf-8").split()), vocabulary)
    except UnicodeDecodeError:
        raise InputError("a stop list must be UTF-8 text", source=stopwords) from None


def _vocabulary(path: Path) -> "Synonyms":
    from germane.data.mesh import is_mesh, read_mesh
    from germane.text import Synonyms

    return Synonyms(read_mesh(path)) if is_mesh(path) else Synonyms.read(path)
