# SPDX-License-Identifier: BSD-3-Clause
"""Worlds that fly on estimates of capture and inertial unit: estimate and flight are those of the single runs."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_description.states import P
from iap_simulation.batch.worlds import Worlds
from iap_simulation.simulation.simulation import Simulation

PERIODS = 60
ON_ESTIMATES = {"control.state_source": "capture_inertial", "draw.position": 0.2}
KINDS = {  # of sensors and flights -> keys
    "plain": {},
    "late": {"sensors.motion_capture.latency": 0.043, "sensors.motion_capture.rate": 40.0},
    "prompt": {"sensors.motion_capture.latency": 0.0, "sensors.imu.sampling": "instantaneous"},
    "often": {"sensors.imu.rate": 1000.0, "sensors.motion_capture.rate": 200.0},
    "displaced": {
        "draw.imu_position": 0.02, "draw.imu_tilt_deg": 2.0, "draw.mount_position": 0.02, "draw.mount_tilt_deg": 3.0,
        "sensors.motion_capture.position_bias": 0.05,
    },
    "noisy": {"state_noise.position": 0.01, "wind.speed": 3.0, "wind.turbulence": 8.0, "draw.mass": 0.1},
}  # fmt: skip


def worlds_of(seeds, engine="closed_form", threads=1, **settings):
    keys = {**ON_ESTIMATES, "engine.name": engine, **settings}
    options = {"platform": "f450", "sensors": "capture"}
    return Worlds.of("figure_eight", seeds, settings=keys, threads=threads, **options)


def flown(worlds, periods=PERIODS):
    """(2, periods, B, 13) true and estimated states of the central bodies."""
    rows = []
    for _ in range(periods):
        rows.append((worlds.state[:, 0].copy(), worlds.known_states()[:, 0].copy()))
        worlds.advance()
    return np.array(rows).swapaxes(0, 1)


def flown_alone(scenario, periods=PERIODS):
    """(2, periods, 13) the same of a single run."""
    rows = []
    with Simulation.of(scenario) as simulation:
        for _ in range(periods):
            true = simulation.state[0].copy()
            simulation.step()
            rows.append((true, simulation.loop.vehicles[0].estimate[0].copy()))
    return np.array(rows).swapaxes(0, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_every_world_estimates_and_flies_as_its_single_run_bit_for_bit(kind):
    worlds = worlds_of(3, **KINDS[kind])
    together = flown(worlds)
    for i in range(3):
        np.testing.assert_array_equal(together[:, :, i], flown_alone(worlds.world(i)))
    errors = np.linalg.norm(together[1, :, :, P] - together[0, :, :, P], axis=-1)
    assert errors[1:].max() > 1e-5 and errors.max() < 0.15
    assert (together[1, -1, 0] != together[1, -1, 1]).any()


def test_with_contact_in_mujoco_too():
    pytest.importorskip("mujoco")
    worlds = worlds_of(2, "mujoco", **KINDS["noisy"])
    together = flown(worlds, 25)
    for i in range(2):
        np.testing.assert_array_equal(together[:, :, i], flown_alone(worlds.world(i), 25))


def test_worlds_that_start_anew_estimate_as_fresh_ones_and_the_others_go_on():
    worlds, undisturbed = worlds_of(4, **KINDS["displaced"]), worlds_of(4, **KINDS["displaced"])
    flown(worlds, 7), flown(undisturbed, 7)
    worlds.reset([1, 3], seeds=[1, 30])
    fresh = worlds_of([1, 30], **KINDS["displaced"])
    after, others, begun = flown(worlds), flown(undisturbed), flown(fresh)
    np.testing.assert_array_equal(after[:, :, [0, 2]], others[:, :, [0, 2]])
    np.testing.assert_array_equal(after[:, :, [1, 3]], begun)


def test_a_snapshot_keeps_filters_and_poses_that_are_on_their_way():
    worlds = worlds_of(2, threads=2, **KINDS["late"])
    flown(worlds, 11)
    snapshot = worlds.snapshot()
    first = flown(worlds)
    worlds.restore(snapshot)
    np.testing.assert_array_equal(flown(worlds), first)


def test_a_world_that_has_failed_stands_still_and_the_others_estimate_on():
    worlds, whole = worlds_of(3), worlds_of(3)
    flown(worlds, 5), flown(whole, 5)
    worlds.status[1] = 3
    stays = worlds.known_states()[1].copy()
    after, expected = flown(worlds), flown(whole)
    np.testing.assert_array_equal(after[:, :, [0, 2]], expected[:, :, [0, 2]])
    np.testing.assert_array_equal(worlds.known_states()[1], stays)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"control.state_source": "vio_uwb", "sensors": "stereo"}, "state_source: vio_uwb|sensors besides"),
        ({"sensors.motion_capture.latency": 0.4, "sensors.motion_capture.rate": 0.5}, "counts as lost: nothing seen"),
        ({"control.failsafe.deviation": 1e-6}, "counts as lost: uncertain by"),
    ],
)  # fmt: skip
def test_what_worlds_do_not_estimate_is_refused_in_a_line(settings, line):
    with pytest.raises(BadInput, match=line):
        worlds_of(2, **settings)


def test_more_vehicles_than_one_are_refused():
    keys = {"vehicles.*.control.state_source": "capture_inertial", "engine.name": "mujoco"}
    with pytest.raises(BadInput, match="sensors.imu of several vehicles|of several vehicles or"):
        Worlds.of("two_platforms", 2, settings=keys, sensors="capture", platform="f450")
