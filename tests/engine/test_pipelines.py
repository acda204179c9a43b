"""Pipelines give what the engine gives, and their operators what their table says, computed again from the parts."""

import itertools
from collections.abc import Mapping

import numpy as np
import pytest

from germane import Document, Engine, Topic
from germane.engine.pipelines import COMBINED_DEPTH, Pipeline, experiment, fuse, rerank
from germane.errors import InputError, ParameterError
from germane.evaluate import evaluate
from germane.evaluate.compare import compare
from germane.evaluate.significance import holm
from germane.feedback import RM3, SD, Consensus
from germane.rank.fusion import comb_mnz, reciprocal_rank
from germane.rank.scoring.priors import LengthPrior
from germane.text import Analyzer

QUERIES = [
    "word1 word2^3 word9",
    "word3 word4",
    "word7 -word1",
    "word2 year:>=2002",
    "nothing",
    "(word1 OR word5) word2",
]
TOPICS = [Topic(f"q{i}", f"word{i} word{i + 3} word{2 * i}") for i in range(1, 9)]


def made(n_segments: int, folder, analyzer: Analyzer | None = None) -> Engine:
    rng = np.random.default_rng(4)
    documents = [
        Document(
            f"d{i:03}",
            {
                "text": " ".join(f"word{int(w)}" for w in rng.zipf(1.4, rng.integers(2, 40)) % 50),
                "year": 2000 + i % 7,
            },
        )
        for i in range(240)
    ]
    with Engine.create(folder / "index", analyzer=analyzer) as engine:
        for i in range(n_segments):
            engine.add(documents[i::n_segments], threads=1)
        engine.delete(["d007", "d100"])
    return engine


@pytest.fixture(scope="module", params=[1, 3], ids=["one segment", "three segments"])
def engine(request, tmp_path_factory: pytest.TempPathFactory) -> Engine:
    return made(request.param, tmp_path_factory.mktemp("pipelines"))


def rows(result) -> list[tuple[str, float]]:
    return list(zip(result.ids, result.scores.tolist(), strict=True))


def by_score(scores: Mapping[str, float]) -> list[tuple[str, float]]:
    return sorted(scores.items(), key=lambda row: (-row[1], row[0]))


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("model", [None, "bm25", "dirichlet"])
def test_a_chain_is_a_search(engine: Engine, query: str, model: str | None) -> None:
    """To the last bit: the oracle is `Engine.search` with the same parts."""
    start = engine.pipeline(model)
    chains = {
        (): start,
        ("feedback",): start >> RM3(n_docs=5),
        ("rerank",): start >> rerank("jm", depth=20),
        ("feedback", "rerank"): start >> RM3(n_docs=5) >> rerank("jm", depth=20),
    }
    options = {"feedback": {"feedback": RM3(n_docs=5)}, "rerank": {"rerank": "jm", "depth": 20}}
    for parts, chain in chains.items():
        chosen = {name: value for part in parts for name, value in options[part].items()}
        for k in (1, 7, 60):
            assert rows(chain.search(query, k)) == rows(engine.search(query, k, model=model, **chosen)), (parts, k)
        assert rows((chain % 5).search(query, 60)) == rows(engine.search(query, 5, model=model, **chosen))


def test_the_expression_of_the_manual(engine: Engine) -> None:
    """% binds tighter than >>: the cut-off is that of the last step, and so of all."""
    chain = engine.pipeline("bm25") >> RM3() >> rerank("dirichlet", depth=50) % 9
    expected = engine.search("word1 word4", 9, model="bm25", feedback=RM3(), rerank="dirichlet", depth=50)
    result = chain.search("word1 word4", 100)
    assert rows(result) == rows(expected)
    assert result.feedback is not None
    assert result.feedback.moves == expected.feedback.moves
    assert not result.total_is_exact


def test_parameters_priors_and_methods_of_their_own(engine: Engine) -> None:
    priors = [LengthPrior(0.3)]
    chain = engine.pipeline("dirichlet", priors=priors, mu=20) >> Consensus() >> rerank("bm25")
    expected = engine.search(
        "word1 word4", model="dirichlet", mu=20, priors=priors, feedback=Consensus(), rerank="bm25"
    )
    assert rows(chain.search("word1 word4")) == rows(expected)
    own = engine.pipeline() >> Consensus()
    assert rows(own.search("word1 word4")) == rows(engine.search("word1 word4", feedback="consensus"))


