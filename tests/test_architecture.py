"""The layers of docs/architecture.md, checked by walking the import graph of the sources."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import germane

ROOT = Path(germane.__file__).parent
REPOSITORY = Path(__file__).parents[1]
DOCUMENT = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
LAYERS = {
    "errors": 0, "types": 0, "arrays": 0, "lazy": 0, "kernel_cache": 0, "schema": 0, "tables": 0, "jit": 0,
    "wording": 0, "deadline": 0,
    "text": 1, "data": 1, "declare": 1,
    "index": 2, "clicks": 2,
    "lm": 3,
    "rank": 4, "feedback": 4, "classify": 4, "refine": 4, "track": 4, "latent": 4,
    "evaluate": 5, "workspace": 5, "engine": 6, "learning": 7, "metasearch": 7,
    "experiments": 8, "stream": 8, "cli": 9, "server": 9, "mcp": 9,
}  # fmt: skip
"""Imports point downwards only. `types` and `lazy` may know `errors`."""
ISOLATED = {4, 5, 7, 8}
"""Layers whose packages never import one another."""
DOORS = {"cli", "server", "mcp"}
"""What people and programs come in by: none imports another, and nothing imports a door. One is not built yet."""
HEAVY = {"torch", "ray", "duckdb", "matplotlib", "fastapi", "playwright"}
APART = [("lm", "index"), ("index", "lm")]
"""No rule of height, but true today: language models know no index, and the index no language models."""

OUTSIDE_MODULES = {
    "asyncio", "bz2", "fcntl", "ftplib", "glob", "gzip", "http", "importlib.resources", "io", "lzma", "mmap", "os",
    "select", "shutil", "signal", "smtplib", "socket", "sqlite3", "ssl", "subprocess", "tarfile", "tempfile", "time",
    "urllib", "zipfile",
}  # fmt: skip
OUTSIDE_CALLS = {
    "exists", "fromfile", "glob", "is_dir", "is_file", "iterdir", "memmap", "mkdir", "now", "read_bytes", "read_text",
    "rglob", "rmdir", "savefig", "stat", "today", "tofile", "touch", "unlink", "utcnow", "write_bytes", "write_text",
}  # fmt: skip
"""Methods by which `pathlib`, `datetime`, NumPy and Matplotlib reach files and clocks."""
PRINTERS = {"logging", "rich", "tqdm", "typer"}

FILES = sorted(ROOT.rglob("*.py"))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


class Import(NamedTuple):
    """One import: the module named, its line, whether it stands in a function, or only in a type checker's eyes; what
    it takes from the module; whether it is deferred until it is used (`germane.lazy.on_first_use`)."""

    module: str
    line: int
    inside: bool
    typing_only: bool
    relative: bool
    names: tuple[str, ...] = ()
    deferred: bool = False


def imports_of(
    tree: ast.AST, inside: bool = False, typing_only: bool = False, deferred: bool = False
) -> Iterator[Import]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, inside, typing_only, False, (), deferred)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = tuple(alias.name for alias in node.names)
            yield Import(module, node.lineno, inside, typing_only, node.level > 0, names, deferred)
            if module == "germane":
                for alias in node.names:
                    yield Import(f"germane.{alias.name}", node.lineno, inside, typing_only, False, (), deferred)
        else:
            checking = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            waits = isinstance(node, ast.With) and ast.unparse(node.items[0]) == "on_first_use(__name__)"
            yield from imports_of(node, inside or function, typing_only or checking, deferred or waits)


def package_of(path: Path) -> str:
    """The package below `germane` (or the module, at the top); the root's `__init__` exports from anywhere, and its
    `__main__` is the command line."""
    name = path.relative_to(ROOT).parts[0].removesuffix(".py")
    return "cli" if name == "__main__" else name


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture(scope="module")
def graph() -> dict[Path, list[Import]]:
    return {path: list(imports_of(tree_of(path))) for path in FILES}


def own_imports(graph: dict[Path, list[Import]]) -> Iterator[tuple[Path, str, str, Import]]:
    """(file, its package, the package it imports, the import) for imports within Germane."""
    for path, imports in graph.items():
        for found in imports:
            parts = found.module.split(".")
            if parts[0] == "germane" and len(parts) > 1:
                target = parts[1]
                if (ROOT / target).is_dir() or (ROOT / f"{target}.py").exists():
                    yield path, package_of(path), target, found


def test_every_package_has_a_layer() -> None:
    known = {package_of(path) for path in FILES} - {"__init__"}
    assert known <= LAYERS.keys(), "give new packages a layer here and in docs/architecture.md"


def test_imports_point_downwards(graph: dict[Path, list[Import]]) -> None:
    wrong = [
        f"{name_of(path)}:{found.line} ({package}, layer {LAYERS[package]}) imports {found.module}"
        for path, package, target, found in own_imports(graph)
        if package not in ("__init__", target)
        and LAYERS[target] >= LAYERS[package]
        and not (LAYERS[target] == LAYERS[package] and LAYERS[package] not in ISOLATED)
    ]
    assert wrong == []


def test_siblings_do_not_import_one_another(graph: dict[Path, list[Import]]) -> None:
    wrong = [
        f"{name_of(path)}:{found.line} imports {found.module}"
        for path, package, target, found in own_imports(graph)
        if package not in ("__init__", target) and LAYERS[target] == LAYERS[package] in ISOLATED
    ]
    assert wrong == []


def test_no_door_is_imported(graph: dict[Path, list[Import]]) -> None:
    assert LAYERS.keys() >= DOORS
    (sentence,) = re.findall(r"\*\*Doors\*\*(.*?)starts", section("Layers"), re.DOTALL)
    starters = [name for name in quoted(sentence) if name.endswith(".py")]
    found = [
        (name_of(path), door) for path, imports in graph.items() for door, _ in doors_among(imports, package_of(path))
    ]
    assert set(found) == {(starter, "server") for starter in starters}


def doors_among(imports: list[Import], package: str) -> list[tuple[str, int]]:
    """The doors that a module of this package imports, other than its own, built or not."""
    named = [(found.module.split(".")[1], found.line) for found in imports if found.module.startswith("germane.")]
    return [(target, line) for target, line in named if target in DOORS - {package}]


@pytest.mark.parametrize(("one", "other"), APART)
def test_apart(graph: dict[Path, list[Import]], one: str, other: str) -> None:
    wrong = [name_of(path) for path, package, target, _ in own_imports(graph) if (package, target) == (one, other)]
    assert wrong == []


def module_of(path: Path) -> str:
    """The module's name below `germane`."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def needed(path: Path, imports: list[Import], known: set[str]) -> set[str]:
    """The modules that must be whole before this one is: those that it imports at the top, with the packages they are
    in; of its own packages those alone that it takes names from."""
    module = module_of(path)
    own = {module[:i] for i, sign in enumerate(module) if sign == "."}
    found: set[str] = set()
    for each in imports:
        if each.inside or each.typing_only or each.deferred:
            continue
        name = each.module.removeprefix("germane.")
        taken = {f"{name}.{other}" for other in each.names} & known
        found |= taken | {name[:i] for i, sign in enumerate(name) if sign == "."} - own
        if name not in own or len(taken) < len(each.names):
            found.add(name)
    return found & known - {module}


