# SPDX-License-Identifier: BSD-3-Clause
"""Requirements and their lock."""

import re
import runpy
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from checkouts import ROOT
from locks import REQUIREMENTS, locked, normal, pins
from packaging.requirements import Requirement

LICENCES = Path(__file__).parents[2] / "docs" / "reference" / "licences.md"
RUNTIME = [
    "core",
    "underlay",
    "ros",
    "batch",
    "cluster",
    "learning",
    "training",
    "mujoco",
    "gpu",
    "scenes",
    "pathtracer",
    "video",
]
LAYERS = [*RUNTIME, "firmware", "installer", "colcon", "dev", "docs"]
ALL = [*LAYERS, "jazzy"]  # which stands instead of ros on its Python
FILES_OF = {
    "dev": ["dev", "learning", "mujoco", "training", "video", "oracles", "batch"],
    "training": ["learning", "training"],
}  # of a layer's lock, where they are not its own name
LOCK = runpy.run_path(str(ROOT / "tools" / "lock.py"))


def installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:  # it comes from the ROS 2 that is sourced
        return None


@pytest.mark.parametrize("layer", ALL)
def test_requirements_are_exact_and_the_lock_has_them(layer):
    for name in FILES_OF.get(layer, [layer]):
        asked = pins(REQUIREMENTS / f"{name}.txt")
        assert asked
        assert all(version.startswith("==") for version in asked.values())
        known = locked("installer", "core", "colcon", layer)
        assert asked.items() <= known.items()


@pytest.mark.parametrize("layer", ALL)
def test_every_locked_package_has_a_version_and_hashes(layer):
    lines = (REQUIREMENTS / "lock" / f"{layer}.txt").read_text(encoding="utf-8").splitlines()
    line = re.compile(
        r'[\w.-]+==[\w.]+( ; python_version == "[^"]+".*?)?( --hash=sha256:[0-9a-f]{64})+'
    )
    for each in lines[1:]:
        assert line.fullmatch(each), each


def test_one_package_has_one_version_everywhere():
    for layer in LAYERS:
        for name, version in locked(layer).items():
            assert locked(*LAYERS)[name] == version


@pytest.mark.parametrize("layers", [["core"], ["core", "underlay"], ["core", "colcon", "ros"]])
def test_what_a_locked_package_needs_is_locked_too(layers):
    known = locked("installer", *layers)
    ours = [dist for dist in map(installed, known) if dist is not None]
    for dist in ours:
        needs = [Requirement(text) for text in dist.requires or []]
        for each in needs:
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                name = normal(each.name)
                assert name in known, f"{dist.name} needs {each}"
                assert known[name][2:] in each.specifier, f"{dist.name} needs {each}"


def test_what_is_installed_is_what_is_locked():
    known = locked("core")
    assert {name: f"=={distribution(name).version}" for name in known} == known


# Words by which a licence is known, wherever a package says which it has.
FAMILIES = {
    "MIT": r"\bMIT\b(?!-CMU)|MIT-CMU",
    "BSD": r"0BSD|\bBSD\b",
    "Apache": r"\bApache\b",
    "PSF": r"\bPSF\b|Python Software Foundation",
    "MPL": r"\bMPL\b|Mozilla Public",
    "zlib": r"\bzlib\b",
    "GPL": r"(?<!L)GPL|(?<!Lesser )General Public License",
    "LGPL": r"\bLGPL|Lesser General Public",
}


def families(text: str) -> set[str]:
    return {name for name, words in FAMILIES.items() if re.search(words, text, re.IGNORECASE)}


def licence_table() -> dict[str, str]:
    """Package -> licence, of docs/reference/licences.md."""
    rows = re.findall(r"^\| (.+) \| (.+) \|$", LICENCES.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: row[0] for row in rows for name in row[1].split(", ") if row[0] != "licence"}


