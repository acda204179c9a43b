"""What is asked of a retriever through bytes: a call goes as a message (`messages`), and so does its answer.

A list of calls is answered by a list of answers. An error of ours comes back as the same error. The statistics of a
whole vocabulary are sent once: a call names them by their digest, and whoever does not know it asks for them.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np

from germane import errors
from germane.deadline import limited_to, seconds_left
from germane.errors import GermaneError, InputError
from germane.rank.retriever import Retriever, TermCounts
from germane.rank.retrievers.messages import allow, decode, encode
from germane.rank.scoring.statistics import CollectionStatistics, Need, Vocabulary
from germane.types import Document

OPERATIONS = frozenset(name for name in vars(Retriever) if not name.startswith("_")) - {"scan", "vocabulary"}
"""What can be called; the two others are made of these (`ThroughBytes`)."""
VOCABULARIES = 4
"""Vocabularies that are remembered, the latest ones."""
DOCUMENTS = 1000
"""Documents of one message."""


class Call(NamedTuple):
    """An operation of `Retriever` with its arguments; `seconds`: as long as somebody waits for the answer."""

    operation: str
    arguments: tuple[Any, ...] = ()
    options: Mapping[str, Any] = {}
    seconds: float | None = None


class Failure(NamedTuple):
    """An error of ours: its class, what it says, and what else it holds."""

    kind: str
    message: str
    details: Mapping[str, Any]


class Shortened(NamedTuple):
    """Statistics whose vocabulary is named by its digest."""

    statistics: CollectionStatistics
    digest: str


class Unknown(NamedTuple):
    """The answer to a call with statistics of a vocabulary that was forgotten, or never sent."""

    digest: str


allow(Call, Failure, Shortened, Unknown)


class Answering:
    """Answers the calls of a retriever that others ask through bytes. Safe to use from many threads."""

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self._vocabularies: dict[str, Vocabulary] = {}
        self._lock = threading.Lock()

    def answer(self, message: bytes) -> bytes:
        """Answer a call, or a list of calls."""
        asked = decode(message)
        calls = asked if isinstance(asked, list) else [asked]
        if not all(isinstance(call, Call) for call in calls):
            raise InputError("a message that is neither a call nor a list of calls")
        answers = [self._answered(call) for call in calls]
        return encode(answers if isinstance(asked, list) else answers[0])

    def _answered(self, call: Call) -> Any:
        try:
            if call.operation not in OPERATIONS:
                raise InputError(f"a call of an unknown operation '{call.operation}'")
            arguments = [self._whole(value) for value in call.arguments]
            options = {name: self._whole(value) for name, value in call.options.items()}
            for value in (*arguments, *options.values()):
                if isinstance(value, Unknown):
                    return value
            with limited_to(call.seconds):
                return getattr(self._retriever, call.operation)(*arguments, **options)
        except GermaneError as problem:
            return Failure(type(problem).__name__, str(problem), vars(problem))

    def _whole(self, value: Any) -> Any:
        """The statistics with the vocabulary that was sent before."""
        if isinstance(value, CollectionStatistics) and value.vocabulary is not None:
            with self._lock:
                self._vocabularies[value.vocabulary.digest] = value.vocabulary
                while len(self._vocabularies) > VOCABULARIES:
                    del self._vocabularies[next(iter(self._vocabularies))]
        if isinstance(value, Shortened):
            known = self._vocabularies.get(value.digest)
            return Unknown(value.digest) if known is None else replace(value.statistics, vocabulary=known)
        return value


class ThroughBytes:
    """A retriever behind bytes: `send` takes a message to whom answers it (`Answering.answer`), and brings theirs."""

    def __init__(self, send: Callable[[bytes], bytes]) -> None:
        self._send = send

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        if operation not in OPERATIONS:
            raise AttributeError(operation)
        return partial(self._call, operation)

    def vocabulary(self) -> Iterator[TermCounts]:
        """All terms in one message."""
        found = self._call("statistics", Need(vocabulary=True)).vocabulary
        yield TermCounts(found.terms(), found.df, found.cf)

    def scan(self, *, vectors: bool = False) -> Iterator[Document]:
        """All documents, some in each message."""
        n_docs = self._call("schema").n_docs
        for first in range(0, n_docs, DOCUMENTS):
            refs = self._call("live", np.arange(first, min(first + DOCUMENTS, n_docs)))
            yield from self._call("read", refs, vectors=vectors)

    def _call(self, operation: str, *arguments: Any, **options: Any) -> Any:
        call = Call(operation, tuple(map(_short, arguments)), {name: _short(own) for name, own in options.items()})
        answer = self._ask(call)
        if isinstance(answer, Unknown):
            answer = self._ask(Call(operation, arguments, options))
        if isinstance(answer, Failure):
            raise _error_of(answer)
        return answer

    def _ask(self, call: Call) -> Any:
        return decode(self._send(encode(call._replace(seconds=seconds_left()))))


def through_bytes(retriever: Retriever) -> Retriever:
    """A retriever whose calls and answers all pass through bytes, in this process."""
    return cast(Retriever, ThroughBytes(Answering(retriever).answer))


def _short(value: Any) -> Any:
    if isinstance(value, CollectionStatistics) and value.vocabulary is not None:
        return Shortened(replace(value, vocabulary=None), value.vocabulary.digest)
    return value


def _error_of(failure: Failure) -> GermaneError:
    """The error that was raised elsewhere."""
    named = getattr(errors, failure.kind, None)
    kind = named if isinstance(named, type) and issubclass(named, GermaneError) else GermaneError
    made = kind.__new__(kind)
    made.args = (failure.message,)
    vars(made).update(failure.details)
    return made
