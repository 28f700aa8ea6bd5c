# SPDX-License-Identifier: BSD-3-Clause
"""A run of this suite as a data set: geometry and truth that agree, in its bag and in its EuRoC folder alike."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from iap_bringup.cli import main
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.sensor_info import load_sensors
from iap_estimation.datasets.dataset import SensorDataset
from iap_estimation.datasets.initial_states import first_of
from iap_estimation.datasets.opening import open_dataset
from iap_estimation.navigation.measurements import Images
from iap_estimation.virpo.messages import CENTRE, CENTRE_NAME, ImuSample, Ranges, Tilt
from iap_io.runs.run_folder import load_run

MOUNT = ("[0.05, -0.02, 0.03]", "[4.0, -7.0, 20.0]")  # of the inertial units [m], [deg]
SMALL = [
    f"sensors.cameras.{camera}.{key}={value}"
    for camera in ("left", "right")
    for key, value in (("width", 96), ("height", 72), ("fx", 48.0), ("fy", 48.0), ("cx", 47.5), ("cy", 35.5))
]  # fmt: skip


@pytest.fixture(scope="module")
def run(opengl, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("run") / "flown"
    settings = [
        f"platform.aircraft.mounts.imu.position={MOUNT[0]}",
        f"platform.aircraft.mounts.imu.rpy_deg={MOUNT[1]}",
        "recording.euroc=true",
        "control.frontend=euroc",
        *SMALL,
    ]
    arguments = ["run", "figure_eight", "--sensors", "stereo", "--scene", "textured_walls"]
    arguments += ["--duration", "1.0", "--no-plot", "--no-view", "--out", str(out)]
    assert main.main(arguments + [word for each in settings for word in ("--set", each)]) == 0
    return out


@pytest.fixture(scope="module")
def dataset(run: Path) -> SensorDataset:
    return open_dataset(run)


@pytest.mark.slow
def test_samples_of_all_sensors_of_all_aircraft_arrive(dataset: SensorDataset) -> None:
    heard = [(who, type(said)) for who, said in dataset.events()]
    for aircraft in range(3):
        assert heard.count((aircraft, ImuSample)) == 200
        assert heard.count((aircraft, Images)) == 21
        assert heard.count((aircraft, Ranges)) == 201
    assert heard.count((CENTRE, Tilt)) == 200
    assert [craft.name for craft in dataset.aircraft] == ["drone_1", "drone_2", "drone_3"]
    assert dataset.tally.sentences() == []


def test_its_images_are_followed_as_its_flight_said(dataset: SensorDataset) -> None:
    assert dataset.frontend.preset == "euroc"


def test_joints_are_where_both_bodies_have_them(dataset: SensorDataset) -> None:
    assert dataset.centre is not None
    centre = dataset.centre.truth
    assert centre is not None
    for craft, d in zip(dataset.aircraft, dataset.centre.d, strict=True):
        truth = craft.truth
        assert truth is not None
        here = _point(truth.poses, craft.p_BJ_B)
        np.testing.assert_allclose(here, _point(centre.poses, d), atol=1e-6)


def _point(poses: np.ndarray, p_B: np.ndarray) -> np.ndarray:
    return poses[:, :3] + so3.rotate(poses[:, 3:], np.broadcast_to(p_B, (len(poses), 3)))


def test_true_velocities_are_those_of_the_true_places(dataset: SensorDataset) -> None:
    for truth in dataset.bodies.values():
        assert truth is not None
        assert truth.v_W is not None
        moved = np.diff(truth.poses[:, :3], axis=0) / np.diff(truth.t)[:, None]
        middle = 0.5 * (truth.v_W[1:] + truth.v_W[:-1])
        np.testing.assert_allclose(moved, middle, atol=2e-3)


def test_flights_begin_as_the_truth_says_and_nowhere_beside_it(dataset: SensorDataset) -> None:
    start, is_true = first_of(dataset)
    assert is_true
    for who, craft in enumerate(dataset.aircraft):
        truth = craft.truth
        middle = len(truth.t) // 2
        state = start(who, float(truth.t[middle]))
        np.testing.assert_allclose(state[:7], truth.poses[middle], atol=1e-9)
        np.testing.assert_allclose(state[7:10], truth.v_W[middle], atol=1e-9)
        np.testing.assert_array_equal(state[10:], 0.0)
        assert start(who, float(truth.t[0]) - 0.1) is None
        assert start(who, float(truth.t[-1]) + 0.1) is None


def test_ranges_are_distances_of_the_antenna(dataset: SensorDataset) -> None:
    off = []
    for who, said in dataset.events():
        if isinstance(said, Ranges):
            craft = dataset.aircraft[who]
            row = int(np.argmin(np.abs(craft.truth.t - said.t)))
            antenna = _point(craft.truth.poses[row : row + 1], craft.p_BA_B)
            off.extend(
                (said.ranges - np.linalg.norm(said.p_W - antenna, axis=1)) / said.deviations
            )
    assert abs(np.mean(off)) < 4.0 / np.sqrt(len(off))
    assert np.std(off) == pytest.approx(1.0, rel=0.1)


def test_the_gyroscope_turns_as_the_truth_does(dataset: SensorDataset) -> None:
    truth = dataset.aircraft[0].truth
    w_B = [s.w_B for who, s in dataset.events() if who == 0 and isinstance(s, ImuSample)]
    turned = so3.multiply(so3.conjugate(truth.poses[:-1, 3:]), truth.poses[1:, 3:])
    true_w_B = so3.quaternion_log(turned) / np.diff(truth.t)[:, None]
    off = np.array(w_B) - true_w_B[: len(w_B)] - truth.biases[1 : len(w_B) + 1, :3]
    noise = 0.0015 * np.sqrt(200.0)
    assert np.std(off) == pytest.approx(noise, rel=0.15)


def test_the_tilt_is_the_central_bodys(dataset: SensorDataset) -> None:
    truth = dataset.bodies[CENTRE_NAME]
    tilts = [said for _, said in dataset.events() if isinstance(said, Tilt)]
    up = np.array([0.0, 0.0, 1.0])
    for said in tilts[::20]:
        row = int(np.argmin(np.abs(truth.t - said.t)))
        ups = [so3.rotate(so3.conjugate(q), up) for q in (said.q_WB0, truth.poses[row, 3:])]
        assert np.arccos(np.clip(ups[0] @ ups[1], -1.0, 1.0)) < np.deg2rad(3.0)


def test_the_euroc_folder_says_the_same(run: Path, dataset: SensorDataset) -> None:
    other = open_dataset(run / "euroc" / "drone_2")
    ours = [e for who, e in dataset.events() if who == 1 and not isinstance(e, Ranges)]
    theirs = [said for _, said in other.events()]
    assert [type(said) for said in ours] == [type(said) for said in theirs]
    for a, b in zip(ours, theirs, strict=True):
        assert a.t == pytest.approx(b.t, abs=1e-9)
        names = ("w_B", "f_B") if isinstance(a, ImuSample) else ("left", "right")
        for name in names:
            np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    mine, its = dataset.aircraft[1], other.aircraft[0]
    np.testing.assert_allclose(mine.calibration.p_BC_B, its.calibration.p_BC_B, atol=1e-12)
    np.testing.assert_allclose(mine.truth.poses[:, :3], its.truth.poses[:, :3], atol=1e-12)
    np.testing.assert_allclose(mine.truth.v_W, its.truth.v_W, atol=1e-12)


def test_the_bag_within_the_folder_is_the_run(run: Path, dataset: SensorDataset) -> None:
    assert open_dataset(run / "bag").source == dataset.source


def test_too_few_aircraft_for_the_platform(run: Path, tmp_path: Path) -> None:
    _changed(run, tmp_path, lambda meta: [s for s in meta if "drone_3/imu" not in s["topic"]])
    with pytest.raises(
        BadInput, match="three_star has 3 aircraft, but 1 of them .drone_3. came without"
    ):
        open_dataset(tmp_path)


def test_a_run_without_sensors(run: Path, tmp_path: Path) -> None:
    _changed(run, tmp_path, lambda meta: [])
    with pytest.raises(BadInput, match="recorded without sensors"):
        open_dataset(tmp_path)


def test_an_older_recording_has_its_joints_in_its_configuration(
    run: Path, tmp_path: Path, dataset: SensorDataset
) -> None:
    _changed(run, tmp_path, lambda sensors: sensors, has_places=False)
    np.testing.assert_array_equal(open_dataset(tmp_path).centre.d, dataset.centre.d)


def test_an_older_recording_that_does_not_fit_its_configuration(run: Path, tmp_path: Path) -> None:
    _changed(run, tmp_path, lambda sensors: sensors, has_places=False)
    config = yaml.safe_load((run / "config.yaml").read_text())
    config["platform"]["joints"].pop()
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    with pytest.raises(BadInput, match=r"config.yaml says 2 aircraft, the recording 3"):
        open_dataset(tmp_path)


def test_the_run_folder_lists_its_sensors_for_nodes(run: Path) -> None:
    sensors = load_sensors(str(run / "sensors.yaml"), source="test")
    assert sensors == load_run(run).meta.sensors


def _changed(run: Path, folder: Path, change, *, has_places: bool = True) -> None:
    """A copy of a run whose recording says something else about its sensors, or not where its joints are."""
    (folder / "bag").mkdir()
    for path in (run / "bag").iterdir():
        (folder / "bag" / path.name).symlink_to(path)
    (folder / "config.yaml").write_text((run / "config.yaml").read_text())
    tree = yaml.safe_load((run / "bag" / "metadata.yaml").read_text())
    custom = tree["rosbag2_bagfile_information"]["custom_data"]
    meta = json.loads(custom["iap_run"])
    meta["sensors"] = change(meta["sensors"])
    for joint in [] if has_places else meta["vehicles"][0]["joints"]:
        del joint["p_PJ_P"]
    custom["iap_run"] = json.dumps(meta)
    (folder / "bag" / "metadata.yaml").unlink()
    (folder / "bag" / "metadata.yaml").write_text(yaml.safe_dump(tree))
