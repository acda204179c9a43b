"""germane classify train, predict and evaluate, as typed."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

WORDS = {
    "politics": ["vote law minister", "election party vote", "parliament tax law", "minister party tax", "law vote"],
    "science": ["atom star energy", "physics quantum light", "planet star light", "energy atom quantum", "star atom"],
    "sport": ["goal match team", "player score ball", "league coach goal", "team ball league", "match goal"],
}
ROWS = [
    (f"d{i}{n}", f"{text} said {text.split()[0]}", label)
    for i, label in enumerate(WORDS)
    for n, text in enumerate(WORDS[label] * 2)
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The rows as CSV, as JSON Lines with lists of labels, and as a folder for each class; we stand beside them."""
    monkeypatch.chdir(tmp_path)
    lines = ["key,Text,topic", *(",".join(row) for row in ROWS)]
    (tmp_path / "news.csv").write_text("\n".join(lines), encoding="utf-8")
    with open(tmp_path / "news.jsonl", "w", encoding="utf-8") as file:
        for doc_id, text, label in ROWS:
            labels = [label, "law"] if "law" in text else [label]
            file.write(json.dumps({"id": doc_id, "title": text, "topics": labels}) + "\n")
    for doc_id, text, label in ROWS:
        (tmp_path / "news" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "news" / label / f"{doc_id}.txt").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def trained(files, run):
    assert run("classify", "train", "news.csv", "--label", "topic", "--into", "news.germane").exit_code == 0
    return files


def lines_of(result):
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


def test_train_says_what_it_chose(files, run):
    result = run("classify", "train", "news.csv", "--label", "topic", "--into", "a.germane", "--model", "multinomial")
    assert result.exit_code == 0
    assert "delta" in result.stdout
    assert "validation accuracy" in result.stdout
    assert "delta=0.01: " in result.stderr
    assert result.stderr.endswith("written: a.germane\n")
    found = json.loads(run("classify", "train", "news.csv", "--label", "topic", "--no-tune", "--json").stdout)
    assert (found["model"], found["documents"], found["sizes"]["sport"]) == ("auto", 30, 10)
    assert found["parameters"] == found["trials"][-1]["parameters"]
    assert found["validation"] == found["trials"][-1]["value"]
    shown = run("classify", "train", "news.csv", "--label", "topic", "--into", "pool.germane").stdout
    assert "The pool" in shown
    assert "tfidf-svm, words and pairs" in shown
    assert "nothing was kept" in run("classify", "train", "news.csv", "--label", "topic", "--no-tune").stderr


def test_predict(trained, run):
    new = trained / "new.csv"
    new.write_text("id,text\n1,goal of the team\n2,a tax law\n3,\n", encoding="utf-8")
    result = run("classify", "predict", "news.germane", new, "--tsv")
    assert lines_of(result)[:3] == ["id\tlabel", "1\tsport", "2\tpolitics"]
    assert "1 document without a known word: labelled by how common the classes were" in result.stderr
    header, first, *_ = lines_of(run("classify", "predict", "news.germane", new, "--tsv", "--proba"))
    assert header.split("\t") == ["id", "label", "politics", "science", "sport"]
    assert sum(map(float, first.split("\t")[2:])) == pytest.approx(1)
    result = run("classify", "predict", "news.germane", new, "--json", "--proba", "--explain", "--top", 1)
    objects = [json.loads(line) for line in lines_of(result)]
    assert [o["label"] for o in objects[:2]] == ["sport", "politics"]
    assert objects[0]["probabilities"]["sport"] > 0.5
    best = objects[0]["explanation"][0]
    total = best["constant"] + best["other_words"] + sum(word["amount"] for word in best["words"])
    assert (best["label"], len(best["words"])) == ("sport", 1)
    assert total == pytest.approx(best["score"])
    shown = run("classify", "predict", "news.germane", new, "--proba").stdout
    assert "sport" in shown
    assert "%" in shown
    explained = run("classify", "predict", "news.germane", new, "--explain").stdout
    assert "* sport: score" in explained
    assert "for: " in explained


