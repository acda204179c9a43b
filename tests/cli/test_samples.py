"""The files that `germane demo --files` writes, from which the documents' commands run (tests/test_documents.py)."""

import pytest

from germane.cli.samples import write_sample_files
from germane.data import read_documents
from germane.errors import ParameterError


def test_sample_files(tmp_path):
    names = write_sample_files(tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} == set(names)
    before = {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()}
    with pytest.raises(ParameterError, match="is there already"):
        write_sample_files(tmp_path / "new")
    assert {path.name: path.read_bytes() for path in (tmp_path / "new").iterdir()} == before
    assert len(list(read_documents(tmp_path / "new" / "references.ris"))) == 80
