"""Keys of people: used in requests, shown nowhere."""

from collections.abc import Iterable
from urllib.parse import quote, quote_plus

HIDDEN = "[key]"


class Secret:
    """A key. It has no readable form but `value`, which only a request asks for."""

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.value = value

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other.value == self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __reduce__(self) -> str:
        raise TypeError("a key is not copied into files")


def scrubbed(data: bytes, secrets: Iterable[Secret]) -> bytes:
    """The bytes with `HIDDEN` for every key in them, plain or as an address has it: services repeat keys in errors."""
    for secret in secrets:
        for form in {secret.value, quote(secret.value, safe=""), quote_plus(secret.value), quote(secret.value)}:
            if form:
                data = data.replace(form.encode(), HIDDEN.encode())
    return data


def scrubbed_text(text: str, secrets: Iterable[Secret]) -> str:
    """The same for a text."""
    return scrubbed(text.encode(errors="surrogatepass"), secrets).decode(errors="replace")
