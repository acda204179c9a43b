"""Parameters as people type them, `name=value`: texts read as the values of a dataclass, and values written as texts.

A number is written as it is, a switch as true or false, nothing as none. A smoothing is written as its name with its
numbers after colons: mle, jm:0.3, dirichlet:700, absolute:0.7, twostage:0.9:700.
"""

import types
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from germane.errors import ParameterError
from germane.lm.smoothing import MLE, AbsoluteDiscounting, Dirichlet, JelinekMercer, Smoothing, TwoStage

SMOOTHINGS: Mapping[str, type[Smoothing]] = {
    "mle": MLE,
    "jm": JelinekMercer,
    "dirichlet": Dirichlet,
    "absolute": AbsoluteDiscounting,
    "twostage": TwoStage,
}
_SWITCH = {"true": True, "yes": True, "false": False, "no": False}


class ParameterInfo(NamedTuple):
    """A parameter: its name, its default as text, and what may be written for it."""

    name: str
    default: str
    wants: str


def pairs(texts: Iterable[str], option: str) -> dict[str, str]:
    """NAME=VALUE, each name once; `option` is where they stand, for the message."""
    found: dict[str, str] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not sign or not name or not value:
            raise ParameterError(f"{option} wants NAME=VALUE, as in lam=0.1, not '{text}'")
        if name in found:
            raise ParameterError(f"{option} gives '{name}' twice")
        found[name] = value
    return found


def parameters_of(kind: type[Any], hidden: Iterable[str] = ()) -> tuple[ParameterInfo, ...]:
    """What a dataclass takes, in its order, but for what is `hidden`."""
    hints = get_type_hints(kind)
    found = []
    for field in fields(kind):
        if field.name not in hidden:
            default = field.default_factory() if field.default_factory is not MISSING else field.default
            found.append(ParameterInfo(field.name, written(default), _wanted(hints[field.name])))
    return tuple(found)


def read(what: str, kind: type[Any], texts: Mapping[str, str], hidden: Iterable[str] = ()) -> dict[str, Any]:
    """The values of these texts for a dataclass; `what` names it in messages, `hidden` parameters it has not."""
    known = [parameter.name for parameter in parameters_of(kind, hidden)]
    foreign = sorted(texts.keys() - set(known))
    if foreign:
        takes = ", ".join(known) or "no parameter"
        raise ParameterError(f"{what} has no parameter {', '.join(foreign)}; it takes {takes}")
    hints = get_type_hints(kind)
    return {name: value_of(name, hints[name], text) for name, text in texts.items()}


def value_of(name: str, annotation: Any, text: str) -> Any:
    """What a text says where an annotation stands: one of a union's kinds, the strictest that takes it."""
    kinds = _kinds(annotation)
    lower = text.strip().lower()
    if type(None) in kinds and lower == "none":
        return None
    choices = [choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)]
    if lower in choices:
        return lower
    if bool in kinds and lower in _SWITCH:
        return _SWITCH[lower]
    for number in (int, float):
        if number in kinds:
            try:
                return number(lower)
            except ValueError:
                continue
    if Smoothing in kinds and lower.partition(":")[0] in SMOOTHINGS:
        return _smoothing(name, lower)
    raise ParameterError(f"{name} wants {_wanted(annotation)}, not '{text}'")


def written(value: Any) -> str:
    """A value as `value_of` reads it."""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Smoothing):
        name = next(name for name, kind in SMOOTHINGS.items() if kind is type(value))
        numbers = (f"{getattr(value, field.name):g}" for field in fields(value))  # type: ignore[arg-type]
        return ":".join([name, *numbers])
    return f"{value:g}" if isinstance(value, float) else str(value)


def _smoothing(name: str, text: str) -> Smoothing:
    title, *numbers = text.split(":")
    kind = SMOOTHINGS[title]
    wanted = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    try:
        values = [float(number) for number in numbers]
    except ValueError:
        values = []
    if len(values) != len(wanted) or len(values) != len(numbers):
        example = ":".join([title, *map(str.upper, wanted)])
        raise ParameterError(f"{name} wants numbers after '{title}', as in {example}, not '{text}'")
    return kind(*values)


def _kinds(annotation: Any) -> list[Any]:
    """The members of a union, those of unions within it too."""
    if get_origin(annotation) in (Union, types.UnionType):
        return [kind for part in get_args(annotation) for kind in _kinds(part)]
    return [annotation]


def _wanted(annotation: Any) -> str:
    """What may be written, in words."""
    names = {int: "a whole number", float: "a number", bool: "true or false", type(None): "none"}
    said: list[str] = []
    for kind in _kinds(annotation):
        if get_origin(kind) is Literal:
            said += map(str, get_args(kind))
        elif kind is Smoothing:
            said.append("a smoothing (jm:LAM, dirichlet:MU, twostage:LAM:MU, absolute:DELTA, mle)")
        else:
            said.append(names.get(kind, getattr(kind, "__name__", str(kind))))
    return " or ".join(dict.fromkeys(said))
