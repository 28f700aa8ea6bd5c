# SPDX-License-Identifier: BSD-3-Clause
"""A scenario's modules as nodes take them: the coordinator's specification."""

from collections.abc import Sequence

from iap_control.modules.bearing import Lift
from iap_control.modules.coordination import CoordinatedModule, CoordinationSpec
from iap_control.modules.coordinator import Coordinator
from iap_description.errors import BadInput
from iap_io.runs.topics import ESTIMATED, STATE
from iap_io.runs.vehicle_meta import TRUTH
from iap_simulation.scenario.modules import is_coordinated
from iap_simulation.scenario.scenario import Scenario
from iap_simulation.scenario.vehicle_spec import VehicleSpec
from iap_simulation.vehicles.vehicle import Vehicle


def coordination_spec(scenario: Scenario) -> CoordinationSpec:
    """Inputs of the coordinator of a scenario's modules.

    Raises:
        BadInput: there is nothing to coordinate, a policy guides, or a controller is to fall silent.
    """
    spec = scenario.modules
    if spec is None:
        raise BadInput("key 'modules': missing, nothing to coordinate")
    if scenario.policy is not None:
        raise BadInput("key 'policy': guides modules in one process alone (iap run)")
    if any(each.kind == "controller" for each in spec.faults):
        raise BadInput("key 'modules.faults': kind controller is for one process (end the node)")
    return CoordinationSpec(
        modules=spec,
        vehicles=tuple(_module(scenario, i) for i in range(len(scenario.vehicles))),
        control_hz=scenario.rates.control_hz,
        time_step=1.0 / scenario.rates.physics_hz,
    )


def check_flown_by_hand(scenario: Scenario, name: str) -> None:
    """Refuse to fly a vehicle by hand that is not there, or a module whose structure follows another one's reference.

    Raises:
        BadInput: saying which can be flown.
    """
    names = [vehicle.name for vehicle in scenario.vehicles]
    if name not in names:
        raise BadInput(f"no vehicle '{name}' to fly by hand: choose {', '.join(names)}")
    if not is_coordinated(scenario):
        return
    spec = coordination_spec(scenario)
    for structure in Coordinator(spec.modules, names, spec.lift).structures:
        leader = names[structure.leader]
        if names.index(name) in structure.modules and name != leader:
            raise BadInput(
                f"'{name}' cannot be flown by hand: it is joined to '{leader}', which leads"
            )


def weight_of(scenario: Scenario, vehicle: Vehicle) -> float:
    """Weight of a module [N]."""
    return vehicle.model.inertia.mass * scenario.world.gravity


def rotors_of(vehicle: Vehicle) -> tuple[tuple[float, float], ...]:
    """Places of a module's rotors along x and y from its CoM [m]."""
    return tuple((rotor.position[0], rotor.position[1]) for rotor in vehicle.model.fleet[0].rotors)


def lift_of(scenario: Scenario, vehicles: Sequence[Vehicle]) -> Lift:
    """Weights, rotors and stiffness of a scenario's modules, in its vehicles' order."""
    pairs = zip(scenario.vehicles, vehicles, strict=True)
    return Lift.of(
        [weight_of(scenario, vehicle) for vehicle in vehicles],
        [rotors_of(vehicle) for vehicle in vehicles],
        [stiffness_of(spec, vehicle) for spec, vehicle in pairs],
    )


def stiffness_of(spec: VehicleSpec, vehicle: Vehicle) -> tuple[float, float, float]:
    """Force of a module's law per error of place, own axes [N/m]."""
    gains = spec.control.gains
    scale = vehicle.model.inertia.mass if gains.per_inertia else 1.0
    x, y, z = (scale * each for each in gains.kP[:3])
    return x, y, z


def _module(scenario: Scenario, i: int) -> CoordinatedModule:
    spec = scenario.vehicles[i]
    vehicle = Vehicle.of(scenario, spec)
    vehicle.reset(scenario.seed)
    is_noisy = any(spec.state_noise.model_dump().values())
    is_estimated = spec.control.state_source != TRUTH
    return CoordinatedModule(
        name=spec.name,
        state_topic=ESTIMATED if is_estimated else "state/measured" if is_noisy else STATE,
        start=vehicle.start[0].tolist(),
        weight=weight_of(scenario, vehicle),
        rotors=rotors_of(vehicle),
        stiffness=stiffness_of(spec, vehicle),
        position_bias=vehicle.position_bias.tolist(),
    )
