# SPDX-License-Identifier: BSD-3-Clause
"""Specification of a plant, its deviations, and the nearness of its vehicles."""

import math

import numpy as np
import pytest
import yaml
from flying import scenario_of
from refusals import refusal

from iap_description.arrays import Array
from iap_description.errors import BadInput
from iap_description.math import so3
from iap_description.vehicles.assembly import Assembly
from iap_description.vehicles.platform import load_platform
from iap_description.vehicles.proximity import Proximity
from iap_physics.engines.make import make_engine
from iap_physics.modules.proximity import ModuleProximity
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.propulsion.deviation import NO_DEVIATION, Deviation
from iap_physics.propulsion.propulsion import Airframe
from iap_physics.propulsion.rotors import RotorParameters
from iap_physics.session.session import Session
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.scenario.resolving import SCENARIOS, Options, resolve

STAR = load_platform("three_star")
NOMINAL = Assembly.of(STAR)
SIZE, LENGTH = 0.52, 0.1
AIR = Proximity(push=2.0, sink=0.5, length=LENGTH)


@pytest.fixture(scope="module")
def tree():
    return yaml.safe_load(plant_spec(scenario_of("three_star_spiral", sensors="imu")).yaml())


def read(tree):
    return PlantSpec.read(yaml.safe_dump(tree, sort_keys=False), source="parameter plant")


@pytest.mark.parametrize("name", SCENARIOS.names())
def test_every_scenario_s_plant_survives_yaml_bit_for_bit(name):
    draws = ["engine.name=pybullet", "draw.position=0.0173"]  # which flies all of them
    if name != "arm_path":  # whose plant touches nothing
        draws.append("draw.friction=0.3")
    spec = plant_spec(scenario_of(name, *draws))
    again = PlantSpec.read(spec.yaml(), source="")
    assert again == spec
    assert again.yaml() == spec.yaml()


def test_a_rate_loop_survives_yaml():
    spec = plant_spec(scenario_of("hover", gains="px4"))
    assert PlantSpec.read(spec.yaml(), source="") == spec
    assert spec.vehicles[0].autopilot.rate_loop is not None


def test_a_file_serves_as_well_as_its_text(tmp_path, tree):
    path = tmp_path / "plant.yaml"
    path.write_text(yaml.safe_dump(tree))
    assert PlantSpec.read(str(path), source="parameter plant") == read(tree)
    with pytest.raises(BadInput, match=r"nowhere\.yaml"):
        PlantSpec.read(str(tmp_path / "nowhere.yaml"), source="parameter plant")


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("colour",), "red", "unknown key 'colour'"),
        (("rates",), None, "key 'rates'"),
        (("rates", "control_hz"), 300.0, "not a whole multiple of control_hz 300.0"),
        (("engine",), "raisim", "key 'engine': choose pybullet, mujoco, closed_form"),
        (("seed",), -1, "key 'seed'"),
        (("vehicles", 0, "deviation", "mass"), 0.0, "key 'vehicles.0.deviation.mass'"),
        (("vehicles", 0, "deviation", "thrust"), [1.0, 0.9], "deviation.thrust': 3 entries"),
        (("vehicles", 0, "start"), [[0.0] * 13], "key 'start': 4 entries are needed"),
        (("vehicles", 0, "start", 1), [0.0] * 12, "key 'vehicles.0.start.1'"),
        (("vehicles", 0, "start", 1, 2), math.nan, "key 'vehicles.0.start.1.2'"),
        (("vehicles", 0, "hover_thrust"), [1.0], "key 'hover_thrust': 3 entries are needed"),
        (("vehicles", 0, "autopilot", "rate_hz"), 300.0, "vehicles.0.autopilot.rate_hz"),
        (("vehicles", 0, "imu", "mounts", 0, "body"), 4, "'imu.mounts': there are 4 bodies"),
        (("vehicles", 0, "wrench"), 1.0, "unknown key 'vehicles.0.wrench'"),
    ],
)
def test_what_is_unknown_or_impossible_is_named(tree, path, value, named):
    spoilt = yaml.safe_load(yaml.safe_dump(tree))
    node = spoilt
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    line = refusal(read, spoilt)
    assert "parameter plant: " in line and named in line


def test_vehicles_have_names_of_their_own(tree):
    with pytest.raises(BadInput, match="names must differ"):
        read({**tree, "vehicles": [*tree["vehicles"], *tree["vehicles"]]})


