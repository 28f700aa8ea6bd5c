# SPDX-License-Identifier: BSD-3-Clause
"""`./iap localize --method batch`: a folder of results as of any other method, and what it needs."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from checkouts import ROOT
from resting_pair import resting, write_euroc
from tum_files import read_tum

from iap_bringup.cli import main
from iap_bringup.launching.node_parameters import localization_nodes
from iap_description.errors import BadInput


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return write_euroc(tmp_path_factory.mktemp("data") / "still", resting(2.0))


@pytest.mark.slow
def test_it_goes_out_as_any_other_method(folder, tmp_path, capsys):
    """At every keyframe of the window; it rests."""
    arguments = ["localize", str(folder), "--method", "vio,batch", "--out", str(tmp_path / "out")]
    assert main.main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    one = told["estimation"]["still"]
    assert told["methods"]["batch"]["outcome"] == one["batch"]["outcome"] == "completed"
    assert one["batch"]["ate_rmse_m"] < 1e-3, "half of what its first state may be off"
    assert 0.0 < one["batch"]["nees_position"] < 3.0
    (t, poses), (times, _) = (
        read_tum(tmp_path / "out" / f"trajectory_still_{method}.tum")
        for method in ("batch", "vio")
    )
    np.testing.assert_array_equal(t, times)
    assert np.isfinite(poses).all()
    assert json.loads((tmp_path / "out" / "metrics.json").read_text()) == told
    assert list((tmp_path / "out" / "plots").glob("*.png"))


def test_without_gtsam_one_line_says_how_to_get_it(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "gtsam", None)
    assert (
        main.main(["localize", str(folder), "--method", "batch", "--out", str(tmp_path / "x")])
        == 2
    )
    line = capsys.readouterr().err.strip()
    assert "\n" not in line
    assert "needs gtsam" in line
    assert (ROOT / line.split()[-1]).is_file()
    assert not (tmp_path / "x").exists()


def test_nobody_else_imports_gtsam():
    code = "import iap_bringup.cli.localize, sys; sys.exit('gtsam' in sys.modules)"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0


def test_nodes_refuse_it_too():
    with pytest.raises(BadInput, match="'batch' is for recordings alone.*joint, drift_filter"):
        localization_nodes(None, None, "batch")
