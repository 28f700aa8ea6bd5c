# SPDX-License-Identifier: BSD-3-Clause
"""Inertial units of worlds side by side: sample for sample those of the single runs."""

import numpy as np
import pytest

from iap_description.errors import BadInput, IapError
from iap_description.sensors.readings import ImuReading
from iap_simulation.batch.worlds import Worlds
from iap_simulation.simulation.simulation import Simulation

PERIODS = 12
DRAWN = {"draw.position": 0.2, "draw.imu_position": 0.03, "draw.imu_tilt_deg": 3.0}
WINDY = {"wind.speed": 3.0, "wind.turbulence": 8.0}


def worlds_of(seeds=3, *, imu="px4", rate=200.0, sampling="integrating", **settings):
    unit = {"sensors.imu.rate": rate, "sensors.imu.sampling": sampling}
    given = {"sensors": {"imu": imu}, **DRAWN, **WINDY, **settings}
    return Worlds.of("figure_eight", seeds, settings={**given, **unit})


def measured(worlds, periods=PERIODS):
    """(B, M, periods * S, 3) angular velocities, specific forces and their biases."""
    parts = []
    for _ in range(periods):
        worlds.advance()
        parts.append(worlds.imu)
    return [np.concatenate(each, axis=2) for each in zip(*parts, strict=True)]


def measured_alone(scenario, periods=PERIODS):
    """The same of a single run, (M, periods * S, 3)."""
    by_topic = {}
    with Simulation.of(scenario) as simulation:
        for _ in range(periods + 1):
            simulation.step()
            for each in simulation.readings:
                if isinstance(each, ImuReading):
                    row = (each.w_WS_S, each.f_S, each.gyro_bias, each.accel_bias)
                    by_topic.setdefault(each.source.topic, []).append(row)
    units = [list(zip(*rows, strict=True)) for rows in by_topic.values()]
    return [np.array([unit[k] for unit in units]) for k in range(4)]


@pytest.mark.parametrize(
    ("rate", "sampling"),
    [(200.0, "integrating"), (1000.0, "integrating"), (200.0, "instantaneous")],
)
def test_every_world_measures_what_its_single_run_measures(rate, sampling):
    worlds = worlds_of(rate=rate, sampling=sampling)
    together = measured(worlds)
    assert not np.array_equal(together[1][0], together[1][1])
    for i in range(len(worlds.seeds)):
        alone = measured_alone(worlds.world(i))
        for ours, single in zip(together, alone, strict=True):
            count = min(ours.shape[2], single.shape[1])
            assert count >= (PERIODS - 1) * rate / 200.0
            np.testing.assert_array_equal(ours[i, :, :count], single[:, :count])


def test_worlds_that_start_anew_measure_as_fresh_ones_and_the_others_go_on():
    worlds, undisturbed = worlds_of(4), worlds_of(4)
    measured(worlds, 5), measured(undisturbed, 5)
    worlds.reset([1, 3], seeds=[1, 30])
    fresh = worlds_of([1, 30])
    after, others, begun = measured(worlds), measured(undisturbed), measured(fresh)
    for ours, other, own in zip(after, others, begun, strict=True):
        np.testing.assert_array_equal(ours[[0, 2]], other[[0, 2]])
        np.testing.assert_array_equal(ours[[1, 3]], own)


def test_a_snapshot_keeps_biases_and_noise():
    worlds = worlds_of(2)
    measured(worlds, 3)
    snapshot = worlds.snapshot()
    first = measured(worlds)
    worlds.restore(snapshot)
    for a, b in zip(first, measured(worlds), strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_hovering_unit_that_sits_askew_sees_gravity_from_there():
    """Without errors of its own: as long as gravity, and tilted by what was drawn."""
    settings = {
        "draw.imu_position": 0.0,
        "draw.position": 0.0,
        "wind.speed": 0.0,
        "wind.turbulence": 0.0,
    }
    worlds = Worlds.of("hover", 200, settings={"sensors": {"imu": "perfect"}, **DRAWN, **settings})
    worlds.advance()
    f = worlds.imu.f_S[:, 0, -1]
    length = np.linalg.norm(f, axis=1)
    tilt_deg = np.rad2deg(np.arccos(f[:, 2] / length))
    np.testing.assert_allclose(length, worlds.scenario.world.gravity, rtol=1e-3)
    assert 2.5 < tilt_deg.max() < 3.0 * np.sqrt(2.0)
    assert tilt_deg.mean() == pytest.approx(3.0 * 0.7652, rel=0.1)  # mean radius in a square


def test_what_cannot_be_measured_is_refused_by_name():
    with pytest.raises(BadInput, match="no whole number of samples"):
        worlds_of(rate=90.0)
    with pytest.raises(BadInput, match="sensors besides inertial units"):
        Worlds.of("hover", 2, sensors="imu,uwb")
    with pytest.raises(IapError, match=r"sensors\.imu"):
        _ = Worlds.of("hover", 2).imu
