# SPDX-License-Identifier: BSD-3-Clause
"""The command that belongs to a state of an observer, whatever the messages' order, and its estimate without one."""

import random

import numpy as np
import pytest
from flying import DT, GRAVITY, fly_scenario

from iap_description.errors import BadInput
from iap_description.sensors.readings import ImuReading, SensorSource
from iap_description.sensors.sensor_info import ImuInfo
from iap_description.states import Command, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.autopilot_gains import AutopilotGains
from iap_description.vehicles.platform import load_platform
from iap_estimation.wrench.imu_wrench_observer import ImuWrenchObserver
from iap_estimation.wrench.momentum_observer import MomentumObserver
from iap_estimation.wrench.observer_responder import ObserverLoop

PERIOD = round(DT * 1e9)
PLATFORM = load_platform("three_star")
ASSEMBLY = Assembly.of(PLATFORM)
AUTOPILOT = AutopilotGains(
    rate_hz=None, attitude=(0.0, 0.0, 0.0), rate=(0.0, 0.0, 0.0), rotor_lead=2.5
)
STEPS = 200


def observer_of():
    settings = {"gravity": GRAVITY, "gain": np.full(6, 10.0), "dt": DT}
    return MomentumObserver(ASSEMBLY, PLATFORM.fleet, AUTOPILOT, **settings)


@pytest.fixture(scope="module")
def flown():
    return fly_scenario("three_star_spiral", duration=1.0)[0]


def command(flown, k):
    out = Command.zeros(3)
    out.mode = Mode.ATTITUDE_THRUST
    out.thrust[:], out.q_WB[:] = flown.thrust[k], flown.q_WB[k]
    return out


def expected(flown, states=None):
    """The observer called by hand, for every state after the first."""
    observer, out = observer_of(), [np.zeros(6)]
    states = flown.x if states is None else states
    return out + [observer(states[k], command(flown, k - 1)).copy() for k in range(1, STEPS)]


