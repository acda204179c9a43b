"""Parts add up to the score; a score does not depend on what else was folded in; expansions are the likely words."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from germane.latent import LATENT_NAMES, Pairs, latent_named
from germane.latent.explaining import explained

PAIRS = [
    ("cheap car", "Used vehicles for sale", 3.0),
    ("used cars", "Second-hand vehicles and autos", 1.0),
    ("cat food", "Dry food for felines", 2.0),
    ("kitten meal", "Food for young felines", 1.0),
]
PARAMETERS = {"lsa": {"n_dimensions": 3}, "cl-lsa": {"n_dimensions": 3}, "opca": {"n_dimensions": 3},
              "s2net": {"n_dimensions": 3},
              "combination": {"parts": "wtm,bltm,opca,vsm", "n_dimensions": 3, "n_topics": 2}}  # fmt: skip
TITLES = ["Vehicles near you", "A used car, as new", "Felines and cats", "", "words unheard of before"]


@pytest.fixture(scope="module")
def models():
    pairs = Pairs.build(PAIRS)
    given = {name: PARAMETERS.get(name, {"n_topics": 2} if "bltm" in name or name == "plsa" else {})
             for name in LATENT_NAMES}  # fmt: skip
    return {name: latent_named(name, **parameters).fit(pairs) for name, parameters in given.items()}


@pytest.mark.parametrize("name", LATENT_NAMES)
@pytest.mark.parametrize(
    "query", ["car", "cheap cats near unheard", {"car": 2.0, "food": 0.5, "nowhere": 1.0}, "unheardof"]
)
def test_parts_add_up_to_the_score(models, name, query):
    model = models[name]
    documents = model.fold_in(TITLES)
    scores = model.score(query, documents)
    for i, score in enumerate(scores):
        found = explained(model, query, documents.take([i]))
        assert found.score == pytest.approx(score, abs=1e-5)
        assert len(found.parts) == (4 if query == "cheap cats near unheard" else 3 if isinstance(query, dict) else 1)


@pytest.mark.parametrize("name", LATENT_NAMES)
def test_a_score_does_not_depend_on_the_other_documents(models, name):
    """Titles are folded in segment by segment: a word that one segment lacks must still count there."""
    model = models[name]
    for query in ("car unheard", "vehicles of words", "nothing known"):
        together = model.score(query, model.fold_in(TITLES))
        apart = np.concatenate([model.score(query, model.fold_in([title])) for title in TITLES])
        assert together == pytest.approx(apart, abs=1e-6)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(st.sampled_from(["car", "cat", "food", "vehicl", "new1", "new2"]), st.floats(0.1, 5), min_size=1)
)
def test_a_text_and_its_terms_are_one_query(models, weights):
    model = models["wtm"]
    documents = model.fold_in(TITLES)
    text = {term: float(round(weight) or 1) for term, weight in weights.items()}
    written = " ".join(term for term, n in text.items() for _ in range(int(n)))
    analysed = model.vocabulary.query(written)
    if {*model.vocabulary.analyzer.terms(written)} == {*text}:
        assert analysed.counts.tolist() == model.vocabulary.query(text).counts.tolist()
        assert model.score(written, documents) == pytest.approx(model.score(text, documents))


def test_sources_are_translations_and_topics(models):
    wtm = models["wtm"]
    (part,) = explained(wtm, "car", wtm.fold_in(["Vehicles near you"])).parts
    assert [source.name for source in part.sources] == ["vehicl"]
    assert part.literal == 0.0 < part.latent
    # What the sources say is what the model sums: P_wtm(q|d), of which (1-λ1)(1-λ2) counts.
    assert sum(source.weight for source in part.sources) * 0.7 * 0.5 == pytest.approx(part.latent)
    topics = models["bltm"]
    (part,) = explained(topics, "car", topics.fold_in(["Vehicles near you"])).parts
    assert part.sources[0].name.startswith("topic ")
    assert "vehicl" in part.sources[0].name
    lsa = models["opca"]
    (part,) = explained(lsa, "car", lsa.fold_in(["Vehicles near you"])).parts
    assert part.impact == pytest.approx(part.literal + part.latent)
    assert part.sources[0].name == "vehicl"


@pytest.mark.parametrize("name", ["wtm", "bltm", "bltm-pr-1v"])
def test_expansion_finds_words_of_titles(models, name):
    found = models[name].expansion("car", 6)
    assert "vehicl" in found
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert min(found.values()) > 0
    assert models[name].expansion("unheardof", 3) == {}


def test_models_without_a_latent_part_expand_nothing(models):
    assert models["um"].expansion("car", 5) == {}
