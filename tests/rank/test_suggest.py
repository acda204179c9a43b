"""Did you mean ...?"""

import pytest

from germane import Document, Engine, lazy


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    texts = ["myocardial infarction"] * 9 + ["diabetes mellitus therapies"] * 12 + ["infraction of rules"] * 3
    texts += ["hearts"] * 5 + ["naïve bayes"] * 4 + ["cat"] * 4 + ["rarely"]
    engine = Engine.create(tmp_path_factory.mktemp("suggest") / "index")
    engine.add([Document(str(i), {"text": text}) for i, text in enumerate(texts)], threads=1)
    engine.close()
    return engine


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("myocardial infarction", None),
        ("myocardal infarction", "myocardial infarction"),  # a letter too few
        ("diabbetes", "diabetes"),  # one too many
        ("diabetas", "diabetes"),  # another one
        ("daibetes", "diabetes"),  # two neighbours exchanged
        ("dabetis", "diabetes"),  # two edits
        ("MELITUS Diabetes", "mellitus diabetes"),
        ("naive bayes", "naïve bayes"),
        ("the diabtes", "the diabetes"),  # stop words stay
        ("", None),
        ("?!", None),
        ("zzzzzzzz", None),
        ("ct", None),  # too short to guess
        ("caat", "cat"),
        ("diabetes2", None),  # numbers are not corrected
        ("rarely", None),  # known, and nothing near it
        ("x" * 300, None),
    ],
)
@pytest.mark.parametrize("compiled", [False, True], ids=["by NumPy", "by kernels"])
def test_suggestions(
    engine: Engine, typed: str, meant: str | None, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lazy, "compiler_is_loaded", lambda: compiled)
    assert engine.suggest(typed) == meant


def test_the_commoner_word_wins(engine: Engine) -> None:
    """'infarction' and 'infraction' are one edit away each; the collection writes the first more often."""
    assert engine.suggest("infaction") == "infarction"


def test_any_segment_may_know_the_word(tmp_path) -> None:
    engine = Engine.create(tmp_path / "index")
    for i in range(4):
        engine.add([Document(f"{i}", {"text": "tuberculosis" if i != 2 else "tuberculosis care"})], threads=1)
    assert engine.suggest("tuberculosos") == "tuberculosis"
    engine.close()


def test_an_empty_index_has_no_idea(tmp_path) -> None:
    with Engine.create(tmp_path / "index") as engine:
        assert engine.suggest("anything") is None
