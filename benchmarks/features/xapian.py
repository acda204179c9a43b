"""Probes of Xapian's Python bindings (Debian's python3-xapian)."""

import xapian

TEXTS = [
    ("1", "a heart attack needs help at once"),
    ("2", "the surgery took four hours"),
    ("3", "the heart of the army"),
]


def _base() -> "xapian.WritableDatabase":
    base = xapian.WritableDatabase("", xapian.DB_BACKEND_INMEMORY)
    generator = xapian.TermGenerator()
    for doc_id, text in TEXTS:
        document = xapian.Document()
        generator.set_document(document)
        generator.index_text(text)
        document.set_data(doc_id)
        document.add_boolean_term("Q" + doc_id)
        base.replace_document("Q" + doc_id, document)
    return base


def _ids(base: "xapian.WritableDatabase", query: str) -> set[str]:
    parser = xapian.QueryParser()
    parser.set_database(base)
    flags = parser.FLAG_DEFAULT | parser.FLAG_WILDCARD
    enquire = xapian.Enquire(base)
    enquire.set_query(parser.parse_query(query, flags))
    return {match.document.get_data().decode() for match in enquire.get_mset(0, 10)}


def boolean() -> None:
    assert _ids(_base(), "heart AND (help OR surgery) NOT hours") == {"1"}


def phrase() -> None:
    assert _ids(_base(), '"heart attack"') == {"1"}


def proximity() -> None:
    assert _ids(_base(), "attack NEAR/3 help") == {"1"}


def prefix() -> None:
    assert _ids(_base(), "surg*") == {"2"}


def deletions() -> None:
    base = _base()
    base.delete_document("Q1")
    assert _ids(base, "heart") == {"3"}


def incremental() -> None:
    base = _base()
    document = xapian.Document()
    document.set_data("4")
    document.add_term("heart")
    base.add_document(document)
    assert "4" in _ids(base, "heart")