def test_evaluate(trained, run):
    words = ("classify", "evaluate", "news.germane", "news.csv", "--label", "topic")
    result = run(*words, "--confusion", "c.png", "--save-predictions", "p.tsv")
    assert result.exit_code == 0, result.output
    assert "macro BEP" in result.stdout
    assert (trained / "c.png").read_bytes().startswith(b"\x89PNG")
    assert (trained / "p.tsv").read_text().splitlines()[:2] == ["id\tlabel", "news.csv:1\tpolitics"]
    found = json.loads(run(*words, "--json").stdout)
    assert found["accuracy"] == found["micro_f1"] == 1.0
    assert [row["label"] for row in found["classes"]] == sorted(WORDS)
    rows = lines_of(run(*words, "--tsv"))
    assert rows[0].split("\t") == ["class", "documents", "predicted", "precision", "recall", "f1", "bep"]
    assert rows[1].split("\t")[:3] == ["politics", "10", "10"]


def test_against_a_model_and_against_predictions(trained, run):
    words = ("classify", "evaluate", "news.germane", "news.csv", "--label", "topic", "--json")
    run("classify", "train", "news.csv", "--label", "topic", "--model", "svm", "--into", "svm.germane", "--no-tune")
    same = json.loads(run(*words, "--against", "svm.germane").stdout)["against"]
    assert (same["wins"], same["losses"], same["tests"]["sign"]["p_value"]) == (0, 0, 1.0)
    wrong = ["id\tlabel", *(f"news.csv:{i}\t{'sport' if i <= 6 else label}" for i, (*_, label) in enumerate(ROWS, 1))]
    (trained / "wrong.tsv").write_text("\n".join(wrong), encoding="utf-8")
    found = json.loads(run(*words, "--against", "wrong.tsv").stdout)["against"]
    assert (found["wins"], found["losses"]) == (6, 0)
    assert found["tests"]["sign"]["p_value"] == pytest.approx(2 / 2**6)  # McNemar's exact test
    table = run(*words[:-1], "--against", "wrong.tsv").stdout
    assert "McNemar" in table
    (trained / "few.tsv").write_text("\n".join(wrong[:4]), encoding="utf-8")
    assert "27 documents of 30 have no prediction" in run(*words, "--against", "few.tsv").stderr


def test_several_labels(files, run):
    train = ("classify", "train", "news.jsonl", "--label", "topics", "--multi-label", "--into", "several.germane")
    assert "validation mean best F1" in run(*train).stdout
    result = run("classify", "predict", "several.germane", "news.jsonl", "--tsv")
    rows = dict(line.split("\t") for line in lines_of(result)[1:])
    assert rows["d00"].split(";") == ["law", "politics"]
    words = ("classify", "evaluate", "several.germane", "news.jsonl", "--label", "topics")
    found = json.loads(run(*words, "--json", "--save-predictions", "p.jsonl").stdout)
    assert {row["label"] for row in found["classes"]} == {"law", *WORDS}
    assert found["macro_bep"] > 0.7
    again = json.loads(run(*words, "--json", "--against", "p.jsonl").stdout)["against"]
    assert (again["wins"], again["losses"]) == (0, 0)
    assert json.loads(lines_of(run("classify", "predict", "several.germane", "news.jsonl", "--json"))[0])["labels"]
    result = run(*words, "--confusion", "c.png")
    assert (result.exit_code, "no confusion matrix" in result.stderr) == (2, True)


def test_labels_with_a_separator(files, run):
    lines = ["text\ttags", *(f"{text}\t{label}|news" for _, text, label in ROWS[:-1]), "ball\tsport"]
    (files / "tags.tsv").write_text("\n".join(lines), encoding="utf-8")
    words = ("--label", "tags", "--multi-label", "--separator", "|", "--json", "--no-tune")
    assert json.loads(run("classify", "train", "tags.tsv", *words).stdout)["sizes"]["news"] == 29


