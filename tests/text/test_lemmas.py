"""Base forms of English by rule: worked examples of every rule, and what must stay as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from germane.errors import ParameterError
from germane.text import Analyzer, BulkAnalyzer
from germane.text.lemmas import lemma
from germane.text.stemming import stemmer, stemmer_names

EXAMPLES = """
study: studies studied studying
analysis: analyses
hypothesis: hypotheses
metastasis: metastases
disease: diseases
virus: viruses
class: classes
patch: patches
box: boxes
hero: heroes
vertebra: vertebrae
cause: causes caused causing
mouse: mice
woman: women
criterion: criteria
diagnosis: diagnoses
hope: hopes hoped hoping
hop: hopped hopping
control: controls controlled controlling
call: calls called calling
treat: treats treated treating
activate: activates activated activating
evaluate: evaluated evaluating
limit: limited
compute: computed computing
require: required
repair: repaired
compare: compared
appear: appeared
determine: determined
explain: explained
assume: assumed
provide: provided
avoid: avoided
include: includes included including
describe: described
change: changed changing
manage: managed
enable: enabled
reduce: reduced
increase: increased
screen: screening
occur: occurred
refer: referred
take: took taken taking
use: uses used using
"""
PAIRS = [
    (form, base)
    for base, _, forms in (line.partition(":") for line in EXAMPLES.strip().splitlines())
    for form in [base, *forms.split()]
]
UNCHANGED = "diabetes species series physics virus basis bring string thing bed need during gas loss 2021 x1s the été"


@pytest.mark.parametrize(("form", "base"), PAIRS)
def test_examples(form: str, base: str) -> None:
    assert lemma(form) == base


@pytest.mark.parametrize("word", UNCHANGED.split())
def test_unchanged(word: str) -> None:
    assert lemma(word) == word


@given(st.text(max_size=20))
def test_any_token_has_a_form(token: str) -> None:
    assert bool(lemma(token)) == bool(token)


def test_it_is_a_stemmer() -> None:
    assert "lemma" in stemmer_names()
    assert stemmer("lemma")(["studies", "mice"]) == ["study", "mouse"]
    analyzer = Analyzer("lemma")
    assert analyzer.terms("The studies of mice") == ["study", "mouse"]
    assert analyzer.term_of("mice") == "mouse"
    assert Analyzer.from_dict(analyzer.to_dict()) == analyzer
    assert analyzer.fingerprint != Analyzer().fingerprint
    bulk = BulkAnalyzer(analyzer)
    bulk.analyze(["The studies of mice", "studies"])
    assert (bulk.terms, bulk.surfaces()[0]) == (["study", "mouse"], ["studies", "mice"])
    with pytest.raises(ParameterError, match="none, lemma"):
        Analyzer("lemmas")
