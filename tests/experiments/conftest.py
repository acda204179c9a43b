"""A small data set."""

import gzip
import json

import pytest


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A data set of forty documents, found by name; nothing of the user's cache is touched."""
    folder = tmp_path / "data" / "tiny"
    folder.mkdir(parents=True)
    words = ["heart", "attack", "wing", "flutter", "lung", "shock", "wave", "plate"]
    with gzip.open(folder / "docs.jsonl.gz", "wt") as file:
        for i in range(40):
            text = " ".join([words[i % 8]] * (i % 4) + [words[(i * j + j) % 8] for j in range(1, 4 + i % 5)])
            file.write(json.dumps({"id": f"d{i}", "title": words[i % 8], "text": text}) + "\n")
    (folder / "queries.tsv").write_text("".join(f"q{i}\t{word} {words[(i + 3) % 8]}\n" for i, word in enumerate(words)))
    (folder / "qrels.txt").write_text("".join(f"q{i} 0 d{j} 1\n" for i in range(6) for j in range(i, 40, 9)))
    monkeypatch.setenv("GERMANE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("GERMANE_CACHE", str(tmp_path / "cache"))
    return folder
