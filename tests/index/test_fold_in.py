"""A process killed at every point where the disk is touched, while a learnt model makes vectors of documents."""

import datetime
import os
import shutil
from pathlib import Path
from typing import Any

from germane import Engine
from germane.engine.models.values import ModelVersion, TrainingData
from germane.index.check import check_index
from germane.latent import LSA, Pairs
from germane.learning.drift import distribution_of
from germane.types import title_of
from index.test_crash import killed

TITLES = [f"w{i % 7} w{i % 5 + 7} w{i % 3 + 12}" for i in range(40)]


def version() -> ModelVersion:
    data = TrainingData("f" * 64, "2026-01-01", "2026-01-02", 1, 1, 1, 1, "query", 1, {})
    trained = datetime.datetime(2026, 1, 3, tzinfo=datetime.UTC).isoformat()
    return ModelVersion("clicks", 0, "lsa", {}, {}, trained, data, None, "", False, distribution_of({"a": 1}, [1]))


def test_killed_at_any_point(tmp_path: Path, make_faults: Any) -> None:
    """Vectors and documents come in one commit: what is there has the vector of one version, all or nothing.

    Every third point; GERMANE_EVERY=1 has all.
    """
    template = tmp_path / "template"
    pairs = Pairs.build([(" ".join(title.split()[:2]), title, 1.0) for title in TITLES])
    models = [LSA(3).fit(pairs), LSA(4).fit(pairs)]
    with Engine.create(template) as engine:
        engine.add({"id": f"d{i}", "title": title} for i, title in enumerate(TITLES))
        for model in models:
            engine.models.add("clicks", model, version())
        engine.promote("clicks@1")
    work = [
        lambda engine: engine.update([{"id": "d1", "title": "w3 w9"}, {"id": "new", "title": "w4 unheard"}]),
        lambda engine: engine.delete(["d0"], missing="ignore"),
        lambda engine: engine.promote("clicks@2"),
    ]
    counter = make_faults()
    shutil.copytree(template, tmp_path / "counted")
    with Engine.open(tmp_path / "counted") as engine, counter.installed():
        for operation in work:
            operation(engine)
    for at in range(1, counter.count + 1, int(os.environ.get("GERMANE_EVERY", "3"))):
        faults = make_faults()
        faults.at, faults.kill = at, True
        folder = tmp_path / f"killed-{at}"
        shutil.copytree(template, folder)
        done = killed(folder, work, faults)
        report = check_index(folder)
        assert report.ok, (at, report.problems)
        with Engine.open(folder) as engine:
            assert ("new" in engine) >= (done >= 1)
            model = models[engine.vector_fields["clicks"].dimension - 3]
            for document in engine.documents():
                expected = model.encode([title_of(document.fields, engine.text_fields)])[0]
                assert engine.vector(document.id, "clicks").tolist() == expected.tolist(), (at, document.id)
        shutil.rmtree(folder)
