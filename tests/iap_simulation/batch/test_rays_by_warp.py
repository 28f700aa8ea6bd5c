# SPDX-License-Identifier: BSD-3-Clause
"""Rays by Warp (on the CPU here, as on a GPU) against Embree's: the same images but for rounding."""

import sys

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_simulation.batch.ray_sensor import WorldRaySensor
from iap_simulation.batch.worlds import Worlds

FIELDS = {"trees": {"preset": "trees", "count": 10}, "boxes": {"preset": "boxes"}}
SETTINGS = {"world.objects": FIELDS, "draw.position": 0.5, "draw.attitude_deg": 10.0}
STEP = 1e-3  # of both sensors' ranges [m]: rounding may lead to the next one


@pytest.fixture(scope="module")
def worlds():
    pytest.importorskip("warp")
    flown = Worlds.of("hover", 3, settings=SETTINGS)
    for _ in range(3):
        flown.advance()
    return flown


@pytest.mark.slow  # compiles the kernel
@pytest.mark.parametrize(
    ("preset", "changes", "outputs"),
    [
        ("d455", {"width": 64, "height": 48}, ["depth", "range", "segmentation", "labels"]),
        ("vlp16", {"columns": 90}, ["range", "faces"]),
        ("os0_128", {"columns": 32}, ["points", "normals"]),
    ],
)
def test_images_are_those_of_embree(worlds, preset, changes, outputs):
    one, other = (
        WorldRaySensor.of(worlds, preset, outputs, device=device, **changes).images()
        for device in ("cpu", "warp")
    )
    for name in outputs:
        assert one[name].shape == other[name].shape
        assert one[name].dtype == other[name].dtype
        alike = np.isclose(one[name], other[name], rtol=1e-4, atol=1.5 * STEP, equal_nan=True)
        assert alike.mean() > 0.998, name
    assert np.isfinite(one[outputs[0]]).any()


@pytest.mark.slow
def test_two_casts_are_equal_bit_for_bit_and_arrays_stay_on_the_device(worlds):
    camera = WorldRaySensor.of(worlds, "d455", ["depth"], device="warp", width=64, height=48)
    first, second = camera.images()["depth"], camera.images()["depth"]
    np.testing.assert_array_equal(first, second)
    there = np.from_dlpack(camera.images_on_device()["depth"])
    np.testing.assert_array_equal(there.reshape(first.shape), first)


def test_a_device_that_there_is_not_is_refused(worlds):
    with pytest.raises(BadInput, match="no device 'tpu'"):
        WorldRaySensor.of(worlds, "d455", device="tpu")
    with pytest.raises(BadInput, match="on a GPU"):
        WorldRaySensor.of(worlds, "d455").images_on_device()


def test_without_warp_the_line_that_installs_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "warp", None)
    for name in ("library", "kernels", "images"):
        monkeypatch.delitem(sys.modules, f"iap_sensors.rays.warp.{name}", raising=False)
    with pytest.raises(BadInput, match="lock/gpu.txt"):
        WorldRaySensor.of(Worlds.of("hover", 1), "d455", device="cuda")
