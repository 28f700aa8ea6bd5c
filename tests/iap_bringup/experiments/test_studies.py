# SPDX-License-Identifier: BSD-3-Clause
"""The studies of sensors meet what they print beside their numbers; the long ones on less."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.experiments import contact as contact_studies
from iap_bringup.experiments import docking as docking_study
from iap_bringup.experiments import images as camera_studies
from iap_bringup.experiments import sensors as sensing_studies
from iap_simulation.metrics.contact import ESTIMATED


def quiet(_):
    pass


def holds(rows):
    """True if every number keeps to its bar."""
    for name, row in rows.items():
        value, bar = float(row["measured"]), row["bar"]
        if bar.startswith("<="):
            assert value <= float(bar[2:]), name
        elif bar.startswith(">="):
            assert value >= float(bar[2:]), name
        else:
            assert value == float(bar), name
    return len(rows)


@pytest.mark.slow
def test_perfect_samples_add_up_to_the_motion():
    assert holds(sensing_studies.dead_reckoning(quiet)) == 4


def test_white_noise_is_returned_by_a_short_log_too():
    rows = sensing_studies.noise(quiet, hours=0.5)
    assert float(rows["gyro noise, off its density, %"]["measured"]) < 2.0


@pytest.mark.slow
def test_attitude_is_estimated_over_a_short_flight():
    assert holds(sensing_studies.attitude(quiet, range(1, 4), long=12.0, short=6.0)) == 4


@pytest.mark.slow
def test_stamps_projection_and_stereo_keep_to_their_bars(opengl):
    assert holds(sensing_studies.stamps(quiet, opengl)) == 3
    assert holds(camera_studies.projection(quiet, opengl)) == 3
    assert holds(camera_studies.stereo(quiet, opengl)) == 2


@pytest.mark.slow
def test_the_hard_docking_has_a_row_of_each_delay_and_engine_for_script_and_policy():
    rows = docking_study.docking_rows(docking_study.Sizes(drawn=16, each=16, engine=1), quiet)
    for who in ("script", "policy"):
        for name in ("delays drawn", "0 ms", "20 ms", "40 ms", "60 ms"):
            row = rows[f"{who}, {name}"]
            assert row["success_%"] >= 90.0, name
            assert row["at_least_%"] < row["success_%"]
            assert row["then_calm_s"] <= 1.5
        assert rows[f"{who}, pybullet"]["starts"] == "1"
    assert rows["policy, 60 ms"]["lock_s"] < rows["script, 60 ms"]["lock_s"]


def test_estimates_are_the_first_vehicles_from_the_time_that_is_named(monkeypatch):
    t = 0.1 * np.arange(5)
    wrenches = np.arange(5 * 12.0).reshape(5, 12)
    rows = SimpleNamespace(t=t, wrench_record=SimpleNamespace(wrenches=wrenches))
    run = SimpleNamespace(vehicles=[SimpleNamespace(columns=rows)])
    monkeypatch.setattr(contact_studies, "load_run", lambda _: run)
    found = contact_studies._estimates(Path("run"), 0.3)
    assert np.array_equal(found, wrenches[3:, ESTIMATED])
