# SPDX-License-Identifier: BSD-3-Clause
"""Cameras of films and pictures stand as far away as their angles of view ask for, and grasps begin at a reach."""

from types import SimpleNamespace

import numpy as np
import pytest

from iap_bringup.films.film_camera import fixed_views, following_views, standpoint
from iap_bringup.pictures import grasp
from iap_bringup.pictures.contact_camera import Rod, free_camera
from iap_bringup.pictures.picture import Viewpoint, camera_around
from iap_description.math import so3
from iap_description.vehicles.gripper import GripperSpec

QUARTER = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])  # about z
AROUND = 0.5 * np.hypot(
    3.0, 2.0
)  # radius of the upright cylinder around the two points below, with margins


@pytest.mark.parametrize(
    ("size", "back", "distance"),
    [
        ((300, 300), (0.0, -1.0, 0.0), 1.8 * AROUND + AROUND),
        ((900, 300), (0.0, -2.0, 0.0), 1.8 * 3.0 * 1.0 + AROUND),
        ((600, 300), (0.0, -0.6, 0.8), 3.6 * (0.6 * 1.0 + 0.8 * AROUND) + 0.6 * AROUND + 0.8),
    ],
)
def test_a_still_camera_sees_a_cylinder_with_a_margin_of_half_a_metre(size, back, distance):
    points = np.array([[1.0, 2.0, 3.0], [3.0, 3.0, 4.0]])
    place, middle = standpoint(points, size, np.array(back))
    np.testing.assert_allclose(middle, [2.0, 2.5, 3.5])
    expected = middle + distance * np.array(back) / np.linalg.norm(back)
    np.testing.assert_allclose(place, expected)


@pytest.mark.parametrize("size", [(300, 150), (150, 300)])
def test_a_camera_goes_along_at_the_distance_of_its_bodies_and_a_margin(size):
    bodies = np.tile([[[0.6, 0.0, 2.0], [-0.6, 0.0, 2.0]]], (30, 1, 1))
    views = following_views(bodies, 25.0, size, ())
    half = np.arctan(0.5 / 0.9 * min(1.0, size[1] / size[0]))
    for view in views:
        away = view.p_WC_W - [0.0, 0.0, 2.0]
        assert np.linalg.norm(away) == pytest.approx((0.6 + 0.45) / np.sin(half))
        np.testing.assert_allclose(view.R_WC[:, 2], -away / np.linalg.norm(away))
    low = following_views(bodies * [1.0, 1.0, -1.0], 25.0, size, ())
    assert {view.p_WC_W[2] for view in low} == {0.25}


def test_the_way_of_a_camera_is_smooth_over_eight_tenths_of_a_second():
    """A step of 1 m is met with the slope of a normal distribution in its middle."""
    x = (np.arange(400) >= 200).astype(float)
    bodies = np.stack([x, 0.0 * x, 5.0 + 0.0 * x], axis=1)[:, None]
    views = following_views(bodies, 50.0, (300, 300), ())
    (back,) = {tuple(np.round(view.R_WC[:, 2], 6)) for view in views}
    across = np.cross(back, [0.0, 0.0, 1.0])  # where the distance does not show
    way = np.array([view.p_WC_W @ across for view in views]) / across[0]
    steepest = 1.0 / (0.8 * np.sqrt(2.0 * np.pi))  # [m/s]
    assert np.diff(way).max() * 50.0 == pytest.approx(steepest, rel=1e-3)


class Wall:
    """An object that hides all bodies from cameras on its side, and may hold cameras."""

    def __init__(self, side, *, holds=False):
        self.side, self.is_solid = side, holds

    def hides(self, bodies, place):
        return np.full(len(bodies), not self.is_solid and place[0] * self.side > 0.0)

    def holds(self, places):
        return np.array([self.is_solid and each[0] * self.side > 0.0 for each in places])


@pytest.mark.parametrize("is_solid", [False, True])
def test_a_camera_stands_on_the_side_where_no_wall_hides_or_holds_it(is_solid):
    bodies = np.tile([[[0.5, 0.1, 2.0], [-0.5, -0.1, 2.0]]], (20, 1, 1))
    free = fixed_views(bodies, (300, 150), ())[0].p_WC_W
    assert free[0] < 0.0, "the nicest is from the left"
    walled = fixed_views(bodies, (300, 150), [Wall(-1.0, holds=is_solid)])[0].p_WC_W
    assert walled[0] > 0.0
    both = [Wall(side, holds=is_solid) for side in (-1.0, 1.0)]
    np.testing.assert_allclose(fixed_views(bodies, (300, 150), both)[0].p_WC_W, free)


# pictures


