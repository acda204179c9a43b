"""RSS and Atom: the entries of a feed as documents of a stream, the oldest first."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urljoin
from xml.etree.ElementTree import Element

from germane.metasearch.answers import SourceError
from germane.metasearch.payload import Payload, children, text_of_element
from germane.metasearch.sources.feeds import entry_date, entry_fields, entry_id, feed_of
from germane.stream.arrivals import Arrival
from germane.stream.fetching import Fetcher
from germane.stream.intake import Intake
from germane.stream.sources import ArrivalSource, batched
from germane.stream.store import Store
from germane.types import Document, FieldValue

MAX_FEED = 128 << 20
"""The longest feed that is read."""
_TEXTS = ("content", "encoded", "description", "summary")


def feed_arrivals(payload: Payload, source: str) -> tuple[list[Arrival], list[str]]:
    """The documents of a feed, and what is wrong with it; where it breaks off, those before the break.

    An id that is no address of its own ("1234") has the feed's before it: another feed may have the same. A link that
    is relative is taken from `xml:base`, else from the feed's address.
    """
    found: list[Arrival] = []
    feed = feed_of(payload, lambda entry: found.append(_arrival(entry, source)))
    assert feed.root is not None
    if base := feed.root.get("base", "") or (source if _is_address(source) else _page(feed.root)):
        found = [_linked(each, urljoin(source, base) if _is_address(source) else base) for each in found]
    dates = [each.date for each in found if each.date is not None]
    if not dates or dates[0] > dates[-1]:
        found.reverse()  # feeds have the newest first
    troubles = [*payload.notes, *([feed.broken] if feed.broken else [])]
    return found, troubles


def _arrival(entry: Element, source: str) -> Arrival:
    identifier, fields = entry_id(entry), entry_fields(entry)
    fullest = max((text for name in _TEXTS for text in children(entry, name)), key=len, default="")
    date = entry_date(entry)
    said: dict[str, FieldValue] = {
        **fields,
        **({"text": fullest} if fullest else {}),
        **({"date": date} if date else {}),
    }
    own = identifier if ":" in identifier else f"{source}#{identifier}" if identifier else ""
    return Arrival.of(Document(own, said), source)


def _linked(arrival: Arrival, base: str) -> Arrival:
    """The document with a link that can be followed."""
    link = arrival.fields.get("url")
    if not link or _is_address(str(link)):
        return arrival
    return replace(arrival, fields={**arrival.fields, "url": urljoin(base, str(link))})


def _page(root: Element) -> str:
    """Where a feed that is a file says that it is from."""
    channel = root.find("channel")
    links = [*root.iterfind("link"), *(() if channel is None else channel.iterfind("link"))]
    said = (link.get("href") or text_of_element(link) for link in links)
    return next(filter(_is_address, said), "")


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://"))


@dataclass
class Feed(ArrivalSource):
    """RSS or Atom at an address; asked whether it has changed since, and less often the longer it fails."""

    url: str
    store: Store
    fetcher: Fetcher
    _answer: dict[str, Any] | None = None
    _left_alone: bool = False

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its address."""
        return self.url

    def poll(self, intake: Intake) -> Iterator[list[Arrival]]:
        """The entries, if there is something new."""
        known = self.store.polls().get(self.url)
        self._answer = None
        now = self.fetcher.clock.date()
        if known is not None and known.not_before > now:
            if known.trouble and not self._left_alone:
                self._left_alone = True  # told once, not every round
                intake.trouble(
                    f"{self.url}: left alone for {known.not_before - now:.0f} seconds more ({known.trouble})"
                )
            return
        validators = {} if known is None else dict(known.validators)
        try:
            payload = self.fetcher.feed(self.url, validators, MAX_FEED)
            unchanged = payload.status == 304
            found, troubles = ([], []) if unchanged else feed_arrivals(payload, self.url)
        except SourceError as error:
            intake.trouble(f"{self.url}: {error}")
            failures = (0 if known is None else known.failures) + 1
            wait = max(self.fetcher.back_off(failures), error.wait or 0.0)
            self._answer = {
                "validators": validators,
                "failures": failures,
                "not_before": now + wait,
                "trouble": str(error),
            }
            return
        for told in troubles:
            intake.trouble(f"{self.url}: {told}")
        yield from batched(found, intake)
        if not unchanged and not troubles:
            validators = {"etag": payload.etag, "last_modified": payload.last_modified}
        self._answer = {"validators": validators, "failures": 0, "not_before": 0.0, "trouble": ""}

    def settle(self) -> None:
        """Remember how it answered: what it gave is on disk."""
        if self._answer is not None:
            self.store.put_poll(self.url, **self._answer)
