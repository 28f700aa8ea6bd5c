# SPDX-License-Identifier: BSD-3-Clause
"""Places of cameras and rotors, what renderers refuse, and surfaces that rays end at, by numbers."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.mounts import SensorMount
from iap_description.sensors.readings import SensorSource
from iap_sensors.cameras import geometry, renderer
from iap_sensors.cameras.view import camera_of_map, place_at
from iap_sensors.mounted import cameras
from iap_sensors.mounted.visible_bodies import TiltingRotors
from iap_sensors.rays import images, lines, surfaces, turning
from iap_sensors.rays.surfaces import TriangleSurface

# cameras


def mount(body: int = 2, p: Any = (0.0, 0.0, 0.0), q: Any = (0.0, 0.0, 0.0, 1.0)) -> SensorMount:
    return SensorMount(SensorSource("/a/left", "left"), body, np.array(p), np.array(q))


def mounted(body: int, p: Any, q: Any) -> tuple[cameras.MountedCamera, list[Any]]:
    asked: list[Any] = []
    camera: Any = SimpleNamespace(shot=lambda *args, **keys: asked.append((args, keys)))
    return cameras.MountedCamera(mount(body, p, q), camera, "a", None, 0.0), asked  # type: ignore[arg-type]


def test_a_camera_is_where_its_body_carries_it_and_goes_with_it() -> None:
    quarter = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))
    one, asked = mounted(1, (1.0, 0.0, 0.5), quarter)
    x = np.zeros((3, 13))
    x[1, :3], x[1, 3:7] = [10.0, 20.0, 30.0], quarter
    x[1, 7:10], x[1, 10:] = [0.1, 0.2, 0.3], [0.0, 0.0, 2.0]
    one.shot(x)
    (place, twist), keys = asked[0]
    np.testing.assert_allclose(place[0], [10.0, 21.0, 30.5])
    np.testing.assert_allclose(place[1], so3.multiply(quarter, quarter))
    np.testing.assert_allclose(twist[0], [0.1 - 2.0, 0.2, 0.3])
    np.testing.assert_allclose(twist[1], [0.0, 0.0, 2.0])
    assert keys == {"hidden": (1,)}
    world, asked = mounted(cameras.IN_THE_WORLD, (1.0, 2.0, 3.0), quarter)
    world.shot(x)
    ((place,), keys) = asked[0]
    np.testing.assert_allclose(place[0], [1.0, 2.0, 3.0])
    assert keys == {}


def test_a_pair_has_its_baseline_on_one_body() -> None:
    def spec(right_of: str | None) -> Any:
        return SimpleNamespace(right_of=right_of)

    mounts = {"l": mount(2, (0.0, 0.1, 0.0)), "r": mount(2, (0.0, -0.15, 0.0)), "o": mount(3)}
    assert cameras._baseline("l", spec(None), mounts) == 0.0
    assert cameras._baseline("r", spec("l"), mounts) == pytest.approx(0.25)
    for name, right_of, said in (
        ("r", "x", r"'sensors\.cameras\.r\.right_of': there is no camera 'x'"),
        ("o", "l", r"'sensors\.cameras\.o\.right_of': 'o' and 'l' are on different bodies"),
        ("l", "r", "a right camera looks as the left one does"),
    ):
        with pytest.raises(BadInput, match=said):
            cameras._baseline(name, spec(right_of), mounts)


def test_a_camera_needs_a_place_on_an_aircraft_or_in_the_world() -> None:
    with pytest.raises(
        BadInput, match=r"'sensors\.cameras\.a\.mount': a camera of an aircraft needs"
    ):
        cameras._camera_mount(None, 0, 0, "a", SimpleNamespace(mount=None))  # type: ignore[arg-type]
    for position, rpy in ((None, (0.0, 0.0, 0.0)), ((0.0, 0.0, 0.0), None)):
        rig: Any = SimpleNamespace(cameras={"a": SimpleNamespace(position=position, rpy_deg=rpy)})
        with pytest.raises(
            BadInput, match=r"'cameras\.a': a camera in the world needs position and"
        ):
            cameras._in_the_world(rig, "a")


def test_renderers_without_light_refuse_what_needs_it() -> None:
    def scene(**keys: Any) -> Any:
        usual = {"is_lit_by_file": False, "lighting": None, "weather": None, "time_of_day": None}
        return SimpleNamespace(**{**usual, **keys})

    renderer.refuse_physical_light(scene(), "opengl")
    renderer.refuse_physical_light(scene(is_lit_by_file=True, lighting=1), "opengl")
    with pytest.raises(
        BadInput, match=r"^key 'world\.light', 'world\.time_of_day': renderer 'opengl'"
    ):
        renderer.refuse_physical_light(scene(lighting=1, time_of_day=1), "opengl")
    with pytest.raises(BadInput, match=r"^key 'world\.weather': .* take 'renderer: physical'$"):
        renderer.refuse_physical_light(scene(weather=1), "opengl")
    for tone, effects in ((None, None), ("srgb", 1)):
        renderer.refuse_tone(SimpleNamespace(tone=tone, effects=effects), "opengl")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="key 'tone': renderer 'opengl' draws levels, not light"):
        renderer.refuse_tone(SimpleNamespace(tone="srgb", effects=None), "opengl")  # type: ignore[arg-type]


def test_a_camera_s_place_takes_the_map_to_its_axes() -> None:
    q = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))
    T = camera_of_map(np.array([1.0, 2.0, 3.0]), q)
    np.testing.assert_allclose(T @ [1.0, 4.0, 5.0, 1.0], [2.0, 0.0, 2.0, 1.0], atol=1e-12)
    shot: Any = SimpleNamespace(
        p_WC_W=np.zeros(3), q_WC=q, v_WC_W=[1.0, 2.0, 4.0], w_WC_W=[0.0, 0.0, 3.0]
    )
    p, turned = place_at(shot, 0.5)
    np.testing.assert_allclose(p, [0.5, 1.0, 2.0])
    np.testing.assert_allclose(turned, so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2 + 1.5])))
    assert place_at(shot, 0.0)[1] is q


def test_a_box_s_sphere_and_rows_of_parts() -> None:
    part: Any = SimpleNamespace(
        vertices=np.array([[0.0, 0.0, 0.0], [2.0, 4.0, 4.0], [1.0, 1.0, 1.0]])
    )
    np.testing.assert_allclose(geometry._sphere(part), [[1.0, 2.0, 2.0, 3.0]])
    rows = geometry._stacked([np.ones((2, 3)), 2.0 * np.ones((1, 3))], 3, np.float32)
    assert rows.dtype == np.float32 and rows[:, 0].tolist() == [1.0, 1.0, 2.0]
    assert geometry._stacked([], 4, np.int32).shape == (0, 4)
    poses = np.zeros((1, 7))
    poses[0] = [1.0, 2.0, 3.0, *so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))]
    spheres = np.array([[1.0, 0.0, 0.0, 5.0], [1.0, 0.0, 0.0, 6.0]], np.float32)
    out = spheres.copy()
    geometry.place_spheres(spheres, np.array([0, -1], np.int32), poses, out)
    np.testing.assert_allclose(out, [[1.0, 3.0, 3.0, 5.0], [1.0, 0.0, 0.0, 6.0]], atol=1e-6)
    a, b, c = (np.array(each, np.float32) for each in ([0, 0, 0], [1, 0, 0], [0, 1, 0]))
    assert not geometry._faces_away(a, b, c, np.array([0.0, 0.0, 1.0]))
    assert geometry._faces_away(a, b, c, np.array([0.0, 0.0, -1.0]))
    near, far = np.array([1 / 3, 1 / 3, 0.05]), np.array([1 / 3, 1 / 3, 5.0])
    assert geometry._bin(a, b, c, near) == 0 and geometry._bin(a, b, c, 1e3 * far) == 255
    assert geometry._bin(a, b, c, far) == int(np.log(1e4) / np.log(1e10) * 256)


# rotors and surfaces


def test_rotors_that_tilt_stand_where_their_body_and_their_tilt_have_them() -> None:
    half = np.pi / 2
    quarter = so3.quaternion_exp(np.array([0.0, 0.0, half]))
    level = np.array([0.0, 0.0, 0.0, 1.0])
    rotors = TiltingRotors(
        ((), (), ()), np.array([0, 2, 2]), np.array([[0, 1], [1, 0], [1, 3]]),
        np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]), np.tile([1.0, 0.0, 0.0], (3, 1)),
        np.stack([level, level, quarter]),
    )  # fmt: skip
    assert rotors.carried_by((2, 5)) == (1, 2) and rotors.carried_by(()) == ()
    x = np.zeros((3, 13))
    x[:, 6] = 1.0
    x[2, :3], x[2, 3:7] = [5.0, 6.0, 7.0], quarter
    tilts = np.zeros((2, 4))
    tilts[1, 3] = 0.5
    poses = rotors.poses(x, tilts)
    np.testing.assert_allclose(
        poses[:, :3], [[1.0, 0.0, 0.0], [3.0, 6.0, 7.0], [5.0, 6.0, 8.0]], atol=1e-12
    )
    lean = so3.quaternion_exp(np.array([0.5, 0.0, 0.0]))
    np.testing.assert_allclose(poses[2, 3:], so3.multiply(quarter, so3.multiply(lean, quarter)))


def test_pieces_of_surfaces_are_numbered_on() -> None:
    numbers = [np.array(each, np.int32) for each in ([0, 0, 1], [], [0, 1, 1], [0])]
    assert surfaces.numbered_on(numbers).tolist() == [0, 0, 1, 2, 3, 3, 4]
    one = TriangleSurface.of([np.ones((2, 3, 3)), np.ones((1, 3, 3))], is_solid=True, label=5)
    other = TriangleSurface.of([2.0 * np.ones((1, 3, 3))], is_solid=False, label=6)
    both = TriangleSurface.joined([one, other])
    assert both.pieces.tolist() == [0, 0, 1, 2] and both.segments.tolist() == [5, 5, 5, 6]
    assert both.is_solid.tolist() == [True, True, True, False]
    assert (
        both.radius == pytest.approx(2.0 * np.sqrt(3.0))
        and TriangleSurface.joined([]).radius == 0.0
    )
    row = np.array(
        [1.0, 2.0, 3.0, *so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2])), *[0.0] * 6]
    )
    np.testing.assert_allclose(other.placed(row).corners[0, 0], [-1.0, 4.0, 5.0])
    assert np.abs(surfaces.ground()).max() == 1000.0 and not surfaces.ground()[..., 2].any()
    assert surfaces.corners_of([]).shape == (0, 3, 3)


def test_rays_that_pass_a_body_farther_than_its_farthest_corner_are_left_out() -> None:
    sheets = lines._Sheets(np.array([[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]]))
    starts = np.array(
        [[-5.0, 1.99, 0.0], [-5.0, 2.01, 0.0], [-5.0, 0.0, 0.0], [2.5, 0.0, 0.0], [0.5, 0.0, 0.0]]
    )
    ways = np.array(
        [[10.0, 0.0, 0.0], [10.0, 0.0, 0.0], [2.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    )
    assert sheets.is_near(starts, ways, np.zeros(3)).tolist() == [True, False, False, False, True]
    shifted = sheets.is_near(starts + [1.0, 2.0, 3.0], ways, np.array([1.0, 2.0, 3.0]))
    assert shifted.tolist() == [True, False, False, False, True]
    empty = lines._Sheets(np.zeros((0, 3, 3)))
    limits = np.ones(5, np.float32)
    assert empty.cast(starts, ways, limits) is limits


def test_rays_near_a_point_and_attitudes_are_those_of_geometry() -> None:
    q = so3.quaternion_exp(np.array([0.3, -0.5, 0.7]))
    np.testing.assert_allclose(turning.matrix_of(q), so3.matrix_from_quaternion(q), atol=1e-12)
    starts = np.zeros((4, 3), np.float32)
    ways = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [-1, 0, 0]], np.float32)
    reach = np.array([10.0, 10.0, 1.0, 10.0], np.float32)
    near = turning.rays_near(starts, ways, reach, np.array([3.0, 1.0, 0.0]), 1.01)
    assert near.tolist() == [0]
    wide = turning.rays_near(starts, ways, reach, np.array([3.0, 1.0, 0.0]), 3.17)
    assert wide.tolist() == [0, 1, 2, 3]
    done: list[Any] = []
    images.by_itself(lambda first, last: done.append((first, last)), 7)
    assert done == [(0, 7)]
