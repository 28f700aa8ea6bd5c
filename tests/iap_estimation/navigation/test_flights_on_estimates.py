# SPDX-License-Identifier: BSD-3-Clause
"""Short flights whose controller and autopilots go by an estimate of rendered images, inertial units and ranges."""

import json

import numpy as np
import pytest

from iap_bringup.cli.main import main
from iap_io.runs.run_folder import load_run

SMALL = tuple(
    f"sensors.cameras.{camera}.{key}={value}"
    for camera in ("left", "right")
    for key, value in (("width", 320), ("height", 240), ("fx", 160.0), ("fy", 160.0), ("cx", 159.5), ("cy", 119.5))
)  # fmt: skip
QUICK = (*SMALL, "recording.euroc=false")
pytestmark = [pytest.mark.usefixtures("opengl"), pytest.mark.slow]


def flown(out, source, *assignments, flight=("figure_eight",), duration=3.0):
    settings = [word for each in (*QUICK, *assignments) for word in ("--set", each)]
    given = ["--sensors", "stereo", "--scene", "textured_walls", "--state-source", source]
    length = ["--duration", str(duration), "--no-plot", "--no-view", "--out", str(out)]
    code = main(["run", *flight, *given, *length, *settings])
    return code, json.loads((out / "metrics.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def joint(tmp_path_factory):
    folder = tmp_path_factory.mktemp("joint") / "run"
    code, metrics = flown(folder, "joint")
    return folder, code, metrics


def test_a_flight_on_joint_keeps_to_its_reference(joint):
    _, code, metrics = joint
    assert code == 0 and metrics["outcome"] == "completed"
    assert metrics["state_source"] == "joint"
    assert 0.0 < metrics["position_rmse_m"] < 0.05
    assert metrics["saturated_fraction"] == 0.0


def test_the_estimate_is_judged_by_the_truth_which_stays_the_truth(joint):
    folder, _, metrics = joint
    assert list(metrics["estimation"]) == ["center", "drone_1", "drone_2", "drone_3"]
    for body in metrics["estimation"].values():
        assert 0.0 < body["joint"]["ate_rmse_m"] < body["joint"]["ate_max_m"] < 0.1
        assert body["joint"]["attitude_rmse_deg"] < 2.0
    assert metrics["methods"]["joint"]["faults"] == []
    health = metrics["methods"]["joint"]["health"]
    assert health["tracks_min"] > 20
    assert health["blind_max_s"] == 0.0
    assert 0.003 < health["deviation_max_m"] < 0.05
    told = np.loadtxt(folder / "estimate_iap_drone_2.tum")
    true = np.loadtxt(folder / "trajectory_iap_drone_2.tum")[
        ::2
    ]  # odometry comes at half the rate
    np.testing.assert_allclose(told[:, 0], true[:, 0], atol=1e-9)
    off = np.linalg.norm(told[:, 1:4] - true[:, 1:4], axis=1)
    figure = metrics["estimation"]["drone_2"]["joint"]["ate_rmse_m"]
    assert np.sqrt((off**2).mean()) == pytest.approx(figure, rel=1e-4)


def test_the_bag_holds_the_estimates(joint):
    columns = load_run(joint[0]).vehicles[0].columns
    known = np.isfinite(columns.estimated).all(axis=(1, 2))
    np.testing.assert_array_equal(np.flatnonzero(known), np.arange(0, len(known), 2))
    errors = (columns.estimated - columns.x)[known]
    assert np.abs(errors[0]).max() < 1e-12  # it begins at the truth
    assert 1e-3 < np.abs(errors[50:, :, 7:10]).max() < 0.2
    assert 0.01 < errors[50:, :, 10:].std() < 0.05  # the gyroscopes' noise
    assert columns.step(4).estimated is not None


def test_the_same_seed_gives_the_same_flight(joint, tmp_path):
    flown(tmp_path / "again", "joint")
    first, again = (
        load_run(each).vehicles[0].columns.x for each in (joint[0], tmp_path / "again")
    )
    np.testing.assert_array_equal(first, again)


def test_one_aircraft_flies_on_its_own_eyes(tmp_path):
    code, metrics = flown(tmp_path / "run", "vio_uwb", flight=("hover", "--platform", "f450"))
    assert code == 0
    assert list(metrics["estimation"]) == ["base_link"]
    assert metrics["position_rmse_m"] < 0.05


def test_an_estimator_that_loses_its_way_ends_the_flight(tmp_path, capsys):
    """No estimate travels on: exit code 1, with the reason."""
    code, metrics = flown(tmp_path / "run", "joint", "sensors.imu.gyro.bias=3.0")
    assert code == 1
    assert metrics["outcome"] == "localization_failed"
    assert metrics["methods"]["joint"]["faults"]
    complaint = capsys.readouterr().err
    assert "localization_failed" in complaint and "joint" in complaint
    assert complaint.count("\n") == 1
