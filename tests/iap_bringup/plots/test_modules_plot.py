# SPDX-License-Identifier: BSD-3-Clause
"""The plot of a run of modules, and none of a run without them."""

from pathlib import Path

import numpy as np

from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.plots.table import PLOTS, write_plots
from iap_simulation.modules.record import FILE, STATE_NAMES

MODULES_PLOT = [plot for plot in PLOTS if plot.name == "modules"]


def test_a_run_of_modules_has_a_plot_and_others_have_none(tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    assert write_plots(RecordedRun(tmp_path), MODULES_PLOT) == []
    t = np.arange(0.0, 4.0, 0.025)
    states = np.clip(np.floor(t), 0.0, 3.0)[:, None]
    columns = {
        "t": t,
        "states": states,
        "joint_wrenches": np.ones((len(t), 1, 6)),
        "errors": np.ones((len(t), 2, 6)),
        "joints": np.array(["j"]),
        "state_names": np.array(STATE_NAMES),
    }
    np.savez(tmp_path / FILE, **columns)
    (plot,) = write_plots(RecordedRun(tmp_path), MODULES_PLOT)
    assert plot.stat().st_size > 10_000


def test_a_single_module_has_no_joints_and_a_plot(tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    t = np.arange(0.0, 1.0, 0.025)
    columns = {
        "t": t,
        "states": np.zeros((len(t), 0)),
        "joint_wrenches": np.zeros((len(t), 0, 6)),
        "errors": np.ones((len(t), 1, 6)),
        "joints": np.array([], dtype=str),
        "state_names": np.array(STATE_NAMES),
    }
    np.savez(tmp_path / FILE, **columns)
    assert len(write_plots(RecordedRun(tmp_path), MODULES_PLOT)) == 1
