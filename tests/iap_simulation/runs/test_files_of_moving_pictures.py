# SPDX-License-Identifier: BSD-3-Clause
"""Files of moving pictures: colours, numbers and durations of their pictures, and what is left after a failure."""

import cv2
import numpy as np
import pytest
from PIL import Image

from iap_description.errors import BadInput
from iap_simulation.runs import video_file
from iap_simulation.runs.video_file import GIF, Animation, VideoFile

SIZE = (64, 48)
COLOURS = ((230, 20, 20), (20, 200, 20), (20, 20, 230))


def plain(colour):
    return np.full((SIZE[1], SIZE[0], 3), colour, np.uint8)


def files(folder):
    return sorted(each.name for each in folder.iterdir())


def test_a_video_has_its_pictures_in_their_colours_at_its_rate(tmp_path):
    path = tmp_path / "flight.webm"
    with VideoFile(path, 20.0, SIZE) as video:
        for colour in COLOURS:
            for _ in range(4):
                video.write(plain(colour))
        assert files(tmp_path) == [".flight.part.webm"]
    assert video.count == 12 and files(tmp_path) == ["flight.webm"]
    reader = cv2.VideoCapture(str(path))
    assert reader.get(cv2.CAP_PROP_FPS) == pytest.approx(20.0)
    seen = []
    while (frame := reader.read())[0]:
        seen.append(frame[1][..., ::-1])
    assert len(seen) == 12 and seen[0].shape == (48, 64, 3)
    for picture, colour in zip(seen[3::4], COLOURS, strict=True):
        np.testing.assert_allclose(picture.mean(axis=(0, 1)), colour, atol=30.0)


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_an_animation_lasts_as_long_as_its_pictures_at_their_rate(tmp_path, suffix):
    path = tmp_path / f"flight{suffix}"
    with VideoFile(path, 30.0, SIZE) as video:
        for k in range(7):
            video.write(plain((30 * k, 255 - 30 * k, 0)))
        assert files(tmp_path) == []
    with Image.open(path) as image:
        assert (image.n_frames, image.size, image.info["loop"]) == (7, SIZE, 0)
        lasts = []
        for k in range(7):
            image.seek(k)
            image.load()
            lasts.append(image.info["duration"])
            place = np.asarray(image.convert("RGB"))[20, 20]
            np.testing.assert_allclose(place, [30 * k, 255 - 30 * k, 0], atol=12)
    step = 10 if suffix == ".gif" else 1  # a GIF counts in hundredths of a second
    assert sum(lasts) == pytest.approx(233, abs=7 * (step - 1) or 1)
    if suffix == ".webp":
        assert lasts == [33, 34, 33, 33, 34, 33, 33]


def test_what_is_abandoned_leaves_no_file_and_an_older_one_as_it_was(tmp_path):
    for suffix in (".webm", ".gif"):
        path = tmp_path / f"flight{suffix}"
        path.write_bytes(b"older")
        with pytest.raises(RuntimeError), VideoFile(path, 10.0, SIZE) as video:
            video.write(plain(COLOURS[0]))
            raise RuntimeError
        assert path.read_bytes() == b"older"
    assert files(tmp_path) == ["flight.gif", "flight.webm"]


def test_an_animation_without_pictures_is_not_made_and_a_failed_one_leaves_no_part(tmp_path):
    path = tmp_path / "flight.gif"
    with VideoFile(path, 10.0, SIZE):
        pass
    assert files(tmp_path) == []
    path.mkdir()
    animation = Animation(path, 10.0, SIZE, GIF)
    animation.write(plain(COLOURS[0]))
    with pytest.raises(OSError, match="directory"):
        animation.close()
    assert files(tmp_path) == ["flight.gif"]


def test_an_animation_holds_a_gigabyte(tmp_path, monkeypatch):
    assert video_file.LARGEST_ANIMATION == 10**9
    monkeypatch.setattr(video_file, "LARGEST_ANIMATION", 3 * 64 * 48 * 3 - 1)
    animation = Animation(tmp_path / "a.gif", 10.0, SIZE, GIF)
    for colour in COLOURS[:2]:
        animation.write(plain(colour))
    with pytest.raises(
        BadInput, match=r"^--video .*: an animation holds at most 2 pictures of this size;"
    ):
        animation.write(plain(COLOURS[2]))
