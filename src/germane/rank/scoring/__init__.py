"""From a weighted query to its best documents in one snapshot: the plan, the scorer of each segment, one total order.

- `searcher`: ranks the documents of a snapshot; `scorers`: the two scorers, and which searches a segment; `hits`: the
  order of results.
- `exact`: the exact scorer, NumPy alone; `score_all`: every document, matching or not.
- `statistics`: what a ranking takes from a whole collection; `priors`; `explain`: the parts of a score.
- `matching`, `facets`, `field_values`: all documents of a query, counted, sorted, or grouped by a value.

Not here: formulas (`rank.models`), kernels (`rank.maxscore`). Begin with `searcher.Searcher.search`.
"""
