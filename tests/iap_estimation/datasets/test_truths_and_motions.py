# SPDX-License-Identifier: BSD-3-Clause
"""Truths of folders beside what the inertial unit feels, and checks that count, told by stand-ins and few numbers."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_estimation.datasets import euroc_source, image_checks, inertial_checks, stream_checks
from iap_estimation.datasets.data_sample import DataSample
from iap_estimation.evaluation.truth import Truth
from iap_estimation.virpo.messages import ImuSample

LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize(("rate", "is_moving"), [(0.0395, False), (0.0405, True)])
def test_one_camera_alone_begins_at_rest_below_a_25th_of_a_radian_a_second(
    monkeypatch, rate, is_moving
):
    one = SimpleNamespace(truth=None, calibration=SimpleNamespace(right=None))
    sample = SimpleNamespace(
        dataset=SimpleNamespace(source="x", aircraft=[one]), turns_can_be_seen=True
    )
    monkeypatch.setattr(image_checks, "_parallax_rate", lambda sample: rate)
    if is_moving:
        with pytest.raises(BadInput, match="^x: one camera alone that begins in motion"):
            image_checks.rest_of_one_camera(sample)
    else:
        assert (
            image_checks.rest_of_one_camera(sample)
            == "begins at rest (its view moves by 0.040 rad/s)"
        )


@pytest.mark.parametrize(("degrees", "is_refused"), [(0.0059, True), (0.0061, False)])
def test_another_unit_of_rates_is_meant_where_it_leaves_six_tenths_of_no_turn(degrees, is_refused):
    left = {0.0: 0.01, 1.0: 0.03, inertial_checks.DEGREE: degrees}
    misfits = lambda factor: SimpleNamespace(least=left.get(factor, 9.0))  # noqa: E731
    sample = SimpleNamespace(
        dataset=SimpleNamespace(source="x"), samples=[0, 1], pairs=[0], misfits=misfits
    )
    if is_refused:
        with pytest.raises(
            BadInput, match="does not fit the turns of the images in rad/s, but in deg/s"
        ):
            inertial_checks.rate_unit(sample)
    else:
        assert inertial_checks.rate_unit(sample).startswith("its turns do not fit the images'")


@pytest.mark.parametrize(
    ("seconds", "size", "said"),
    [(2.57, 4.0, None), (2.65, 4.0, r"(4|3.9\d) times as much"), (2.65, 1.0, None)],
)
def test_places_of_another_size_than_motion_are_told_from_twenty_bumps_on(seconds, size, said):
    t = np.arange(0.0, seconds + 1e-9, 0.01)
    place, a = np.sin(4.0 * t), -16.0 * np.sin(4.0 * t)
    poses = np.zeros((len(t), 7))
    poses[:, 0], poses[:, 1], poses[:, 6] = size * place, size * np.cos(5.0 * t), 1.0
    forces = np.stack([a, -25.0 * np.cos(5.0 * t), 0.0 * t + 9.81], axis=1)
    samples = [ImuSample(*each) for each in zip(t.tolist(), 0.0 * forces, forces, strict=True)]
    one = SimpleNamespace(truth=Truth(t, poses))
    sample = DataSample(SimpleNamespace(source="x", aircraft=[one]), samples)
    if said is None:
        assert inertial_checks.motion_of_truth(sample) is None
    else:
        with pytest.raises(BadInput, match=f"^x: the truth's places move as .* but {said}"):
            inertial_checks.motion_of_truth(sample)
    sample.samples = samples[:1]
    assert inertial_checks.motion_of_truth(sample) is None


@pytest.mark.parametrize(("count", "is_said"), [(19, False), (21, True)])
def test_one_of_a_hundred_samples_at_the_end_of_a_range_is_worth_a_word(count, is_said):
    rng = np.random.default_rng(3)
    w = rng.uniform(-1.0, 1.0, (2000, 3))
    w[:count, 1] = 1.5
    f = rng.uniform(-1.0, 1.0, (2000, 3)) + [0.0, 0.0, 9.81]
    sample = DataSample(
        SimpleNamespace(source="x"),
        [ImuSample(*each) for each in zip(range(2000), w, f, strict=True)],
    )
    found = stream_checks.saturated(sample)
    words = "the gyroscope stops at 1.5 rad/s along y in 1% of samples"
    end = ": saturated, and what it misses leads estimates astray"
    assert found == (words + end if is_said else None)


# truths of a folder in EuRoC's layout


def truth_of(monkeypatch, home, values, stamps=(0, 10**9), names=("leica0",)):
    for name in names:
        (home / name).mkdir(parents=True, exist_ok=True)
        (home / name / "data.csv").write_text("")
    read = []
    table = SimpleNamespace(
        stamps=np.array(stamps), values=np.array(values, dtype=float), note="noted"
    )
    monkeypatch.setattr(
        euroc_source, "read_ordered", lambda path, *_: read.append(path.parent.name) or table
    )
    T = np.eye(4)
    T[:3, 3] = [0.1, 0.2, 0.3]
    monkeypatch.setattr(euroc_source, "read_place", lambda path: T)
    T_BI = np.eye(4)
    T_BI[0, 3] = 0.5
    return (*euroc_source._truth(home, -2 * 10**9, T_BI), read)


def test_a_truth_of_places_alone_is_of_its_marker(monkeypatch, tmp_path):
    found, note, read = truth_of(monkeypatch, tmp_path, [[1, 2, 3], [4, 5, 6]])
    assert found.t.tolist() == [2.0, 3.0] and note == "noted" and read == ["leica0"]
    assert found.poses[1, :3].tolist() == [4, 5, 6] and np.isnan(found.poses[:, 3:]).all()
    np.testing.assert_allclose(found.p_BM_B, [-0.4, 0.2, 0.3])
    _, _, read = truth_of(
        monkeypatch, tmp_path, [[1, 2, 3], [4, 5, 6]], names=("mocap0", "vicon0")
    )
    assert read == ["vicon0"], "the first of several"
    none, note = euroc_source._truth(tmp_path / "none", 0, np.eye(4))
    assert none is None and note == "nothing says what is true: there are trajectories, no errors"


def test_a_truth_with_attitudes_is_of_the_unit_and_its_faults_are_named(monkeypatch, tmp_path):
    rows = [[1, 2, 3, 1.009, 0, 0, 0], [4, 5, 6, 1, 0, 0, 0]]
    found, _, _ = truth_of(monkeypatch, tmp_path, rows)
    np.testing.assert_allclose(found.poses[1], [4.4, 4.8, 5.7, *LEVEL])
    rows[1][3] = 1.0105
    with pytest.raises(BadInput, match="the attitude of row 2 is no unit quaternion$"):
        truth_of(monkeypatch, tmp_path, rows)
    for far in (1e16, -1e308):
        with pytest.raises(BadInput, match=r"data.csv: a number of row 2 is beyond 1e\+15$"):
            truth_of(monkeypatch, tmp_path, [[1, 2, 3], [4, far, 6]])
    for stamps in ((0, 0), (5, 4)):
        with pytest.raises(BadInput, match="data.csv: stamps go backwards$"):
            truth_of(monkeypatch, tmp_path, [[1, 2, 3], [4, 5, 6]], stamps)