def said_licence(name: str) -> str:
    """Licence of an installed package by its metadata or its ROS manifest; "" for neither."""
    dist = installed(name)
    if dist is None:
        return ""
    about = dist.metadata
    if "License-Expression" in about:
        return about["License-Expression"]
    kinds = [kind for kind in about.get_all("Classifier") or [] if kind.startswith("License")]
    manifest = Path(
        sys.prefix, "share", name.removeprefix("ros-").replace("-", "_"), "package.xml"
    )
    if manifest.is_file():
        kinds += re.findall(r"<license[^>]*>[^<]*", manifest.read_text(encoding="utf-8"))
    return " ".join(kinds) or about.get("License", "")


def test_the_table_of_licences_lists_what_is_locked_and_nothing_else():
    assert set(licence_table()) == set(locked(*ALL))


@pytest.mark.parametrize("layer", LAYERS)
def test_the_table_of_licences_says_what_the_packages_say(layer):
    table = licence_table()
    said = {name: families(said_licence(name)) for name in locked(layer)}
    wrong = {
        n: (table[n], each) for n, each in said.items() if each - {"GPL"} - families(table[n])
    }
    assert not wrong
    assert any(said.values()) or installed(next(iter(said))) is None


@pytest.mark.slow
def test_nothing_that_runs_is_under_the_gpl():
    table = licence_table()
    for name in locked(*RUNTIME, "installer", "colcon"):
        assert "GPL" not in families(table[name]), name
        assert "GPL" not in families(said_licence(name)) or name == "docutils", name


def test_the_part_of_docutils_that_is_under_the_gpl_is_not_installed():
    dist = installed("docutils")
    if dist is None:
        pytest.skip("colcon comes from the ROS 2 that is sourced")
    assert dist.files
    assert not [file for file in dist.files if file.suffix == ".el"]


def test_a_table_that_hides_the_gpl_is_seen():
    assert families("GNU General Public License v3 (GPLv3)") == {"GPL"}
    assert families("LGPL-2.1") == {"LGPL"}
    assert families("GNU Lesser General Public License v3") == {"LGPL"}
    assert families(said_licence("evo")) == {"GPL"}


def package(*needs):
    return {"metadata": {"requires_dist": list(needs)}}


PACKAGES = {
    "plot": package("array>=1", 'draw; extra == "pictures"'),
    "array": package(),
    "draw": package("plot", 'old; python_version < "3.13"'),
    "old": package(),
}


@pytest.fixture
def layer(tmp_path, monkeypatch):
    """A layer that asks for pictures, and for an oracle without what that asks for."""
    (tmp_path / "core.txt").write_text("Plot[pictures]==1.0  # with pictures\n")
    (tmp_path / "oracles.txt").write_text("oracle==1.0\n")
    monkeypatch.setitem(LOCK["of_file"].__globals__, "REQUIREMENTS", tmp_path)
    return LOCK["Layer"](["core"], ["oracles"], [], ["3.12", "3.13"])


def test_what_is_needed_follows_extras_and_markers(layer):
    needed = LOCK["needed"]
    assert needed(layer, PACKAGES, "3.12") == {"plot", "array", "draw", "old", "oracle"}
    assert needed(layer, PACKAGES, "3.13") == {"plot", "array", "draw", "oracle"}


def test_a_line_has_each_hash_once_and_names_the_pythons_where_not_all_need_it():
    line, all_pythons = LOCK["line"], ["3.12", "3.13"]
    assert line("old", "1.0", {"3.12": "b", "3.13": "a"}, all_pythons) == (
        "old==1.0 --hash=sha256:a --hash=sha256:b"
    )
    assert line("old", "1.0", {"3.12": "a", "3.13": "a"}, all_pythons) == (
        "old==1.0 --hash=sha256:a"
    )
    assert line("old", "1.0", {"3.12": "a"}, all_pythons) == (
        'old==1.0 ; python_version == "3.12" --hash=sha256:a'
    )


def test_a_lock_that_is_read_has_neither_comments_nor_hashes(tmp_path):
    path = tmp_path / "core.txt"
    path.write_text('# comment\nold==1.0 ; python_version == "3.12" --hash=sha256:a\n')
    (only,) = LOCK["read"](path)
    assert (only.name, str(only.specifier)) == ("old", "==1.0")
