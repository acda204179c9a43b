"""What lies in the place of a file of ours, be it a link, a pipe or another user's, is refused at once."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from germane import Engine
from germane.clicks import ClickStore
from germane.clicks.log import ClickLog
from germane.data import owned
from germane.data.appending import append_lines
from germane.data.owned import check_owned, claim_database, make_private_folder, open_owned, read_owned
from germane.engine.models.model_store import ModelStore
from germane.errors import GermaneError, StorageError
from germane.latent import load
from germane.metasearch.cache import Cache
from germane.server import Library, Settings
from germane.server.app import create_app
from germane.server.audit import Audit
from germane.server.locks import lock_file
from germane.server.rates import Rates, make_shared
from germane.server.uploads import Uploads
from germane.types import Document
from germane.workspace import Workspace

VICTIM = "the file of somebody else"


def put_link(path: Path) -> None:
    victim = path.with_name("victim")
    victim.write_text(VICTIM)
    path.symlink_to(victim)


def put_dangling_link(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def put_pipe(path: Path) -> None:
    os.mkfifo(path)


def put_device(path: Path) -> None:
    if os.geteuid():
        pytest.skip("only root makes devices")
    os.mknod(path, 0o020600, os.makedev(1, 5))


def hold(path: Path) -> None:
    with lock_file(path):
        pass


USES: dict[str, Callable[[Path], Any]] = {
    "log": lambda path: ClickLog(path).add([{"query_id": "1"}]),
    "log read": lambda path: list(ClickLog(path).read()),
    "log erased": lambda path: ClickLog(path).erase_user("anna"),
    "audit": lambda path: Audit(path).erased("all", 1),
    "rates": lambda path: Rates(10, shared=path),
    "lock": hold,
    "workspace": lambda path: Workspace.open(path),
    "workspace that is there": lambda path: Workspace.open(path, create=False),
    "cache": Cache,
    "read": lambda path: read_owned(path, 100),
    "append": lambda path: append_lines(path, b"x\n"),
    "open": lambda path: open_owned(path, os.O_RDWR | os.O_CREAT),
    "folder": make_private_folder,
}


@pytest.mark.parametrize("put", [put_link, put_dangling_link, put_pipe, put_device])
@pytest.mark.parametrize("use", USES)
def test_what_is_no_file_of_ours(tmp_path: Path, use: str, put: Callable[[Path], None]) -> None:
    path = tmp_path / "ours"
    put(path)
    with pytest.raises(StorageError, match="ours cannot be"):
        USES[use](path)
    assert os.path.lexists(path)
    victim = tmp_path / "victim"
    assert not victim.exists() or victim.read_text() == VICTIM
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("use", ["log", "audit", "rates", "lock", "workspace", "cache", "append", "open"])
def test_a_second_name_of_another_file_is_not_written_to(tmp_path: Path, use: str) -> None:
    """Through a hard link a store would change a file of the same user that is no store."""
    victim = tmp_path / "victim"
    victim.write_text(VICTIM)
    victim.chmod(0o644)
    os.link(victim, tmp_path / "ours")
    with pytest.raises(StorageError, match="ours cannot be opened: it has 2 names"):
        USES[use](tmp_path / "ours")
    assert victim.read_text() == VICTIM
    assert victim.stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("put", [put_link, put_pipe])
def test_the_files_beside_a_database(tmp_path: Path, ending: str, put: Callable[[Path], None]) -> None:
    Workspace.open(tmp_path / "w").close()
    put(tmp_path / f"w{ending}")
    with pytest.raises(StorageError, match=f"w{ending} cannot be opened"):
        Workspace.open(tmp_path / "w")


def test_rates_replace_a_link(tmp_path: Path) -> None:
    """The file of requests is made anew at each start: a link there is refused, and its goal left alone."""
    put_link(tmp_path / "rates.bin")
    with pytest.raises(StorageError, match="a link"):
        make_shared(tmp_path / "rates.bin")
    assert (tmp_path / "victim").read_text() == VICTIM


def test_a_file_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused, unless that user, or this one, or root owns the folder too."""
    path = tmp_path / "audit.jsonl"
    path.write_text("{}\n")
    mine = os.geteuid()
    monkeypatch.setattr(owned.os, "geteuid", lambda: mine + 1)
    if mine:
        append_lines(path, b"{}\n")  # the folder's owner made it
        monkeypatch.setattr(owned.os, "stat", lambda _: os.stat_result([0] * 10))
        with pytest.raises(StorageError, match="belongs to another user"):
            append_lines(path, b"{}\n")
    else:
        os.chown(path, 4242, 4242)
        with pytest.raises(StorageError, match="belongs to another user"):
            append_lines(path, b"{}\n")
        os.chown(tmp_path, 4242, 4242)
        append_lines(path, b"{}\n")


