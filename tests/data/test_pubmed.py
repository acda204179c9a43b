import gzip

import pytest

from germane.data import pubmed
from germane.data.bad_records import SkipReport
from germane.data.pubmed import read_pubmed
from germane.errors import InputError

HEAD = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2024//EN"
 "https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_240101.dtd">
"""
XML = (
    HEAD
    + """<PubmedArticleSet>
<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">11111111</PMID>
<Article><Journal><JournalIssue><PubDate><Year>2001</Year><Month>Mar</Month></PubDate></JournalIssue>
<Title>Journal of Tests</Title></Journal>
<ArticleTitle>Effects of <i>E. coli</i> on H<sub>2</sub>O &amp; caf&eacute;.</ArticleTitle>
<ELocationID EIdType="doi">10.1000/abc</ELocationID>
<Abstract><AbstractText Label="BACKGROUND">Some <b>bold</b> text.</AbstractText>
<AbstractText Label="RESULTS">Much.</AbstractText></Abstract>
<AuthorList><Author><LastName>Porter</LastName><ForeName>Martin F</ForeName></Author>
<Author><CollectiveName>The Group</CollectiveName></Author></AuthorList>
<Language>eng</Language>
<PublicationTypeList><PublicationType>Journal Article</PublicationType></PublicationTypeList></Article>
<MeshHeadingList><MeshHeading><DescriptorName>Asthma</DescriptorName><QualifierName>genetics</QualifierName>
</MeshHeading></MeshHeadingList>
<KeywordList><Keyword>stemming</Keyword></KeywordList></MedlineCitation>
<PubmedData><ArticleIdList><ArticleId IdType="pubmed">11111111</ArticleId>
<ArticleId IdType="pmc">PMC7</ArticleId></ArticleIdList></PubmedData></PubmedArticle>
<PubmedBookArticle><BookDocument><PMID>22222222</PMID><ArticleIdList><ArticleId IdType="doi">10.1000/book</ArticleId>
</ArticleIdList><Book><BookTitle>A Book</BookTitle><PubDate><Year>1999</Year></PubDate></Book>
<Abstract><AbstractText>About it.</AbstractText></Abstract></BookDocument></PubmedBookArticle>
<PubmedArticle><MedlineCitation><PMID>33333333</PMID><Article><Journal><JournalIssue><PubDate>
<MedlineDate>1998 Mar-Apr</MedlineDate></PubDate></JournalIssue></Journal><ArticleTitle/></Article></MedlineCitation>
</PubmedArticle>
<DeleteCitation><PMID>44444444</PMID></DeleteCitation>
</PubmedArticleSet>
"""
)


def pairs(*arguments, **options):
    return [(document.id, dict(document.fields)) for document in read_pubmed(*arguments, **options)]


@pytest.mark.parametrize(
    "content",
    [XML.encode(), gzip.compress(XML.encode()), b"\xef\xbb\xbf" + XML.encode(), XML.replace("\n", "\r\n").encode()],
    ids=["plain", "gzip", "byte order mark", "windows line ends"],
)
def test_count_first_last(write, content):
    documents = pairs(write("d.xml", content))
    assert len(documents) == 3
    assert documents[0] == (
        "11111111",
        {
            "title": "Effects of E. coli on H2O & café.",
            "text": "BACKGROUND: Some bold text.\nRESULTS: Much.",
            "author": ["Porter, Martin F", "The Group"],
            "year": 2001,
            "journal": "Journal of Tests",
            "doi": "10.1000/abc",
            "pmid": "11111111",
            "keywords": ["stemming", "Asthma"],
            "mesh": ["Asthma"],
            "date": "2001 Mar",
            "publication_type": ["Journal Article"],
            "language": ["eng"],
            "pmcid": "PMC7",
        },
    )
    assert documents[1] == (
        "22222222",
        {
            "title": "A Book",
            "text": "About it.",
            "year": 1999,
            "doi": "10.1000/book",
            "pmid": "22222222",
            "date": "1999",
        },
    )
    assert documents[2] == ("33333333", {"year": 1998, "pmid": "33333333", "date": "1998 Mar-Apr"})


@pytest.mark.parametrize("content", ["", " \n", HEAD + "<PubmedArticleSet></PubmedArticleSet>"])
def test_empty(write, content):
    assert pairs(write("d.xml", content)) == []


def test_the_declared_encoding_is_heeded(write):
    text = '<?xml version="1.0" encoding="ISO-8859-1"?><PubmedArticle><MedlineCitation><PMID>1</PMID><Article>'
    text += "<ArticleTitle>café</ArticleTitle></Article></MedlineCitation></PubmedArticle>"
    path = write("d.xml", text.encode("latin-1"))
    assert pairs(path)[0][1]["title"] == "café"
    assert pairs(path, encoding="latin-1")[0][1]["title"] == "café"


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">\n' for n in range(1, 10))


@pytest.mark.parametrize(
    ("subset", "line"),
    [
        ('<!ENTITY l0 "lol">\n' + LAUGHS, 2),
        ('<!ENTITY l9 SYSTEM "file:///etc/passwd">', 2),
        ('<!ENTITY % l9 SYSTEM "http://127.0.0.1:9/evil.dtd">\n%l9;', 2),
        ('<!ELEMENT a ANY>\n<!ENTITY l9 "a harmless one">', 3),
    ],
    ids=["billion laughs", "external file", "external parameter entity", "any entity"],
)
def test_entities_are_refused(write, subset, line):
    text = f'<?xml version="1.0"?><!DOCTYPE PubmedArticleSet [\n{subset}]>\n<PubmedArticleSet>&l9;</PubmedArticleSet>'
    with pytest.raises(InputError, match=rf"d\.xml, line {line}: declares or uses an XML entity of its own"):
        pairs(write("d.xml", text))


def test_an_external_dtd_is_never_opened(write, tmp_path):
    """The DTD named here exists, and would break the reading if it were read."""
    write("local.dtd", "not a DTD at all")
    text = '<!DOCTYPE PubmedArticleSet SYSTEM "local.dtd"><PubmedArticleSet/>'
    assert pairs(write("d.xml", text)) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (HEAD + "<html/>", "line 4: not PubMed XML: the root element is <html>"),
        (HEAD + "<PubmedArticleSet>\n<PubmedArticle>", "line 5: not well-formed XML: no element found"),
        (HEAD + "<PubmedArticleSet>\n<a></b>", "line 5: not well-formed XML: mismatched tag"),
        (b"<PubmedArticleSet>\n\n caf\xe9 ", "line 3: not well-formed XML: "),
        ("hello", "line 1: not well-formed XML: syntax error"),
        ('<?xml version="1.0" encoding="nonsense"?><a/>', "line 1: not (readable|well-formed) XML: "),
        (gzip.compress(XML.encode())[:-20], "damaged or truncated gzip file"),
        (b"<PubmedArticleSet>\0", "line 1: holds NUL bytes"),
    ],
)
def test_broken_files(write, content, message):
    with pytest.raises(InputError, match=rf"d\.xml, .*{message}"):
        pairs(write("d.xml", content), on_bad=SkipReport().note)


def test_a_record_without_an_id(write):
    text = "<PubmedArticleSet>\n<PubmedArticle><MedlineCitation/></PubmedArticle>\n<PubmedArticle/>\n"
    text += "<PubmedArticle><MedlineCitation><PMID>5</PMID></MedlineCitation></PubmedArticle></PubmedArticleSet>"
    path = write("d.xml", text)
    with pytest.raises(InputError, match=r"d\.xml, line 2, field 'PMID': <PubmedArticle> without a PMID"):
        pairs(path)
    report = SkipReport()
    assert [key for key, _ in pairs(path, on_bad=report.note)] == ["5"]
    assert [skipped.line for skipped in report.first] == [2, 3]


def test_a_record_or_tag_without_end_is_refused(write, monkeypatch):
    monkeypatch.setattr(pubmed, "MAX_ARTICLE_BYTES", 10_000)
    monkeypatch.setattr(pubmed, "MAX_TOKEN_BYTES", 100_000)
    with pytest.raises(InputError, match="line 2: an article of more than 10,000 bytes"):
        pairs(write("d.xml", "<PubmedArticleSet>\n<PubmedArticle>" + "text " * 100_000))
    with pytest.raises(InputError, match="one XML tag of more than 100,000 bytes"):
        pairs(write("d.xml", "<PubmedArticleSet>\n<!-- " + "text " * 100_000))


def test_deep_nesting(write):
    text = "<PubmedArticle><MedlineCitation><PMID>5</PMID>" + "<a>" * 50_000 + "</a>" * 50_000
    assert pairs(write("d.xml", text + "</MedlineCitation></PubmedArticle>")) == [("5", {"pmid": "5"})]
