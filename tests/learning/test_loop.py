"""The loop: clicks become a candidate, the gate decides, versions serve; drift; an erased user leaves no trace."""

import json
from pathlib import Path

import duckdb
import pytest

from germane import Document, Engine
from germane.clicks import ClickRules, ClickStore, PairRules
from germane.engine.pipelines import rerank
from germane.errors import InputError, ParameterError
from germane.learning.loop import LearnSettings, compare, health
from germane.learning.sample import held_out

RULES = ClickRules(pairs=PairRules(certainty=0.5), memory_mb=256, threads=1)


def everything(*folders: Path) -> bytes:
    """All bytes below folders, and all texts in Parquet files, which are compressed."""
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    rows = [str(duckdb.execute("FROM read_parquet(?)", [str(path)]).fetchall()) for path in files
            if path.suffix == ".parquet"]  # fmt: skip
    return b"".join(path.name.encode() + path.read_bytes() for path in files) + "".join(rows).encode()


@pytest.fixture(scope="module")
def engine(world, tmp_path_factory) -> Engine:
    return world.index(tmp_path_factory.mktemp("learning") / "index")


@pytest.fixture(scope="module")
def report(engine, store, world):
    """The first candidate, against the plain ranking, with judged queries too."""
    topics = [topic for topic in world.topics if held_out(topic.text, 0.2, "gate")]
    qrels: dict[str, dict[str, int]] = {}
    for query_id, doc_id, grade in world.judgements:
        qrels.setdefault(query_id, {})[doc_id] = grade
    steps: list[str] = []
    found = engine.learn(store, rules=RULES, topics=topics, qrels=qrels, on_progress=steps.append)
    assert steps == ["reading clicks", "training", "tuning", "comparing"]
    return found


def test_a_better_candidate_is_promoted(engine, report, world):
    assert report.promoted
    assert report.gate.against == "the plain ranking"
    clicks, judged = report.gate.sets
    assert (clicks.name, judged.name) == ("held-out clicks", "judged queries")
    assert clicks.baseline == 0.0 < 0.5 < clicks.candidate  # no query shares a word with a title
    assert judged.candidate > 0.5
    assert clicks.wins == clicks.queries
    assert clicks.p_randomisation < 0.05
    version = engine.models.serving()
    assert (version.version, version.model, version.serving) == (1, "wtm", True)
    assert 0.9 * len(world.topics) <= version.data.queries + version.data.held_out_queries <= len(world.topics)
    found = engine.search(world.topics[5].text, 4, syntax=False, rerank="clicks")
    assert {name.split("-")[0] for name in found.ids} == {"d0"}
    assert found.ids == engine.search(world.topics[5].text, 4, syntax=False, rerank="clicks@1").ids


def test_held_out_queries_are_not_learnt_from(engine, report, world):
    words = {*engine.models.stage("clicks").model.vocabulary.words}
    for topic in world.topics:
        if held_out(topic.text, 0.2, "gate"):
            assert topic.text.split()[-1] not in words  # a word of this query alone
    assert any(topic.text.split()[-1] in words for topic in world.topics)


def test_an_equal_candidate_does_not_pass_unless_it_may(engine, report, store):
    second = engine.learn(store, rules=RULES)
    assert (second.promoted, second.candidate.version) == (False, 2)
    assert second.gate.against == "clicks@1"
    assert second.gate.sets[0].ties == second.gate.sets[0].queries
    assert second.candidate.data.fingerprint == report.candidate.data.fingerprint  # the same data
    assert second.candidate.file == report.candidate.file  # the same bytes
    assert engine.models.serving().version == 1
    third = engine.learn(store, rules=RULES, model="um", force=True)
    assert (third.promoted, third.forced, third.gate.passed) == (True, True, False)
    assert "below" in third.gate.reason
    assert len(third.gate.sets[0].worst) == min(10, third.gate.sets[0].losses)
    assert engine.models.rollback().version == 1


def test_comparing_promotes_nothing(engine, report, store):
    found = compare(engine, store, "clicks@1", None, settings=LearnSettings(), rules=RULES)
    assert found.sets == report.gate.sets[:1]
    with pytest.raises(ParameterError, match="needs clicks, or topics"):
        compare(engine, None, "clicks@1", None, settings=LearnSettings(), rules=RULES)


