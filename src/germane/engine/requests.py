"""What may be asked of the engine, declared once: from here Python, the command line, HTTP and assistants have it.

Values are plain: every name a string, every number a number or "auto". `engine.resolving` turns their words into
models, priors, methods and marks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from germane.declare import CLI, HTTP, MCP, Field, Rule
from germane.engine.registry import PROMOTED, RERANKER_NAMES
from germane.engine.result_groups import GROUPED
from germane.feedback.registry import DEFAULT_FEEDBACK, METHODS
from germane.lazy import load
from germane.rank.registry import DEFAULT_MODEL, FIELD_MODELS, MODEL_TITLES, MODELS
from germane.wording import titled

if TYPE_CHECKING:
    from germane.engine.filtering import AnyFilter

AUTO: Literal["auto"] = "auto"
"""The value of a parameter that the collection itself shall tell."""

Setting: TypeAlias = float | Literal["auto"]

RANKING, FEEDBACK, PAGE = "Ranking", "Feedback", "Page"
"""The headings that fields stand under."""
NOT_MCP = {MCP: ""}
"""Not offered to assistants: no answer of theirs shows it, or another tool does it (`refine`)."""
ONLY_TYPED = {HTTP: "", MCP: ""}
NOWHERE = {CLI: "", HTTP: "", MCP: ""}
TITLED = titled(MODEL_TITLES)
USUAL_TERMS = 100
"""Words that feedback keeps at most unless a number is named."""
NUMBERS = tuple(
    Field(name, help, "setting", unit="" if name in ("mu", "lam") else "number", group=RANKING)
    for name, help in {
        "mu": "Dirichlet pseudo-counts; auto: learnt from the collection.",
        "lam": "Weight of the document in linear smoothing, between 0 and 1; auto: learnt.",
        "delta": "Absolute discount, between 0 and 1.",
        "k1": "BM25's saturation; of adaptive, 0: that of the collection.",
        "b": "BM25's length normalisation.",
        "ordered": "Share of two words side by side in the score of sdm and sdm-lm.",
        "unordered": "Share of two words near each other in the score of sdm and sdm-lm.",
    }.items()
)
"""Parameters of ranking models that are fields of their own; the bounds are those of the models."""


def served(most: float, tool: float | None = None) -> dict[str, float]:
    """Return the largest value that strangers may ask for, and what an assistant may where that is less."""
    return {HTTP: most, MCP: most if tool is None else tool}


TEXT = served(200)
QUERY = Field("query", "Words, or the query language: phrases in quotes, AND, OR, NOT, field:value.",
              limits=served(2_000), spelled={CLI: "WORDS", HTTP: "q"})  # fmt: skip
SYNTAX = Field("syntax", "Read the query in the query language, and not as plain text.", group=RANKING,
               off="Read the query as plain text, without query language.", spelled={CLI: "--plain"})  # fmt: skip
RERANK = Field("rerank", "Score the first results again: by a learnt model of the index (clicks, clicks@3), the file "
               f"of a latent model, or a ranking model: {', '.join(RERANKER_NAMES)}; over HTTP by a learnt model. "
               "none: leave out the learnt model that was promoted.",
               none="none", unit="name", group=RANKING, limits=TEXT, spelled=NOT_MCP,
               cost=lambda request: 100.0 * (request.rerank not in (None, PROMOTED)))  # fmt: skip
"""Strangers name learnt models alone (`server.listing.learnt_model`): a path would tell them whether it is there."""


@dataclass(frozen=True, slots=True)
class RankingRequest:
    """A model by name with its parameters, and priors as text (`priors.prior_named`); by default the default.

    `weights`: those of text fields, for the models that take them; empty: the model's own.
    """

    model: Annotated[str | None, Field(
        "model", f"One of {TITLED}; with feedback, for both rankings. Unless named {DEFAULT_MODEL}, or feedback's own.",
        choices=MODELS, noun="ranking model", unit="name", group=RANKING)] = None  # fmt: skip
    parameters: Annotated[Mapping[str, Setting], Field(
        "parameters", "Any parameter of the method, as in lam=0.1; repeatable. germane methods NAME lists them.",
        "pairs", unit="name=value", spelled={CLI: "--set", **ONLY_TYPED}, members=NUMBERS)] = field(
        default_factory=dict)  # fmt: skip
    priors: Annotated[tuple[str, ...], Field(
        "priors", "length, field:NAME or fresh:FIELD:DAYS (half-life), each with an exponent if wanted (length^0.3); "
        "repeatable.", unit="prior", group=RANKING, items=4, limits=TEXT, cost=30.0,
        spelled={CLI: "--prior", HTTP: "prior", MCP: ""})] = ()  # fmt: skip
    weights: Annotated[Mapping[str, float], Field(
        "weights", f"How much a word of a text field counts, as in title=3, for {' and '.join(FIELD_MODELS)}; "
        "repeatable. Fields not named count 1.", "pairs", unit="field=number", group=RANKING, items=50,
        reader="germane.engine.filtering.weights_typed",
        spelled={CLI: "--field-weight", HTTP: "field_weight", MCP: ""})] = field(default_factory=dict)  # fmt: skip

    @property
    def names_model(self) -> bool:
        """Whether it is a ranking of its own, and not the one that searches use by default."""
        return self.model is not None or bool(self.parameters or self.weights)


@dataclass(frozen=True, slots=True)
class FeedbackRequest:
    """A feedback method by name with its parameters, and what a person marked. Marks alone imply the default method.

    A parameter that is None is none (`n_terms`: all words), and not the default.
    """

    method: Annotated[str | None, Field(
        "feedback", f"Learn from the first results and rank again: {', '.join(METHODS)}.", choices=METHODS,
        noun="feedback method", unit="name", group=FEEDBACK, spelled=NOT_MCP,
        cost=lambda request: 100.0 * request.feedback.wanted)] = None  # fmt: skip
    parameters: Annotated[Mapping[str, Any], Field("method_parameters", "", "pairs", spelled=NOWHERE, members=(
        Field("n_docs", "First results taken for relevant.", "integer", least=0, unit="results", group=FEEDBACK,
              limits=served(100), spelled={CLI: "--feedback-docs", MCP: ""}),
        Field("n_terms", "Words kept of what is learnt.", "integer", least=1, unit="words", group=FEEDBACK,
              limits=served(1_000), spelled={CLI: "--feedback-terms", MCP: ""}),
        Field("query_weight", "Share of the query as typed in the new one, between 0 and 1 (consensus: of a query of "
              "one word).", "number", least=0, most=1, group=FEEDBACK, spelled=NOT_MCP),
        Field("guard", "Fall back to the query where the documents to learn from disagree.", "boolean", group=FEEDBACK,
              spelled=NOT_MCP),
    ))] = field(default_factory=dict)  # fmt: skip
    relevant: Annotated[tuple[str, ...], Field(
        "relevant", "Documents that are relevant, to learn from; repeatable.", "id", unit="id,id", group=FEEDBACK,
        items=100, limits=served(500), cost=1.0, spelled=NOT_MCP)] = ()  # fmt: skip
    not_relevant: Annotated[tuple[str, ...], Field(
        "not_relevant", "Documents that are not relevant, to learn against; repeatable.", "id", unit="id,id",
        group=FEEDBACK, items=100, limits=served(500), cost=1.0, spelled={CLI: "--not", MCP: ""})] = ()  # fmt: skip

    @property
    def wanted(self) -> bool:
        """Whether the search is to learn at all."""
        return bool(self.method is not None or self.relevant or self.not_relevant)

    @property
    def name(self) -> str:
        """The method's name."""
        return DEFAULT_FEEDBACK if self.method is None else self.method


