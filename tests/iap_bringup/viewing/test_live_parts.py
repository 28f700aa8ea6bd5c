# SPDX-License-Identifier: BSD-3-Clause
"""What a stage sends to pages, and how a live flight keeps its pace and obeys a hand."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from made_up_pages import Server
from measured_stage import moved
from starting_flight import starting_flight

from iap_bringup.viewing import live_flight
from iap_bringup.viewing.control import FASTEST
from iap_bringup.viewing.live_flight import SHOW_PERIOD, LiveFlight
from iap_bringup.viewing.viser_stage import ViserStage
from iap_description.errors import FlightFailed
from iap_description.geometry.tessellation import MeshPart
from iap_description.signals import Reference
from iap_description.states import Level


def test_a_stage_sends_a_pose_a_size_or_a_visibility_once_and_only_what_has_changed():
    server = Server()
    stage = ViserStage(server)
    stage.add_frame("a", 0.5)
    (frame,) = server.scene.of("frame")
    assert frame.options == {"show_axes": True, "axes_length": 0.5, "axes_radius": 0.02}
    pose = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3, 0.9])
    stage.place("a", pose)
    assert frame.position == (1.0, 2.0, 3.0) and frame.wxyz == (0.9, 0.1, 0.2, 0.3)
    frame.position = frame.wxyz = None
    stage.place("a", pose + 0.9e-6)
    assert frame.position is None and frame.wxyz is None
    stage.place("a", pose + np.eye(7)[2])
    assert frame.position == (1.0, 2.0, 4.0) and frame.wxyz is None
    stage.place("a", pose + np.eye(7)[2] + np.eye(7)[6])
    assert frame.wxyz == (1.9, 0.1, 0.2, 0.3)
    stage.stretch("a", 2.0)
    assert frame.scale == 2.0
    for size, sent in ((2.019, 2.0), (2.03, 2.03), (np.array([1.0, 2.0, 3.0]), (1.0, 2.0, 3.0))):
        stage.stretch("a", size)
        assert frame.scale == sent
    stage.show("a", visible=False)
    assert frame.visible is False
    frame.visible = None
    stage.show("a", visible=False)
    assert frame.visible is None
    stage.show("a", visible=True)
    assert frame.visible is True
    stage.remove("a")
    assert frame.removed
    stage.add_frame("a")
    again = server.scene.of("frame")[-1]
    assert again.options["show_axes"] is False
    stage.stretch("a", 2.03)
    assert again.scale == 2.03  # of a node that is new nothing is known


def test_a_stage_draws_triangles_lines_arrows_balls_and_points_as_they_are():
    server = Server()
    stage, corners = ViserStage(server), np.eye(3, dtype=np.float32)
    faces, uv = np.array([[0, 1, 2]], np.int32), np.zeros((3, 2), np.float32)
    part = MeshPart("part", corners, corners, uv, faces, None, (1.0, 0.5, 0.0, 0.8), 1)
    stage.opacity = 0.5
    stage.add_part("p", part)
    (mesh,) = server.scene.of("mesh_simple")
    assert mesh.options["color"] == (255, 128, 0) and mesh.options["opacity"] == pytest.approx(0.4)
    stage.opacity = 1.0
    stage.add_part("q", replace(part, color=(1.0, 1.0, 1.0, 1.0)))
    assert server.scene.of("mesh_simple")[1].options["opacity"] is None
    texture = np.full((512, 256, 3), 90, np.uint8)
    stage.add_part("t", replace(part, texture="t"), texture)
    (textured,) = server.scene.of("mesh_trimesh")
    material = textured.args[1].visual.material
    assert material.baseColorTexture.size == (128, 256) and material.baseColorFactor.tolist() == [
        255,
        128,
        0,
        204,
    ]
    np.testing.assert_array_equal(textured.args[1].vertices, corners)
    stage.add_lines("l", np.zeros((2, 2, 3)), (1, 2, 3), 0.01)
    (lines,) = server.scene.of("line_segments")
    assert (
        lines.args[1].shape == (2, 2, 3)
        and lines.args[2].tolist() == [1, 2, 3]
        and lines.options["thickness"] == 0.01
    )
    stage.add_arrow("a", (4, 5, 6))
    (arrow,) = server.scene.of("arrows")
    assert arrow.args[1].tolist() == [[[0, 0, 0], [0, 0, 1]]] and arrow.visible is False
    stage.add_ball("b", 0.25, (7, 8, 9), 0.5)
    stage.add_ball("c", 0.25, (7, 8, 9))
    first, second = server.scene.of("icosphere")
    assert (
        first.options["radius"] == 0.25
        and first.options["opacity"] == 0.5
        and second.options["opacity"] is None
    )
    stage.add_points("d", (1, 1, 1), 0.04)
    (points,) = server.scene.of("point_cloud")
    assert (
        points.args[1].tolist() == [[0.0, 0.0, -1000.0]] and points.options["point_size"] == 0.04
    )
    stage.scatter("d", np.ones((2, 3)))
    assert points.points.shape == (2, 3)
    stage.scatter("d", np.zeros((0, 3)))
    assert points.points.tolist() == [[0.0, 0.0, -1000.0]]


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on by what is slept."""
    now = SimpleNamespace(t=50.0, slept=[])

    def sleep(seconds):
        now.slept.append(seconds)
        now.t += seconds

    monkeypatch.setattr(
        live_flight, "time", SimpleNamespace(perf_counter=lambda: now.t, sleep=sleep)
    )
    return now