class Told:
    def __init__(self, *, is_noisy=False):
        self.wrenches: dict[int, np.ndarray] = {}
        self.loop = ObserverLoop(observer_of(), 4, is_noisy=is_noisy, publish=self._tell)

    def _tell(self, stamp, wrench):
        self.wrenches[stamp // PERIOD] = wrench.copy()


def test_every_state_is_observed_with_the_command_that_led_there_whichever_comes_first(flown):
    told, dice = Told(), random.Random(1)
    for k in range(STEPS):
        if dice.random() < 0.5 or k == 0:
            told.loop.take_state(k * PERIOD, flown.x[k])
            if k:
                assert k not in told.wrenches  # it waits
                told.loop.take_command((k - 1) * PERIOD, command(flown, k - 1))
        else:
            told.loop.take_command((k - 1) * PERIOD, command(flown, k - 1))
            told.loop.take_state(k * PERIOD, flown.x[k])
    for k, wrench in enumerate(expected(flown)):
        np.testing.assert_array_equal(told.wrenches[k], wrench)


def test_a_measured_base_takes_the_place_of_the_true_one(flown):
    told, seen = Told(is_noisy=True), flown.x.copy()
    seen[:, 0, :3] += 0.001 * np.random.default_rng(1).normal(size=(len(seen), 3))
    for k in range(STEPS):
        told.loop.take_state(k * PERIOD, flown.x[k])
        assert k not in told.wrenches
        told.loop.take_measured(k * PERIOD, seen[k, 0])
        told.loop.take_command(k * PERIOD, command(flown, k))
    for k, wrench in enumerate(expected(flown, seen)):
        np.testing.assert_array_equal(told.wrenches[k], wrench)


def test_a_state_that_comes_again_is_reported_again_and_observed_once(flown):
    told = Told()
    for k in range(STEPS):
        for _ in range(3):
            told.loop.take_state(k * PERIOD, flown.x[k])
            told.wrenches.pop(k - 1, None) if k > 3 else None
        told.loop.take_command(k * PERIOD, command(flown, k))
    np.testing.assert_array_equal(told.wrenches[STEPS - 1], expected(flown)[-1])


def test_a_lost_command_is_the_one_before_which_the_platform_went_on_with(flown):
    told = Told()
    for k in range(STEPS):
        told.loop.take_state(k * PERIOD, flown.x[k])
        if k != 50:
            told.loop.take_command(k * PERIOD, command(flown, k))
    assert set(told.wrenches) == set(range(STEPS))
    np.testing.assert_allclose(told.wrenches[STEPS - 1], expected(flown)[-1], atol=0.02)


def test_after_an_overtaken_state_none_waits_until_a_command_comes_in_time(flown):
    told = Told()
    for k in range(2):
        told.loop.take_command(k * PERIOD, command(flown, k))
        told.loop.take_state(k * PERIOD, flown.x[k])
    told.loop.take_state(2 * PERIOD, flown.x[2])
    for k in range(3, 8):  # no command answers state 2 or any after it
        told.loop.take_state(k * PERIOD, flown.x[k])
        assert (k in told.wrenches) == (k > 3)
    told.loop.take_command(6 * PERIOD, command(flown, 6))
    told.loop.take_state(8 * PERIOD, flown.x[8])
    assert 8 not in told.wrenches


def test_without_commands_nothing_is_reported_and_with_them_it_begins_anew(flown):
    told = Told()
    for k in range(STEPS):
        told.loop.take_state(k * PERIOD, flown.x[k])
        if not 50 <= k < 100:
            told.loop.take_command(k * PERIOD, command(flown, k))
        if 75 <= k < 100:
            assert told.loop.is_silent
    assert not told.loop.is_silent
    assert not set(range(75, 99)) & set(told.wrenches)
    assert np.abs(told.wrenches[STEPS - 1]).max() < 0.3


def test_a_reset_brings_the_same_wrenches_again(flown):
    told = Told()
    for _ in range(2):
        told.wrenches.clear()
        for k in range(60):
            told.loop.take_state(k * PERIOD, flown.x[k])
            told.loop.take_command(k * PERIOD, command(flown, k))
    for k, wrench in enumerate(expected(flown)[:60]):
        np.testing.assert_array_equal(told.wrenches[k], wrench)


def test_what_cannot_be_used_is_refused(flown):
    loop = Told().loop
    with pytest.raises(BadInput, match="of 3 bodies, for a platform of 4"):
        loop.take_state(0, flown.x[0, :3])
    with pytest.raises(BadInput, match="state: not finite"):
        loop.take_state(0, np.full((4, 13), np.nan))
    with pytest.raises(BadInput, match="state/measured: not finite"):
        loop.take_measured(0, np.full(13, np.inf))
    wrench = Command.zeros(3)
    wrench.mode = Mode.WRENCH
    with pytest.raises(BadInput, match="names no thrusts"):
        loop.take_command(0, wrench)


TOPICS = [f"/iap/{name}imu" for name in ("", "drone_1/", "drone_2/", "drone_3/")]
UNITS = [
    ImuInfo(
        topic=topic,
        frame=topic[1:],
        parent=f"iap/{body.name}",
        p_BS_B=(0.01, 0.02, 0.03),
        q_BS=(0.0, 0.0, 0.0, 1.0),
        rate=1.0 / DT,
        gyro_noise=0.001,
        gyro_walk=0.0,
        accel_noise=0.02,
        accel_walk=0.0,
    )
    for topic, body in zip(TOPICS, ASSEMBLY.bodies, strict=True)
]


def by_units():
    return ImuWrenchObserver.of(ASSEMBLY, PLATFORM.fleet, AUTOPILOT, UNITS, cutoff=2.0, dt=DT)


def samples(flown, k):
    """Made-up readings of all units at state k."""
    rng = np.random.default_rng(k)
    return [
        ImuReading(
            SensorSource(unit.topic, unit.frame),
            k * DT,
            row[10:13],
            [0.0, 0.0, GRAVITY] + rng.normal(size=3),
            None,
        )
        for unit, row in zip(UNITS, flown.x[k], strict=True)
    ]


def expected_by_units(flown):
    observer, out = by_units(), [np.zeros(6)]
    for k in range(1, STEPS):
        for reading in samples(flown, k):
            observer.receive(reading)
        out.append(observer(flown.x[k], command(flown, k - 1)).copy())
    return out


class ToldByUnits(Told):
    def __init__(self):
        super().__init__()
        self.loop = ObserverLoop(by_units(), 4, is_noisy=False, publish=self._tell, units=UNITS)


def test_every_state_waits_for_the_samples_up_to_it_whichever_comes_first(flown):
    told, dice = ToldByUnits(), random.Random(2)
    loop = told.loop
    loop.take_state(0, flown.x[0])
    for k in range(1, STEPS):
        words = [lambda s=s: loop.take_reading(s) for s in samples(flown, k)]
        words += [lambda k=k: loop.take_state(k * PERIOD, flown.x[k])]
        words += [lambda k=k: loop.take_command((k - 1) * PERIOD, command(flown, k - 1))]
        dice.shuffle(words)
        for word in words[:-1]:
            word()
            assert k not in told.wrenches
        words[-1]()
        assert k in told.wrenches
    wrenches = [told.wrenches[k] for k in range(STEPS)]
    np.testing.assert_array_equal(wrenches, expected_by_units(flown))
    assert np.abs(wrenches[-1]).max() > 0.0


def test_a_lost_sample_holds_its_state_back_until_the_next_one(flown):
    told = ToldByUnits()
    told.loop.take_state(0, flown.x[0])
    for k in range(1, 4):
        told.loop.take_state(k * PERIOD, flown.x[k])
        told.loop.take_command((k - 1) * PERIOD, command(flown, k - 1))
        for reading in samples(flown, k)[: 3 if k == 2 else 4]:
            told.loop.take_reading(reading)
        assert (k in told.wrenches) == (k != 2)
    assert 2 in told.wrenches


def test_without_samples_nothing_is_reported_and_who_is_missing_is_known(flown):
    told = ToldByUnits()
    for k in range(5):
        told.loop.take_state(k * PERIOD, flown.x[k])
        told.loop.take_command(k * PERIOD, command(flown, k))
        for reading in samples(flown, k)[:3]:
            told.loop.take_reading(reading)
    assert set(told.wrenches) == {0}
    assert told.loop.missing == ["/iap/drone_3/imu"]
