"""Options made of what a request declares, and the request that was typed. Importing this loads no engine."""

import functools
import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from germane.cli.streams import tell
from germane.declare import CLI, Field, fields_of, made, read, spellings
from germane.engine.requests import FeedbackRequest
from germane.errors import ParameterError, RequestError
from germane.lazy import LazyModule
from germane.wording import Name

if TYPE_CHECKING:
    from germane import Engine

methods = LazyModule("germane.engine.methods")
parameter_parsing = LazyModule("germane.lm.parameter_parsing")


@dataclass(frozen=True, slots=True)
class Typed:
    """What was typed of a request: the values by the names of the fields, those that were left out not among them."""

    kind: type
    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values.get(name)

    def request(self, **others: Any) -> Any:
        """Return the request, with these values of other fields and what --set says."""
        values = dict(self.values) | others
        settings = settings_typed(values.pop("parameters", None))
        request = made(self.kind, values)
        if not settings:
            return request
        learning = getattr(request, "feedback", FeedbackRequest())
        ranking, learning = methods.with_settings(request.ranking, learning, settings)
        return replace(request, **{"ranking": ranking, **({"feedback": learning} if learning.wanted else {})})

    def ids(self, name: str, engine: "Engine") -> tuple[str, ...]:
        """Return the ids of a field, with commas between them; a text that is an id itself, comma and all, is that."""
        ids: list[str] = []
        for text in self[name] or ():
            parts = [text] if text in engine else [part.strip() for part in text.split(",") if part.strip()]
            if not parts:
                raise RequestError(Name(name), f" wants ids of documents, with commas between them, not '{text}'")
            ids += parts
        return tuple(ids)


def asking(
    kind: type, only: Collection[str] = (), **defaults: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a request, where it has a parameter `typed: Typed`; messages name the options.

    `only`: the fields that it has, if not all; `defaults`: those that are its own.
    """
    fields = [
        field._replace(default=defaults.get(field.name, field.default))
        for field in fields_of(kind)
        if field.spelling(CLI).startswith("-") and (not only or field.name in only)
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**arguments: Any) -> None:
            texts = [(field, arguments.pop(field.name)) for field in fields]
            with as_typed(kind):
                values = {field.name: _value(field, text) for field, text in texts if text not in (None, False)}
                command(typed=Typed(kind, values), **arguments)

        signature = inspect.signature(command)
        parameters: list[inspect.Parameter] = []
        for each in signature.parameters.values():
            parameters += map(_parameter, fields) if each.annotation is Typed else [each]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def _value(field: Field, typed: Any) -> Any:
    """Return the value that was typed; ids and --set are read by `Typed`, which knows the index and the method."""
    if field.kind == "boolean":
        return not field.default
    return typed if field.kind == "id" or (field.members and not field.reader) else read(field, typed)


def _parameter(field: Field) -> inspect.Parameter:
    """Return the option of a field as Typer has it. It is a text, which the field reads, so that every door says alike
    what is wrong with it."""
    is_flag = field.kind == "boolean"
    several = field.many or field.kind == "pairs"
    metavar = field.unit.upper() or {"setting": "NUMBER|auto", "number": "NUMBER"}.get(field.kind, "VALUE")
    option = typer.Option(
        field.spelling(CLI),
        help=field.off if field.default is True else field.help,
        metavar=None if is_flag else metavar,
        show_default=field.kind == "integer",
        rich_help_panel=field.group or None,
    )
    kind: Any = bool if is_flag else list[str] | None if several else str | None
    default = False if is_flag else str(field.default) if field.kind == "integer" and field.default else None
    return inspect.Parameter(
        field.name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=Annotated[kind, option]
    )


@contextmanager
def as_typed(kind: type) -> Iterator[None]:
    """Name the options in errors that are raised within, where a request is wrong."""
    try:
        yield
    except RequestError as error:
        raise ParameterError(error.spelled(spellings(kind, CLI))) from None


def settings_typed(texts: Sequence[str] | None) -> dict[str, str]:
    """Return what --set says, NAME=VALUE."""
    typed: dict[str, str] = parameter_parsing.pairs(texts, "--set") if texts else {}
    return typed


def tell_promoted(reranked_by: str | None, not_reranked: str | None) -> None:
    """Say that the learnt model that was promoted ranks, or why it cannot."""
    if reranked_by is not None:
        tell(f"ranked by {reranked_by}, learnt from clicks and promoted; --rerank none leaves it out")
    if not_reranked is not None:
        tell(not_reranked)


def tell_learnt(learnt: Mapping[str, float] | None) -> None:
    """Say which numbers the collection gave: what "auto" came to, and what a model takes from it by itself."""
    for name, value in (learnt or {}).items():
        tell(f"{name} = {value:.4g}, learnt from the collection")
