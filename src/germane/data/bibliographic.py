"""What PubMed, MEDLINE, RIS and BibTeX have in common: the fields of a reference and its id.

Every reader of references fills the same fields where the record has them: `title`, `text` (the abstract), `author`
(a list), `year` (a whole number), `journal`, `doi`, `pmid`, `keywords` (a list), `mesh` (a list).
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from germane.data.fields import year_of
from germane.types import FieldValue, JSONScalar

_DOI = re.compile(r"10\.\d{4,9}/\S+")
_ORDER = ("title", "text", "author", "year", "journal", "doi", "pmid", "keywords", "mesh")


def clean_doi(text: str) -> str:
    """The bare DOI, without `https://doi.org/`, `doi:` or `[doi]`; empty where there is none.

    >>> clean_doi("https://doi.org/10.1145/383952.383972")
    '10.1145/383952.383972'
    """
    found = _DOI.search(text)
    return found[0].rstrip(".,;") if found else ""


def year_field(text: str) -> int | str:
    """The year as a number where there is one, else the text as it stands ("in press")."""
    year = year_of(text)
    return text if year is None else year


def unique(values: Iterable[str]) -> list[JSONScalar]:
    """The non-empty values, each once, in order."""
    return [*dict.fromkeys(value for value in values if value)]


def descriptor(heading: str) -> str:
    """The descriptor of a MeSH heading, without qualifiers and stars.

    >>> descriptor("*Asthma/drug therapy")
    'Asthma'
    """
    return heading.partition("/")[0].replace("*", "").strip()


def reference_id(fields: Mapping[str, FieldValue], path: str | Path, number: int) -> str:
    """PMID, else DOI, else citation key, else accession number, else `file name:N` with the record's number."""
    for name in ("pmid", "doi", "key", "accession"):
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
    return f"{Path(path).name}:{number}"


def ordered(fields: Mapping[str, FieldValue]) -> dict[str, FieldValue]:
    """The fields without the empty ones, the common names first."""
    names = [name for name in _ORDER if name in fields] + [name for name in fields if name not in _ORDER]
    return {name: fields[name] for name in names if fields[name] not in ("", [], None)}
