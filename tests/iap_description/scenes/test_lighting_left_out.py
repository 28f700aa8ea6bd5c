# SPDX-License-Identifier: BSD-3-Clause
"""What stands for keys of light and weather that are left out, and where the sun is."""

import re
from pathlib import Path

import numpy as np
import pytest

from iap_description.scenes.lighting import Lamp, LampFlicker, Lighting, TimeOfDay, Weather

PAGE = (Path(__file__).parents[3] / "docs/how_to/light.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("made", "key", "value"),
    [
        (Lighting(), "sky_share", 1),
        (Lighting(), "sky_scale", 1),
        (Lamp(position=(0.0, 0.0, 3.0), flux=1000.0), "temperature", 3000),
        (Lamp(position=(0.0, 0.0, 3.0), flux=1000.0), "radius", 0.08),
        (Lamp(position=(0.0, 0.0, 3.0), flux=1000.0), "cone_deg", 120),
        (Weather(), "turbidity", 2.2),
        (Weather(), "fog_height", 30),
    ],
)
def test_numbers_of_the_page_stand_for_keys_that_are_left_out(made, key, value):
    assert re.search(rf"`{key}`[^`]*\({re.escape(str(value))}\)", PAGE)
    assert getattr(made, key) == value


def test_air_is_clear_and_dry_unless_it_is_said_otherwise():
    states = ("clouds", "wetness", "dust", "snow_cover", "rain", "snowfall")
    assert [getattr(Weather(), key) for key in states] == [0.0] * len(states)
    assert Weather().visibility is None


def test_a_lamp_that_flickers_goes_out_once_a_period_and_is_brightest_at_its_begin():
    flicker = LampFlicker(frequency=100.0)
    assert flicker.mean_level(0.0, 0.0) == pytest.approx(2.0)
    assert flicker.mean_level(0.005, 0.0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("day", "declination_deg"),
    [(81.0, 0.0), (172.25, 23.45), (263.5, 0.0), (354.75, -23.45), (81.0 + 365.0 / 12.0, 11.725)],
)
def test_the_sun_at_noon_is_as_high_as_latitude_and_season_put_it(day, declination_deg):
    """Cooper, Solar Energy 12, 1969: 90 deg - latitude + declination, in the south."""
    x, y, z = TimeOfDay(hour=12.0, day=day, latitude_deg=50.0).direction_W
    assert np.rad2deg(np.arcsin(z)) == pytest.approx(40.0 + declination_deg, abs=0.01)
    assert x == pytest.approx(0.0, abs=1e-12) and y < 0.0


def test_unless_said_otherwise_it_is_midsummer_in_central_europe_and_the_sun_stands_still():
    noon = TimeOfDay(hour=12.0)
    height = np.rad2deg(np.arcsin(noon.direction_W[2]))
    assert "on day 172 at 48 deg north" in PAGE
    assert height == pytest.approx(90.0 - 48.0 + 23.45, abs=0.01)
    assert noon.rate == 0.0 and noon.day == 172.0 and noon.latitude_deg == 48.0


def test_a_facade_has_windows_in_four_rows_and_four_columns():
    """Glass is darker than the plaster between."""
    from iap_description.scenes.textures import SIZE, make_texture

    picture = make_texture("facade").astype(float).mean(axis=2)
    step = SIZE // 4
    glass = [[picture[i * step + 30 : i * step + 95, j * step + 35 : j * step + 90].mean() for j in range(4)]
             for i in range(4)]  # fmt: skip
    plaster = [picture[:, j * step + 2 : j * step + 18].mean() for j in range(4)]
    for along in (0, 1):
        assert (np.mean(glass, axis=along) < 0.85 * np.mean(plaster)).all()