def test_by_time_and_drift(world, store, tmp_path):
    from germane.clicks import simulate_log

    engine = world.index(tmp_path / "index")
    report = engine.learn(store, rules=RULES, hold_out="time", share=0.4, model="opca", n_dimensions=20)
    assert report.candidate.data.last_day == store.days[-3]
    assert report.gate.passed
    line = health(engine, "clicks", None, RULES).line
    assert line.startswith("clicks@1 (opca), trained 20")
    assert "2026-01-01 to 2026-01-03" in line
    same = health(engine, "clicks", store, RULES)  # the days that were held out
    assert (same.queries.verdict, same.positions.verdict) == ("stable", "stable")
    assert "queries stable" in same.line
    # Later only one theme is asked for, and people look at everything.
    later = [topic for topic in world.topics if topic.id.startswith("q3")]
    from germane.clicks import ClickModel

    log = simulate_log(world.documents, later, world.judgements, tmp_path / "log", searches=1500, users=40, days=30,
                       model=ClickModel(eta=0.0))  # fmt: skip
    other = ClickStore.create(tmp_path / "other")
    other.add(list(log.files), memory_mb=256, threads=1)
    drifted = health(engine, "clicks", other, RULES)
    assert (drifted.queries.verdict, drifted.positions.verdict) == ("drifted", "drifted")
    assert "positions drifted" in drifted.line


def test_a_combination_passes_the_gate_and_explains_itself(world, store, tmp_path):
    with Engine.create(tmp_path / "index") as engine:
        engine.add(world.documents, threads=1)
        small = {"parts": "wtm,opca,bltm", "n_dimensions": 10, "n_topics": 10, "n_iterations": 3}
        report = engine.learn(store, rules=RULES, model="combination", **small)
        assert report.promoted
        mixing = report.candidate.mixing
        assert {"wtm", "opca", "bltm", "wtm.lambda1", "opca.literal_weight", "first_weight"} <= {*mixing}
        assert all(mixing[name] >= 0 for name in ("wtm", "opca", "bltm", "first_weight"))
        stage = engine.models.stage("clicks")
        assert stage.model.weights.tolist() == [mixing[name] for name in ("wtm", "opca", "bltm")]
        assert stage.model.parts[1].literal_weight == mixing["opca.literal_weight"]
        assert engine.vector_fields["clicks"].dimension == 20
        query = world.topics[5].text
        found = engine.search(query, 4, syntax=False, rerank="clicks")
        assert {name.split("-")[0] for name in found.ids} == {"d0"}
        why = engine.explain(query, found.ids[0], syntax=False, rerank="clicks")
        assert why.score == pytest.approx(found[0].score, abs=1e-5)
        sources = {source.name.split(": ")[0] for part in why.latent.parts for source in part.sources}
        assert {"wtm", "opca"} & sources
        engine.add([Document("late", {"title": "titleav titleaw titleax"})])
        assert "late" in engine.search(query, 20, syntax=False, rerank="clicks").ids
        few = engine.learn(store, rules=RULES, model="combination", name="few", first_weight=0.5, force=True, **small)
        assert few.candidate.mixing["first_weight"] == 0.5


def test_learnt_models_in_pipelines(engine, report, world):
    query = world.topics[5].text
    named = engine.search(query, 6, syntax=False, rerank="clicks", depth=50)
    chain = engine.pipeline("bm25") >> rerank("clicks", depth=50)
    assert chain.search(query, 6, syntax=False).ids == named.ids
    fused = (engine.pipeline("bm25") + engine.pipeline("jm")) % 50 >> rerank("clicks@1", depth=50) % 6
    assert fused.search(query, 6, syntax=False).ids == named.ids
    with pytest.raises(ParameterError, match="no re-ranker 'other'"):
        engine.pipeline("bm25") >> rerank("other")
    required = engine.search("+titleav " + query, 50, rerank="clicks").ids
    assert {*required} == {*engine.search("+titleav", 50).ids}  # the model brings no document without the word


