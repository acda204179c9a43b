"""What a segment holds: its sections, in the order in which they lie in the file. The one description of the format.

A segment is a container (`index.container`): named arrays, each with its own checksum. SECTIONS names them all but the
columns, of which there is one for each field that is not searched as text. `index.segment_writer` writes them,
`index.segment` reads them, `index.invariants` says what must hold between them.

The container's meta data are `n_docs`, `n_terms`, `n_tokens`, `n_postings`; `columns`, field -> 'numeric' or 'keyword';
`numbers`, the keyword fields that hold a number somewhere, where there is one;
what is needed to rebuild a lost manifest (`index.manifest.recovery_meta`); and of a merged segment `merged_at`, the
generation whose deletions it knows of, and `replaces`, the names of its sources.

A reader asks for sections by name and ignores those that it does not know: a later format may add to them. The part
`order` is in segments whose index keeps positions: without it a segment says the same of everything but the order of
words. A document whose order is not known (it came from elsewhere by a merge) has fields without tokens there.
"""

from collections.abc import Mapping
from typing import Literal, NamedTuple

Part = Literal["postings", "dictionary", "surfaces", "forward", "documents", "order", "stored"]
Per = Literal["term", "doc", "block"]


class Section(NamedTuple):
    """One array of a segment. `per`: it has one entry for each of these; None: its length follows from others."""

    name: str
    part: Part
    types: tuple[str, ...]
    """What its numbers may be, as NumPy writes them: the narrowest that fits where there are two."""
    per: Per | None
    content: str


_OFFSETS = ("<u4", "<i8")

SECTIONS = (
    Section("words", "postings", ("<u4",), None, "gaps and counts of all posting lists, bit-packed in blocks of 128"),
    Section("blk_last", "postings", ("<u4",), "block", "the last document of each block"),
    Section("blk_doc_bits", "postings", ("|u1",), "block", "bits of a gap"),
    Section("blk_tf_bits", "postings", ("|u1",), "block", "bits of a count; 0: all are the block's largest"),
    Section("blk_max_tf", "postings", ("|u1",), "block", "the largest count, 255 for this or more"),
    Section("df", "dictionary", ("|u1",), "term", "documents that hold the term; 255: see the next of df_large"),
    Section("df_large", "dictionary", ("<i8",), None, "those of 255 and more, in order"),
    Section("cf", "dictionary", ("|u1",), "term", "occurrences of the term beyond df; 255: see the next of cf_large"),
    Section("cf_large", "dictionary", ("<i8",), None, "those of 255 and more, in order"),
    Section("term_bytes", "dictionary", ("|u1",), None, "the terms in UTF-8, sorted, one after the other"),
    Section("term_offsets", "dictionary", _OFFSETS, None, "where each term begins, and the last one's end"),
    Section("surface_bytes", "surfaces", ("|u1",), None, "the commonest written form of each term; empty: the term"),
    Section("surface_offsets", "surfaces", _OFFSETS, None, "where each form begins, and the last one's end"),
    Section("surface_count", "surfaces", ("<u4",), "term", "how often that form was met"),
    Section("fwd_words", "forward", ("<u4",), None, "the terms and counts of each document, bit-packed"),
    Section("fwd_term_bits", "forward", ("|u1",), "doc", "bits of a gap between term numbers"),
    Section("fwd_tf_bits", "forward", ("|u1",), "doc", "bits of a count"),
    Section("n_unique", "forward", ("<u4",), "doc", "distinct terms of each document"),
    Section("doc_len", "documents", ("<u4",), "doc", "tokens of each document"),
    Section("id_bytes", "documents", ("|u1",), None, "the ids in UTF-8, by document number"),
    Section("id_offsets", "documents", _OFFSETS, None, "where each id begins, and the last one's end"),
    Section("id_order", "documents", ("<u4",), "doc", "the document numbers in order of their ids"),
    Section(
        "seq_words", "order", ("<u4",), None, "each document's tokens in order, as places in its own list of terms"
    ),
    Section("field_len", "order", ("|u1", "<u2", "<u4"), None, "tokens of each text field, document by document"),
    Section("seq_several", "order", ("<u4",), None, "the documents that have a text field of several values"),
    Section("stored", "stored", ("|u1",), None, "the fields as they came: JSON lines in Zstandard blocks"),
    Section("stored_at", "stored", ("<i8",), None, "where each block begins, and the last one's end"),
    Section("stored_last", "stored", ("<i8",), None, "documents up to the end of each block"),
)

COLUMN = "column/"
"""How the sections of a column begin (`index.columns`); they follow the others, by field name."""


def names_of(part: Part) -> tuple[str, ...]:
    """The sections of one part, in order."""
    return tuple(section.name for section in SECTIONS if section.part == part)


def check_layout(written: Mapping[str, str]) -> None:
    """Fail unless these sections, with the types of their numbers, are those of a segment in their order.

    The part `order` may be absent.
    """
    fixed = {name: dtype for name, dtype in written.items() if not name.startswith(COLUMN)}
    expected = [section for section in SECTIONS if section.part != "order" or section.name in fixed]
    if list(fixed) != [section.name for section in expected] or list(written)[: len(fixed)] != list(fixed):
        raise AssertionError(f"not the sections of a segment in their order: {', '.join(written)}")
    wrong = [section.name for section in expected if fixed[section.name] not in section.types]
    if wrong:
        raise AssertionError(f"sections of the wrong type: {', '.join(wrong)}")