def test_what_really_flies_may_weigh_more_than_its_controller_thinks(tree):
    light = read(tree).vehicles[0]
    heavy = light.model_copy(update={"deviation": Deviation(mass=1.2)})
    assert heavy.assembly.mass == pytest.approx(1.2 * light.assembly.mass)


def test_hover_thrusts_carry_the_platform():
    for platform in ("three_star", "three_line", "two_line", "f450", "three_star_fixed"):
        vehicle = plant_spec(scenario_of("hover", platform=platform)).vehicles[0]
        weight = 9.81 * vehicle.assembly.mass
        assert sum(vehicle.hover_thrust) == pytest.approx(weight, rel=1e-6)


def test_masses_bring_their_inertias_along():
    heavier = Deviation(mass=1.1).assembly(NOMINAL)
    assert heavier.mass == pytest.approx(1.1 * NOMINAL.mass)
    np.testing.assert_allclose(heavier.inertia, 1.1 * NOMINAL.inertia)
    np.testing.assert_allclose(heavier.d_0, NOMINAL.d_0, atol=1e-15)


def test_inertias_can_be_larger_by_themselves():
    slower = Deviation(inertia=1.3).assembly(NOMINAL)
    assert slower.mass == NOMINAL.mass
    for body, nominal in zip(slower.bodies, NOMINAL.bodies, strict=True):
        np.testing.assert_allclose(body.inertia, 1.3 * nominal.inertia)


def test_a_com_elsewhere_leaves_joints_and_mounts_where_they_are_in_space():
    by = np.array([0.01, -0.02, 0.03])
    moved = Deviation(com=tuple(by)).assembly(NOMINAL)
    for joint, nominal in zip(moved.joints, NOMINAL.joints, strict=True):
        np.testing.assert_allclose(joint.p_PJ_P + by, nominal.p_PJ_P)
    np.testing.assert_allclose(moved.p_FP_F, by)
    # the aircraft have moved against the CoM of the centre, and the common CoM with them
    masses = np.array([body.mass for body in NOMINAL.bodies])
    share = masses[1:].sum() / masses.sum()
    np.testing.assert_allclose(moved.d_0, NOMINAL.d_0 - share * by)


def test_inertia_about_the_common_com_follows_the_parallel_axes():
    by = np.array([0.0, 0.0, 0.05])
    moved = Deviation(com=tuple(by)).assembly(NOMINAL)

    def about_com(assembly):
        d = so3.hat(assembly.d_0)
        return assembly.inertia + assembly.mass * d @ d

    center, others = NOMINAL.bodies[0].mass, NOMINAL.mass - NOMINAL.bodies[0].mass
    points = NOMINAL.p_PF_P[1:]  # all at one height above the centre's CoM
    before, after = points[0, 2], points[0, 2] - by[2]
    gained = center * others / NOMINAL.mass * (after**2 - before**2)
    difference = about_com(moved) - about_com(NOMINAL)
    np.testing.assert_allclose(difference, np.diag([gained, gained, 0.0]), atol=1e-12)


def test_rotors_of_each_aircraft_deviate_and_their_autopilot_does_not_know():
    deviation = Deviation(thrust=(0.9, 1.0, 1.1), rotor_lag=(2.0, 1.0, 0.5))
    airframe = Airframe(NOMINAL, STAR.fleet, None, deviation)
    nominal = RotorParameters.of(STAR.aircraft, 1)
    for rotors, thrust, lag in zip(
        airframe.rotors([1, 2, 3]), deviation.thrust, deviation.rotor_lag, strict=True
    ):
        assert rotors.thrust_coefficient == thrust * nominal.thrust_coefficient
        assert rotors.time_constant_up == lag * nominal.time_constant_up
        assert rotors.time_constant_down == lag * nominal.time_constant_down
    assert airframe.fleet == STAR.fleet


def test_without_a_deviation_every_number_stays_the_same():
    same = NO_DEVIATION.assembly(NOMINAL)
    for body, nominal in zip(same.bodies, NOMINAL.bodies, strict=True):
        assert (body.mass, body.drag) == (nominal.mass, nominal.drag)
        np.testing.assert_array_equal(body.inertia, nominal.inertia)
    assert same.joints == NOMINAL.joints


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
