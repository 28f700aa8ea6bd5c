# SPDX-License-Identifier: BSD-3-Clause
"""Cameras that cannot be are refused with the key that is wrong."""

import pytest

from iap_description.config.record import validate
from iap_description.errors import BadInput
from iap_sensors.cameras.spec import PRESETS, CameraSpec


@pytest.mark.parametrize("name", PRESETS.names())
def test_presets_are_complete(name):
    tree = PRESETS.tree(name)
    place = {"mount", "position", "rpy_deg", "right_of"}
    assert set(tree) == set(CameraSpec.model_fields) - place
    validate(CameraSpec, tree, source=name)


def test_the_default_camera_is_that_of_the_paper():
    camera = CameraSpec(**PRESETS.tree("vi_g"))
    assert (camera.width, camera.height, camera.fx, camera.fy) == (640, 480, 320.0, 320.0)
    assert (camera.cx, camera.cy, camera.rate) == (319.5, 239.5, 20.0)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"fx": 0.0}, "key 'fx'"),
        ({"fy": -320.0}, "key 'fy'"),
        ({"rate": -20.0}, "key 'rate'"),
        ({"rate": 0.0}, "key 'rate'"),
        ({"width": 0}, "key 'width'"),
        ({"height": 10**6}, "key 'height'"),
        ({"cx": float("nan")}, "key 'cx'"),
        ({"near": 0.0}, "key 'near'"),
        ({"near": 300.0}, "key 'near': 300.0 m is not below far, 200.0 m"),
        ({"outputs": []}, "key 'outputs'"),
        ({"outputs": ["mono16"]}, "key 'outputs.0'"),
        ({"outputs": ["mono8", "mono8"]}, "key 'outputs': one is given twice"),
        ({"noise": -1.0}, "key 'noise'"),
        ({"vignetting": 1.0}, "key 'vignetting'"),
        ({"antialiasing": 3}, "key 'antialiasing'"),
        ({"blur": {"exposure_time": 0.0, "samples": 4}}, "key 'blur.exposure_time'"),
        ({"blur": {"exposure_time": 0.01, "samples": 1}}, "key 'blur.samples'"),
        ({"blur": {"exposure_time": 0.06, "samples": 4}}, "0.06 s is longer than an image"),
        ({"distortion": [-0.5, 0.0, 0.0, 0.0, 0.0]}, "key 'distortion': such a lens folds"),
        ({"distortion": [0.0] * 4}, "key 'distortion': plumb_bob has 5 numbers, not 4"),
        ({"distortion_model": "omni"}, "key 'distortion_model'"),
        (
            {"distortion_model": "equidistant", "distortion": [0.0] * 4, "fx": 180.0},
            "sees 89 degrees off its axis",
        ),
        ({"position": [0.0, 0.0, 1.0]}, "keys 'position' and 'rpy_deg' come together"),
        (
            {"mount": "left_camera", "position": [0.0, 0.0, 1.0], "rpy_deg": [0.0, 0.0, 0.0]},
            "key 'mount'",
        ),
    ],
)
def test_an_impossible_camera_is_refused(keys, said):
    with pytest.raises(BadInput) as refused:
        validate(CameraSpec, {**PRESETS.tree("vi_g"), **keys}, source="scenario.yaml")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
