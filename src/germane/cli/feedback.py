"""From the options of the command line to a feedback method, and to the marks of a person."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from germane.errors import ParameterError

if TYPE_CHECKING:
    from germane import Engine
    from germane.feedback import FeedbackMethod
    from germane.types import Marks

OPTIONS = {
    "n_docs": "--feedback-docs",
    "n_terms": "--feedback-terms",
    "query_weight": "--query-weight",
    "guard": "--guard",
}
"""What the parameters of a method are called on the command line."""


@dataclass(frozen=True, slots=True)
class Feedback:
    """A method, its parameters and the marks as typed. Marks alone ask for the engine's default method."""

    name: str | None
    n_docs: int | None
    n_terms: int | None
    query_weight: float | None
    guard: bool = False
    relevant: Sequence[str] = ()
    not_relevant: Sequence[str] = ()

    @property
    def wanted(self) -> bool:
        """Whether the search is to learn at all."""
        return bool(self.name is not None or self.relevant or self.not_relevant)

    def known_as(self) -> str:
        """The method's name."""
        from germane.engine.engine import DEFAULT_FEEDBACK

        return DEFAULT_FEEDBACK if self.name is None else self.name

    def method(self) -> "FeedbackMethod | None":
        """The method with its parameters; None if there is to be no feedback."""
        typed = {name: getattr(self, name) for name in OPTIONS}
        given = {name: value for name, value in typed.items() if value is not None and value is not False}
        if not self.wanted:
            if given:
                raise ParameterError(f"{OPTIONS[next(iter(given))]} belongs to feedback; name a method with --feedback")
            return None
        from germane.feedback import feedback_named

        try:
            return feedback_named(self.known_as(), **given)
        except ParameterError as error:
            raise ParameterError(_as_typed(str(error))) from None

    def marks(self, engine: "Engine") -> "Marks":
        """The marked documents."""
        from germane.types import Marks

        return Marks(_ids("--relevant", self.relevant, engine), _ids("--not", self.not_relevant, engine))


def ranked_by(method: "FeedbackMethod") -> str:
    """The name of the model by which a method ranks last."""
    if isinstance(method.final, str):
        return method.final
    from germane.rank.registry import MODEL_NAMES, model_named

    smoothings = {name: getattr(model_named(name), "smoothing", None) for name in MODEL_NAMES}
    return next(name for name, smoothing in smoothings.items() if type(smoothing) is type(method.final))


def _as_typed(message: str) -> str:
    """The message with the command line's names for parameters."""
    for name, option in OPTIONS.items():
        message = message.replace(name, option)
    return message


def _ids(option: str, texts: Sequence[str], engine: "Engine") -> list[str]:
    """Ids with commas between them; a text that is an id itself, comma and all, is that id."""
    found: list[str] = []
    for text in texts:
        ids = [text] if text in engine else [part.strip() for part in text.split(",") if part.strip()]
        if not ids:
            raise ParameterError(f"{option} wants ids of documents, with commas between them, not '{text}'")
        found += ids
    return found
