# SPDX-License-Identifier: BSD-3-Clause
"""Platforms follow a stream of poses as networks and players deliver it: with gaps, in bursts, late and with losses."""

import numpy as np
import pytest
from commanding import copies, session_of
from flying import scenario_of

from iap_bringup.experiments.nodes.node_bars import DURATION, receptions, stream
from iap_control.responders.pose_stream import InputLimits
from iap_control.responders.reference_input import ReferenceInput
from iap_description.states import P, Q
from iap_simulation.flights.flight import Flight

pytestmark = pytest.mark.slow


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
