"""A saved classifier answers as it did; a damaged file is told, and none is ever half written."""

import hashlib
import json
import os
import zipfile
from io import BytesIO

import numpy as np
import pytest

from germane import Analyzer, TextClassifier
from germane.classify import saving
from germane.classify.text_classifier import SAVED_CLASSES
from germane.classify.text_models import TEXT_MODELS
from germane.errors import InputError, ParameterError, StorageError
from germane.text import CharacterNGrams

TEXTS = [
    "A goal in the last match of the league", "The team and its coach lost the match", "Goal, goal: a player scores",
    "The minister and the vote on a law", "A tax law for the parliament", "The party lost the vote in parliament",
    "Light of a far star", "Energy of atoms and of light", "A planet near the star",
]  # fmt: skip
LABELS = ["sport"] * 3 + ["politics"] * 3 + ["science"] * 3
SEVERAL = [[label] if i % 3 else [label, "märz"] for i, label in enumerate(LABELS)]
NEW = ["The goal of the law", "star light star", "", "nothing known"]


@pytest.mark.parametrize("labels", [LABELS, SEVERAL], ids=["one", "several"])
@pytest.mark.parametrize("model", TEXT_MODELS)
def test_it_answers_as_before(tmp_path, model, labels):
    classifier = TextClassifier(model, prior="empirical").fit(TEXTS, labels)
    classifier.notes_ = {"text": ["body"], "n": 3}
    path = tmp_path / "classifier.germane"
    classifier.save(path)
    loaded = TextClassifier.load(path)
    assert (loaded.class_scores(NEW) == classifier.class_scores(NEW)).all()
    assert (loaded.predict_proba(NEW) == classifier.predict_proba(NEW)).all()
    assert list(loaded.predict(NEW)) == list(classifier.predict(NEW))
    assert loaded.explain(NEW[0]) == classifier.explain(NEW[0])
    assert loaded.get_params() | {"analyzer": None} == classifier.get_params()
    for name in ("chosen_", "tuning_", "n_empty_", "notes_", "multi_label_", "terms_", "surfaces_", "vocabulary_"):
        assert getattr(loaded, name) == getattr(classifier, name)
    again = tmp_path / "again.germane"
    loaded.save(again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("analyzer", [Analyzer("none", ("the", "of")), CharacterNGrams((2, 3))])
def test_the_analyser_is_kept(tmp_path, analyzer):
    classifier = TextClassifier(analyzer=analyzer, tune=False).fit(TEXTS, LABELS)
    classifier.save(tmp_path / "c")
    assert TextClassifier.load(tmp_path / "c").analyzer == analyzer


def test_numbers_as_labels_and_as_prior(tmp_path):
    classifier = TextClassifier(tune=False, prior={1: 0.5, 2: 0.25, 3: 0.25}).fit(TEXTS, [1, 1, 1, 2, 2, 2, 3, 3, 3])
    classifier.save(tmp_path / "c")
    loaded = TextClassifier.load(tmp_path / "c")
    assert loaded.predict(NEW).tolist() == classifier.predict(NEW).tolist()
    assert loaded.predict([""]).tolist() == [1]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "c.germane"
    TextClassifier("sd-ce", tune=False).fit(TEXTS, LABELS).save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda e, a: a.update({e["columns_"]["list"][0]["array"]: np.arange(1 << 20)}),
        lambda e, a: a[e["columns_"]["list"][0]["array"]].__setitem__(-1, 1 << 40),
        lambda e, a: a[e["columns_"]["list"][0]["array"]].__setitem__(0, -1),
        lambda e, a: a.update({e["weights_"]["array"]: np.ones(99)}),
        lambda e, a: a.update({e["bias_"]["array"]: np.ones(1)}),
        lambda e, a: e["members_"]["list"].pop(),
    ],
)
def test_a_forged_pool(tmp_path, change):
    path = tmp_path / "pool.germane"
    TextClassifier().fit(TEXTS, LABELS).save(path)
    settings, arrays = changed(path.read_bytes(), lambda s, a: change(s["estimator"]["fitted"], a))
    archive = BytesIO()
    np.savez_compressed(archive, settings=np.frombuffer(json.dumps(settings).encode(), np.uint8), **arrays)
    sign(path, archive.getvalue())
    with pytest.raises(InputError):
        TextClassifier.load(path)


