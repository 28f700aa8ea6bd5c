# SPDX-License-Identifier: BSD-3-Clause
"""Commands of docs/how_to/scenes.md, typed in a folder with a hall that is made here."""

import shlex
from pathlib import Path

import pytest
import yaml
from own_scenes import floor_gltf

from iap_bringup.cli.main import main
from iap_description.config.plain_yaml import read_yaml

PAGE = Path(__file__).parents[2] / "docs" / "how_to" / "scenes.md"


def lines(word):
    """Commands of the page that have a word in them, without the program's name."""
    typed = [line.strip() for line in PAGE.read_text(encoding="utf-8").splitlines()]
    return [shlex.split(line)[1:] for line in typed if line.startswith("./iap ") and word in line]


@pytest.mark.slow
def test_one_command_flies_in_ones_own_gltf_at_dusk_in_rain(tmp_path, monkeypatch, opengl):  # noqa: ARG001 - skips
    monkeypatch.chdir(tmp_path)
    floor_gltf(tmp_path / "hall.glb", height=0.0)
    (command,) = lines("rain")
    assert main([*command, "--out", "flown", "--set", "duration=0.2"]) == 0
    config = read_yaml(tmp_path / "flown" / "config.yaml")
    assert config["world"]["scene"] == str(tmp_path / "hall.glb")
    assert config["world"]["weather"] == {"rain": 10}
    assert list((tmp_path / "flown").rglob("*.png"))


def test_the_file_of_the_page_is_a_scene():
    from iap_description.scenes.scene_file import SceneFile

    text = PAGE.read_text(encoding="utf-8").partition("## The file\n")[2].partition("\n\n")[0]
    tree = yaml.safe_load("\n".join(line[4:] for line in text.splitlines()))
    file = SceneFile.model_validate(tree)
    assert [part.type for part in file.parts] == ["ground", "mesh", "box", "sphere", "scene"]
