# SPDX-License-Identifier: BSD-3-Clause
"""A rendered recording of a fisheye pair as TUM-VI's is localised, and so is one of its cameras alone."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from resting_pair import PairBag

from iap_bringup.cli import main
from iap_bringup.fuzz.made_recordings import resting, write_euroc
from iap_description.errors import BadInput
from iap_estimation.datasets.bag_topics import TopicNames
from iap_estimation.datasets.opening import Choices, open_dataset
from iap_estimation.navigation.measurements import Images

DURATION = 4.0  # [s]


@pytest.fixture(scope="module")
def run(opengl, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("fisheye") / "flown"
    settings = ["recording.euroc=true"]
    for side in ("left", "right"):
        other = ", right_of: left" if side == "right" else ""
        settings.append(f"sensors.cameras.{side}={{preset: fisheye, mount: {side}_camera{other}}}")
    words = "run figure_eight --platform f450 --sensors stereo --no-plot --no-view".split()
    words += ["--scene", "textured_walls", "--duration", str(DURATION), "--out", str(out)]
    words += [word for each in settings for word in ("--set", each)]
    assert main.main(words) == 0
    return out


def _localized(path: Path, out: Path) -> dict:
    """The figures of `vio`, and the notes."""
    assert main.main(["localize", str(path), "--no-plot", "--out", str(out)]) == 0
    told = json.loads((out / "metrics.json").read_text())
    (body,) = told["estimation"]
    return told["estimation"][body]["vio"] | {"notes": told["notes"]}


def _folder(run: Path) -> Path:
    (folder,) = (run / "euroc").iterdir()
    return folder


@pytest.mark.slow
def test_a_fisheye_pair_is_localised_from_its_bag_and_its_folder(
    run: Path, tmp_path: Path
) -> None:
    text = (_folder(run) / "mav0" / "cam0" / "sensor.yaml").read_text()
    assert "distortion_model: equidistant\n" in text
    for name, path in (("bag", run), ("folder", _folder(run))):
        vio = _localized(path, tmp_path / name)
        assert vio["outcome"] == "completed"
        assert vio["ate_rmse_m"] < 0.02
        assert vio["still_rmse_m"] > 0.5, "it flies, so standing still would be far off"


@pytest.mark.slow
def test_one_camera_alone_is_localised_with_the_scale_of_the_inertial_unit(
    run: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "alone"
    shutil.copytree(_folder(run), folder)
    shutil.rmtree(folder / "mav0" / "cam1")
    vio = _localized(folder, tmp_path / "out")
    assert any("one camera alone" in note for note in vio["notes"])
    assert vio["ate_rmse_m"] < 0.05 * vio["still_rmse_m"]
    assert vio["nees_position"] < 3.0


@pytest.mark.slow
def test_only_what_is_well_within_90_degrees_is_followed(run: Path) -> None:
    camera = open_dataset(run).aircraft[0].calibration.left
    xy = camera.normalized(np.array([[199.5, 149.5], [30.0, 149.5], [0.0, 0.0]]))
    assert np.isfinite(xy).all(axis=1).tolist() == [True, True, False]
    assert 0.8 < camera.followed.mean() < 1.0


@pytest.mark.slow
def test_a_folder_with_one_camera_at_rest(tmp_path: Path) -> None:
    folder = write_euroc(tmp_path / "data", resting(2.0))
    shutil.rmtree(folder / "mav0" / "cam1")
    vio = _localized(folder, tmp_path / "out")
    assert vio["ate_max_m"] < 0.02


@pytest.mark.parametrize("chosen", [TopicNames(), TopicNames(left="/stereo/left/image_raw")])
def test_a_bag_with_one_camera(chosen: TopicNames, tmp_path: Path) -> None:
    pair = resting(0.5)
    pair.stamps[1].clear()
    bag = PairBag("mcap").write(tmp_path, pair)
    dataset = open_dataset(bag, Choices(topics=chosen))
    assert dataset.aircraft[0].calibration.right is None
    images = [said for _, said in dataset.events() if isinstance(said, Images)]
    assert len(images) == 11 and all(each.right is None for each in images)


def test_a_right_camera_alone_is_no_camera_that_was_meant(tmp_path: Path) -> None:
    pair = resting(0.2)
    pair.stamps[0].clear()
    bag = PairBag("mcap").write(tmp_path, pair)
    with pytest.raises(BadInput, match="no stereo pair"):
        open_dataset(bag, Choices(topics=TopicNames(right="/stereo/right/image_raw")))
