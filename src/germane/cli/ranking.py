"""From the options of the command line to a ranking model and its priors."""

import datetime
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from germane.cli.options import DEFAULT_MODEL
from germane.cli.streams import tell
from germane.errors import ParameterError, QueryError

if TYPE_CHECKING:
    from germane import Engine
    from germane.rank.models import RankingModel
    from germane.rank.priors import Prior

AUTO = "auto"
_LEARNERS = {"mu": ("dirichlet", "twostage", "dce"), "lam": ("jm",)}
"""The models whose parameter the collection itself can tell."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """A model and its parameters as typed; without a name it is the default model."""

    model: str | None
    mu: str | None
    lam: str | None
    delta: float | None
    k1: float | None
    b: float | None
    priors: Sequence[str]

    def chosen(self, engine: "Engine") -> tuple["RankingModel", list["Prior"]]:
        """The model, its `auto` parameters learnt, and the priors."""
        from germane.rank.registry import model_named

        model = self.model or DEFAULT_MODEL
        typed = {"mu": self.mu, "lam": self.lam}
        given = {"delta": self.delta, "k1": self.k1, "b": self.b}
        given |= {name: _number(name, text) for name, text in typed.items() if text != AUTO}
        model_named(model, **given)  # complain before the work of learning
        given |= {name: _learnt(engine, model, name) for name, text in typed.items() if text == AUTO}
        return model_named(model, **given), self._priors(engine)

    def named(self, engine: "Engine") -> tuple["RankingModel | None", list["Prior"]]:
        """As `chosen`, but None where no model is named; a parameter of one is then an error."""
        if self.model is not None:
            return self.chosen(engine)
        for name in ("mu", "lam", "delta", "k1", "b"):
            if getattr(self, name) is not None:
                raise ParameterError(f"--{name} belongs to a ranking model; with feedback, name that with --model")
        return None, self._priors(engine)

    def _priors(self, engine: "Engine") -> list["Prior"]:
        return [prior_named(text, engine) for text in self.priors]


def _number(name: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"--{name} wants a number or 'auto', not '{text}'") from None


def _learnt(engine: "Engine", model: str, name: str) -> float:
    if model not in _LEARNERS[name]:
        raise ParameterError(f"--{name} auto is for the model {', '.join(_LEARNERS[name])}, not for '{model}'")
    found = engine.learn_mu() if name == "mu" else engine.learn_lam()
    tell(f"{name} = {found.value:.4g}, learnt from the collection by leave-one-out")
    return found.value


def prior_named(text: str, engine: "Engine") -> "Prior":
    """`length`, `field:NAME` or `fresh:FIELD:DAYS`, with `^WEIGHT` behind it if wanted."""
    from germane.rank.priors import FieldPrior, FreshnessPrior, LengthPrior

    what, _, exponent = text.partition("^")
    weight = _weight(exponent, text) if exponent or text.endswith("^") else 1.0
    match what.split(":"):
        case ["length"]:
            return LengthPrior(weight)
        case ["field", name]:
            return FieldPrior(_known(name, engine), weight)
        case ["fresh", name, days]:
            return FreshnessPrior(_known(name, engine), _days(days, text), datetime.date.today(), weight)
    raise ParameterError(f"--prior is length, field:NAME or fresh:FIELD:DAYS (and ^WEIGHT if wanted), not '{text}'")


def _known(name: str, engine: "Engine") -> str:
    if name not in engine.filterable():
        known = ", ".join(sorted(engine.filterable())) or "none"
        raise QueryError(f"there is no field '{name}' for a prior (fields: {known})")
    return name


def _days(text: str, prior: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"'{prior}': a half-life is a number of days, not '{text}'") from None


def _weight(text: str, prior: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = math.nan
    if not math.isfinite(weight):
        raise ParameterError(f"'{prior}': a weight is a number, as in length^0.3")
    return weight
