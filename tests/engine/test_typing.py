"""What mypy says of a user's program: `make` checks this file strictly, and an error here that it misses is one too.

Each `type: ignore` names the mistake that mypy finds in its line; where it finds none, it complains of the comment.
"""

from typing import assert_type

import pytest

from germane import AsyncEngine, Engine, Field, Filter, Hit, SearchResult
from germane.errors import GermaneError
from germane.rank.models.parameters import ModelParameters
from germane.rank.registry import MODELS


def test_keywords_are_those_of_the_models() -> None:
    assert ModelParameters.__annotations__.keys() == {name for _, defaults in MODELS.values() for name in defaults}


def test_a_program_that_is_right(library: Engine) -> None:
    found = library.search("heart", 5, model="bm25", k1=1.2, b=0.5, filter={"year": {">=": 2001}})
    assert_type(found, SearchResult)
    assert_type(library.count("heart", filter=Field("year") >= 2001), int)
    assert_type(Field("year") == 2001, Filter)
    assert_type(list(found), list[Hit])
    for hit in found:
        year = hit.fields["year"]
        assert isinstance(year, int)
        assert year >= 2001
    assert library.explain("heart", "1", model="dirichlet", mu=100).score < 0


def test_programs_that_are_wrong(library: Engine) -> None:
    with pytest.raises(GermaneError):
        library.search("heart", model="bm25", k_1=1.2)  # type: ignore[call-arg]
    with pytest.raises(GermaneError):
        library.search("heart", model="bm25", k1="large")  # type: ignore[arg-type]
    with pytest.raises(GermaneError):
        library.search("heart", filter=7)  # type: ignore[arg-type]
    with pytest.raises(GermaneError):
        library.pipeline("bm25", mu_=1.2)  # type: ignore[call-arg]
    with pytest.raises(GermaneError):
        library.explain("heart", "1", muu=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        library.count("heart", filters={"year": 2001})  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        library.search("heart")[0].fields["title"] + 1  # type: ignore[operator]


async def of_the_asynchronous_engine(engine: AsyncEngine) -> None:
    assert_type(await engine.search("heart", filter={"year": 2001}, k1=1.0), SearchResult)
    await engine.search("heart", k_1=1.0)  # type: ignore[call-arg]