def test_too_large(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x" * 101)
    with pytest.raises(StorageError, match="size limit"):
        read_owned(tmp_path / "x", 100)


def test_an_endless_line_of_a_log_is_passed_over(tmp_path: Path) -> None:
    clicks = ClickLog(tmp_path / "clicks.jsonl")
    clicks.add([{"query_id": "1"}])
    with clicks.path.open("ab") as file:
        file.write(b'{"query_id": "' + b"x" * 100_000 + b'"}\n')
    clicks.add([{"query_id": "2"}])
    assert [json.loads(line)["query_id"] for line in clicks.read()] == ["1", "2"]


# -- the click store ---------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> ClickStore:
    pytest.importorskip("duckdb")
    lines = [{"query_id": str(i), "user_query": "copper", "timestamp": "2026-01-31T10:00:00Z"} for i in range(9)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = ClickStore.create(tmp_path / "history")
    made.add([tmp_path / "log.jsonl"])
    assert made.days == ["2026-01-31"]
    return made


@pytest.mark.parametrize("put", [put_link, put_pipe])
@pytest.mark.parametrize("name", ["MANIFEST.json", "LOCK", "queries/day=2026-01-31/00000001.parquet"])
def test_a_click_store(store: ClickStore, name: str, put: Callable[[Path], None]) -> None:
    from germane.clicks.observations import observe

    path = store.folder / name
    path.unlink()
    put(path)
    with pytest.raises(StorageError, match=path.name.partition(".")[0]):
        ClickStore.open(store.folder).erase("anna")
    if name.endswith("parquet"):
        with pytest.raises(StorageError, match="parquet cannot be opened"), observe(store):
            pass


@pytest.mark.parametrize(
    "damage",
    [
        {"files": [["../../etc", "2026-01-31", 1, 1]]}, {"files": [["queries", "../..", 1, 1]]}, {"files": [[1]]},
        {"files": [["queries", "2026-01-31", "1", 1]]}, {"files": {}}, {"rules": []}, {"rules": {"redact_digits": -1}},
        {"rules": {"x": 1}}, {"next": None}, {"rows_read": "many"}, {"dropped": [1]}, {"dropped": {"x": []}},
    ],
    ids=str,
)  # fmt: skip
def test_a_forged_manifest_of_clicks(store: ClickStore, damage: dict[str, Any]) -> None:
    path = store.folder / "MANIFEST.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **damage}))
    with pytest.raises(GermaneError, match=r"damaged|must be between"):
        ClickStore.open(store.folder)


def test_a_damaged_file_of_clicks(store: ClickStore) -> None:
    from germane.clicks.observations import observe

    (path,) = store.folder.glob("queries/*/*.parquet")
    for content in (b"", b"PAR1", b"x" * 1000, path.read_bytes()[:-20], b"PAR1" + os.urandom(200) + b"PAR1"):
        path.write_bytes(content)
        with pytest.raises(GermaneError), observe(store):
            pass
        with pytest.raises(GermaneError):
            store.erase("anna")


# -- models ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def models(tmp_path: Path) -> ModelStore:
    from learning.test_model_store import fitted, record

    with Engine.create(tmp_path / "index") as engine:
        engine.add([Document("a", {"text": "x"})])
    made = ModelStore(tmp_path / "index")
    made.add("clicks", fitted("one"), record())
    made.promote("clicks@1")
    return ModelStore(tmp_path / "index")


@pytest.mark.parametrize("put", [put_link, put_pipe])
@pytest.mark.parametrize("name", ["000001.model", "000001.json", "SERVING"])
def test_a_model_store(models: ModelStore, tmp_path: Path, name: str, put: Callable[[Path], None]) -> None:
    path = tmp_path / "index" / "models" / "clicks" / name
    path.unlink()
    put(path)
    with pytest.raises(GermaneError, match=name):
        models.stage("clicks")
    assert any(name in problem for problem in models.problems())


@pytest.mark.parametrize("name", ["models", "models/clicks"])
def test_a_folder_of_models_that_is_a_link(models: ModelStore, tmp_path: Path, name: str) -> None:
    path = tmp_path / "index" / name
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    for use in (lambda: models.versions(), lambda: models.promote("clicks@1"), lambda: models.rollback()):
        with pytest.raises(StorageError, match="is a link"):
            use()


@pytest.mark.parametrize(
    "damage",
    [
        {"version": "1"}, {"version": 2}, {"name": "other"}, {"data": []}, {"data": {"pairs": "x"}}, {"gate": [1]},
        {"gate": {"against": 1}}, {"distribution": {"heads": 1}}, {"mixing": {"lambda1": "x"}}, {"parameters": 3},
        {"unknown": 1}, {"trained_at": None},
    ],
    ids=str,
)  # fmt: skip
def test_a_forged_record(models: ModelStore, tmp_path: Path, damage: dict[str, Any]) -> None:
    path = tmp_path / "index" / "models" / "clicks" / "000001.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **damage}))
    with pytest.raises(GermaneError, match="record of a learnt model is damaged"):
        models.version("clicks@1")


@pytest.mark.parametrize("content", ["[]", "1", '{"served": 1}', '{"served": ["1"]}', '{"served": [1], "last": "x"}'])
def test_a_forged_pointer(models: ModelStore, tmp_path: Path, content: str) -> None:
    (tmp_path / "index" / "models" / "clicks" / "SERVING").write_text(content)
    with pytest.raises(GermaneError, match="which version serves"):
        models.serving("clicks")


def test_the_file_of_a_model_that_is_a_pipe(tmp_path: Path) -> None:
    put_pipe(tmp_path / "model")
    with pytest.raises(GermaneError, match="cannot be read"):
        load(tmp_path / "model")


# -- the server's folder -----------------------------------------------------------------------------------------------


def test_uploads(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "uploads").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError):
        Uploads(tmp_path / "uploads").keep("a.csv", b"id,title\n1,x\n")
    uploads = Uploads(tmp_path / "own")
    key = uploads.keep("a.csv", b"id,title\n1,x\n").key
    (path,) = (tmp_path / "own" / key).iterdir()
    path.unlink()
    put_pipe(path)
    with pytest.raises(StorageError, match="not a regular file"):
        list(uploads.documents(key))


def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    claim_database(tmp_path / "w", create=False)
    assert not check_owned(tmp_path / "w")


@pytest.mark.parametrize("where", ["models", "models/clicks"])
def test_searches_go_on_beside_linked_models(tmp_path: Path, where: str) -> None:
    """The page of a search, the first one too, was a 503 as long as the folder of learnt models was a link."""
    (tmp_path / "elsewhere").mkdir()
    engine = Engine.create(tmp_path / "library")
    engine.add([{"id": "d1", "title": "Copper in the liver"}])
    (tmp_path / "library" / where).parent.mkdir(exist_ok=True)
    (tmp_path / "library" / where).symlink_to(tmp_path / "elsewhere")
    library = Library({"library": engine}, Workspace.open(tmp_path / "w"), Settings(), tmp_path)
    with TestClient(create_app(library), base_url="http://127.0.0.1") as client:
        for path in (
            "/",
            "/search?q=copper",
            "/document?id=d1&q=copper",
            "/api/v1/collections/library/search?q=copper",
        ):
            assert client.get(path).status_code == 200, path
        for path in ("/models", "/api/v1/collections/library/models"):
            refused = client.get(path)
            assert refused.status_code == 503
            assert "is a link, which is not followed here" in refused.text
            assert str(tmp_path) not in refused.text
    library.close()
