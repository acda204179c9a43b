"""Why this class? The score of each class as a sum over the words of the text."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from germane.schema import Response

Label = Any
"""A class as the labels name it: a string or a number."""

SHOWN_CLASSES = 3


@dataclass(frozen=True, slots=True)
class WordPart:
    """What one word of the text adds to the score of a class: above 0 it argues for the class, below 0 against."""

    word: str
    term: str
    count: int
    amount: float


@dataclass(frozen=True, slots=True)
class ClassPart:
    """The score of one class: `score` = `constant` + Σ `amount` over all `words`, the strongest first.

    `chosen` says whether the text got this class.
    """

    label: Label
    score: float
    constant: float
    words: tuple[WordPart, ...]
    chosen: bool

    def arguments_for(self, top: int | None = None) -> tuple[WordPart, ...]:
        """The words that argue for the class."""
        return tuple(word for word in self.words if word.amount > 0)[:top]

    def arguments_against(self, top: int | None = None) -> tuple[WordPart, ...]:
        """The words that argue against the class."""
        return tuple(word for word in self.words if word.amount < 0)[:top]


@dataclass(frozen=True, slots=True)
class ClassResponse(Response):
    """The score of one class: `score` = `constant` + Σ amounts of `words`, the strongest, + `other_words`."""

    label: Label
    chosen: bool
    score: float
    constant: float
    words: tuple[WordPart, ...]
    other_words: float


@dataclass(frozen=True)
class TextExplanation:
    """The classes of a text, the best first, each with the words that argued for and against it.

    `explanation["sport"]` is one class; `str(explanation)` shows the `top` words of the first few classes.
    """

    classes: tuple[ClassPart, ...]
    top: int

    def __getitem__(self, label: Label) -> ClassPart:
        for part in self.classes:
            if part.label == label:
                return part
        raise KeyError(label)

    def __iter__(self) -> Iterator[ClassPart]:
        return iter(self.classes)

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def predicted(self) -> tuple[Label, ...]:
        """The classes that the text got: one, or any number of a multi-label classifier."""
        return tuple(part.label for part in self.classes if part.chosen)

    def shown(self) -> tuple[ClassPart, ...]:
        """The classes worth showing: those chosen, and the first few."""
        return tuple(part for i, part in enumerate(self.classes) if part.chosen or i < SHOWN_CLASSES)

    def responses(self) -> tuple[ClassResponse, ...]:
        """The classes as JSON has them, with the `top` strongest words of each."""
        return tuple(
            ClassResponse(
                part.label,
                part.chosen,
                part.score,
                part.constant,
                part.words[: self.top],
                sum(word.amount for word in part.words[self.top :]),
            )
            for part in self.classes
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON has it."""
        return {"classes": [response.to_dict() for response in self.responses()]}

    def __str__(self) -> str:
        lines = []
        for part in self.shown():
            lines.append(f"{'*' if part.chosen else ' '} {part.label}: score {part.score:.4g}")
            for name, words in (("for", part.arguments_for(self.top)), ("against", part.arguments_against(self.top))):
                said = ", ".join(f"{word.word} {word.amount:+.3g}" for word in words)
                lines.append(f"    {name}: {said or 'nothing'}")
            kept = {*part.arguments_for(self.top), *part.arguments_against(self.top)}
            rest = sum(word.amount for word in part.words if word not in kept)
            others = f", other words {rest:+.3g}" if len(kept) < len(part.words) else ""
            lines.append(f"    constant {round(part.constant, 9) + 0.0:+.3g}{others}")
        return "\n".join(lines)