@pytest.mark.parametrize("method", [RM3(n_docs=6), SD(n_docs=6), Consensus(n_docs=6)], ids=lambda m: type(m).__name__)
def test_feedback_from_any_ranking(engine: Engine, method) -> None:
    """A cut-off that keeps what feedback reads makes no difference, and feedback can follow feedback."""
    expected = rows(engine.search("word1 word4", 30, model="bm25", feedback=method))
    assert rows((engine.pipeline("bm25") % 50 >> method).search("word1 word4", 30)) == expected
    twice = engine.pipeline("bm25") >> method >> method
    assert len(twice.search("word1 word4", 30)) == 30


def test_rerankers_in_a_row_and_of_ones_own(engine: Engine) -> None:
    class Backwards:
        def rerank(self, query, candidates):
            return -candidates.scores

    first = engine.search("word1", 10, model="bm25")
    chain = engine.pipeline("bm25") % 10 >> Backwards()
    assert chain.search("word1", 10).ids == [doc for doc, _ in by_score({d: -s for d, s in rows(first)})]
    chain = engine.pipeline("bm25") % 10 >> (rerank(Backwards()) >> rerank("bm25"))
    assert rows(chain.search("word1", 10)) == rows(first)


def test_sum(engine: Engine) -> None:
    bm25, dirichlet = engine.pipeline("bm25"), engine.pipeline("dirichlet")
    a, b = (dict(rows(part.search("word1 word4", COMBINED_DEPTH))) for part in (bm25, dirichlet))
    assert min(b.values()) < 0 < min(a.values())
    expected = by_score({doc: 0.7 * a[doc] + 0.3 * b[doc] for doc in a})
    found = rows((0.7 * bm25 + dirichlet * 0.3).search("word1 word4", 50))
    assert [doc for doc, _ in found] == [doc for doc, _ in expected[:50]]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected[:50]])


def test_a_document_that_a_part_lacks_gains_nothing(engine: Engine) -> None:
    bm25, dirichlet = engine.pipeline("bm25"), engine.pipeline("dirichlet")
    a = dict(rows(bm25.search("word1 word4", COMBINED_DEPTH)))
    b = dict(rows(dirichlet.search("word1 word4", 5)))
    absent = min(b.values())
    assert absent < 0.0
    expected = by_score({doc: a[doc] + b.get(doc, absent) for doc in a})
    found = rows((bm25 + dirichlet % 5).search("word1 word4", 50))
    assert [doc for doc, _ in found] == [doc for doc, _ in expected[:50]]
    few = dict(rows(bm25.search("word1 word4", 5)))
    expected = by_score({doc: few.get(doc, 0.0) + b.get(doc, absent) for doc in few.keys() | b.keys()})
    assert rows((bm25 % 5 + dirichlet % 5).search("word1 word4", 50)) == expected


def test_sums_of_many_are_one_sum(engine: Engine) -> None:
    a, b, c = (engine.pipeline(name) % 20 for name in ("bm25", "tfidf", "jm"))
    left, right = (a + b) + c, a + (b + c)
    assert len(left.parts) == len(right.parts) == 3
    assert rows(left.search("word1 word4", 60)) == rows(right.search("word1 word4", 60))


def test_sets(engine: Engine) -> None:
    a, b = engine.pipeline("bm25") % 12, engine.pipeline("dirichlet", mu=1) % 12
    lists = [part.search("word1 word4 word9", 50).ids for part in (a, b)]
    ranks = [{doc: rank for rank, doc in enumerate(ids, 1)} for ids in lists]
    assert 0 < len(ranks[0].keys() & ranks[1].keys()) < 12
    best = {doc: 1 / min(rank.get(doc, 99) for rank in ranks) for doc in ranks[0].keys() | ranks[1].keys()}
    assert rows((a | b).search("word1 word4 word9", 50)) == by_score(best)
    both = {doc: score for doc, score in best.items() if all(doc in rank for rank in ranks)}
    assert rows((a & b).search("word1 word4 word9", 50)) == by_score(both)
    joined = (a ^ b).search("word1 word4 word9", 50)
    assert joined.ids == lists[0] + [doc for doc in lists[1] if doc not in ranks[0]]
    assert (np.diff(joined.scores) <= 0).all()
    assert joined.scores.tolist()[:12] == a.search("word1 word4 word9", 12).scores.tolist()
    candidates = (a | b) >> rerank("jm")
    whole = dict(rows(engine.search("word1 word4 word9", 500, model="jm")))
    assert rows(candidates.search("word1 word4 word9", 50)) == by_score({doc: whole[doc] for doc in best})


