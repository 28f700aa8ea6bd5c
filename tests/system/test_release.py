# SPDX-License-Identifier: BSD-3-Clause
"""The check of a release."""

import importlib.util
import json
import os
import re
import subprocess

import pytest
from catkin_pkg.changelog import get_changelog_from_path
from test_workspace import PACKAGES, ROOT


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


release, changelogs = tool("check_release"), tool("changelogs")


@pytest.fixture
def checkout(tmp_path):
    """A checkout of two packages in version 1.2.0, released, with their wheels."""
    for name in ("iap_description", "iap_io"):
        folder = tmp_path / name / name
        folder.mkdir(parents=True)
        (tmp_path / name / "package.xml").write_text("<version>1.2.0</version>\n")
        (tmp_path / name / "setup.py").write_text('VERSION = "1.2.0"\n')
        (folder / "__init__.py").write_text('__version__ = "1.2.0"\n')
        (tmp_path / name / "CHANGELOG.rst").write_text("1.2.0 (2026-12-01)\n")
        (tmp_path / f"{name}-1.2.0-py3-none-any.whl").touch()
    (tmp_path / "CITATION.cff").write_text("version: 1.2.0\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.0 (2026-12-01)\n")
    return tmp_path


def found(checkout):
    return list(release.faults(checkout, checkout))


def test_a_release_has_one_version_everywhere_a_date_and_all_wheels(checkout):
    assert found(checkout) == []


def test_what_a_release_lacks_is_named(checkout):
    (checkout / "iap_io" / "package.xml").write_text("<version>1.1.0</version>\n")
    (checkout / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n")
    (checkout / "iap_io" / "CHANGELOG.rst").write_text("1.1.0 (2026-11-01)\n")
    (checkout / "iap_io-1.2.0-py3-none-any.whl").unlink()
    lines = found(checkout)
    assert [line.split(":")[0] for line in lines] == [
        "iap_io/package.xml",
        "CHANGELOG.md",
        "iap_io/CHANGELOG.rst",
        str(checkout),
    ]


def test_this_checkout_has_one_version_everywhere():
    assert len(set(release.versions(ROOT).values())) == 1


@pytest.mark.parametrize("package", PACKAGES)
def test_ros_reads_the_changelog_of_every_package(package):
    """By catkin_pkg, as the tools do that make a distribution's packages."""
    versions = changelogs.sections((ROOT / "CHANGELOG.md").read_text().splitlines())
    log = get_changelog_from_path(ROOT / package / "CHANGELOG.rst", package)
    found = {
        version: (str(date.date()), len(next(iter(log.get_content_of_version(version))).bullets))
        for version, date, _ in log.foreach_version()
    }
    assert list(found) == list(versions)[: len(found)][::-1]
    for version, (date, count) in found.items():
        assert date == versions[version][0]
        assert 1 <= count <= len(versions[version][1])


def test_an_entry_goes_to_the_packages_that_its_commit_touched(tmp_path):
    def commit():
        git = ["git", "-C", tmp_path, "-c", "user.name=N", "-c", "user.email=n@example.org"]
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "A change"], check=True)

    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    names = ("iap_control", "iap_io", "iap_suite")
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "package.xml").touch()
    log = tmp_path / "CHANGELOG.md"
    log.write_text("# Changelog\n\n## Unreleased\nAbout.\n")
    commit()
    log.write_text(log.read_text() + "- Of the pages.\n")
    commit()
    log.write_text(log.read_text() + "- A `law` of\n  [two](lines.md) *lines*, `a_`b.\n")
    (tmp_path / "iap_control" / "law.py").touch()
    commit()
    changelogs.write(tmp_path)
    assert not list(tmp_path.rglob("*.rst"))  # nothing is released
    log.write_text(log.read_text().replace("Unreleased", "1.2.0 (2026-12-01)"))
    changelogs.write(tmp_path)  # before the heading is committed
    control, io, suite = ((tmp_path / name / "CHANGELOG.rst").read_text() for name in names)
    assert control.endswith("* About.\n* A ``law`` of two \\*lines\\*, ``a_``\\ b.\n")
    assert io.endswith("------------------\n* About.\n")
    assert suite.endswith("* About.\n* Of the pages.\n")
    changelogs.write(tmp_path)
    assert (tmp_path / "iap_io" / "CHANGELOG.rst").read_text() == io


def test_the_dev_container_runs_a_script_that_is_there_and_installs_files_that_are_there():
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    script = ROOT / container["postCreateCommand"]
    assert os.access(script, os.X_OK)
    named = re.findall(r"requirements/[\w.]+", script.read_text())
    assert named and all((ROOT / each).is_file() for each in named)
    subprocess.run(["bash", "-n", script], check=True)
