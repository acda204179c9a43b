"""Queries of visitors: shown to those who may see logs, if enough visitors typed them; nobody else learns a word."""

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from germane.engine import Engine
from germane.engine.models.values import Distribution, GateReport, GateSet, Loss, ModelVersion, TrainingData
from germane.errors import ParameterError
from germane.latent.pairs import Pairs
from germane.latent.registry import latent_named
from germane.server import Library, Settings, create_app
from germane.server.roles import Role, Token
from germane.server.sample import sample_documents
from germane.workspace import Workspace
from server.planted import planted_clicks

V1 = "/api/v1"
TOKENS = {role: f"{role.word}-{'x' * 20}" for role in Role}
FEW, MANY, JUDGED = "my uncle's tumour", "sleep and memory", "a topic that somebody made"
MODELS = f"{V1}/collections/research/models"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory):
    """A learnt model whose verdict names queries of few and of many visitors, and a log of both kinds."""
    home = tmp_path_factory.mktemp("privacy")
    engine = Engine.create(home / "research")
    engine.add(sample_documents(each=6))
    pairs = [("sleep memory", "Sleep and memory", 1.0), ("copper liver", "Copper in the liver", 1.0)] * 4
    model = latent_named("wtm").fit(Pairs.build(pairs, engine.analyzer))
    clicked = GateSet(
        "held-out clicks", "nDCG@10", 3, 0.1, 0.9, 0.5, 0.5, 0, 3, 0,
        (Loss(FEW, 0.1, 0.9, 1), Loss(MANY, 0.2, 0.9, 7), Loss("of an earlier release", 0.3, 0.9)),
    )  # fmt: skip
    judged = GateSet("judged queries", "nDCG@10", 1, 0.1, 0.9, 0.5, 0.5, 0, 1, 0, (Loss(JUDGED, 0.1, 0.9),))
    gate = GateReport("the plain ranking", False, "below", (clicked, judged))
    data = TrainingData("0" * 64, "2026-03-02", "2026-03-04", 9, 9, 9, 9, "query", 3, {})
    engine.models.add("clicks", model, ModelVersion(
        "clicks", 0, "wtm", {}, {"first_weight": 0.5}, "2026-03-05T00:00:00+00:00", data, gate, "", False,
        Distribution((), (1.0,), 9, (1.0,), 9),
    ))  # fmt: skip
    own = planted_clicks(engine, queries=30, visitors=3)
    (home / "clicks.jsonl").write_bytes(own)
    settings = Settings(per_minute=0, tokens=tuple(Token(value, role) for role, value in TOKENS.items()))
    found = Library({"research": engine}, Workspace.open(home / "w"), settings, home)
    yield found
    found.close()


@pytest.fixture(scope="module")
def clients(library: Library) -> dict[Role, TestClient]:
    app = create_app(library)
    return {
        role: TestClient(app, base_url="http://127.0.0.1", headers={"authorization": f"Bearer {value}"})
        for role, value in TOKENS.items()
    }


SHOWN = [
    MODELS, f"{MODELS}/clicks@1", f"{MODELS}/clicks@1/gate", "/models", "/models/clicks@1", "/models/clicks@1?loss=1",
    "/models/clicks@1?loss=3", f"{V1}/jobs", f"{V1}/topics", f"{V1}/searches", "/", "/screen",
]  # fmt: skip


@pytest.mark.parametrize("path", SHOWN)
def test_what_anybody_may_see_names_no_query_of_a_visitor(clients: dict[Role, TestClient], path: str) -> None:
    for role in (Role.READER, Role.MARKER):
        answer = clients[role].get(path)
        assert answer.status_code == 200
        for query in (FEW, FEW.replace("'", "&#39;"), MANY, "of an earlier release"):
            assert query not in answer.text


@pytest.mark.parametrize("path", SHOWN)
def test_an_admin_sees_only_what_enough_visitors_typed(clients: dict[Role, TestClient], path: str) -> None:
    text = clients[Role.ADMIN].get(path).text
    assert FEW not in text
    assert FEW.replace("'", "&#39;") not in text
    assert "of an earlier release" not in text
    assert (MANY in text) == ("/clicks@1" in path or path == MODELS)


def test_the_rest_is_told_together(clients: dict[Role, TestClient]) -> None:
    for role, hidden, means in ((Role.READER, 3, 0.2), (Role.ADMIN, 2, 0.2)):
        clicked, judged = clients[role].get(f"{MODELS}/clicks@1/gate").json()["sets"]
        assert clicked["withheld"] == {"queries": hidden, "candidate": pytest.approx(means), "baseline": 0.9}
        assert clicked["losses"] == 3
        assert [each["query"] for each in judged["worst"]] == [JUDGED]
        assert "withheld" not in judged
    assert "3 of its worst losses" in clients[Role.READER].get("/models/clicks@1").text


def test_a_comparison_is_for_those_who_may_see_logs(clients: dict[Role, TestClient]) -> None:
    for role in (Role.READER, Role.MARKER):
        assert clients[role].get(f"{V1}/collections/research/comparison?candidate=clicks@1").status_code == 403


def test_no_parameter_lowers_the_number_of_visitors(clients: dict[Role, TestClient], library: Library) -> None:
    """Every query of the log was typed by three visitors."""
    queries = {json.loads(line).get("user_query") for line in library.events.read()}
    for number in ("1", "4", "0", "-1", "5", "6"):
        answer = clients[Role.ADMIN].get(f"{V1}/collections/research/comparison?candidate=clicks@1&min_users={number}")
        assert answer.status_code == 422
        assert not any(query in answer.text for query in queries)


def test_what_a_training_on_fewer_visitors_lost_is_not_named(clients: dict[Role, TestClient], library: Library) -> None:
    """Somebody may learn from what few typed; that does not show it."""
    admin = clients[Role.ADMIN]
    body = {"min_users": 1, "name": "few", "share": 0.5, "force": True, "parameters": {"first_weight": 0.0}}
    job = admin.post(f"{V1}/jobs/trainings", json=body, headers={"x-requested-with": "t"}).json()["job"]
    ended = json.loads(admin.get(f"{V1}/jobs/{job}/events").text.rstrip().rpartition("data: ")[2])
    assert ended["state"] == "done", ended
    kept = library.engines["research"].models.version("few@1").gate
    assert kept is not None
    worst = kept.sets[0].worst
    assert worst
    assert {loss.users for loss in worst} == {3}
    told = admin.get(f"{MODELS}/few@1/gate").json()["sets"][0]
    assert told["worst"] == []
    assert told["withheld"]["queries"] == len(worst)
    for path in (MODELS, f"{MODELS}/few@1", "/models/few@1"):
        text = admin.get(path).text
        assert not any(loss.query in text for loss in worst)


def test_where_one_person_works_alone_the_number_is_theirs_to_choose(library: Library, tmp_path: Path) -> None:
    settings = Settings(per_minute=0, min_users=1)
    alone = Library(library.engines, Workspace.open(tmp_path / "w"), settings, library.home)
    client = TestClient(create_app(alone), base_url="http://127.0.0.1")
    worst = client.get(f"{MODELS}/clicks@1/gate").json()["sets"][0]["worst"]
    assert [each["query"] for each in worst] == [FEW, MANY]
    alone.workspace.close()
    with pytest.raises(ParameterError, match="from 1 on"):
        Settings(min_users=0)
