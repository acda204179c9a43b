"""stats, check, repair, export, import-ciff, demo."""

import json

from germane import Engine
from germane.data import read_documents


def test_stats(run, built):
    numbers = json.loads(run("stats", built, "--json").stdout)
    assert numbers == Engine.open(built).stats().to_dict()
    assert "documents" in run("stats", built).stdout


def test_check_and_repair(run, copy):
    whole = run("check", copy)
    assert (whole.exit_code, whole.stdout) == (0, "")
    assert "80 documents" in whole.stderr
    assert "nothing was wrong" in run("repair", copy).stderr
    segment = next(copy.glob("segment-*"))
    content = bytearray(segment.read_bytes())
    content[len(content) // 3] ^= 0xFF
    segment.write_bytes(content)
    damaged = run("check", copy)
    assert damaged.exit_code == 1
    assert segment.name in damaged.stdout
    assert "germane repair" in damaged.stderr
    repaired = run("repair", copy)
    assert repaired.exit_code == (1 if repaired.stdout else 0), repaired.stderr
    assert run("check", copy).exit_code == 0


def test_what_is_lost_is_an_exit_code(run, copy):
    segment = next(copy.glob("segment-*"))
    segment.write_bytes(segment.read_bytes()[:100])
    lost = run("repair", copy)
    assert lost.exit_code == 1
    assert f"all documents of {segment.name}" in lost.stdout
    assert run("repair", copy).exit_code == 0


def test_a_damaged_manifest_names_a_command(run, copy):
    (copy / "MANIFEST").write_text("garbage")
    told = run("check", copy)
    assert told.exit_code == 1
    assert f"'germane repair {copy}'" in told.stdout
    assert "repair_index(" not in told.stdout


def test_export_reads_back(run, built, sample, tmp_path):
    target = tmp_path / "docs.jsonl"
    result = run("export", built, "--to", target)
    assert (result.exit_code, result.stdout) == (0, "")
    assert sorted(read_documents(target), key=lambda d: d.id) == sorted(read_documents(sample), key=lambda d: d.id)
    assert run("export", built).stdout == target.read_text(encoding="utf-8")


def test_export_errors(fails, built, tmp_path):
    assert "one of" in fails("export", built, "--to", tmp_path / "a", "--ciff", tmp_path / "b")
    assert "cannot be written" in fails("export", built, "--to", tmp_path / "no" / "a.jsonl")
    assert "one of" in fails("export", built, "--format", "ris", "--ciff", tmp_path / "b")
    assert "does not say in which format" in fails("export", built, "--to", tmp_path / "a.txt")
    assert "cannot be written as 'trec'" in fails("export", built, "--to", tmp_path / "a.txt", "--format", "trec")
    assert not (tmp_path / "a.txt").exists()


def test_export_writes_the_format_of_the_ending(run, tmp_path):
    """A RIS file holds RIS: the records as they were read, tag by tag."""
    records = {
        "d.ris": "TY  - JOUR\nT1  - Copper\nT1  - Liver\nJF  - Gut\nZZ  - unknown\nDO  - 10.1000/x\nER  - \n\n",
        "d.nbib": "PMID- 7\nTI  - Copper\nFAU - Smith, Ann\nAD  - Here\nMH  - *Liver/metabolism\n\n",
        "d.bib": "@article{k,\n  title = {Copper},\n  title = {Liver},\n  volume = {3}\n}\n\n",
    }
    for name, record in records.items():
        (tmp_path / name).write_text(record, encoding="utf-8")
        folder = tmp_path / f"index-{name}"
        assert run("index", tmp_path / name, "--into", folder).exit_code == 0
        result = run("export", folder, "--to", tmp_path / f"kept-{name}")
        assert (result.exit_code, result.stdout) == (0, "")
        assert (tmp_path / f"kept-{name}").read_text(encoding="utf-8") == record
        for other in (*records, "d.csv", "d.tsv", "d.jsonl"):
            assert run("export", folder, "--to", tmp_path / f"other-{other}").exit_code == 0
            (found,) = read_documents(tmp_path / f"other-{other}")
            (document,) = read_documents(tmp_path / name)
            assert (found.id, found.fields["title"]) == (document.id, "Copper")
    assert run("export", tmp_path / "index-d.ris", "--format", "ris").stdout == records["d.ris"]


def test_ciff_there_and_back(run, fails, built, tmp_path):
    file, back = tmp_path / "index.ciff", tmp_path / "back"
    assert run("export", built, "--ciff", file).exit_code == 0
    result = run("import-ciff", file, "--into", back, "--stemmer", "english", "--stopwords", "english")
    assert result.exit_code == 0, result.stderr
    old, new = Engine.open(built).search("planet telescope"), Engine.open(back).search("planet telescope")
    assert old.ids == new.ids
    assert old.scores.tolist() == new.scores.tolist()
    file.write_bytes(file.read_bytes()[:-20])
    fails("import-ciff", file, "--into", tmp_path / "broken")
    assert not (tmp_path / "broken").exists()


def test_demo(run, tmp_path):
    result = run("demo", "--into", tmp_path / "kept")
    assert result.exit_code == 0, result.stderr
    assert "$ germane search" in result.stdout
    assert "part of score" in result.stdout
    assert "did you mean: antibiotic resistance" in result.stderr
    assert len(Engine.open(tmp_path / "kept")) == 80
    assert run("demo", "--into", tmp_path / "kept").exit_code == 2  # it is there already
