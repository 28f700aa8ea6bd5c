# SPDX-License-Identifier: BSD-3-Clause
"""Which command goes with which state of an observer, whatever the messages' order, and what it does without."""

import random

import numpy as np
import pytest
from flying import DT, GRAVITY, fly_scenario

from iap_description.errors import BadInput
from iap_description.states import Command, Mode
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_estimation.wrench.momentum_observer import MomentumObserver
from iap_estimation.wrench.observer_responder import ObserverLoop

PERIOD = round(DT * 1e9)
PLATFORM = load_platform("three_star")
ASSEMBLY = Assembly.of(PLATFORM)
STEPS = 200


def observer_of():
    settings = {"gravity": GRAVITY, "gain": np.full(6, 10.0), "dt": DT, "rotor_lead": 2.5}
    return MomentumObserver(ASSEMBLY, PLATFORM.aircraft, **settings)


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
        self.loop = ObserverLoop(observer_of(), 4, is_noisy=is_noisy, tell=self._tell)

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


def test_a_state_that_comes_again_is_told_again_and_observed_once(flown):
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


def test_without_commands_nothing_is_told_and_with_them_it_begins_anew(flown):
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
