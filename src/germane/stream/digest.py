"""What was delivered, to be read: by topic, copies of one story together, as text and as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from germane.stream.packing import bag_of
from germane.stream.values import Sighting
from germane.stream.watch import Watch
from germane.track.novelty import copies
from germane.wording import counted


class Story(NamedTuple):
    """A document, and the copies of it that came later."""

    first: Sighting
    copies: tuple[Sighting, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    """The stories of one topic, the best first."""

    topic: str
    stories: tuple[Story, ...]

    @property
    def documents(self) -> int:
        """How many were delivered, copies and all."""
        return sum(1 + len(story.copies) for story in self.stories)


def digest_of(
    watch: Watch, topic: str, *, since: str | None = None, last: int | None = None, most: int | None = None
) -> Digest:
    """What a topic delivered, from a moment on, the last n alone (`Watch.hits`); copies are told by their words
    (`track.novelty`)."""
    hits = watch.hits(topic, since=since, last=last, most=most)
    with watch.workspace.database.read() as connection:
        bags = [bag_of(bag) for bag in watch.store.bags_of(connection, [hit.number for hit in hits])]
    return made_digest(topic, hits, copies(bags, watch.memory().background))


def made_digest(topic: str, hits: Sequence[Sighting], first: Sequence[int]) -> Digest:
    """The hits as stories; `first`: for each hit the place of the one that it is a copy of, or its own."""
    groups: dict[int, list[Sighting]] = {}
    for place, hit in zip(first, hits, strict=True):
        groups.setdefault(place, []).append(hit)
    stories = [Story(group[0], tuple(group[1:])) for group in groups.values()]
    return Digest(topic, tuple(sorted(stories, key=lambda story: (-_best(story), story.first.number))))


def _best(story: Story) -> float:
    return max(hit.score for hit in (story.first, *story.copies))


def as_text(found: Sequence[Digest]) -> str:
    """Plain text, a paragraph for each story."""
    lines: list[str] = []
    for digest in found:
        lines += [_heading(digest), "=" * len(_heading(digest)), ""]
        for story in digest.stories:
            hit = story.first
            lines.append(f"* {hit.title}")
            lines.append(
                "  " + ", ".join(filter(None, [hit.date or "", f"score {hit.score:.2f}", hit.url or hit.document]))
            )
            if story.copies:
                lines.append(f"  and {_copies(story)}: {', '.join(copy.url or copy.document for copy in story.copies)}")
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def as_html(found: Sequence[Digest]) -> str:
    """A page that needs nothing else."""
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Digest</title>\n<style>\n'
        "body { font: 1rem/1.5 sans-serif; max-width: 45rem; margin: 2rem auto; padding: 0 1rem; }\n"
        "p.about { color: #555; margin-top: 0; }\n</style>\n</head>\n<body>\n"
    ]
    for digest in found:
        parts.append(f"<h1>{escape(_heading(digest))}</h1>\n")
        for story in digest.stories:
            about = ", ".join(filter(None, [story.first.date or "", f"score {story.first.score:.2f}"]))
            parts.append(f'<h2>{_linked(story.first)}</h2>\n<p class="about">{escape(about)}</p>\n')
            text = " ".join(str(story.first.fields.get("text") or "").split())
            parts.append(f"<p>{escape(text if len(text) <= 400 else text[:400].rstrip() + ' …')}</p>\n")
            if story.copies:
                copies = "".join(f"<li>{_linked(copy)}</li>\n" for copy in story.copies)
                parts.append(f"<details><summary>{_copies(story)}</summary>\n<ul>\n{copies}</ul></details>\n")
    return "".join(parts) + "</body>\n</html>\n"


def _heading(digest: Digest) -> str:
    stories, documents = len(digest.stories), digest.documents
    told = f"{stories} {'story' if stories == 1 else 'stories'}"
    return f"{digest.topic}: {told}" + (f" in {counted(documents, 'document')}" if documents > stories else "")


def _copies(story: Story) -> str:
    return f"{len(story.copies)} more {'copy' if len(story.copies) == 1 else 'copies'} of it"


def _linked(hit: Sighting) -> str:
    title = escape(hit.title or hit.document)
    return f'<a href="{escape(hit.url)}">{title}</a>' if hit.url.startswith(("http://", "https://")) else title
