# SPDX-License-Identifier: BSD-3-Clause
"""Places and distances of things in images, against the camera's model and against geometry."""

import cv2
import numpy as np
import pytest
from small_scenes import (
    Light,
    Sky,
    ball,
    box,
    grain,
    ground,
    rectangle,
    scene,
    shot,
    spec,
    spot,
    turned,
    wall,
)

from iap_description.math import so3

NO_BODIES = np.zeros((0, 7))
BARREL = (-0.283, 0.074, 0.0002, 0.00002, 0.0)
FISHEYE = {"distortion_model": "equidistant", "distortion": (0.0035, 0.0007, -0.002, 0.0002)}
SPHERES = {
    "distortion_model": "double_sphere",
    "distortion": (-0.15, 0.6),
    "fx": 250.0,
    "fy": 250.0,
}
LEFT, RIGHT = np.array([0.198, 0.06, 0.0]), np.array([0.198, -0.06, 0.0])  # mounts on a body
FX_BASELINE = 320.0 * 0.12  # [pixels m]
ALL_WHITE = Sky(zenith=(1.0, 1.0, 1.0), horizon=(1.0, 1.0, 1.0))
REACH = 8  # pixels around a mark that belong to it


def one(renderer, camera, *parts, bodies=(), poses=NO_BODIES, at=None, **scene_keys):
    renderer.load(scene(*parts, **scene_keys), bodies)
    return renderer.render([shot(camera) if at is None else at], poses)[0]


def body_pose():
    return np.array([0.4, -0.3, 0.2]), turned(roll=7.0, pitch=-4.0, yaw=11.0)


def marks(camera):
    """Positions in `map` of a grid of marks at several distances, spread over the image of a left camera."""
    p_W, q = body_pose()
    model = shot(camera).model
    u, v = np.meshgrid(
        np.linspace(30, camera.width - 31, 11), np.linspace(30, camera.height - 31, 8)
    )
    z = 3.0 + 2.0 * (np.arange(u.size) % 4).reshape(u.shape)
    p_C = model.unproject(np.stack([u, v], -1)) * z[..., None]
    place = shot(camera, p_W + so3.rotate(q, LEFT), q)
    return so3.rotate(place.q_WC, p_C.reshape(-1, 3)) + place.p_WC_W


def marked(points_W, toward_W):
    """A dark spot on a white square around each point, facing a camera."""
    parts = []
    for point in points_W:
        out = toward_W - point
        distance = np.linalg.norm(out)
        side = np.cross([0.0, 0.0, 1.0], out / distance)
        side *= 0.02 * distance / np.linalg.norm(side)
        up = np.cross(out / distance, side)
        corners = [point - side - up, point + side - up, point + side + up, point - side + up]
        parts.append(rectangle("mark", corners, texture="spot"))
    return parts


# With the light so strong that white is white on whatever side.
WHITE_ALL_OVER = {
    "textures": {"spot": spot(0.07)},
    "sky": ALL_WHITE,
    "light": Light(direction_W=(0.0, 0.0, 1.0), strength=0.0, ambient=1.2),
}


def found(image, uv):
    """Centroid (n, 2) of what is dark around pixels (n, 2)."""
    middles = []
    for u, v in np.round(uv).astype(int):
        window = image[v - REACH : v + REACH + 1, u - REACH : u + REACH + 1].astype(float)
        window = window.max() - window
        rows, columns = np.mgrid[v - REACH : v + REACH + 1, u - REACH : u + REACH + 1]
        middles.append([np.sum(window * columns), np.sum(window * rows)] / window.sum())
    return np.array(middles)


@pytest.mark.parametrize("mount", [LEFT, RIGHT], ids=["left", "right"])
@pytest.mark.parametrize(
    "lens",
    [{}, {"distortion": BARREL}, FISHEYE, SPHERES],
    ids=["pinhole", "distorted", "fisheye", "double sphere"],
)
def test_a_grid_in_space_is_where_the_model_projects_it(opengl, mount, lens):
    camera = spec(**lens)
    points_W = marks(camera)
    p_W, q = body_pose()
    at = shot(camera, p_W + so3.rotate(q, mount), q)
    parts = marked(points_W, at.p_WC_W)
    frame = one(opengl, camera, *parts, at=at, **WHITE_ALL_OVER)
    uv = at.model.project(so3.rotate(so3.conjugate(at.q_WC), points_W - at.p_WC_W))
    inside = np.all(
        (uv > REACH + 1) & (uv < [camera.width - REACH - 2, camera.height - REACH - 2]), -1
    )
    assert inside.sum() > 60
    off = np.linalg.norm(found(frame.mono, uv[inside]) - uv[inside], axis=-1)
    assert off.max() < 0.3