def test_every_cut_and_flip_is_noticed(tmp_path, saved):
    path = tmp_path / "damaged"
    rng = np.random.default_rng(0)
    for cut in [*range(0, 90), *rng.integers(90, len(saved), 40)]:
        path.write_bytes(saved[:cut])
        with pytest.raises(InputError, match=str(path)):
            TextClassifier.load(path)
    for place in [*range(0, 90), *rng.integers(90, len(saved), 60)]:
        flipped = bytearray(saved)
        flipped[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(flipped)
        with pytest.raises(InputError):
            TextClassifier.load(path)


def test_what_is_no_classifier(tmp_path, saved):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        TextClassifier.load(tmp_path / "nothing")
    with pytest.raises(InputError, match="cannot be read: not a regular file"):
        TextClassifier.load(tmp_path)
    path = tmp_path / "text"
    path.write_text("id,text\n")
    with pytest.raises(InputError, match="not a saved classifier"):
        TextClassifier.load(path)
    path.write_bytes(saved.replace(b"CLASSIFIER 1 ", b"CLASSIFIER 7 ", 1))
    with pytest.raises(InputError, match="format version 7, this program reads 1: upgrade"):
        TextClassifier.load(path)


def test_a_forged_file_runs_nothing(tmp_path):
    """With a right checksum but a class that is not ours, or an array of Python objects."""
    path = tmp_path / "forged"

    def forge(settings: object, **arrays: np.ndarray) -> None:
        archive = BytesIO()
        np.savez(archive, settings=np.frombuffer(json.dumps(settings).encode(), np.uint8), **arrays)
        body = archive.getvalue()
        path.write_bytes(b"%s 1 %s\n" % (saving.MAGIC, hashlib.sha256(body).hexdigest().encode()) + body)

    for settings in (
        {"estimator": "Popen", "parameters": {}, "fitted": {}},
        {"dict": {"model": "sd"}},
        {"list": []},
        [1],
        {"array": "a0"},
    ):
        forge(settings, a0=np.array([{"x": 1}], dtype=object))
        with pytest.raises(InputError):
            TextClassifier.load(path)


def test_it_is_an_archive_of_plain_arrays(saved):
    with zipfile.ZipFile(BytesIO(saved)) as archive:  # a zip may have something before it
        assert "settings.npy" in archive.namelist()
        assert all(name.endswith(".npy") for name in archive.namelist())


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch, saved):
    path = tmp_path / "c.germane"
    path.write_bytes(saved)
    classifier = TextClassifier.load(path)

    def refuse(*_):
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StorageError, match="no space left"):
        classifier.save(path)
    assert path.read_bytes() == saved
    assert os.listdir(tmp_path) == ["c.germane"]
    monkeypatch.undo()
    with pytest.raises(StorageError):
        classifier.save(tmp_path / "no" / "such" / "folder")


def test_only_plain_things_are_saved(tmp_path):
    for thing in (object(), {1: 2}, np.array([1j])):
        with pytest.raises(ParameterError, match="cannot be saved"):
            saving.write_model(tmp_path / "x", {"thing": thing}, SAVED_CLASSES)
    assert os.listdir(tmp_path) == []


def forged(path, arrays, **settings):
    """A file with a right checksum over what `arrays` and `settings` say."""
    archive = BytesIO()
    body = {"settings": np.frombuffer(json.dumps(settings).encode(), np.uint8)} if settings else {}
    np.savez_compressed(archive, **body, **arrays)
    sign(path, archive.getvalue())


def sign(path, body):
    path.write_bytes(b"%s 1 %s\n" % (saving.MAGIC, hashlib.sha256(body).hexdigest().encode()) + body)


