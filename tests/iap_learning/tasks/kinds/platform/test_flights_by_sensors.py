# SPDX-License-Identifier: BSD-3-Clause
"""Policies that observe inertial units and lidars: single runs and messages give them the numbers of many worlds."""

import numpy as np
import pytest
from contact_engines import NAMES
from linear_policies import linear_policy
from watched_policies import observed_rows

from iap_description.errors import BadInput
from iap_description.sensors.readings import ImuReading, SensorSource
from iap_learning.learned_agents import platform_policy
from iap_learning.policies.layout import Header
from iap_learning.policies.policy import Policy
from iap_learning.tasks.kinds.platform.inertial import InertialMeans, means_of
from iap_learning.tasks.kinds.platform.platform_responder import PlatformResponder
from iap_learning.tasks.kinds.registry import make_episodes, make_task
from iap_simulation.scenario.resolving import resolved
from iap_simulation.simulation.simulation import Simulation

UNIT = {"sensors": {"imu": "px4"}}
LASER = {"channels": 4, "columns": 16, "elevation_deg": [-60.0, 0.0], "dropout": 0.1}
FIELD = {"trees": {"preset": "trees", "count": 12, "free": [[0.0, 0.0, 1.5]]}}
SEEN = {  # what is observed -> keys of the task, and keys of its scenario
    "unit": (
        {"observation": {"position_error": 1.0, "velocity": 1.0, "gyro": 1.0, "specific_force": 10.0}},
        UNIT,
    ),
    "history": (
        {"observation": {"position_error": 1.0, "gyro": 1.0, "specific_force": 10.0}, "history": 3},
        {**UNIT, "sensors.imu.rate": 1000.0, "draw.imu_position": 0.02, "draw.imu_tilt_deg": 2.0},
    ),
    "instants": (
        {"observation": {"position_error": 1.0, "gyro": 1.0, "specific_force": 10.0}},
        {**UNIT, "sensors.imu.sampling": "instantaneous"},
    ),
    "lidar": (
        {
            "observation": {"position_error": 1.0, "velocity": 1.0},
            "depth": {"preset": "vlp16", "settings": LASER, "blocks": [2, 4]},
        },
        {
            "sensors": {"lidar": {"preset": "vlp16", **LASER, "rate": 50.0}},
            "world.objects": FIELD,
            "draw.mount_position": 0.02,
            "draw.mount_tilt_deg": 3.0,
        },
    ),
}  # fmt: skip


def saved(folder, settings, scenario, gains, drawn=0.05):
    """A linear policy's file, and the task's scenario with it."""
    settings = {**settings, "settings": {**make_task("hold").settings, **scenario}}
    episodes = make_episodes("hold", 1, settings=settings)
    made = linear_policy(episodes, gains=gains, settings=settings, drawn=drawn)
    path = str(folder / "policy.npz")
    made.save(path)
    return made, {**episodes.task.settings, "policy": path}, settings


@pytest.mark.parametrize("name", SEEN)
def test_a_single_run_observes_what_the_world_of_its_seed_observes_bit_for_bit(
    name, tmp_path, monkeypatch
):
    settings, scenario = SEEN[name]
    made, keys, settings = saved(tmp_path, settings, scenario, {"position_error": 1.0})
    episodes = make_episodes("hold", 3, settings=settings)
    seen = episodes.reset(seeds=[4, 5, 6])
    alone = observed_rows(monkeypatch)
    with Simulation.of("hover", settings=keys, seed=5, engine="closed_form") as simulation:
        for n in range(30):
            simulation.step()
            np.testing.assert_array_equal(alone[n][0], seen[1])
            seen = episodes.step(made(seen)).observation
            for _ in range(episodes.task.repeat - 1):
                simulation.step()
            np.testing.assert_array_equal(simulation.state, episodes.worlds.state[1])
    last = np.array(alone[1:])[:, 0, 3 if name in ("history", "instants") else 6 :]
    assert (last[-1] != last[0]).any() and np.abs(last).max() > 0.05


