"""Settings of sources: read, refused with a sentence, and without keys."""

import dataclasses
import json

import pytest

from germane.engine import Engine
from germane.errors import InputError, ParameterError
from germane.metasearch import SOURCES, Configuration

TOML = """
email = "me@example.org"

[sources.pubmed]
key_env = "MY_KEY"
per_second = 2
weight = 2

[sources.lab]
kind = "elasticsearch"
url = "http://10.0.0.5:9200"
index = "papers"
fields = ["title", "body"]
mapping = { text = "body" }

[sources.mine]
kind = "folder"
path = "papers"
"""


def test_settings(tmp_path):
    (tmp_path / "sources.toml").write_text(TOML)
    read = Configuration.read(tmp_path / "sources.toml")
    pubmed = read.source("pubmed", {"MY_KEY": "k"})
    assert (pubmed.key.value, pubmed.email, pubmed.weight, pubmed.policy.rate.count) == ("k", "me@example.org", 2, 2)
    assert read.source("pubmed", {}).key is None
    lab = read.source("lab")
    assert (lab.name, lab.fields, lab.mapping) == ("lab", ("title", "body"), {"text": "body"})
    assert lab.policy.own == ("http://10.0.0.5:9200",)
    assert read.source("mine").path == tmp_path / "papers"
    assert read.source("openalex", {"OPENALEX_API_KEY": "o"}).key.value == "o"
    assert read.source("arxiv").email == "me@example.org"
    (tmp_path / "sources.json").write_text(json.dumps({"sources": {"arxiv": {"timeout": 3}}}))
    assert Configuration.read(tmp_path / "sources.json").source("arxiv").timeout == 3


def test_each_setting_of_each_kind_is_of_a_type_that_can_be_checked():
    for kind, made in SOURCES.items():
        for one in dataclasses.fields(made):
            if one.init and one.name not in ("key", "rate", "engine"):
                with pytest.raises(ParameterError, match=f"setting {one.name} of the source 'a' is "):
                    Configuration(sources={"a": {"kind": kind, one.name: {"x": 1}}}).source("a", {})


def test_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Engine.create("index").close()
    (tmp_path / "papers").mkdir()
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "papers").mkdir()
    sources = Configuration().all(["index", "papers", "more/papers", "pubmed"])
    assert [(source.kind, source.name) for source in sources] == [
        ("index", "index"), ("folder", "papers"), ("folder", "papers 2"), ("pubmed", "pubmed"),
    ]  # fmt: skip
    with pytest.raises(ParameterError, match="no source 'pubmedd'"):
        Configuration().source("pubmedd")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "neither TOML nor JSON"),
        ("unknown = 1", "unknown settings: unknown"),
        ("sources = 3", r"\[sources.NAME\]"),
        ("[sources.a]\nkind = 'google'", "no kind of source 'google'"),
        ("[sources.a]\nkind = 'pubmed'\nkey = 'secret'", "key_env"),
        ("[sources.a]\nkind = 'pubmed'\ntime = 3", "no setting time; it takes email"),
        ("[sources.a]\nkind = 'searxng'", "needs its address"),
        ("[sources.a]\nkind = 'searxng'\nurl = 'https://me:pw@x.example'", "environment variable"),
        ("[sources.a]\nkind = 'pubmed'\nper_second = 0", "per_second"),
        ("[sources.a]\nkind = 'pubmed'\ntimeout = 'long'", "setting timeout of the source 'a' is a number, not 'long'"),
        ("[sources.a]\nkind = 'pubmed'\nretries = 1.5", "setting retries of the source 'a' is a whole number"),
        ("[sources.a]\nkind = 'pubmed'\nurl = 3", "setting url of the source 'a' is a text in quotes, not 3"),
        ("[sources.a]\nkind = 'pubmed'\nprivate = 'no'", "setting private of the source 'a' is true or false"),
        ("[sources.a]\nkind = 'elasticsearch'\nfields = 'body'", "setting fields of the source 'a' is a list of texts"),
        ("[sources.a]\nkind = 'elasticsearch'\nmapping = {title = 3}", "setting mapping of the source 'a' is a table"),
    ],
)
def test_settings_that_cannot_be_used(text, message, tmp_path):
    (tmp_path / "sources.toml").write_text(text)
    with pytest.raises(InputError, match=message) as raised:
        Configuration.read(tmp_path / "sources.toml")
    assert "secret" not in str(raised.value)
    with pytest.raises(InputError, match="no such file"):
        Configuration.read(tmp_path / "none.toml")
