"""Implementations of `rank.retriever.Retriever`: what a door, feedback or a cluster asks of a collection.

- `local`: one snapshot; `several`: several collections that answer like one (`joining` joins their answers).
- `calls`, `messages`: requests and answers as bytes.
- `gathering`, `learnt`, `surfaces`: documents as counts of terms, learnt models, written forms.

Not here: how documents are ranked (`rank.scoring`).
"""
