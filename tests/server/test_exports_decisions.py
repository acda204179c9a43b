"""What people decided leaves with the records, in every format, and comes in again with them."""

import csv
import io
import re

import pytest

from germane.data.ris import ris_records
from germane.refine.screening.verdicts import Verdict, verdicts_of, with_verdict
from germane.types import Document

RECORDS = b"".join(
    f"TY  - JOUR\nID  - r{n}\nTI  - Copper in the liver {n}\nN1  - own note {n}\nER  - \n\n".encode() for n in range(4)
)
V1 = "/api/v1"
FORMATS = ("ris", "csv", "jsonl", "bibtex")


@pytest.fixture
def client(client):
    """A program: it says that it is no form."""
    client.headers["x-requested-with"] = "tests"
    return client


def handed_in(client, name, content):
    """What was understood of a file."""
    headers = {"content-type": "text/plain", "x-csrf-token": client.cookies.get("germane_csrf", "")}
    answer = client.post(f"{V1}/imports?name={name}", content=content, headers=headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.fixture
def screened(client, library):
    """A project of four records: r0 included with a note, r1 excluded with a reason, r2 waits, r3 unread."""
    key = handed_in(client, "r.ris", RECORDS)["key"]
    assert client.post(f"{V1}/projects", json={"name": "copper", "key": key}).status_code == 201
    client.post(f"{V1}/projects/copper/reviewers", json={"reviewer": "ann"})
    desk = library.screens._desk("copper", "ann")[1].session.screening
    desk.decide("r0", True, note='"sound" =1+1')
    desk.decide("r1", False, reason="wrong | population")
    desk.postpone("r2")
    return library


def said(library, project, reviewer):
    return library.workspace.projects.verdicts(library.workspace.projects.get(project), reviewer)


@pytest.mark.parametrize("format", FORMATS)
def test_a_round_trip_keeps_what_was_decided(client, screened, browser, format):
    """Out of one project and into another, twice: decisions, reasons, notes, reviewers and times are the same."""
    before = said(screened, "copper", "ann")
    assert {name: each.word for name, each in before.items()} == {"r0": "included", "r1": "excluded", "r2": "maybe"}
    project = "copper"
    for again in ("second", "third"):
        address = f"/screen/{project}/export?reviewer=ann&format={format}"
        handed = handed_in(client, f"x.{format}", client.get(f"{address}&which=all").content)
        assert (handed["records"], handed["decided"]) == (4, 3)
        answer = browser.post(f"/import/{handed['key']}", to="project", name=again, reviewer="bob", decided="yes")
        assert answer.status_code == 303
        assert said(screened, again, "ann") == before
        assert said(screened, again, "bob") == {}
        project = again
        records = screened.workspace.projects.documents(screened.workspace.projects.get(again))
        assert all("own note" in str(each.fields) for each in records.values())


def test_the_page_has_all_records_and_says_who_decided(client, screened, browser):
    """What waits (maybe) is lost to no file of the page, and a preview names whose decisions a file has."""
    page = browser.client.get("/screen/copper?reviewer=ann").text
    assert "export?reviewer=ann&amp;format=ris&amp;which=all" in page
    content = client.get("/screen/copper/export?reviewer=ann&format=ris&which=all").content
    preview = browser.client.post(
        "/import", files={"file": ("x.ris", content)}, data={"csrf": browser.client.cookies["germane_csrf"]}
    ).text
    assert "come with 3 records, by ann" in preview
    assert 'name="reviewer" maxlength="100" value="ann"' in preview
    assert "record_" not in preview


def test_formats_hold_what_other_tools_read(client, screened):
    ris = client.get("/screen/copper/export?reviewer=ann&format=ris&which=decided").text
    assert re.findall(r"N1  - (ASReview_\w+)", ris) == ["ASReview_relevant", "ASReview_irrelevant"]
    assert 'RAYYAN-INCLUSION: {"ann"=>"Excluded"} | RAYYAN-EXCLUSION-REASONS: wrong / population' in ris
    rows = csv.DictReader(io.StringIO(
        client.get("/screen/copper/export?reviewer=ann&format=csv&which=decided").text))  # fmt: skip
    for row, (included, reason) in zip(rows, (("1", ""), ("0", "wrong | population")), strict=True):
        assert (row["included"], row["exclusion_reason"], row["decided_by"]) == (included, reason, "ann")
        assert row["decided_at"].endswith("Z")


def test_decisions_are_left_where_nobody_asks_for_them(client, screened, browser):
    content = client.get("/screen/copper/export?reviewer=ann&format=ris&which=decided").content
    key = handed_in(client, "x.ris", content)["key"]
    browser.post(f"/import/{key}", to="project", name="fresh", reviewer="bob")
    assert screened.workspace.projects.reviewers(screened.workspace.projects.get("fresh")) == ["bob"]


def test_marks_of_a_kept_search_leave_with_it(client):
    kept = client.post(f"{V1}/searches", json={"query": "memory", "collection": "research"}).json()["search"]
    for number, mark in enumerate(("relevant", "not_relevant")):
        found = client.get(f"{V1}/searches/{kept}?k=10").json()["refinement"]["results"][number]["id"]
        client.post(f"{V1}/searches/{kept}/marks", json={"document": found, "mark": mark})
    for address in (f"{V1}/searches/{kept}/export?", f"/export?s={kept}&"):
        table = client.get(f"{address}format=csv").text
        cells = [row["included"] for row in csv.DictReader(io.StringIO(table))]
        assert sorted(filter(None, cells)) == ["0", "1"]
        assert client.get(f"{address}format=ris").text.count("germane: included") == 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"notes": 'RAYYAN-INCLUSION: {"Ann"=>"Included", "Bob"=>"Excluded"} | RAYYAN-EXCLUSION-REASONS: mice'},
         {"Ann": "included", "Bob": "excluded"}),
        ({"n1": ["own", 'RAYYAN-INCLUSION: {"Ann"=>"Maybe"} | USER-NOTES: {"Ann"=>["ask"]}']}, {"Ann": "maybe"}),
        ({"n1": "ASReview_relevant"}, {"": "included"}),
        ({"n1": ["x", "ASReview_irrelevant"]}, {"": "excluded"}),
        ({"n1": "ASReview_not_seen"}, {}),
        ({"asreview_label": "1.0", "asreview_note": "see 5"}, {"": "included"}),
        ({"label_included": 0}, {"": "excluded"}),
        ({"asreview_label": "-1"}, {}),
        ({"included": "", "decision": "maybe"}, {"": "maybe"}),
        ({"label": "sports"}, {}),
        ({"n1": "germane: nonsense"}, {}),
        ({"title": "RAYYAN-INCLUSION"}, {}),
    ],
)  # fmt: skip
def test_what_other_tools_say_is_read(fields, words):
    assert {each.by: each.word for each in verdicts_of(Document("1", fields))} == words


def test_a_verdict_stands_instead_of_those_before_it():
    """And only verdicts go: other notes, and columns of other names, stay."""
    text = "TY  - JOUR\nID  - a\nN1  - see ASReview_relevant papers\nN1  - germane: excluded\n"
    text += "N1  - ASReview_irrelevant\n"
    (document,) = ris_records(text + 'N1  - RAYYAN-INCLUSION: {"bob"=>"Excluded"}\nER  - \n')
    for format in ("ris", "csv", "medline"):
        for verdict in (Verdict(False, by="bob"), Verdict(True, by="ann", at="2026-01-01T00:00:00.000000Z")):
            document = with_verdict(document, verdict, format)
        assert verdicts_of(document) == [verdict]
        assert "see ASReview_relevant papers" in str(document.fields)
        assert "bob" not in str(document.fields)
