# SPDX-License-Identifier: BSD-3-Clause
"""Flights as moving pictures, which browsers play."""

from contextlib import contextmanager

import cv2
import numpy as np
import pytest
from browser import browser
from PIL import Image

from iap_bringup.cli import main
from iap_bringup.films.film_camera import MARGIN, _view, following_views, standpoint
from iap_bringup.films.film_picture import FOCAL, View
from iap_description.errors import BadInput
from iap_description.geometry.shapes import Shape
from iap_description.states import resting_state
from iap_description.world.scene_objects import SceneObject
from iap_simulation.runs.video_file import FORMATS, VideoFile

SIZE = (320, 180)


def in_the_picture(points, view, size):
    """(n, 2) places over half of the picture's size, within 1 where the picture has them."""
    p_C = (points - view.p_WC_W) @ view.R_WC
    return FOCAL * size[0] * p_C[:, :2] / p_C[:, 2:] / (0.5 * np.array(size))


@pytest.mark.parametrize(
    "scale", [(0.1, 0.1, 0.1), (8.0, 0.5, 0.5), (0.5, 8.0, 0.5), (0.2, 0.2, 9.0)]
)
def test_all_of_a_flight_is_in_the_picture_of_a_still_camera_and_fills_much_of_it(scale):
    points = np.random.default_rng(1).uniform(-0.5, 0.5, (300, 3)) * scale + [3.0, -2.0, 4.0]
    view = View.towards(*standpoint(points, SIZE))
    share = np.abs(in_the_picture(points, view, SIZE)).max(axis=0)
    assert (share < 1.0).all()
    if max(scale) > 10.0 * MARGIN:
        assert share.max() > 0.4


def flight_of_three(count=200, rate=25.0):
    """(count, 3, 3) bodies half a metre apart that fly 3 m/s ahead and turn."""
    t = np.arange(count) / rate
    spokes = 0.5 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
    return np.stack([3.0 * t, np.sin(t), 2.0 + 0.0 * t], axis=1)[:, None] + spokes


def test_a_camera_that_goes_along_keeps_vehicles_large_and_does_not_jerk():
    bodies = flight_of_three()
    views = following_views(bodies, 25.0, SIZE, ())
    share = [np.abs(in_the_picture(p, v, SIZE)).max() for p, v in zip(bodies, views, strict=True)]
    assert max(share) < 1.0
    assert np.median(share) > 0.2
    way = np.array([view.p_WC_W for view in views])
    acceleration = np.diff(way, n=2, axis=0) * 25.0**2
    assert np.linalg.norm(acceleration, axis=1).max() < 5.0  # [m/s^2]


def test_the_camera_stands_where_no_wall_hides_the_flight():
    bodies = flight_of_three(25)
    free = following_views(bodies, 25.0, SIZE, ())[0].p_WC_W
    middle = bodies[12].mean(axis=0)
    between = middle + 0.5 * (free - middle)
    wall = SceneObject(
        [Shape(shape="box", size=(9.0, 0.1, 9.0), color=(0.5, 0.5, 0.5, 1.0))],
        resting_state(between, [0.0, 0.0, 0.0, 1.0]),
    )
    assert wall.hides(bodies[12], free).any()
    assert not wall.hides(bodies[12], following_views(bodies, 25.0, SIZE, [wall])[12].p_WC_W).any()


def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"ends in \.webm, \.mp4, \.webp, \.gif"):
        VideoFile(tmp_path / "flight.avi", 10.0, (64, 48))
    for suffix in FORMATS:
        with pytest.raises(BadInput, match="cannot be written"):
            VideoFile(tmp_path / "missing" / f"flight{suffix}", 10.0, (64, 48))


def write_greys(path, rate=10.0, size=(64, 48)):
    """Ten pictures, ever brighter."""
    with VideoFile(path, rate, size) as video:
        for k in range(10):
            video.write(np.full((size[1], size[0], 3), 20 * k, np.uint8))
    return path


@pytest.mark.parametrize("suffix", sorted(FORMATS))
def test_what_is_interrupted_leaves_the_file_that_was_there_and_no_other(tmp_path, suffix):
    path = tmp_path / f"flight{suffix}"
    path.write_bytes(b"of before")
    with pytest.raises(KeyboardInterrupt), VideoFile(path, 10.0, (64, 48)) as video:
        video.write(np.zeros((48, 64, 3), np.uint8))
        raise KeyboardInterrupt
    assert path.read_bytes() == b"of before"
    write_greys(path)
    assert path.stat().st_size > len(b"of before")
    assert list(tmp_path.iterdir()) == [path]


@contextmanager
def shown_in_chromium(html, tmp_path):
    page_file = tmp_path / "page.html"
    page_file.write_text(html, encoding="utf-8")
    with browser() as new_page:
        page = new_page()
        page.page.goto(f"file://{page_file}")
        yield page


