"""The analyser that --stemmer, --stopwords and --synonyms describe."""

from pathlib import Path
from typing import TYPE_CHECKING

from germane.errors import InputError, ParameterError
from germane.lazy import on_first_use

with on_first_use(__name__):
    from germane import text
    from germane.data import mesh
    from germane.text import stopwords as text_stopwords

if TYPE_CHECKING:
    from germane import Analyzer
    from germane.text import Synonyms


def analyzer_named(stemmer: str, stopwords: str, synonyms: Path | None = None) -> "Analyzer":
    """`stopwords` is the name of a list, or a file with one word a line; `synonyms` a file of pairs, or one of MeSH."""
    vocabulary = None if synonyms is None else _vocabulary(synonyms)
    if stopwords in text_stopwords.STOP_LISTS:
        return text.Analyzer(stemmer, stopwords, vocabulary)
    path = Path(stopwords)
    if not path.is_file():
        raise ParameterError(
            f"there is no stop list '{stopwords}', nor a file of that name; the lists are "
            f"{', '.join(text_stopwords.STOP_LISTS)}"
        )
    try:
        return text.Analyzer(stemmer, tuple(path.read_text(encoding="utf-8").split()), vocabulary)
    except UnicodeDecodeError:
        raise InputError("a stop list must be UTF-8 text", source=stopwords) from None


def _vocabulary(path: Path) -> "Synonyms":
    return text.Synonyms(mesh.read_mesh(path)) if mesh.is_mesh(path) else text.Synonyms.read(path)
