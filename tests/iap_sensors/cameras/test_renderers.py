# SPDX-License-Identifier: BSD-3-Clause
"""Both renderers against each other, by name, and where one of them cannot be."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from small_scenes import (
    Light,
    ball,
    box,
    grain,
    ground,
    rectangle,
    scene,
    shot,
    spec,
    turned,
    wall,
)

from iap_description.errors import BadInput
from iap_sensors.cameras import opengl
from iap_sensors.cameras.make import make_renderer
from iap_sensors.cameras.pybullet_renderer import BulletRenderer

SUN = Light(direction_W=(0.4, 0.3, 0.85), strength=0.6, ambient=0.4)


@pytest.fixture
def pybullet():
    renderer = BulletRenderer()
    yield renderer
    renderer.close()


@pytest.fixture(params=["opengl", "pybullet"])
def renderer(request):
    """Either renderer, by its name."""
    if request.param == "opengl":
        request.getfixturevalue("opengl")  # skips where there is no EGL
    made = make_renderer(request.param)
    yield made
    made.close()


def corner_of_a_room():
    textures = {
        name: grain(seed, levels=(4, 16)) for seed, name in enumerate(("floor", "wall"), 1)
    }
    parts = [
        ground(12.0, tiles=6.0, texture="floor", label=1),
        wall(9.0, 12.0, tiles=6.0, texture="wall", label=2),
        *box("box", (6.0, -2.0, 1.0), (1.0, 1.0, 1.0), texture="wall", label=300),
    ]
    bodies = [[ball("ball", (0.0, 0.0, 0.0), 0.4, label=4, n=24)]] * 2
    poses = np.array([[4.0, 0.5, 1.2, *turned()], [2.0, 0.0, 1.5, *turned()]])
    return scene(*parts, textures=textures, light=SUN), bodies, poses


@pytest.mark.slow
@pytest.mark.parametrize("distortion", [(0.0,) * 5, (-0.2, 0.03, 0.0, 0.0, 0.0)])
def test_both_renderers_see_the_same_surfaces_at_the_same_distance(opengl, pybullet, distortion):
    room, bodies, poses = corner_of_a_room()
    camera = spec(outputs=["mono8", "depth", "segmentation"], distortion=distortion)
    at = shot(camera, (0.0, 0.3, 1.7), turned(pitch=8.0, yaw=-5.0, roll=2.0), hidden=(1,))
    frames = []
    for renderer in (opengl, pybullet):
        renderer.load(room, bodies)
        frames.append(renderer.render([at], poses)[0])
    one, other = frames
    seen = np.isfinite(one.depth)
    np.testing.assert_array_equal(seen, np.isfinite(other.depth))
    off = np.abs(other.depth / one.depth - 1.0)[seen]
    assert np.median(off) < 1e-4 and np.mean(off < 0.01) > 0.995
    assert np.mean(one.labels == other.labels) > 0.995
    assert set(np.unique(one.labels)) - {0} == {1, 2, 4, 300}
    lit = one.labels == 2
    assert np.corrcoef(one.mono[lit], other.mono[lit])[0, 1] > 0.6  # textures lie alike


def test_pybullet_sees_a_box_as_far_and_as_wide_as_it_is(pybullet):
    """One of 2 m, whose front is 5 m away, is 0.4 focal lengths wide and high."""
    block = box("box", (6.0, 0.0, 1.0), (1.0, 1.0, 1.0), label=7)
    pybullet.load(scene(*block, light=SUN), [])
    small = spec(
        width=80, height=60, cx=39.5, cy=29.5, fx=60.0, fy=60.0, outputs=["depth", "segmentation"]
    )
    (frame,) = pybullet.render([shot(small, (0.0, 0.0, 1.0))], np.zeros((0, 7)))
    is_box = frame.labels == 7
    assert is_box[30].sum() == is_box[:, 40].sum() == 24
    np.testing.assert_allclose(frame.depth[is_box], 5.0, rtol=1e-3)
    assert not np.isfinite(frame.depth[~is_box]).any()


@pytest.mark.parametrize("focal", [1e-3, 1e6])
@pytest.mark.parametrize("centre", [-1e6, 11.5, 1e6])
def test_the_widest_and_the_narrowest_view_have_an_end(renderer, focal, centre):
    """PyBullet has none with 1e10 pixels, nor with a centre as far."""
    room, bodies, poses = corner_of_a_room()
    renderer.load(room, bodies)
    small = {"width": 24, "height": 16, "cx": centre, "cy": 7.5, "fx": focal, "fy": focal}
    frame = renderer.render([shot(spec(**small), (0.0, 0.0, 1.0))], poses)[0]
    assert frame.mono.shape == (16, 24)


def test_renderers_have_names(renderer):
    room, bodies, poses = corner_of_a_room()
    renderer.load(room, bodies)
    tiny = spec(width=64, height=48, cx=31.5, cy=23.5, outputs=["rgb8"])
    assert renderer.render([shot(tiny, (0.0, 0.0, 1.0))], poses)[0].rgb.shape == (48, 64, 3)


def test_an_unknown_renderer_is_refused():
    with pytest.raises(
        BadInput,
        match=r"unknown name 'vulkan': choose mitsuba, opengl, physical, pybullet \(or mod",
    ):
        make_renderer("vulkan")


def test_a_renderer_of_the_user_s_own_is_found_by_module_and_class(tmp_path, monkeypatch):
    methods = "".join(
        f"    def {name}(self, *_): return []\n" for name in ("load", "render", "close")
    )
    text = f"class Blank:\n{methods}\nclass Mute:\n    def load(self): pass\n"
    (tmp_path / "own_renderer.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert make_renderer("own_renderer:Blank").render([], np.zeros((0, 7))) == []
    with pytest.raises(
        BadInput, match="'renderer': class 'own_renderer:Mute' has no method 'render'"
    ):
        make_renderer("own_renderer:Mute")


@pytest.mark.parametrize(("name", "library"), [("opengl", "moderngl"), ("pybullet", "pybullet")])
def test_what_is_not_installed_is_named_with_the_line_that_installs_it(monkeypatch, name, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(BadInput, match=f"renderer '{name}' needs {library}, .*pip install"):
        make_renderer(name)


def test_without_egl_the_packages_that_bring_it_are_named(monkeypatch):
    monkeypatch.setattr(opengl, "LIBRARY", "libEGL_that_is_not_there.so.1")
    with pytest.raises(
        BadInput, match="install Debian's packages libegl1 libgl1-mesa-dri"
    ) as said:
        make_renderer("opengl")
    assert "libEGL_that_is_not_there.so.1 not loaded" in str(said.value)
    assert "\n" not in str(said.value)


def test_a_texture_that_the_scene_does_not_have_is_refused(renderer):
    odd = rectangle("sign", [[5, 1, 0], [5, -1, 0], [5, -1, 1], [5, 1, 1]], texture="paint")
    with pytest.raises(BadInput, match="part 'sign': the scene has no texture 'paint'"):
        renderer.load(scene(odd), [])


def test_nothing_is_rendered_before_something_is_loaded(renderer):
    with pytest.raises(RuntimeError, match="nothing is loaded"):
        renderer.render([shot(spec())], np.zeros((0, 7)))


def test_asking_for_opengl_does_not_load_pybullet_nor_the_other_way_round():
    code = "from iap_sensors.cameras.make import make_renderer; import sys;"
    code += "print('pybullet' in sys.modules, 'moderngl' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_any_thread_may_render(opengl):
    room, bodies, poses = corner_of_a_room()
    at = shot(spec(), (0.0, 0.0, 1.0))
    opengl.load(room, bodies)
    here = opengl.render([at], poses)[0].mono
    with ThreadPoolExecutor(1) as pool:
        there = pool.submit(opengl.render, [at], poses).result()[0].mono
    np.testing.assert_array_equal(here, there)


def test_rendering_leaves_nothing_behind(opengl):
    room, bodies, poses = corner_of_a_room()
    opengl.load(room, bodies)
    at = [shot(spec(outputs=["mono8", "depth"]), (0.0, 0.0, 1.0))] * 2
    opengl.render(at, poses)
    held = len(opengl._context.objects)
    for _ in range(5):
        opengl.render(at, poses)
    assert len(opengl._context.objects) == held
