"""The public names. A change here is a change for everyone who uses the package."""

import importlib
import tomllib
from pathlib import Path

import pytest

import germane

PUBLIC = {
    "germane": [
        "Analyzer", "AsyncEngine", "Document", "Engine", "Field", "Filter", "GermaneError", "Hit", "LanguageModel",
        "Refiner", "SearchResult", "TextClassifier", "Topic",
    ],
    "germane.text": [
        "Analyzer", "AnyAnalyzer", "BulkAnalyzer", "CharacterNGrams", "Synonyms", "WordPairs",
        "analyzer_from_dict", "tokenize",
    ],
    "germane.lm": [
        "AbsoluteDiscounting", "BigramModel", "CollectionStats", "Dirichlet", "ExcessRatio", "JelinekMercer",
        "LanguageModel", "Laplace", "LeaveOneOut", "MLE", "Postings", "Size", "Smoothing", "Speller", "Truncation",
        "TwoStage", "cross_entropy", "d_cross_entropy", "entropy", "idf",
        "jensen_shannon", "kl", "optimal_lam", "optimal_mu", "perplexity", "robertson_idf",
        "symmetric_kl", "t_cross_entropy",
    ],
    "germane.lm.distributions": [
        "CountStatistics", "DCM", "DCMFit", "DCMStatistics", "DirichletDistribution", "DirichletFit", "LogProportions",
        "Multinomial", "MultipleBernoulli", "SmoothedDirichlet", "SmoothedDocuments", "TwoPoisson",
        "approximate_log_normaliser", "document_perplexity", "exact_log_normaliser", "fit_dcm", "fit_dirichlet",
    ],
    "germane.feedback": [
        "FEEDBACK_NAMES", "RM1", "RM3", "SD", "Consensus", "Drift", "Evidence", "Expansion", "FeedbackMethod",
        "Mixture", "Rocchio", "feedback_named", "truncation_bound",
    ],
    "germane.classify": [
        "BernoulliClassifier", "ClassStatistics", "DCMClassifier", "DirichletClassifier", "MultinomialClassifier",
        "MultinomialMixture", "OneVersusRestRanker", "SmoothedDirichletClassifier", "SmoothedDirichletMixture",
        "SmoothedLogRatio", "TextClassifier", "smoothed_svm",
    ],
    "germane.latent": [
        "BLTM", "CLLSA", "Combination", "FoldedDocuments", "LATENT_NAMES", "LSA", "OPCA", "Pair", "Pairs", "S2Net",
        "UM", "VSM", "WTM", "latent_named", "load", "save",
    ],
    "germane.refine": [
        "METHOD_NAMES", "Component", "Contributions", "RefineClassifier", "RefineMethod", "Estimate", "Refinement",
        "Refiner", "ResultList", "method_named", "predicted_set", "probabilities",
    ],
    "germane.refine.screening": [
        "Annotation", "Recommendation", "Remaining", "ReviewSession", "Screening", "Simulation", "StoppingRule",
        "Suggestion", "read_decisions", "simulate", "write_decisions",
    ],
    "germane.experiments": [
        "Experiment", "Figure", "Result", "System", "as_json", "as_markdown", "as_text", "expected_toml",
        "experiment_files", "published_experiments", "read_experiment", "run_experiment", "write_report",
    ],
    "germane.rank": [
        "BM25", "BM25F", "DCrossEntropy", "FieldMixture", "LikelihoodRatio", "MODEL_NAMES", "QueryLikelihood",
        "RankingModel", "SequentialDependence", "TfIdf", "keep_decoded",
        "model_named",
    ],
    "germane.stream": ["Arrival", "FollowedTopic", "Judged", "Processed", "Sighting", "Watch"],
    "germane.engine": [
        "AddReport", "AsyncEngine", "ByModel", "Candidates", "Engine", "ExplainRequest", "ExplainResponse",
        "Explanation", "FeedbackRequest", "Gathered", "Hit", "IndexStats", "Pipeline", "RERANKER_NAMES",
        "RankingRequest", "Reranker", "SearchRequest", "SearchResponse", "SearchResult", "TermPart", "reranker_named",
    ],
    "germane.server": ["Library", "Settings", "create_app"],
    "germane.clicks": [
        "ClickModel", "ClickRules", "ClickStats", "ClickStore", "EraseResponse", "ImportResponse", "ImportRules",
        "LogSimulation", "Observations", "Pair", "PairRules", "PairsReport", "PositionCurve", "SearchRules",
        "click_stats", "em_curve", "observe", "ratio_curve", "read_pairs", "simulate_log", "write_pairs",
    ],
    "germane.data": [
        "SkipReport", "Skipped", "data_root", "dataset_names", "dataset_path", "read_documents", "read_qrels",
        "read_run", "read_topics", "write_qrels", "write_run",
    ],
}  # fmt: skip
ERRORS = {
    "GermaneError", "InputError", "QueryError", "ParameterError", "IndexFormatError", "DamagedIndexError",
    "CutShortError", "DeadlineError", "DiskFullError", "IndexLockedError", "EngineClosedError", "DocumentExistsError",
    "UnknownDocumentError", "StorageError", "MissingExtraError", "RequestError",
}  # fmt: skip
MODELS = (
    "dirichlet",
    "jm",
    "twostage",
    "absolute",
    "adaptive",
    "bm25",
    "tfidf",
    "dce",
    "ratio",
    "dcm",
    "sd",
    "bigram",
    "bm25f",
    "lmf",
    "sdm",
    "sdm-lm",
)


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names(module: str) -> None:
    loaded = importlib.import_module(module)
    assert sorted(loaded.__all__) == sorted(PUBLIC[module])
    for name in loaded.__all__:
        assert getattr(loaded, name) is not None


def test_errors() -> None:
    errors = importlib.import_module("germane.errors")
    raised = {
        name for name, value in vars(errors).items() if isinstance(value, type) and value.__module__ == errors.__name__
    }
    assert raised == ERRORS
    assert all(issubclass(getattr(errors, name), germane.GermaneError) for name in raised)
    assert all(name in str(errors.__doc__) for name in raised)


def test_names_of_models() -> None:
    assert importlib.import_module("germane.rank").MODEL_NAMES == MODELS


def test_an_unknown_name() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Enigne'"):
        _ = germane.Enigne


def test_version_and_types() -> None:
    pyproject = Path(__file__).parents[1] / "pyproject.toml"
    assert f'version = "{germane.__version__}"' in pyproject.read_text()
    assert (Path(germane.__file__).parent / "py.typed").exists()


def test_every_file_that_is_no_module_is_installed() -> None:
    package = Path(germane.__file__).parent
    settings = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    installed = {
        path for glob in settings["tool"]["setuptools"]["package-data"]["germane"] for path in package.glob(glob)
    }
    there = {path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {path.name for path in there - installed if path.suffix != ".py"} == set()
