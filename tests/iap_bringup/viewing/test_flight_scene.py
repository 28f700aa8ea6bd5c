# SPDX-License-Identifier: BSD-3-Clause
"""The viewer's scene: everything stands where the flight has it."""

import numpy as np
import pytest
from recording_stage import RecordingStage
from starting_flight import starting_flight

from iap_bringup.viewing.live_trace import Trace
from iap_bringup.viewing.scene import FlightScene
from iap_bringup.viewing.source import reference_ways
from iap_description.states import P
from iap_physics.nodes.markers import METRES_PER_NEWTON
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import resolved
from iap_simulation.scenario.rig_spec import rig_spec


def shown(name, seconds=0.0, **settings):
    """A stage with a scenario's scene after some seconds, and the steps that it shows."""
    flight, steps = starting_flight(name, seconds, **settings)
    stage, scene = RecordingStage(), FlightScene(rig_spec(flight.scenario), flight.meta)
    scene.add(stage)
    scene.update(stage, steps)
    return stage, steps, flight


def test_bodies_and_reference_stand_at_the_states_of_the_flight():
    stage, (step,), flight = shown("figure_eight", 1.0)
    for body, row in zip(flight.meta.vehicles[0].bodies, step.x, strict=True):
        assert stage.poses[f"world/bodies/iap/{body}"] == pytest.approx(row[:7])
    assert stage.poses["world/references/iap"] == pytest.approx(step.reference.row[:7])


def test_arrows_of_thrust_of_a_hovering_platform_bear_its_weight():
    stage, (step,), flight = shown("hover", 1.0)
    arrows = [size for name, size in stage.sizes.items() if name.endswith("thrust/arrow")]
    weight = 9.81 * sum(body.mass for body in flight.spec.vehicles[0].assembly.bodies)
    assert len(arrows) == flight.meta.vehicles[0].count
    assert sum(arrows) / METRES_PER_NEWTON == pytest.approx(weight, rel=0.05)


def test_the_world_moves_where_the_first_vehicle_is_followed():
    stage, (step,), flight = shown("figure_eight", 0.5)
    scene = FlightScene(rig_spec(flight.scenario), flight.meta)
    scene.add(stage)
    scene.update(stage, [step])
    scene.follows = True
    moved = step._replace(x=step.x + np.eye(1, 13) * 0.7)
    scene.update(stage, [moved])
    vehicle = stage.poses["world"][P] + stage.poses["world/bodies/iap/base_link"][P]
    assert vehicle == pytest.approx(step.x[0, P])


def test_the_line_of_a_vehicle_begins_anew_where_time_does():
    stage, trace = RecordingStage(), Trace("way")
    for k in range(100):
        trace.extend(stage, 0.1 * k, np.array([0.1 * k, 0.0, 1.0]))
    drawn = np.concatenate(list(stage.lines.values()))
    assert drawn[:, 0, 0].min() == 0.0
    assert np.linalg.norm(drawn[:, 1] - drawn[:, 0], axis=1) == pytest.approx(0.1)
    for k in range(20):
        trace.extend(stage, 0.1 * k, np.array([5.0, 0.1 * k, 1.0]))
    anew = np.concatenate(list(stage.lines.values()))
    assert (anew[..., 0] == 5.0).all()


def test_the_way_of_a_long_reference_has_no_corners():
    flight = Flight.of(resolved("figure_eight", {}, {"duration": 120.0})[0])
    (way,) = reference_ways(flight)
    legs = np.linalg.norm(np.diff(way, axis=0), axis=1)
    assert legs.sum() > 50.0
    assert legs.max() < 0.5  # [m]


def test_a_line_joins_no_points_between_which_nobody_looked():
    stage, trace = RecordingStage(), Trace("way")
    for t in (*np.arange(0.0, 4.0, 0.1), *np.arange(60.0, 64.0, 0.1)):
        trace.extend(stage, t, np.array([t, 0.0, 1.0]))
    drawn = np.concatenate(list(stage.lines.values()))
    assert np.linalg.norm(drawn[:, 1] - drawn[:, 0], axis=1).max() < 0.2
    assert drawn[..., 0].max() > 60.0
