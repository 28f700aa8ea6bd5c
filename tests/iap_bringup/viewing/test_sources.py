# SPDX-License-Identifier: BSD-3-Clause
"""What a scene is told of a flight: its ways and instants, couplings, points and estimates, as they were recorded."""

from types import SimpleNamespace

import numpy as np
import pytest
from starting_flight import starting_flight

from iap_bringup.viewing import point_readings, scene_notes
from iap_bringup.viewing.point_readings import PointReadings
from iap_bringup.viewing.recorded_scene_notes import _changes
from iap_bringup.viewing.scene_notes import couplings_of, in_map, points_of, rows_by_frame
from iap_bringup.viewing.source import RunSource, _instants
from iap_description.math import so3
from iap_description.sensors.readings import CloudReading, ImageReading, SensorSource
from iap_description.sensors.sensor_info import CameraSensorInfo
from iap_description.vehicles.assembly import Assembly
from iap_io.runs.columns import Columns
from iap_simulation.scenario.resolving import resolved

RNG = np.random.default_rng(3)


@pytest.mark.parametrize(
    ("last", "dt", "count"),
    [(0, 0.005, 1), (100, 0.005, 101), (20_000, 0.005, 666), (2_000_000, 0.005, 3000)],
)
def test_a_way_to_come_has_points_evenly_from_its_begin_to_its_end(last, dt, count):
    found = _instants(last, dt)
    assert found[0] == 0 and found[-1] == last and len(found) == count
    assert np.ptp(np.diff(found)) <= 1 if len(found) > 1 else True


def source(*tables):
    """A source of vehicles with these columns."""
    made = object.__new__(RunSource)
    made._columns = list(tables)
    return made


def table(t):
    """Columns of one vehicle at some times."""
    flight, _ = starting_flight("hover")
    c = Columns.zeros(len(t), flight.meta.vehicles[0])
    c.t[:], c.x[:, 0, 0], c.reference[:, 1] = t, np.arange(len(t)), 2.0 * np.arange(len(t))
    return c


def test_an_instant_of_a_run_is_the_last_one_up_to_a_time():
    made = source(table(np.arange(0.0, 10.0, 0.005)), table(1.0 + 0.01 * np.arange(1100)))
    assert made.span == pytest.approx((0.0, 11.99))
    for t, rows in (
        (2.0, (400, 100)),
        (2.004, (400, 100)),
        (2.0051, (401, 100)),
        (0.0, (0, 0)),
        (99.0, (1999, 1099)),
    ):
        assert [step.x[0, 0] for step in made.steps(t)] == list(rows)
    (first, second), references = made.paths
    assert len(first) == 667 and len(second) == 1100 and first[1, 0] == 3.0 and second[1, 0] == 1.0
    assert references[0][1, 1] == 6.0


def test_rows_at_which_values_change_are_kept_and_hold_until_the_next():
    rows = [
        (0.5, np.array([0, 1])),
        (1.0, np.array([0, 1])),
        (1.5, np.array([2, 1])),
        (2.0, np.array([0, 1])),
    ]
    changes = _changes(rows, 2)
    assert changes.t.tolist() == [0.5, 1.5, 2.0]
    assert (
        changes.at(0.49) is None
        and changes.at(0.5).tolist() == [0, 1]
        and changes.at(1.49).tolist() == [0, 1]
    )
    assert changes.at(1.5).tolist() == [2, 1] and changes.at(9.0).tolist() == [0, 1]
    assert _changes([], 3).at(1.0) is None


def test_couplings_stand_above_their_ports_and_faces_with_a_colour_for_each_state():
    scenario, _ = resolved("docking", {"policy": None}, {})
    (latch,) = couplings_of(scenario)
    (name, spec), *_ = scenario.latches.items()
    vehicle, port = spec.probe.split("/")
    assert (latch.name, latch.vehicle) == (name, vehicle) and len(latch.colors) == len(
        scene_notes.PHASES
    )
    assert (
        latch.colors[scene_notes.PHASES.index(scene_notes.Phase.LOCKED)] == scene_notes.HELD_COLOR
    )
    platform = next(v.platform for v in scenario.vehicles if v.name == vehicle)
    frame = scene_notes.PortFrame.of(platform.ports[port], Assembly.of(platform, vehicle).p_FP_F)
    assert latch.position - frame.position == pytest.approx([0.0, 0.0, 0.14])
    modules, _ = resolved("module_hover", {"modules.count": 3}, {})
    joints = couplings_of(modules)
    assert len(joints) == len(modules.modules.joints) == 2
    for each, joint in zip(joints, modules.modules.joints.values(), strict=True):
        face = np.array(scene_notes.FACES[joint.face])
        assert each.position == pytest.approx(0.5 * modules.modules.size * face + [0.0, 0.0, 0.14])
        assert each.vehicle == joint.leader
        assert (
            each.colors[scene_notes.STATES.index(scene_notes.JointState.JOINED)]
            == scene_notes.HELD_COLOR
        )
        assert (
            each.colors[scene_notes.STATES.index(scene_notes.JointState.APPROACH)]
            == scene_notes.MOVING_COLOR
        )
    assert couplings_of(resolved("hover", {}, {})[0]) == ()