@pytest.mark.parametrize("blur", [None, {"exposure_time": 0.004, "samples": 8}])
def test_an_image_in_fast_motion_shows_the_pose_of_its_stamp(opengl, blur):
    camera = spec(blur=blur)
    v_W, w_W = np.array([2.0, 5.0, -1.0]), np.array([0.5, -0.4, 2.0])
    points_W = marks(camera)
    p_W, q = body_pose()
    at = shot(camera, p_W + so3.rotate(q, LEFT), q, v_WC_W=v_W, w_WC_W=w_W)
    frame = one(opengl, camera, *marked(points_W, at.p_WC_W), at=at, **WHITE_ALL_OVER)
    uv = at.model.project(so3.rotate(so3.conjugate(at.q_WC), points_W - at.p_WC_W))
    seen = found(frame.mono, uv)
    _, turn, p_CW_C = cv2.solvePnP(points_W, seen, at.model.K, at.model.lens.D)
    R_CW = so3.exp(turn[:, 0])
    off = np.linalg.norm(-R_CW.T @ p_CW_C[:, 0] - at.p_WC_W)
    angle = np.linalg.norm(so3.log(R_CW @ so3.matrix_from_quaternion(at.q_WC)))
    assert (
        off < 0.003
    )  # [m]; a frame later the camera is 0.27 m further, a physics step later 5.5 mm
    assert angle < 5e-4  # [rad]; a physics step later 2.1e-3


def test_a_stereo_pair_sees_a_plane_as_far_as_it_is(opengl):
    camera, textures = spec(), {"grain": grain(levels=(8, 32, 64))}
    opengl.load(scene(wall(5.0 + LEFT[0], 8.0, texture="grain", tiles=3.0), textures=textures), [])
    frames = opengl.render([shot(camera, LEFT), shot(camera, RIGHT)], NO_BODIES)
    left, right = frames[0].mono, frames[1].mono
    matched = cv2.StereoBM_create(32, 21).compute(left, right) / 16.0  # as stereo_image_proc does
    assert np.mean(matched > 0.0) > 0.8
    assert FX_BASELINE / np.median(matched[matched > 0.0]) == pytest.approx(5.0, rel=0.01)
    corners = cv2.goodFeaturesToTrack(left, 300, 0.01, 15)
    there, fits, _ = cv2.calcOpticalFlowPyrLK(left, right, corners, None)
    shift = (corners - there)[fits[..., 0] == 1, 0]
    assert len(shift) > 200
    assert FX_BASELINE / np.median(shift[:, 0]) == pytest.approx(5.0, rel=0.004)
    assert abs(np.median(shift[:, 1])) < 0.02


@pytest.mark.parametrize("distortion", [(0.0,) * 5, BARREL], ids=["pinhole", "distorted"])
def test_depth_of_a_slanted_plane_and_a_ball_is_the_analytic_one(opengl, distortion):
    camera = spec(distortion=distortion, outputs=["depth", "segmentation"], near=0.1, far=100.0)
    parts = [ground(80.0, label=3), ball("ball", (6.0, 0.5, 1.2), 0.8, label=9)]
    at = shot(camera, (0.0, 0.0, 2.0), turned(pitch=12.0, roll=3.0))
    frame = one(opengl, camera, *parts, at=at)
    u, v = np.meshgrid(np.arange(640.0), np.arange(480.0))
    rays = so3.rotate(at.q_WC, at.model.unproject(np.stack([u, v], -1)))
    on_ground, on_ball = frame.labels == 3, frame.labels == 9
    plane = -2.0 / rays[..., 2]
    assert np.median(np.abs(frame.depth / plane - 1.0)[on_ground]) < (
        1e-5 if not any(distortion) else 2e-3
    )
    middle = np.array([6.0, 0.5, 1.2]) - at.p_WC_W
    a, b, c = np.sum(rays**2, -1), rays @ middle, middle @ middle - 0.8**2
    with np.errstate(invalid="ignore"):
        sphere = (b - np.sqrt(b * b - a * c)) / a
    off = np.abs(frame.depth - sphere)[on_ball & np.isfinite(sphere)]
    assert on_ball.sum() > 3000
    assert np.median(off) < 1e-3
    nothing = frame.labels == 0
    assert nothing.any() and np.isposinf(frame.depth[nothing]).all()
    assert np.isfinite(frame.depth[~nothing]).all()


