# SPDX-License-Identifier: BSD-3-Clause
"""Scenario and platform files with something wrong in them, and the refusal that they must meet."""

import pytest
import yaml

from iap_bringup.cli.main import main
from iap_description.vehicles.platform import platform_tree

HOVER = {"type": "hover", "duration": 1.0, "position": [0.0, 0.0, 1.5], "rpy_deg": [0.0, 0.0, 0.0]}
GOOD = {"description": "A test.", "platform": "three_star", "reference": HOVER}


@pytest.fixture
def refused(tmp_path, capsys):
    """Runs a command that must be refused; returns its one line of complaint."""

    def call(*arguments, verb="run"):
        out = tmp_path / "refused"
        code = main([verb, *map(str, arguments), "--out", str(out)])
        printed, complaint = capsys.readouterr()
        assert code == 2
        assert printed == ""
        assert complaint.startswith("iap: ") and complaint.count("\n") == 1
        assert "Traceback" not in complaint
        assert not out.exists()
        return complaint

    return call


@pytest.fixture
def scenario(tmp_path):
    """Writes a scenario file: the good one with keys replaced, or removed where the value is ``...``."""

    def write(text=None, **changes):
        tree = {key: value for key, value in {**GOOD, **changes}.items() if value is not ...}
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump(tree) if text is None else text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def platform(tmp_path):
    """Writes a platform file: three_star changed by a function."""

    def write(change):
        tree = platform_tree("three_star")[0]
        change(tree)
        path = tmp_path / "vehicle.yaml"
        path.write_text(yaml.safe_dump(tree), encoding="utf-8")
        return path

    return write
