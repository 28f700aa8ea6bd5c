# SPDX-License-Identifier: BSD-3-Clause
"""Platforms follow a stream of poses as networks and players deliver it: with gaps, in bursts, late and with losses."""

import numpy as np
import pytest
from commanding import copies, session_of
from flying import scenario_of

from iap_control.responders.pose_stream import InputLimits
from iap_control.responders.reference_input import ReferenceInput
from iap_description.math import so3
from iap_description.states import P, Q
from iap_simulation.flights.flight import Flight

pytestmark = pytest.mark.slow
HZ, DURATION = 40.0, 36.0
GAPS = {3.5: 0.05, 5.0: 0.2, 6.5: 0.5, 8.5: 1.0, 11.0: 2.0}  # begin and length [s]


def stream():
    """A flight of up to 1.2 m/s and 0.5 rad/s: stamps [s] and poses (n, 7)."""
    t = np.arange(0.0, DURATION, 1.0 / HZ)
    u = np.clip(t / 3.0, 0.0, 1.0)
    ramp = u**3 * (10.0 - 15.0 * u + 6.0 * u * u)
    p = [1.2 * np.sin(0.8 * t), 0.8 * np.sin(1.1 * t), 0.25 * np.sin(0.9 * t)]
    turn = [0.12 * np.sin(1.3 * t), 0.15 * np.sin(0.9 * t), 0.9 * np.sin(0.5 * t)]
    place = np.transpose(p) * ramp[:, None] + [0.0, 0.0, 1.5]
    return t, np.hstack([place, so3.quaternion_exp(np.transpose(turn) * ramp[:, None])])


def receptions(t):
    """When poses come [s]: nan those that are lost."""
    rng, out = np.random.default_rng(4), t.copy()
    for begin, length in GAPS.items():
        out[(t > begin) & (t < begin + length)] = np.nan
    for begin, end, each in ((16.0, 20.0, 0.1), (20.0, 25.0, 0.3)):  # bursts
        part = (t >= begin) & (t < end)
        out[part] = np.ceil(t[part] / each + 1e-9) * each
    out[(t >= 25.0) & (t < 30.0) & (rng.random(len(t)) < 0.1)] = np.nan
    part = (t >= 30.0) & (t < 35.0)
    out[part] = np.maximum.accumulate(t[part] + rng.uniform(0.0, 0.1, part.sum()))
    return out


@pytest.mark.parametrize("platform", ["three_star", "star_5", "f450"])
def test_whatever_happens_to_a_stream_the_platform_stays_up_and_level(platform):
    t, poses = stream()
    received = receptions(t)
    order = np.flatnonzero(~np.isnan(received))
    at = f"reference.position={poses[0, :3].tolist()}"
    scenario = scenario_of("hover", at, platform=platform, engine="pybullet")
    vehicle, session = Flight.of(scenario).vehicles[0], session_of(scenario)
    count = scenario.vehicles[0].platform.count
    inputs = ReferenceInput(count, InputLimits(), "stamped", needs_headings=False)
    i, rows, references = 0, [], []
    while session.t < DURATION:
        while i < len(order) and received[order[i]] <= session.t + 1e-9:
            inputs.take_pose(session.t, 1e9 + t[order[i]], poses[order[i]])
            i += 1
        reference = inputs.at(session.t, -1, session.measured[0])
        rows.append(session.plant.state(0)[0].copy())
        references.append(reference.row[P].copy())
        session.offer(0, session.t, copies(vehicle.controller(session.measured[0], reference)))
        session.advance()
        assert session.failure is None, session.failure
    x = np.array(rows)
    height = x[:, 0, 2]
    np.testing.assert_allclose(height, np.array(references)[:, 2], atol=0.1)
    assert poses[:, 2].min() - 0.1 < height.min() and height.max() < poses[:, 2].max() + 0.1
    up = 1.0 - 2.0 * (x[..., Q][..., 0] ** 2 + x[..., Q][..., 1] ** 2)
    assert np.rad2deg(np.arccos(up.min())) < 35.0
