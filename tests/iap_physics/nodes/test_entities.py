# SPDX-License-Identifier: BSD-3-Clause
"""Entities as simulation_interfaces asks for them, without its messages: sizes, places, versions of requests."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 in this environment (./iap test has it)")

from commanding import session_of

from iap_description.errors import BadInput
from iap_description.states import P
from iap_physics.nodes.standard_services.entities import SPHERE, UNBOUNDED, Entities
from iap_physics.nodes.standard_services.entity_services import resource_of, what_is_set
from iap_simulation.scenario.resolving import Options, resolve

pytestmark = pytest.mark.ros


@pytest.fixture(scope="module")
def entities():
    return Entities(session_of(resolve("wall_push", Options())[0]))  # in the engine that is there


def overlapping(entities, place, radius):
    points = [SimpleNamespace(x=x, y=y, z=z) for x, y, z in (place, (radius, 0.0, 0.0))]
    tags = SimpleNamespace(tags=[], filter_mode=0)
    bounds = SimpleNamespace(type=SPHERE, points=points)
    filters = SimpleNamespace(filter="", categories=[], tags=tags, bounds=bounds)
    return [each.name for each in entities.filtered(filters)]


def test_the_box_of_a_vehicle_has_all_of_its_aircraft(entities):
    lower, upper = entities.box(entities["iap"])
    own_lower, own_upper = entities.box(entities["iap/drone_1"])
    offset = entities.state(entities["iap/drone_1"])[P] - entities.state(entities["iap"])[P]
    assert (own_lower < 0.0).all() and (own_upper > 0.0).all()  # around the aircraft's own origin
    assert (lower <= own_lower + offset + 1e-9).all()
    assert (upper >= own_upper + offset - 1e-9).all()


def test_the_box_of_a_wall_has_the_wall_s_size(entities):
    lower, upper = entities.box(entities["wall"])
    wall = resolve("wall_push", Options())[0].world.objects["wall"]
    size = (wall.thickness, wall.width, wall.height)
    np.testing.assert_allclose(upper - lower, size, atol=1e-9)


def test_a_sphere_at_an_aircraft_meets_it_and_its_vehicle(entities):
    place = entities.state(entities["iap/drone_2"])[P]
    assert overlapping(entities, place, 0.01) == ["iap", "iap/drone_2"]


def test_requests_without_flags_set_pose_and_twist():
    """As those of the versions 1.5 and 1.6 that Jazzy and Kilted have."""
    assert what_is_set(SimpleNamespace(entity="iap")) == (True, True)
    assert what_is_set(SimpleNamespace(set_pose=True, set_twist=False)) == (True, False)


def test_a_spawnable_has_its_uri_itself_or_in_its_resource():
    old, new = SimpleNamespace(uri=""), SimpleNamespace(entity_resource=SimpleNamespace(uri=""))
    assert resource_of(old) is old
    assert resource_of(new) is new.entity_resource


def test_bounds_are_a_sphere_of_two_points(entities):
    tags = SimpleNamespace(tags=[], filter_mode=0)
    point = SimpleNamespace(x=0.0, y=0.0, z=0.0)
    bounds = SimpleNamespace(type=SPHERE, points=[point])
    filters = SimpleNamespace(filter="", categories=[], tags=tags, bounds=bounds)
    with pytest.raises(BadInput, match="bounds: a sphere has two points"):
        entities.filtered(filters)
    bounds.type = SPHERE + 1
    with pytest.raises(NotImplementedError, match="TYPE_SPHERE alone"):
        entities.filtered(filters)


def test_a_filter_that_is_no_expression_is_refused_with_its_fault(entities):
    filters = SimpleNamespace(
        filter="(", categories=[], tags=SimpleNamespace(tags=[], filter_mode=0)
    )
    filters.bounds = SimpleNamespace(type=UNBOUNDED, points=[])
    with pytest.raises(BadInput, match=r"filter '\(': "):
        entities.filtered(filters)