def test_a_folder_for_each_class(files, run):
    assert run("classify", "train", "news", "--folder-labels", "--into", "folder.germane").exit_code == 0
    found = run("classify", "evaluate", "folder.germane", "news", "--folder-labels", "--json")
    assert json.loads(found.stdout)["accuracy"] == 1.0
    rows = lines_of(run("classify", "predict", "folder.germane", "news", "--tsv"))
    assert rows[1] == "politics/d00.txt\tpolitics"


def test_character_ngrams(files, run, fails):
    train = ["classify", "train", "news.csv", "--label", "topic"]
    assert run(*train, "--ngrams", "1-3", "--no-tune", "--into", "c.germane").exit_code == 0
    told = json.loads(lines_of(run("classify", "predict", "c.germane", "news.csv", "--explain", "--json"))[0])
    assert {len(word["term"]) for part in told["explanation"] for word in part["words"]} <= {1, 2, 3}
    (files / "new.csv").write_text("id,text\n1,votes\n", encoding="utf-8")  # no word of the training data
    assert lines_of(run("classify", "predict", "c.germane", "new.csv", "--tsv"))[1] == "1\tpolitics"
    assert "such as 1-3, not '3'" in fails(*train, "--ngrams", "3")
    assert "--ngrams 3-1: n must lie between" in fails(*train, "--ngrams", "3-1")
    assert "leave --stemmer and --stopwords out" in fails(*train, "--ngrams", "1-3", "--stemmer", "german")


def test_a_seed_out_of_range(files, run):
    result = run("classify", "train", "news.csv", "--label", "topic", "--seed", "-1")
    assert (result.exit_code, "'--seed'" in result.stderr) == (2, True)


def test_columns_are_remembered(files, run):
    words = ("classify", "train", "news.csv", "--label", "topic", "--text", "key", "--text", "Text", "--no-tune")
    assert run(*words, "--into", "own.germane").exit_code == 0
    (files / "plain.csv").write_text("id,text\n1,goal\n", encoding="utf-8")
    result = run("classify", "predict", "own.germane", "plain.csv")
    assert (result.exit_code, "no column 'key' for --text; found: 'text'" in result.stderr) == (2, True)
    assert run("classify", "predict", "own.germane", "plain.csv", "--text", "text").exit_code == 0


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("id,text,topic\n1,a cat,x\n", ["--label", "tpoic"], "no column 'tpoic' for --label; found: 'text', 'topic'"),
        ("id,text,topic\n1,a cat,x\n", ["--label", "topic", "--text", "body"], "no column 'body' for --text"),
        ("id,body,topic\n1,a cat,x\n", ["--label", "topic"], "name the column of the words with --text"),
        ("", ["--label", "topic"], "there are no documents in it"),
        ("id,text,topic\n1,cat,x\n2,dog,x\n", ["--label", "topic"], "one label only, 'x'"),
        ("id,text,topic\n1,cat,x\n2,,y\n", ["--label", "topic"], "no document of the class 'y' has a word in it"),
        ("id,text,topic\n1,cat,x\n2,dog,\n", ["--label", "topic"], "the document '2' has no label"),
        (b"id,text,topic\n1,caf\xe9,x\n", ["--label", "topic"], "not valid UTF-8"),
        ("id,text,topic\n1,cat,x\n", [], "say where the labels are"),
        ("id,text,topic\n1,cat,x\n", ["--label", "topic", "--folder-labels"], "choose one of --label"),
        ("id,text,topic\n1,cat,x\n2,dog,y\n", ["--label", "topic", "--model", "forest"], "no text model 'forest'"),
        ("id,text,topic\n1,cat,x\n2,dog,y\n", ["--label", "topic", "--prior", "odd"], "the prior is 'uniform'"),
        ("id,text,topic\n1,cat,x\n2,dog,y\n", ["--label", "topic", "--separator", ""], "must not be empty"),
    ],
)
def test_bad_input(tmp_path, fails, content, options, message):
    path = tmp_path / "data.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert message in fails("classify", "train", path, *options, "--into", tmp_path / "m.germane")
    assert [entry.name for entry in tmp_path.iterdir()] == ["data.csv"]


