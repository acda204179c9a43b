"""germane screen, as typed."""

import json
from pathlib import Path

import numpy as np
import pytest

from germane.data import read_documents

RELEVANT = ["copper", "liver", "chelator", "wilson", "penicillamine"]
OTHER = ["market", "price", "wires", "metal", "cable", "trade"]
LABELS = [i % 6 == 0 for i in range(48)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A review as JSON Lines, CSV, RIS, NBIB and BibTeX; we stand beside them."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = []
    for i, included in enumerate(LABELS):
        words = [str(word) for word in rng.choice(RELEVANT if included else OTHER, 6)] + ["common"]
        rows.append((f"r{i}", " ".join(words[:2]), " ".join(words[2:]), int(included)))
    with open("review.jsonl", "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(dict(zip(("id", "title", "abstract", "included"), row, strict=True))) + "\n")
    lines = ["id,Title,Abstract,included", *(",".join(map(str, row)) for row in rows)]
    Path("review.csv").write_text("\n".join(lines), encoding="utf-8")
    Path("references.ris").write_text(
        "".join(f"TY  - JOUR\nID  - {i}\nTI  - {title}\nAB  - {text}\nER  - \n" for i, title, text, _ in rows),
        encoding="utf-8",
    )
    Path("references.bib").write_text(
        "".join(f"@article{{{i}, title={{{title}}}, abstract={{{text}}}}}\n" for i, title, text, _ in rows),
        encoding="utf-8",
    )
    Path("references.nbib").write_text(
        "".join(f"PMID- {i[1:]}\nTI  - {title}\nAB  - {text}\n\n" for i, title, text, _ in rows), encoding="utf-8"
    )
    Path("decisions.csv").write_text("id,included\nr0,1\nr1,0\nr6,1\nr2,0\n", encoding="utf-8")
    return tmp_path


def answer(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("name", ["review.jsonl", "review.csv", "references.ris", "references.bib"])
def test_what_to_read_next(files, run, name):
    found = answer(run("screen", name, "--decisions", "decisions.csv", "--next", 6, "--json"))
    assert {row["id"] for row in found["next"]} == {f"r{i}" for i in range(12, 48, 6)}
    assert all(0 <= row["probability"] <= 1 for row in found["next"])
    assert set(found["next"][0]["why"].split(", ")) <= {*RELEVANT, "common"}
    assert (found["read"], found["found"]) == (4, 2)
    assert 0 < found["remaining"]["expected"] <= found["remaining"]["high"] <= 44
    assert found["recommendation"]["stop"] is False


def test_medline(files, run):
    Path("d.csv").write_text("id,included\n0,1\n1,0\n", encoding="utf-8")
    found = answer(run("screen", "references.nbib", "--decisions", "d.csv", "--next", 7, "--json"))
    assert {row["id"] for row in found["next"]} == {str(i) for i in range(6, 48, 6)}


def test_for_people(files, run):
    result = run("screen", "review.jsonl", "--decisions", "decisions.csv", "--next", 3)
    assert result.exit_code == 0
    assert "because of" in result.stdout
    assert "read: 4 of 48" in result.stdout
    assert "recommendation: Go on" in result.stdout
    only = run("screen", "review.jsonl", "--decisions", "decisions.csv", "--estimate")
    assert "because of" not in only.stdout
    assert "remaining, at most (95% confidence)" in only.stdout
    rows = run("screen", "review.jsonl", "--decisions", "decisions.csv", "--next", 2, "--tsv").stdout.splitlines()
    assert rows[0].split("\t") == ["id", "probability", "because of", "title"]
    assert len(rows) == 3
    assert run("screen", "review.jsonl", "--label", "included", "--estimate", "--tsv").exit_code == 0


def test_from_nothing(files, run):
    result = run("screen", "references.ris", "--next", 2)
    assert result.exit_code == 0
    assert "rough until" in result.stderr
    assert "not known yet" in result.stdout
    assert "no relevant document has been found yet" in result.stdout


def test_explain(files, run, fails):
    words = ("screen", "review.jsonl", "--decisions", "decisions.csv", "--explain", "r12")
    found = answer(run(*words, "--json"))
    assert found["bias"] + sum(word["amount"] for word in found["words"]) == pytest.approx(found["score"])
    assert "log-odds" in run(*words).stdout
    assert run(*words, "--tsv").stdout.startswith("word\t")
    assert "no document 'zz'" in fails(*words[:-1], "zz")


def test_deciding(files, run, fails):
    words = ("screen", "review.jsonl", "--decisions", "mine.jsonl")
    assert "no such file" in fails(*words)
    found = answer(run(*words, "--include", "r0,r6", "--exclude", "r1", "--json"))
    assert (found["read"], found["found"]) == (3, 2)
    found = answer(
        run(*words, "--undecide", "r6", "--exclude", "r2", "--export", "all.ris", "--which", "decided", "--json")
    )
    assert (found["read"], found["found"]) == (3, 1)
    assert [json.loads(line)["id"] for line in Path("mine.jsonl").read_text().splitlines()] == ["r0", "r1", "r2"]
    assert answer(run("screen", "review.jsonl", "--decisions", "all.ris", "--json"))["read"] == 3
    before = Path("mine.jsonl").read_bytes()
    assert "no document 'zz'" in fails(*words, "--include", "r12,zz")
    assert "named twice" in fails(*words, "--include", "r12", "--exclude", "r12")
    assert Path("mine.jsonl").read_bytes() == before
    assert "decide without it" in fails("screen", "review.jsonl", "--label", "included", "--include", "r0")
    assert "no document 'zz'" in fails("screen", "review.jsonl", "--include", "zz")
    assert not Path("germane.workspace").exists()  # nor an empty project in it


RECORDS = """TY  - JOUR
AU  - Smith, Ann
AD  - Department of One
AU  - Jones, Bo
TI  - Copper in the liver
TI  - A second title
AB  - First paragraph
AB  - Second paragraph
JF  - Journal
ID  - ref-1
DO  - 10.1000/one
N1  - a note of mine
ZZ  - unknown
ER  - 

TY  - BOOK
T1  - Wires
Y1  - 1999
ER  - 

TY  - JOUR
TI  - Levels of copper
ID  - ref-3
ER  - 

"""  # noqa: W291


def test_exports_are_whole_records(run, fails, tmp_path, monkeypatch):
    """Each record with every tag that was read, the included ones apart from the excluded ones."""
    monkeypatch.chdir(tmp_path)
    Path("refs.ris").write_text(RECORDS, encoding="utf-8")
    words = ("screen", "refs.ris", "--decisions", "d.csv")
    result = run(*words, "--include", "10.1000/one", "--exclude", "refs.ris:2", "--export", "in.ris")
    assert result.exit_code == 0
    assert "1 included record written to in.ris" in result.stderr
    first, _, third = (f"{record}ER  - \n\n" for record in RECORDS.split("ER  - \n\n")[:3])
    noted = first.replace("mine\n", "mine\nN1  - germane: included\nN1  - ASReview_relevant\n")
    assert sorted(Path("in.ris").read_text().split("\n")) == sorted(noted.split("\n"))
    assert "1 excluded record" in run(*words, "--export", "out.ris", "--which", "excluded").stderr
    assert Path("out.ris").read_text().startswith("TY  - BOOK\nT1  - Wires\nY1  - 1999\nN1  - germane: excluded\n")
    run(*words, "--export", "unread.ris", "--which", "unread")
    assert Path("unread.ris").read_text() == third
    for name in ("both.ris", "both.csv", "both.jsonl", "both.tsv"):
        assert run(*words, "--export", name, "--which", "decided").exit_code == 0
        found = answer(run("screen", "refs.ris", "--decisions", name, "--json"))
        assert (found["read"], found["found"]) == (2, 1)
    for name in ("both.bib", "both.nbib"):
        assert run(*words, "--export", name, "--which", "decided").exit_code == 0
        assert [document.id for document in read_documents(name)] == ["10.1000/one", "refs.ris:2"]
    assert "does not say" in fails(*words, "--export", "both.txt")
    assert "--export FILE" in fails(*words, "--which", "unread")


def test_simulate(files, run):
    words = ("screen", "review.jsonl", "--label", "included", "--simulate", "--seeds", 3)
    found = answer(run(*words, "--json"))
    assert (found["documents"], found["relevant"], len(found["runs"])) == (48, 8, 3)
    mean = np.mean([each["wss95"] for each in found["runs"]])
    assert found["measures"]["WSS@95"]["value"] == pytest.approx(mean)
    assert found["measures"]["WSS@95"]["low"] <= mean <= found["measures"]["WSS@95"]["high"]
    assert mean > 0.5
    again = answer(run("screen", "review.csv", *words[2:], "--json"))
    assert again["measures"] == found["measures"]
    result = run(*words, "--plot", "recall.png", "--explore", 0.1, "--omega", 2, "--progress")
    assert result.exit_code == 0
    assert "95% interval over seeds" in result.stdout
    assert "48 documents, 8 relevant, 3 runs" in result.stdout
    assert Path("recall.png").read_bytes().startswith(b"\x89PNG")
    assert run(*words, "--tsv").stdout.splitlines()[0] == "measure\tmean\tlow\thigh"


def test_refused(files, fails):
    assert "--simulate needs --label" in fails("screen", "review.jsonl", "--simulate")
    words = ("screen", "review.jsonl", "--label", "included")
    assert "no option about decisions" in fails(*words, "--simulate", "--decisions", "decisions.csv")
    assert "choose one" in fails(*words, "--decisions", "decisions.csv")
    assert "add --simulate" in fails(*words, "--plot", "x.png")
    assert "choose one of --estimate" in fails(*words, "--estimate", "--explain", "r0")
    assert "no column 'includde' for --label; found: 'title'" in fails(*words[:-1], "includde", "--simulate")
    assert "is no decision" in fails("screen", "review.jsonl", "--label", "title", "--simulate")
    assert "target must lie" in fails(*words, "--target", 1.5)
    assert "omega must be" in fails(*words, "--omega", 0)
    assert "choose one of both" in fails(*words, "--omega", 2, "--sample")
    assert "explore is a share" in fails(*words, "--explore", 2)
    Path("one.jsonl").write_text('{"id": "a", "title": "x", "included": 1}\n', encoding="utf-8")
    assert "needs a relevant document and one that is not" in fails("screen", "one.jsonl", *words[2:], "--simulate")
    Path("gap.jsonl").write_text('{"id": "a", "included": 1}\n{"id": "b", "included": null}\n', encoding="utf-8")
    assert "1 document without a label, 'b' the first" in fails("screen", "gap.jsonl", *words[2:], "--simulate")
    Path("two.jsonl").write_text('{"id": "a"}\n{"id": "a"}\n', encoding="utf-8")
    assert "two.jsonl: the id 'a' comes more than once" in fails("screen", "two.jsonl")
    Path("none.jsonl").write_text("", encoding="utf-8")
    assert "no documents" in fails("screen", "none.jsonl")
    Path("both.csv").write_text("id,included\nr0,1\nr0,0\n", encoding="utf-8")
    assert "both.csv: document 'r0' is both" in fails("screen", "review.jsonl", "--decisions", "both.csv")
