"""Every package that we install has a wheel for every machine and Python that we support (tests/wheels.json).

A package that has none is asked for with a marker, and docs/dependencies.md says why.
"""

import importlib.util
import json
import os
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.tags import compatible_tags, cpython_tags
from packaging.utils import canonicalize_name, parse_wheel_filename

_spec = importlib.util.spec_from_file_location("wheels", Path(__file__).parent / "wheels.py")
wheels = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(wheels)

TABLE = json.loads(wheels.TABLE.read_text())
CASES = [(machine, python) for machine in wheels.MACHINES for python in wheels.PYTHONS]
ASKED = [Requirement(text) for text in wheels.requirements()]


def test_the_table_is_of_these_requirements():
    assert TABLE["requirements"] == wheels.requirements(), "run python tests/wheels.py"
    assert {(m, p) for m, pythons in TABLE["wheels"].items() for p in pythons} == set(CASES)


@pytest.mark.parametrize(("machine", "python"), CASES)
def test_every_requirement_has_a_wheel(machine, python):
    files = TABLE["wheels"][machine][python]
    version = tuple(map(int, python.split(".")))
    fitting = {
        *cpython_tags(version, platforms=wheels.platforms(machine)),
        *compatible_tags(version, f"cp{version[0]}{version[1]}", wheels.platforms(machine)),
    }
    for package, file in files.items():
        name, _, _, tags = parse_wheel_filename(file)
        assert name == package
        assert tags & fitting, f"{file} is not for Python {python} on {machine}"
    for requirement in ASKED:
        if wheels.applies(requirement, machine, python):
            file = files[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(parse_wheel_filename(file)[1]), f"{requirement}: {file}"


def test_what_some_machine_lacks_is_optional_and_explained():
    reasons = (wheels.ROOT / "docs" / "dependencies.md").read_text().partition("## Not on every machine")[2]
    for requirement in ASKED:
        if not all(wheels.applies(requirement, machine, python) for machine, python in CASES):
            assert f"| {requirement.name} |" in reasons, f"say in docs/dependencies.md why {requirement}"


def test_nothing_is_needed_to_run_that_some_machine_lacks():
    """Markers are for extras alone."""
    project = tomllib.loads((wheels.ROOT / "pyproject.toml").read_text())["project"]
    assert [text for text in project["dependencies"] if Requirement(text).marker] == []


@pytest.mark.slow
@pytest.mark.skipif("GERMANE_ASK_INDEX" not in os.environ, reason="asks the package index if GERMANE_ASK_INDEX is set")
def test_the_index_still_resolves():
    """For ARM64; on the machine at hand the installation has shown it. Minutes, as pip may download the wheels."""
    found = wheels.wheels("aarch64", "3.12")
    assert {canonicalize_name(r.name) for r in ASKED if wheels.applies(r, "aarch64", "3.12")} <= found.keys()