@pytest.fixture(scope="module")
def flown():
    """A flight of two platforms, and the first step of each."""
    return starting_flight("two_platforms")


def test_a_flight_keeps_pace_with_the_clock_at_its_speed_and_never_races(flown, clock):
    live = LiveFlight(flown[0], is_paced=True)
    dt = 1.0 / flown[0].scenario.rates.control_hz
    assert live.speed == 1.0 and live.allow(0, 1000) == int(SHOW_PERIOD / dt)
    assert live.allow(100, 1000) > 0 and clock.t == pytest.approx(50.0 + 100 * dt)
    live.speed = 0.5
    live.allow(100, 1000)
    began = clock.t
    assert live.allow(150, 1000) == max(1, int(SHOW_PERIOD * 0.5 / dt))
    assert clock.t - began == pytest.approx(100 * dt)
    live.speed = 4.0
    assert live.allow(150, 3) == 3
    clock.t += 0.9
    late = clock.t
    live.allow(151, 10)
    assert clock.t == late
    clock.t += 3.0  # too slow for more than a second: the pace begins anew
    live.allow(152, 10)
    began = clock.t
    live.allow(552, 10)
    assert clock.t - began == pytest.approx(400 * dt / 4.0)
    live.speed = FASTEST
    slept = len(clock.slept)
    assert live.allow(9999, 77) == 77 and len(clock.slept) == slept
    assert LiveFlight(flown[0], is_paced=False).speed == FASTEST


def test_a_pause_looks_again_and_again_whether_it_is_over_and_a_step_is_one_period(flown, clock):
    live = LiveFlight(flown[0], is_paced=False)
    live.is_paused, looks = True, []

    def check():
        looks.append(clock.t)
        if len(looks) == 3:
            live.is_paused = False

    live.check = check
    assert live.allow(0, 40) == 40 and len(looks) == 3
    live.step()
    assert live.is_paused and live.allow(1, 40) == 0 and len(looks) == 3
    live.reset()
    assert live.wants_reset and not live.is_paused
    with pytest.raises(FlightFailed) as failure:
        live.check_flight(SimpleNamespace(t=1.5))
    assert failure.value.outcome == "reset"