def test_zeros_are_not_unpacked(tmp_path):
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as members, members.open("a0.npy", "w") as file:
        for _ in range(200):
            file.write(bytes(1 << 20))
    sign(tmp_path / "zeros", archive.getvalue())
    with pytest.raises(InputError, match="unpacks to 209,715,200 bytes, more than 100 times its size: refused"):
        TextClassifier.load(tmp_path / "zeros")


def test_tables_of_zeros_are_not_made(tmp_path, saved):
    def change(settings, arrays):
        sums = settings["estimator"]["statistics"]["dict"]["sums"]
        sums["shape"] = [sums["shape"][0], 1 << 28]

    settings, arrays = changed(saved, change)
    forged(tmp_path / "zeros", arrays, **settings)
    with pytest.raises(InputError, match=r"the tables of the saved classifier need [\d,]{13,} bytes, far more than"):
        TextClassifier.load(tmp_path / "zeros")


def test_an_array_that_claims_to_be_larger_than_it_is(tmp_path):
    head = BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": (1 << 60,)})
    archive = BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("settings.npy", head.getvalue())
    sign(tmp_path / "large", archive.getvalue())
    with pytest.raises(InputError, match="cannot read"):
        TextClassifier.load(tmp_path / "large")


def test_deep_settings(tmp_path):
    deep = b'{"list":[' * 100_000 + b"]}" * 100_000
    archive = BytesIO()
    np.savez_compressed(archive, settings=np.frombuffer(deep, np.uint8))
    sign(tmp_path / "deep", archive.getvalue())
    with pytest.raises(InputError, match="cannot read"):
        TextClassifier.load(tmp_path / "deep")


def changed(saved, change):
    """The saved file with its settings and arrays changed, and a right checksum."""
    body = saved[saved.index(b"\n") + 1 :]
    with np.load(BytesIO(body)) as archive:
        arrays = dict(archive)
    settings = json.loads(arrays.pop("settings").tobytes())
    change(settings["dict"], arrays)
    return settings, arrays


@pytest.mark.parametrize(
    "change",
    [
        lambda s, a: a.update({s["estimator"]["statistics"]["dict"]["sums"]["sparse"][1]: np.array([1 << 30])}),
        lambda s, a: a[s["estimator"]["statistics"]["dict"]["sums"]["sparse"][2]].__setitem__(-1, -(1 << 31)),
        lambda s, a: a[s["estimator"]["statistics"]["dict"]["sums"]["sparse"][2]].__setitem__(1, -1),
        lambda s, a: a[s["estimator"]["statistics"]["dict"]["sums"]["sparse"][1]].__setitem__(0, -1),
        lambda s, a: s["estimator"]["statistics"]["dict"]["sums"].update(shape=[1 << 40, 1 << 40]),
        lambda s, a: s["estimator"]["statistics"]["dict"]["sums"].update(shape=[3, 1 << 20]),
        lambda s, a: a.update({s["estimator"]["statistics"]["dict"]["background"]["array"]: np.ones(1)}),
        lambda s, a: a.update({s["estimator"]["statistics"]["dict"]["n_docs"]["array"]: np.full(3, np.nan)}),
        lambda s, a: s["terms"]["list"].append("more"),
        lambda s, a: s["terms"].update(list=[7] * len(s["terms"]["list"])),
        lambda s, a: s.update(classes={"array": s["empty_scores"]["array"]}, empty_scores=None),
        lambda s, a: s.update(estimator={"estimator": "LinearSVC", "parameters": {}, "fitted": {"predict": 1}}),
        lambda s, a: s.update(notes=7),
        lambda s, a: s.update(prior=7),
        lambda s, a: s.update(prior={"list": [0.5, 0.5]}),
        lambda s, a: s.update(chosen={"list": []}),
        lambda s, a: s.update(sharpness="sharp"),
        lambda s, a: s.update(analyzer=3),
    ],
)  # fmt: skip
def test_parts_that_do_not_fit_together(tmp_path, saved, change):
    settings, arrays = changed(saved, change)
    forged(tmp_path / "forged", arrays, **settings)
    with pytest.raises(InputError, match="forged"):
        TextClassifier.load(tmp_path / "forged")
