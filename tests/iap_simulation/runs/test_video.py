# SPDX-License-Identifier: BSD-3-Clause
"""Videos: where they are taken from, and what they refuse."""

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from iap_bringup.cli import main
from iap_description.errors import BadInput
from iap_simulation.runs.video import FOCAL, MARGIN, SIZE, VideoFile, standpoint


def flown(places):
    """A run of one body."""
    x = np.zeros((len(places), 1, 13))
    x[:, 0, :3] = places
    return SimpleNamespace(vehicles=[SimpleNamespace(columns=SimpleNamespace(x=x))])


@pytest.mark.parametrize(
    "scale", [(0.1, 0.1, 0.1), (8.0, 0.5, 0.5), (0.5, 8.0, 0.5), (0.2, 0.2, 9.0)]
)
def test_all_of_a_flight_is_in_the_picture_and_fills_much_of_it(scale):
    places = np.random.default_rng(1).uniform(-0.5, 0.5, (300, 3)) * scale + [3.0, -2.0, 4.0]
    position, target = standpoint(flown(places))
    forward = (target - position) / np.linalg.norm(target - position)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    seen = (places - position) @ np.stack([right, np.cross(right, forward), forward], axis=1)
    pixels = FOCAL * SIZE[0] * seen[:, :2] / seen[:, 2:]
    share = np.abs(pixels).max(axis=0) / (0.5 * np.array(SIZE))
    assert (share < 1.0).all()
    if max(scale) > 10.0 * MARGIN:
        assert share.max() > 0.4


def test_a_video_has_a_file_that_can_be_written(tmp_path):
    with pytest.raises(BadInput, match=r"ends in \.mp4"):
        VideoFile(tmp_path / "flight.gif", 10.0, (64, 48))
    with pytest.raises(BadInput, match="cannot be written"):
        VideoFile(tmp_path / "missing" / "flight.mp4", 10.0, (64, 48))


@pytest.mark.slow
@pytest.mark.usefixtures("opengl")
def test_a_run_becomes_a_video_of_its_length_in_which_it_moves(tmp_path, capsys):
    run, out = tmp_path / "run", tmp_path / "flight.mp4"
    words = ["run", "figure_eight", "--duration", "4", "--no-plot", "--out", str(run)]
    assert main.main(words) == 0
    assert main.main(["render", str(run), "--video", str(out), "--rate", "5"]) == 0
    video = cv2.VideoCapture(str(out))
    pictures = [video.read()[1].astype(int) for _ in range(20)]
    assert not video.read()[0]
    assert np.abs(pictures[-1] - pictures[0]).max() > 50
    for wrong, why in ((["--rate", "0"], "--rate 0"), (["--time", "2"], "--video: goes with")):
        assert main.main(["render", str(run), "--video", str(out), *wrong]) == 2
        assert why in capsys.readouterr().err
