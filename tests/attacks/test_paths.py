"""No answer says where files of the server lie."""

import json
import re

from germane.errors import InputError, StorageError
from germane.server.problems import told

ABSENT = "no-such-document"


def test_no_door_names_a_folder_of_the_server(server):
    status, found = server.api("GET", "/collections")
    name = found["collections"][0]["name"]
    html = {"accept": "text/html"}
    here = server.home.resolve()
    places = {str(here), str(here.parent), here.parent.name}
    asked = [
        ("GET", f"/document?id={ABSENT}", None, html),
        ("GET", f"/why?q=copper&id={ABSENT}", None, html),
        ("GET", f"/document?c=none&id={ABSENT}", None, html),
        ("GET", "/models/none@1", None, html),
        ("GET", "/evaluate/none", None, html),
        ("GET", "/screen/none", None, html),
        ("GET", f"/api/v1/collections/{name}/documents/{ABSENT}", None, None),
        ("GET", f"/api/v1/collections/{name}/explain?q=copper&id={ABSENT}", None, None),
        ("GET", f"/api/v1/collections/{name}/search?q=copper&rerank=none", None, None),
        ("DELETE", f"/api/v1/collections/{name}/documents/{ABSENT}", None, None),
        ("POST", "/api/v1/topics", {"name": "t", "documents": [ABSENT], "collection": name}, None),
        ("POST", "/api/v1/searches", {"query": "copper", "collection": "none"}, None),
        ("GET", "/api/v1/jobs/999", None, None),
    ]
    told_of = 0
    for method, path, body, headers in asked:
        status, _, answer = server.ask(method, path, None if body is None else body, headers)
        text = answer.decode()
        assert not any(place in text for place in places), (path, text)
        assert not re.search(r"(?<![\w./:])/(tmp|home|work|root|usr)/", text.partition('"instance"')[0]), (path, text)
        told_of += status >= 400 and (ABSENT in text or "none" in text)
    assert told_of > 8, json.dumps(asked)


def test_errors_of_files_keep_the_name_alone():
    assert told(StorageError("/srv/a/b/pairs.duckdb cannot be written: no space")).detail.startswith("pairs.duckdb ")
    assert "/srv" not in told(InputError("cannot be read", source="/srv/a/tokens", line=3)).detail
