"""State as bytes, without pickle: the same state gives the same bytes, and they give it back to the last bit."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import orjson
from sqlalchemy.exc import SQLAlchemyError

from germane.arrays import AnyArray
from germane.data.model_file import read_array
from germane.errors import GermaneError, StorageError
from germane.track import Bag


@contextmanager
def refusing_damage() -> Iterator[None]:
    """Whatever fails while state is made of what is kept is the fault of what is kept."""
    try:
        yield
    except (GermaneError, SQLAlchemyError):
        raise
    except Exception as error:
        raise StorageError(
            f"what is kept of a stream is damaged ({type(error).__name__}: {error}); an archive of the workspace can "
            "be imported into a new one"
        ) from error


def packed(state: Mapping[str, Any]) -> bytes:
    """Arrays and numbers by name: a line with the names, then an array of NumPy's own format for each."""
    stream = io.BytesIO()
    stream.write(orjson.dumps(list(state)) + b"\n")
    for value in state.values():
        np.save(stream, np.asarray(value), allow_pickle=False)
    return stream.getvalue()


def unpacked(content: bytes) -> dict[str, AnyArray]:
    """What `packed` was given; a number is an array without dimensions."""
    stream = io.BytesIO(content)
    with refusing_damage():
        return {name: read_array(stream) for name in orjson.loads(stream.readline())}


def bag_bytes(bags: Sequence[Bag]) -> list[bytes]:
    """Of each document its words, then their counts, which are whole: four bytes each."""
    terms = np.concatenate([np.zeros(0), *(bag.terms for bag in bags)]).astype("<u4").tobytes()
    counts = np.concatenate([np.zeros(0), *(bag.counts for bag in bags)]).astype("<u4").tobytes()
    ends = accumulate((4 * len(bag.terms) for bag in bags), initial=0)
    return [terms[start:end] + counts[start:end] for start, end in pairwise(ends)]


def bag_of(content: bytes) -> Bag:
    """The bag that `bag_bytes` wrote."""
    with refusing_damage():
        terms, counts = np.frombuffer(content, "<u4").reshape(2, -1)
    return Bag(terms.astype(np.int64), counts.astype(np.float64))


def packed_bags(bags: Iterable[Bag]) -> bytes:
    """Many bags in one."""
    listed = list(bags)
    ends = np.cumsum([len(bag.terms) for bag in listed], dtype=np.int64)
    return packed({
        "ends": ends,
        "terms": np.concatenate([np.zeros(0, np.int64), *(bag.terms for bag in listed)]).astype("<u4"),
        "counts": np.concatenate([np.zeros(0), *(bag.counts for bag in listed)]).astype("<u4"),
    })  # fmt: skip


def unpacked_bags(content: bytes) -> list[Bag]:
    """The bags that `packed_bags` was given."""
    state = unpacked(content)
    ends = state["ends"]
    terms, counts = state["terms"].astype(np.int64), state["counts"].astype(np.float64)
    return [Bag(terms[start:end], counts[start:end]) for start, end in pairwise([0, *ends])]
