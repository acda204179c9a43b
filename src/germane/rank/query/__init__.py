"""The query language: from a text to a topic model, which orders documents, and a condition on those that are found.

- `grammar`: from a text to a tree; `resolve`: what the tree means in a collection.
- `conditions`, `filters`, `filter_values`: what documents must satisfy, as plain values.
- `expansion`: the terms that a prefix or a misspelt word stands for; `tags`: PubMed's tags; `work`: what a query costs.

Not here: scores. Begin with `resolve.parse`. Names are imported on first use.
"""

from typing import TYPE_CHECKING

from germane.lazy import lazy_exports

if TYPE_CHECKING:
    from germane.rank.query.resolve import ParsedQuery, parse

__all__ = ["ParsedQuery", "parse"]

__getattr__, __dir__ = lazy_exports(__name__, {"resolve": ["ParsedQuery", "parse"]})
