"""File formats: readers and writers of documents, topics, relevance judgements and runs.

Each format has a module (`jsonl`, `delimited`, `folder`, `trec`, `medline`, `pubmed`, `ris`, `bibtex`, `irds`). Readers
are generators that keep one record in memory.
"""

from germane.data.bad_records import Skipped, SkipReport
from germane.data.catalog import data_root, dataset_names, dataset_path
from germane.data.documents import read_documents
from germane.data.qrels import read_qrels, write_qrels
from germane.data.runs import read_run, write_run
from germane.data.topics import read_topics

__all__ = [
    "SkipReport",
    "Skipped",
    "data_root",
    "dataset_names",
    "dataset_path",
    "read_documents",
    "read_qrels",
    "read_run",
    "read_topics",
    "write_qrels",
    "write_run",
]
