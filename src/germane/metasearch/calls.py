"""A request to a source, and how the source may be asked: plain values, without the network."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from germane.metasearch.rates import Rate
from germane.metasearch.secrets import Secret

RETRIES = 3
MAX_BYTES = 32 << 20
"""The longest answer that is read, as sent and unpacked."""


@dataclass(frozen=True, slots=True)
class Policy:
    """How a source may be asked. `own`: addresses that a person configured; `private`: these may be private by name."""

    rate: Rate = field(default_factory=lambda: Rate(5))
    own: tuple[str, ...] = ()
    private: bool = False
    retries: int = RETRIES
    max_bytes: int = MAX_BYTES
    busy: frozenset[int] = frozenset()
    """Statuses by which this source says, beside 429, that it is asked too often."""
    kind: str = ""
    """Sources of one kind at one host share its rate."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request. Keys are apart from the rest: they go to the origin of `url` alone."""

    url: str
    parameters: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    secret_parameters: Mapping[str, Secret] = field(default_factory=dict)
    secret_headers: Mapping[str, Secret] = field(default_factory=dict)
    also: frozenset[int] = frozenset()
    """Statuses that are an answer as 200 is: 304 to a conditional request, 202 and 204 to what was sent."""

    @property
    def method(self) -> str:
        """POST where there is something to send."""
        return "POST" if self.body else "GET"

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """All keys in it."""
        return (*self.secret_parameters.values(), *self.secret_headers.values())
