"""Deferred imports load on first use, and optional libraries name the extra that installs them."""

import builtins
import re
import sys
import threading
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from germane.errors import MissingExtraError
from germane.lazy import EXTRAS, on_first_use, optional

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))

USER = """
from germane.lazy import on_first_use

with on_first_use(__name__):
    from shelves import books, maps as charts
    import papers

from shelves import VALUE

def title():
    return books.TITLE
"""


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """A package, a library, and a module that defers both."""
    (tmp_path / "shelves").mkdir()
    for name, text in {
        "shelves/__init__.py": "VALUE = 1",
        "shelves/books.py": "TITLE = 'one'\nclass Book(Exception): pass",
        "shelves/maps.py": "SCALE = 2",
        "papers.py": "N = 3",
        "reader.py": USER,
    }.items():
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [*sys.modules]:
        if name.partition(".")[0] in ("shelves", "papers", "reader"):
            del sys.modules[name]


def test_a_deferred_module_is_loaded_when_something_of_it_is_used(packages):
    reader = import_module("reader")
    assert not {"shelves.books", "shelves.maps", "papers"} & sys.modules.keys()
    assert reader.VALUE == 1
    assert reader.title() == "one"
    assert not {"shelves.maps", "papers"} & sys.modules.keys()
    assert (reader.charts.SCALE, reader.papers.N) == (2, 3)


def test_what_is_taken_from_a_deferred_module_is_the_thing_itself(packages, monkeypatch):
    reader = import_module("reader")
    books = import_module("shelves.books")
    assert reader.books.Book is books.Book
    with pytest.raises(reader.books.Book):
        raise books.Book
    monkeypatch.setattr(books, "TITLE", "two")
    assert reader.title() == "two"
    with pytest.raises(AttributeError, match="NOTHING"):
        reader.books.NOTHING  # noqa: B018


def test_imports_of_other_modules_are_ordinary_meanwhile(packages):
    before = builtins.__import__
    with on_first_use("somewhere.else"):
        from shelves import books
    assert builtins.__import__ is before
    assert books is sys.modules["shelves.books"]


@pytest.mark.parametrize("line", ["import shelves.books", "import shelves.books as b"])
def test_a_module_in_a_package_is_deferred_by_its_name(packages, line):
    scope = {"__name__": "reader", "on_first_use": on_first_use}
    before = builtins.__import__
    with pytest.raises(ImportError, match="from package import module"):
        exec(f"with on_first_use(__name__):\n    {line}", scope)
    assert builtins.__import__ is before


def test_threads_may_defer_at_once():
    before, n = builtins.__import__, 200
    together = threading.Barrier(4)

    def defer(number):
        together.wait()
        for _ in range(n):
            exec(
                "with on_first_use(__name__):\n    from shelves import books",
                {"__name__": f"module_{number}", "on_first_use": on_first_use},
            )

    threads = [threading.Thread(target=defer, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert builtins.__import__ is before
    assert "shelves" not in sys.modules


def test_a_missing_library_names_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=re.escape("Reading needs the package 'duckdb': pip install 'germane[")):
        optional("duckdb", "Reading")


def test_a_module_of_ours_that_needs_a_missing_library_names_its_extra(packages, tmp_path, monkeypatch):
    (tmp_path / "shelves" / "plotted.py").write_text("import matplotlib.figure", "utf-8")
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"A plot .*germane\[plots\]"):
        optional("shelves.plotted", "A plot")


def test_other_missing_modules_are_not_explained_away():
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        optional("no_such_module", "Nothing")


@pytest.mark.parametrize("library", EXTRAS)
def test_the_extra_installs_the_distribution(library):
    distribution, extra = EXTRAS[library]
    needed = PROJECT["project"]["optional-dependencies"][extra]
    assert distribution in {re.split(r"[<>=;\[ ]", each)[0] for each in needed}
