"""MeSH's own files: ASCII and XML say the same, supplementary records, what is refused."""

from pathlib import Path

import pytest

from germane.data.mesh import is_mesh, read_mesh
from germane.errors import InputError

ASCII = """*NEWRECORD
RECTYPE = D
MH = Myocardial Infarction
AQ = BL CF CI
PRINT ENTRY = Heart Attack|T047|NON|EQV|NLM (1998)|970521|abbcdef
ENTRY = Cardiovascular Stroke|T047|NON|NRW|NLM (2003)|011130|abbcdef
ENTRY = Myocardial Infarct
MN = C14.280.647.500
MS = NECROSIS of the MYOCARDIUM = a supply that does not suffice.
UI = D009203

*NEWRECORD
RECTYPE = D
MH = Stroke
ENTRY = Cardiovascular Stroke|T047
ENTRY = Apoplexy|T047
UI = D020521

*NEWRECORD
RECTYPE = Q
SH = abnormalities
"""
TERMS = {
    "Myocardial Infarction": "Myocardial Infarction",
    "Heart Attack": "Myocardial Infarction",
    "Cardiovascular Stroke": "Myocardial Infarction",
    "Myocardial Infarct": "Myocardial Infarction",
    "Stroke": "Stroke",
    "Apoplexy": "Stroke",
}
"""Written down from the file by hand: of the term of two records the first counts."""


def descriptor(heading: str, *concepts: str) -> str:
    inside = "".join(f"<Concept><TermList>{terms}</TermList></Concept>" for terms in concepts)
    return (
        f"<DescriptorRecord><DescriptorName><String>{heading}</String></DescriptorName>"
        f"<AllowableQualifiersList><AllowableQualifier><QualifierReferredTo><QualifierName><String>blood</String>"
        f"</QualifierName></QualifierReferredTo></AllowableQualifier></AllowableQualifiersList>"
        f"<ConceptList>{inside}</ConceptList></DescriptorRecord>"
    )


def term(text: str, permuted: str = "N") -> str:
    return f'<Term IsPermutedTermYN="{permuted}"><TermUI>T1</TermUI><String>{text}</String></Term>'


HEAD = '<?xml version="1.0"?>\n<!DOCTYPE DescriptorRecordSet SYSTEM "https://example.org/none.dtd">\n'
XML = (
    HEAD
    + "<DescriptorRecordSet LanguageCode='eng'>"
    + descriptor(
        "Myocardial Infarction",
        term("Myocardial Infarction") + term("Infarction, Myocardial", "Y") + term("Heart Attack"),
        term("Cardiovascular Stroke") + term("Myocardial  Infarct\n"),
    )
    + descriptor("Stroke", term("Stroke") + term("Cardiovascular Stroke") + term("Apoplexy"))
    + "</DescriptorRecordSet>"
)


def test_ascii_and_xml_say_the_same(tmp_path: Path) -> None:
    for name, text in (("desc.bin", ASCII), ("desc.xml", XML)):
        (path := tmp_path / name).write_text(text, encoding="utf-8")
        assert is_mesh(path)
        assert read_mesh(path) == TERMS
    (plain := tmp_path / "terms.tsv").write_text("heart attack\tmyocardial infarction\n")
    assert not is_mesh(plain)


def test_supplementary_records(tmp_path: Path) -> None:
    (ascii_file := tmp_path / "c.bin").write_text("*NEWRECORD\nRECTYPE = C\nNM = ibufenac\nSY = Dytransin|T109|\n")
    (xml_file := tmp_path / "supp.xml").write_text(
        "<SupplementalRecordSet><SupplementalRecord><SupplementalRecordName><String>ibufenac</String>"
        f"</SupplementalRecordName><ConceptList><Concept><TermList>{term('Dytransin')}</TermList></Concept>"
        "</ConceptList></SupplementalRecord></SupplementalRecordSet>"
    )
    assert read_mesh(ascii_file) == read_mesh(xml_file) == {"ibufenac": "ibufenac", "Dytransin": "ibufenac"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<!DOCTYPE x [<!ENTITY a "aaaa">]><DescriptorRecordSet>&a;</DescriptorRecordSet>', "entity"),
        ("<PubmedArticleSet/>", "not MeSH XML"),
        ("<DescriptorRecordSet><DescriptorRecord/></DescriptorRecordSet>", "without DescriptorName"),
        ("<DescriptorRecordSet>", "not well-formed"),
        ("<DescriptorRecordSet/>", "no record with a heading"),
        ("*NEWRECORD\nMH = A\nthis is no line of MeSH\n", "line 3"),
        ("*NEWRECORD\nRECTYPE = Q\nSH = blood\n", "no record with a heading"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (path := tmp_path / "bad").write_text(text)
    with pytest.raises(InputError, match=message):
        read_mesh(path)
