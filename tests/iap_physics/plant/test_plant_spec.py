# SPDX-License-Identifier: BSD-3-Clause
"""A plant as values: nothing is lost on the way through YAML, and nothing wrong comes in."""

import math

import pytest
import yaml
from flying import scenario_of

from iap_description.errors import BadInput
from iap_physics.plant.plant_spec import PlantSpec
from iap_physics.propulsion.deviation import Deviation
from iap_simulation.flights.plant_spec import plant_spec
from iap_simulation.scenario.resolving import SCENARIOS


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
    with pytest.raises(BadInput) as refusal:
        read(spoilt)
    assert "parameter plant: " in str(refusal.value) and named in str(refusal.value)
    assert "\n" not in str(refusal.value)


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