def test_no_module_waits_for_itself(graph: dict[Path, list[Import]]) -> None:
    """What imports go round in a circle works or fails by which of them comes first."""
    known = {module_of(path) for path in FILES}
    waiting = {module_of(path): needed(path, imports, known) for path, imports in graph.items()}
    while free := {module for module, others in waiting.items() if not others & waiting.keys()}:
        waiting = {module: others for module, others in waiting.items() if module not in free}
    assert sorted(waiting) == []


def imported(found: Import, known: set[str]) -> set[str]:
    """The modules whose content an import takes: those that it names, and the one that it takes other names from."""
    root, _, name = found.module.partition(".")
    if root != "germane":
        return set()
    modules = {f"{name}.{other}" for other in found.names} & known
    return modules | ({name} & known if not found.names or len(modules) < len(found.names) else set())


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one module, by Tarjan's algorithm."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        stack.append(module)
        for other in sorted(edges.get(module, ())):
            if other not in order:
                visit(other)
                lowest[module] = min(lowest[module], lowest[other])
            elif other in stack:
                lowest[module] = min(lowest[module], order[other])
        if lowest[module] == order[module]:
            at = stack.index(module)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for module in sorted(edges):
        if module not in order:
            visit(module)
    return sorted(circle for circle in found if len(circle) > 1)


