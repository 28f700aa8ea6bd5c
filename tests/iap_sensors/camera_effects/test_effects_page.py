# SPDX-License-Identifier: BSD-3-Clause
"""docs/how_to/camera_effects.md has every effect with every key, and its commands and files work."""

import re
import shlex
from pathlib import Path

import numpy as np
import yaml
from strict_records import lax_fields, plain_fields

from iap_sensors.camera_effects.table import CameraEffects
from iap_simulation.scenario.resolving import Options, resolve

PAGE = (Path(__file__).parents[3] / "docs/how_to/camera_effects.md").read_text(encoding="utf-8")


def keys_on_the_page():
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return yaml.safe_load(text)


def test_every_effect_is_on_the_page_with_every_key():
    effects = CameraEffects.model_validate(keys_on_the_page())
    assert list(keys_on_the_page()) == list(CameraEffects.model_fields)
    for name, keys in keys_on_the_page().items():
        assert set(keys) == set(type(getattr(effects, name)).model_fields)
        assert f"| `{name}` |" in PAGE


def test_numbers_on_the_page_stand_for_keys_that_are_left_out_but_errors_are_none():
    errors = {"red", "blue", "read_noise", "dark_current", "prnu", "dsnu"}
    effects = CameraEffects.model_validate(keys_on_the_page())
    for name, keys in keys_on_the_page().items():
        for key, field in type(getattr(effects, name)).model_fields.items():
            if field.is_required():
                continue
            left_out = np.ravel(field.default).tolist()
            shown = np.ravel(keys[key]).tolist()
            assert left_out == ([0.0] * len(shown) if key in errors else shown), f"{name}.{key}"


def test_keys_without_a_default_are_named_as_needed():
    (named,) = re.findall(r"These keys are needed.*?`\. ", PAGE, re.DOTALL)
    records = CameraEffects.model_validate(keys_on_the_page())
    needed = {
        f"{name}.{key}"
        for name in keys_on_the_page()
        for key, field in type(getattr(records, name)).model_fields.items()
        if field.is_required()
    }
    assert set(re.findall(r"`(\w+\.\w+)`", named)) == needed


def test_the_commands_are_understood():
    commands = re.findall(r"^    (\./iap run (?:.*\\\n)*.*)$", PAGE, re.MULTILINE)
    assert commands
    for command in commands:
        words = shlex.split(command.replace("\\\n", ""))
        changes = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
        sensors = words[words.index("--sensors") + 1]
        scenario, _ = resolve(words[2], Options(sensors=sensors, assignments=tuple(changes)))
        cameras = scenario.vehicles[0].sensors.cameras.values()
        assert any(each.effects for each in cameras)


def test_a_number_of_an_effect_is_no_text_and_a_switch_is_no_number():
    assert len(list(plain_fields(CameraEffects))) > 40
    assert lax_fields(CameraEffects) == []