def test_fused(engine: Engine) -> None:
    parts = [engine.pipeline(name) for name in ("bm25", "dirichlet", "jm")]
    lists = [rows(part.search("word1 word4", COMBINED_DEPTH)) for part in parts]
    assert rows(fuse(*parts).search("word1 word4", 20)) == reciprocal_rank(lists)[:20]
    weighted = fuse(*parts, method="combmnz", normalise="z-score", weights=[3, 1, 0])
    assert rows(weighted.search("word1 word4", 20)) == comb_mnz(lists, "z-score", weights=[3, 1, 0])[:20]


def test_two_indexes_of_the_same_documents(engine: Engine, tmp_path_factory) -> None:
    other = made(2, tmp_path_factory.mktemp("other"), Analyzer("none"))
    a, b = engine.pipeline("bm25"), other.pipeline("bm25")
    lists = [rows(part.search("word1 word4", COMBINED_DEPTH)) for part in (a, b)]
    assert rows(fuse(a, b).search("word1 word4", 20)) == reciprocal_rank(lists)[:20]
    with Engine.create(":memory:") as third:
        third.add([{"id": "elsewhere", "text": "word1"}])
        with pytest.raises(InputError, match=r"'elsewhere' is not in .*, the index of the first pipeline"):
            (a + third.pipeline("bm25")).search("word1")


# -- runs --------------------------------------------------------------------------------------------------------------

QRELS = {f"q{i}": {f"d{j:03}": j % 3 for j in range(i, 200, i + 2)} for i in range(1, 7)}


def test_a_run_is_a_batch(engine: Engine) -> None:
    chain = engine.pipeline("bm25") >> RM3() >> rerank("jm", depth=30)
    expected = {
        topic.id: dict(rows(result))
        for topic, result in engine.batch(TOPICS, 40, model="bm25", feedback=RM3(), rerank="jm", depth=30)
    }
    for threads in (None, 1, 3):
        run = chain.run(TOPICS, 40, threads=threads)
        assert run == expected
        assert [*run] == [topic.id for topic in TOPICS]
        assert [*run["q1"]] == [*expected["q1"]], "best first"
    assert chain.run({topic.id: topic.text for topic in TOPICS}, 40) == expected
    assert next(run.rows())[:3] == ("q1", next(iter(expected["q1"])), 1)
    plain = engine.pipeline("bm25").run([Topic("q", "word1 -word2 year:2003")], 300)
    marked = engine.pipeline("bm25").run([Topic("q", "word1 -word2 year:2003")], 300, syntax=True)
    assert len(plain["q"]) > len(marked["q"]) > 0


def test_evaluate(engine: Engine) -> None:
    chain = engine.pipeline("bm25")
    found = chain.evaluate(TOPICS, QRELS, "map, P.5,10")
    expected = evaluate(chain.run(TOPICS), QRELS, ["map", "P.5", "P.10"])
    assert found.overall == expected.overall
    assert found.query_ids == tuple(QRELS)
    with pytest.raises(InputError, match="no query of the run is judged"):
        chain.evaluate([Topic("other", "word1")], QRELS)