def test_nothing_closer_than_near_or_farther_than_far_is_seen(opengl):
    camera = spec(outputs=["depth"], near=3.0, far=8.0)
    steps = [wall(d, 0.2 * d, name=f"{d}") for d in (2.0, 5.0, 10.0)]
    depth = one(opengl, camera, *steps).depth
    assert depth[240, 320] == pytest.approx(5.0)
    seen = depth[np.isfinite(depth)]
    assert seen.min() > 3.0 and seen.max() < 8.0


def test_labels_say_whose_pixel_it_is_also_above_255(opengl):
    camera = spec(outputs=["segmentation"])
    parts = [
        wall(9.0, 20.0, label=300),
        *box("box", (5.0, 1.0, 0.0), (0.5, 0.5, 0.5), label=40000),
    ]
    labels = one(opengl, camera, *parts).labels
    assert labels.dtype == np.uint16
    assert labels[240, 320] == 300
    assert labels[240, 320 - 70] == 40000


def test_bodies_are_where_their_poses_are_and_hide_what_is_behind_them(opengl):
    camera = spec(outputs=["depth", "segmentation"])
    cube = box("cube", (0.0, 0.0, 0.0), (0.5, 0.5, 0.5), label=5)
    q = turned(yaw=45.0)
    poses = np.array([[4.0, 0.0, 0.0, *turned()], [6.0, -1.5, 0.0, *q]])
    frame = one(opengl, camera, wall(9.0, 20.0, label=2), bodies=[cube, cube], poses=poses)
    assert frame.depth[240, 320] == pytest.approx(3.5)
    assert np.nanmin(frame.depth[:, 380:]) == pytest.approx(6.0 - 0.5 * np.sqrt(2.0), abs=5e-3)
    assert set(np.unique(frame.labels)) == {2, 5}


def test_a_hidden_body_is_not_in_that_camera_s_image(opengl):
    camera = spec(outputs=["segmentation"])
    cube = box("cube", (0.0, 0.0, 0.0), (0.5, 0.5, 0.5), label=5)
    poses = np.array([[4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    opengl.load(scene(wall(9.0, 20.0, label=2)), [cube])
    frames = opengl.render([shot(camera), shot(camera, hidden=(0,)), shot(camera)], poses)
    assert [5 in frame.labels for frame in frames] == [True, False, True]


def test_what_turns_its_back_is_not_seen(opengl):
    camera = spec(outputs=["depth"])
    away = wall(5.0, 9.0)
    flipped = rectangle("away", away.vertices[::-1])
    assert np.isposinf(one(opengl, camera, flipped).depth).all()


def test_wrong_poses_are_refused(opengl):
    opengl.load(scene(wall()), [])
    with pytest.raises(ValueError, match="0 bodies have poses"):
        opengl.render([shot(spec())], np.zeros((1, 7)))


def test_cameras_of_all_sizes_share_a_renderer(opengl):
    opengl.load(scene(wall(5.0, 60.0)), [])
    cameras = [
        spec(
            width=w,
            height=h,
            cx=0.5 * (w - 1),
            cy=0.5 * (h - 1),
            outputs=["mono8", "rgb8", "depth"],
        )
        for w, h in ((640, 480), (33, 17), (101, 55), (640, 480))
    ]
    frames = opengl.render([shot(camera) for camera in cameras], NO_BODIES)
    for camera, frame in zip(cameras, frames, strict=True):
        assert frame.mono.shape == frame.depth.shape == (camera.height, camera.width)
        assert frame.rgb.shape == (camera.height, camera.width, 3)
        assert (frame.mono == 255).all()
        np.testing.assert_allclose(frame.depth, 5.0, rtol=1e-5)
    assert not np.shares_memory(frames[0].mono, frames[3].mono)


def test_an_empty_scene_is_all_sky(opengl):
    frame = one(opengl, spec(outputs=["mono8", "depth"]), sky=ALL_WHITE)
    assert (frame.mono == 255).all() and np.isposinf(frame.depth).all()