def test_no_module_imports_itself_through_others(graph: dict[Path, list[Import]]) -> None:
    """A reader of one module of a circle has to read all. Imports of every kind count, those for a type checker and
    those inside a function too; what is loaded by its name, through `germane.lazy`, does not. The root package exports
    from everywhere and is left out."""
    known = {module_of(path) for path in FILES if path != ROOT / "__init__.py"}
    edges: dict[str, set[str]] = {module: set() for module in known}
    for path, imports in graph.items():
        if module_of(path) in known:
            edges[module_of(path)] = set().union(*(imported(each, known) for each in imports)) - {module_of(path)}
    assert circles(edges) == []


def test_circles_are_seen() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a", "f"}, "f": {"e"}}) == [
        ["b", "c"], ["e", "f"],
    ]  # fmt: skip
    known = {"index", "index.kernels", "index.segment"}
    assert imported(Import("germane.index", 1, False, True, False, ("kernels", "segment")), known) == known - {"index"}
    assert imported(Import("germane.index", 1, True, False, False, ("kernels", "Engine")), known) == {
        "index", "index.kernels",
    }  # fmt: skip
    assert imported(Import("germane.index.segment", 1, False, False, False), known) == {"index.segment"}
    assert imported(Import("index", 1, False, False, False, ("segment",)), known) == set()


def test_commands_import_no_other_commands(graph: dict[Path, list[Import]]) -> None:
    """What two of them share is in `cli` itself."""
    wrong = [
        f"{name_of(path)}:{found.line} imports {found.module}"
        for path, imports in graph.items()
        for found in imports
        if found.module.startswith("germane.cli.commands.")
        and name_of(path).startswith("cli/commands/")
        and found.module.split(".")[3] != module_of(path).split(".")[2]
    ]
    assert wrong == []


def test_no_relative_imports(graph: dict[Path, list[Import]]) -> None:
    assert [name_of(path) for path, imports in graph.items() if any(found.relative for found in imports)] == []


def test_heavy_libraries_are_imported_when_they_are_used(graph: dict[Path, list[Import]]) -> None:
    wrong = [
        f"{name_of(path)}:{found.line} imports {found.module}"
        for path, imports in graph.items()
        for found in imports
        if found.module.split(".")[0] in HEAVY and not (found.deferred or found.typing_only)
    ]
    assert wrong == []


INSIDE_FUNCTIONS = {"kernel_cache.py"}  # germane.lazy itself imports this module


def test_imports_stand_at_the_top(graph: dict[Path, list[Import]]) -> None:
    """Modules that are loaded later stand in a block of `germane.lazy.on_first_use`, or come from `germane.lazy`."""
    wrong = [
        f"{name_of(path)}:{found.line} imports {found.module}"
        for path, imports in graph.items()
        for found in imports
        if found.inside and name_of(path) not in INSIDE_FUNCTIONS
    ]
    assert wrong == []


def test_deferred_imports_take_modules(graph: dict[Path, list[Import]]) -> None:
    known = {module_of(path) for path in FILES}
    wrong = [
        f"{name_of(path)}:{found.line} defers {found.module}.{name}"
        for path, imports in graph.items()
        for found in imports
        if found.deferred and found.module.split(".")[0] == "germane"
        for name in found.names
        if f"{found.module}.{name}".removeprefix("germane.") not in known
    ]
    assert wrong == []


KERNELS = {path for path in FILES if path.name.endswith("kernels.py")}


def test_files_of_kernels_are_named_so(graph: dict[Path, list[Import]]) -> None:
    """They alone are left out by the type checker, and they alone load the compiler."""
    assert {path for path in FILES if "# mypy: ignore-errors" in path.read_text("utf-8")} == KERNELS
    assert "ignore_errors" not in (REPOSITORY / "pyproject.toml").read_text("utf-8")
    loading = {
        path
        for path, imports in graph.items()
        for found in imports
        if found.module.split(".")[0] in ("numba", "llvmlite") and not (found.deferred or found.typing_only)
    }
    assert loading - KERNELS == {ROOT / "jit.py"}


