# SPDX-License-Identifier: BSD-3-Clause
"""Readings number by number: each is made anew from the equation of its sensor and the same draws."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flying import scenario_of

from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.sensors.mounts import SensorMount
from iap_description.sensors.readings import SensorSource
from iap_description.vehicles.assembly import Assembly
from iap_sensors.inertial.imu import Vibrations
from iap_sensors.inertial.magnetometer import Magnetometer
from iap_sensors.mounted.barometer import Barometer
from iap_sensors.mounted.gnss import Receiver
from iap_sensors.mounted.inertial_units import InertialUnits, Unit
from iap_sensors.mounted.kinds import kind
from iap_sensors.mounted.mounted_sensors import MOUNT, Displacement, MountedSensors, uniform
from iap_sensors.mounted.uwb import UwbTag
from iap_simulation.scenario.rig_spec import rig_spec

SOURCE = SensorSource("/a/thing", "a/thing")
LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
QUARTER = so3.quaternion_exp(np.array([0.0, 0.0, np.pi / 2]))


def dice(seed: int = 5) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_barometer_s_sample_has_its_offset_noise_and_step_and_then_walks() -> None:
    spec: Any = SimpleNamespace(bias=100.0, noise=3.0, walk=2.0, resolution=0.0)
    rng = dice()
    off = 100.0 * rng.standard_normal()
    unit = Barometer(SOURCE, spec, 4.0, dice())
    for _ in range(3):
        white, step = rng.standard_normal(2)
        assert unit.measure(1e5) == pytest.approx(1e5 + off + 3.0 * white, abs=1e-9)
        off += 2.0 / np.sqrt(4.0) * step
    coarse = SimpleNamespace(**{**vars(spec), "resolution": 7.0})
    value = Barometer(SOURCE, coarse, 4.0, dice()).measure(1e5)  # type: ignore[arg-type]
    assert value == pytest.approx(
        7.0 * round(Barometer(SOURCE, spec, 4.0, dice()).measure(1e5) / 7.0)
    )


def test_a_receiver_s_fix_is_off_by_its_drift_and_noise_and_the_drift_is_kept_in_part() -> None:
    spec: Any = SimpleNamespace(
        drift_horizontal=2.0, drift_vertical=5.0, noise_horizontal=0.3, noise_vertical=0.7, memory=4.0,
        datum=SimpleNamespace(place=None),
    )  # fmt: skip
    rng, deviation = dice(), np.array([2.0, 2.0, 5.0])
    drift = deviation * rng.standard_normal(3)
    receiver, keep = Receiver(SOURCE, spec, 5.0, dice()), np.exp(-1.0 / 20.0)
    for _ in range(3):
        white, step = rng.standard_normal((2, 3))
        np.testing.assert_allclose(receiver.errors(), drift + [0.3, 0.3, 0.7] * white)
        drift = keep * drift + np.sqrt(1.0 - keep**2) * deviation * step


def test_a_magnetometer_s_sample_is_the_field_in_its_axes_with_hard_iron_and_noise() -> None:
    errors = {"noise": 0.5, "bias": 3.0, "walk": 0.2, "resolution": 0.0}
    spec: Any = SimpleNamespace(field_W=np.array([1.0, 20.0, -40.0]), rate=4.0, **errors)
    rng = dice()
    bias = 3.0 * rng.standard_normal(3)
    unit = Magnetometer(spec, dice())
    for _ in range(3):
        expected = np.array([20.0, -1.0, -40.0]) + bias + 0.5 * rng.standard_normal(3)
        np.testing.assert_allclose(unit.measure(QUARTER), expected)
        bias = bias + 0.1 * rng.standard_normal(3)


def tag_spec(**keys: Any) -> Any:
    anchors = tuple(SimpleNamespace(position=(float(k), 0.0, 0.0)) for k in range(2))
    usual = {
        "bias": 0.2, "noise": 0.1, "memory": None, "outliers": SimpleNamespace(size=0.0, share=0.0), "dropout": 0.0,
        "range_max": 100.0, "obstruction": None, "anchors": anchors,
    }  # fmt: skip
    return SimpleNamespace(**{**usual, **keys})


PLACES = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 2.0], [50.0, 0.0, 0.0]])


def ranges(spec: Any, clear: Any = (True, True, True), t: float = 0.0) -> Any:
    tag = UwbTag(SOURCE, spec, ["a", "b", "c"], dice())
    return tag.measure(t, np.zeros(3), PLACES, np.array(clear))


def drawn() -> tuple[Any, ...]:
    rng = dice()
    bias = rng.standard_normal(3)
    white, extra = rng.standard_normal((2, 3))
    lucky, kept, arrived = rng.random((3, 3))
    return bias, white, extra, lucky, kept, arrived, rng.standard_exponential(3)


def test_a_range_has_its_partner_s_bias_and_noise() -> None:
    bias, white, *_ = drawn()
    reading = ranges(tag_spec())
    np.testing.assert_allclose(reading.ranges, [5.0, 2.0, 50.0] + 0.2 * bias + 0.1 * white)
    assert reading.valid.all() and reading.deviations.tolist() == [0.1] * 3


def test_outliers_drop_outs_and_limits_are_by_their_shares() -> None:
    bias, white, extra, lucky, kept, arrived, late = drawn()
    plain = [5.0, 2.0, 50.0] + 0.2 * bias + 0.1 * white
    share = float(np.sort(lucky)[1]) + 1e-9
    outliers = ranges(tag_spec(outliers=SimpleNamespace(size=4.0, share=share)))
    np.testing.assert_allclose(outliers.ranges, plain + 4.0 * late * (lucky < share))
    limit = float(np.sort(kept)[1])
    dropped = ranges(tag_spec(dropout=limit, range_max=49.9))
    assert dropped.valid.tolist() == ((kept >= limit) & [True, True, False]).tolist()
    assert np.isnan(dropped.ranges[~dropped.valid]).all()
    lost = float(np.sort(arrived)[1])
    wall = SimpleNamespace(delay=1.5, noise=0.4, lost=lost)
    clear = np.array([False, True, False])
    behind = ranges(tag_spec(obstruction=wall), clear)
    assert behind.valid.tolist() == (clear | (arrived >= lost)).tolist()
    expected = plain + ~clear * (1.5 + 0.4 * extra)
    np.testing.assert_allclose(behind.ranges[behind.valid], expected[behind.valid])


def test_noise_with_a_memory_keeps_a_part_of_the_round_before() -> None:
    tag = UwbTag(SOURCE, tag_spec(memory=2.0), ["a", "b", "c"], dice())
    first, second = np.array([1.0, -2.0, 0.5]), np.array([0.0, 1.0, 3.0])
    np.testing.assert_array_equal(tag._correlated(1.0, first), first)
    share = np.exp(-0.25)
    mixed = share * first + np.sqrt(1.0 - share**2) * second
    np.testing.assert_allclose(tag._correlated(1.5, second), mixed)
    after = np.exp(-0.5) * mixed + np.sqrt(1.0 - np.exp(-1.0)) * first
    np.testing.assert_allclose(tag._correlated(2.5, first), after)


def test_a_displaced_sensor_is_shifted_and_turned_on_its_mount() -> None:
    mount = SensorMount(SOURCE, 1, np.array([1.0, 2.0, 3.0]), QUARTER)
    assert Displacement()(mount, 3) is mount
    moved = Displacement(position=0.1, tilt_deg=5.0)(mount, 3)
    rolled = uniform(3, MOUNT.format("/a/thing"), 6)
    np.testing.assert_allclose(moved.p_BS_B, [1.0, 2.0, 3.0] + 0.1 * rolled[:3])
    turn = so3.quaternion_exp(np.radians(5.0) * rolled[3:])
    np.testing.assert_allclose(moved.q_BS, so3.multiply(QUARTER, turn))
    np.testing.assert_allclose(Displacement(position=0.1)(mount, 3).q_BS, QUARTER)
    assert Displacement(tilt_deg=5.0)(mount, 3).p_BS_B.tolist() == [1.0, 2.0, 3.0]


def test_presets_of_a_user_s_own_kind_are_trees_by_name() -> None:
    class Own(MountedSensors):
        KEY, PRESETS = "own", {"good": {"rate": 1.0}, "bad": {}}

    tree = Own.preset("good")
    assert tree == {"rate": 1.0} and tree is not Own.PRESETS["good"]
    with pytest.raises(BadInput, match=r"^no own 'none' \(presets: good, bad\)$"):
        Own.preset("none")
    assert kind("barometer").preset(next(iter(kind("barometer").PRESETS.names())))  # type: ignore[union-attr]


def test_vibration_is_the_sum_of_its_lines_however_it_is_asked_for() -> None:
    spec: Any = SimpleNamespace(gyro=0.2, accel=3.0, lines=4, frequency=50.0, spread=0.1)
    shaken = Vibrations(spec, 0.002, 2)
    shaken.reset(1, dice())
    rng = dice()
    f = 50.0 * (1.0 + 0.1 * rng.uniform(-1.0, 1.0, (6, 4)))
    phases = rng.uniform(0.0, 2.0 * np.pi, (6, 4))
    t = 0.002 * np.arange(7)[:, None, None]
    lines = np.sin(2.0 * np.pi * f * t + phases).sum(axis=-1)
    expected = lines * np.repeat([0.2, 3.0], 3) * np.sqrt(2.0 / 4.0)
    np.testing.assert_allclose(np.vstack([shaken(1, 3), shaken(1, 4)]), expected, atol=1e-9)
    shaken.reset(1, dice())
    np.testing.assert_allclose(shaken(1, 2), expected[:2], atol=1e-9)


# inertial units


@pytest.fixture(scope="module")
def rig() -> Any:
    from iap_sensors.inertial import ahrs, magnetometer

    field, gains = (next(iter(each.PRESETS.names())) for each in (magnetometer, ahrs))
    scenario = scenario_of(
        "hover", f"sensors.magnetometer={field}", f"sensors.attitude={gains}", sensors="imu"
    )
    return rig_spec(scenario)


def test_a_unit_starts_anew_with_its_seed_and_its_attitude(rig: Any) -> None:
    vehicle = rig.vehicles[0]
    unit = InertialUnits(rig, vehicle).units[1]
    t, w, f = np.array([0.5, 0.505]), np.full((2, 3), 0.1), np.tile([0.0, 0.0, 9.81], (2, 1))

    def told(seed: int, q: Any) -> tuple[Any, ...]:
        unit.reset(seed, q)
        readings = unit.measure(t, w, f)
        field = unit.measure_field(0.5, q)
        assert field is not None
        return readings, field

    (first, second), field = told(3, LEVEL)
    assert (first.t, second.t) == (0.5, 0.505)
    (again, _), same = told(3, LEVEL)
    np.testing.assert_array_equal(first.w_WS_S, again.w_WS_S)
    np.testing.assert_array_equal(field.field_S, same.field_S)
    (other, _), another = told(4, LEVEL)
    assert (other.w_WS_S != first.w_WS_S).all() and (another.field_S != field.field_S).all()
    assert unit.filter is not None
    unit.reset(3, QUARTER)
    np.testing.assert_array_equal(unit.filter._q_WS, QUARTER)
    before = unit.filter._q_WS.copy()
    unit.measure_field(0.5, LEVEL)
    assert (unit.filter._q_WS != before).any()  # its heading is corrected
    bare = Unit(
        unit.mount,
        vehicle.sensors.model_copy(update={"magnetometer": None, "attitude": None}),
        200.0,
        3,
    )
    assert bare.measure_field(0.5, LEVEL) is None and bare.filter is None
    assert bare.measure(t, w, f)[0].w_WS_S.tolist() == first.w_WS_S.tolist()


def test_units_sample_at_their_times_and_magnetometers_when_they_are_due(rig: Any) -> None:
    vehicle = rig.vehicles[0]
    units = InertialUnits(rig, vehicle)
    count = len(units.units)
    x = np.zeros((len(Assembly.of(vehicle.platform, "iap").bodies), 13))
    x[:, 6] = 1.0
    ideal: Any = SimpleNamespace(
        ticks=np.array([3, 8]),
        w_WS_S=np.zeros((2, count, 3)),
        f_S=np.tile([0.0, 0.0, 9.81], (2, count, 1)),
    )
    every = round(rig.control_hz / vehicle.sensors.magnetometer.rate)
    due, not_due = units.sample(every, 1.0, x, ideal), units.sample(every + 1, 1.0, x, ideal)
    assert len(due) == 3 * count and len(not_due) == 2 * count
    assert [each.t for each in due[:2]] == pytest.approx(
        [3.0 / rig.physics_hz, 8.0 / rig.physics_hz]
    )
    assert all(each.t == 1.0 for each in due[2 * count :])
    infos = units.infos
    assert len(infos) == 2 * count
    imu, mag = infos[0], infos[1]
    gyro = vehicle.sensors.imu.gyro
    assert (imu.gyro_noise, imu.gyro_walk, imu.has_bias) == (gyro.noise, gyro.walk, True)  # type: ignore[union-attr]
    assert imu.attitude_deviation == units.units[0].filter.deviation  # type: ignore[union-attr]
    assert mag.deviation == vehicle.sensors.magnetometer.noise and mag.topic.endswith("/mag")  # type: ignore[union-attr]
    plain = vehicle.model_copy(
        update={"sensors": vehicle.sensors.model_copy(update={"magnetometer": None})}
    )
    alone = InertialUnits(rig, plain)
    assert len(alone.sample(every, 1.0, x, ideal)) == 2 * count and len(alone.infos) == count
