"""SIGKILL at any moment of a stream: nothing acknowledged is lost, nothing is scored twice, and in the end all is as if
nothing had happened, to the last bit.

`GERMANE_KILLS=200` kills at 200 moments; the tests run fewer.
"""

import math
import os
import random
import select
import shutil
import signal

import pytest
from sqlalchemy import select as rows_of

from germane.stream import Watch
from germane.stream import watch as watching
from germane.workspace import Workspace
from germane.workspace.tables import arrivals, judgements, sightings, stream_parts, trackers
from stream.conftest import BACKGROUND, TOPICS, made_document, made_stream

KILLS = int(os.environ.get("GERMANE_KILLS", "12"))
STREAM = made_stream(400)
LINES = 20
"""A child is killed before it has told so many lines, of some 130 in all."""
JUDGED = [
    (100, "quake", "d0", False),
    (200, "vote", "d9", True),
    (200, "quake", "d3", False),
    (300, "quake", None, None),
]
"""After so many documents: a topic, a document, and what is said of it; None takes the last word back."""


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """The background is refreshed often; children have it from their parent."""
    monkeypatch.setattr(watching, "REFRESH", 60)


def clock():
    return "then"


def begun(where):
    with Workspace.open(where, clock=clock) as workspace:
        watch = Watch.begin(workspace, BACKGROUND)
        watch.follow("quake", [made_document(0, "quake")["text"]], method="sd")
        watch.follow("vote", [made_document(0, "vote")["text"]], method="rm")


def follow(where, seed, told, *, judging=True, most=12):
    """The whole stream from its beginning, in batches of any size; what was seen before is passed over."""
    sizes = random.Random(seed)
    with Workspace.open(where, create=False, clock=clock) as workspace:
        watch = Watch.open(workspace)
        at = 0
        while at < len(STREAM):
            end = min([at + sizes.randrange(1, most), len(STREAM), *(place for place, *_ in JUDGED if place > at)])
            done = watch.process(STREAM[at:end])
            for hit in done.hits:
                told(f"{hit.topic} {hit.document} {hit.score.hex()}")
            if done.new:
                told(f"document {STREAM[end - 1]['id']} seen")
            at = end
            for number, (place, topic, document, on_topic) in enumerate(JUDGED):
                if judging and place == at:
                    say(workspace, watch, number, topic, document, on_topic)


def say(workspace, watch, number, topic, document, on_topic):
    with workspace.database.read() as connection:
        said = len(connection.execute(rows_of(judgements.c.id)).all())
    if said == number:
        watch.undo(topic) if document is None else watch.judge(topic, document, on_topic)


def everything(where):
    with Workspace.open(where, create=False, clock=clock) as workspace, workspace.database.read() as connection:
        watch = Watch.open(workspace)
        kept = {table.name: connection.execute(rows_of(table).order_by(table.c.id)).all()
                for table in (arrivals, sightings, trackers, judgements, stream_parts)}  # fmt: skip
        kept["words"] = list(watch.store.words(connection))
        tally = watch.memory().tally
    return kept, {tracker: int(counts.sum()) for tracker, counts in tally.items()}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_killed_at_any_moment(tmp_path):
    begun(tmp_path / "whole")
    follow(tmp_path / "whole", 0, lambda _: None)
    wanted, counted = everything(tmp_path / "whole")
    assert len(wanted["arrivals"]) == len(STREAM)
    assert set(counted.values()) == {len(STREAM)}  # each document scored once by each topic
    assert len(wanted["sightings"]) > 20
    assert len(wanted["judgements"]) == len(JUDGED)
    moments = random.Random(7)
    kills = 0
    begun(tmp_path / "begun")
    while kills < KILLS:
        where = tmp_path / f"killed-{kills}"
        shutil.copy(tmp_path / "begun", where)
        acknowledged: list[str] = []
        while True:
            told, killed = killed_child(where, kills, moments, spared=kills >= KILLS)
            acknowledged += told
            if not killed:
                break
            kills += 1
        found, scored = everything(where)
        assert scored == counted
        assert found == wanted
        assert len(acknowledged) == len(set(acknowledged))
        names = {row.id: row.topic_id for row in found["trackers"]}
        topics = dict(zip(sorted(names.values()), TOPICS, strict=True))
        ids = {row.id: row.document for row in found["arrivals"]}
        hits = {
            f"{topics[names[row.tracker_id]]} {ids[row.arrival_id]} {row.score.hex()}" for row in found["sightings"]
        }
        assert {line for line in acknowledged if not line.startswith("document ")} <= hits


def killed_child(where, seed, moments, *, spared):
    """What a child has told until it was killed, and whether it was; it ends by itself where the stream does, or
    where it is spared."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            follow(where, seed, lambda line: os.write(writer, f"{line}\n".encode()))
        finally:
            os._exit(0)
    os.close(writer)
    told, ended, wanted = b"", False, math.inf if spared else moments.randrange(0, LINES)
    while told.count(b"\n") < wanted and not ended:
        piece = os.read(reader, 1 << 16)
        told, ended = told + piece, not piece
    for _ in range(moments.randrange(300_000)):  # into the midst of whatever comes next
        pass
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    while select.select([reader], [], [], 0)[0] and (piece := os.read(reader, 1 << 16)):
        told += piece
    os.close(reader)
    lines = told.decode().split("\n")
    assert lines.pop() == ""
    return lines, os.WIFSIGNALED(status)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_two_processes_at_once_score_each_document_once(places):
    where = places()
    begun(where)
    children = []
    for seed in (1, 2):
        child = os.fork()
        if not child:
            code = 1
            try:
                follow(where, seed, lambda _: None, judging=seed == 1, most=60)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0]
    kept, scored = everything(where)
    assert {row.document for row in kept["arrivals"]} == {document["id"] for document in STREAM}
    assert set(scored.values()) == {len(STREAM)}