def test_nothing_is_unpickled(graph: dict[Path, list[Import]]) -> None:
    """Loading a pickle runs whatever it holds."""
    picklers = {"pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
    wrong = [name_of(p) for p, imports in graph.items() if any(i.module.split(".")[0] in picklers for i in imports)]
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
                wrong.append(name_of(path))
    assert wrong == []


def section(title: str) -> str:
    """What stands below a heading of the document."""
    return DOCUMENT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def test_the_document_has_the_layers() -> None:
    rows = re.findall(r"^\| (\d) \| ([^|]+) \|", section("Layers"), re.MULTILINE)
    written = [(package, int(layer)) for layer, packages in rows for package in quoted(packages)]
    built = {package_of(path) for path in FILES} - {"__init__"}
    assert len(written) == len(dict(written)), "a package in two rows"
    assert dict(written) == {package: layer for package, layer in LAYERS.items() if package in built}
    assert [layer for _, layer in written] == sorted((layer for _, layer in written), reverse=True)


def test_every_path_in_the_document_exists() -> None:
    paths = {name for name in quoted(DOCUMENT) if re.fullmatch(r"[\w/-]+(/|\.py)", name)}
    paths |= {f"docs/{name}" for name in re.findall(r"\]\(([\w.]+)\)", DOCUMENT)}
    assert len(paths) > 80
    assert sorted(path for path in paths if not ((ROOT / path).exists() or (REPOSITORY / path).exists())) == []


def dotted(node: ast.Attribute) -> str:
    """`os.PathLike`, where a name stands before the dot; otherwise nothing that a rule names."""
    return f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else ""


def reaches_outside(tree: ast.AST) -> bool:
    """Whether a module imports or calls what touches files, sockets or clocks; the type `os.PathLike` does not."""
    nodes = [*ast.walk(tree)]
    used = {dotted(node) for node in nodes if isinstance(node, ast.Attribute)}
    for found in imports_of(tree):
        if found.module == "os" and {name for name in used if name.startswith("os.")} == {"os.PathLike"}:
            continue
        if {found.module, found.module.split(".")[0]} & OUTSIDE_MODULES:
            return True
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    return any(
        (isinstance(called, ast.Name) and called.id == "open")
        or (isinstance(called, ast.Attribute) and called.attr in OUTSIDE_CALLS)
        for called in calls
    )


def test_who_touches_files_sockets_and_clocks() -> None:
    """Those whom the document names, each of them, and no others."""
    (sentence,) = re.findall(r"\*\*Files, sockets and clocks\*\*(.*?)nothing else", section("Layers"), re.DOTALL)
    named = set(quoted(sentence))
    touching = {name_of(path) for path in FILES if reaches_outside(tree_of(path))}
    assert {name if name in named else name.partition("/")[0] for name in touching} == named


def prints(tree: ast.AST) -> bool:
    """Whether a module writes to the terminal or to a log."""
    return any(found.module.split(".")[0] in PRINTERS for found in imports_of(tree)) or any(
        (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "input"))
        or (isinstance(node, ast.Attribute) and dotted(node) in ("sys.stdout", "sys.stderr", "sys.stdin"))
        for node in ast.walk(tree)
    )


def test_nothing_below_the_doors_prints() -> None:
    printing = {path for path in FILES if prints(tree_of(path))}
    assert "cli" in map(package_of, printing)
    (sentence,) = re.findall(r"\*\*Printing\*\*(.*?)compilation", section("Layers"), re.DOTALL)
    allowed = [name for name in quoted(sentence) if name.endswith(".py")]
    assert [name_of(path) for path in sorted(printing) if package_of(path) not in DOORS] == allowed


def test_the_walk_sees_what_it_should() -> None:
    """The rules are only as good as the walk."""
    source = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import torch
from germane import engine, Engine
from . import x
def f():
    import ray.data
