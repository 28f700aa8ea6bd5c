# SPDX-License-Identifier: BSD-3-Clause
"""Every scenario in one page of a browser: its bodies, the objects of its world, and what it touches."""

import numpy as np
import pytest
from browser import browser
from starting_flight import starting_flight

from iap_bringup.viewing.scene import FlightScene
from iap_bringup.viewing.scene_notes import couplings_of
from iap_bringup.viewing.viser_stage import ALONE, ViserStage, open_server
from iap_description.states import P
from iap_simulation.scenario.resolving import SCENARIOS
from iap_simulation.scenario.rig_spec import rig_spec

MM = 1e-3
pytestmark = pytest.mark.slow
NODES = """root => {
    const { nodePoseData, nodeRefFromName } = window.__viserMutable;
    const names = Object.keys(nodeRefFromName).filter(each => each.startsWith(`/${root}/`));
    const triangles = names.filter(each => {
        let has = false;
        nodeRefFromName[each].traverse(one => { has = has || one.isMesh === true; });
        return has;
    });
    const positions = {};
    for (const each of names) if (nodePoseData[each]) positions[each] = nodePoseData[each].position;
    return { positions, triangles };
}"""


def test_every_scenario_has_its_bodies_and_all_objects_of_its_world_in_a_browser():
    server = open_server(port=0)
    try:
        with browser() as new_page:
            page = new_page()
            page.page.goto(f"http://{ALONE}:{server.get_port()}")
            for name in SCENARIOS.names():
                shows(page, server, name)
            assert page.strangers == []
    finally:
        server.stop()


def shows(page, server, name):
    """Check that a page shows the first instant of a scenario."""
    flight, steps = starting_flight(name)
    server.scene.reset()
    stage, couplings = ViserStage(server), couplings_of(flight.scenario)
    scene = FlightScene(rig_spec(flight.scenario), flight.meta, name, couplings)
    scene.add(stage)
    scene.update(stage, steps)
    stage.add_frame(f"{name}/complete")
    server.flush()
    page.wait_for_node(f"/{name}/complete")
    nodes = page.page.evaluate(NODES, name)
    positions, triangles = nodes["positions"], nodes["triangles"]
    for vehicle, step in zip(flight.meta.vehicles, steps, strict=True):
        bodies = [f"/{name}/bodies/{vehicle.name}/{body}" for body in vehicle.bodies]
        there = np.array([positions[each] for each in bodies])
        assert there == pytest.approx(step.x[:, P], abs=MM), name
        assert bodies[0] in triangles or vehicle.arm_joints, name
    for item in flight.scenario.world.objects:
        assert f"/{name}/bodies/objects/{item}" in triangles, (name, item)
    links = [each for each in triangles if each.startswith(f"/{name}/arms/")]
    assert bool(links) == any(each.arm_joints for each in flight.meta.vehicles), name
