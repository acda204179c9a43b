"""The pruned scorer: the best documents by MaxScore over decoded posting lists, exact to the last bit.

- `posting_cache`: lists that are kept decoded; `decoding_kernels` decode them.
- `search_kernels`: the search; `conjunction_kernels`: documents that hold all of some terms.
- `quantised_bounds_kernels`, `accumulation_kernels`, `lookup_kernels`, `rescoring_kernels`, `result_kernels`: steps.

Not here: which segment is searched how (`rank.scoring.segment_search`). Begin with `search_kernels.top_k`.
"""
