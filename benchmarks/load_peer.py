"""What `load.py` measures beside: a minimal server of FastAPI over tantivy, the same answer from the same documents.

python benchmarks/load_peer.py FOLDER WORKERS        needs fastapi and tantivy, and makes its index in FOLDER once
"""

import json
import os
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import tantivy
import uvicorn
from fastapi import FastAPI

FOLDER = "GERMANE_LOAD_FOLDER"


def opened(folder: Path) -> tantivy.Index:
    """The index of docs.jsonl, made where it is not there."""
    schema = (
        tantivy.SchemaBuilder()
        .add_text_field("id", stored=True, tokenizer_name="raw")
        .add_text_field("text", stored=True, tokenizer_name="en_stem")
        .build()
    )
    place, new = folder / "tantivy-served", folder / "tantivy-served.new"
    if place.exists():
        return tantivy.Index(schema, path=str(place))
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir()
    index = tantivy.Index(schema, path=str(new))
    writer = index.writer(1 << 30, 1)
    with (folder / "docs.jsonl").open("rb") as lines:
        for line in lines:
            record = json.loads(line)
            writer.add_document(tantivy.Document(id=record["id"], text=record["text"]))
    writer.commit()
    writer.wait_merging_threads()
    new.rename(place)
    return tantivy.Index(schema, path=str(place))


def app() -> FastAPI:
    """One operation: the best documents with ids, scores, fields and snippets."""
    index = opened(Path(os.environ[FOLDER]))
    index.reload()
    schema, searcher = index.schema, index.searcher()
    made = FastAPI()

    @made.get("/search")
    def search(q: str, k: int = 10) -> dict[str, Any]:
        query = index.parse_query(q, ["text"])
        found = searcher.search(query, k)
        snippets = tantivy.SnippetGenerator.create(searcher, query, schema, "text")
        hits = []
        for rank, (score, address) in enumerate(found.hits, 1):
            document = searcher.doc(address)
            piece = snippets.snippet_from_doc(document)
            marks = [(mark.start, mark.end) for mark in piece.highlighted()]
            hits.append(
                {"rank": rank, "id": document["id"][0], "score": score, "fields": {"text": document["text"][0]},
                 "snippet": {"text": piece.fragment(), "marks": marks}}
            )  # fmt: skip
        return {"query": q, "k": k, "hits": hits, "total": found.count}

    return made


if __name__ == "__main__":
    os.environ[FOLDER] = sys.argv[1]
    opened(Path(sys.argv[1]))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    print(f"127.0.0.1:{port}/", file=sys.stderr, flush=True)
    uvicorn.run(
        "load_peer:app", factory=True, host="127.0.0.1", port=port, workers=int(sys.argv[2]), access_log=False,
        log_level="warning", app_dir=str(Path(__file__).parent),
    )  # fmt: skip