def test_experiment(engine: Engine) -> None:
    pipelines: dict[str, Pipeline] = {
        "bm25": engine.pipeline("bm25"),
        "rm3": engine.pipeline("bm25") >> RM3(),
        "jm": engine.pipeline("jm"),
    }
    found = experiment(pipelines, TOPICS, QRELS, ["AP", "nDCG@10"], test="wilcoxon")
    runs = {name: one.run(TOPICS) for name, one in pipelines.items()}
    assert found.names == ("bm25", "rm3", "jm")
    for measure in ("AP", "nDCG@10"):
        pairs = list(itertools.combinations(pipelines, 2))
        alone = [compare(runs[a], runs[b], QRELS, [measure])[0] for a, b in pairs]
        p_values = [one.tests["wilcoxon"].p_value for one in alone]
        assert [(pair.a, pair.b) for pair in found.pairs[measure]] == pairs
        assert [pair.p_value for pair in found.pairs[measure]] == p_values
        assert [pair.p_holm for pair in found.pairs[measure]] == holm(p_values).tolist()
        assert found.differences(measure)[0, 1] == pytest.approx(alone[0].effect.mean)
    against = experiment(pipelines, TOPICS, QRELS, baseline="bm25")
    assert [(pair.a, pair.b) for pair in against.pairs["AP"]] == [("rm3", "bm25"), ("jm", "bm25")]
    assert "bm25 (baseline)" in str(against)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda p: p % 0, "cut-off .* at least 1, not 0"),
        (lambda p: p % 2.5, "cut-off .* whole number"),
        (lambda p: -1 * p, "factor .* greater than 0"),
        (lambda p: p >> "rm3", "'rm3' cannot follow a pipeline"),
        (lambda p: p >> RM3, r"RM3 is a class: write RM3\(\)"),
        (lambda p: p >> p, "cannot follow a pipeline"),
        (lambda p: p + 3, r"can be combined \(\+\) with a pipeline, not with 3"),
        (lambda p: p | "b", r"can be combined \(\|\)"),
        (lambda p: p >> rerank("bm52"), "no re-ranker 'bm52'"),
        (lambda p: p >> rerank("bm25", depth=0), "depth must be at least 1"),
        (lambda p: p.search("word1", 0), "k must be"),
        (lambda p: p.run(TOPICS, 0), "k must be"),
        (lambda p: p.run(TOPICS, threads=0), "threads must be"),
        (lambda p: fuse(), "no pipeline to fuse"),
        (lambda p: fuse(p, 3), "3 is none"),
        (lambda p: fuse(p, p, method="borda"), "no fusion 'borda'"),
        (lambda p: fuse(p, p, weights=[1]), "2 rankings need 2 weights"),
        (lambda p: experiment({}, TOPICS, QRELS), "a run at least"),
        (lambda p: experiment(p, TOPICS, QRELS, baseline="pipeline"), "two runs at least"),
        (lambda p: experiment([p, "bm25"], TOPICS, QRELS), "'2' is no pipeline but 'bm25'"),
        (lambda p: experiment({"a": p, "b": p}, TOPICS, QRELS, baseline="c"), "'c' is none of the runs: a, b"),
        (lambda p: experiment({"a": p, "b": p}, TOPICS, QRELS, test="z"), "no test 'z'"),
    ],
)
def test_bad_input(engine: Engine, make, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make(engine.pipeline("bm25"))


def test_an_experiment_of_one_pipeline_or_a_list(engine: Engine) -> None:
    bm25, jm = engine.pipeline("bm25"), engine.pipeline("jm")
    named = experiment({"bm25": bm25, "jm": jm}, TOPICS, QRELS, ["AP"])
    alone = experiment(bm25, TOPICS, QRELS, ["AP"])
    assert (alone.names, alone.pairs) == (("pipeline",), {"AP": ()})
    assert alone.mean("pipeline", "AP") == named.mean("bm25", "AP")
    assert "pipeline" in str(alone)
    assert "pipeline" in alone.to_markdown()
    listed = experiment([bm25, jm], TOPICS, QRELS, ["AP"])
    assert listed.names == ("1", "2")
    assert [listed.mean(name, "AP") for name in listed.names] == [named.mean(name, "AP") for name in named.names]


def test_what_is_no_model() -> None:
    with Engine.create(":memory:") as empty:
        with pytest.raises(ParameterError, match="bm52"):
            empty.pipeline("bm52")
        assert empty.pipeline("bm25").search("x").ids == []
        assert (empty.pipeline("bm25") + empty.pipeline("jm") >> RM3() >> rerank("jm")).run({"q": "x"}) == {"q": {}}