WRENCHES = {
    "observation": {
        "position_error": 1.0, "velocity": 1.0, "attitude_error": 1.0, "gyro": 1.0, "specific_force": 10.0,
    },
    "action.kind": "wrench",
    "action.low": [-20.0, -20.0, 37.9, -4.0, -4.0, -4.0],
    "action.high": [20.0, 20.0, 77.9, 4.0, 4.0, 4.0],  # about the weight of 5.9 kg
    "repeat": 1,
    "settings": {**make_task("hold").settings, **UNIT, "draw.attitude_deg": 8.0},
}  # fmt: skip
GAINS = {  # first number of the wrench, gain of each term
    "position_error": (0, 9.0), "velocity": (0, -13.0), "attitude_error": (3, 16.0), "gyro": (3, -5.0),
}  # fmt: skip


def level_by_gyroscopes(path, *, damps=True):
    """A policy of forces and torques whose turning is damped by the gyroscope alone."""
    header = Header.for_episodes(
        make_episodes("hold", 1, settings=WRENCHES), {"by": "hand"}, settings=WRENCHES
    )
    half = 0.5 * (np.array(header.action.high) - np.array(header.action.low))
    weights, first = np.zeros((header.size, 6)), 0
    for name, size, scale in header.observation:
        column, gain = GAINS.get(name, (0, 0.0))
        for k in range(3):
            damping = name == "gyro" and not damps
            weights[first + k, column + k] = 0.0 if damping else gain * scale / half[column + k]
        first += size
    none, ones = np.zeros(header.size), np.ones(header.size)
    Policy(header, none, ones, [weights], [np.zeros(6)]).save(path)


def rest_after(seconds, path, engine, seed=3):
    """Largest angular velocity of the last second [rad/s], and distance from the place [m], by such a policy."""
    keys, rates = {**WRENCHES["settings"], "policy": path}, []
    with Simulation.of("hover", settings=keys, seed=seed, engine=engine) as simulation:
        for _ in range(round(200 * seconds)):
            simulation.step()
            rates.append(np.linalg.norm(simulation.state[0, 10:]))
        return max(rates[-200:]), np.linalg.norm(simulation.state[0, :3] - [0.0, 0.0, 1.5])


@pytest.mark.parametrize("engine", ["closed_form", *NAMES])
def test_a_policy_hovers_at_rest_by_its_gyroscopes_in_every_engine(engine, tmp_path):
    path = str(tmp_path / "level.npz")
    level_by_gyroscopes(path)
    rate, away = rest_after(4.0, path, engine)
    assert rate < 0.05 and away < 0.1


def test_without_its_gyroscopes_it_swings_on(tmp_path):
    path = str(tmp_path / "swinging.npz")
    level_by_gyroscopes(path, damps=False)
    assert rest_after(4.0, path, "closed_form")[0] > 0.3


# what keeps samples, by itself


def unit_at(hz=1000.0, imu="px4"):
    keys = {"sensors": {"imu": imu}, "sensors.imu.rate": hz}
    return InertialMeans(resolved("hover", keys, {})[0], "policy 'p': task 't', key 'k'")


def sample(unit, stamp_ms, number):
    source, numbers = SensorSource(unit.topic, "f"), np.full(3, float(number))
    return ImuReading(source, stamp_ms / 1e3, numbers, -numbers)


def test_a_mean_is_of_the_samples_of_the_period_alone_whatever_has_come_since():
    unit = unit_at()
    assert not unit.means(0).any() and unit.is_ready(0, 0)
    assert not unit.is_ready(5_000_000, 1)
    for n in range(1, 12):  # 1 ms to 11 ms, of periods of 5 ms
        unit.receive(sample(unit, n, n))
        assert unit.is_ready(5_000_000, 1) == (n >= 5)
    np.testing.assert_allclose(unit.means(1), [[3.0] * 3 + [-3.0] * 3])
    np.testing.assert_allclose(unit.means(2), [[8.0] * 3 + [-8.0] * 3])
    assert unit.is_ready(10_000_000, 2) and not unit.is_ready(15_000_000, 3)
    other = SensorSource("/iap/drone_1/imu", "f")
    unit.receive(ImuReading(other, 0.015, np.ones(3), np.ones(3)))
    assert not unit.is_ready(15_000_000, 3)


