# SPDX-License-Identifier: BSD-3-Clause
"""The code of docs/how_to/rays.md works, and its tables have the presets that there are."""

import re
from pathlib import Path

import pytest

from iap_bringup.experiments.rays import sheet
from iap_description.config.plain_yaml import parse_mapping
from iap_description.world.obstacles import PRESETS as OBSTACLES
from iap_sensors.rays import depth_camera_spec
from iap_sensors.rays import lidar_spec as lidar
from iap_sensors.rays.images import KINDS
from iap_simulation.scenario.resolving import resolved

PAGE = (Path(__file__).parents[2] / "docs/how_to/rays.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_code_runs(capsys):
    (code,) = blocks("python")
    names = {}
    exec(compile(code, "docs/how_to/rays.md", "exec"), names)
    assert "(16, 48, 64) float32\n(16, 64, 1024, 3)\n" in capsys.readouterr().out
    assert (names["rays"].labels == 7).any()


def test_the_world_is_one():
    (text,) = blocks("yaml")
    world = parse_mapping(text, source="docs/how_to/rays.md")["world"]
    scenario, _ = resolved("hover", {"world.objects": world["objects"]}, {})
    assert [item.count for item in scenario.world.objects.values()] == [60, 30]


def test_every_preset_and_output_is_in_its_table():
    for name in [
        *depth_camera_spec.PRESETS.names(),
        *lidar.PRESETS.names(),
        *OBSTACLES.names(),
        *KINDS,
    ]:
        assert f"`{name}`" in PAGE


def test_the_picture_has_a_column_for_each_world():
    assert sheet().shape == (952, 1300, 3)
