"""Changes of an open index: documents, their vectors, and the fields of learnt models that follow them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from germane.engine.documents import OnKnown
from germane.engine.merging import merged_with
from germane.engine.open_collections import OpenCollections
from germane.engine.open_index import OpenIndex
from germane.engine.searching import Searching
from germane.engine.vectors import field_for
from germane.errors import IndexLockedError, ParameterError
from germane.index.graphs import built_graph, files_for_graphs, graph_of
from germane.index.vector_fields import check_name
from germane.index.writer import AddReport
from germane.lazy import LazyModule
from germane.lm.parameters import whole
from germane.types import DocId, Document, id_text

if TYPE_CHECKING:
    from germane.engine.models import fold_in
else:
    fold_in = LazyModule("germane.engine.models.fold_in")


def add(
    searching: Searching,
    documents: Iterator[Document],
    on_duplicate: OnKnown,
    threads: int | None,
    memory: int,
    *,
    known: bool = False,
) -> AddReport:
    """Add documents in one commit. `known`: when merging, refuse an id that is not there."""
    with searching.index.changing() as writer:
        if on_duplicate == "merge":
            documents, on_duplicate = merged_with(writer.snapshot, documents, known=known), "replace"
        if any(field.source for field in writer.snapshot.manifest.vector_fields.values()):
            documents = fold_in.folding_in(searching.models, writer, documents)
        return writer.add(documents, on_duplicate=on_duplicate, threads=threads, memory=memory)


def set_vectors(
    index: OpenIndex | OpenCollections,
    name: str,
    ids: Sequence[DocId],
    rows: npt.NDArray[np.generic],
    *,
    dtype: str | None,
    similarity: str | None,
    replace: bool,
) -> int:
    """Give documents vectors in one commit; return how many."""
    with index.changing() as writer:
        known = writer.snapshot.manifest.vector_fields.get(check_name(name))
        if known is not None and known.source and not replace:
            raise ParameterError(
                f"the vectors '{name}' are made by the model {known.source.split()[0]}: name another field, or "
                "take this one over with replace=True"
            )
        field = field_for(known, rows, dtype, similarity, replace)
        return writer.vectors.set(name, field, [*map(id_text, ids)], rows, replace=replace)


def build_graphs(index: OpenIndex | OpenCollections, name: str | None, threads: int) -> int:
    """Make the graphs that large files of vectors lack; return how many vectors are in graphs now."""
    with index.changing() as writer:
        files = files_for_graphs(writer.snapshot, name)
    held = 0
    for file in files:
        if graph_of(file) is None:
            content = built_graph(file, threads=whole("threads", threads, least=1))
            with index.changing() as writer:
                if not writer.vectors.add_graph(file, content):
                    continue
            file.graph = None  # what was found wanting before
        held += len(file)
    return held


# -- learnt models -----------------------------------------------------------------------------------------------------


def fold_all(searching: Searching, name: str) -> int:
    """Make the vector field of a learnt model that of the version that serves; return how many documents have vectors.

    Where no version serves any more, the field goes.
    """
    models, index = searching.models, searching.index
    if models.serving(name) is None and name in fold_in.sources_of(index.retriever.schema().vector_fields):
        with index.changing() as writer:
            fold_in.follow(models, name, writer)
            return 0
    serving = models.version(name)
    if not models.stage(name).model.width:
        raise ParameterError(
            f"{name}@{serving.version} ({serving.model}) keeps no vectors of documents: nothing is folded in"
        )
    with index.changing() as writer:
        field = writer.snapshot.manifest.vector_fields.get(name)
        if field is not None and not field.source:
            raise ParameterError(f"'{name}' is a vector field of your own: drop it first")
        held = sum(len(live.vectors[name]) for live in writer.snapshot.segments if name in live.vectors)
        fold_in.follow(models, name, writer, anew=held < writer.snapshot.n_docs)  # a damaged model left some out
        return writer.snapshot.n_docs


def follow(searching: Searching, name: str) -> None:
    """Bring the vector field of a model up to date, if the index can be changed now."""
    index = searching.index
    if index.closed or not fold_in.is_behind(searching.models, name, index.retriever.schema().vector_fields):
        return
    try:
        with index.changing() as writer:
            fold_in.follow(searching.models, name, writer)
    except IndexLockedError:
        return  # the next change by that writer does it


def remove_models(searching: Searching, versions: Sequence[str], *, force: bool) -> list[str]:
    """Delete versions of learnt models; return the fields that still hold vectors of a removed one."""
    names = dict.fromkeys(searching.models.resolved(each)[0] for each in versions)  # none where one is not there
    try:
        for each in versions:
            searching.models.remove(each, force=force)
    finally:
        for name in names:
            follow(searching, name)
    fields = searching.retriever.schema().vector_fields
    return [name for name in fold_in.removed_sources(searching.models, fields) if name in names]
