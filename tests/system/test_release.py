# SPDX-License-Identifier: BSD-3-Clause
"""The check of a release."""

import importlib.util

import pytest
from test_workspace import ROOT

SPEC = importlib.util.spec_from_file_location("check_release", ROOT / "tools" / "check_release.py")
release = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(release)


@pytest.fixture
def checkout(tmp_path):
    """A checkout of two packages in version 1.2.0, released, with their wheels."""
    for name in ("iap_description", "iap_io"):
        folder = tmp_path / name / name
        folder.mkdir(parents=True)
        (tmp_path / name / "package.xml").write_text("<version>1.2.0</version>\n")
        (tmp_path / name / "setup.py").write_text('VERSION = "1.2.0"\n')
        (folder / "__init__.py").write_text('__version__ = "1.2.0"\n')
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
    (checkout / "iap_io-1.2.0-py3-none-any.whl").unlink()
    lines = found(checkout)
    assert [line.split(":")[0] for line in lines] == [
        "iap_io/package.xml",
        "CHANGELOG.md",
        str(checkout),
    ]


def test_this_checkout_has_one_version_everywhere():
    assert len(set(release.versions(ROOT).values())) == 1