def test_instants_are_shown_thirty_six_times_a_second_and_stay_as_they_were(flown, clock):
    flight, steps = flown
    live = LiveFlight(flight, is_paced=False)
    first = [moved(step) for step in steps]
    live.record(0, first[0])
    assert live.steps() == []  # one vehicle is missing
    live.record(1, first[1])
    shown = live.steps()
    assert [each.t for each in shown] == [each.t for each in first]
    kept = shown[0].x.copy()
    first[0].x[:] = 9.0
    first[0].reference.row[:] = 9.0
    np.testing.assert_array_equal(live.steps()[0].x, kept)
    assert not (live.steps()[0].reference.row == 9.0).any()
    for k in (0, 1, 0, 1):
        live.record(k, moved(steps[k]))
        shown = shown if live.steps() is shown or k == 0 else live.steps()
    again = [moved(step) for step in steps]
    for k in range(2):
        live.record(k, again[k])
    assert live.steps() is shown and shown[0].x[0, 0] != again[0].x[0, 0]  # too soon
    clock.t += 1.01 * SHOW_PERIOD
    for k in range(2):
        live.record(k, moved(steps[k]))
    assert live.steps() is not shown
    shown, live.is_paused = live.steps(), True
    for k in range(2):
        live.record(k, moved(steps[k]))
    assert live.steps() is not shown  # a step of a flight that stands still


class Faults:
    """Faults of a vehicle's plant, which are noted."""

    def __init__(self, vehicle, struck):
        self.vehicle, self.struck = vehicle, struck

    def add(self, fault):
        self.struck.append((self.vehicle, fault))


def test_a_hand_takes_references_orders_faults_and_gives_all_back(flown, clock, monkeypatch):
    flight, steps = flown
    live = LiveFlight(flight, is_paced=False)
    own = [Reference(step.reference.row.copy(), Level.VELOCITY) for step in steps]
    plant = SimpleNamespace(t=1.25, parts=[], propulsion=["p0", "p1"], wind=None)
    plant.attach = plant.parts.append
    plant.blow = lambda wind: setattr(plant, "wind", wind)
    given = list(own)
    live.refer(0, plant, given)
    assert given == own and live.allow(0, 9) == 9  # nobody has touched it
    live.drag(0, np.zeros(7))
    assert live.allow(0, 9) == 9  # before the first instant there is nothing to take
    for k in range(2):
        live.record(k, steps[k])
    noted = []
    live._scene_notes = SimpleNamespace(
        note_by_hand=lambda t, text, *, is_slid: noted.append((t, text, is_slid))
    )
    goal = np.array([3.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    live.drag(1, goal)
    live.blow(2.0, 90.0)
    live.stop_motors(0, 99)  # no such aircraft
    assert live.allow(0, 9) == 0
    given = list(own)
    live.refer(0, plant, given)
    name = flight.meta.vehicles[1].name
    assert noted == [
        (1.25, f"reference of {name} taken", False),
        (1.25, "wind 2 m/s towards 90 deg", True),
    ]
    assert plant.wind.speed == 2.0 and plant.wind.direction_deg == 90.0
    assert given[0] is own[0] and given[1].level == Level.POSE
    np.testing.assert_array_equal(live._hands[1].goal, goal)
    live.release()
    assert live._hands[1].is_returned
    given = list(own)
    live.refer(1, plant, given)
    assert (
        noted[-1] == (1.25, f"reference of {name} given back", False)
        and given[1].level == own[1].level
    )
    live._hands[1] = SimpleNamespace(is_over=True, is_returned=True)
    live.refer(2, plant, list(own))
    assert live._hands == {}
    struck = []
    live._orders.clear()
    monkeypatch.setattr(live_flight, "PlantFaults", lambda vehicle, *_: Faults(vehicle, struck))
    monkeypatch.setattr(live_flight, "isinstance", lambda part, kind: True, raising=False)
    live.break_rotor(1, 1, 3)
    live.stop_motors(1, 1)
    live.refer(3, plant, list(own))
    assert [(vehicle, fault.at, type(fault).__name__) for vehicle, fault in struck] == [
        (1, 1.25, "RotorFault"), (1, 1.25, "MotorFault")
    ]  # fmt: skip
    assert struck[0][1].rotor == 3 and struck[0][1].thrust == 0.0 and len(plant.parts) == 1
    assert noted[-1][1].startswith(f"{name}: motors of aircraft 1")
