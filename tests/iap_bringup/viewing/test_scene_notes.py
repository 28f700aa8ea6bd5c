# SPDX-License-Identifier: BSD-3-Clause
"""Couplings, estimates and measurements in the scene, as the flight has them."""

import numpy as np
import pytest
from recording_stage import RecordingStage

from iap_bringup.cli.main import main
from iap_bringup.plots.recorded_run import RecordedRun
from iap_bringup.viewing.live_flight import LiveFlight
from iap_bringup.viewing.note_layers import DEVIATIONS, put_ellipsoid
from iap_bringup.viewing.record_notes import events_of
from iap_bringup.viewing.scene import FlightScene
from iap_bringup.viewing.scene_notes import (
    HELD_COLOR,
    MOVING_COLOR,
    SceneNotes,
    couplings_of,
    has_points,
)
from iap_bringup.viewing.source import RunSource
from iap_description.math import so3
from iap_description.states import P
from iap_physics.latching.latches import PHASES, Phase
from iap_simulation.flights.flight import Flight
from iap_simulation.scenario.resolving import resolved
from iap_simulation.scenario.rig_spec import rig_spec
from iap_simulation.simulation.simulation import Simulation


def flown(tmp_path, *arguments):
    """The source of a run of the command line."""
    folder = tmp_path / "run"
    assert main(["run", *arguments, "--no-plot", "--no-view", "--out", str(folder)]) == 0
    return RunSource(RecordedRun(folder))


def test_the_ball_of_a_latch_has_the_colour_of_its_state():
    flight = Flight.of(resolved("docking", {"policy": None}, {"duration": 0.1})[0])
    couplings = couplings_of(flight.scenario)
    stage = RecordingStage()
    scene = FlightScene(rig_spec(flight.scenario), flight.meta, couplings=couplings)
    scene.add(stage)
    joints = scene.layers["joints"]
    (name,) = flight.scenario.latches
    for phase, expected in ((Phase.CAUGHT, MOVING_COLOR), (Phase.LOCKED, HELD_COLOR)):
        joints.update(stage, [], SceneNotes(couplings={name: PHASES.index(phase)}))
        shown = {
            node for node, visible in stage.visible.items() if visible and f"/{name}/" in node
        }
        assert [stage.colors[node] for node in shown] == [expected]
    joints.update(stage, [], SceneNotes())
    assert not any(v for node, v in stage.visible.items() if f"/{name}/" in node)


def test_points_are_drawn_where_they_are_new_and_not_again():
    flight = Flight.of(resolved("hover", {}, {"platform": "f450", "sensors": "depth"})[0])
    stage = CountingStage()
    scene = FlightScene(rig_spec(flight.scenario), flight.meta)
    scene.add(stage)
    clouds = scene.layers["clouds"]
    (topic,) = [each.topic for each in flight.meta.sensors if has_points(each)]
    first, second = np.zeros((2, 3)), np.ones((3, 3))
    for points in (first, first, second, second):
        clouds.update(stage, [], SceneNotes(clouds={topic: points, "/another": first}))
    assert [len(each) for each in stage.drawn] == [2, 3]


class CountingStage(RecordingStage):
    """A stage that keeps all points that it is to draw."""

    def __init__(self):
        super().__init__()
        self.drawn = []

    def scatter(self, node, points):
        self.drawn.append(points)


def test_an_ellipsoid_has_the_axes_of_its_covariance():
    R = so3.matrix_from_euler(np.array([0.3, -0.2, 0.9]))
    deviations = np.array([0.1, 0.02, 0.05])
    stage = RecordingStage()
    position = np.array([1.0, 2.0, 3.0])
    put_ellipsoid(stage, "estimate", position, R @ np.diag(deviations**2) @ R.T)
    turned = so3.matrix_from_quaternion(stage.poses["estimate"][3:])
    half = stage.sizes["estimate/ball"]
    assert stage.poses["estimate"][P] == pytest.approx(position)
    again = turned @ np.diag((half / DEVIATIONS) ** 2) @ turned.T
    assert again == pytest.approx(R @ np.diag(deviations**2) @ R.T, abs=1e-9)


def test_a_recorded_estimate_has_its_covariance_and_an_event_where_it_is_blind(tmp_path):
    arguments = ["--sensors", "capture,imu", "--state-source", "capture_inertial"]
    silent = "faults=[{at: 0.5, sensor: motion_capture, output: silent}]"
    arguments += ["--duration", "1.2", "--set", silent]
    source = flown(tmp_path, "hover", "--platform", "f450", *arguments)
    (lost,) = [each for each in events_of(source.run) if "vision" in each.text]
    assert lost.text == "capture_inertial: vision lost"
    assert lost.t == pytest.approx(0.5, abs=0.05)
    covariance = source.notes(0.5).covariances["iap/base_link"]
    deviation = np.sqrt(np.diag(covariance))
    assert (deviation > 1e-5).all()
    assert (deviation < 0.05).all()
    assert source.notes(-1.0).covariances == {}


@pytest.mark.slow
def test_points_of_a_depth_camera_lie_on_the_ground_and_the_walls_recorded_as_live(tmp_path):
    words = {"platform": "f450", "sensors": "depth", "scene": "building_cluster", "duration": 0.3}
    source = flown(tmp_path, "hover", *(f"--{k}={v}" for k, v in words.items()))
    (points,) = source.notes(0.29).clouds.values()
    assert len(points) > 100
    assert points[:, 2].min() == pytest.approx(0.0, abs=0.01)  # nothing is below the ground
    assert (np.abs(points[:, 2]) < 0.01).mean() > 0.2
    flight = Flight.of(resolved("hover", {}, words)[0])
    live = LiveFlight(flight, is_paced=False)
    with Simulation(flight) as simulation:
        simulation.begin(observers=[live], sinks=[live], guidance=[live])
        live.attach(simulation)
        simulation.fly()
    (shown,) = live.notes().clouds.values()
    assert np.median(np.abs(shown[:, 2])) < 10.0
    assert shown[:, 2].min() == pytest.approx(0.0, abs=0.01)