def test_a_label_for_nearly_every_document(tmp_path, fails):
    rows = "\n".join(f"{i},word{i % 9},label {i % 10_000}" for i in range(12_000))
    (tmp_path / "data.csv").write_text(f"id,text,key\n{rows}\n", encoding="utf-8")
    message = fails("classify", "train", tmp_path / "data.csv", "--label", "key")
    assert "10,000 different labels for 12,000 documents: nearly every document has its own" in message


def test_bad_places_are_told_before_the_work(files, fails):
    words = ("classify", "train", "news.csv", "--label", "topic", "--into")
    assert "is a folder" in fails(*words, "news")
    assert "does not exist" in fails(*words, "no/such/folder")


def test_skipping(files, run):
    (files / "gaps.csv").write_text("id,text,topic\n1,cat,x\n2,dog,\n3,bird,y\n", encoding="utf-8")
    result = run("classify", "train", "gaps.csv", "--label", "topic", "--on-error", "skip", "--json")
    assert json.loads(result.stdout)["documents"] == 2
    assert "1 record skipped" in result.stderr


def test_unseen_labels(trained, run, fails):
    (trained / "test.csv").write_text("id,text,topic\n1,goal match,sport\n2,rain,weather\n", encoding="utf-8")
    words = ("classify", "evaluate", "news.germane", "test.csv", "--label", "topic")
    result = run(*words, "--json")
    assert json.loads(result.stdout)["accuracy"] == 0.5
    assert "1 document with labels unseen in training, which count as missed: 'weather'" in result.stderr
    (trained / "test.csv").write_text("id,text,topic\n1,goal match,rain\n", encoding="utf-8")
    assert "none of its labels is known to the classifier ('rain'); it knows 'politics'" in fails(*words)
    (trained / "test.csv").write_text("id,text,topic\n1,goal,sport\n1,law,politics\n", encoding="utf-8")
    assert "the id '1' comes more than once" in fails(*words, "--save-predictions", "p.tsv")
    assert not (trained / "p.tsv").exists()
    (trained / "test.jsonl").write_text('{"text": "goal", "topic": ["sport", "politics"]}', encoding="utf-8")
    assert "several labels" in fails("classify", "evaluate", "news.germane", "test.jsonl", "--label", "topic")


def test_what_is_no_classifier(trained, fails):
    assert "not a saved classifier" in fails("classify", "predict", "news.csv", "news.csv")
    assert "cannot be read" in fails("classify", "predict", "nothing", "news.csv")
    whole = (trained / "news.germane").read_bytes()
    (trained / "cut.germane").write_bytes(whole[: len(whole) // 2])
    assert "damaged or cut off" in fails("classify", "predict", "cut.germane", "news.csv")


def test_without_scikit_learn(files, run):
    code = "import sys; sys.modules['sklearn'] = None; from germane.cli import main; main()"
    words = ["classify", "train", "news.csv", "--label", "topic"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, timeout=3000)
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs the package 'scikit-learn': pip install 'germane[learn]'" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("page", ["docs/tour.md", "docs/classification.md"])
def test_the_documentation_runs(files, run, page, capsys):
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    commands = re.findall(r"^\$ germane (classify .*)$", text, re.MULTILINE)
    assert len(commands) >= 3
    for name in ("train.csv", "test.csv"):
        (files / name).write_text((files / "news.csv").read_text(encoding="utf-8"), encoding="utf-8")
    for command in commands:
        result = run(*shlex.split(command))
        assert result.exit_code == 0, result.output
    codes = [code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "TextClassifier" in code]
    assert codes
    for code in codes:
        exec(compile(code, page, "exec"), {})
    said = capsys.readouterr().out
    assert "['sport']" in said
    for shown in re.findall(r"```\n(\* .*?)```", text, re.DOTALL):
        assert shown in said
