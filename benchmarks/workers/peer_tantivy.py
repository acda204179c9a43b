"""tantivy (BM25): whitespace tokens with positions, the text stored, one segment."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import tantivy
from protocol import Query, Worker, file_bytes, read_documents, serve

HEAP = 3_000_000_000  # enough for one segment: the Python binding cannot merge segments on demand
Prepared = tuple[str, Query]
COUNTED = (".term", ".idx", ".fieldnorm")


def with_tokenizer(index: tantivy.Index) -> tantivy.Index:
    index.register_tokenizer("white", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    return index


class Tantivy(Worker):
    path: Path
    index: tantivy.Index
    searcher: tantivy.Searcher
    schema: tantivy.Schema

    def version(self) -> str:
        return tantivy.__version__

    def build(self, source: str, path: Path) -> None:
        schema = (
            tantivy.SchemaBuilder()
            .add_text_field("text", stored=True, tokenizer_name="white", index_option="position")
            .build()
        )
        path.mkdir(parents=True)
        index = with_tokenizer(tantivy.Index(schema, str(path)))
        writer = index.writer(HEAP, 1)
        for doc_id, text in read_documents(source):
            writer.add_document(tantivy.Document(id=doc_id, text=text))
        writer.commit()
        writer.wait_merging_threads()

    def open(self, path: Path) -> None:
        self.path = path
        self.index = with_tokenizer(tantivy.Index.open(str(path)))
        self.searcher, self.schema = self.index.searcher(), self.index.schema
        if self.searcher.num_segments != 1:
            raise RuntimeError(f"{self.searcher.num_segments} segments; raise HEAP")

    def prepare(self, query: Query) -> Prepared:
        return "any", query

    def prepare_all(self, query: Query) -> Prepared:
        return "all", query

    def prepare_phrase(self, query: Query) -> Prepared:
        return "phrase", query

    def _hits(self, prepared: Prepared, k: int) -> list[tuple[float, tantivy.DocAddress]]:
        """Built by hand: faster than the binding's query parser."""
        structure, words = prepared
        if structure == "phrase":
            query = tantivy.Query.phrase_query(self.schema, "text", [word for word, _ in words])
            return self.searcher.search(query, k, count=False).hits
        parts, occur = [], tantivy.Occur.Should if structure == "any" else tantivy.Occur.Must
        for word, weight in words:
            term = tantivy.Query.term_query(self.schema, "text", word, "freq")
            parts.append((occur, term if weight == 1 else tantivy.Query.boost_query(term, weight)))
        return self.searcher.search(tantivy.Query.boolean_query(parts), k, count=False).hits

    def search(self, prepared: Sequence[Prepared], k: int) -> int:
        return sum(len(self._hits(words, k)) for words in prepared)

    def top(self, prepared: Prepared, k: int) -> list[int]:
        return [address.doc for _, address in self._hits(prepared, k)]

    def size(self) -> tuple[int, str]:
        return file_bytes([p for p in self.path.iterdir() if p.suffix in COUNTED]), " ".join(COUNTED)

    def add(self, path: Path, text: str, word: str) -> float:
        index = with_tokenizer(tantivy.Index.open(str(path)))
        writer = index.writer(50_000_000, 1)
        start = time.perf_counter()
        writer.add_document(tantivy.Document(text=text))
        writer.commit()
        index.reload()
        if not index.searcher().search(index.parse_query(word, ["text"]), 1).hits:
            raise RuntimeError("the added document is not found")
        seconds = time.perf_counter() - start
        writer.wait_merging_threads()
        return seconds


if __name__ == "__main__":
    serve(Tantivy())
