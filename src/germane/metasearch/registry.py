"""Kinds of sources by name. Naming them loads nothing."""

from typing import TYPE_CHECKING

from germane.lazy import LazyClasses

if TYPE_CHECKING:
    from germane.metasearch.sources.source import Source

_HOME = "germane.metasearch.sources"

SOURCES: "LazyClasses[Source]" = LazyClasses(
    {
        "pubmed": f"{_HOME}.pubmed.PubMed",
        "europepmc": f"{_HOME}.europe_pmc.EuropePMC",
        "arxiv": f"{_HOME}.arxiv.Arxiv",
        "openalex": f"{_HOME}.openalex.OpenAlex",
        "crossref": f"{_HOME}.crossref.Crossref",
        "searxng": f"{_HOME}.searxng.SearXNG",
        "elasticsearch": f"{_HOME}.elasticsearch.Elasticsearch",
        "opensearch": f"{_HOME}.feeds.OpenSearch",
        "feed": f"{_HOME}.feeds.Feed",
        "index": f"{_HOME}.local.GermaneIndex",
        "folder": f"{_HOME}.local.Folder",
    },
)

SOURCE_KINDS = tuple(SOURCES)
SOURCE_TITLES = {
    "pubmed": "PubMed", "europepmc": "Europe PMC", "arxiv": "arXiv", "openalex": "OpenAlex", "crossref": "Crossref",
}  # fmt: skip
"""What people are told a public source is; others go by the names that they are given."""
PUBLIC = ("pubmed", "europepmc", "arxiv", "openalex", "crossref")
"""Those that need no settings."""
