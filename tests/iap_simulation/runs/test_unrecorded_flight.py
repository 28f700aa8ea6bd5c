# SPDX-License-Identifier: BSD-3-Clause
"""A flight without a run folder: what is kept of it, and that a resolved scenario is taken as it is."""

import numpy as np
import pytest

from iap_description.errors import BadInput
from iap_simulation.runs.unrecorded_flight import watch
from iap_simulation.scenario.resolving import Options, resolve
from iap_simulation.simulation.simulation import Simulation

SHORT = ("reference.duration=0.1", "start.lead_in=0.0", "start.mode=hover")


def test_states_and_readings_of_a_flight_are_kept():
    log = watch("hover", Options(assignments=SHORT, sensors="imu", engine="closed_form"))
    assert log.x.shape == (len(log.t), 4, 13)
    np.testing.assert_allclose(np.diff(log.t), 0.005)
    topics = {each.source.topic for each in log.readings}
    assert {topic.rsplit("/")[-1] for topic in topics} >= {"imu", "mag"}
    for topic in topics:
        readings = log.of(topic)
        assert log.inertial(topic) == (readings if topic.endswith("imu") else [])
        assert not log.images(topic)
        assert (np.diff([each.t for each in readings]) > 0.0).all()


@pytest.mark.parametrize("more", [{"settings": {"seed": 2}}, {"seed": 2}])
def test_a_resolved_scenario_takes_no_more_settings(more):
    scenario = resolve("hover", Options(assignments=SHORT))[0]
    with pytest.raises(BadInput, match="a resolved scenario takes no settings or options"):
        Simulation.of(scenario, **more)
    with Simulation.of(scenario, **{}) as simulation:
        assert simulation.loop.vehicles
