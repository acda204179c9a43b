"""From the options of the command line to what the engine is asked, and back from its words to the options."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from germane.cli.streams import tell
from germane.errors import ParameterError

if TYPE_CHECKING:
    from germane import Engine
    from germane.engine import FeedbackRequest, RankingRequest

_OPTIONS = {
    "n_docs": "--feedback-docs",
    "n_terms": "--feedback-terms",
    "query_weight": "--query-weight",
    "guard": "--guard",
}
"""What the parameters of a feedback method are called on the command line."""
_QUOTED = {"priors": "--prior", "weights": "--field-weight", "feedback": "--feedback", "model": "--model"} | {
    name: f"--{name}" for name in ("mu", "lam", "delta", "k1", "b", "ordered", "unordered")
}
"""What the members of a request are called, where a message has them in quotation marks."""


@contextmanager
def as_typed() -> Iterator[None]:
    """Errors that are raised within name the options where the engine names its parameters."""
    try:
        yield
    except ParameterError as error:
        message = re.sub(rf"'?\b({'|'.join(_OPTIONS)})\b'?", lambda found: _OPTIONS[found[1]], str(error))
        message = re.sub(rf"'({'|'.join(_QUOTED)})'", lambda found: _QUOTED[found[1]], message)
        raise ParameterError(message) from None


def ranking_request(
    model: str | None, priors: Sequence[str] | None, weights: Sequence[str] | None, **parameters: str | float | None
) -> "RankingRequest":
    """A model with the parameters that were typed."""
    from germane.engine import RankingRequest

    typed = {name: _number(value) if isinstance(value, str) else value for name, value in parameters.items()}
    return RankingRequest(model, _given(typed), tuple(priors or ()), _field_weights(weights or ()))


def _field_weights(texts: Sequence[str]) -> dict[str, float]:
    """FIELD=NUMBER, each field once."""
    weights: dict[str, float] = {}
    for text in texts:
        name, sign, typed = text.rpartition("=")
        weight = _number(typed.strip())
        if not sign or not name.strip() or not isinstance(weight, float):
            raise ParameterError(f"--field-weight wants a text field and a number, as in title=3, not '{text}'")
        if name.strip() in weights:
            raise ParameterError(f"--field-weight names the field '{name.strip()}' twice")
        weights[name.strip()] = weight
    return weights


def feedback_request(
    method: str | None, n_docs: int | None, n_terms: int | None, query_weight: float | None, guard: bool
) -> "FeedbackRequest":
    """A method with the parameters that were typed."""
    from germane.engine import FeedbackRequest

    typed = {"n_docs": n_docs, "n_terms": n_terms, "query_weight": query_weight, "guard": guard or None}
    return FeedbackRequest(method, _given(typed))


def reranker_typed(name: str | None) -> str | None:
    """What `--rerank` says: nothing for the model that was promoted, `none` for no second stage."""
    from germane.engine.models.promotion import PROMOTED

    return PROMOTED if name is None else None if name == "none" else name


def tell_promoted(reranked_by: str | None, not_reranked: str | None) -> None:
    """That the learnt model that was promoted ranks, or why it cannot."""
    if reranked_by is not None:
        tell(f"ranked by {reranked_by}, learnt from clicks and promoted; --rerank none leaves it out")
    if not_reranked is not None:
        tell(not_reranked)


def with_settings(
    ranking: "RankingRequest", feedback: "FeedbackRequest", texts: Sequence[str] | None
) -> tuple["RankingRequest", "FeedbackRequest"]:
    """The requests with what --set says."""
    if not texts:
        return ranking, feedback
    from germane.engine.methods import with_settings as added

    return added(ranking, feedback, settings_typed(texts))


def settings_typed(texts: Sequence[str] | None) -> dict[str, str]:
    """What --set says, NAME=VALUE."""
    from germane.lm.parameter_parsing import pairs

    return pairs(texts or (), "--set")


def ids_typed(option: str, texts: Sequence[str] | None, engine: "Engine") -> tuple[str, ...]:
    """Ids with commas between them; a text that is an id itself, comma and all, is that id."""
    found: list[str] = []
    for text in texts or ():
        ids = [text] if text in engine else [part.strip() for part in text.split(",") if part.strip()]
        if not ids:
            raise ParameterError(f"{option} wants ids of documents, with commas between them, not '{text}'")
        found += ids
    return tuple(found)


def tell_learnt(learnt: Mapping[str, float] | None) -> None:
    """Say which numbers the collection gave: what "auto" came to, and what a model takes from it by itself."""
    for name, value in (learnt or {}).items():
        tell(f"{name} = {value:.4g}, learnt from the collection")


def _given(typed: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in typed.items() if value is not None}


def _number(text: str | None) -> float | str | None:
    """The number, or the text as it is: the engine knows what else may stand there."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
