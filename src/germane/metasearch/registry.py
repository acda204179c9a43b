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
PUBLIC = ("pubmed", "europepmc", "arxiv", "openalex", "crossref")
"""Those that need no settings."""