def _moves_cost(request: "SearchRequest") -> float:
    """Return the cost of telling why results moved: each result is scored by each word of the new query."""
    learnt = request.feedback.parameters.get("n_terms") or USUAL_TERMS
    deep = (request.offset + request.k) * (1 if request.group_by is None else 4)
    return 0.025 * deep * (learnt + len(request.query.split()))


MARKED = ("feedback", "relevant", "not_relevant")
UNSCORED = Rule(("sort",), "{0} and {1} do not go together: the order by a field has no scores",
                beside=("min_score", "marks", *MARKED, "rerank"))  # fmt: skip
"""Checked where the engine searches too, for callers that make no request."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The best k documents for a query. `rerank`: score the first `depth` again, by the model that was promoted unless
    another or None is named. `explain`: with what feedback did.

    `filter`: a value, an expression or a text; `offset`, `sort`, `group_by`, `min_score`: see `Engine.search`.
    `facets`: fields whose values are counted among all documents found. `snippets`: with the piece of each document
    that shows why it was found. `groups`: put the first results, `GROUPED` or those asked for if they reach further,
    in that many groups.
    """

    RULES: ClassVar[tuple[Rule, ...]] = (
        UNSCORED,
        Rule((*(each.name for each in NUMBERS), "weights"), beside=MARKED, needs=("model",),
             sentence="{0} belongs to a ranking model; with feedback, name that with {1}"),
        Rule(("n_docs", "n_terms", "query_weight", "guard", "method_parameters"), needs=MARKED,
             sentence="{0} belongs to feedback; name a method with {1}, or documents with {2} or {3}"),
        Rule(("explain",), needs=MARKED, sentence="{0} shows what feedback did: choose a method with {1} "
             f"({', '.join(METHODS)}), or mark documents with {{2}} or {{3}}; why one document has its score is a "
             "request of its own"),
    )  # fmt: skip

    query: Annotated[str, QUERY]
    k: Annotated[int, Field("k", "How many documents to find.", least=1, unit="k", limits=served(1_000, tool=50),
                            cost=0.15, spelled={CLI: "-k"})] = 10  # fmt: skip
    ranking: RankingRequest = RankingRequest()
    feedback: FeedbackRequest = FeedbackRequest()
    rerank: Annotated[str | None, RERANK] = PROMOTED
    depth: Annotated[int | None, Field(
        "depth", "How many results are scored again, 1000 unless given; the rest follow in their order.", least=1,
        unit="results", group=RANKING, limits=served(1_000), spelled=NOT_MCP)] = None  # fmt: skip
    syntax: Annotated[bool, SYNTAX] = True
    explain: Annotated[bool, Field(
        "explain", "Show the words that feedback found, the documents they are from, and what moved.", group=FEEDBACK,
        spelled=NOT_MCP, cost=lambda request: request.explain * _moves_cost(request))] = False  # fmt: skip
    offset: Annotated[int, Field("offset", "Leave out the first results.", least=0, unit="results", group=PAGE,
                                 limits=served(10_000), cost=0.005)] = 0  # fmt: skip
    sort: Annotated[str | None, Field("sort", "Order by a field instead of the score; -FIELD: the largest first.",
                                      unit="field", group=PAGE, limits=TEXT, cost=30.0)] = None  # fmt: skip
    group_by: Annotated[str | None, Field(
        "group_by", "Of documents with the same value of the field, the best alone.", unit="field", group=PAGE,
        limits=TEXT, cost=200.0, spelled={CLI: "--group"})] = None  # fmt: skip
    min_score: Annotated[float | None, Field(
        "min_score", "No result below this score.", unit="score", group=PAGE)] = None  # fmt: skip
    facets: Annotated[tuple[str, ...], Field(
        "facets", "Count the values of a field among all documents found; repeatable.", unit="field", group=PAGE,
        items=10, limits=TEXT, cost=10.0, spelled={CLI: "--facet", HTTP: "facet", MCP: ""})] = ()  # fmt: skip
    snippets: Annotated[bool, Field(
        "snippets", "In JSON: with the piece of each text that shows best why it was found.", group=PAGE,
        spelled=NOT_MCP, cost=lambda request: 0.9 * request.k * request.snippets)] = False  # fmt: skip
    groups: Annotated[int | None, Field(
        "groups", f"Put the first {GROUPED} results, or k, in this many groups of alike ones, each named by words.",
        least=1, unit="n", group=PAGE, limits=served(50), spelled=NOT_MCP,
        cost=lambda request: 0.025 * (request.groups or 0) * max(GROUPED, request.offset + request.k),
    )] = None  # fmt: skip
    filter: Annotated["AnyFilter | None", Field(
        "filter", "Only documents that pass: fields and their values as JSON, as in "
        '{"topic": "energy", "year": {">=": 2010}}, or a query, as in year:2010.. .', "filter", unit="filter",
        group=PAGE, items=50, reader="germane.engine.filtering.last_filter_typed")] = None  # fmt: skip

    def __post_init__(self) -> None:
        if self.filter is not None and not isinstance(self.filter, str):
            object.__setattr__(self, "filter", load("germane.rank.query.filter_values.Filter").of(self.filter))


@dataclass(frozen=True, slots=True)
class ExplainRequest:
    """Why a document has its score. `probabilities`: with those of the words, under a language model. `rerank`: by a
    second stage, as in a `SearchRequest`."""

    RULES: ClassVar[tuple[Rule, ...]] = ()

    query: Annotated[str, QUERY]
    doc_id: Annotated[str, Field("doc_id", "The document's id.", "id", limits=served(500),
                                 spelled={CLI: "ID", HTTP: "id", MCP: "id"})]  # fmt: skip
    ranking: RankingRequest = RankingRequest()
    syntax: Annotated[bool, SYNTAX] = True
    probabilities: Annotated[bool, Field(
        "probabilities", "Show P(w|d), P(w|C) and the smoothed θ_D(w) of each word.", spelled=NOT_MCP,
    )] = False  # fmt: skip
    rerank: Annotated[str | None, RERANK] = PROMOTED
