# SPDX-License-Identifier: BSD-3-Clause
"""Films have their ground, cameras, plots, captions and pictures, and the documented ones their places."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.cli.main import parse
from iap_bringup.films import documented, film, film_camera, film_picture
from iap_bringup.films.film import FilmSettings, write_film
from iap_bringup.films.film_camera import fixed_views, following_views, standpoint
from iap_bringup.films.film_picture import FilmPlot
from iap_bringup.films.film_stage import (
    studio_scene,
)

SIZE = (300, 150)


def test_the_studio_is_a_chequered_ground_of_metres():
    (ground,) = studio_scene().parts
    tiles = studio_scene().textures["tiles"]
    assert tiles.shape == (256, 256, 3) and set(np.unique(tiles)) == {198, 214}
    assert (
        tiles[0, 0, 0] != tiles[0, 32, 0]
        and tiles[0, 0, 0] == tiles[32, 32, 0] == tiles[31, 31, 0]
    )
    assert ground.vertices[:, :2].min() == -40.0 and ground.vertices[:, :2].max() == 40.0
    per_metre = np.ptp(ground.uv[:, 0]) / np.ptp(ground.vertices[:, 0])
    assert per_metre * 8 == pytest.approx(1.0) and (ground.normals == [0.0, 0.0, 1.0]).all()


def test_a_still_camera_has_one_view_and_one_that_goes_along_has_one_each():
    t = np.arange(50) / 25.0
    bodies = np.stack([2.0 * t, 0.0 * t, 2.0 + 0.0 * t], axis=1)[:, None] + np.array(
        [[0.3, 0, 0], [-0.3, 0, 0]]
    )
    still = fixed_views(bodies, SIZE, ())
    assert len(still) == 50 and all(view is still[0] for view in still)
    place, target = standpoint(bodies.reshape(-1, 3), SIZE)
    assert still[0].p_WC_W == pytest.approx(place) and target == pytest.approx([1.96, 0.0, 2.0])
    along = following_views(bodies, 25.0, SIZE, ())
    assert len(along) == 50
    assert 1.0 < along[-1].p_WC_W[0] - along[0].p_WC_W[0] < 4.0
    directions = film_camera._directions()
    assert len(directions) == 12 and np.linalg.norm(directions, axis=1) == pytest.approx(
        np.ones(12)
    )
    first = np.array([-0.55, -0.75, 0.35])
    assert directions[0] == pytest.approx(first / np.linalg.norm(first))
    elevations = np.rad2deg(np.arcsin([each[2] for each in directions]))
    assert elevations[:6] == pytest.approx(elevations[0]) and elevations[6:] == pytest.approx(
        elevations[0] + 14.0
    )
    turns = np.rad2deg(np.unwrap([np.arctan2(each[1], each[0]) for each in directions[:3]]))
    assert np.diff(turns) == pytest.approx([55.0, -110.0])


def made_plot(monkeypatch, **panel):
    """A plot of a white picture with one panel."""
    plot = object.__new__(FilmPlot)
    plot._picture = np.full((60, 100, 3), 255, np.uint8)
    plot._panels = [
        film_picture._Panel(
            **{
                "left": 10.0,
                "right": 90.0,
                "top": 5,
                "bottom": 50,
                "first": 2.0,
                "last": 6.0,
                **panel,
            }
        )
    ]
    return plot


@pytest.mark.parametrize(
    ("t", "column"), [(2.0, 10), (3.0, 30), (6.0, 90), (1.9, None), (6.1, None)]
)
def test_a_line_stands_in_the_plot_where_the_time_is(t, column, monkeypatch):
    plot = made_plot(monkeypatch)
    shown = plot.at(t)
    rows, columns = np.nonzero((shown != 255).any(axis=2))
    assert plot.height == 60 and (plot._picture == 255).all()
    if column is None:
        assert not len(columns)
    else:
        assert set(columns) == {column} and (rows.min(), rows.max()) == (5, 50)


def test_panels_of_a_plot_are_those_over_time_and_pictures_have_even_height():
    def draw(figure, content):
        upper, lower, other = figure.subplots(3, 1)
        upper.set_xlim(0.0, 4.0)
        lower.set_xlim(0.0, 4.0)
        lower.set_xlabel("time [s]")
        other.set_xlim(0.0, 9.0)
        other.set_xlabel("x [m]")

    plot = SimpleNamespace(draw=draw)
    pixels, panels = film_picture._drawn(plot, None, 333)
    assert pixels.shape[1] == 333 and pixels.shape[0] % 2 == 0 and pixels.shape[2] == 3
    assert [(each.first, each.last) for each in panels] == [(0.0, 4.0)] * 2
    first, second = panels
    assert (
        first.top < first.bottom < second.top < second.bottom
        and 0 < first.left < first.right < 333
    )


def test_a_film_is_its_pictures_with_the_plot_below_and_tells_its_time(monkeypatch, tmp_path):
    written, told, closed = [], [], []

    class Video:
        def __init__(self, out, rate, size):
            self.made, self.count = (out, rate, size), 0

        def __enter__(self):
            written.append(self.made)
            return self

        def __exit__(self, *_):
            pass

        def write(self, pixels):
            written.append(pixels)
            self.count += 1

    class Plot:
        height = 10

        def __init__(self, run, name, width):
            self.made = run, name, width

        def at(self, t):
            return np.full((10, SIZE[0], 3), round(10 * t), np.uint8)

    made = SimpleNamespace(
        picture=lambda k: np.full((SIZE[1], SIZE[0], 3), k, np.uint8),
        close=lambda: closed.append(1),
    )
    monkeypatch.setattr(film, "VideoFile", Video)
    monkeypatch.setattr(film, "FilmPlot", Plot)
    monkeypatch.setattr(film, "_Film", lambda source, settings, times: made)
    rates = SimpleNamespace(control_hz=200.0)
    source = SimpleNamespace(
        span=(0.0, 0.5), run=SimpleNamespace(scenario=SimpleNamespace(rates=rates))
    )
    settings = FilmSettings(rate=10.0, size=SIZE, plot="errors")
    assert write_film(source, tmp_path / "f.gif", settings, told.append) == 5
    assert written[0] == (tmp_path / "f.gif", 10.0, (SIZE[0], SIZE[1] + 10))
    assert [each[0, 0, 0] for each in written[1:]] == [0, 1, 2, 3, 4]
    assert [each[-1, 0, 0] for each in written[1:]] == [0, 1, 2, 3, 4] and told == pytest.approx(
        [0.0, 0.1, 0.2, 0.3, 0.4]
    )
    assert closed == [1] and written[1].shape == (SIZE[1] + 10, SIZE[0], 3)
    written.clear()
    write_film(source, tmp_path / "f.gif", FilmSettings(rate=10.0, size=SIZE), told.append)
    assert written[0][2] == SIZE and written[1].shape == (SIZE[1], SIZE[0], 3)


def test_captions_stand_at_the_top_and_the_bottom_and_name_another_speed():
    settings = FilmSettings(size=SIZE)
    black = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
    shown = film._Captions("title", settings).on(black, 1.25)
    later = film._Captions("title", settings).on(black, 2.5)
    fast = film._Captions("title", FilmSettings(size=SIZE, speed=4.0)).on(black, 1.25)
    rows = np.nonzero((shown != 0).any(axis=(1, 2)))[0]
    assert rows.min() < 15 and rows.max() > SIZE[1] - 15 and not shown[40 : SIZE[1] - 40].any()
    half = SIZE[1] // 2
    np.testing.assert_array_equal(shown[:half], later[:half])
    assert (shown[half:] != later[half:]).any()
    width = [np.nonzero(each[half:].any(axis=(0, 2)))[0].max() for each in (shown, fast)]
    assert width[1] > width[0] + 10
    assert np.nonzero(shown.any(axis=(0, 2)))[0].min() < 12


def test_all_documented_films_are_flown_and_written_into_their_folder(monkeypatch, tmp_path):
    flown, told = [], []
    monkeypatch.setattr(documented, "record", lambda name, folder: SimpleNamespace(folder=folder))
    monkeypatch.setattr(documented, "RecordedRun", lambda folder: folder.name)
    monkeypatch.setattr(documented, "RunSource", lambda run: run)
    monkeypatch.setattr(documented, "write_film", lambda *each: flown.append(each[:3]))
    films = documented.write_documented_films(tmp_path / "new" / "films", told.append)
    assert [each[0] for each in flown] == list(documented.FILMS) and told[
        0
    ] == "0 of 5: three_star_spiral"
    assert films == [tmp_path / "new" / "films" / f"{name}.webp" for name in documented.FILMS]
    assert [each[2] for each in flown] == list(documented.FILMS.values())


def test_a_film_is_by_default_as_the_command_makes_it():
    typed = parse(["render", "run", "--video", "film.webp"])
    plain = FilmSettings()
    assert (plain.rate, plain.size, plain.follows) == (typed.rate, typed.size, typed.follow)
    assert (plain.begin, plain.end, plain.speed, plain.plot) == (
        typed.begin,
        typed.end,
        typed.speed,
        typed.plot,
    )