def test_a_view_looks_along_its_minus_z_with_its_head_up():
    view = Viewpoint((1.0, 2.0, 3.0), (1.0, 7.0, 3.0)).view
    np.testing.assert_allclose(view[:3, :3], [[1, 0, 0], [0, 0, 1], [0, -1, 0]], atol=1e-12)
    np.testing.assert_allclose(view @ [1.0, 2.0, 3.0, 1.0], [0, 0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(view @ [2.0, 7.0, 4.0, 1.0], [1, 1, -5, 1], atol=1e-12)


@pytest.mark.parametrize(("size", "wide"), [((1280, 720), 16.0 / 9.0), ((400, 800), 0.5)])
def test_the_nearest_camera_has_all_points_with_their_vehicles_in_its_picture(size, wide):
    points = np.array([[0.0, -2.0, 1.0], [0.0, 2.0, 1.0], [0.0, 0.0, 0.4], [0.0, 0.0, 1.6]])
    found = camera_around(points, azimuth_deg=180.0, elevation_deg=0.0, size=size)
    up = np.tan(np.deg2rad(15.0))
    # Across: 2 m and 0.55 m for the vehicle; upwards 0.6 m and half of that.
    expected = max((2.0 + 0.55) / (wide * up), (0.6 + 0.275) / up)
    np.testing.assert_allclose(found.position, [-expected, 0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(found.target, [0.0, 0.0, 1.0], atol=1e-12)
    assert found.fov_deg == 30.0
    above = camera_around(points, azimuth_deg=90.0, elevation_deg=30.0, size=size)
    away = np.subtract(above.position, above.target)
    np.testing.assert_allclose(away / np.linalg.norm(away), [0.0, np.sqrt(0.75), 0.5], atol=1e-9)


def test_a_free_camera_takes_the_first_side_that_nothing_hides():
    points = np.array([[0.0, 0.0, 1.0], [0.5, 0.0, 1.0]])
    sides = [np.rad2deg(np.arctan2(y, x - 0.25)) for x, y, _ in (
        free_camera(points, objects, (400, 300)).position for objects in ((), [Wall(1.0)])
    )]  # fmt: skip
    assert sides == pytest.approx([-35.0, -145.0])


def test_points_of_a_tool_are_on_the_way_to_its_tip():
    row = np.array([1.0, 2.0, 3.0, *QUARTER, *[0.0] * 6])
    rod = Rod.of(row, (2.0, 0.0, 0.5), (1.0, 0.0, 0.0))
    np.testing.assert_allclose(rod.tip, [1.0, 4.0, 3.5])
    np.testing.assert_allclose(rod.axis, [0.0, 1.0, 0.0], atol=1e-12)
    assert rod.points.shape == (12, 3)
    np.testing.assert_allclose(rod.points[[0, -1]], [[1.0, 2.8, 3.2], [1.0, 4.0, 3.5]])


# grasps


@pytest.mark.parametrize(("off", "is_reached"), [(0.049, True), (0.051, False)])
def test_an_object_is_reached_where_its_point_is_within_the_reach_of_the_tip(
    monkeypatch, off, is_reached
):
    link = np.array([1.0, 2.0, 3.0, *QUARTER, *[0.0] * 6])
    monkeypatch.setattr(grasp, "link_rows", lambda arm, row, chain: [None, link])
    arm = SimpleNamespace(chain=SimpleNamespace(tip=np.array([0.3, 0.0, 0.1])))
    gripper = SimpleNamespace(point=(0.0, 0.2, 0.0), reach=0.05)
    item = np.array([1.2 + off, 2.3, 3.1, *QUARTER, *[0.0] * 6])  # its point is 0.2 m along -x
    assert grasp.is_reached(gripper, arm, None, None, item) == is_reached


GRIPPER = {"object": "ball", "point": (0.0, 0.0, 0.0), "reach": 0.1, "max_force": 9.0}
GRIPPER |= {"known_load": True, "target": (0.0, 0.0, 0.0)}


@pytest.mark.parametrize(
    ("reached_from", "expected"), [(0.0, (1.0, 1.8)), (1.35, (1.4, 1.8)), (1.9, None)]
)
@pytest.mark.parametrize("times", [(1.0, 2.0), (None, None)])
def test_a_grasp_is_from_the_first_reach_to_the_end_of_the_closed_time(
    monkeypatch, reached_from, expected, times
):
    t = np.round(np.arange(0.0, 3.0, 0.2), 9)
    load = np.zeros((len(t), 10))
    load[(t >= 1.0) & (t < 2.0), 0] = 0.2  # of a gripper by commands, which says when it holds
    arm = SimpleNamespace(q=t[:, None], v=t[:, None], load=load)
    columns = SimpleNamespace(t=t, x=np.zeros((len(t), 1, 13)), arm=arm)
    gripper = GripperSpec(**GRIPPER, close=times[0], open=times[1])
    vehicle = SimpleNamespace(platform=None, name="one")
    rows = lambda t: np.array([[-1.0], [t]])  # noqa: E731
    objects = SimpleNamespace(names=["box", "ball"], at=rows)
    scenario = SimpleNamespace(gripper=gripper, vehicles=[vehicle])
    run = SimpleNamespace(objects=objects, vehicles=[SimpleNamespace(columns=columns)])
    arms = SimpleNamespace(of=lambda platform, name: SimpleNamespace(arm="arm"))
    monkeypatch.setattr(grasp, "Assembly", arms)
    monkeypatch.setattr(
        grasp, "is_reached", lambda gripper, arm, row, q, item: item[0] >= reached_from
    )
    found = grasp.grasp_of(scenario, run)
    assert (None if found is None else found[1:]) == expected
    assert found is None or found.object == "ball"
    for changes in ({"gripper": None}, {"gripper": SimpleNamespace(object="cup")}):
        assert grasp.grasp_of(SimpleNamespace(vehicles=[vehicle], **changes), run) is None
    run.objects = None
    assert grasp.grasp_of(scenario, run) is None
    assert so3.rotate(QUARTER, np.array([0.0, 0.2, 0.0])) == pytest.approx([-0.2, 0.0, 0.0])