class C:
    def g(self):
        from matplotlib import pyplot
with on_first_use(__name__):
    import duckdb
"""
    found = {i.module: i for i in imports_of(ast.parse(source))}
    assert found["torch"].typing_only
    assert {"germane.engine", "germane.Engine"} <= found.keys()
    assert found[""].relative
    assert found["ray.data"].inside
    assert found["matplotlib"].inside
    assert not found["typing"].inside
    assert found["duckdb"].deferred
    assert not found["typing"].deferred
    doors = list(imports_of(ast.parse("from germane.cli import app\nfrom germane import mcp, engine\n")))
    assert [door for door, _ in doors_among(doors, "server")] == ["cli", "mcp"]
    assert [door for door, _ in doors_among(doors, "cli")] == ["mcp"]


@pytest.mark.parametrize(
    ("source", "outside", "printing"),
    [
        ("import os\ndef f(x: os.PathLike[str]): ...", False, False),
        ("import os\ndef f(x: os.PathLike[str]): return os.cpu_count()", True, False),
        ("from os import path", True, False),
        ("from urllib.request import urlopen", True, False),
        ("from importlib.resources import files", True, False),
        ("from importlib import import_module", False, False),
        ("def f(p): return p.read_text()", True, False),
        ("import datetime\ndef f(): return datetime.date.today()", True, False),
        ("import datetime\ndef f(): return datetime.date.fromisoformat('')", False, False),
        ("def f(p):\n    with open(p) as s: print(s)", True, True),
        ("def f(x):\n    from rich import print", False, True),
        ("import sys\nsys.stderr.write('')", False, True),
        ("import sys\nsys.modules", False, False),
    ],
)
def test_the_checks_see_what_they_should(source: str, outside: bool, printing: bool) -> None:
    tree = ast.parse(source)
    assert (reaches_outside(tree), prints(tree)) == (outside, printing)


ONE_MEANING = {
    "Documents", "Evidence", "FollowedTopic", "Found", "Memory", "ModelVersion", "Source", "TopicModel", "Vocabulary",
}  # fmt: skip
"""Nouns that several packages want for a class of their own: one of them has it."""


def test_a_name_has_one_meaning() -> None:
    classes = [node.name for path in FILES for node in ast.walk(tree_of(path)) if isinstance(node, ast.ClassDef)]
    assert {name for name in ONE_MEANING if classes.count(name) > 1} == set()


def statements(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The number of statements of a function and of all its blocks, without the docstring."""
    nodes = [node for child in function.body for node in ast.walk(child) if isinstance(node, ast.stmt)]
    return len(nodes) - (ast.get_docstring(function) is not None)


def test_the_engine_is_a_facade() -> None:
    """It names what can be done and passes it on: what does it stands in other modules."""
    (engine,) = (node for node in tree_of(ROOT / "engine" / "engine.py").body if isinstance(node, ast.ClassDef))
    assert engine.end_lineno is not None
    assert engine.end_lineno - engine.lineno + 1 <= 450
    methods = [node for node in engine.body if isinstance(node, ast.FunctionDef)]
    assert len(methods) > 20
    assert [method.name for method in methods if statements(method) > 5] == []


WRITING = {
    "engine/changing.py", "engine/compiling.py", "engine/merging.py", "engine/models/fold_in.py",
    "engine/open_index.py",
}  # fmt: skip
"""What writes an index, or opens it for writing: it alone may look behind the seam (`rank/retriever.py`)."""


def looks_behind(tree: ast.AST) -> bool:
    """Whether a module names a snapshot or a segment of an index."""
    names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    modules = {found.module for found in imports_of(tree)}
    return bool(modules & {"germane.index.snapshot", "germane.index.segment"} or names & {"snapshot", "segments"})


def test_only_what_writes_an_index_looks_behind_the_seam() -> None:
    behind = {name_of(path) for path in FILES if looks_behind(tree_of(path))}
    others = {name for name in behind if name.partition("/")[0] not in ("index", "rank")}
    counts_of_reports = {"cli/commands/check.py", "cli/commands/merge.py", "engine/responses.py"}  # numbers of segments
    assert others - counts_of_reports == WRITING