def test_after_erasing_a_user_the_next_model_holds_no_trace(world, tmp_path):
    def row(i, client, words, **more):
        return {"query_id": f"{client}-{i}", "client_id": client, "timestamp": f"2026-01-01T10:{i % 60:02}:00Z", **more}

    rows = []
    for i in range(40):
        for client, words in (
            ("anna", f"secretword querya{'vwxyz'[i % 5]}"),
            ("otto", f"query{'bcde'[i % 4]}v two{i % 9}"),
        ):
            shown = [f"d{i % 5}-{k}" for k in range(6)]
            rows.append(row(i, client, words, user_query=words, query_response_hit_ids=shown))
            click = {"position": {"ordinal": 1 + i % 3}, "object": {"object_id": shown[i % 3]}}
            rows.append(row(i, client, words, action_name="click", event_attributes=click))
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    history = ClickStore.create(tmp_path / "store")
    history.add([path], memory_mb=256, threads=1)
    rules = ClickRules(pairs=PairRules(min_users=1, threshold=0.0), memory_mb=256, threads=1)
    engine = world.index(tmp_path / "index")
    engine.learn(history, rules=rules, share=0.4, force=True)
    term = engine.analyzer.terms("secretword")[0]
    assert term in engine.models.stage("clicks@1").model.vocabulary.words
    traces = (b"secretword", b"anna")
    assert all(trace in everything(engine.folder / "models", history.folder) for trace in traces)
    gone = history.erase("anna", memory_mb=256, threads=1)
    assert gone.dates == ("2026-01-01",)
    assert [each.version for each in engine.models.learnt_from(gone.dates)] == [1]
    assert [each.version for each in engine.models.learnt_from(gone.dates, gone.people)] == [1]
    engine.learn(ClickStore.open(tmp_path / "store"), rules=rules, share=0.4, force=True)
    assert term not in engine.models.stage("clicks@2").model.vocabulary.words
    folder = engine.folder / "models" / "clicks"
    assert [each.version for each in engine.models.learnt_from(gone.dates, gone.people)] == [1]  # no longer the second
    nobody = ClickStore.open(tmp_path / "store").erase("nobody", memory_mb=256, threads=1)
    assert engine.models.learnt_from(gone.dates, nobody.people) == []
    kept = (folder / "000002.json").read_bytes() + b" ".join(
        word.encode() for word in engine.models.stage("clicks@2").model.vocabulary.words
    )
    assert b"secret" not in kept
    assert b"anna" not in kept
    engine.models.remove("clicks@1")
    left = everything(engine.folder / "models", history.folder)
    assert not any(trace in left for trace in traces)
    assert b"otto" in left
    otto = ClickStore.open(tmp_path / "store").erase("otto", memory_mb=256, threads=1)
    assert [each.version for each in engine.models.learnt_from(otto.dates, otto.people)] == [2]
    (folder / "000002.people").write_bytes(b"damaged")  # then the days decide, as for a version without a list
    assert [each.version for each in engine.models.learnt_from(otto.dates, nobody.people)] == [2]


def test_bad_input(engine, store, tmp_path, world):
    empty = ClickStore.create(tmp_path / "empty")
    with pytest.raises(InputError, match="history is empty"):
        engine.learn(empty)
    with pytest.raises(InputError):
        engine.learn(tmp_path / "nowhere")
    for wrong in ({"model": "nothing"}, {"hold_out": "user"}, {"share": 1.5}, {"alpha": 0.0}, {"depth": 0},
                  {"name": "Bad Name"}, {"name": "bm25"}, {"lambda1": 7.0}, {"n_topics": 3},
                  {"topics": {"1": "a"}}):  # fmt: skip
        with pytest.raises(ParameterError):
            engine.learn(store, **wrong)
    with pytest.raises(InputError, match="belong together"):
        engine.learn(store, topics={"1": "a"}, qrels={"2": {"d": 1}})
    with pytest.raises(InputError, match="too few clicks to learn from"):
        engine.learn(store, rules=ClickRules(pairs=PairRules(min_users=1000), memory_mb=256, threads=1))
    with Engine.create(tmp_path / "other") as other:
        other.add([Document("not-clicked", {"title": "something else"})])
        with pytest.raises(InputError, match="no title is known"):
            other.learn(store, rules=RULES)
    with pytest.raises(ParameterError, match="no version of 'clicks' serves"):
        health(Engine.open(tmp_path / "other"), "clicks", None, RULES)
