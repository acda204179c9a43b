"""One file of every format, with several records, from which the cases are made. Changing one changes all cases."""

import json

WORDS = ("heart attack", "a diet for the heart", "knee surgery", "Über die Leber", "copper 10.1000/x", "x\u2028y")

JSONL = "".join(
    json.dumps(
        {"id": f"d{i}", "title": t, "text": t * 3, "year": 1990 + i, "tags": ["a", i, None], "n": {"x": [i]}},
        ensure_ascii=bool(i % 2),
    )
    + "\n"
    for i, t in enumerate(WORDS)
).encode()
CSV = (
    "id,Title,text,year\n" + "".join(f'd{i},"{t}, ""{i}""\nand on",{t},{1990 + i}\n' for i, t in enumerate(WORDS))
).encode()
TSV = ("id\ttitle\ttext\n" + "".join(f'd{i}\t"{t}\t{t} {t}\n' for i, t in enumerate(WORDS))).encode()
TREC = "".join(
    f"<DOC>\n<DOCNO> d{i} </DOCNO>\n<HEADLINE>{t} &amp; more</HEADLINE>\n<!-- note -->\n<TEXT>\n<P>{t}\n{t}</P>\n"
    f"</TEXT>\n<AUTHOR>A. {i}</AUTHOR>\n</DOC>\n"
    for i, t in enumerate(WORDS)
).encode()
MEDLINE = "".join(
    f"PMID- {1000 + i}\nOWN - NLM\nDP  - {1990 + i} Mar-Apr\nTI  - {t}\n      continued\nAB  - {t} {t}\nFAU - Doe, J\n"
    f"LID - 10.1000/{i} [doi]\nMH  - *Liver/drug effects\n\n"
    for i, t in enumerate(WORDS)
).encode()
PUBMED = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "https://x/y.dtd">\n'
    "<PubmedArticleSet>\n"
    + "".join(
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{1000 + i}</PMID><Article><Journal><JournalIssue><PubDate>'
        f"<Year>{1990 + i}</Year></PubDate></JournalIssue><Title>J</Title></Journal><ArticleTitle>{t} <i>x</i> &alpha;"
        f'</ArticleTitle><Abstract><AbstractText Label="AIM">{t}</AbstractText></Abstract><AuthorList><Author>'
        f"<LastName>D</LastName><ForeName>J</ForeName></Author></AuthorList></Article></MedlineCitation><PubmedData><ArticleIdList>"
        f'<ArticleId IdType="doi">10.1000/{i}</ArticleId></ArticleIdList></PubmedData></PubmedArticle>\n'
        for i, t in enumerate(WORDS)
    )
    + "</PubmedArticleSet>\n"
).encode()
RIS = "".join(
    f"TY  - JOUR\nID  - k{i}\nTI  - {t}\nAB  - {t}\n  wrapped\nAU  - Doe, J\nPY  - {1990 + i}/03//\n"
    f"DO  - 10.1000/{i}\nKW  - a\nKW  - b\nER  - \n\n"
    for i, t in enumerate(WORDS)
).encode()
BIBTEX = (
    "@string{jacm = {Journal of the ACM}}\n@comment{nothing}\n"
    + "".join(
        f'@article{{k{i}, title = {{{t} {{\\"o}}}}, author = "Doe, J and {{A and B}}", journal = jacm # {{ {i}}},\n'
        f" year = {1990 + i}, month = jan}}\n"
        for i, t in enumerate(WORDS)
    )
).encode()
TOPICS_TREC = "".join(
    f"<top>\n<num> Number: {i}\n<title> {t}\n<desc> Description:\n{t}?\n<narr> Narrative: n\n</top>\n"
    for i, t in enumerate(WORDS)
).encode()
TOPICS_TSV = ("qid\tquery\n" + "".join(f"{i}\t{t}\n" for i, t in enumerate(WORDS))).encode()
TOPICS_JSONL = "".join(json.dumps({"_id": str(i), "text": t}) + "\n" for i, t in enumerate(WORDS)).encode()
QRELS = "".join(f"q{i // 3} 0 d{i} {i % 3}\n" for i in range(12)).encode()
RUN = "".join(f"q{i // 3}\tQ0 d{i} {i % 3 + 1} {-1.5 * i!r} tag\n" for i in range(12)).encode()

DOCUMENTS = {
    "jsonl": JSONL, "csv": CSV, "tsv": TSV, "trec": TREC, "medline": MEDLINE, "pubmed": PUBMED, "ris": RIS,
    "bibtex": BIBTEX,
    "folder": TREC,
}  # fmt: skip
TOPICS = {"trec topics": TOPICS_TREC, "tsv topics": TOPICS_TSV, "json topics": TOPICS_JSONL}
JSON_RUN = json.dumps({f"q{i}": {f"d{j}": -1.5 * j for j in range(4)} for i in range(3)}, indent=1).encode()
JSON_QRELS = "".join(
    json.dumps({"query_id": f"q{i // 3}", "doc_id": i, "grade": i % 3}) + "\n" for i in range(9)
).encode()
THREE = ("query_id doc_id score\n" + "".join(f"q{i // 3} d{i} {1.5 * i}\n" for i in range(9))).encode()
RANKINGS = {
    "run": RUN, "qrels": QRELS, "json run": JSON_RUN, "json qrels": JSON_QRELS, "three-column run": THREE,
}  # fmt: skip
DECISIONS = {
    ".csv": ("id,included\n" + "".join(f"d{i},{'1' if i % 2 else 'no'}\n" for i in range(6)) + "'=1+1,yes\n").encode(),
    ".tsv": ("id\tlabel\n" + "".join(f"d{i}\t{i % 2}.0\n" for i in range(6))).encode(),
    ".jsonl": "".join(json.dumps({"id": f"d{i}", "included": i % 2 == 0}) + "\n" for i in range(6)).encode(),
    ".ris": "".join(f"TY  - GEN\nID  - d{i}\nTI  - {t}\nN1  - germane: included\nER  - \n\n"
                    for i, t in enumerate(WORDS)).encode(),
}  # fmt: skip
PREDICTIONS = ("id\tlabel\n" + "".join(f"d{i}\tsport;more\n" for i in range(6))).encode()
HITS = json.dumps(
    {"hits": [{"id": f"d{i}", "rank": i + 1, "fields": {"title": t, "text": t, "n": i}} for i, t in enumerate(WORDS)]}
).encode()
EXPERIMENT = b"""title = "BM25 over k1"
datasets = ["cranfield", "cisi"]
measures = ["AP", "nDCG@10"]

[[system]]
name = "bm25"
model = "bm25"
sweep = { k1 = [0.6, 0.9, 1.2] }

[[at_least]]
dataset = "cranfield"
system = "bm25 k1=0.6"
measure = "AP"
value = 0.4

[expected.cranfield]
"bm25 k1=0.6" = { AP = 0.4148, "nDCG@10" = 0.5109 }
"""
QUERIES = (
    "heart attack", "heart^2.5 +attack -surgery", '"heart attack" year:1990..1995', "year:>=1990 -tags:a heart",
    'title:"heart attack" diet', "http://example.org heart", "10:30 knee", "+leber über^0", "-heart",
    "year:..1994 heart^1e3 ++knee --x", "(heart OR kne*) AND NOT liver~1", 'title:(heart knee)^2 "heart attack"~3',
    "heart attack[tiab] OR 1990:1995[dp]",
)  # fmt: skip