def test_a_unit_that_falls_silent_leaves_its_last_means():
    unit = unit_at(200.0)
    unit.receive(sample(unit, 5, 4))
    np.testing.assert_allclose(unit.means(1)[0, :3], 4.0)
    np.testing.assert_allclose(unit.means(7)[0, :3], 4.0)


def test_means_of_one_world_are_those_of_it_among_many_bit_for_bit():
    w, f = np.random.default_rng(2).normal(size=(2, 7, 5, 3))
    together = means_of(w, f)
    for i in range(7):
        np.testing.assert_array_equal(means_of(w[i : i + 1], f[i : i + 1])[0], together[i])
    np.testing.assert_allclose(together[:, :3], w.mean(axis=1))


@pytest.mark.parametrize(
    ("name", "changes", "line"),
    [
        ("unit", {"sensors": {"imu": None}}, "observation.gyro': the scenario has no sensors.imu$"),
        ("unit", {"sensors.imu.rate": 90.0}, "gyro': imu: a control period holds no whole number of samples$"),
        ("lidar", {"sensors": {"lidar": None}}, "lidar': policy 'policy' sees ranges, and there is no lidar$"),
        ("lidar", {"sensors.lidar.columns": 8}, "^key 'sensors.lidar.columns': 8, but policy 'policy' sees 16$"),
        ("lidar", {"sensors.lidar.rate": 15.0}, "^key 'sensors.lidar.rate': 15.* Hz, but policy .* acts at 50 Hz$"),
    ],
)  # fmt: skip
def test_other_sensors_than_a_policy_observes_are_refused_by_their_key(
    name, changes, line, tmp_path
):
    settings, scenario = SEEN[name]
    _, keys, _ = saved(tmp_path, settings, scenario, {})
    with pytest.raises(BadInput, match=line):
        Simulation.of("hover", settings={**keys, **changes})


# between messages


@pytest.mark.parametrize("order", ["USR", "RSU", "SUR"])
@pytest.mark.parametrize("name", ["history", "instants", "lidar"])
def test_messages_in_any_order_fly_what_one_process_flies_bit_for_bit(name, order, tmp_path):
    settings, scenario = SEEN[name]
    _, keys, _ = saved(tmp_path, settings, scenario, {"position_error": 1.0})
    ready = resolved("hover", keys, {"seed": 7, "engine": "closed_form"})[0]
    responder = PlatformResponder(platform_policy(ready))
    (topic,) = (each.topic for each in responder.policy.inputs)
    with (
        Simulation.of(ready) as alone,
        Simulation.of(ready.model_copy(update={"policy": None})) as other,
    ):
        for k in range(60):
            plant, vehicle, answers = other.plant, other.loop.vehicles[0], []
            x, stamp = plant.state(0)[0].copy(), 5_000_000 * k
            for part in order:
                if part == "S":
                    rpm = plant.propulsion[0].rpm[0].copy()
                    answers.append(responder.take_state(stamp, k, x, rpm))
                elif part == "R":
                    answers.append(
                        responder.take_reference(stamp, vehicle.reference(k).row.copy())
                    )
                else:
                    readings = other.readings
                    if order == "RSU" and k % 4 == 0 and k:  # nothing else is missing
                        assert answers == [None, None] and list(responder.awaited) == [topic]
                    answers += [responder.take_reading(each) for each in readings]
            (answer,) = (each for each in answers if each is not None)
            assert not responder.awaited and not responder.missing
            other.step(vehicle.command(plant.t, x, plant.contact_wrench(0), answer))
            alone.step()
            np.testing.assert_array_equal(other.state, alone.state)


def test_what_an_instant_lacks_is_named_by_its_source(tmp_path):
    settings, scenario = SEEN["unit"]
    _, keys, _ = saved(tmp_path, settings, scenario, {})
    responder = PlatformResponder(platform_policy(resolved("hover", keys, {})[0]))
    assert responder.missing == ()
    x, row = np.zeros((7, 13)), np.zeros(22)
    responder.take_reference(0, row)
    assert responder.missing == (0,)  # the state
    responder.take_state(5_000_000, 1, x, np.zeros((3, 4)))
    assert responder.missing == (1,)  # the reference
    responder.take_reference(5_000_000, row)
    assert responder.missing == () and list(responder.awaited) == ["/iap/imu"]
