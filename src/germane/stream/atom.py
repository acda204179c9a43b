"""An Atom feed of what a topic delivered (RFC 4287), for any reader of feeds."""

import re
import uuid
from collections.abc import Sequence
from urllib.parse import quote
from xml.etree import ElementTree

from germane.stream.values import Sighting

NAMESPACE = "http://www.w3.org/2005/Atom"
ENTRIES = 100
"""Entries of a feed unless said otherwise: the latest."""
CONTENT = 20_000
"""Characters of a text that a feed has."""
_UNWRITABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not have."""


def atom_feed(topic: str, hits: Sequence[Sighting], *, updated: str, origin: str = "") -> bytes:
    """The feed, the latest entry first. `updated`: the moment it is of where there is no hit. `origin` tells it from
    the feeds of topics of that name elsewhere.
    """
    ElementTree.register_namespace("", NAMESPACE)
    feed = ElementTree.Element(f"{{{NAMESPACE}}}feed")
    _add(feed, "id", _urn(f"{origin}\n{topic}"))
    _add(feed, "title", topic)
    _add(feed, "updated", _moment(hits[-1].at if hits else updated))
    _add(_add(feed, "author"), "name", "Germane")
    _add(feed, "generator", "Germane")
    for hit in reversed(hits):
        entry = _add(feed, "entry")
        _add(entry, "id", _urn(f"{origin}\n{topic}\n{hit.document}"))
        _add(entry, "title", hit.title or hit.document)
        _add(entry, "updated", _moment(hit.at))
        if hit.date is not None:
            _add(entry, "published", _moment(hit.date))
        if hit.url.startswith(("http://", "https://")):
            _add(entry, "link").set("href", quote(hit.url, safe="%/:=&?~#+!$,;'@()*[]"))
        _add(entry, "content", _shortened(str(hit.fields.get("text") or hit.title or hit.document)))
    ElementTree.indent(feed)
    content: bytes = ElementTree.tostring(feed, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _add(parent: ElementTree.Element, name: str, text: str | None = None) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, f"{{{NAMESPACE}}}{name}")
    element.text = None if text is None else _UNWRITABLE.sub("\ufffd", text)
    return element


def _shortened(text: str) -> str:
    return text if len(text) <= CONTENT else text[:CONTENT].rstrip() + " …"


def _urn(text: str) -> str:
    """An id that is the same whenever and wherever the feed is made."""
    return f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'urn:germane:{text}')}"


def _moment(text: str) -> str:
    """RFC 3339 has seconds at least."""
    return text if "T" in text else f"{text}T00:00:00Z"