@pytest.mark.slow
def test_chromium_plays_every_format(tmp_path):
    for suffix in FORMATS:
        write_greys(tmp_path / f"greys{suffix}")
    videos = [f'<video src="greys{s}" muted loop autoplay></video>' for s in (".webm", ".mp4")]
    images = [f'<img src="greys{s}">' for s in (".webp", ".gif")]
    with shown_in_chromium("".join(videos + images), tmp_path) as page:
        page.wait("[...document.querySelectorAll('video')].every(v => v.currentTime > 0.3)")
        page.wait("[...document.querySelectorAll('img')].every(i => i.naturalWidth === 64)")
        for name in ("videoWidth", "duration"):
            values = page.page.evaluate(
                f"[...document.querySelectorAll('video')].map(v => v.{name})"
            )
            assert values == pytest.approx(
                [64, 64] if name == "videoWidth" else [1.0, 1.0], abs=0.11
            )


@pytest.mark.parametrize("suffix", [".webp", ".gif"])
def test_an_animation_has_its_pictures_and_its_time(tmp_path, suffix):
    image = Image.open(write_greys(tmp_path / f"greys{suffix}"))
    assert image.n_frames == 10
    durations = []
    for k in range(10):
        image.seek(k)
        image.load()
        durations.append(image.info["duration"])
    assert sum(durations) == pytest.approx(1000.0, abs=5.0)


def test_an_animation_that_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("iap_simulation.runs.video_file.LARGEST_ANIMATION", 5 * 3 * 64 * 48)
    with pytest.raises(BadInput, match=r"at most 5 pictures of this size; a \.webm"):
        write_greys(tmp_path / "greys.webp")


@pytest.mark.slow
@pytest.mark.usefixtures("opengl")
def test_a_run_becomes_moving_pictures_of_its_length_in_which_it_stays_large(tmp_path, capsys):
    run, out = tmp_path / "run", tmp_path / "flight.webm"
    words = ["run", "figure_eight", "--duration", "4", "--no-plot", "--no-view", "--out", str(run)]
    assert main.main(words) == 0
    film = ["render", str(run), "--video", str(out), "--size", "320x180", "--rate", "5"]
    assert main.main([*film, "--from", "1", "--to", "3", "--plot", "errors"]) == 0
    video = cv2.VideoCapture(str(out))
    pictures = [video.read()[1].astype(int) for _ in range(10)]
    assert not video.read()[0]
    assert pictures[0].shape[1] == 320
    assert pictures[0].shape[0] > 200  # the plot is below
    cursor = [np.abs(each[180:] - pictures[0][180:]).max() for each in pictures[1:]]
    assert min(cursor) > 50  # its line goes along
    assert np.abs(pictures[-1][:180] - pictures[0][:180]).max() > 50
    assert main.main([*film[:3], str(tmp_path / "still.gif"), *film[4:], "--fixed"]) == 0
    for wrong, why in (
        (["--rate", "0"], "--rate 0"),
        (["--time", "2"], "--video: goes with"),
        (["--from", "3", "--to", "2"], "--from 3 --to 2: the flight lasts from 0.0 to 4.0 s"),
        (["--plot", "path3d"], "plot path3d: no plot over time"),
        (["--plot", "joints"], "has not an arm"),
        (["--speed", "0"], "--speed 0"),
    ):
        assert main.main([*film, *wrong]) == 2
        assert why in capsys.readouterr().err
    assert main.main([*film, "--size", "321x180"]) == 2
    assert "even, 64x64" in capsys.readouterr().err


def test_a_camera_is_never_below_the_ground():
    low, high = (_view(np.array([3.0, 1.0, z]), np.zeros(3)) for z in (-1.0, 2.0))
    assert low.p_WC_W.tolist() == [3.0, 1.0, 0.25]
    assert high.p_WC_W.tolist() == [3.0, 1.0, 2.0]


@pytest.mark.usefixtures("opengl")
def test_a_picture_of_a_run_in_a_scene_shows_the_scene(tmp_path, capsys):
    """Walls are dark; above the chequered ground of a run without a scene there is a pale sky."""
    levels = []
    for scene in ("textured_walls", "null"):
        run, out = tmp_path / scene, tmp_path / f"{scene}.png"
        words = [
            "run",
            "hover",
            "--duration",
            "0.2",
            "--set",
            f"world.scene={scene}",
            "--out",
            str(run),
        ]
        assert main.main([*words, "--no-plot", "--no-view"]) == 0
        assert main.main(["render", str(run), "--time", "0.05", "0.15", "--out", str(out)]) == 0
        picture = np.array(Image.open(out).convert("RGB")).astype(int)
        assert picture.shape == (400, 2 * 520 + 6, 3)
        levels.append(np.median(picture[30:80]))
    assert levels[0] < 130.0 and levels[1] > 190.0
    assert main.main(["render", str(tmp_path / "textured_walls"), "--time", "3"]) == 2
    assert "--time 3.0: the flight lasts from 0.0 to 0.2 s" in capsys.readouterr().err