def lidar(count):
    """A reading of points, one of them nowhere."""
    points = RNG.normal(size=(count, 3)).astype(np.float32)
    points[3] = np.nan
    made = CloudReading.__new__(CloudReading)
    for name, value in (("points_S", points), ("source", SensorSource("/l", "l")), ("t", 1.0)):
        object.__setattr__(made, name, value)
    return made, points


@pytest.mark.parametrize(("count", "kept"), [(500, 499), (1001, 1000), (1002, 501), (4001, 1000)])
def test_points_of_a_lidar_are_a_thousand_at_most_and_all_somewhere(count, kept):
    reading, points = lidar(count)
    found = points_of(SimpleNamespace(), reading)
    assert len(found) == kept and np.isfinite(found).all()
    np.testing.assert_allclose(found[0], points[0])


def test_points_of_a_depth_image_lie_at_their_depths_behind_their_pixels():
    flight, _ = starting_flight("hover", sensors="depth")
    sensor = next(each for each in flight.meta.sensors if isinstance(each, CameraSensorInfo))
    K = np.array(sensor.K).reshape(3, 3)
    height, width = 120, 160
    depth = np.full((height, width), 4.0, np.float32)
    depth[:, width // 2 :] = np.inf

    def image(encoding):
        made = ImageReading.__new__(ImageReading)
        for name, value in (
            ("pixels", depth),
            ("encoding", encoding),
            ("source", SensorSource(sensor.topic, "c")),
        ):
            object.__setattr__(made, name, value)
        return made

    found = points_of(sensor, image("32FC1"))
    step = int(np.sqrt(depth.size / 1000))
    assert (found[:, 2] == 4.0).all() and 0.3 * 1000 < len(found) < 1001
    first = (step // 2 - K[0, 2]) / K[0, 0], (step // 2 - K[1, 2]) / K[1, 1]
    np.testing.assert_allclose(found[0, :2] / 4.0, first, atol=1e-6)
    assert (found[:, 0] / 4.0 * K[0, 0] + K[0, 2] < width // 2).all()
    assert (
        points_of(sensor, image("mono8")) is None and points_of(sensor, SimpleNamespace()) is None
    )


def test_points_come_into_the_map_by_their_sensor_and_the_body_that_carries_it():
    turn = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))
    sensor = SimpleNamespace(q_BS=turn, p_BS_B=np.array([0.0, 0.0, 1.0]), parent="iap/arm")
    points = np.array([[1.0, 0.0, 0.0]])
    np.testing.assert_allclose(in_map(sensor, points, {}), [[0.0, 1.0, 1.0]], atol=1e-12)
    row = np.concatenate([[5.0, 0.0, 0.0], turn, np.zeros(6)])
    np.testing.assert_allclose(
        in_map(sensor, points, {"iap/arm": row}), [[4.0, 0.0, 1.0]], atol=1e-12
    )
    flight, (step,) = starting_flight("arm_hover_swing")
    assembly = flight.spec.vehicles[0].assembly
    rows = rows_by_frame([assembly], [step])
    assert set(rows) == {f"iap/{each.name}" for each in (*assembly.bodies, *assembly.arm.links)}
    np.testing.assert_array_equal(rows[f"iap/{assembly.bodies[0].name}"], step.x[0])
    assert set(rows_by_frame([assembly], [step._replace(arm=None)])) == {
        f"iap/{each.name}" for each in assembly.bodies
    }


def test_the_newest_points_are_looked_at_five_times_a_second(monkeypatch):
    flight, (step,) = starting_flight("hover", sensors="lidar")
    clock = [10.0]
    monkeypatch.setattr(point_readings, "time", SimpleNamespace(perf_counter=lambda: clock[0]))
    made = PointReadings(flight)
    topic = next(iter(made.sensors))
    reading, _ = lidar(20)
    object.__setattr__(reading, "source", SensorSource(topic, "l"))
    assert made.at([step]) == {}
    made.receive(reading)
    first = made.at([step])[topic]
    rows = rows_by_frame(
        [Assembly.of(v.platform, v.name) for v in flight.scenario.vehicles], [step]
    )
    np.testing.assert_allclose(
        first, in_map(made.sensors[topic], points_of(made.sensors[topic], reading), rows)
    )
    moved = step._replace(x=step.x + np.eye(1, 13) * 2.0)
    made.receive(reading)
    assert made.at([moved])[topic] is first  # too soon
    clock[0] += 0.21
    np.testing.assert_allclose(made.at([moved])[topic], first + [2.0, 0.0, 0.0])
    made.receive(reading, [step])
    clock[0] += 0.21
    np.testing.assert_allclose(made.at([moved])[topic], first)  # by the step of its own instant
    other, _ = lidar(20)
    made.receive(other)
    clock[0] += 0.21
    np.testing.assert_allclose(made.at([moved])[topic], first)
