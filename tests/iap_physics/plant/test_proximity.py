# SPDX-License-Identifier: BSD-3-Clause
"""The air between modules that fly close: forces on both, their size by the gap, and what they do to a plant."""

import numpy as np

from iap_description.arrays import Array
from iap_description.vehicles.proximity import Proximity
from iap_physics.engines.make import make_engine
from iap_physics.modules.proximity import ModuleProximity
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.session.session import Session
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.scenario.resolving import Options, resolve

SIZE, LENGTH = 0.52, 0.1
AIR = Proximity(push=2.0, sink=0.5, length=LENGTH)


def wrenches(*gaps: float) -> Array:
    """(worlds, 2, 6) on two modules along x, a world for each gap."""
    x = np.zeros((len(gaps), 2, 13))
    x[:, 1, 0] = SIZE + np.array(gaps)
    out = np.zeros((len(gaps), 2, 6))
    ModuleProximity(AIR, [(0, 1)], [SIZE]).add_wrenches(np.zeros(len(gaps)), x, out)
    return out


def test_modules_are_pushed_apart_and_down_most_at_the_length() -> None:
    at, nearer, further, far = wrenches(LENGTH, 0.5 * LENGTH, 2.0 * LENGTH, 20.0 * LENGTH)
    np.testing.assert_allclose(at[0, :3], [-2.0, 0.0, -0.5])
    np.testing.assert_allclose(at[1, :3], [2.0, 0.0, -0.5])
    assert max(nearer[1, 0], further[1, 0]) < at[1, 0]
    np.testing.assert_allclose(far, 0.0, atol=1e-6)
    assert not wrenches(LENGTH)[:, :, 3:].any()


def test_nothing_acts_where_faces_touch() -> None:
    assert not wrenches(0.0, -0.01).any()


def spec_of(**air: float) -> PlantSpec:
    """Of two modules that are joined from the start."""
    given = ("modules.count=2", "vehicles.0.start.mode=hover")
    given += tuple(f"modules.proximity.{key}={value}" for key, value in air.items())
    return plant_spec(resolve("module_hover", Options(assignments=given))[0])


def parted(spec: PlantSpec) -> Array:
    """(13,) differences of the modules' states, 0.1 s after a start with a gap."""
    second = spec.vehicles[1]
    start = np.array(second.start)
    start[:, 0] += LENGTH
    joints = spec.modules.model_dump() if spec.modules else {}
    joints["joints"]["j1"]["joined"] = False
    moved = second.model_copy(update={"start": start.tolist()})
    given = {"vehicles": (spec.vehicles[0], moved), "modules": type(spec.modules)(**joints)}
    session = Session(spec.model_copy(update=given), make_engine(spec.engine), timeout=None)
    for _ in range(20):
        session.advance()
    out: Array = session.plant.state(1)[0, 0] - session.plant.state(0)[0, 0]
    return out


def test_a_plant_parts_modules_as_their_mass_has_it() -> None:
    air = {"push": AIR.push, "sink": AIR.sink, "length": LENGTH}
    with_air, without = parted(spec_of(**air)), parted(spec_of())
    np.testing.assert_allclose(
        with_air[7:10] - without[7:10], [2.0 * 2.0 / 4.6 * 0.1, 0, 0], atol=1e-3
    )
