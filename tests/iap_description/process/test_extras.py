# SPDX-License-Identifier: BSD-3-Clause
"""The line that installs what is missing: locked files of a checkout, or ranges of versions."""

import sys

import pytest

from iap_description.process import extras


@pytest.mark.parametrize(
    ("extra", "rest"),
    [
        ("learn", "--require-hashes -r {locks}/learn.txt"),
        ("batch", "--no-deps --require-hashes -r {locks}/batch.txt"),
        ("unknown", "--require-hashes -r {locks}/core.txt"),
    ],
)
def test_a_checkout_installs_its_locked_files(extra, rest, tmp_path, monkeypatch):
    locks = tmp_path / extras.LOCKS
    locks.mkdir(parents=True)
    for name in ("learn", "batch", "core"):
        (locks / f"{name}.txt").write_text("")
    monkeypatch.setattr(extras, "CHECKOUT", tmp_path)
    line = extras.install_line(extra)
    assert line == f"{sys.executable} -m pip install {rest.format(locks=locks)}"
    error = extras.missing("jax", "training needs", extra)
    assert str(error) == f"training needs jax, which is not installed: {line}"


def test_elsewhere_ranges_of_this_pythons_versions_are_installed(tmp_path, monkeypatch):
    minor = sys.version_info[1]
    lines = [
        'jax>=0.4; extra == "learn"',
        f'old==1; python_version < "3.{minor}" and extra == "learn"',
        f'new==2; python_version >= "3.{minor}" and extra == "learn"',
        f'later==3; python_version >= "3.{minor + 1}" and extra == "learn"',
        f'until==4; python_version < "3.{minor + 1}" and extra == "learn"',
        'mujoco>=3; extra == "mujoco"',
        "numpy>=1",
    ]
    monkeypatch.setattr(extras, "CHECKOUT", tmp_path)
    monkeypatch.setattr(extras, "requires", lambda name: lines)
    assert extras.requirements("learn") == ["jax>=0.4", "new==2", "until==4"]
    assert extras.install_line("learn").endswith("pip install 'jax>=0.4' new==2 until==4")
    assert extras.requirements("nothing") == [f"{extras.SUITE}[nothing]"]
