"""PubMed's tags of fields, `heart attack[tiab]`, and the fields they stand for. The one place that knows them."""

_TITLE, _ABSTRACT = ("title",), ("text", "abstract")
_AUTHOR = ("author", "authors")
_DATE = ("date", "year")
_MESH = ("mesh",)
_JOURNAL = ("journal",)
_TYPE = ("type", "publication_type")
_KEYWORDS = ("keywords",)
EVERYWHERE: tuple[str, ...] = ()
"""The whole document."""

_TAGS: dict[str, tuple[str, ...]] = {
    "ti": _TITLE, "title": _TITLE,
    "ab": _ABSTRACT, "abstract": _ABSTRACT,
    "tiab": _TITLE + _ABSTRACT, "title/abstract": _TITLE + _ABSTRACT,
    "tw": EVERYWHERE, "text word": EVERYWHERE, "text words": EVERYWHERE, "all": EVERYWHERE, "all fields": EVERYWHERE,
    "au": _AUTHOR, "author": _AUTHOR, "author - first": _AUTHOR, "1au": _AUTHOR, "fau": _AUTHOR,
    "dp": _DATE, "pdat": _DATE, "date - publication": _DATE, "publication date": _DATE,
    "mh": _MESH, "mesh": _MESH, "mesh terms": _MESH, "majr": _MESH, "mesh major topic": _MESH,
    "mh:noexp": _MESH, "mesh:noexp": _MESH, "mesh terms:noexp": _MESH,
    "ta": _JOURNAL, "journal": _JOURNAL, "jour": _JOURNAL,
    "pt": _TYPE, "publication type": _TYPE, "ptyp": _TYPE,
    "ot": _KEYWORDS, "other term": _KEYWORDS,
    "la": ("language",), "language": ("language",), "lang": ("language",),
    "doi": ("doi",), "pmid": ("pmid",), "uid": ("pmid",),
}  # fmt: skip
_NOT_SEARCHED = frozenset({
    "ad", "affiliation", "crdt", "edat", "filter", "gr", "ip", "jid", "lid", "mhda", "nm", "pg", "rn", "sb", "sh", "si",
    "subheading", "subset", "substance name", "supplementary concept", "vi", "volume",
})  # fmt: skip
DATES = frozenset({"dp", "pdat", "date - publication", "publication date"})
"""The tags of dates, before which `2019:2021` is a range."""


def fields_of(tag: str) -> tuple[str, ...] | None:
    """The fields that a tag may stand for; none for the whole document; None for what is no tag.

    >>> fields_of("TIAB")
    ('title', 'text', 'abstract')
    """
    return _TAGS.get(_key(tag))


def is_date_tag(tag: str) -> bool:
    """Whether the tag is of the date of publication."""
    return _key(tag) in DATES


def is_unsearched(tag: str) -> bool:
    """Whether PubMed has the tag and there is no field for it here."""
    return _key(tag) in _NOT_SEARCHED


def _key(tag: str) -> str:
    return " ".join(tag.casefold().split())
