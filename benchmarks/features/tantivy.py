"""Probes of tantivy-py."""

import tantivy

ROWS = [
    ("1", "heart attack", "a heart attack needs help at once", 2015, "/medicine"),
    ("2", "heart surgery", "the surgery took four hours", 2009, "/medicine"),
    ("3", "attack on a castle", "the heart of the army was brave", 1415, "/war"),
]


def _index() -> tantivy.Index:
    builder = tantivy.SchemaBuilder()
    for name in ("id", "title", "text"):
        builder.add_text_field(name, stored=True)
    builder.add_integer_field("year", stored=True, indexed=True, fast=True)
    builder.add_facet_field("topic")
    index = tantivy.Index(builder.build())
    writer = index.writer()
    for doc_id, title, text, year, topic in ROWS:
        facet = tantivy.Facet.from_string(topic)
        writer.add_document(tantivy.Document(id=doc_id, title=title, text=text, year=year, topic=facet))
    writer.commit()
    index.reload()
    return index


def _ids(index: tantivy.Index, query: str) -> set[str]:
    searcher = index.searcher()
    parsed = index.parse_query(query, ["title", "text"])
    return {searcher.doc(address)["id"][0] for _, address in searcher.search(parsed, 10).hits}


def boolean() -> None:
    assert _ids(_index(), "heart AND (help OR surgery) NOT hours") == {"1"}


def phrase() -> None:
    assert _ids(_index(), '"heart attack"') == {"1"}


def proximity() -> None:
    assert _ids(_index(), '"attack help"~2') == {"1"}


def prefix() -> None:
    index = _index()
    query = tantivy.Query.regex_query(index.schema, "text", "surg.*")
    assert len(index.searcher().search(query, 10).hits) == 1


def fuzzy() -> None:
    index = _index()
    query = tantivy.Query.fuzzy_term_query(index.schema, "text", "surgary", distance=1)
    assert len(index.searcher().search(query, 10).hits) == 1


def fields() -> None:
    assert _ids(_index(), "title:attack") == {"1", "3"}


def ranges() -> None:
    assert _ids(_index(), "heart AND year:[2010 TO 2020]") == {"1"}


def facets() -> None:
    index = _index()
    aggregation = {"years": {"histogram": {"field": "year", "interval": 100}}}
    assert index.searcher().aggregate(tantivy.Query.all_query(), aggregation)["years"]["buckets"]


def snippets() -> None:
    index = _index()
    searcher, query = index.searcher(), index.parse_query("surgery", ["text"])
    generator = tantivy.SnippetGenerator.create(searcher, query, index.schema, "text")
    document = searcher.doc(searcher.search(query, 1).hits[0][1])
    assert "<b>surgery</b>" in generator.snippet_from_doc(document).to_html()


def deletions() -> None:
    index = _index()
    writer = index.writer()
    writer.delete_documents("id", "1")
    writer.commit()
    index.reload()
    assert _ids(index, "heart") == {"2", "3"}


def incremental() -> None:
    index = _index()
    writer = index.writer()
    writer.add_document(tantivy.Document(id="4", text="heart rate", year=1, title=""))
    writer.commit()
    index.reload()
    assert "4" in _ids(index, "heart")


def ranking() -> None:
    assert _ids(_index(), "surgery hours") == {"2"}


def explanation() -> None:
    index = _index()
    query = index.parse_query("heart", ["text"])
    address = index.searcher().search(query, 1).hits[0][1]
    assert "value" in query.explain(index.searcher(), address).to_json()
