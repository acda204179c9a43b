"""Federated search: send one query to several sources and merge their results into one list without duplicates.

Sources are PubMed, Europe PMC, arXiv, OpenAlex, Crossref, local indexes and files, and other search engines. Those
that use the network need the extra `metasearch` (httpx). Names are imported on first use.
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.metasearch.answers import Failure, SourceAnswer, SourceRecord
    from germane.metasearch.cache import Cache
    from germane.metasearch.configuration import Configuration
    from germane.metasearch.merging import Found, FoundList, Merger, Provenance, merge
    from germane.metasearch.registry import SOURCE_KINDS, SOURCES
    from germane.metasearch.search import MetaSearch, record, replay
    from germane.metasearch.secrets import Secret
    from germane.metasearch.sources.arxiv import Arxiv
    from germane.metasearch.sources.crossref import Crossref
    from germane.metasearch.sources.elasticsearch import Elasticsearch
    from germane.metasearch.sources.europe_pmc import EuropePMC
    from germane.metasearch.sources.feeds import Feed, OpenSearch
    from germane.metasearch.sources.local import Folder, GermaneIndex
    from germane.metasearch.sources.openalex import OpenAlex
    from germane.metasearch.sources.pubmed import PubMed
    from germane.metasearch.sources.searxng import SearXNG
    from germane.metasearch.sources.source import Source, WebSource
    from germane.metasearch.web import Conversation, Web

__all__ = [
    "SOURCES",
    "SOURCE_KINDS",
    "Arxiv",
    "Cache",
    "Configuration",
    "Conversation",
    "Crossref",
    "Elasticsearch",
    "EuropePMC",
    "Failure",
    "Feed",
    "Folder",
    "Found",
    "FoundList",
    "GermaneIndex",
    "Merger",
    "MetaSearch",
    "OpenAlex",
    "OpenSearch",
    "Provenance",
    "PubMed",
    "SearXNG",
    "Secret",
    "Source",
    "SourceAnswer",
    "SourceRecord",
    "Web",
    "WebSource",
    "merge",
    "record",
    "replay",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "answers": ["Failure", "SourceAnswer", "SourceRecord"],
        "cache": ["Cache"],
        "configuration": ["Configuration"],
        "merging": ["Found", "FoundList", "Merger", "Provenance", "merge"],
        "registry": ["SOURCES", "SOURCE_KINDS"],
        "search": ["MetaSearch", "record", "replay"],
        "secrets": ["Secret"],
        "sources.arxiv": ["Arxiv"],
        "sources.crossref": ["Crossref"],
        "sources.elasticsearch": ["Elasticsearch"],
        "sources.europe_pmc": ["EuropePMC"],
        "sources.feeds": ["Feed", "OpenSearch"],
        "sources.local": ["Folder", "GermaneIndex"],
        "sources.openalex": ["OpenAlex"],
        "sources.pubmed": ["PubMed"],
        "sources.searxng": ["SearXNG"],
        "sources.source": ["Source", "WebSource"],
        "web": ["Conversation", "Web"],
    },
    "Searching over the network",
)
