"""The pruned scorer: the best documents by MaxScore over decoded posting lists, exact to the last bit.

- `search`: the Python side; `posting_cache`: lists that are kept decoded; `decoding_kernels` decode them.
- `search_kernels`: the search; words that are all required are a mode of it.
- `quantised_bounds_kernels`, `lookup_kernels`, `rescoring_kernels`, `result_kernels`: its steps.
- `document_kernels`: sums over all documents; `records`: the arrays that kernels share.

Not here: which segment is searched how (`rank.scoring.scorers`). Begin with `search_kernels.top_k`.
"""
