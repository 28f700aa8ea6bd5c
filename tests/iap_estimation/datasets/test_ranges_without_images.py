# SPDX-License-Identifier: BSD-3-Clause
"""A tag with an inertial unit and no cameras is localised by its ranges, better than without the unit."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
import range_bag
from range_bag import ANCHORS, mapping, pose, write_bag

from iap_bringup.cli import main
from iap_estimation.datasets.opening import Choices, open_dataset
from iap_estimation.datasets.range_start import meeting_point
from iap_estimation.evaluation.constant_velocity import constant_velocity
from iap_estimation.virpo.messages import Ranges

WALKS = os.environ.get(
    "IAP_ISAS_WALKS", ""
)  # folder with ISAS-Walk1.bag and 2, from KIT-ISAS/SFUISE


@pytest.fixture(scope="module")
def bag(tmp_path_factory) -> Path:
    return write_bag(tmp_path_factory.mktemp("bag"), 25.0)


def _localized(bag: Path, file: Path, out: Path) -> dict:
    words = ["localize", str(bag), "--map", str(file), "--method", "uwb", "--no-plot"]
    assert main.main([*words, "--out", str(out)]) == 0
    return json.loads((out / "metrics.json").read_text())["estimation"]["tag"]["uwb"]


def _refused(capsys, bag: Path, *words: str) -> str:
    out = str(bag.parent / "refused")
    assert main.main(["localize", str(bag), *words, "--no-plot", "--out", out]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.slow
def test_a_walk_is_better_than_standing_still_and_than_ranges_alone(
    bag: Path, tmp_path: Path
) -> None:
    uwb = _localized(bag, mapping(tmp_path), tmp_path / "out")
    assert uwb["outcome"] == "completed"
    assert uwb["ate_rmse_m"] is None and uwb["ate_yaw_rmse_m"] is None, (
        "its frame is not the truth's"
    )
    assert uwb["ate_se3_rmse_m"] < 0.15
    assert uwb["ate_se3_rmse_m"] < 0.85 * uwb["constant_velocity_rmse_m"]
    assert uwb["constant_velocity_rmse_m"] < 0.1 * uwb["still_rmse_m"]


def test_its_measurements_are_those_of_the_bag(bag: Path, tmp_path: Path) -> None:
    dataset = open_dataset(bag, Choices(mapping=mapping(tmp_path)))
    rounds = [said for _, said in dataset.events() if isinstance(said, Ranges)]
    assert len(rounds) == 400
    np.testing.assert_allclose(rounds[0].p_W[:, 2], np.abs(rounds[0].p_W[:, 2]))
    assert dataset.has_ranges and not dataset.has_cameras


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"anchors": []}, "key 'anchors'"),
        ({"anchors": [{"id": 7475, "position": [0.0, 0.0, 0.0]}]}, "fewer than 4 of the anchors"),
        ({"imu": "/truth"}, "key 'imu': /truth is of geometry_msgs/msg/TransformStamped"),
        ({"imu": "/nobody"}, "key 'imu': no messages on '/nobody'"),
        ({"up": "y"}, "key 'up'"),
        ({"ranges": None}, "missing key 'ranges'"),
    ],
)
def test_what_does_not_fit_is_named(
    changes: dict, said: str, bag: Path, tmp_path: Path, capsys
) -> None:
    file = mapping(tmp_path, **changes)
    assert said in _refused(capsys, bag, "--map", str(file), "--method", "uwb")


def test_other_methods_and_options_are_refused(bag: Path, tmp_path: Path, capsys) -> None:
    words = ("--map", str(mapping(tmp_path)))
    assert "method vio needs images" in _refused(capsys, bag, *words)
    assert "--map says it all" in _refused(capsys, bag, *words, "--imu", "/imu")


def _rounds(t: np.ndarray, noise: float) -> list[Ranges]:
    """Ranges of the walk without constants, the anchors the right way up."""
    anchors = np.array(list(ANCHORS.values())) * [1.0, -1.0, -1.0]
    rng = np.random.default_rng(2)
    ways = np.linalg.norm(pose(t)[0][:, None] - anchors, axis=2)
    ways = ways + noise * rng.standard_normal(ways.shape)
    sigma, numbers = np.full(len(anchors), 0.1), np.arange(len(anchors))
    return [Ranges(each, numbers, anchors, row, sigma) for each, row in zip(t, ways, strict=True)]


def test_ranges_meet_where_the_tag_is_though_one_is_far_too_long() -> None:
    t = np.full(10, 5.0)
    rounds = _rounds(t, 0.0)
    rounds[0].ranges[0] += 20.0
    off = meeting_point(rounds, "test") - pose(t)[0][0]
    assert np.linalg.norm(off) < 0.05


def test_constant_velocity_follows_a_walk_and_leaves_out_what_is_far_too_long() -> None:
    t = np.arange(0.0, 20.0, 1.0 / 16.0)
    rounds = _rounds(t, 0.05)
    for one in rounds[::20]:
        one.ranges[1] += 15.0
    times, p = constant_velocity(rounds, meeting_point(rounds[:10], "test"))
    off = np.linalg.norm(p - pose(t)[0], axis=1)
    assert np.array_equal(times, t)
    assert np.sqrt(np.mean(off[16:] ** 2)) < 0.1


ISAS = {
    "imu": "/waveshare_sense_hat_b",
    "ranges": {
        "topic": "/rtls_flares",
        "each": "ranges",
        "anchor": "id",
        "range": "range",
        "valid": "ra",
        "deviation": 0.2,
        "antenna": [0.1, -0.025, 0.0],
    },
    "anchors": [
        {"id": 7475, "position": [0.0, 0.0, 0.0]},
        {"id": 20276, "position": [5.5, 0.0, 0.0]},
        {"id": 9524, "position": [2.61, 2.67, 0.0]},
        {"id": 10548, "position": [5.52, 0.05, 1.86]},
        {"id": 15155, "position": [3.12, -2.59, 1.85]},
    ],
    "truth": {"topic": "/vive/transform/tracker_1_ref", "turned": True},
}


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
def test_a_real_walk(number: int, tmp_path: Path) -> None:
    bag = Path(WALKS) / f"ISAS-Walk{number}.bag"
    if not WALKS or not bag.exists():
        pytest.skip(f"no {bag.name} (KIT-ISAS/SFUISE, dataset/): IAP_ISAS_WALKS names its folder")
    uwb = _localized(bag, mapping(tmp_path, **ISAS), tmp_path / "out")
    assert uwb["outcome"] == "completed"
    assert uwb["ate_se3_rmse_m"] < 0.2 * uwb["still_rmse_m"]
    assert uwb["ate_se3_rmse_m"] < uwb["constant_velocity_rmse_m"]


@pytest.mark.slow
@pytest.mark.parametrize(("turned", "is_noted"), [([0, 1, 2], False), ([1, 0, 2], True)])
def test_inertial_samples_that_lead_away_from_the_ranges_are_noted(
    monkeypatch, tmp_path: Path, capsys, turned: list[int], is_noted: bool
) -> None:
    """Rates with x and y exchanged: what ranges alone say of the places is nearer to the ranges."""
    of_unit = range_bag.samples
    monkeypatch.setattr(range_bag, "samples", lambda t: of_unit(t)[:, [*turned, 3, 4, 5]])
    walk = write_bag(tmp_path, 12.0)
    words = [
        "localize",
        str(walk),
        "--map",
        str(mapping(tmp_path)),
        "--method",
        "uwb",
        "--no-plot",
    ]
    assert main.main([*words, "--out", str(tmp_path / "out")]) == 0
    notes = json.loads((tmp_path / "out" / "metrics.json").read_text())["notes"]
    assert (
        any("do axes, signs and clock of the inertial samples fit" in n for n in notes) is is_noted
    )
