import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from germane.data.bad_records import SkipReport
from germane.data.bibtex import read_bibtex
from germane.data.latex import latex_to_text
from germane.errors import InputError

BIB = r"""% Written by hand; an address@example.org is no entry.
@comment{ @article{hidden, title={Not an entry}} }
@preamble{"\newcommand{\x}{y}"}
@string{sigir = "Proceedings of " # {the {ACM} {SIGIR}}}
@String(pub = {Knuth})

@InProceedings{ponte98,
  author    = {Ponte, Jay M. and {Barnes and Noble} and G{\"o}del, Kurt},
  title     = "A {Language} ``Model'' with a {"}quote{"}",
  booktitle = sigir,
  year      = 1998,
  month     = aug # "~24",
  keywords  = {language models; retrieval, ranking},
  abstract  = {Nested {braces {inside}} and
               an = sign, a comma.},
  doi       = {https://doi.org/10.1145/290941.291008},
}
@book(knuth, publisher = pub, title = "Art (volume 1)", year = {c. 1968})
@misc
  {third, title = {No comma at the end}, note = undefined}
@article{, title = {No key}}
@article{title = {No key, no comma}, journal = {J. {\AA}}}
@misc{only}
"""


def pairs(*arguments, **options):
    return [(document.id, dict(document.fields)) for document in read_bibtex(*arguments, **options)]


@pytest.mark.parametrize("content", [BIB, BIB.replace("\n", "\r\n"), "\ufeff" + BIB])
def test_count_first_last(write, content):
    documents = pairs(write("d.bib", content))
    assert [key for key, _ in documents] == ["10.1145/290941.291008", "knuth", "third", "d.bib:4", "d.bib:5", "only"]
    assert documents[0][1] == {
        "title": "A Language ``Model'' with a \"quote\"",
        "text": "Nested braces inside and an = sign, a comma.",
        "author": ["Ponte, Jay M.", "Barnes and Noble", "Gödel, Kurt"],
        "year": 1998,
        "journal": "Proceedings of the ACM SIGIR",
        "doi": "10.1145/290941.291008",
        "keywords": ["language models", "retrieval", "ranking"],
        "month": "August 24",
        "type": "inproceedings",
        "key": "ponte98",
        "record_format": "bibtex",
        "record_tags": "author title booktitle year month keywords abstract doi",
    }
    assert documents[1][1] == {
        "title": "Art (volume 1)",
        "year": 1968,
        "publisher": "Knuth",
        "type": "book",
        "key": "knuth",
        "tag_year": "c. 1968",
        "record_format": "bibtex",
        "record_tags": "publisher title year",
    }
    assert documents[2][1]["note"] == "undefined"
    assert documents[4][1] == {
        "title": "No key, no comma",
        "journal": "J. Å",
        "type": "article",
        "record_format": "bibtex",
        "record_tags": "title journal",
    }
    assert documents[5][1] == {"type": "misc", "key": "only", "record_format": "bibtex", "record_tags": ""}


@pytest.mark.parametrize("content", ["", "\n", "just text, which BibTeX calls a comment"])
def test_empty(write, content):
    assert pairs(write("d.bib", content)) == []


@pytest.mark.parametrize(
    ("entry", "message", "line"),
    [
        (b"@misc{b,\n title = {x\n", "line 2: the entry is not closed", 2),
        (b"@misc{b,\n title {x}\n}\n", "line 3, field 'title': '=' is missing", 3),
        (b"@misc\n{b,\n year = ,\n}\n", "line 4, field 'year': a value is missing", 4),
        (b"@misc{b,\n year = ,\n}\n", "line 3, field 'year': a value is missing", 3),
        (b'@misc{b,\n title = "x,\n}\n', "line 3, field 'title': the value's \" is not closed", 3),
        (b"@misc{b,\n title = {x} {y}\n}\n", "line 3: '{y}' is not a field", 3),
        (b"@misc{b,\n title = {caf\xe9}\n}\n", r"line 3: byte 14 of the line \(0xe9\) is not valid UTF-8", 3),
    ],
)
def test_broken_entries(write, entry, message, line):
    path = write("d.bib", b"@misc{a}\n" + entry + b"@misc{c, year=2000}\n")
    with pytest.raises(InputError, match=rf"d\.bib, {message}"):
        pairs(path)
    report = SkipReport()
    assert [key for key, _ in pairs(path, on_bad=report.note)] == ["a", "c"]
    assert (report.count, report.first[0].line) == (1, line)


def test_truncated(write):
    with pytest.raises(InputError, match="line 2: the entry is not closed"):
        pairs(write("d.bib", "@misc{a}\n@misc{b, title = {x}"))


words = st.text("ab ,=#\"'()%", min_size=1, max_size=6)
nested = st.recursive(words, lambda inner: st.lists(inner, max_size=4).map(lambda parts: "{" + "".join(parts) + "}"))


@settings(deadline=None)
@given(st.lists(nested, min_size=1, max_size=5).map("".join))
def test_any_balanced_braces(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("bib") / "d.bib"
    path.write_text(f"@misc{{k, note = {{{value}}}, year = 2001}}\n@misc{{last}}\n")
    plain = " ".join(value.replace("{", "").replace("}", "").split())
    first, last = pairs(path)
    assert first[1].get("note", "") == plain
    assert first[1]["year"] == 2001
    assert last[0] == "last"


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"{\"o} \"{o} \"o {\'{e}} \'{\i} \^\i", "ö ö ö é í î"),
        (r"Erd{\H o}s, \v{S}\v{c}, \c{c}, \u{g}, \k{a}, \r{a}", "Erdős, Šč, ç, ğ, ą, å"),
        (r"Stra{\ss}e, {\O}rsted, \AE, {\L}ukasiewicz, \oe{}uvre", "Straße, Ørsted, Æ, Łukasiewicz, œuvre"),
        (r"R\&D 100\% \$5 \_x \{set\} \#1", "R&D 100% $5 _x {set} #1"),
        (r"pages 1--10 --- and~so", "pages 1–10 — and so"),
        (r"\textit{italic} {\em old} $\alpha$-catenin, p \textless 0.05", "italic old alpha-catenin, p <0.05"),
        ("plain, hyphen-ated", "plain, hyphen-ated"),
        ("a lone \\", "a lone \\"),
    ],
)
def test_latex(latex, text):
    assert latex_to_text(latex) == text


def test_escapes_in_identifiers(write):
    ((key, fields),) = pairs(write("d.bib", r"@misc{k, doi = {10.1007/978-3\_4--5}, url = {http://a.b/\~{}c\_d}}"))
    assert key == fields["doi"] == "10.1007/978-3_4--5"
    assert fields["url"] == "http://a.b/~c_d"
