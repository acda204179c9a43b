"""What a kind of requests is: a name, a share of all requests, and a function that draws one at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from exactness.calls import called
from exactness.drawing import Draw
from germane import Engine
from germane.engine import SearchRequest

FIELDS = ("author", "source", "tags", "year", "date", "cites")
"""What can be filtered on."""


@dataclass(frozen=True)
class Request:
    """What is asked, in words, and how. `learnt`: of an index that has learnt from clicks."""

    told: str
    ask: Callable[[Engine], object]
    learnt: bool = False


Kind = Callable[[Draw], Request]
KINDS: dict[str, tuple[int, Kind]] = {}
"""By name the share of a kind among all requests, and what draws one."""


def kind(share: int, *names: str) -> Callable[[Callable[..., Request]], Callable[..., Request]]:
    """A function that draws requests of a kind; with names, of so many kinds: it is given each."""

    def kept(draw: Callable[..., Request]) -> Callable[..., Request]:
        called_so = draw.__name__.replace("_", "-")
        for name in names:
            KINDS[f"{called_so}:{name}"] = share, partial(draw, name=name)
        if not names:
            KINDS[called_so] = share, draw
        return draw

    return kept


def same(answer: object) -> object:
    return answer


def call(method: str, *args: Any, read: Callable[[Any], object] = same, **named: Any) -> Request:
    """A call of a method of the engine, and what of its answer is looked at."""
    written = [*(f"{each!r:.300}" for each in args), *(f"{name}={each!r:.200}" for name, each in named.items())]
    told = f"{method}({', '.join(written)})"
    return Request(told, lambda engine: read(called(getattr(engine, method), *args, **named)))


def request(**members: Any) -> Request:
    """A search as the doors ask for it."""
    asked = called(SearchRequest, **members)
    return Request(f"{asked!r:.600}", lambda engine: engine.answer(asked))
