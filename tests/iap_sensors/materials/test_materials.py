# SPDX-License-Identifier: BSD-3-Clause
"""Materials by procedure: physical, seamless, the same each time, and kept."""

import numpy as np
import pytest

from iap_description.scenes.library import load_scene, scene_names
from iap_sensors.materials import library
from iap_sensors.materials.library import MATERIALS, material
from iap_sensors.materials.noise import spectral, step


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(MATERIALS))
def test_reflectance_and_relief_are_those_of_matter(name):
    maps = material(name).maps / 255.0
    albedo = maps[..., :3] ** 2
    assert 0.019 < albedo.min() and albedo.max() <= 0.91 and 0.03 < albedo.mean() < 0.7
    assert 0.05 < maps[..., 3].min() and maps[..., 3].max() < 0.97
    assert np.hypot(*(2.0 * maps[..., 4:6] - 1.0).transpose(2, 0, 1)).max() <= 1.0
    assert (
        np.abs((2.0 * maps[..., 4:6] - 1.0).mean(axis=(0, 1))).max() < 0.02
    )  # no slope as a whole


@pytest.mark.parametrize("name", ["brick", "cobble", "plaster"])
def test_materials_go_on_at_their_edges(name):
    """Pixels differ as much across the edge as next to it."""
    maps = MATERIALS[name][0](256, 5).maps().astype(float)
    for axis in (0, 1):
        across = np.abs(np.take(maps, 0, axis) - np.take(maps, -1, axis)).mean()
        inside = [
            np.abs(np.take(maps, k, axis) - np.take(maps, k + 1, axis)).mean() for k in range(255)
        ]
        assert across < 1.5 * np.max(inside)


def test_noise_repeats_and_is_normal():
    noise = spectral(256, 2.0, 3, (2.0, 60.0))
    assert noise.mean() == pytest.approx(0.0, abs=1e-9) and noise.std() == pytest.approx(1.0)
    power = np.abs(np.fft.fft2(noise)) ** 2
    assert power[0, 1] < 1e-9 * power.max() and power[100, 100] < 1e-9 * power.max()


def test_a_seed_makes_the_same_material_each_time():
    one, same, other = (MATERIALS["steel"][0](128, seed).maps() for seed in (4, 4, 5))
    np.testing.assert_array_equal(one, same)
    assert (one != other).mean() > 0.2


def test_materials_are_kept_and_made_again_where_a_file_is_broken(cache, monkeypatch):
    first = material("steel").maps
    (file,) = cache.rglob("steel.npy")
    assert not list(cache.rglob("*.part"))
    make, size = MATERIALS["steel"]
    monkeypatch.setitem(MATERIALS, "steel", (lambda n, seed: pytest.fail("made anew"), size))
    np.testing.assert_array_equal(material("steel").maps, first)
    file.write_bytes(file.read_bytes()[:1000])
    monkeypatch.setitem(library.MATERIALS, "steel", (make, size))
    np.testing.assert_array_equal(material("steel").maps, first)


def test_all_parts_of_all_scenes_are_of_a_material_but_those_of_plain_colour():
    for name in scene_names():
        for part in load_scene(name).parts:
            if part.texture is None and part.material is None:
                continue
            assert part.material in MATERIALS and part.metres is not None
            assert part.metres.shape == part.uv.shape


def test_a_smooth_step_is_flat_outside_and_the_same_downwards():
    x = np.array([-1.0, 0.0, 0.5, 0.75, 1.0, 3.0])
    expected = [0.0, 0.0, 0.5, 0.84375, 1.0, 1.0]
    np.testing.assert_allclose(step(0.0, 1.0, x), expected)
    np.testing.assert_allclose(step(1.0, 0.0, x), 1.0 - np.array(expected))
