"""Which wheels an installation takes, for each machine and Python we support: asks the package index, writes a table.

    python tests/wheels.py        (some minutes: pip resolves all extras six times, and may download to do so)

Run it when the requirements in pyproject.toml change. It fails where a package has no wheel. `tests/test_wheels.py`
holds the table against pyproject.toml and checks the names of the wheels, without a network.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
TABLE = Path(__file__).with_suffix(".json")
MACHINES = ("x86_64", "aarch64")
PYTHONS = ("3.11", "3.12", "3.13")
LIBRARIES = (17, 24, 26, 27, 28)
"""The minor versions of glibc 2 whose wheels count: 2.28 is from 2018."""


def requirements() -> list[str]:
    """All that pyproject.toml asks for: to build, to run, and for every extra."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project = settings["project"]
    extras = project["optional-dependencies"].values()
    listed = [*settings["build-system"]["requires"], *project["dependencies"], *(text for e in extras for text in e)]
    return sorted({text for text in listed if Requirement(text).name != "germane"})


def platforms(machine: str) -> list[str]:
    """The platform tags of that machine, newest first."""
    older = ["manylinux2014", *(["manylinux2010", "manylinux1"] if machine == "x86_64" else [])]
    newer = [f"manylinux_2_{minor}" for minor in reversed(LIBRARIES)]
    return [f"{name}_{machine}" for name in (*newer, *older)]


def environment(machine: str, python: str) -> dict[str, str]:
    """What markers see there. pip evaluates them for the machine that it runs on."""
    return {
        "platform_machine": machine, "python_version": python, "python_full_version": f"{python}.0",
        "sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }  # fmt: skip


def applies(requirement: Requirement, machine: str, python: str, extras: tuple[str, ...] = ("",)) -> bool:
    """Whether the requirement's marker holds there, for one of the extras."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate(environment(machine, python) | {"extra": e}) for e in extras)


def unmarked(requirement: Requirement) -> str:
    """The requirement without its marker."""
    return str(requirement).partition(";")[0].strip()


def resolve(wanted: list[str], machine: str, python: str) -> list[dict]:
    """What pip would install there, from wheels alone."""
    options = [option for name in platforms(machine) for option in ("--platform", name)]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [
            sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--only-binary=:all:",
            "--report", str(report), "--target", folder, "--implementation", "cp", "--python-version", python,
            *options, *wanted,
        ]  # fmt: skip
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        return json.loads(report.read_text())["install"]


def wheels(machine: str, python: str) -> dict[str, str]:
    """Package name -> file name of the wheel, with all that the packages need in turn."""
    asked = [Requirement(text) for text in requirements()]
    wanted = {unmarked(requirement) for requirement in asked if applies(requirement, machine, python)}
    while True:
        found = resolve(sorted(wanted), machine, python)
        names = {canonicalize_name(item["metadata"]["name"]) for item in found}
        missed = {
            unmarked(needed)
            for item in found
            for needed in map(Requirement, item["metadata"].get("requires_dist", []))
            if applies(needed, machine, python, ("", *item.get("requested_extras", ())))
            and canonicalize_name(needed.name) not in names
        }
        if not missed:
            files = {canonicalize_name(i["metadata"]["name"]): Path(i["download_info"]["url"]).name for i in found}
            return dict(sorted(files.items()))
        wanted |= missed


def main() -> None:
    """Write the table."""
    table = {machine: {python: wheels(machine, python) for python in PYTHONS} for machine in MACHINES}
    TABLE.write_text(json.dumps({"requirements": requirements(), "wheels": table}, indent=1) + "\n")


if __name__ == "__main__":
    main()
